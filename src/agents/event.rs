//! What an agent's hook was told, in one form for all agents.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::Repository;
use crate::hint::{Step, hint};
use crate::record::Agent;
use crate::store::AgentKey;

/// An event of an agent.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    /// The agent's name for the event.
    pub(super) name: String,
    /// The id that the agent gives to its session; a subagent's own id follows a slash.
    pub(super) session: String,
    /// The model that it uses.
    pub(super) model: Option<String>,
    /// The path of its transcript.
    pub(super) transcript: Option<String>,
    /// The directory that paths and commands are seen from.
    pub(super) directory: Option<PathBuf>,
    /// By what it is known should it arrive twice; `None` where nothing in it tells.
    pub(super) once: Option<[u8; 8]>,
    /// What has happened.
    pub(super) event: Event,
}

impl Seen {
    /// By what the store knows the agent's session.
    pub(super) fn key(&self, agent: Agent) -> AgentKey<'_> {
        AgentKey { agent: agent.as_str(), session: &self.session }
    }
}

/// What has happened in an agent.
#[derive(Debug, Clone)]
pub(super) enum Event {
    /// Its session begins, or goes on.
    Start,
    /// A person asks for something.
    Prompt(String),
    /// A tool is about to run.
    Before(Call),
    /// A tool has run.
    After(Call),
    /// A turn is over.
    TurnEnd {
        /// The last message, where the agent gives it.
        message: Option<String>,
        /// Whether the agent may be reminded: nothing runs in the background, and no hook has kept it going.
        may_remind: bool,
    },
    /// The session is over. It may be resumed.
    End {
        /// The last message, where it comes with the end: that of a subagent.
        message: Option<String>,
    },
    /// Something that needs nothing done.
    Other,
}

/// A tool's use.
#[derive(Debug, Clone, Default)]
pub(super) struct Call {
    /// The tool's name.
    pub(super) tool: String,
    /// The id of the call, where the agent gives one.
    pub(super) id: Option<String>,
    /// What it was given.
    pub(super) input: Value,
    /// What it answered.
    pub(super) answer: Option<Value>,
    /// Whether it failed.
    pub(super) failed: bool,
    /// The exit code of a shell, where it is known.
    pub(super) exit: Option<u8>,
}

impl Call {
    /// The id of the call, or a digest of what it was given: before and after it, that is the same.
    pub(super) fn name(&self) -> String {
        self.id.clone().unwrap_or_else(|| {
            let digest = crate::proof::digest::sha256(format!("{}\n{}", self.tool, self.input).as_bytes());
            digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
        })
    }

    /// The command line, if the tool is a shell.
    pub(super) fn command(&self) -> Option<&str> {
        const SHELLS: [&str; 8] = [
            "bash",
            "shell",
            "run_shell_command",
            "run_in_terminal",
            "runterminalcommand",
            "exec_command",
            "local_shell",
            "powershell",
        ];
        let tool = self.tool.to_ascii_lowercase();
        if !SHELLS.contains(&tool.as_str()) {
            return None;
        }
        self.input["command"].as_str().or_else(|| self.input["cmd"].as_str())
    }

    /// Whether the command was sent to the background: its end is not this event's.
    pub(super) fn is_background(&self) -> bool {
        ["run_in_background", "is_background", "isBackground", "background"]
            .iter()
            .any(|key| is_true(&self.input[*key]))
            || self.answer.as_ref().is_some_and(|answer| answer.get("backgroundTaskId").is_some_and(|id| !id.is_null()))
    }

    /// Whether the tool is one of this program's own, and which.
    pub(super) fn own_tool(&self) -> Option<&str> {
        let rest = ["git-proof", "git_proof"].iter().find_map(|name| self.tool.split_once(name))?.1;
        Some(rest.trim_start_matches(['_', '-', '.', '/', ':']))
    }
}

/// Agents start hooks in the project; one that does not says in its input where it works.
pub(super) fn somewhere(context: Context, input: &Value) -> Context {
    if !matches!(Repository::discover(&context), Err(error) if error.code == Code::NoRepository) {
        return context; // also where it is refused: to work elsewhere would hide that
    }
    match directory(input) {
        Some(directory) => Context::new(directory),
        None => context,
    }
}

/// Where the agent says that it works.
pub(super) fn directory(input: &Value) -> Option<PathBuf> {
    let told = [&input["cwd"], &input["workspace_roots"][0]].into_iter().find_map(Value::as_str)?;
    Some(PathBuf::from(told)).filter(|directory| Path::is_absolute(directory))
}

/// A text that the input must have.
pub(super) fn text<'a>(input: &'a Value, field: &str) -> Result<&'a str> {
    input[field].as_str().filter(|text| !text.is_empty()).ok_or_else(|| unclear(&format!("the input has no {field}")))
}

/// A text that the input may have.
pub(super) fn text_or_none(input: &Value, field: &str) -> Option<String> {
    input[field].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

pub(super) fn unclear(what: &str) -> Error {
    Error::new(Code::InvalidParams, what)
        .hint(hint!("let the agent's own configuration call the hook: ", Step::InitAgent("claude-code".into())))
}

pub(super) fn is_true(value: &Value) -> bool {
    value.as_bool() == Some(true)
}
