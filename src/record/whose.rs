//! Whose commit is it: which agent, if any, runs the present command. An agent is known by the session id that it puts into
//! the environment of its shell, or by a mark there and the call that it has open. A session of an agent is never anybody
//! else's.

use super::workspace::Workspace;
use crate::context::Context;
use crate::error::Result;
use crate::git;
use crate::proof::schema::names;
use crate::store::{AgentKey, AgentRow, OpenCall};

names! {
    /// An agent, or an editor with one, that is understood.
    pub enum Agent {
        ClaudeCode = "claude-code",
        /// Codex CLI.
        Codex = "codex",
        /// GitHub Copilot: its command line, and its cloud agent.
        Copilot = "copilot",
        Cursor = "cursor",
        /// Gemini CLI.
        Gemini = "gemini",
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

    /// The variable that marks its shell, where that has no id of a session.
    const fn mark(self) -> Option<&'static str> {
        match self {
            Self::Cursor => Some("CURSOR_AGENT"),
            Self::Gemini => Some("GEMINI_CLI"),
            _ => None,
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

/// The agents that the environment names, with the ids of their sessions. If it only says which agent it is, these are the
/// sessions of that agent that have a call open in this worktree.
pub fn agents_in_environment(workspace: &Workspace) -> Result<Vec<(Agent, String)>> {
    let variable = |name: &&str| workspace.context.variable(name)?.into_string().ok();
    let mut named = Vec::new();
    for agent in Agent::ALL {
        let mut ids: Vec<String> = agent.session_variables().iter().filter_map(variable).collect();
        ids.dedup();
        // A subagent of Codex has its own id, and the one of the session that it belongs to.
        if let (Agent::Codex, [thread, session]) = (agent, &ids[..]) {
            ids = vec![format!("{session}/{thread}")];
        }
        if agent.mark().is_some_and(|mark| workspace.context.variable(mark).is_some()) {
            let calls = workspace.store.open_calls(&workspace.repository.worktree())?.into_iter();
            ids = calls.filter(|call| call.agent == agent.as_str()).map(|call| call.agent_session).collect();
            ids.sort_unstable();
            ids.dedup();
        }
        for id in ids {
            let key = AgentKey { agent: agent.as_str(), session: &id };
            if !workspace.store.agent(key)?.is_some_and(|row| is_gone(&row)) {
                named.push((agent, id));
            }
        }
    }
    Ok(named)
}

/// Whether an agent's session is over and its program no longer runs. What it started may run for weeks with its environment,
/// such as a terminal multiplexer, in which a person works.
fn is_gone(row: &AgentRow) -> bool {
    row.ended && row.process.as_deref().and_then(git::is_running) == Some(false)
}

/// Whether the environment names any agent.
pub(crate) fn names_agent(context: &Context) -> bool {
    let variables = Agent::ALL.iter().flat_map(|agent| agent.session_variables().iter().copied().chain(agent.mark()));
    variables.into_iter().any(|name| context.variable(name).is_some())
}

/// Finds out from the environment who runs the current command. An agent that another agent started has the variables
/// of both, and the inner one runs the command. The tree of processes tells which one that is; if it does not, the
/// answer is `Unclear`.
pub fn whose(workspace: &Workspace) -> Result<Whose> {
    let named = agents_in_environment(workspace)?;
    let mut known: Vec<AgentRow> = Vec::new();
    for (agent, session) in &named {
        known.extend(workspace.store.agent(AgentKey { agent: agent.as_str(), session })?);
    }
    if known.is_empty() {
        return Ok(Whose::Person);
    }
    // One that was never heard of may be the inner one.
    if known.len() < named.len() {
        return Ok(Whose::Unclear);
    }
    let mut calls = Vec::new();
    for row in &known {
        calls.push(workspace.store.calls_of(row.key())?);
    }
    let Some(inner) = innermost(&known, &calls) else { return Ok(Whose::Unclear) };
    let row = among_subagents(workspace, &known[inner], &calls[inner])?;
    Ok(row.map_or(Whose::Unclear, |row| Whose::Agent(Box::new(row))))
}

/// Finds the agent that the others started: the one whose process is nearest above this one, else the only one that has
/// a call open, or whose call runs this command.
fn innermost(rows: &[AgentRow], calls: &[Vec<OpenCall>]) -> Option<usize> {
    if rows.len() == 1 {
        return Some(0);
    }
    let only = |mut found: Vec<usize>| if found.len() == 1 { found.pop() } else { None };
    let all = || 0..rows.len();
    let processes: Vec<&str> = rows.iter().filter_map(|row| row.process.as_deref()).collect();
    if processes.len() == rows.len()
        && let Some(nearest) = git::nearest_above(&processes)
        && let Some(inner) = only(all().filter(|at| processes[*at] == nearest).collect())
    {
        return Some(inner);
    }
    only(all().filter(|at| !calls[*at].is_empty()).collect()).or_else(|| {
        let above = plain_commands_above();
        only(all().filter(|at| calls[*at].iter().any(|call| runs(&above, call))).collect())
    })
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
            let above = plain_commands_above();
            let running = calls.iter().filter(|call| runs(&above, call));
            let mut running: Vec<&str> = running.map(|call| call.agent_session.as_str()).collect();
            running.sort_unstable();
            running.dedup();
            let [one] = running[..] else { return Ok(None) };
            one
        }
    };
    workspace.store.agent(AgentKey { agent: &row.agent, session: name })
}

fn plain_commands_above() -> Vec<String> {
    git::commands_above().iter().map(|line| plain(line)).collect()
}

/// Whether a call runs one of these commands.
fn runs(above: &[String], call: &OpenCall) -> bool {
    let command = plain(&call.command);
    !command.is_empty() && above.iter().any(|line| line.contains(&command))
}

/// A command without what shells add when they quote it.
fn plain(command: &str) -> String {
    command.chars().filter(|character| !character.is_whitespace() && !"'\"\\".contains(*character)).collect()
}
