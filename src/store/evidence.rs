//! Sessions of other clones, read from the evidence that they published. They are kept in a store of their own, so that
//! nothing that publishes, seals, retains or judges what this clone recorded ever meets them.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, ErrorCode};

use super::append;
use super::read::StoredEntry;
use super::session::{self, NewSession, SessionRow};
use super::{Failure, NewEvent, RootRow, Store, damaged, finalize};
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::digest::{ChainHash, RootHash, sha256};
use crate::proof::evidence::{Summary, Verifier};
use crate::proof::record::{Body, Id, Line};
use crate::proof::timestamp::Timestamp;

impl Store {
    /// The roots of all finalized sessions.
    pub fn roots(&self) -> Result<HashSet<RootHash>> {
        let roots = self.all("SELECT root FROM merkle_roots", [], |row| Ok(RootHash::new(row.get(0)?)))?;
        Ok(roots.into_iter().collect())
    }

    /// Takes a session from an evidence file, after the whole file has been verified against its root: all of it, or
    /// nothing. The session is finalized, at the time of the last entry that can be read.
    pub fn take_evidence(&mut self, file: &[u8], root: &RootHash, event: &NewEvent<'_>) -> Result<(RootRow, Summary)> {
        let summary = verify(file, root)?;
        // Not flushed by itself: what a power loss takes is read from git again.
        let taken = self.unflushed(|transaction| {
            let opening = &summary.opening;
            let opened = session::open(transaction, &NewSession { opening, worktree: None }, event);
            let row = opened.map_err(|failure| match failure {
                Failure::Refused(error) if error.code == Code::SessionExists => {
                    refused(&format!("another session with the id {} is known already", opening.session_id)).into()
                }
                other => other,
            })?;
            let finalized_at = write_entries(transaction, &row, file)?;
            let row = session::find(transaction, row.id())?;
            finalize::close(transaction, &row, summary.head, Some(summary.root), finalized_at)
        });
        Ok((taken?, summary))
    }
}

/// Verifies a file. If no entry can be read, the file is refused: other lists of hashes have the same root.
fn verify(file: &[u8], root: &RootHash) -> Result<Summary> {
    let mut verifier = Verifier::new();
    let pushed = verifier.push(file).and_then(|()| verifier.finish());
    let summary = pushed.and_then(|summary| summary.require(root, summary.count).map(|()| summary));
    let summary = summary.map_err(|error| refused(&error.to_string()))?;
    if summary.withheld == summary.count { Err(refused("all of its entries are withheld")) } else { Ok(summary) }
}

fn refused(why: &str) -> Error {
    Error::new(Code::EvidenceInvalid, format!("the evidence is refused: {why}"))
        .hint(hint!(Step::Sync, " may bring a file that holds"; "the other sessions are not affected"))
}

/// Writes the entries of a file that was verified. The answer is the time of the last one that can be read.
fn write_entries(transaction: &Connection, session: &SessionRow, file: &[u8]) -> Result<Timestamp, Failure> {
    let mut writing =
        Writing { transaction, session, ids: HashMap::new(), last: session.opening.started_at, failed: None };
    let pushed = Verifier::new().push_with(file, |position, line, chain_hash| {
        if writing.failed.is_none() {
            writing.failed = writing.entry(position, line, chain_hash).err();
        }
    });
    match writing.failed {
        Some(failure) => Err(failure),
        None if pushed.is_err() => Err(damaged("evidence that was verified before")),
        None => Ok(writing.last),
    }
}

struct Writing<'a> {
    transaction: &'a Connection,
    session: &'a SessionRow,
    /// The entries so far, by their chain hashes.
    ids: HashMap<ChainHash, Id>,
    last: Timestamp,
    failed: Option<Failure>,
}

impl Writing<'_> {
    fn entry(&mut self, position: u64, line: &Line<'_>, chain_hash: &ChainHash) -> Result<(), Failure> {
        let scheme = self.session.scheme();
        let (id, kind, prev_hash, content_hash, text) = match line {
            Line::Entry(entry) => {
                let kind = match &entry.body {
                    Body::Thought { kind, .. } => Some(*kind),
                    Body::Attest { .. } => None,
                };
                self.last = entry.timestamp;
                let text = entry.to_line();
                let content_hash = scheme.content_hash(text.as_bytes(), entry.body.text());
                (entry.id.clone(), kind, entry.prev_hash, content_hash, Some(text))
            }
            // The columns that nobody outside its clone knows cannot be empty.
            Line::Withheld(withheld) => {
                (handle(self.session.id(), position)?, None, withheld.prev_hash, withheld.content_hash, None)
            }
        };
        let row = StoredEntry {
            session_id: self.session.id().clone(),
            index: position,
            id,
            parent_id: self.ids.get(&prev_hash).cloned(),
            kind,
            timestamp: self.last,
            prev_hash,
            content_hash,
            chain_hash: *chain_hash,
            private: text.is_none(),
            last_event: 0,
            line: text,
        };
        append::insert(self.transaction, self.session, &row).map_err(|failure| match failure {
            // A record of another session has this id already.
            Failure::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                refused(&format!("line {}: a record with the id {} is known already", position + 2, row.id)).into()
            }
            other => other,
        })?;
        self.ids.insert(*chain_hash, row.id);
        Ok(())
    }
}

/// By what a withheld entry is named here: its own id is as withheld as its text.
fn handle(session: &Id, position: u64) -> Result<Id, Failure> {
    let digest = sha256(format!("{session}\n{position}").as_bytes());
    let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    Id::parse(&format!("withheld-{name}")).ok_or_else(|| damaged("the name of an entry"))
}
