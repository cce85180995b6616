//! Checking a session: every stored line is hashed, read strictly and chained anew, in one pass.
//!
//! SQLite hands out rows about as fast as they can be hashed and read, so a long session is checked on two threads:
//! one fetches, the other verifies.

use std::sync::mpsc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::session::{self, SessionRow};
use super::{Failure, Store, damaged, event, finalize};
use crate::error::Result;
use crate::proof::chain::Chain;
use crate::proof::digest::{ChainHash, ContentHash, NodeHash, RootHash};
use crate::proof::record::{Body, Entry, Id, RecordType};
use crate::proof::scheme::Scheme;
use crate::proof::tree::{self, Frontier};

/// How a session's chain stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainCheck {
    /// Number of entries that hold.
    pub records: u64,
    /// Where it first breaks.
    pub broken: Option<Break>,
    /// Chain hash of the last entry that holds.
    pub head: ChainHash,
    /// Root over the entries that hold; `None` if there are none, or if something is broken.
    pub root: Option<RootHash>,
    /// Number of entries whose text has been blanked: their hashes hold, their text cannot be checked.
    pub blanked: u64,
    /// What kind of thought the last entry is; `None` for an attested operation.
    pub last_kind: Option<RecordType>,
}

/// The first entry that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// Its position.
    pub index: u64,
    /// Its id, as far as it has one.
    pub id: String,
    /// What is wrong.
    pub reason: BreakReason,
    /// The hash that the stored text gives.
    pub expected: String,
    /// The hash that is stored.
    pub actual: String,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakReason {
    /// The text is not the one that was hashed.
    ContentHashMismatch,
    /// The chain hash is not that of content and parent.
    ChainHashMismatch,
    /// The columns beside the text say something else than the text.
    ColumnsDiffer,
    /// Entries are missing before this one.
    PositionMissing,
    /// A stored node of the tree is not the one over the entries below it.
    NodeMismatch,
    /// The ledger has more entries than the session.
    EntriesMissing,
    /// The finalized root, count or head is not what the entries add up to.
    RootMismatch,
}

impl BreakReason {
    /// The name that programs get.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ContentHashMismatch => "content_hash_mismatch",
            Self::ChainHashMismatch => "chain_hash_mismatch",
            Self::ColumnsDiffer => "columns_differ",
            Self::PositionMissing => "position_missing",
            Self::NodeMismatch => "node_mismatch",
            Self::EntriesMissing => "entries_missing",
            Self::RootMismatch => "root_mismatch",
        }
    }
}

impl Break {
    /// One line for people.
    pub fn explain(&self) -> String {
        let Self { index, id, .. } = self;
        match self.reason {
            BreakReason::ContentHashMismatch => {
                format!("the text of entry {index} ({id}) is not the one that was recorded")
            }
            BreakReason::ChainHashMismatch => format!("entry {index} ({id}) does not follow its parent"),
            BreakReason::ColumnsDiffer => format!("the row of entry {index} ({id}) differs from what was hashed"),
            BreakReason::PositionMissing => format!("entry {} is missing before {id}", self.expected),
            BreakReason::NodeMismatch => format!("a tree node above entry {index} ({id}) is not that of the entries"),
            BreakReason::EntriesMissing => {
                let Self { expected, actual, .. } = self;
                format!("entries are missing from {index} on: {expected} were recorded, {actual} are there")
            }
            BreakReason::RootMismatch => "the finalized root is not that of the entries".to_owned(),
        }
    }

    /// The same for programs.
    pub fn details(&self) -> serde_json::Value {
        serde_json::json!({
            "valid": false,
            "broken_at": self.id,
            "index": self.index,
            "reason": self.reason.as_str(),
            "expected": self.expected,
            "actual": self.actual,
        })
    }
}

