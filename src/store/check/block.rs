//! A block of a session's entries: its rows are fetched, hashed, read strictly and chained, without the blocks before it.
//!
//! Every link of the chain is held against the stored hash of the parent, which is checked where the parent stands. So
//! blocks can be verified in any order, and what is left to do in order is the top of the tree.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::{Break, BreakReason};
use crate::proof::digest::{ChainHash, ContentHash, NodeHash};
use crate::proof::record::{Body, Entry, Id, RecordType};
use crate::proof::scheme::Scheme;
use crate::proof::tree::Frontier;
use crate::store::query::Query as _;
use crate::store::session::SessionRow;
use crate::store::{Failure, damaged};

/// A block is a whole subtree of this height, except for the last one.
pub(super) const HEIGHT: u32 = 10;
/// Entries of a block.
pub(super) const SIZE: u64 = 1 << HEIGHT;

/// A block as far as it holds.
pub(super) struct Block {
    /// The entries that hold.
    pub(super) tree: Frontier,
    /// Their leaves, in `v1-sorted`.
    pub(super) unsorted: Vec<NodeHash>,
    /// The stored nodes above the block that its last entry completes.
    pub(super) above: Vec<NodeHash>,
    pub(super) blanked: u64,
    pub(super) last: Option<Last>,
    pub(super) broken: Option<Break>,
}

/// The last entry that holds.
pub(super) struct Last {
    pub(super) id: Vec<u8>,
    pub(super) kind: Option<RecordType>,
    pub(super) chain_hash: ChainHash,
}

impl Block {
    /// Verifies the entries from a position on. The first block has whatever stands before it.
    pub(super) fn verify(connection: &Connection, session: &SessionRow, from: u64) -> Result<Self, Failure> {
        let scheme = session.scheme();
        let tree = Frontier::new(scheme);
        let mut block = Self { tree, unsorted: Vec::new(), above: Vec::new(), blanked: 0, last: None, broken: None };
        let mut before = if from == 0 { None } else { entry_at(connection, session.id(), from - 1)? };
        let mut statement = connection.prepare_cached(
            "SELECT position, id, parent_id, type, timestamp, prev_hash, content_hash, chain_hash, line, nodes \
             FROM thought_records WHERE session_id = ?1 AND position >= ?2 AND position < ?3 ORDER BY position",
        )?;
        let least = if from == 0 { i64::MIN } else { from.cast_signed() };
        // Not what was recorded since: a second connection may see it.
        let to = session.count.min(from + SIZE);
        let mut rows = statement.query((session.id().as_str(), least, to))?;
        let mut expected = from;
        while let Some(row) = rows.next()? {
            let row = Fetched::read(row)?;
            let parent = row.parent(connection, session, before.as_ref())?;
            if let Some(broken) = block.step(scheme, expected, &row, parent) {
                block.broken = Some(broken);
                break;
            }
            expected += 1;
            // The memory of the one before is used again.
            let mut id = before.map_or_else(Vec::new, |before| before.id);
            id.clear();
            id.extend_from_slice(row.id);
            // Only that of the last one is asked for.
            let kind =
                if expected == to { std::str::from_utf8(row.kind).ok().and_then(RecordType::parse) } else { None };
            before = Some(Last { id, kind, chain_hash: row.chain_hash });
        }
        block.last = before;
        Ok(block)
    }

    fn step(&mut self, scheme: Scheme, expected: u64, row: &Fetched<'_>, parent: Option<ChainHash>) -> Option<Break> {
        let broken = |reason, expected: String, actual: String| {
            let id = String::from_utf8_lossy(row.id).into_owned();
            Some(Break { index: row.position, id, reason, expected, actual })
        };
        if row.position != expected {
            return broken(BreakReason::PositionMissing, expected.to_string(), row.position.to_string());
        }
        match row.line {
            None => self.blanked += 1,
            Some(line) => {
                let entry = Entry::parse(line);
                let expected = scheme.content_hash(line, entry.as_ref().map_or("", |entry| entry.body.text()));
                let Some(entry) = entry.ok().filter(|_| expected == row.content_hash) else {
                    let (expected, actual) = (expected.to_string(), row.content_hash.to_string());
                    return broken(BreakReason::ContentHashMismatch, expected, actual);
                };
                if !row.agrees_with(&entry) {
                    return broken(BreakReason::ColumnsDiffer, "the hashed line".into(), "the row".into());
                }
            }
        }
        let linked = scheme.chain_hash(&row.content_hash, &row.prev_hash);
        if parent != Some(row.prev_hash) || linked != row.chain_hash {
            // With a foreign parent the stored hash may be right in itself: say what the named parent would give.
            let expected = scheme.chain_hash(&row.content_hash, &parent.unwrap_or(row.prev_hash));
            return broken(BreakReason::ChainHashMismatch, expected.to_string(), row.chain_hash.to_string());
        }
        let leaf = scheme.leaf(&row.content_hash);
        let mut stored = row.nodes.chunks(32);
        let mut wrong = None;
        if scheme == Scheme::V1Sorted {
            self.unsorted.push(leaf);
            self.tree.push_subtree(0, leaf, |_| ()); // to be counted; the order comes later
        } else {
            self.tree.push_each(leaf, |node| {
                if stored.next() != Some(node.as_bytes()) {
                    wrong = wrong.or(Some(*node));
                }
            });
        }
        let above: Vec<NodeHash> = stored.filter_map(|node| Some(NodeHash::new(node.try_into().ok()?))).collect();
        if let Some(node) = wrong {
            return broken(BreakReason::NodeMismatch, node.to_string(), "another node, or none".to_owned());
        }
        if !above.is_empty() && (self.tree.count() < SIZE || scheme == Scheme::V1Sorted) {
            return broken(BreakReason::NodeMismatch, "no further node".to_owned(), above[0].to_string());
        }
        self.above = above;
        None
    }
}

