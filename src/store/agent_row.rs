//! The row that the store keeps for each session of an agent.

use rusqlite::{Connection, Row};

use super::Failure;
use super::query::Query as _;
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;

/// An agent's own session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentKey<'a> {
    pub agent: &'a str,
    /// The id that it gives to its session.
    pub session: &'a str,
}

/// A session of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is a column
pub struct AgentRow {
    pub agent: String,
    /// The id that it gives to its session.
    pub agent_session: String,
    /// Where it was seen last.
    pub worktree: String,
    /// The id of the session that its next edit, commit or record opens.
    pub reserved: Id,
    /// The newest session of its chain.
    pub session: Option<Id>,
    /// The process of the agent.
    pub process: Option<String>,
    pub model: Option<String>,
    /// The version of the program.
    pub version: Option<String>,
    pub transcript: Option<String>,
    /// Tool calls since the last session of the chain was closed.
    pub calls: u64,
    /// How many of them failed.
    pub failed: u64,
    /// Whether something changed in this turn.
    pub changed: bool,
    /// The last message of the last turn in which something changed.
    pub message: Option<String>,
    /// Whether that message is in the session already.
    pub message_kept: bool,
    /// Paths that a patch names, a line each, to be hashed at the next event.
    pub patched: Option<String>,
    /// Whether it was reminded to close its session.
    pub reminded: bool,
    /// Whether nothing is expected of it any more: its session is over, and was not resumed.
    pub ended: bool,
    /// When it was seen last.
    pub seen_at: Timestamp,
}

impl AgentRow {
    /// By what it is known.
    pub fn key(&self) -> AgentKey<'_> {
        AgentKey { agent: &self.agent, session: &self.agent_session }
    }
}

/// Facts about an agent from one of its events. A fact that the event lacks stays as it was.
#[derive(Debug, Clone, Default)]
pub struct AgentFacts {
    /// Where it works.
    pub worktree: String,
    pub process: Option<String>,
    pub model: Option<String>,
    /// The version of the program.
    pub version: Option<String>,
    pub transcript: Option<String>,
}

pub(super) const COLUMNS: &str = "agent, agent_session, worktree, reserved, session_id, process, model, version, transcript, \
    calls, failed, changed, message, message_kept, patched, reminded, ended, seen_at";

pub(super) fn read(row: &Row<'_>) -> Result<AgentRow, Failure> {
    Ok(AgentRow {
        agent: row.get(0)?,
        agent_session: row.get(1)?,
        worktree: row.get(2)?,
        reserved: row.get(3)?,
        session: row.get(4)?,
        process: row.get(5)?,
        model: row.get(6)?,
        version: row.get(7)?,
        transcript: row.get(8)?,
        calls: row.get(9)?,
        failed: row.get(10)?,
        changed: row.get(11)?,
        message: row.get(12)?,
        message_kept: row.get(13)?,
        patched: row.get(14)?,
        reminded: row.get(15)?,
        ended: row.get(16)?,
        seen_at: row.get(17)?,
    })
}

pub(super) fn find(connection: &Connection, key: AgentKey<'_>) -> Result<Option<AgentRow>, Failure> {
    let sql = format!("SELECT {COLUMNS} FROM agents WHERE agent = ?1 AND agent_session = ?2");
    connection.first(&sql, (key.agent, key.session), read)
}
