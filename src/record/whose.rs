//! Whose commit is it: which agent, if any, runs the present command. An agent is known by the session id that it puts into
//! the environment of its shell. A session of an agent is never anybody else's.

use super::workspace::Workspace;
use crate::context::Context;
use crate::error::Result;
use crate::git;
use crate::proof::schema::names;
use crate::store::{AgentKey, AgentRow, OpenCall};

names! {
    /// An agent, or an editor with one, that is understood.
    pub enum Agent {
        /// Claude Code.
        ClaudeCode = "claude-code",
        /// Codex CLI.
        Codex = "codex",
        /// GitHub Copilot: its command line, and its cloud agent.
        Copilot = "copilot",
        /// Cursor.
        Cursor = "cursor",
        /// Gemini CLI.
        Gemini = "gemini",
        /// opencode.
        Opencode = "opencode",
        /// Qwen Code.
        Qwen = "qwen",
        /// Visual Studio Code.
        Vscode = "vscode",
        /// Zed, which has no hooks.
        Zed = "zed",
    }
}

impl Agent {
    /// The variables in which its shell has the id of its session.
    const fn session_variables(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &["CLAUDE_CODE_SESSION_ID"],
            Self::Codex => &["CODEX_THREAD_ID", "CODEX_SESSION_ID"],
            Self::Copilot => &["COPILOT_AGENT_SESSION_ID"],
            Self::Qwen => &["QWEN_CODE_SESSION_ID"],
            // Our plugin sets it.
            Self::Opencode => &["GIT_PROOF_OPENCODE_SESSION"],
            Self::Cursor | Self::Gemini | Self::Vscode | Self::Zed => &[],
        }
    }
}

/// Who runs the present command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// An agent that is known here.
    Agent(Box<AgentRow>),
    /// One of several agents, and it cannot be told which.
    Unclear,
    /// Nobody but a person, as far as can be seen.
    Person,
}

/// The agents that the environment names, with the ids of their sessions.
pub fn agents_in_environment(workspace: &Workspace) -> Vec<(Agent, String)> {
    let variable = |name: &str| workspace.context.variable(name)?.into_string().ok();
    // A subagent of Codex has its own id, and the one of the session that it belongs to.
    if let (Some(thread), Some(session)) = (variable("CODEX_THREAD_ID"), variable("CODEX_SESSION_ID"))
        && thread != session
    {
        return vec![(Agent::Codex, format!("{session}/{thread}"))];
    }
    let named = |agent: Agent| {
        let variables = agent.session_variables().iter();
        variables
            .filter_map(move |name| workspace.context.variable(name)?.into_string().ok())
            .map(move |id| (agent, id))
    };
    Agent::ALL.into_iter().flat_map(named).collect()
}

/// Whether the environment names any agent.
pub(crate) fn names_agent(context: &Context) -> bool {
    Agent::ALL.iter().any(|agent| agent.session_variables().iter().any(|name| context.variable(name).is_some()))
}

/// Who runs the present command, by its environment.
pub fn whose(workspace: &Workspace) -> Result<Whose> {
    let mut known: Vec<AgentRow> = Vec::new();
    for (agent, session) in agents_in_environment(workspace) {
        let row = workspace.store.agent(AgentKey { agent: agent.as_str(), session: &session })?;
        known.extend(row.filter(|row| !known.contains(row)));
    }
    let mut found = Vec::new();
    for row in &known {
        let calls = workspace.store.calls_of(row.key())?;
        found.push((row, calls));
    }
    // An agent that was started by another has the variables of both; it is the one whose call began last.
    let newest = |(_, calls): &&(&AgentRow, Vec<OpenCall>)| calls.iter().map(|call| call.call).max();
    let Some((row, calls)) = (match found.as_slice() {
        [] => return Ok(Whose::Person),
        [one] => Some(one),
        several => several.iter().filter(|one| newest(one).is_some()).max_by_key(newest),
    }) else {
        return Ok(Whose::Unclear);
    };
    Ok(among_subagents(workspace, row, calls)?.map_or(Whose::Unclear, |row| Whose::Agent(Box::new(row))))
}

/// An agent and its subagents share the id in the environment. The one that has a call open is the one; where several have,
/// the command line of that call is looked for among the processes that this one was started by.
fn among_subagents(workspace: &Workspace, row: &AgentRow, calls: &[OpenCall]) -> Result<Option<AgentRow>> {
    let mut names: Vec<&str> = calls.iter().map(|call| call.agent_session.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let name = match names[..] {
        [] => return Ok(Some(row.clone())),
        [one] => one,
        _ => {
            let above: Vec<String> = git::commands_above().iter().map(|line| plain(line)).collect();
            let runs = |call: &&OpenCall| above.iter().any(|line| line.contains(&plain(&call.command)));
            let mut running: Vec<&str> = calls.iter().filter(runs).map(|call| call.agent_session.as_str()).collect();
            running.dedup();
            let [one] = running[..] else { return Ok(None) };
            one
        }
    };
    workspace.store.agent(AgentKey { agent: &row.agent, session: name })
}

/// A command without what shells add when they quote it.
fn plain(command: &str) -> String {
    command.chars().filter(|character| !character.is_whitespace() && !"'\"\\".contains(*character)).collect()
}
