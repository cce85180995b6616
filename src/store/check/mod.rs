//! Checking a session: every stored line is hashed, read strictly and chained anew, in one pass.
//!
//! SQLite hands out rows about as fast as they can be hashed and read, so a long session is checked on two threads:
//! one fetches, the other verifies.

mod fetch;
mod walk;

use std::sync::mpsc;

use rusqlite::Connection;

use super::session::{self, SessionRow};
use super::{Failure, Store, Watcher, event, finalize};
use crate::error::Result;
use crate::proof::digest::{ChainHash, RootHash};
use crate::proof::record::{Id, RecordType};
use fetch::{Batch, fetch};
use walk::Walk;

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

/// Sessions from here on are worth a second thread.
const LONG: u64 = 4096;

/// Walks the chain of a session up to the first break.
pub(super) fn check(
    connection: &Connection,
    session: &SessionRow,
    watcher: Option<&Watcher>,
) -> Result<ChainCheck, Failure> {
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
        let mut fetched = 0;
        fetch(connection, session, |batch| {
            fetched += batch.rows.len() as u64;
            if let Some(watcher) = watcher {
                watcher.tell(fetched, session.count);
            }
            rows.send(batch).is_ok()
        })?;
        drop(rows);
        Ok(verifier.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
