//! Agents: the events that their hooks send, and which sessions of the store belong to which session of an agent. The cost
//! of a call does not grow with the store.

use rusqlite::Connection;

use super::agent_row::{AgentFacts, AgentKey, AgentRow, COLUMNS, find, read};
use super::append::{NewEntry, append_all, takes_entries};
use super::session::{self, NewSession, SessionRow};
use super::{Failure, NewEvent, Store, active, damaged};
use crate::error::Result;
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;
use crate::store::query::Query as _;

/// The call by which an agent's hook opens a session.
const OPENED_BY_HOOK: &str = "hook_session_start";

/// Prefix of the tool's name in the ledger lines that note an agent's own tools; no other line has it.
const OBSERVED: &str = "observed:";

/// How many events are remembered for each agent, so that one that arrives twice is recorded once.
const REMEMBERED_EVENTS: usize = 32;

/// A tool that was seen to run. What it was given and what it answered is here by digest only.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    pub tool: &'a str,
    /// SHA-256 of its input.
    pub input: [u8; 32],
    /// SHA-256 of its answer, in hex, where there was one.
    pub answer: Option<&'a str>,
    pub failed: bool,
}

fn open_session(connection: &Connection, row: &AgentRow) -> Result<Option<SessionRow>, Failure> {
    let found = row.session.as_ref().map(|id| session::find(connection, id)).transpose()?;
    Ok(found.filter(SessionRow::is_open))
}

impl Store {
    /// Finds a session of an agent.
    pub fn agent(&self, key: AgentKey<'_>) -> Result<Option<AgentRow>> {
        self.read(|connection| find(connection, key))
    }

