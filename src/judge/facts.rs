//! What is known of a commit that is at hand, each thing computed when a rule asks for it and then kept.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use super::gather::Gatherer;
use crate::git::{Commit, Read};
use crate::proof::change::ChangeIds;
use crate::proof::digest::{CommitId, TreeId};
use crate::proof::merge::PathChange;

/// A commit, and what follows from it.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) commit: Arc<Commit>,
    parent_trees: OnceCell<Read<Vec<TreeId>>>,
    diff: OnceCell<Read<Rc<Vec<PathChange>>>>,
    ids: OnceCell<Read<Option<ChangeIds>>>,
}

impl Facts {
    pub(super) fn new(commit: Arc<Commit>) -> Self {
        Self { commit, parent_trees: OnceCell::new(), diff: OnceCell::new(), ids: OnceCell::new() }
    }

    pub(super) fn id(&self) -> CommitId {
        self.commit.id
    }

    pub(super) fn tree(&self) -> TreeId {
        self.commit.tree
    }

    /// Whether it has more than one parent: such a commit replaces no other but one that differs in words alone.
    pub(super) fn is_merge(&self) -> bool {
        self.commit.parents.len() > 1
    }

    /// The trees of its parents, in order.
    pub(super) fn parent_trees(&self, gatherer: &Gatherer<'_>) -> Read<&[TreeId]> {
        let read = || self.commit.parents.iter().map(|parent| Ok(gatherer.commit(parent)?.tree)).collect();
        self.parent_trees.get_or_init(read).as_deref().map_err(Clone::clone)
    }

    /// The tree of its first parent; `None` for a commit without parents.
    pub(super) fn first_tree(&self, gatherer: &Gatherer<'_>) -> Read<Option<TreeId>> {
        Ok(self.parent_trees(gatherer)?.first().copied())
    }

    /// What differs from its first parent, path by path.
    pub(super) fn diff(&self, gatherer: &Gatherer<'_>) -> Read<Rc<Vec<PathChange>>> {
        let read = || {
            let before = self.first_tree(gatherer)?;
            gatherer.git.diff(before.as_ref(), Some(&self.commit.tree)).map(Rc::new)
        };
        self.diff.get_or_init(read).clone()
    }

    /// Its change ids; `None` for a merge and for a commit that changes nothing.
    pub(super) fn change(&self, gatherer: &Gatherer<'_>) -> Read<Option<ChangeIds>> {
        if self.is_merge() {
            return Ok(None);
        }
        self.ids.get_or_init(|| gatherer.git.change_ids(&self.diff(gatherer)?)).clone()
    }
}
