//! The mark that tells the hooks of git whether there is anything for them to do, so that a commit in a repository where
//! nobody records costs no process: a file beside the store, there while a worktree's session may want to know of commits.
//!
//! It is made and taken away only under the store's write lock. Where it is there for nothing, a hook finds out and takes
//! it away; it is never missing while a session needs it.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::{Failure, Store};
use crate::access::Access;
use crate::error::{Code, Error, Result};
use crate::store::query::Query as _;

/// Where the mark is, beside a store.
pub(super) fn mark_of(store: &Path) -> PathBuf {
    store.with_file_name("active")
}

pub(super) fn mark(store: &Path) -> Result<()> {
    let path = mark_of(store);
    if path.exists() {
        return Ok(());
    }
    Access::beside(store).write(&path, b"").map_err(|error| {
        Error::new(Code::StoreFailed, format!("cannot make {}", path.display()))
            .because(error)
            .hint("check who owns the .git/proof directory, and that the disk is writable and has room")
    })
}

impl Store {
    /// Makes the mark, whatever the sessions: the next hook that finds nothing to do takes it away.
    pub fn expect_commits(&mut self) -> Result<()> {
        let path = self.path.clone();
        self.write(|_| Ok(mark(&path)?))
    }

    /// Takes the mark away if no worktree's session wants to know of commits any more.
    pub fn settle(&mut self) -> Result<()> {
        let mark = mark_of(&self.path);
        if !mark.exists() {
            return Ok(());
        }
        self.write(|transaction| {
            if !wants_commits(transaction)? {
                let _ = fs::remove_file(&mark); // there for nothing, which costs a process and no more
            }
            Ok(())
        })
    }
}

/// A session wants to know of commits while it is open, and after it is finalized until what it attested is committed. And
/// until a remote has an anchor, and with it the range that it is in, only the hooks can see what that range is made into.
fn wants_commits(connection: &Connection) -> Result<bool, Failure> {
    let sql = "SELECT EXISTS (SELECT 1 FROM worktree_sessions JOIN audit_sessions USING (session_id) \
             WHERE CASE WHEN EXISTS (SELECT 1 FROM merkle_roots WHERE merkle_roots.session_id = audit_sessions.session_id) \
             THEN EXISTS (SELECT 1 FROM thought_records WHERE thought_records.session_id = audit_sessions.session_id \
                          AND type = 'attest') \
              AND NOT EXISTS (SELECT 1 FROM session_commits WHERE session_commits.session_id = audit_sessions.session_id) \
             ELSE ended_at IS NULL END) \
             OR EXISTS (SELECT 1 FROM agents WHERE ended = 0) \
             OR EXISTS (SELECT 1 FROM anchors WHERE seen_on IS NULL)";
    connection.value(sql, [])
}
