//! Checking a session: every stored line is hashed, read strictly and chained anew, in one pass.

use std::ops::ControlFlow;

use rusqlite::Connection;

use super::nodes::StoredNodes;
use super::read::{self, StoredEntry};
use super::session::{self, SessionRow};
use super::{Failure, Order, Store, event, finalize};
use crate::error::Result;
use crate::proof::chain::Chain;
use crate::proof::digest::{ChainHash, RootHash};
use crate::proof::record::{Id, RecordType};
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
    /// What kind the last entry is.
    pub last_kind: Option<RecordType>,
}

/// The first entry that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// Its position.
    pub index: u64,
    /// Its id.
    pub id: Id,
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
        Some(Break { index: check.records, id: row.id().clone(), reason, expected, actual })
    };
    let recorded = event::recorded(connection, row.id())?;
    if recorded.is_some_and(|recorded| recorded != check.records) {
        let expected = recorded.unwrap_or_default().to_string();
        return Ok(broken(BreakReason::EntriesMissing, expected, check.records.to_string()));
    }
    if !row.finalized && event::finalized(connection, row.id())? {
        return Ok(broken(BreakReason::RootMismatch, "a root".to_owned(), "none".to_owned()));
    }
    Ok(None)
}

/// Walks the chain of a session up to the first break.
pub(super) fn check(connection: &Connection, session: &SessionRow) -> Result<ChainCheck, Failure> {
    let mut walk = Walk {
        scheme: session.scheme(),
        chain: Chain::new(session.scheme(), session.genesis),
        tree: Frontier::new(session.scheme()),
        unsorted: Vec::new(),
        before: None,
        check: ChainCheck { records: 0, broken: None, head: session.genesis, root: None, blanked: 0, last_kind: None },
    };
    read::walk(connection, session.id(), Order::Oldest, |entry| {
        walk.check.broken = walk.step(connection, entry)?;
        Ok(if walk.check.broken.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(walk.finish())
}

struct Walk {
    scheme: Scheme,
    chain: Chain,
    tree: Frontier,
    unsorted: Vec<crate::proof::digest::NodeHash>,
    before: Option<Id>,
    check: ChainCheck,
}

impl Walk {
    fn step(&mut self, connection: &Connection, entry: StoredEntry) -> Result<Option<Break>, Failure> {
        let broken = |reason, expected: String, actual: String| {
            Some(Break { index: entry.index, id: entry.id.clone(), reason, expected, actual })
        };
        if entry.index != self.check.records {
            let (expected, actual) = (self.check.records.to_string(), entry.index.to_string());
            return Ok(broken(BreakReason::PositionMissing, expected, actual));
        }
        match &entry.line {
            None => self.check.blanked += 1,
            Some(line) => {
                let parsed = crate::proof::record::Entry::parse(line.as_bytes());
                let text = parsed.as_ref().map_or("", |entry| entry.body.text());
                let expected = self.scheme.content_hash(line.as_bytes(), text);
                if expected != entry.content_hash || parsed.is_err() {
                    let (expected, actual) = (expected.to_string(), entry.content_hash.to_string());
                    return Ok(broken(BreakReason::ContentHashMismatch, expected, actual));
                }
                if parsed.is_ok_and(|parsed| !entry.agrees_with(&parsed)) {
                    return Ok(broken(BreakReason::ColumnsDiffer, "the hashed line".into(), "the row".into()));
                }
            }
        }
        let expected = self.scheme.chain_hash(&entry.content_hash, &entry.prev_hash);
        let parent = self.parent_hash(connection, &entry)?;
        let linked =
            parent == Some(entry.prev_hash) && self.chain.append(&entry.content_hash, &entry.prev_hash).is_ok();
        if expected != entry.chain_hash || !linked {
            // With a foreign parent the stored hash may be right in itself: say what the named parent would give.
            let expected = parent.map_or(expected, |parent| self.scheme.chain_hash(&entry.content_hash, &parent));
            return Ok(broken(BreakReason::ChainHashMismatch, expected.to_string(), entry.chain_hash.to_string()));
        }
        let leaf = self.scheme.leaf(&entry.content_hash);
        if self.scheme == Scheme::V1Sorted {
            self.unsorted.push(leaf);
        } else {
            let Ok(completed) = tree::append(self.scheme, &self.tree, entry.index, leaf);
            let nodes = StoredNodes { connection, session: &entry.session_id, scheme: self.scheme };
            for node in &completed[1..] {
                if !nodes.holds(node)? {
                    let place = format!("level {}, node {}", node.level, node.index);
                    return Ok(broken(BreakReason::NodeMismatch, node.hash.to_string(), place));
                }
            }
            self.tree.push(leaf);
        }
        self.check.records += 1;
        self.check.last_kind = entry.kind;
        self.before = Some(entry.id);
        Ok(None)
    }

    /// The chain hash of the parent that an entry names: almost always the entry before.
    fn parent_hash(&self, connection: &Connection, entry: &StoredEntry) -> Result<Option<ChainHash>, Failure> {
        match &entry.parent_id {
            None => Ok(Some(self.chain.genesis())),
            Some(parent) if self.before.as_ref() == Some(parent) => Ok(Some(self.chain.head())),
            Some(parent) => match read::find(connection, parent) {
                Ok(parent) if parent.session_id == entry.session_id && parent.index < entry.index => {
                    Ok(Some(parent.chain_hash))
                }
                Ok(_) | Err(Failure::Refused(_)) => Ok(None),
                Err(failed) => Err(failed),
            },
        }
    }

    fn finish(mut self) -> ChainCheck {
        self.check.head = self.chain.head();
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
