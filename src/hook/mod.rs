//! Hooks of agents: what an agent sends when something happens is read, one file per agent, into one of three events;
//! what is answered is put into the words of that agent again.
//!
//! An agent is never blocked by its hook: whatever goes wrong is said in one line, and the agent goes on.

mod claude_code;
mod codex;
mod cursor;
mod gemini;
mod git;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::agents::{self, ToolUse};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::Repository;
use crate::record::Workspace;

pub use git::{Answer, GitHook};

/// An agent whose hooks are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
}

/// What has happened in an agent.
#[derive(Debug, Clone)]
enum Event {
    /// Its session begins, or goes on.
    Start,
    /// A tool has run.
    Tool(ToolUse),
    /// It is about to stop, by itself and for the first time: it can be told something.
    Stop,
    /// Something that needs nothing done.
    Other,
}

impl Agent {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::ClaudeCode, Self::Codex, Self::Cursor, Self::Gemini];

    /// Its name on the command line and in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.as_str() == name)
    }

    /// What has happened; `None` for an event of which nothing is known.
    fn event(self, event: &str, input: &Value) -> Result<Option<Event>> {
        match self {
            Self::ClaudeCode => claude_code::event(event, input),
            Self::Codex => codex::event(event, input),
            Self::Cursor => cursor::event(event, input),
            Self::Gemini => gemini::event(event, input),
        }
    }

    /// The id of its own session.
    fn session(self, input: &Value) -> Result<&str> {
        match self {
            Self::Cursor => text(input, "conversation_id").or_else(|_| text(input, "session_id")),
            Self::ClaudeCode | Self::Codex | Self::Gemini => text(input, "session_id"),
        }
    }

    /// How it is told to go on for the sake of a reminder.
    fn reminder(self, reason: &str) -> Value {
        match self {
            Self::ClaudeCode => claude_code::reminder(reason),
            Self::Codex => codex::reminder(reason),
            Self::Cursor => cursor::reminder(reason),
            Self::Gemini => gemini::reminder(reason),
        }
    }
}

/// Does what an event asks for. The answer is what the agent is to be told, if anything.
pub fn run(context: Context, agent: Agent, input: &[u8]) -> Result<Option<Value>> {
    let input: Value =
        serde_json::from_slice(input).map_err(|error| unclear("the input is not JSON").because(error))?;
    let name = text(&input, "hook_event_name")?;
    let session = agents::Agent { name: agent.as_str(), session: agent.session(&input)? };
    let Some(event) = agent.event(name, &input)? else {
        return Err(unclear(&format!("nothing is known of the event {name:?}")));
    };
    let context = somewhere(context, &input);
    match event {
        Event::Start => agents::agent_start(&mut Workspace::open_or_create(context)?, &session).map(|_| None),
        Event::Tool(seen) => {
            agents::agent_tool_use(&mut Workspace::open_or_create(context)?, &session, &seen).map(|_| None)
        }
        Event::Stop => match Workspace::open(context) {
            Ok(mut workspace) => {
                let reason = agents::agent_reminder(&mut workspace, &session)?;
                Ok(reason.map(|reason| agent.reminder(&reason)))
            }
            Err(error) if error.code == Code::NoStore => Ok(None), // nothing was begun
            Err(error) => Err(error),
        },
        Event::Other => Ok(None),
    }
}

/// Agents start hooks in the project; one that does not says in its input where it works.
fn somewhere(context: Context, input: &Value) -> Context {
    if !matches!(Repository::discover(&context), Err(error) if error.code == Code::NoRepository) {
        return context; // also where it is refused: to work elsewhere would hide that
    }
    let told = [&input["cwd"], &input["workspace_roots"][0]].into_iter().find_map(Value::as_str);
    match told.map(PathBuf::from) {
        Some(directory) if Path::is_absolute(&directory) => Context::new(directory),
        _ => context,
    }
}

/// A text that the input must have.
fn text<'a>(input: &'a Value, field: &str) -> Result<&'a str> {
    input[field].as_str().filter(|text| !text.is_empty()).ok_or_else(|| unclear(&format!("the input has no {field}")))
}

fn unclear(what: &str) -> Error {
    Error::new(Code::InvalidParams, what)
        .hint("let the agent's own configuration call the hook: git proof init --agent NAME")
}

fn is_true(value: &Value) -> bool {
    value.as_bool() == Some(true)
}

/// A tool's use in the shape that most agents have: `tool_name`, `tool_input`, `tool_response`.
fn tool_use(input: &Value) -> Result<ToolUse> {
    let answer = input.get("tool_response").cloned();
    Ok(ToolUse {
        tool: text(input, "tool_name")?.to_owned(),
        input: input["tool_input"].clone(),
        failed: answer.as_ref().is_some_and(says_failed),
        answer,
    })
}

/// Whether a tool's answer says by itself that it failed. Tools differ, so only plain signs count.
fn says_failed(answer: &Value) -> bool {
    let exit_code = |value: &Value| value["exit_code"].as_i64().or_else(|| value["exitCode"].as_i64());
    is_true(&answer["is_error"])
        || is_true(&answer["isError"])
        || answer["success"].as_bool() == Some(false)
        || answer.get("error").is_some_and(|error| !error.is_null())
        || exit_code(answer).or_else(|| exit_code(&answer["metadata"])).is_some_and(|code| code != 0)
}
