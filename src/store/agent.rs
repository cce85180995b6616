//! The sessions of agents: which session an agent's own session works in, what its tools were seen to do, and whether
//! it has been reminded to close. No call here costs more where the store holds more.

use rusqlite::{Connection, OptionalExtension as _};

use super::session::{self, NewSession, SessionRow};
use super::{Failure, NewEvent, Store, damaged, event};
use crate::error::{Code, Result};
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;

/// The call by which an agent's hook opens a session. Any other opening is that of a person or of the MCP server.
const OPENED_BY_HOOK: &str = "hook_session_start";

/// What every note of a tool begins with, and nothing else in the ledger does.
const OBSERVED: &str = "observed:";

/// Before the name of an agent whose own session the MCP server has opened a session for.
const JOINED: &str = "mcp:";

/// An agent's own session, and where it runs.
#[derive(Debug, Clone, Copy)]
pub struct AgentSession<'a> {
    /// The agent.
    pub agent: &'a str,
    /// The id that it gives to its session.
    pub session: &'a str,
    /// The worktree.
    pub worktree: &'a str,
    /// The session that a person has named for this environment, which goes before all others while it is open.
    pub named: Option<&'a Id>,
}

/// A tool that was seen to run. What it was given and what it answered is here by digest only.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// SHA-256 of its input.
    pub input: [u8; 32],
    /// SHA-256 of its answer, in hex, where there was one.
    pub answer: Option<&'a str>,
    /// Whether it said that it failed.
    pub failed: bool,
    /// When.
    pub at: Timestamp,
}

impl Store {
    /// The open session of an agent's session, which is current from now on; `None` if one must be opened.
    pub fn resume_agent_session(&mut self, agent: &AgentSession<'_>) -> Result<Option<Id>> {
        self.write(|transaction| {
            let found = find(transaction, agent)?.filter(SessionRow::is_open);
            // A session that is named by the environment is meant for that environment alone.
            if let Some(row) = found.as_ref().filter(|row| agent.named != Some(row.id())) {
                session::make_current(transaction, agent.worktree, row.id())?;
            }
            Ok(found.map(|row| row.id().clone()))
        })
    }

    /// Opens a session for an agent's session. Where another hook was faster, the answer is the one that it opened.
    pub fn open_agent_session(&mut self, agent: &AgentSession<'_>, new: &NewSession<'_>) -> Result<Id> {
        let line = new.opening.to_line();
        let event = NewEvent { tool: OPENED_BY_HOOK, arguments: line.as_bytes(), at: new.opening.started_at };
        self.write(|transaction| {
            if let Some(row) = find(transaction, agent)?.filter(SessionRow::is_open) {
                return Ok(row.id().clone());
            }
            let row = session::open(transaction, new, &event)?;
            map(transaction, agent, row.id())?;
            Ok(row.id().clone())
        })
    }

    /// Joins the session that the MCP server has opened for an agent to the agent's own, whose hooks come from elsewhere:
    /// two of them may work in one worktree, and only one of their sessions is current there.
    pub fn join_agent_session(&mut self, agent: &AgentSession<'_>, session: &Id) -> Result<()> {
        let name = format!("{JOINED}{}", agent.agent);
        self.unflushed(|transaction| map(transaction, &AgentSession { agent: &name, ..*agent }, session))
    }