impl Store {
    /// Checks a session, and its root if it is finalized.
    pub fn check(&self, session: &Id) -> Result<ChainCheck> {
        self.read(|connection| {
            let row = session::find(connection, session)?;
            let mut check = check(connection, &row)?;
            if check.broken.is_none() {
                check.broken = ledger_break(connection, &row, &check)?;
            }
            if check.broken.is_none() && row.finalized {
                check.broken = finalize::root_break(connection, &row, &check)?;
            }
            Ok(check)
        })
    }
}

/// Where the ledger knows of more than is there: a chain does not show that its end is missing.
fn ledger_break(connection: &Connection, row: &SessionRow, check: &ChainCheck) -> Result<Option<Break>, Failure> {
    let broken = |reason, expected: String, actual: String| {
        Some(Break { index: check.records, id: row.id().to_string(), reason, expected, actual })
    };
    if let Some(recorded) = event::recorded(connection, row.id())?
        && recorded != check.records
    {
        return Ok(broken(BreakReason::EntriesMissing, recorded.to_string(), check.records.to_string()));
    }
    if !row.finalized && event::finalized(connection, row.id())? {
        return Ok(broken(BreakReason::RootMismatch, "a root".to_owned(), "none".to_owned()));
    }
    Ok(None)
}

/// Rows that go from one thread to the other at a time: few enough that their memory is used again and not given back.
const BATCH: usize = 64;
/// Sessions from here on are worth a second thread.
const LONG: u64 = 4096;

