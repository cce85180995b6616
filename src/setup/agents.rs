//! The files of each agent, and the entries that we write into them.

use jsonc_parser::ast::{Object, Value};

use super::json::{self, Part, Problem};
use super::lines::{self, SERVER};
use super::render::Json;
use crate::record::Agent;

/// A file and what we put into it.
pub(super) struct Target {
    /// From the top of the worktree.
    pub(super) path: &'static str,
    /// The rest of the file, if we created it and nothing else is in it.
    pub(super) blank: &'static str,
    pub(super) edits: Vec<Edit>,
}

/// One thing that we put into a file.
pub(super) enum Edit {
    /// Our server among those of an object.
    Server { among: &'static str, entry: Json },
    /// Our command among the hooks of an event.
    Hook { event: &'static str, agent: Agent, form: HookForm },
    /// A rule by which the tools of our server may be called.
    Permission,
    /// The version that some files of hooks ask for.
    Version,
    /// Our server in Codex's TOML.
    Table,
    /// The block of AGENTS.md.
    Block,
    /// A file that is ours alone.
    Whole(&'static str),
}

/// How a hook is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookForm {
    /// In a group, for the tools that match, and with as much time as the agent gives.
    Grouped { matcher: Option<&'static str>, timeout: Option<u32> },
    /// By itself.
    Plain,
    /// By itself, as GitHub's agents have it.
    Bash,
}

const OBJECT: &str = "{\n}\n";
const VERSIONED: &str = "{\n  \"version\": 1\n}\n";

const OPENCODE: &str = "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n";

/// The plugin that tells us what happens in opencode.
const PLUGIN: &str = include_str!("plugin/git-proof.js");

/// The events of agents that send what Claude Code sends.
const EVENTS: [&str; 7] =
    ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd"];

/// The name of our server's tools in Claude Code.
const OWN_TOOLS: &str = "mcp__git-proof";

impl Agent {
    pub(super) fn targets(self) -> Vec<Target> {
        let file = |path, edits| Target { path, blank: OBJECT, edits };
        match self {
            Self::ClaudeCode => {
                let mut edits = vec![Edit::Permission];
                edits.extend(self.grouped(&["SessionStart", "UserPromptSubmit"]));
                edits.push(self.hook("PreToolUse", Some("Bash"), None));
                edits.extend(self.grouped(&["PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop"]));
                edits.push(self.hook("SessionEnd", None, Some(30)));
                vec![file(".mcp.json", vec![loaded_with("alwaysLoad")]), file(".claude/settings.json", edits)]
            }
            Self::Codex => {
                let mut edits = self.grouped(&["SessionStart", "UserPromptSubmit"]);
                edits.push(self.hook("PreToolUse", Some("Bash"), None));
                edits.extend(self.grouped(&["PostToolUse", "Stop", "SubagentStop"]));
                edits.push(self.hook("SessionEnd", None, Some(30)));
                vec![
                    Target { path: ".codex/config.toml", blank: "", edits: vec![Edit::Table] },
                    file(".codex/hooks.json", edits),
                ]
            }
            Self::Copilot => vec![
                file(".github/mcp.json", vec![server("mcpServers")]),
                self.of_github(".github/hooks/git-proof.json"),
            ],
            Self::Cursor => {
                // No sessionStart: some versions refuse a file that names it, and the first prompt does as well.
                let events = [
                    "beforeSubmitPrompt",
                    "beforeShellExecution",
                    "afterFileEdit",
                    "afterShellExecution",
                    "afterMCPExecution",
                    "afterAgentResponse",
                    "stop",
                ];
                vec![
                    file(".cursor/mcp.json", vec![server("mcpServers")]),
                    self.versioned(".cursor/hooks.json", &events, HookForm::Plain),
                ]
            }
            Self::Gemini => {
                let mut edits = vec![server("mcpServers")];
                edits.extend(self.grouped(&["SessionStart", "BeforeAgent"]));
                edits.push(self.hook("BeforeTool", Some("run_shell_command"), None));
                edits.extend(self.grouped(&["AfterTool", "AfterAgent", "SessionEnd"]));
                vec![file(".gemini/settings.json", edits)]
            }
            Self::Opencode => {
                let command = ["git", "proof", "mcp", "--profile", "core"];
                let entry = Json::object(&[("type", Json::text_of("local")), ("command", Json::texts(&command))]);
                vec![
                    // opencode adds the first key by itself where it is missing.
                    Target {
                        path: "opencode.json",
                        blank: OPENCODE,
                        edits: vec![Edit::Server { among: "mcp", entry }],
                    },
                    Target { path: ".opencode/plugin/git-proof.js", blank: "", edits: vec![Edit::Whole(PLUGIN)] },
                ]
            }
            Self::Qwen => {
                let mut edits = vec![loaded_with("alwaysLoadTools")];
                edits.extend(self.grouped(&EVENTS));
                vec![file(".qwen/settings.json", edits)]
            }
            Self::Vscode => {
                let entry = Json::object(&[
                    ("type", Json::text_of("stdio")),
                    ("command", Json::text_of("git")),
                    ("args", Json::texts(&ARGUMENTS)),
                ]);
                vec![
                    file(".vscode/mcp.json", vec![Edit::Server { among: "servers", entry }]),
                    self.of_github(".github/hooks/git-proof-vscode.json"),
                ]
            }
            Self::Zed => vec![file(".zed/settings.json", vec![server("context_servers")])],
        }
    }

    /// A file of hooks as GitHub's agents read them. By these names of events they send what Claude Code sends.
    fn of_github(self, path: &'static str) -> Target {
        self.versioned(path, &EVENTS, HookForm::Bash)
    }

    /// A file of hooks that are not in groups.
    fn versioned(self, path: &'static str, events: &[&'static str], form: HookForm) -> Target {
        let mut edits: Vec<Edit> = events.iter().map(|event| Edit::Hook { event, agent: self, form }).collect();
        edits.push(Edit::Version);
        Target { path, blank: VERSIONED, edits }
    }

    fn grouped(self, events: &[&'static str]) -> Vec<Edit> {
        events.iter().map(|event| self.hook(event, None, None)).collect()
    }

    fn hook(self, event: &'static str, matcher: Option<&'static str>, timeout: Option<u32>) -> Edit {
        Edit::Hook { event, agent: self, form: HookForm::Grouped { matcher, timeout } }
    }

    /// The command in its configuration: it runs the program on the path, else the one that `init` noted for this
    /// clone, else nothing.
    fn command(self) -> String {
        let name = self.as_str();
        format!(
            "command -v git-proof >/dev/null && exec git-proof hook {name}; \
             p=$(cat \"$(git rev-parse --git-common-dir 2>/dev/null)/proof/program\" 2>/dev/null) && [ -x \"$p\" ] \
             && exec \"$p\" hook {name}; exit 0"
        )
    }

    /// The command that an older version wrote.
    fn old_command(self) -> String {
        format!("git proof hook {}", self.as_str())
    }

    /// Whether a command of a hook is ours.
    fn runs(self, command: &str) -> bool {
        command == self.old_command() || command.contains(&format!("git-proof hook {}", self.as_str()))
    }
}

/// The file of rules that agents of all kinds read.
pub(super) fn agents_md() -> Target {
    Target { path: "AGENTS.md", blank: "", edits: vec![Edit::Block] }
}

/// How our server is started.
const ARGUMENTS: [&str; 4] = ["proof", "mcp", "--profile", "core"];

fn server(among: &'static str) -> Edit {
    let entry = Json::object(&[("command", Json::text_of("git")), ("args", Json::texts(&ARGUMENTS))]);
    Edit::Server { among, entry }
}

/// Claude Code and Qwen Code hide the tools of a server until they are asked for, unless the entry says otherwise.
fn loaded_with(key: &str) -> Edit {
    let entry =
        Json::object(&[("command", Json::text_of("git")), ("args", Json::texts(&ARGUMENTS)), (key, Json::True)]);
    Edit::Server { among: "mcpServers", entry }
}

impl Edit {
    pub(super) fn add(&self, text: &str) -> Result<String, Problem> {
        match self {
            Self::Server { among, entry } => json::add_property(text, &[among], SERVER, entry),
            Self::Hook { event, agent, form } => {
                // Replace the entry that an older version wrote.
                let old = agent.old_command();
                let is_old = |element: &Value<'_>| part(element, |command| command == old);
                let text = json::remove_element(text, &["hooks"], event, "hooks", is_old)?;
                let hook = form.hook(&agent.command());
                let is_ours = |element: &Value<'_>| part(element, |command| agent.runs(command)).is_some();
                json::add_element(&text, &["hooks"], event, &hook, is_ours)
            }
            Self::Permission => {
                json::add_element(text, &["permissions"], "allow", &Json::text_of(OWN_TOOLS), is_permission)
            }
            Self::Version => json::add_property(text, &[], "version", &Json::Number(1)),
            Self::Table => lines::add_server(text),
            Self::Block => Ok(lines::add_block(text)),
            Self::Whole(own) if text.trim().is_empty() || is_own_file(text) => Ok((*own).to_owned()),
            Self::Whole(_) => Err("somebody else has written it".to_owned()),
        }
    }

    pub(super) fn take_out(&self, text: &str) -> Result<String, Problem> {
        match self {
            Self::Server { among, .. } => json::remove_property(text, &[among], SERVER, is_our_server),
            Self::Hook { event, agent, .. } => {
                let ours = |element: &Value<'_>| part(element, |command| agent.runs(command));
                json::remove_element(text, &["hooks"], event, "hooks", ours)
            }
            Self::Permission => {
                let ours = |element: &Value<'_>| is_permission(element).then_some(Part::Whole);
                json::remove_element(text, &["permissions"], "allow", "allow", ours)
            }
            Self::Version => {
                // In a file that a person keeps, the version comes first; only files that we wrote have it after the
                // hooks.
                let root = json::parse(text)?;
                let names: Vec<&str> = root.properties.iter().map(|property| property.name.as_str()).collect();
                match names[..] {
                    [.., "hooks", "version"] => json::remove_property(text, &[], "version", |_| true),
                    _ => Ok(text.to_owned()),
                }
            }
            Self::Table => lines::remove_server(text),
            Self::Block => Ok(lines::remove_block(text)),
            Self::Whole(_) if is_own_file(text) => Ok(String::new()),
            Self::Whole(_) => Ok(text.to_owned()),
        }
    }
}

impl HookForm {
    fn hook(self, command: &str) -> Json {
        match self {
            Self::Plain => Json::object(&[("command", Json::text_of(command))]),
            Self::Bash => Json::object(&[
                ("type", Json::text_of("command")),
                ("bash", Json::text_of(command)),
                ("timeoutSec", Json::Number(30)),
            ]),
            Self::Grouped { matcher, timeout } => {
                let mut one = vec![("type", Json::text_of("command")), ("command", Json::text_of(command))];
                one.extend(timeout.map(|seconds| ("timeout", Json::Number(seconds))));
                let hooks = ("hooks", Json::List(vec![Json::object(&one)]));
                let matcher = matcher.map(|matcher| ("matcher", Json::text_of(matcher)));
                Json::object(&matcher.into_iter().chain([hooks]).collect::<Vec<_>>())
            }
        }
    }
}

fn is_permission(element: &Value<'_>) -> bool {
    text(element) == Some(OWN_TOOLS)
}

/// Whether a file is one that we wrote, of whichever version.
fn is_own_file(text: &str) -> bool {
    PLUGIN.lines().next().is_some_and(|first| text.lines().next() == Some(first))
}

/// Ours is ours whatever somebody has added to it, as long as it starts what we start.
fn is_our_server(value: &Value<'_>) -> bool {
    let Value::Object(server) = value else { return false };
    let args = match property(server, "args") {
        Some(Value::Array(args)) => args.elements.iter().map(text).collect(),
        _ => Vec::new(),
    };
    // opencode has the program and its arguments in one list.
    if let Some(Value::Array(command)) = property(server, "command") {
        let words: Vec<Option<&str>> = command.elements.iter().map(text).collect();
        return words.starts_with(&[Some("git"), Some("proof"), Some("mcp")]);
    }
    property(server, "command").and_then(text) == Some("git") && args.starts_with(&[Some("proof"), Some("mcp")])
}

/// Which part of an element is our hook: all of it, or one of the hooks that it groups.
fn part(element: &Value<'_>, is_ours: impl Fn(&str) -> bool) -> Option<Part> {
    let runs = |value: &Value<'_>| match value {
        Value::Object(hook) => {
            let command = property(hook, "command").or_else(|| property(hook, "bash"));
            command.and_then(text).is_some_and(&is_ours)
        }
        _ => false,
    };
    if runs(element) {
        return Some(Part::Whole);
    }
    let Value::Object(group) = element else { return None };
    let Some(Value::Array(hooks)) = property(group, "hooks") else { return None };
    let found = hooks.elements.iter().position(runs)?;
    Some(if hooks.elements.len() > 1 { Part::Item(found) } else { Part::Whole })
}

fn property<'a, 't>(object: &'a Object<'t>, name: &str) -> Option<&'a Value<'t>> {
    json::find(object, name).map(|(_, value)| value)
}

fn text<'a>(value: &'a Value<'_>) -> Option<&'a str> {
    match value {
        Value::StringLit(text) => Some(&text.value),
        _ => None,
    }
}
