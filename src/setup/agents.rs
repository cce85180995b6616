//! What belongs into which file, agent by agent.

use jsonc_parser::ast::{Object, Value};

use super::json::{self, Part, Problem};
use super::lines::{self, SERVER};
use super::render::Json;

/// An agent, or an editor with one, that can be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitAgent {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// Visual Studio Code.
    Vscode,
    /// Zed.
    Zed,
}

/// A file and what we put into it.
pub(super) struct Target {
    /// From the top of the worktree.
    pub(super) path: &'static str,
    /// What it is without us, where it is ours alone.
    pub(super) blank: &'static str,
    pub(super) edits: Vec<Edit>,
}

/// One thing that we put into a file.
pub(super) enum Edit {
    /// Our server among those of an object.
    Server { among: &'static str, entry: Json },
    /// Our command among the hooks of an event.
    Hook { event: &'static str, command: String, grouped: bool },
    /// The version that Cursor asks for.
    Version,
    /// Our server in Codex's TOML.
    Table,
    /// The block of AGENTS.md.
    Block,
}

const OBJECT: &str = "{\n}\n";
const VERSIONED: &str = "{\n  \"version\": 1\n}\n";

impl InitAgent {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::ClaudeCode, Self::Codex, Self::Cursor, Self::Gemini, Self::Vscode, Self::Zed];

    /// Its name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::Vscode => "vscode",
            Self::Zed => "zed",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.as_str() == name)
    }

    pub(super) fn targets(self) -> Vec<Target> {
        let file = |path, edits| Target { path, blank: OBJECT, edits };
        let grouped = |events: &[&'static str]| self.hooks(events, true);
        match self {
            Self::ClaudeCode => vec![
                file(".mcp.json", vec![server("mcpServers")]),
                file(".claude/settings.json", grouped(&["SessionStart", "PostToolUse", "Stop"])),
            ],
            Self::Codex => vec![
                Target { path: ".codex/config.toml", blank: "", edits: vec![Edit::Table] },
                file(".codex/hooks.json", grouped(&["SessionStart", "PostToolUse", "Stop"])),
            ],
            Self::Cursor => {
                // No sessionStart: some versions refuse a file that names it, and the first tool opens the session too.
                let events = ["afterFileEdit", "afterShellExecution", "afterMCPExecution", "stop"];
                let mut edits = self.hooks(&events, false);
                edits.push(Edit::Version);
                vec![
                    file(".cursor/mcp.json", vec![server("mcpServers")]),
                    Target { path: ".cursor/hooks.json", blank: VERSIONED, edits },
                ]
            }
            Self::Gemini => {
                let mut edits = vec![server("mcpServers")];
                edits.extend(grouped(&["SessionStart", "AfterTool", "AfterAgent"]));
                vec![file(".gemini/settings.json", edits)]
            }
            Self::Vscode => {
                let entry = Json::object(&[
                    ("type", Json::text_of("stdio")),
                    ("command", Json::text_of("git")),
                    ("args", Json::texts(&["proof", "mcp"])),
                ]);
                vec![file(".vscode/mcp.json", vec![Edit::Server { among: "servers", entry }])]
            }
            Self::Zed => vec![file(".zed/settings.json", vec![server("context_servers")])],
        }
    }

    fn hooks(self, events: &[&'static str], grouped: bool) -> Vec<Edit> {
        let command = format!("git proof hook {}", self.as_str());
        events.iter().map(|event| Edit::Hook { event, command: command.clone(), grouped }).collect()
    }
}

/// The file of rules that agents of all kinds read.
pub(super) fn agents_md() -> Target {
    Target { path: "AGENTS.md", blank: "", edits: vec![Edit::Block] }
}

fn server(among: &'static str) -> Edit {
    let entry = Json::object(&[("command", Json::text_of("git")), ("args", Json::texts(&["proof", "mcp"]))]);
    Edit::Server { among, entry }
}

impl Edit {
    pub(super) fn add(&self, text: &str) -> Result<String, Problem> {
        match self {
            Self::Server { among, entry } => json::add_property(text, &[among], SERVER, entry),
            Self::Hook { event, command, grouped } => {
                let mut hook = Json::object(&[("command", Json::text_of(command))]);
                if *grouped {
                    let one = [("type", Json::text_of("command")), ("command", Json::text_of(command))];
                    hook = Json::object(&[("hooks", Json::List(vec![Json::object(&one)]))]);
                }
                json::add_element(text, &["hooks"], event, &hook, |element| part(element, command).is_some())
            }
            Self::Version => json::add_property(text, &[], "version", &Json::Number(1)),
            Self::Table => lines::add_server(text),
            Self::Block => Ok(lines::add_block(text)),
        }
    }

    pub(super) fn take_out(&self, text: &str) -> Result<String, Problem> {
        match self {
            Self::Server { among, .. } => json::remove_property(text, &[among], SERVER, is_our_server),
            Self::Hook { event, command, .. } => {
                json::remove_element(text, &["hooks"], event, "hooks", |element| part(element, command))
            }
            Self::Version => {
                // Whoever keeps such a file writes the version first; only ours comes after the hooks.
                let root = json::parse(text)?;
                let names: Vec<&str> = root.properties.iter().map(|property| property.name.as_str()).collect();
                match names[..] {
                    [.., "hooks", "version"] => json::remove_property(text, &[], "version", |_| true),
                    _ => Ok(text.to_owned()),
                }
            }
            Self::Table => lines::remove_server(text),
            Self::Block => Ok(lines::remove_block(text)),
        }
    }
}

/// Ours is ours whatever somebody has added to it, as long as it starts what we start.
fn is_our_server(value: &Value<'_>) -> bool {
    let Value::Object(server) = value else { return false };
    let args = match property(server, "args") {
        Some(Value::Array(args)) => args.elements.iter().map(text).collect(),
        _ => Vec::new(),
    };
    property(server, "command").and_then(text) == Some("git") && args.starts_with(&[Some("proof"), Some("mcp")])
}

/// Which part of an element is our hook: all of it, or one of the hooks that it groups.
fn part(element: &Value<'_>, command: &str) -> Option<Part> {
    let runs = |value: &Value<'_>| match value {
        Value::Object(hook) => property(hook, "command").and_then(text) == Some(command),
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
    object.properties.iter().rfind(|property| property.name.as_str() == name).map(|property| &property.value)
}

fn text<'a>(value: &'a Value<'_>) -> Option<&'a str> {
    match value {
        Value::StringLit(text) => Some(&text.value),
        _ => None,
    }
}
