//! Appending: one transaction reads the parent and writes the child, so that two writers make one chain.

use std::borrow::Cow;

use rusqlite::{Connection, OptionalExtension as _};

use super::nodes::StoredNodes;
use super::session::{self, SessionRow};
use super::{Failure, NewEvent, Store, event};
use crate::error::{Code, Error, Result};
use crate::proof::digest::{ChainHash, ContentHash, NodeHash};
use crate::proof::record::{Body, Entry, Id, RecordType};
use crate::proof::scheme::Scheme;
use crate::proof::timestamp::Timestamp;
use crate::proof::tree;
use crate::store::query::Query as _;

/// An entry to be appended.
#[derive(Debug, Clone)]
pub enum NewEntry<'a> {
    /// A thought.
    Thought(NewThought<'a>),
    /// An attested operation.
    Attestation(NewAttestation<'a>),
}

/// A thought to be recorded.
#[derive(Debug, Clone)]
pub struct NewThought<'a> {
    /// Its id.
    pub id: Id,
    /// What kind.
    pub kind: RecordType,
    /// The text.
    pub content: &'a str,
    /// Canonical metadata, not empty.
    pub metadata: Option<&'a str>,
    /// The record that it follows; `None` for the last one.
    pub parent: Option<&'a Id>,
    /// Whether it stays out of published evidence.
    pub private: bool,
    /// When.
    pub timestamp: Timestamp,
}

/// An operation to be attested.
#[derive(Debug, Clone)]
pub struct NewAttestation<'a> {
    /// Its id.
    pub id: Id,
    /// The operation.
    pub operation: &'a str,
    /// Canonical metadata, not empty.
    pub metadata: Option<&'a str>,
    /// When.
    pub timestamp: Timestamp,
}

/// An entry that is in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// Its id.
    pub id: Id,
    /// Its position in the session.
    pub index: u64,
    /// The entry before it in the chain; `None` for the genesis.
    pub parent_id: Option<Id>,
    /// The session's task.
    pub task_id: Option<String>,
    /// When it was recorded.
    pub timestamp: Timestamp,
    /// Chain hash of its parent.
    pub prev_hash: ChainHash,
    /// What it says and where it stands.
    pub content_hash: ContentHash,
    /// The two joined.
    pub chain_hash: ChainHash,
}

/// Where the next entry goes.
struct Tip {
    count: u64,
    id: Option<Id>,
    chain_hash: ChainHash,
}

