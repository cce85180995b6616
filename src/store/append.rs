//! Appending: one transaction reads the parent and writes the child, so that two writers make one chain.

use std::borrow::Cow;

use rusqlite::Connection;

use super::nodes::StoredNodes;
use super::read::StoredEntry;
use super::session::{self, SessionRow};
use super::{Failure, NewEvent, Store, event};
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::digest::{ChainHash, NodeHash};
use crate::proof::record::{Body, Entry, Id, RecordType};
use crate::proof::scheme::Scheme;
use crate::proof::timestamp::Timestamp;
use crate::proof::tree;
use crate::store::query::Query as _;

#[derive(Debug, Clone)]
pub enum NewEntry<'a> {
    Thought(NewThought<'a>),
    Attestation(NewAttestation<'a>),
}

#[derive(Debug, Clone)]
pub struct NewThought<'a> {
    pub id: Id,
    pub kind: RecordType,
    pub content: &'a str,
    /// Canonical metadata, not empty.
    pub metadata: Option<&'a str>,
    /// The record that it follows; `None` for the last one.
    pub parent: Option<&'a Id>,
    /// Whether it stays out of published evidence.
    pub private: bool,
    pub timestamp: Timestamp,
}

#[derive(Debug, Clone)]
pub struct NewAttestation<'a> {
    pub id: Id,
    pub operation: &'a str,
    /// Canonical metadata, not empty.
    pub metadata: Option<&'a str>,
    pub timestamp: Timestamp,
}

/// The end of a session, to which the next entry is appended.
struct Tip {
    count: u64,
    id: Option<Id>,
    chain_hash: ChainHash,
}