    /// Notes what a tool did in the agent's session, even if that is closed by now: an agent commits after it has
    /// finalized. `None`, and nothing noted, if the agent's session is not known.
    ///
    /// An agent waits for its hook after every tool, so a note is not flushed by itself: it survives the end of the
    /// process, and is as safe as a record from the next record on, whose flush takes along all that is in the log.
    pub fn observe(&mut self, agent: &AgentSession<'_>, seen: &Observation<'_>) -> Result<Option<Id>> {
        let tool = format!("{OBSERVED}{}", seen.tool);
        let outcome = if seen.failed { "error" } else { "ok" };
        let detail = seen.answer.map(|digest| format!("outcome {digest}"));
        self.unflushed(|transaction| {
            let Some(row) = find(transaction, agent)? else { return Ok(None) };
            transaction
                .prepare_cached(
                    "INSERT INTO audit_events (session_id, tool, arguments, outcome, detail, at) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?
                .execute((row.id().as_str(), &tool, seen.input, outcome, &detail, seen.at.as_str()))?;
            Ok(Some(row.id().clone()))
        })
    }

    /// The session that the agent must still close, if it has not been told so before. It counts as told from now on.
    pub fn remind(&mut self, agent: &AgentSession<'_>) -> Result<Option<Id>> {
        self.write(|transaction| {
            let Some(row) = find(transaction, agent)? else { return Ok(None) };
            if !row.opening.proof_grade || !row.is_open() || !worked_in(transaction, &row)? {
                return Ok(None);
            }
            let told = transaction
                .prepare_cached(
                    "UPDATE agent_sessions SET reminded = 1 WHERE agent = ?1 AND agent_session = ?2 AND reminded = 0",
                )?
                .execute((agent.agent, agent.session))?;
            Ok((told == 1).then(|| row.id().clone()))
        })
    }
}

/// The session of an agent's session, as things stand now: a session that a person or the MCP server has opened here
/// goes before the one that it had.
fn find(transaction: &Connection, agent: &AgentSession<'_>) -> Result<Option<SessionRow>, Failure> {
    let mapped = mapped(transaction, agent.agent, agent.session)?;
    if let Some(row) = opened_by_others(transaction, agent)? {
        if mapped.as_ref() != Some(row.id()) {
            map(transaction, agent, row.id())?;
        }
        return Ok(Some(row));
    }
    mapped.map(|id| session::find(transaction, &id)).transpose()
}

/// The session that an agent's session is known to work in.
fn mapped(transaction: &Connection, agent: &str, session: &str) -> Result<Option<Id>, Failure> {
    let id: Option<String> = transaction
        .prepare_cached("SELECT session_id FROM agent_sessions WHERE agent = ?1 AND agent_session = ?2")?
        .query_row((agent, session), |row| row.get(0))
        .optional()?;
    id.map(|id| Id::parse(&id).ok_or_else(|| damaged("the session of an agent"))).transpose()
}

/// The open session that a person or the MCP server has chosen for this agent, or for this place.
fn opened_by_others(transaction: &Connection, agent: &AgentSession<'_>) -> Result<Option<SessionRow>, Failure> {
    if let Some(named) = agent.named {
        return match session::find(transaction, named) {
            Ok(row) => Ok(Some(row).filter(SessionRow::is_open)),
            Err(Failure::Refused(error)) if error.code == Code::SessionNotFound => Ok(None),
            Err(error) => Err(error),
        };
    }
    if let Some(joined) = mapped(transaction, &format!("{JOINED}{}", agent.agent), agent.session)? {
        let row = session::find(transaction, &joined)?;
        if row.is_open() {
            return Ok(Some(row));
        }
    }
    let Some(current) = session::current(transaction, agent.worktree)? else { return Ok(None) };
    if event::opened_by(transaction, &current)?.as_deref() == Some(OPENED_BY_HOOK) {
        return Ok(None);
    }
    Ok(Some(session::find(transaction, &current)?).filter(SessionRow::is_open))
}

/// Lets an agent's session work in a session. A reminder counts for the session that it was about.
fn map(transaction: &Connection, agent: &AgentSession<'_>, session: &Id) -> Result<(), Failure> {
    transaction
        .prepare_cached(
            "INSERT INTO agent_sessions (agent, agent_session, session_id) VALUES (?1, ?2, ?3) \
             ON CONFLICT (agent, agent_session) DO UPDATE SET session_id = excluded.session_id, reminded = 0",
        )?
        .execute((agent.agent, agent.session, session.as_str()))?;
    Ok(())
}

/// Whether there is something to reflect on: an entry, or a tool that was seen, after the last reflection.
fn worked_in(transaction: &Connection, row: &SessionRow) -> Result<bool, Failure> {
    if row.count == 0 {
        return Ok(transaction
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM audit_events WHERE session_id = ?1 AND tool GLOB ?2 LIMIT 1)",
            )?
            .query_row((row.id().as_str(), format!("{OBSERVED}*")), |row| row.get(0))?);
    }
    let last: String = transaction
        .prepare_cached("SELECT type FROM thought_records WHERE session_id = ?1 ORDER BY position DESC LIMIT 1")?
        .query_row([row.id().as_str()], |row| row.get(0))?;
    Ok(last != "reflection")
}
