//! Reading entries back: the stored line is parsed as strictly as evidence is.

use std::ops::ControlFlow;

use rusqlite::{Connection, Row};

use super::session::{self, SessionRow};
use super::{Failure, RootRow, Store, damaged, finalize};
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::digest::{ChainHash, ContentHash};
use crate::proof::record::{Entry, Id, RecordType};
use crate::proof::timestamp::Timestamp;
use crate::store::query::Query as _;

/// An entry as it is stored: the one model of an entry of this clone, written and read. What was hashed is its `line`, which
/// [`Entry`] takes apart; [`EntryView`](crate::record::EntryView) is what programs get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEntry {
    pub session_id: Id,
    /// Its position there.
    pub index: u64,
    pub id: Id,
    /// The entry before it in the chain; `None` for the genesis.
    pub parent_id: Option<Id>,
    /// What kind of thought; `None` for an attested operation.
    pub kind: Option<RecordType>,
    pub timestamp: Timestamp,
    pub prev_hash: ChainHash,
    /// SHA-256 of the entry's bytes.
    pub content_hash: ContentHash,
    /// Hash of `content_hash` and `prev_hash` together.
    pub chain_hash: ChainHash,
    /// Whether it stays out of published evidence.
    pub private: bool,
    /// The number of the ledger line that wrote it; 0 for one that was read from published evidence.
    pub last_event: i64,
    /// What was hashed; `None` once retention has blanked it, and for an entry that evidence withholds.
    pub line: Option<String>,
}

/// From which end a session is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// From the first entry on.
    Oldest,
    /// From the last one back.
    Newest,
}

pub(super) const COLUMNS: &str = "session_id, position, id, parent_id, type, timestamp, prev_hash, content_hash, \
                                  chain_hash, private, last_event, line";

fn too_much(most: usize) -> Error {
    Error::new(Code::TooLarge, format!("the entries take more than the {most} bytes that one answer may take"))
        .hint(hint!(Step::Log, " reads sessions of any size"))
}

impl StoredEntry {
    /// About how many bytes it takes.
    fn size(&self) -> usize {
        size_of::<Self>() + 200 + self.line.as_ref().map_or(0, String::len)
    }

    pub(super) fn read(row: &Row<'_>) -> Result<Self, Failure> {
        let kind = match row.get_ref(4)?.as_str().unwrap_or_default() {
            "attest" => None,
            name => Some(RecordType::parse(name).ok_or_else(|| damaged("the type of a record"))?),
        };
        Ok(Self {
            session_id: row.get(0)?,
            index: row.get(1)?,
            id: row.get(2)?,
            parent_id: row.get(3)?,
            kind,
            timestamp: row.get(5)?,
            prev_hash: ChainHash::new(row.get(6)?),
            content_hash: ContentHash::new(row.get(7)?),
            chain_hash: ChainHash::new(row.get(8)?),
            private: row.get(9)?,
            last_event: row.get(10)?,
            line: row.get(11)?,
        })
    }

    /// Whether the published evidence that it comes from withholds it. Only its hashes and its place are known then: id,
    /// type and time of its row stand for nothing.
    pub fn is_withheld(&self) -> bool {
        self.line.is_none() && self.last_event == 0
    }

    /// The entry that was hashed; `None` once it is blanked.
    pub fn entry(&self) -> Result<Option<Entry<'_>>> {
        let Some(line) = &self.line else { return Ok(None) };
        Entry::parse(line.as_bytes()).map(Some).map_err(|error| {
            Error::new(Code::ChainBroken, format!("record {} is not readable: {error}", self.id))
                .hint(hint!(Step::Check(self.session_id.to_string()), " tells where the chain breaks"))
        })
    }
}

/// Calls `each` with the entries of a session, until it breaks off.
pub(super) fn walk(
    connection: &Connection,
    session: &Id,
    order: Order,
    mut each: impl FnMut(StoredEntry) -> Result<ControlFlow<()>, Failure>,
) -> Result<(), Failure> {
    let direction = match order {
        Order::Oldest => "ASC",
        Order::Newest => "DESC",
    };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM thought_records WHERE session_id = ?1 ORDER BY position {direction}"
    ))?;
    let mut rows = statement.query([session.as_str()])?;
    while let Some(row) = rows.next()? {
        if each(StoredEntry::read(row)?)?.is_break() {
            break;
        }
    }
    Ok(())
}

pub(super) fn find(connection: &Connection, id: &Id) -> Result<StoredEntry, Failure> {
    let sql = format!("SELECT {COLUMNS} FROM thought_records WHERE id = ?1");
    connection.first(&sql, [id.as_str()], StoredEntry::read)?.ok_or_else(|| {
        Error::new(Code::RecordNotFound, format!("there is no record {id}"))
            .hint(hint!(Step::Log, " shows the records of a session with their ids"))
            .details(serde_json::json!({ "id": id }))
            .into()
    })
}

/// A session with its root and entries, all as they were at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    pub session: SessionRow,
    pub root: Option<RootRow>,
    /// Its entries, or the newest of them, in order of recording.
    pub entries: Vec<StoredEntry>,
}

impl Store {
    /// A session with all its entries, or the newest `limit` of them.
    pub fn log(&self, session: &Id, limit: Option<u64>) -> Result<Log> {
        self.log_within(session, limit, usize::MAX)
    }

    /// The same, if it does not take more than so many bytes of memory.
    pub fn log_within(&self, session: &Id, limit: Option<u64>, most: usize) -> Result<Log> {
        let mut left = most;
        self.read(|connection| {
            let row = session::find(connection, session)?;
            let root = finalize::find(connection, session)?;
            let mut entries = Vec::new();
            let order = if limit.is_some() { Order::Newest } else { Order::Oldest };
            walk(connection, session, order, |entry| {
                if limit.is_some_and(|limit| entries.len() as u64 >= limit) {
                    return Ok(ControlFlow::Break(()));
                }
                left = left.checked_sub(entry.size()).ok_or_else(|| too_much(most))?;
                entries.push(entry);
                Ok(ControlFlow::Continue(()))
            })?;
            if order == Order::Newest {
                entries.reverse();
            }
            Ok(Log { session: row, root, entries })
        })
    }

    pub fn entry(&self, id: &Id) -> Result<StoredEntry> {
        self.read(|connection| find(connection, id))
    }

    /// The entries from the first one to this one, along the parents.
    pub fn trail(&self, id: &Id) -> Result<Vec<StoredEntry>> {
        self.trail_within(id, usize::MAX)
    }

    /// The same, if it does not take more than so many bytes of memory.
    pub fn trail_within(&self, id: &Id, most: usize) -> Result<Vec<StoredEntry>> {
        let mut left = most;
        self.read(|connection| {
            let mut trail = vec![find(connection, id)?];
            while let Some(parent) = trail.last().and_then(|entry| entry.parent_id.clone()) {
                let parent = find(connection, &parent)?;
                if trail
                    .last()
                    .is_some_and(|child| parent.index >= child.index || parent.session_id != child.session_id)
                {
                    return Err(damaged("a record whose parent is not an earlier record of its session"));
                }
                left = left.checked_sub(parent.size()).ok_or_else(|| too_much(most))?;
                trail.push(parent);
            }
            trail.reverse();
            Ok(trail)
        })
    }
}
