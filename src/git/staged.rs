//! The staged content as a tree.

use std::path::PathBuf;

use git2::IndexEntryExtendedFlag;

use super::open::Git;
use crate::error::Result;
use crate::proof::digest::{ObjectId, TreeId};

impl Git {
    /// The tree of what is staged; `None` where there is no index, or one with conflicts.
    ///
    /// A hook has no time for a process, so the index is read here where libgit2 knows its kind; else git is asked.
    pub fn staged_tree(&self) -> Result<Option<TreeId>> {
        if self.repository.is_bare() {
            return Ok(None);
        }
        if let Some(tree) = self.tree_of_index() {
            return Ok(Some(tree));
        }
        let mut command = self.plumbing(["write-tree"]);
        Ok(self.text_of(&mut command)?.and_then(|text| TreeId::parse(text.trim_end())))
    }

    fn tree_of_index(&self) -> Option<TreeId> {
        let named = self.context.variable("GIT_INDEX_FILE").map(PathBuf::from);
        let path = named.map_or_else(|| self.place.git_dir.join("index"), |path| self.context.directory.join(path));
        // libgit2 takes a file that is not there for an empty index, and knows nothing of parts kept elsewhere.
        if !path.is_file() {
            return None;
        }
        let mut index = git2::Index::open_ext(&path, self.repository.object_format()).ok()?;
        let only_announced = |entry: git2::IndexEntry| {
            IndexEntryExtendedFlag::from_bits_truncate(entry.flags_extended).is_intent_to_add()
        };
        if index.has_conflicts() || index.iter().any(only_announced) {
            return None;
        }
        let tree = index.write_tree_to(&self.repository).ok()?;
        ObjectId::from_bytes(tree.as_bytes()).map(TreeId)
    }
}