impl Store {
    /// Appends entries to a session, all or none.
    pub fn append(&mut self, session: &Id, entries: &[NewEntry<'_>], event: &NewEvent<'_>) -> Result<Vec<Appended>> {
        self.write(|transaction| {
            let row = session::find(transaction, session)?;
            takes_entries(&row)?;
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
) -> Result<Vec<Appended>, Failure> {
    let count = format!("count {}", row.count + entries.len() as u64);
    let last_event = event::write(connection, Some(row.id()), event, Some(&count))?;
    let mut tip = tip(connection, row)?;
    entries.iter().map(|entry| append_one(connection, row, &mut tip, entry, last_event)).collect()
}

/// A session takes entries until it is finalized or ended.
pub(super) fn takes_entries(row: &SessionRow) -> Result<(), Error> {
    let id = row.id();
    let details = serde_json::json!({ "session_id": id });
    if row.finalized {
        return Err(Error::new(Code::AlreadyFinalized, format!("session {id} is finalized and takes no more entries"))
            .hint("git proof start opens a new session")
            .details(details));
    }
    if row.ended_at.is_some() {
        return Err(Error::new(Code::SessionEnded, format!("session {id} has ended and takes no more entries"))
            .hint("git proof start opens a new session")
            .details(details));
    }
    Ok(())
}

fn tip(connection: &Connection, row: &SessionRow) -> Result<Tip, Failure> {
    let last = connection
        .prepare_cached(
            "SELECT id, chain_hash FROM thought_records WHERE session_id = ?1 ORDER BY position DESC LIMIT 1",
        )?
        .query_row([row.id().as_str()], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))
        .optional()?;
    Ok(match last {
        Some((id, hash)) => Tip { count: row.count, id: Id::parse(&id), chain_hash: ChainHash::new(hash) },
        None => Tip { count: 0, id: None, chain_hash: row.genesis },
    })
}

fn append_one(
    connection: &Connection,
    session: &SessionRow,
    tip: &mut Tip,
    new: &NewEntry<'_>,
    last_event: i64,
) -> Result<Appended, Failure> {
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
            (entry, thought.kind.as_str(), thought.private)
        }
        NewEntry::Attestation(NewAttestation { id, operation, metadata, timestamp }) => {
            let body = Body::Attest { attest: (*operation).into() };
            (
                Entry { id: id.clone(), prev_hash, timestamp: *timestamp, metadata: metadata.map(Cow::Borrowed), body },
                "attest",
                false,
            )
        }
    };
    let line = entry.to_line();
    let content_hash = scheme.content_hash(line.as_bytes(), entry.body.text());
    let chain_hash = scheme.chain_hash(&content_hash, &prev_hash);
    let row = NewRow {
        id: &entry.id,
        parent_id: parent_id.as_ref(),
        kind,
        timestamp: &entry.timestamp,
        prev_hash: &prev_hash,
        content_hash: &content_hash,
        chain_hash: &chain_hash,
        private,
        last_event,
        line: Some(&line),
    };
    insert(connection, session, tip.count, &row)?;
    let index = tip.count;
    *tip = Tip { count: index + 1, id: Some(entry.id.clone()), chain_hash };
    Ok(Appended {
        id: entry.id,
        index,
        parent_id,
        task_id: task_id.map(str::to_owned),
        timestamp: entry.timestamp,
        prev_hash,
        content_hash,
        chain_hash,
    })
}

/// The row of an entry.
pub(super) struct NewRow<'a> {
    pub(super) id: &'a Id,
    pub(super) parent_id: Option<&'a Id>,
    pub(super) kind: &'a str,
    pub(super) timestamp: &'a Timestamp,
    pub(super) prev_hash: &'a ChainHash,
    pub(super) content_hash: &'a ContentHash,
    pub(super) chain_hash: &'a ChainHash,
    pub(super) private: bool,
    pub(super) last_event: i64,
    pub(super) line: Option<&'a str>,
}

/// Writes the row of an entry, with the nodes of the tree that it completes.
pub(super) fn insert(
    connection: &Connection,
    session: &SessionRow,
    position: u64,
    row: &NewRow<'_>,
) -> Result<(), Failure> {
    let completed = completed(connection, session, position, session.scheme().leaf(row.content_hash))?;
    connection.run(
        "INSERT INTO thought_records (session_id, position, id, parent_id, type, timestamp, \
             prev_hash, content_hash, chain_hash, private, last_event, line, nodes) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        (
            session.id().as_str(),
            position,
            row.id.as_str(),
            row.parent_id.map(Id::as_str),
            row.kind,
            row.timestamp.as_str(),
            row.prev_hash.as_bytes(),
            row.content_hash.as_bytes(),
            row.chain_hash.as_bytes(),
            row.private,
            row.last_event,
            row.line,
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
    let found = connection
        .prepare_cached("SELECT session_id, chain_hash FROM thought_records WHERE id = ?1")?
        .query_row([parent.as_str()], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))
        .optional()?;
    let refused = |message: String| {
        Error::new(Code::ParentNotFound, message)
            .hint(format!("git proof log --session {session} lists the records that can be a parent"))
            .details(serde_json::json!({ "session_id": session, "parent_id": parent }))
    };
    match found {
        Some((home, hash)) if home == session.as_str() => Ok(ChainHash::new(hash)),
        Some((home, _)) => Err(refused(format!("record {parent} belongs to session {home}, not to {session}")).into()),
        None => Err(refused(format!("there is no record {parent} to be a parent")).into()),
    }
}
