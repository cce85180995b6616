//! Stand-in.
use super::objects::{Commit, ObjectError, Read};
use super::open::Git;
use crate::proof::change::change_id;
use crate::proof::digest::{ChangeId, TreeId};
impl Git {
    /// x
    pub fn change_id(&self, commit: &Commit) -> Read<Option<ChangeId>> {
        let old = match commit.parents.as_slice() {
            [] => None,
            [parent] => Some(self.commit(parent)?.tree),
            _ => return Ok(None),
        };
        self.change_between(old.as_ref(), &commit.tree)
    }
    /// x
    pub fn change_between(&self, old: Option<&TreeId>, new: &TreeId) -> Read<Option<ChangeId>> {
        let old = old.map_or_else(|| "4b825dc642cb6eb9a060e54bf8d69288fbee4904".to_owned(), ToString::to_string);
        let out = self
            .run(&mut self.plumbing([
                "diff-tree",
                "-p",
                "-r",
                "--full-index",
                "--no-renames",
                "--no-ext-diff",
                "--no-textconv",
                "--no-color",
                "--diff-algorithm=myers",
                "--indent-heuristic",
                "-U3",
                "--src-prefix=a/",
                "--dst-prefix=b/",
                &old,
                &new.to_string(),
            ]))
            .map_err(|_| ObjectError::Missing(new.0))?;
        Ok(change_id(&out.stdout))
    }

    /// x
    pub fn paths_between(&self, _old: Option<&TreeId>, _new: &TreeId) -> Read<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }
}
