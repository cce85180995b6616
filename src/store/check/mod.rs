//! Checking a session: every stored line is hashed, read strictly and chained anew, in one pass.
//!
//! To fetch a row takes as long as to hash and read it, so a long session is checked on two threads, each with a
//! connection of its own: a thread takes the next block that nobody has taken, fetches and verifies it.

mod block;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::query::Query as _;

use super::session::{self, SessionRow};
use super::{Failure, Store, Watcher, event, finalize};
use crate::error::Result;
use crate::proof::digest::{ChainHash, NodeHash, RootHash};
use crate::proof::record::{Id, RecordType};
use crate::proof::schema::names;
use crate::proof::scheme::Scheme;
use crate::proof::tree::{self, Frontier, Nodes as _};
use block::{Block, HEIGHT, SIZE};

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
    pub index: u64,
    /// Its id, as far as it has one.
    pub id: String,
    pub reason: BreakReason,
    /// The hash that the stored text gives.
    pub expected: String,
    /// The hash that is stored.
    pub actual: String,
}

names! {
    /// What is wrong with an entry.
    pub enum BreakReason {
        /// The text is not the one that was hashed.
        ContentHashMismatch = "content_hash_mismatch",
        /// The chain hash is not that of content and parent.
        ChainHashMismatch = "chain_hash_mismatch",
        /// The columns beside the text say something else than the text.
        ColumnsDiffer = "columns_differ",
        /// Entries are missing before this one.
        PositionMissing = "position_missing",
        /// A stored node of the tree is not the one over the entries below it.
        NodeMismatch = "node_mismatch",
        /// The ledger has more entries than the session.
        EntriesMissing = "entries_missing",
        /// The finalized root, count or head is not what the entries add up to.
        RootMismatch = "root_mismatch",
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
            let mut check = check(connection, &row, self.watcher.as_ref())?;
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

/// The break that the ledger shows if the end of a session is missing: the chain alone does not show this.
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

/// Sessions from here on are worth a second thread.
const LONG: u64 = 4 * SIZE;

/// Walks the chain of a session up to the first break.
pub(super) fn check(
    connection: &Connection,
    session: &SessionRow,
    watcher: Option<&Watcher>,
) -> Result<ChainCheck, Failure> {
    let mut walk = Walk::new(session);
    // Nobody waits for a short one.
    for block in blocks(connection, session, watcher.filter(|_| session.count >= LONG))? {
        if !walk.take(connection, session, block)? {
            break;
        }
    }
    Ok(walk.finish())
}

/// The blocks of a session in order, at least up to the first that does not hold.
fn blocks(connection: &Connection, session: &SessionRow, watcher: Option<&Watcher>) -> Result<Vec<Block>, Failure> {
    let next = AtomicU64::new(0);
    let end = AtomicU64::new(session.count);
    let run = |connection: &Connection, watcher: Option<&Watcher>| -> Result<Vec<(u64, Block)>, Failure> {
        let mut done = Vec::new();
        loop {
            let from = next.fetch_add(SIZE, Ordering::Relaxed);
            if from >= end.load(Ordering::Relaxed) {
                return Ok(done);
            }
            let block = Block::verify(connection, session, from)?;
            if block.broken.is_some() || block.tree.count() < SIZE {
                end.fetch_min(from, Ordering::Relaxed); // the blocks before it have been taken
            }
            done.push((from, block));
            if let Some(watcher) = watcher {
                watcher.tell(session.count.min(from + SIZE), session.count);
            }
        }
    };
    let mut blocks = std::thread::scope(|scope| {
        let helper = if session.count < LONG { None } else { second(connection) };
        let helper = helper.map(|second| scope.spawn(|| run(&{ second }, None)));
        let mut blocks = run(connection, watcher)?;
        if let Some(helper) = helper {
            blocks.extend(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok::<_, Failure>(blocks)
    })?;
    blocks.sort_unstable_by_key(|(from, _)| *from);
    Ok(blocks.into_iter().map(|(_, block)| block).collect())
}

/// Another connection to the same file. It may see more than the first one, but not less, and what both see is the same:
/// entries are only added. Where there is none to be had, one does the work of both.
fn second(connection: &Connection) -> Option<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let second = Connection::open_with_flags(connection.path()?, flags).ok()?;
    second.busy_timeout(Duration::from_secs(5)).ok()?;
    // As for the first connection. And closing this one must not fold the log into the file: that is left to the
    // writer.
    second.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).ok()?;
    second.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).ok()?;
    second.execute_batch("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; BEGIN").ok()?;
    Some(second)
}

/// The chain as far as it has been verified.
struct Walk {
    scheme: Scheme,
    tree: Frontier,
    unsorted: Vec<NodeHash>,
    check: ChainCheck,
}

impl Walk {
    fn new(session: &SessionRow) -> Self {
        let scheme = session.scheme();
        let check =
            ChainCheck { records: 0, broken: None, head: session.genesis, root: None, blanked: 0, last_kind: None };
        Self { scheme, tree: Frontier::new(scheme), unsorted: Vec::new(), check }
    }

    /// Takes up the next block; false once an entry does not hold.
    fn take(&mut self, connection: &Connection, session: &SessionRow, block: Block) -> Result<bool, Failure> {
        let held = block.tree.count();
        self.check.blanked += block.blanked;
        self.unsorted.extend(block.unsorted);
        let mut above = block.above.iter();
        let mut wrong = None;
        for level in (0..=HEIGHT).rev().filter(|level| held >> level & 1 == 1) {
            let Ok(node) = block.tree.node(level, 0);
            self.tree.push_subtree(level, node, |node| {
                if self.scheme != Scheme::V1Sorted && above.next() != Some(node) {
                    wrong = wrong.or(Some(*node));
                }
            });
        }
        let wrong = wrong.map(|node| (node.to_string(), "another node, or none".to_owned()));
        let wrong = wrong.or_else(|| above.next().map(|node| ("no further node".to_owned(), node.to_string())));
        self.check.records += held;
        if let Some(last) = block.last.filter(|_| held > 0) {
            self.check.head = last.chain_hash;
            self.check.last_kind = last.kind;
            if let Some((expected, actual)) = wrong {
                self.check.records -= 1;
                let (index, id) = (self.check.records, String::from_utf8_lossy(&last.id).into_owned());
                let reason = BreakReason::NodeMismatch;
                self.check.broken = Some(Break { index, id, reason, expected, actual });
            }
        }
        if self.check.broken.is_none() {
            self.check.broken = block.broken;
        }
        if self.check.broken.is_none() && held < SIZE && self.check.records < session.count {
            self.check.broken = gap(connection, session, self.check.records)?;
        }
        Ok(self.check.broken.is_none())
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

/// The break at a missing position, with the entry that follows it.
fn gap(connection: &Connection, session: &SessionRow, missing: u64) -> Result<Option<Break>, Failure> {
    let sql =
        "SELECT position, id FROM thought_records WHERE session_id = ?1 AND position > ?2 ORDER BY position LIMIT 1";
    connection.first(sql, (session.id().as_str(), missing), |row| {
        let (position, id): (i64, String) = (row.get(0)?, row.get(1)?);
        let (expected, actual) = (missing.to_string(), position.to_string());
        Ok(Break { index: position.cast_unsigned(), id, reason: BreakReason::PositionMissing, expected, actual })
    })
}