    /// The agent's session that a session, open or only reserved, belongs to.
    pub fn agent_of(&self, session: &Id) -> Result<Option<AgentRow>> {
        let sql = "SELECT agent, agent_session FROM agent_chains WHERE session_id = ?1 \
                   UNION ALL SELECT agent, agent_session FROM agents WHERE reserved = ?1 LIMIT 1";
        self.read(|connection| {
            let key = connection
                .first(sql, [session.as_str()], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
            let Some((agent, session)) = key else { return Ok(None) };
            find(connection, AgentKey { agent: &agent, session: &session })
        })
    }

    /// Whether a session of an agent was closed without being asked.
    pub fn was_closed_by_itself(&self, session: &Id) -> Result<bool> {
        self.read(|connection| {
            let found: Option<bool> = connection
                .first_value("SELECT by_itself FROM agent_chains WHERE session_id = ?1", [session.as_str()])?;
            Ok(found.unwrap_or(false))
        })
    }

    /// The agents of which something is still expected, the newest first.
    pub fn live_agents(&self) -> Result<Vec<AgentRow>> {
        self.all(&format!("SELECT {COLUMNS} FROM agents WHERE ended = 0 ORDER BY seen_at DESC"), [], read)
    }

    /// Whether any agent was seen in a worktree since a time.
    pub fn agent_seen_since(&self, worktree: &str, since: Timestamp) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM agents WHERE worktree = ?1 AND seen_at >= ?2)";
        self.value(sql, (worktree, since.as_str()))
    }

    /// Takes an event of an agent into account: what it says of the agent, and the tool that ran. `None` if the event was
    /// here before. With `reserve` the agent's session becomes known where it is not.
    ///
    /// An agent waits for its hooks, so this is not flushed by itself: it survives the end of the process, and is as safe as
    /// a record from the next record on, whose flush takes along all that is in the log.
    pub fn meet_agent(
        &mut self,
        key: AgentKey<'_>,
        reserve: &Id,
        facts: &AgentFacts,
        event: [u8; 8],
        tool: Option<&Observation<'_>>,
        now: Timestamp,
    ) -> Result<Option<AgentRow>> {
        let path = self.path.clone();
        self.unflushed(|transaction| {
            let sql = "SELECT recent FROM agents WHERE agent = ?1 AND agent_session = ?2";
            let recent: Option<Vec<u8>> = transaction.first_value(sql, (key.agent, key.session))?;
            let is_new = recent.is_none();
            let mut recent = recent.unwrap_or_default();
            if recent.chunks(8).any(|known| known == event) {
                return Ok(None);
            }
            recent.extend(event);
            recent.drain(..recent.len().saturating_sub(REMEMBERED_EVENTS * 8));
            if is_new {
                active::mark(&path)?;
            }
            let (called, failed) = tool.map_or((0, 0), |tool| (1, i64::from(tool.failed)));
            let sql = "INSERT INTO agents (agent, agent_session, worktree, reserved, process, model, version, transcript, \
                     calls, failed, recent, seen_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
                     ON CONFLICT (agent, agent_session) DO UPDATE SET worktree = excluded.worktree, \
                     process = coalesce(excluded.process, process), model = coalesce(excluded.model, model), \
                     version = coalesce(excluded.version, version), transcript = coalesce(excluded.transcript, transcript), \
                     calls = calls + excluded.calls, failed = failed + excluded.failed, recent = excluded.recent, \
                     ended = 0, seen_at = excluded.seen_at";
            let AgentFacts { worktree, process, model, version, transcript } = facts;
            let (agent, session, id, at) = (key.agent, key.session, reserve.as_str(), now.as_str());
            transaction.run(
                sql,
                (agent, session, worktree, id, process, model, version, transcript, called, failed, recent, at),
            )?;
            let Some(row) = find(transaction, key)? else { return Err(damaged("an agent that was just written")) };
            if let (Some(tool), Some(session)) = (tool, &row.session) {
                note_tool(transaction, session, tool, now)?;
            }
            Ok(Some(row))
        })
    }

    /// Opens the next session of an agent's chain, with its first entries. Where another hook was faster, the answer is the
    /// one that it opened. What was held, up to a number, is among the entries.
    pub fn open_agent_session(
        &mut self,
        key: AgentKey<'_>,
        new: &NewSession<'_>,
        entries: &[NewEntry<'_>],
        held: i64,
        next: &Id,
    ) -> Result<Id> {
        let path = self.path.clone();
        let line = new.opening.to_line();
        let event = NewEvent { tool: OPENED_BY_HOOK, arguments: line.as_bytes(), at: new.opening.started_at };
        self.write(|transaction| {
            let Some(row) = find(transaction, key)? else { return Err(damaged("an agent that is not known")) };
            if let Some(open) = open_session(transaction, &row)? {
                return Ok(open.id().clone());
            }
            active::mark(&path)?;
            let opened = session::open(transaction, new, &event)?;
            append_all(transaction, &opened, entries, &event)?;
            join(transaction, key, opened.id())?;
            transaction.run(
                "UPDATE agents SET reserved = ?3 WHERE agent = ?1 AND agent_session = ?2",
                (key.agent, key.session, next.as_str()),
            )?;
            transaction.run(
                "DELETE FROM agent_held WHERE agent = ?1 AND agent_session = ?2 AND held <= ?3",
                (key.agent, key.session, held),
            )?;
            Ok(opened.id().clone())
        })
    }

    /// Makes a session the newest one of an agent's chain. It is nobody's current session from then on.
    pub fn join_agent(&mut self, key: AgentKey<'_>, session: &Id) -> Result<()> {
        self.write(|transaction| join(transaction, key, session))
    }

    /// Appends entries to an open session of an agent and says that something changed in this turn, if so.
    pub fn append_seen(
        &mut self,
        key: AgentKey<'_>,
        session: &Id,
        entries: &[NewEntry<'_>],
        event: &NewEvent<'_>,
        changed: bool,
    ) -> Result<()> {
        self.write(|transaction| {
            let row = takes_entries(transaction, session)?;
            if !entries.is_empty() {
                append_all(transaction, &row, entries, event)?;
            }
            if changed {
                transaction.run(
                    "UPDATE agents SET changed = 1, message = NULL, message_kept = 0 \
                     WHERE agent = ?1 AND agent_session = ?2",
                    (key.agent, key.session),
                )?;
            }
            Ok(())
        })
    }

    /// Keeps the last message of a turn in which something changed.
    pub fn keep_message(&mut self, key: AgentKey<'_>, message: Option<&str>) -> Result<()> {
        let sql = "UPDATE agents SET message = coalesce(?3, message), message_kept = CASE WHEN ?3 IS NULL THEN \
                   message_kept ELSE 0 END, changed = 0 WHERE agent = ?1 AND agent_session = ?2";
        self.run(sql, (key.agent, key.session, message)).map(drop)
    }

    /// Says that the last message is in the session.
    pub fn message_is_kept(&mut self, key: AgentKey<'_>) -> Result<()> {
        let sql = "UPDATE agents SET message_kept = 1 WHERE agent = ?1 AND agent_session = ?2";
        self.run_unflushed(sql, (key.agent, key.session)).map(drop)
    }

    /// Keeps the paths that a patch names until the next event, or forgets them.
    pub fn keep_patched(&mut self, key: AgentKey<'_>, paths: Option<&str>) -> Result<()> {
        let sql = "UPDATE agents SET patched = ?3 WHERE agent = ?1 AND agent_session = ?2";
        self.run_unflushed(sql, (key.agent, key.session, paths)).map(drop)
    }

    /// Says that the agent was reminded to close its session; `false` if it had been before.
    pub fn remind(&mut self, key: AgentKey<'_>) -> Result<bool> {
        let sql = "UPDATE agents SET reminded = 1 WHERE agent = ?1 AND agent_session = ?2 AND reminded = 0";
        self.run(sql, (key.agent, key.session)).map(|told| told == 1)
    }

    /// Says that a session of an agent was closed: what was counted for it begins anew.
    pub fn agent_closed(&mut self, key: AgentKey<'_>, session: &Id, by_itself: bool) -> Result<()> {
        self.write(|transaction| {
            transaction
                .run("UPDATE agent_chains SET by_itself = ?2 WHERE session_id = ?1", (session.as_str(), by_itself))?;
            transaction.run(
                "UPDATE agents SET calls = 0, failed = 0, message = NULL, message_kept = 0, reminded = 0 \
                     WHERE agent = ?1 AND agent_session = ?2",
                (key.agent, key.session),
            )?;
            Ok(())
        })
    }

    /// Says that nothing is expected of an agent's session any more. An event with its id changes that.
    pub fn agent_ended(&mut self, key: AgentKey<'_>) -> Result<()> {
        self.write(|transaction| {
            for statement in [
                "UPDATE agents SET ended = 1, changed = 0, patched = NULL WHERE agent = ?1 AND agent_session = ?2",
                "DELETE FROM agent_held WHERE agent = ?1 AND agent_session = ?2",
                "DELETE FROM agent_calls WHERE agent = ?1 AND agent_session = ?2",
            ] {
                transaction.run(statement, (key.agent, key.session))?;
            }
            Ok(())
        })
    }
}

/// Makes a session the newest one of an agent's chain.
fn join(transaction: &Connection, key: AgentKey<'_>, session: &Id) -> Result<(), Failure> {
    transaction.run(
        "INSERT INTO agent_chains (session_id, agent, agent_session) VALUES (?1, ?2, ?3) \
             ON CONFLICT (session_id) DO UPDATE SET agent = excluded.agent, agent_session = excluded.agent_session",
        (session.as_str(), key.agent, key.session),
    )?;
    transaction.run(
        "UPDATE agents SET session_id = ?3, ended = 0 WHERE agent = ?1 AND agent_session = ?2",
        (key.agent, key.session, session.as_str()),
    )?;
    transaction.run("DELETE FROM worktree_sessions WHERE session_id = ?1", [session.as_str()])?;
    Ok(())
}

/// Notes in the ledger what a tool did, even if the session is closed by now: an agent goes on after it has finalized.
fn note_tool(transaction: &Connection, session: &Id, seen: &Observation<'_>, now: Timestamp) -> Result<(), Failure> {
    let tool = format!("{OBSERVED}{}", seen.tool);
    let outcome = if seen.failed { "error" } else { "ok" };
    let detail = seen.answer.map(|digest| format!("outcome {digest}"));
    transaction.run(
        "INSERT INTO audit_events (session_id, tool, arguments, outcome, detail, at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        (session.as_str(), &tool, seen.input, outcome, &detail, now.as_str()),
    )?;
    Ok(())
}