/// Walks the chain of a session up to the first break.
pub(super) fn check(connection: &Connection, session: &SessionRow) -> Result<ChainCheck, Failure> {
    let mut walk = Walk::new(session);
    if session.count < LONG {
        fetch(connection, session, |batch| walk.verify(&batch))?;
        return Ok(walk.finish());
    }
    std::thread::scope(|scope| {
        let (rows, fetched) = mpsc::sync_channel::<Batch>(4);
        let verifier = scope.spawn(move || {
            // Leaving off hangs up on the fetcher.
            fetched.into_iter().find(|batch| !walk.verify(batch));
            walk.finish()
        });
        fetch(connection, session, |batch| rows.send(batch).is_ok())?;
        drop(rows);
        Ok(verifier.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Some rows. Their texts stand one after the other in one buffer.
#[derive(Debug, Default)]
struct Batch {
    text: Vec<u8>,
    rows: Vec<Fetched>,
    /// For each row in turn the stored nodes that it completes, upwards; `None` for one that is missing.
    nodes: Vec<Option<NodeHash>>,
}

/// A row, its texts as places in the batch.
#[derive(Debug)]
struct Fetched {
    position: u64,
    id: Place,
    /// The chain hash of the parent that it names; `None` if there is no such entry before it.
    parent: Parent,
    kind: Place,
    timestamp: Place,
    prev_hash: ChainHash,
    content_hash: ContentHash,
    chain_hash: ChainHash,
    line: Option<Place>,
}

#[derive(Debug)]
enum Parent {
    Genesis,
    EntryBefore,
    Branch(Option<ChainHash>),
}

type Place = std::ops::Range<usize>;

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
fn fetch(connection: &Connection, session: &SessionRow, mut each: impl FnMut(Batch) -> bool) -> Result<(), Failure> {
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

/// The chain as far as it has been verified.
struct Walk {
    scheme: Scheme,
    chain: Chain,
    tree: Frontier,
    unsorted: Vec<NodeHash>,
    check: ChainCheck,
}

impl Walk {
    fn new(session: &SessionRow) -> Self {
        let scheme = session.scheme();
        let check =
            ChainCheck { records: 0, broken: None, head: session.genesis, root: None, blanked: 0, last_kind: None };
        let chain = Chain::new(scheme, session.genesis);
        Self { scheme, chain, tree: Frontier::new(scheme), unsorted: Vec::new(), check }
    }

    /// Takes up more rows; false once one does not hold.
    fn verify(&mut self, batch: &Batch) -> bool {
        let mut nodes = batch.nodes.iter();
        self.check.broken = batch.rows.iter().find_map(|row| self.step(&batch.text, row, &mut nodes));
        self.check.broken.is_none()
    }

    fn step<'a>(
        &mut self,
        text: &[u8],
        row: &Fetched,
        nodes: &mut impl Iterator<Item = &'a Option<NodeHash>>,
    ) -> Option<Break> {
        let broken = |reason, expected: String, actual: String| {
            let id = String::from_utf8_lossy(&text[row.id.clone()]).into_owned();
            Some(Break { index: row.position, id, reason, expected, actual })
        };
        if row.position != self.check.records {
            let (expected, actual) = (self.check.records.to_string(), row.position.to_string());
            return broken(BreakReason::PositionMissing, expected, actual);
        }
        let kind = std::str::from_utf8(&text[row.kind.clone()]).ok().and_then(RecordType::parse);
        match &row.line {
            None => self.check.blanked += 1,
            Some(line) => {
                let line = &text[line.clone()];
                let entry = Entry::parse(line);
                let expected = self.scheme.content_hash(line, entry.as_ref().map_or("", |entry| entry.body.text()));
                let Some(entry) = entry.ok().filter(|_| expected == row.content_hash) else {
                    let (expected, actual) = (expected.to_string(), row.content_hash.to_string());
                    return broken(BreakReason::ContentHashMismatch, expected, actual);
                };
                if !row.agrees_with(text, &entry) {
                    return broken(BreakReason::ColumnsDiffer, "the hashed line".into(), "the row".into());
                }
            }
        }
        let parent = match row.parent {
            Parent::Genesis => Some(self.chain.genesis()),
            Parent::EntryBefore => Some(self.chain.head()),
            Parent::Branch(hash) => hash,
        };
        let linked = if parent == Some(row.prev_hash) {
            self.chain.append(&row.content_hash, &row.prev_hash).ok()
        } else {
            None
        };
        if linked != Some(row.chain_hash) {
            // With a foreign parent the stored hash may be right in itself: say what the named parent would give.
            let expected = self.scheme.chain_hash(&row.content_hash, &parent.unwrap_or(row.prev_hash));
            return broken(BreakReason::ChainHashMismatch, expected.to_string(), row.chain_hash.to_string());
        }
        let leaf = self.scheme.leaf(&row.content_hash);
        if self.scheme == Scheme::V1Sorted {
            self.unsorted.push(leaf);
        } else {
            let mut wrong = None;
            self.tree.push_each(leaf, |node| {
                if nodes.next() != Some(&Some(*node)) {
                    wrong = wrong.or(Some(*node));
                }
            });
            if let Some(node) = wrong {
                return broken(BreakReason::NodeMismatch, node.to_string(), "another node, or none".to_owned());
            }
        }
        self.check.records += 1;
        self.check.last_kind = kind;
        self.check.head = row.chain_hash;
        None
    }

    fn finish(mut self) -> ChainCheck {
        if self.check.broken.is_none() {
            self.check.root = if self.scheme == Scheme::V1Sorted {
                self.unsorted.sort_unstable();
                tree::root_of(self.scheme, &self.unsorted, 1)
            } else {
                self.tree.root()
            };
        }
        self.check
    }
}

impl Fetched {
    /// Whether the columns say what the hashed line says.
    fn agrees_with(&self, text: &[u8], entry: &Entry<'_>) -> bool {
        let kind = match &entry.body {
            Body::Thought { kind, .. } => kind.as_str(),
            Body::Attest { .. } => "attest",
        };
        &text[self.id.clone()] == entry.id.as_str().as_bytes()
            && &text[self.timestamp.clone()] == entry.timestamp.as_str().as_bytes()
            && &text[self.kind.clone()] == kind.as_bytes()
            && self.prev_hash == entry.prev_hash
    }
}
