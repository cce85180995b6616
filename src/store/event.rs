//! The ledger: every call that changed something, in the same transaction as the change; and what an agent asked or was
//! refused, on its own.

use rusqlite::Connection;

use super::{Failure, Store, StoredEntry};
use crate::error::Result;
use crate::proof::digest::sha256;
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;
use crate::store::query::Query as _;

/// A call, as it goes into the ledger.
#[derive(Debug, Clone)]
pub struct NewEvent<'a> {
    pub tool: &'a str,
    /// What it was given; only the digest is kept.
    pub arguments: &'a [u8],
    pub at: Timestamp,
}

/// A line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub event_id: i64,
    pub tool: String,
    pub outcome: String,
    /// A remark, if there is one.
    pub detail: Option<String>,
    pub at: String,
}

/// Writes one line; the answer is its number.
pub(super) fn write(
    connection: &Connection,
    session: Option<&Id>,
    event: &NewEvent<'_>,
    detail: Option<&str>,
) -> Result<i64, Failure> {
    insert(connection, session, event, "ok", detail)
}

fn insert(
    connection: &Connection,
    session: Option<&Id>,
    event: &NewEvent<'_>,
    outcome: &str,
    detail: Option<&str>,
) -> Result<i64, Failure> {
    connection.run(
        "INSERT INTO audit_events (session_id, tool, arguments, outcome, detail, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        (session.map(Id::as_str), event.tool, sha256(event.arguments), outcome, detail, event.at.as_str()),
    )?;
    Ok(connection.last_insert_rowid())
}

/// How many entries a session has by the ledger; `None` for one that never had any.
pub(super) fn recorded(connection: &Connection, session: &Id) -> Result<Option<u64>, Failure> {
    let detail: Option<String> = connection.first_value(
        "SELECT detail FROM audit_events WHERE session_id = ?1 AND detail GLOB 'count *' \
             ORDER BY event_id DESC LIMIT 1",
        [session.as_str()],
    )?;
    Ok(detail.and_then(|detail| detail.strip_prefix("count ")?.parse().ok()))
}

/// Whether the ledger says that a session was finalized.
pub(super) fn finalized(connection: &Connection, session: &Id) -> Result<bool, Failure> {
    connection.value(
        "SELECT EXISTS (SELECT 1 FROM audit_events WHERE session_id = ?1 AND detail GLOB 'root *')",
        [session.as_str()],
    )
}

/// The calls between a record and the one before it in its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSpan {
    /// The first of them.
    pub from: i64,
    /// The call that made the record.
    pub to: i64,
    /// Their names, each once, in the order of their first use.
    pub tools: Vec<String>,
}

impl Store {
    /// Writes down a call that changed nothing: a read, or one that was refused. A session is only named if it exists.
    pub fn note(&mut self, session: Option<&Id>, event: &NewEvent<'_>, outcome: &str) -> Result<i64> {
        self.write(|transaction| {
            let known: Option<i64> = match session {
                None => None,
                Some(session) => {
                    transaction.first_value("SELECT 1 FROM audit_sessions WHERE session_id = ?1", [session.as_str()])?
                }
            };
            insert(transaction, session.filter(|_| known.is_some()), event, outcome, None)
        })
    }

    /// Rows that calls on this connection have written so far.
    pub fn changes(&self) -> u64 {
        self.connection.total_changes() - self.upkeep
    }

    /// The provenance of a record: the calls in its session since the record before, its own call included.
    pub fn provenance(&self, entry: &StoredEntry) -> Result<EventSpan> {
        self.read(|connection| {
            let session = entry.session_id.as_str();
            let before: Option<i64> = connection.first_value(
                "SELECT last_event FROM thought_records WHERE session_id = ?1 AND position = ?2 - 1",
                (session, entry.index),
            )?;
            // Backwards, and for the first record only to the call that opened the session: what else the store holds
            // is never read.
            let mut statement = connection.prepare_cached(
                "SELECT event_id, tool FROM audit_events \
                 WHERE event_id <= ?1 AND event_id > ?2 AND session_id = ?3 ORDER BY event_id DESC",
            )?;
            let mut rows = statement.query((entry.last_event, before.unwrap_or(0), session))?;
            let mut span = EventSpan { from: entry.last_event, to: entry.last_event, tools: Vec::new() };
            while let Some(row) = rows.next()? {
                let tool: String = row.get(1)?;
                span.from = row.get(0)?;
                let opens = tool == "audit_session_start";
                span.tools.retain(|known| *known != tool);
                span.tools.push(tool);
                if opens {
                    break;
                }
            }
            span.tools.reverse();
            Ok(span)
        })
    }

    /// The ledger of one session, in order.
    pub fn events(&self, session: &Id) -> Result<Vec<Event>> {
        let sql =
            "SELECT event_id, tool, outcome, detail, at FROM audit_events WHERE session_id = ?1 ORDER BY event_id";
        self.all(sql, [session.as_str()], |row| {
            let (event_id, tool, outcome) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Event { event_id, tool, outcome, detail: row.get(3)?, at: row.get(4)? })
        })
    }
}