/// A row as SQLite hands it out.
struct Fetched<'a> {
    position: u64,
    id: &'a [u8],
    parent_id: ValueRef<'a>,
    kind: &'a [u8],
    timestamp: &'a [u8],
    prev_hash: ChainHash,
    content_hash: ContentHash,
    chain_hash: ChainHash,
    line: Option<&'a [u8]>,
    nodes: &'a [u8],
}

impl<'a> Fetched<'a> {
    fn read(row: &'a Row<'_>) -> Result<Self, Failure> {
        let text = |column| match row.get_ref(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(text) => Ok(Some(text)),
            _ => Err(damaged("a text of an entry is something else")),
        };
        let missing = || damaged("a text of an entry is missing");
        Ok(Self {
            // A position below zero is as wrong as one that is too large.
            position: row.get::<_, i64>(0)?.cast_unsigned(),
            id: text(1)?.ok_or_else(missing)?,
            parent_id: row.get_ref(2)?,
            kind: text(3)?.ok_or_else(missing)?,
            timestamp: text(4)?.ok_or_else(missing)?,
            prev_hash: ChainHash::new(row.get(5)?),
            content_hash: ContentHash::new(row.get(6)?),
            chain_hash: ChainHash::new(row.get(7)?),
            line: text(8)?,
            nodes: match row.get_ref(9)? {
                ValueRef::Null => &[],
                ValueRef::Blob(nodes) => nodes,
                _ => return Err(damaged("the nodes of an entry are something else")),
            },
        })
    }

    /// The chain hash of the parent that it names; `None` if there is no such entry before it.
    fn parent(
        &self,
        connection: &Connection,
        session: &SessionRow,
        before: Option<&Last>,
    ) -> Result<Option<ChainHash>, Failure> {
        match (self.parent_id, before) {
            (ValueRef::Null, _) => Ok(Some(session.genesis)),
            (ValueRef::Text(parent), Some(before)) if parent == before.id => Ok(Some(before.chain_hash)),
            (ValueRef::Text(parent), _) => earlier(connection, session.id(), parent, self.position.cast_signed()),
            _ => Err(damaged("the parent of an entry")),
        }
    }

    /// Whether the columns say what the hashed line says.
    fn agrees_with(&self, entry: &Entry<'_>) -> bool {
        let kind = match &entry.body {
            Body::Thought { kind, .. } => kind.as_str(),
            Body::Attest { .. } => "attest",
        };
        self.id == entry.id.as_str().as_bytes()
            && self.timestamp == entry.timestamp.as_str().as_bytes()
            && self.kind == kind.as_bytes()
            && self.prev_hash == entry.prev_hash
    }
}

fn entry_at(connection: &Connection, session: &Id, position: u64) -> Result<Option<Last>, Failure> {
    let sql = "SELECT id, chain_hash FROM thought_records WHERE session_id = ?1 AND position = ?2";
    connection.first(sql, (session.as_str(), position), |row| {
        let id = row.get_ref(0)?.as_bytes().unwrap_or_default().to_owned();
        Ok(Last { id, kind: None, chain_hash: ChainHash::new(row.get(1)?) })
    })
}

/// The chain hash of an entry that stands before a position.
fn earlier(connection: &Connection, session: &Id, id: &[u8], position: i64) -> Result<Option<ChainHash>, Failure> {
    let hash = connection.first_value(
        "SELECT chain_hash FROM thought_records WHERE id = ?1 AND session_id = ?2 AND position < ?3",
        (String::from_utf8_lossy(id), session.as_str(), position),
    )?;
    Ok(hash.map(ChainHash::new))
}
