//! What an agent's hook does: opens a session for the agent's own, notes what its tools did, and reminds it once to
//! close what it has begun.

use serde_json::Value;

use crate::error::Result;
use crate::git;
use crate::proof::canonical;
use crate::proof::digest::{ContentHash, sha256};
use crate::proof::record::{Id, Opening};
use crate::proof::scheme::Scheme;
use crate::record::{Workspace, acceptable, opening_without_secrets, without_secrets};
use crate::store::{AgentSession, NewSession, Observation};

/// Largest name of a tool or of an agent's session. What is longer is no name.
const MAX_AGENT_NAME: usize = 256;

/// Where Claude Code tells its servers the id of its session.
const CLAUDE_CODE_SESSION: &str = "CLAUDE_CODE_SESSION_ID";

/// An agent's own session.
#[derive(Debug, Clone, Copy)]
pub struct Agent<'a> {
    /// The agent.
    pub name: &'a str,
    /// The id that it gives to its session.
    pub session: &'a str,
}

/// What a tool was given and what it answered.
#[derive(Debug, Clone)]
pub struct ToolUse {
    /// The tool's name.
    pub tool: String,
    /// What it was given.
    pub input: Value,
    /// What it answered, where the agent says.
    pub answer: Option<Value>,
    /// Whether it said that it failed.
    pub failed: bool,
}

impl Agent<'_> {
    fn check(&self) -> Result<()> {
        name("the agent's session", self.session)
    }

    /// As the store knows it.
    fn here<'s>(&'s self, worktree: &'s str, named: Option<&'s Id>) -> AgentSession<'s> {
        AgentSession { agent: self.name, session: self.session, worktree, named }
    }
}

/// Opens a session for the agent's session, or finds the one that it has.
pub fn agent_start(workspace: &mut Workspace, agent: &Agent<'_>) -> Result<Id> {
    agent.check()?;
    let (worktree, named) = (workspace.repository.worktree(), named(workspace));
    let found = workspace.store.resume_agent_session(&agent.here(&worktree, named.as_ref()))?;
    found.map_or_else(|| open(workspace, agent), Ok)
}

/// Joins a session that the MCP server has opened to the agent's own, where the agent tells its servers which one that is:
/// its hooks then find the session, whatever else is current in the worktree. Who cannot be joined is found by the worktree.
pub fn agent_join(workspace: &mut Workspace, session: &Id) {
    let Some(told) = workspace.context.variable(CLAUDE_CODE_SESSION) else { return };
    let Some(told) = told.to_str() else { return };
    let agent = Agent { name: "claude-code", session: told };
    if agent.check().is_ok() {
        let worktree = workspace.repository.worktree();
        let _ = workspace.store.join_agent_session(&agent.here(&worktree, None), session);
    }
}

/// Notes what a tool did: its name and two digests, never what it was given or what it answered.
pub fn agent_tool_use(workspace: &mut Workspace, agent: &Agent<'_>, seen: &ToolUse) -> Result<Id> {
    agent.check()?;
    name("the tool's name", &seen.tool)?;
    let answer = seen.answer.as_ref().map(|answer| ContentHash::new(digest(answer)).to_string());
    let observation = Observation {
        tool: &seen.tool,
        input: digest(&seen.input),
        answer: answer.as_deref(),
        failed: seen.failed,
        at: workspace.context.now(),
    };
    let (worktree, named) = (workspace.repository.worktree(), named(workspace));
    let here = agent.here(&worktree, named.as_ref());
    if let Some(session) = workspace.store.observe(&here, &observation)? {
        return Ok(session);
    }
    // The hook was set up while the agent was at work, or the agent does not say when it starts.
    let session = open(workspace, agent)?;
    workspace.store.observe(&here, &observation)?;
    Ok(session)
}

/// What to tell an agent that is about to stop; `None` where nothing is left open, or it has been told.
pub fn agent_reminder(workspace: &mut Workspace, agent: &Agent<'_>) -> Result<Option<String>> {
    agent.check()?;
    let (worktree, named) = (workspace.repository.worktree(), named(workspace));
    let session = workspace.store.remind(&agent.here(&worktree, named.as_ref()))?;
    Ok(session.map(|session| {
        format!(
            "git-proof session {session} is still open, and its last entry is not a reflection. If the task is done, call \
             thought_record with session_id \"{session}\", type \"reflection\" and, as content, what was done, what \
             was rejected and what remains uncertain; then call merkle_finalize with session_id \"{session}\". On \
             the command line: git proof record --session {session} --type reflection --content \"…\", then git \
             proof finalize --session {session}. If the task goes on, go on: this reminder comes once."
        )
    }))
}

fn open(workspace: &mut Workspace, agent: &Agent<'_>) -> Result<Id> {
    let identity = git::identity(&workspace.context).unwrap_or_else(|| "unknown".to_owned());
    let opening = Opening {
        caller: format!("{} ({identity})", agent.name),
        intent: format!("{} session {}", agent.name, agent.session),
        proof_grade: true,
        scheme: Scheme::default(),
        session_id: workspace.context.new_id(),
        started_at: workspace.context.now(),
        task_id: None,
    };
    opening_without_secrets(&opening)?;
    let (worktree, named) = (workspace.repository.worktree(), named(workspace));
    let new = NewSession { opening: &opening, worktree: Some(&worktree) };
    workspace.store.open_agent_session(&agent.here(&worktree, named.as_ref()), &new)
}

/// The session that the environment names. A name that is none is somebody else's mistake to report.
fn named(workspace: &Workspace) -> Option<Id> {
    Id::parse(workspace.context.variable("GIT_PROOF_SESSION")?.to_str()?)
}

/// Names are kept as they are, so they must be names.
fn name(what: &str, text: &str) -> Result<()> {
    acceptable(what, text, MAX_AGENT_NAME)?;
    without_secrets(what, text, "an agent names its sessions and tools without credentials")
}

/// SHA-256 of the canonical form. A number that has none is taken as the agent wrote it: this is a note, not a proof.
fn digest(value: &Value) -> [u8; 32] {
    sha256(canonical::to_text(value).unwrap_or_else(|_| value.to_string()).as_bytes())
}
