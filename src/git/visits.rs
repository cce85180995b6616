//! Walks through the trees of proof refs. Anyone who may push can put anything there, and a few small trees can be put
//! together so that they seem to hold more files than there are atoms.

use std::collections::HashSet;
use std::sync::Arc;

use super::limits::MAX_ENTRIES;
use super::object::{ObjectError, Read};
use super::open::Git;
use super::tree::Tree;
use crate::proof::digest::TreeId;

/// The entries that a walk skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PassedOver {
    /// Entries that are not what belongs there.
    pub other: u64,
    /// Directories that were seen before under another name, or that cannot be read, with the first reason.
    pub directories: u64,
    /// Why the first of those directories was passed over.
    pub why: Option<String>,
    /// Whether the walk ended before everything was seen.
    pub cut_short: bool,
}

impl PassedOver {
    /// A sentence about the skipped entries; `None` if none of them could hide anything.
    pub fn remark(&self) -> Option<String> {
        let mut said = Vec::new();
        if self.directories > 0 {
            let why = self.why.as_deref().unwrap_or_default();
            said.push(format!("{} directories were passed over, the first because {why}", self.directories));
        }
        if self.cut_short {
            said.push(format!("only the first {MAX_ENTRIES} entries were looked at"));
        }
        (!said.is_empty()).then(|| said.join("; "))
    }
}

/// Counts what is visited.
#[derive(Debug, Default)]
pub(super) struct Visits {
    seen: HashSet<TreeId>,
    met: HashSet<(TreeId, TreeId)>,
    entries: usize,
    pub(super) passed: PassedOver,
}

impl Visits {
    /// A directory that was not visited yet. What is under two names cannot be what belongs under both: the names of what
    /// is in it begin, or go on, differently. The first one is the whole tree, and must be readable.
    pub(super) fn read(&mut self, git: &Git, tree: &TreeId) -> Read<Option<Arc<Tree>>> {
        let first = self.seen.is_empty();
        if !self.seen.insert(*tree) {
            self.pass_over(|| format!("{tree} stands there more than once"));
            return Ok(None);
        }
        match git.read_tree(tree) {
            Err(error) if !first && !matches!(error, ObjectError::Missing(_)) => {
                self.pass_over(|| error.to_string());
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    fn pass_over(&mut self, why: impl FnOnce() -> String) {
        self.passed.directories += 1;
        self.passed.why.get_or_insert_with(why);
    }

    /// Counts an entry; `false` if that is one too many.
    pub(super) fn count(&mut self) -> bool {
        self.entries += 1;
        self.passed.cut_short |= self.entries > MAX_ENTRIES;
        !self.passed.cut_short
    }

    /// Counts the entries of two directories that are to be one. The same two cannot meet under another name.
    pub(super) fn meet(&mut self, ours: &TreeId, theirs: &TreeId, entries: usize) -> Read<()> {
        if !self.met.insert((*ours, *theirs)) {
            return Err(ObjectError::Damaged(
                theirs.0,
                "the same directory stands in a tree more than once".to_owned(),
            ));
        }
        self.count_all(theirs, entries)
    }

    /// Counts the entries of a directory, in a walk that must see all of them.
    pub(super) fn count_all(&mut self, tree: &TreeId, entries: usize) -> Read<()> {
        self.entries += entries + 1;
        if self.entries > MAX_ENTRIES {
            return Err(ObjectError::Limit(
                tree.0,
                format!("more than {MAX_ENTRIES} entries would have to be looked at"),
            ));
        }
        Ok(())
    }
}