impl Store {
    /// Appends entries to a session, all or none.
    pub fn append(&mut self, session: &Id, entries: &[NewEntry<'_>], event: &NewEvent<'_>) -> Result<Vec<StoredEntry>> {
        self.write(|transaction| {
            let row = takes_entries(transaction, session)?;
            append_all(transaction, &row, entries, event)
        })
    }
}

/// Appends entries inside a transaction to a session that takes them, and writes that into the ledger.
pub(super) fn append_all(
    connection: &Connection,
    row: &SessionRow,
    entries: &[NewEntry<'_>],
    event: &NewEvent<'_>,
) -> Result<Vec<StoredEntry>, Failure> {
    let count = format!("count {}", row.count + entries.len() as u64);
    let last_event = event::write(connection, Some(row.id()), event, Some(&count))?;
    let mut tip = tip(connection, row)?;
    entries.iter().map(|entry| append_one(connection, row, &mut tip, entry, last_event)).collect()
}

/// Finds a session that still takes entries: until it is finalized or ended.
pub(super) fn takes_entries(connection: &Connection, id: &Id) -> Result<SessionRow, Failure> {
    let row = session::find(connection, id)?;
    let (code, why) = match (row.finalized, row.ended_at) {
        (true, _) => (Code::AlreadyFinalized, "is finalized"),
        (false, Some(_)) => (Code::SessionEnded, "has ended"),
        (false, None) => return Ok(row),
    };
    Err(Error::new(code, format!("session {id} {why} and takes no more entries"))
        .hint(hint!(Step::Start, " opens a new session"))
        .details(serde_json::json!({ "session_id": id }))
        .into())
}

fn tip(connection: &Connection, row: &SessionRow) -> Result<Tip, Failure> {
    let sql = "SELECT id, chain_hash FROM thought_records WHERE session_id = ?1 ORDER BY position DESC LIMIT 1";
    let last = connection.first(sql, [row.id().as_str()], |last| {
        Ok(Tip { count: row.count, id: Some(last.get(0)?), chain_hash: ChainHash::new(last.get(1)?) })
    })?;
    Ok(last.unwrap_or(Tip { count: 0, id: None, chain_hash: row.genesis }))
}

fn append_one(
    connection: &Connection,
    session: &SessionRow,
    tip: &mut Tip,
    new: &NewEntry<'_>,
    last_event: i64,
) -> Result<StoredEntry, Failure> {
    let scheme = session.scheme();
    let (parent_id, prev_hash) = match new {
        NewEntry::Thought(NewThought { parent: Some(parent), .. }) => {
            (Some((*parent).clone()), parent_hash(connection, session.id(), parent)?)
        }
        _ => (tip.id.clone(), tip.chain_hash),
    };
    let task_id = session.opening.task_id.as_deref();
    let (entry, kind, private) = match new {
        NewEntry::Thought(thought) => {
            let body = Body::Thought {
                kind: thought.kind,
                content: thought.content.into(),
                task_id: task_id.map(Cow::Borrowed),
            };
            let metadata = thought.metadata.map(Cow::Borrowed);
            let entry = Entry { id: thought.id.clone(), prev_hash, timestamp: thought.timestamp, metadata, body };
            (entry, Some(thought.kind), thought.private)
        }
        NewEntry::Attestation(new) => {
            let (body, metadata) = (Body::Attest { attest: new.operation.into() }, new.metadata.map(Cow::Borrowed));
            (Entry { id: new.id.clone(), prev_hash, timestamp: new.timestamp, metadata, body }, None, false)
        }
    };
    let line = entry.to_line();
    let content_hash = scheme.content_hash(line.as_bytes(), entry.body.text());
    let chain_hash = scheme.chain_hash(&content_hash, &prev_hash);
    let stored = StoredEntry {
        session_id: session.id().clone(),
        index: tip.count,
        id: entry.id,
        parent_id,
        kind,
        timestamp: entry.timestamp,
        prev_hash,
        content_hash,
        chain_hash,
        private,
        last_event,
        line: Some(line),
    };
    insert(connection, session, &stored)?;
    *tip = Tip { count: tip.count + 1, id: Some(stored.id.clone()), chain_hash };
    Ok(stored)
}

/// Writes the row of an entry, with the nodes of the tree that it completes.
pub(super) fn insert(connection: &Connection, session: &SessionRow, row: &StoredEntry) -> Result<(), Failure> {
    let completed = completed(connection, session, row.index, session.scheme().leaf(&row.content_hash))?;
    connection.run(
        "INSERT INTO thought_records (session_id, position, id, parent_id, type, timestamp, \
             prev_hash, content_hash, chain_hash, private, last_event, line, nodes) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        (
            row.session_id.as_str(),
            row.index,
            row.id.as_str(),
            row.parent_id.as_ref().map(Id::as_str),
            row.kind.map_or("attest", RecordType::as_str),
            row.timestamp.as_str(),
            row.prev_hash.as_bytes(),
            row.content_hash.as_bytes(),
            row.chain_hash.as_bytes(),
            row.private,
            row.last_event,
            &row.line,
            completed,
        ),
    )?;
    Ok(())
}

/// The inner nodes that an entry completes, one after the other; `None` for none. Sorted leaves wait for their order.
fn completed(
    connection: &Connection,
    session: &SessionRow,
    count: u64,
    leaf: NodeHash,
) -> Result<Option<Vec<u8>>, Failure> {
    let scheme = session.scheme();
    if scheme == Scheme::V1Sorted || count.is_multiple_of(2) {
        return Ok(None);
    }
    let nodes = tree::append(scheme, &StoredNodes { connection, session: session.id(), scheme }, count, leaf)?;
    Ok(Some(nodes.iter().filter(|node| node.level > 0).flat_map(|node| *node.hash.as_bytes()).collect()))
}

fn parent_hash(connection: &Connection, session: &Id, parent: &Id) -> Result<ChainHash, Failure> {
    let sql = "SELECT session_id, chain_hash FROM thought_records WHERE id = ?1";
    let found = connection.first(sql, [parent.as_str()], |row| Ok((row.get::<_, Id>(0)?, row.get(1)?)))?;
    let refused = |message: String| {
        Error::new(Code::ParentNotFound, message)
            .hint(hint!(Step::LogOf(session.to_string()), " lists the records that can be a parent"))
            .details(serde_json::json!({ "session_id": session, "parent_id": parent }))
    };
    match found {
        Some((home, hash)) if home == *session => Ok(ChainHash::new(hash)),
        Some((home, _)) => Err(refused(format!("record {parent} belongs to session {home}, not to {session}")).into()),
        None => Err(refused(format!("there is no record {parent} to be a parent")).into()),
    }
}
