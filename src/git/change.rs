//! What a commit does: the change id, computed here from the two trees alone. Neither settings nor attributes nor the
//! version of git that happens to be installed has a say, and no process is started.

use std::cmp::Ordering;
use std::sync::Arc;

use super::objects::{Commit, ObjectError, Read};
use super::open::Git;
use super::patch::{Printer, Side};
use super::tree::{Item, Tree};
use crate::proof::digest::{ChangeId, TreeId};

/// Git goes no deeper into a tree either (`core.maxTreeDepth`).
const DEEPEST: usize = 2048;

impl Git {
    /// The change id of a commit against its only parent, or against the empty tree. `None` for an empty change and for
    /// a merge.
    pub fn change_id(&self, commit: &Commit) -> Read<Option<ChangeId>> {
        match commit.parents.as_slice() {
            [] => self.change_between(None, &commit.tree),
            [parent] => self.change_between(Some(&self.commit(parent)?.tree), &commit.tree),
            _ => Ok(None),
        }
    }

    /// The change id between two trees, of which the older may be the empty one, `None`. `None` if nothing changed.
    pub fn change_between(&self, old: Option<&TreeId>, new: &TreeId) -> Read<Option<ChangeId>> {
        let mut printer = Printer::new(self);
        self.compare(old, new, |path, old, new| printer.print(path, old, new))?;
        Ok(printer.finish())
    }

    /// The paths that differ between two trees, in git's order. A file that became a directory is one path that is gone
    /// and others that are new.
    pub fn paths_between(&self, old: Option<&TreeId>, new: &TreeId) -> Read<Vec<Vec<u8>>> {
        let mut paths = Vec::new();
        self.compare(old, new, |path, _, _| {
            paths.push(path.to_owned());
            Ok(())
        })?;
        Ok(paths)
    }

    /// Calls `visit` with each path that is not the same in both trees, and with what is there before and after.
    fn compare(
        &self,
        old: Option<&TreeId>,
        new: &TreeId,
        mut visit: impl FnMut(&[u8], Option<Side>, Option<Side>) -> Read<()>,
    ) -> Read<()> {
        if old == Some(new) {
            return Ok(());
        }
        let mut path = Vec::new();
        let mut levels = vec![Level::read(self, 0, old, Some(new))?];
        while let Some(level) = levels.last_mut() {
            path.truncate(level.path);
            let Some((old, new)) = level.next() else {
                levels.pop();
                continue;
            };
            let sides = [&old, &new].map(|item| item.as_ref().map(Side::of));
            let Some(either) = old.or(new).filter(|_| sides[0] != sides[1]) else { continue };
            path.extend_from_slice(either.name);
            if !either.is_tree() {
                visit(&path, sides[0], sides[1])?;
                continue;
            }
            path.push(b'/');
            let trees = [old, new].map(|item| item.map(|item| TreeId(item.id)));
            let (id, length) = (either.id, path.len());
            if levels.len() > DEEPEST {
                return Err(ObjectError::Damaged(id, format!("it is more than {DEEPEST} directories deep")));
            }
            levels.push(Level::read(self, length, trees[0].as_ref(), trees[1].as_ref())?);
        }
        Ok(())
    }
}

/// Two trees side by side, the older first.
struct Level {
    /// How much of the path leads here.
    path: usize,
    trees: [Option<Arc<Tree>>; 2],
    /// How far each has been walked.
    at: [usize; 2],
}

impl Level {
    fn read(git: &Git, path: usize, old: Option<&TreeId>, new: Option<&TreeId>) -> Read<Self> {
        let read = |tree: Option<&TreeId>| tree.map(|tree| git.read_tree(tree)).transpose();
        Ok(Self { path, trees: [read(old)?, read(new)?], at: [0, 0] })
    }

    /// The next name on either side, in the order that both are sorted in. A file and a directory are never the same
    /// name: git sorts them as two, not always next to each other.
    fn next(&mut self) -> Option<(Option<Item<'_>>, Option<Item<'_>>)> {
        // Most of two trees is the same, to the byte.
        if let [Some(old), Some(new)] = &self.trees {
            let same = old.same(self.at[0], new, self.at[1]);
            self.at = self.at.map(|at| at + same);
        }
        let [old, new] = [0, 1].map(|side| self.trees[side].as_ref()?.get(self.at[side]));
        let order = match (&old, &new) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.order(new),
        };
        self.at[0] += usize::from(order.is_le());
        self.at[1] += usize::from(order.is_ge());
        Some((old.filter(|_| order.is_le()), new.filter(|_| order.is_ge())))
    }
}
