//! The rows of a session, in batches that can go to another thread.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::proof::digest::{ChainHash, ContentHash, NodeHash};
use crate::proof::record::Id;
use crate::proof::scheme::Scheme;
use crate::store::session::SessionRow;
use crate::store::{Failure, damaged};

/// Rows that go from one thread to the other at a time: few enough that their memory is used again and not given back.
const BATCH: usize = 64;

/// Some rows. Their texts stand one after the other in one buffer.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) text: Vec<u8>,
    pub(super) rows: Vec<Fetched>,
    /// For each row in turn the stored nodes that it completes, upwards; `None` for one that is missing.
    pub(super) nodes: Vec<Option<NodeHash>>,
}

/// A row, its texts as places in the batch.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) position: u64,
    pub(super) id: Place,
    /// The chain hash of the parent that it names; `None` if there is no such entry before it.
    pub(super) parent: Parent,
    pub(super) kind: Place,
    pub(super) timestamp: Place,
    pub(super) prev_hash: ChainHash,
    pub(super) content_hash: ContentHash,
    pub(super) chain_hash: ChainHash,
    pub(super) line: Option<Place>,
}

#[derive(Debug)]
pub(super) enum Parent {
    Genesis,
    EntryBefore,
    Branch(Option<ChainHash>),
}

pub(super) type Place = std::ops::Range<usize>;

impl Batch {
    fn keep(&mut self, value: ValueRef<'_>) -> Result<Option<Place>, Failure> {
        let from = self.text.len();
        match value {
            ValueRef::Null => return Ok(None),
            ValueRef::Text(text) => self.text.extend_from_slice(text),
            _ => return Err(damaged("a text of an entry is something else")),
        }
        Ok(Some(from..self.text.len()))
    }

    fn push(&mut self, row: &Row<'_>, parent: Parent) -> Result<(), Failure> {
        let missing = || damaged("a text of an entry is missing");
        let fetched = Fetched {
            position: position(row)?,
            id: self.keep(row.get_ref(1)?)?.ok_or_else(missing)?,
            parent,
            kind: self.keep(row.get_ref(3)?)?.ok_or_else(missing)?,
            timestamp: self.keep(row.get_ref(4)?)?.ok_or_else(missing)?,
            prev_hash: ChainHash::new(row.get(5)?),
            content_hash: ContentHash::new(row.get(6)?),
            chain_hash: ChainHash::new(row.get(7)?),
            line: self.keep(row.get_ref(8)?)?,
        };
        self.rows.push(fetched);
        Ok(())
    }
}

/// A position below zero is as wrong as one that is too large.
fn position(row: &Row<'_>) -> Result<u64, Failure> {
    Ok(row.get::<_, i64>(0)?.cast_unsigned())
}

/// Hands out the rows of a session in batches, until `each` has had enough.
pub(super) fn fetch(
    connection: &Connection,
    session: &SessionRow,
    mut each: impl FnMut(Batch) -> bool,
) -> Result<(), Failure> {
    let id = session.id();
    let mut statement = connection.prepare_cached(
        "SELECT position, id, parent_id, type, timestamp, prev_hash, content_hash, chain_hash, line \
         FROM thought_records WHERE session_id = ?1 ORDER BY position",
    )?;
    let mut rows = statement.query([id.as_str()])?;
    // One cursor for each level of the tree, each of which goes over its level once.
    let levels = if session.scheme() == Scheme::V1Sorted { 0 } else { session.count.checked_ilog2().unwrap_or(0) };
    // Where a node is missing or too many, the ones after it do not fit.
    let query = "SELECT hash FROM merkle_nodes WHERE session_id = ?1 AND level = ?2 ORDER BY node_index";
    let mut level_statements = (0..levels).map(|_| connection.prepare(query)).collect::<rusqlite::Result<Vec<_>>>()?;
    let mut levels = Vec::new();
    for (statement, level) in level_statements.iter_mut().zip(1..) {
        levels.push(statement.query((id.as_str(), level))?);
    }
    let mut batch = Batch::default();
    let mut before: Vec<u8> = Vec::new();
    while let Some(row) = rows.next()? {
        let position = position(row)?;
        let parent = match row.get_ref(2)? {
            ValueRef::Null => Parent::Genesis,
            ValueRef::Text(parent) if parent == before => Parent::EntryBefore,
            ValueRef::Text(parent) => Parent::Branch(earlier(connection, id, parent, row.get(0)?)?),
            _ => return Err(damaged("the parent of an entry")),
        };
        batch.push(row, parent)?;
        for (_, nodes) in (0..position.trailing_ones()).zip(&mut levels) {
            let node = nodes.next()?.map(|node| node.get(0)).transpose()?;
            batch.nodes.push(node.map(NodeHash::new));
        }
        before.clear();
        before.extend_from_slice(row.get_ref(1)?.as_bytes().unwrap_or_default());
        if batch.rows.len() == BATCH && !each(std::mem::take(&mut batch)) {
            return Ok(());
        }
    }
    each(batch);
    Ok(())
}

/// The chain hash of an entry that stands before a position.
fn earlier(connection: &Connection, session: &Id, id: &[u8], position: i64) -> Result<Option<ChainHash>, Failure> {
    let hash = connection
        .prepare_cached("SELECT chain_hash FROM thought_records WHERE id = ?1 AND session_id = ?2 AND position < ?3")?
        .query_row((String::from_utf8_lossy(id), session.as_str(), position), |row| row.get(0))
        .optional()?;
    Ok(hash.map(ChainHash::new))
}
