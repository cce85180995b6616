//! What a commit does: the change id, computed here from the two trees alone. Neither settings nor attributes nor the
//! version of git that happens to be installed has a say, and no process is started.

use std::cmp::Ordering;

use super::objects::{Commit, ObjectError, Read, TreeEntry};
use super::open::Git;
use super::patch::{Printer, Side};
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
        self.compare(old, new, &mut |path, old, new| printer.print(path, old, new))?;
        Ok(printer.finish())
    }

    /// The paths that differ between two trees, in git's order. A file that became a directory is one path that is gone
    /// and others that are new.
    pub fn paths_between(&self, old: Option<&TreeId>, new: &TreeId) -> Read<Vec<Vec<u8>>> {
        let mut paths = Vec::new();
        self.compare(old, new, &mut |path, _, _| {
            paths.push(path.to_owned());
            Ok(())
        })?;
        Ok(paths)
    }

    /// Calls `visit` with each path that is not the same in both trees, and with what is there before and after.
    fn compare(&self, old: Option<&TreeId>, new: &TreeId, visit: &mut Visit<'_>) -> Read<()> {
        if old == Some(new) {
            return Ok(());
        }
        Walk { git: self, path: Vec::new(), depth: 0, visit }.trees(old, Some(new))
    }
}

type Visit<'a> = dyn FnMut(&[u8], Option<Side>, Option<Side>) -> Read<()> + 'a;

struct Walk<'a> {
    git: &'a Git,
    /// Where it is: empty, or with a slash at its end.
    path: Vec<u8>,
    depth: usize,
    visit: &'a mut Visit<'a>,
}

impl Walk<'_> {
    /// Two trees side by side, in the order that both are sorted in. A file and a directory of one name are neighbours
    /// at best: git sorts them as two names.
    fn trees(&mut self, old: Option<&TreeId>, new: Option<&TreeId>) -> Read<()> {
        let read = |tree: Option<&TreeId>| tree.map_or(Ok(Vec::new()), |tree| self.git.tree(tree));
        let (old, new) = (read(old)?, read(new)?);
        let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => old.sort_key().cmp(new.sort_key()),
            };
            let old = if order.is_le() { old.next() } else { None };
            let new = if order.is_ge() { new.next() } else { None };
            self.entries(old, new)?;
        }
    }

    fn entries(&mut self, old: Option<&TreeEntry>, new: Option<&TreeEntry>) -> Read<()> {
        let (old_side, new_side) = (old.map(Side::of), new.map(Side::of));
        let Some(either) = old.or(new).filter(|_| old_side != new_side) else { return Ok(()) };
        let length = self.path.len();
        self.path.extend_from_slice(&either.name);
        if either.is_tree() {
            if self.depth == DEEPEST {
                return Err(ObjectError::Damaged(either.id, format!("it is nested deeper than {DEEPEST} directories")));
            }
            self.path.push(b'/');
            self.depth += 1;
            self.trees(old.map(|entry| TreeId(entry.id)).as_ref(), new.map(|entry| TreeId(entry.id)).as_ref())?;
            self.depth -= 1;
        } else {
            (self.visit)(&self.path, old_side, new_side)?;
        }
        self.path.truncate(length);
        Ok(())
    }
}
