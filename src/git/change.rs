//! The change id of a commit, computed from its two trees alone. Settings, attributes and the installed version of git
//! do not influence it, and no process is started.

use std::cmp::Ordering;
use std::sync::Arc;

use super::limits::{MAX_PATH_BYTES, MAX_PATHS, MAX_TREE_DEPTH, MAX_TREES_HELD, cost};
use super::object::{Commit, ObjectError, Read};
use super::open::Git;
use super::patch::Printer;
use super::tree::{Item, Tree};
use crate::proof::change::ChangeIds;
use crate::proof::digest::{ChangeId, TreeId};
use crate::proof::merge::{Entry, PathChange, occur_once};

impl Git {
    /// The change id of a commit against its only parent, or against the empty tree. `None` for an empty change and for
    /// a merge.
    pub fn change_id(&self, commit: &Commit) -> Read<Option<ChangeId>> {
        Ok(self.change_ids_of(commit)?.map(|ids| ids.wide))
    }

    /// Both ids by which the change of a commit is found.
    pub fn change_ids_of(&self, commit: &Commit) -> Read<Option<ChangeIds>> {
        if commit.parents.len() > 1 {
            return Ok(None);
        }
        let before = self.tree_of(commit.parents.first().copied())?;
        self.change_ids(&self.diff(before.as_ref(), Some(&commit.tree))?)
    }

    /// The change id between two trees, of which the older may be the empty one, `None`. `None` if nothing changed.
    pub fn change_between(&self, old: Option<&TreeId>, new: &TreeId) -> Read<Option<ChangeId>> {
        Ok(self.change_ids(&self.diff(old, Some(new))?)?.map(|ids| ids.wide))
    }

    /// The change ids of what differs between two trees; `None` if nothing does.
    pub fn change_ids(&self, diff: &[PathChange]) -> Read<Option<ChangeIds>> {
        let mut printer = Printer::new(self);
        for change in diff {
            printer.print(&change.path, change.old, change.new)?;
        }
        Ok(printer.finish())
    }

    /// Why a change could stand at more than one place, for those who do not have the commit that it was proven for.
    pub fn ambiguity(&self, diff: &[PathChange]) -> Read<Option<&'static str>> {
        if diff.iter().any(PathChange::is_mode_alone) {
            return Ok(Some("it changes the mode of a file and not its content"));
        }
        for path in diff {
            let regular = |entry: Option<Entry>| entry.filter(|entry| entry.mode.is_regular());
            let (Some(old), Some(new)) = (regular(path.old), regular(path.new)) else {
                return Ok(Some("it adds or removes a file, or touches what is no plain file"));
            };
            let (Some(hunks), Some(text)) = (self.old_lines(&old, &new)?, self.text(&old)?) else {
                return Ok(Some("it changes a binary file"));
            };
            if !hunks.iter().all(|lines| occur_once(lines, &text)) {
                return Ok(Some("the lines that it changes occur more than once"));
            }
        }
        Ok(None)
    }

    /// The paths that differ between two trees, in git's order; `None` stands for the empty tree. A file that became a
    /// directory is one path that is gone and others that are new.
    pub fn diff(&self, old: Option<&TreeId>, new: Option<&TreeId>) -> Read<Vec<PathChange>> {
        let mut changes = Vec::new();
        self.compare(old, new, |path, old, new| {
            changes.push(PathChange { path: path.to_owned(), old, new });
            Ok(())
        })?;
        Ok(changes)
    }

    /// The paths that differ between two trees, in git's order.
    pub fn paths_between(&self, old: Option<&TreeId>, new: &TreeId) -> Read<Vec<Vec<u8>>> {
        Ok(self.diff(old, Some(new))?.into_iter().map(|change| change.path).collect())
    }

    /// Calls `visit` with each path that is not the same in both trees, and with what is there before and after.
    fn compare(
        &self,
        old: Option<&TreeId>,
        new: Option<&TreeId>,
        mut visit: impl FnMut(&[u8], Option<Entry>, Option<Entry>) -> Read<()>,
    ) -> Read<()> {
        if old == new {
            return Ok(());
        }
        let mut path = Vec::new();
        let (mut paths, mut path_bytes) = (MAX_PATHS, MAX_PATH_BYTES);
        let mut levels = vec![Level::read(self, 0, 0, old, new)?];
        while let Some(level) = levels.last_mut() {
            path.truncate(level.path);
            let held = level.held;
            let Some((old, new)) = level.next() else {
                levels.pop();
                continue;
            };
            let sides = [&old, &new].map(|item| item.as_ref().map(Item::entry));
            // Only a file `a/` and a directory `a` sort as equal and differ in name and kind. Git goes by the newer one.
            let Some(either) = new.or(old).filter(|_| sides[0] != sides[1]) else { continue };
            path.extend_from_slice(either.name);
            let limit = |why: String| ObjectError::Limit(either.id, why);
            self.meter.spend(cost::PATH + path.len() as u64).map_err(limit)?;
            if !either.is_tree() {
                let left = paths.checked_sub(1).zip(path_bytes.checked_sub(path.len()));
                (paths, path_bytes) = left.ok_or_else(|| {
                    limit(format!("more than {MAX_PATHS} paths, or {MAX_PATH_BYTES} bytes of them, differ"))
                })?;
                visit(&path, sides[0], sides[1])?;
                continue;
            }
            path.push(b'/');
            let trees = [old, new].map(|item| item.map(|item| TreeId(item.id)));
            let (id, length) = (either.id, path.len());
            if levels.len() > MAX_TREE_DEPTH {
                return Err(ObjectError::Limit(id, format!("it is more than {MAX_TREE_DEPTH} directories deep")));
            }
            if held > MAX_TREES_HELD {
                let why = format!("the directories that lead to it have more than {MAX_TREES_HELD} bytes");
                return Err(ObjectError::Limit(id, why));
            }
            levels.push(Level::read(self, length, held, trees[0].as_ref(), trees[1].as_ref())?);
        }
        Ok(())
    }
}

/// Two trees side by side, the older first.
struct Level {
    /// How much of the path leads here.
    path: usize,
    /// Bytes of these trees and of those above.
    held: usize,
    trees: [Option<Arc<Tree>>; 2],
    /// How far each has been walked.
    at: [usize; 2],
}

impl Level {
    fn read(git: &Git, path: usize, held: usize, old: Option<&TreeId>, new: Option<&TreeId>) -> Read<Self> {
        let read = |tree: Option<&TreeId>| tree.map(|tree| git.read_tree_as_git(tree)).transpose();
        let trees = [read(old)?, read(new)?];
        let held = held + trees.iter().flatten().map(|tree| tree.size()).sum::<usize>();
        Ok(Self { path, held, trees, at: [0, 0] })
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
