//! A hint for the commit-msg hook, in a file beside the store: the session that was just finalized in a worktree, and the
//! staged changes that it attests. If exactly one of these is being committed, the hook can name the session without
//! opening the store, which would take most of the hook's time.
//!
//! The hint is only a shortcut: if it is missing, torn, of another store or of another change, the hook asks the store.
//! The hint is written and removed under the store's write lock, and removed before a worktree turns to another session,
//! so that a process that is killed in between leaves no hint rather than a wrong one.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Store, schema, session};
use crate::access::{Access, identity as file_identity};
use crate::context::read_text;
use crate::error::Result;
use crate::proof::change::GitAttestation;
use crate::proof::trailer::RootTrailer;

/// A finalized session that waits for its commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitHint {
    /// Its root, as the commit will name it.
    pub root: RootTrailer,
    /// The changes that it attests and that were only staged.
    pub staged: Vec<GitAttestation>,
}

const FIRST: &str = "git-proof/next@1";
const LAST: &str = "end";

fn path_of(store: &Path) -> PathBuf {
    store.with_file_name("next")
}

/// The identity of the store's file. A hint must not be used with another store that was put in its place.
fn identity(store: &Path) -> Option<String> {
    let (device, number) = file_identity(&fs::metadata(store).ok()?);
    Some(format!("{device}:{number}"))
}

/// The hint for the next commit of a worktree, if there is one.
pub fn read_commit_hint(store: &Path, worktree: &str) -> Option<CommitHint> {
    schema::refuse_links(store).ok()?; // whoever opens the store says what is wrong
    let text = read_text(&path_of(store))?;
    let mut lines = text.strip_suffix(LAST)?.lines();
    let known = lines.next()? == FIRST && lines.next()? == identity(store)? && lines.next()? == worktree;
    let root = RootTrailer::parse(lines.next()?).filter(|_| known)?;
    let staged = lines.map(|line| GitAttestation::parse(line.as_bytes()).ok()).collect::<Option<_>>()?;
    Some(CommitHint { root, staged })
}

/// Removes the hint, whichever worktree it was for.
pub(super) fn remove(store: &Path) {
    let _ = fs::remove_file(path_of(store)); // most often there is none
}

impl Store {
    /// Writes the hint for the next commit of a worktree, if its session is still the one that the worktree works in.
    pub fn write_commit_hint(&mut self, worktree: &str, next: &CommitHint) -> Result<()> {
        let Some(identity) = identity(&self.path).filter(|_| !worktree.contains('\n')) else { return Ok(()) };
        let mut text = format!("{FIRST}\n{identity}\n{worktree}\n{}\n", next.root);
        for staged in &next.staged {
            text.push_str(&staged.to_text());
            text.push('\n');
        }
        text.push_str(LAST);
        let store = self.path.clone();
        let path = path_of(&store);
        self.write(|transaction| {
            if session::current(transaction, worktree)?.as_ref() == Some(&next.root.session_id) {
                // Not under its name before it is whole. Where there is no room for it, the store is asked.
                let new = path.with_extension("new");
                let written = Access::beside(&store).write(&new, text.as_bytes());
                let _ = written.and_then(|()| fs::rename(&new, &path));
            }
            Ok(())
        })
    }
}
