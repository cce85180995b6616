//! Whether a tree is what git would have made of a change at another place, and whether a tree has a change already. Both
//! merge path by path, by the rule of [`crate::proof::merge`].

use std::collections::{BTreeMap, HashMap, HashSet};

use git2::{MergeFileInput, ObjectType, Oid, merge_file};

use super::limits::may_compare;
use super::object::{Commit, ObjectError, Read};
use super::open::Git;
use crate::proof::digest::{ObjectId, TreeId};
use crate::proof::merge::{Entry, Merged, PathChange, merge};

/// Most contents that are merged for one question.
const MAX_CONTENTS: usize = 10_000;

/// How many contents may still be merged.
#[derive(Debug)]
pub struct Allowance {
    contents: usize,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { contents: MAX_CONTENTS }
    }
}

impl Git {
    /// Whether a commit's tree is the clean merge of a change into the tree of its parent, on every path.
    ///
    /// `change` is what the change does where it was made, `made` what the commit, whose tree is `tree`, does to `ours`.
    /// With `same_blob`, a path of which only the mode changes, there or here, must have the content that the change left.
    pub fn is_merge(
        &self,
        change: &[PathChange],
        ours: Option<&TreeId>,
        (tree, made): (&TreeId, &[PathChange]),
        same_blob: bool,
        allowance: &mut Allowance,
    ) -> Read<bool> {
        if !self.is_orderly(tree, made)? {
            return Ok(false);
        }
        if change == made {
            return Ok(true);
        }
        // A path that the change does not touch must be left alone.
        let touched: HashSet<&[u8]> = change.iter().map(|theirs| &theirs.path[..]).collect();
        if made.iter().any(|made| !touched.contains(&made.path[..])) {
            return Ok(false);
        }
        let by_path: HashMap<&[u8], &PathChange> = made.iter().map(|made| (&made.path[..], made)).collect();
        let mut contents = Vec::new();
        for theirs in change {
            let made = by_path.get(&theirs.path[..]);
            let before = match made {
                Some(made) => made.old,
                None => self.entry_at(ours, &theirs.path)?,
            };
            let after = made.map_or(before, |made| made.new);
            let other_blob = before.map(|entry| entry.id) != theirs.new.map(|entry| entry.id);
            let mode_alone = theirs.is_mode_alone() || made.is_some_and(|made| made.is_mode_alone());
            if same_blob && mode_alone && other_blob {
                return Ok(false);
            }
            match merge(theirs.old, before, theirs.new) {
                Merged::Is(entry) if entry == after => {}
                merged @ Merged::Content { mode, .. } if after.is_some_and(|after| after.mode == mode) => {
                    contents.push((merged, after));
                }
                _ => return Ok(false),
            }
        }
        // Texts last: most trees that are no merge are so for a reason that needs none.
        for (merged, after) in contents {
            let Some(after) = after else { return Ok(false) };
            if self.merged_id(&merged, allowance)? != Some(after.id) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether what leads from `base` to `head` is, merged into `ours`, just what leads from there to `made`: neither is
    /// nothing.
    pub fn is_merge_of_trees(
        &self,
        (base, head): (Option<&TreeId>, &TreeId),
        (ours, made): (Option<&TreeId>, &TreeId),
    ) -> Read<bool> {
        let tree = made;
        let (change, made) = (self.diff(base, Some(head))?, self.diff(ours, Some(tree))?);
        if change.is_empty() || made.is_empty() {
            return Ok(false);
        }
        self.is_merge(&change, ours, (tree, &made), true, &mut Allowance::default())
    }

    /// Whether git would have written every directory that leads to a changed path. One that has a name twice, or a file
    /// and a directory of one name, is no merge, whatever its entries are.
    fn is_orderly(&self, root: &TreeId, made: &[PathChange]) -> Read<bool> {
        for change in made {
            let mut tree = *root;
            for name in change.path.split(|byte| *byte == b'/') {
                let entries = self.read_tree_as_git(&tree)?;
                if !entries.is_orderly() {
                    return Ok(false);
                }
                let Some(below) = entries.find(name, true) else { break };
                tree = TreeId(below.id);
            }
        }
        Ok(true)
    }

    /// Whether one commit is another in other words or at another place, as git itself would have made it.
    pub fn is_rewrite(&self, from: &Commit, to: &Commit) -> Read<bool> {
        let trees = |commit: &Commit| -> Read<Vec<TreeId>> {
            commit.parents.iter().map(|parent| Ok(self.commit(parent)?.tree)).collect()
        };
        let (before, after) = (trees(from)?, trees(to)?);
        if from.tree == to.tree && before == after {
            return Ok(true);
        }
        if before.len() > 1 || after.len() > 1 {
            return Ok(false);
        }
        self.is_merge_of_trees((before.first(), &from.tree), (after.first(), &to.tree))
    }

    /// The entry at a path of a tree; `None` stands for the empty tree.
    pub fn entry_at(&self, tree: Option<&TreeId>, path: &[u8]) -> Read<Option<Entry>> {
        let Some(tree) = tree else { return Ok(None) };
        Ok(self.file(tree, path)?.filter(|entry| !entry.is_tree()).map(|entry| entry.entry()))
    }

    /// The id of the text that three merge to, as `git merge-file` does by default; `None` where they do not.
    fn merged_id(&self, merged: &Merged, allowance: &mut Allowance) -> Read<Option<ObjectId>> {
        let Merged::Content { base, ours, theirs, .. } = *merged else { return Ok(None) };
        let limit = |why: String| ObjectError::Limit(ours, why);
        allowance.contents = allowance
            .contents
            .checked_sub(1)
            .ok_or_else(|| limit(format!("more than {MAX_CONTENTS} contents would have to be merged")))?;
        let mut texts = Vec::new();
        for id in [base, ours, theirs] {
            let Some(text) = self.text_blob(&id)? else { return Ok(None) };
            texts.push(text);
        }
        may_compare(&self.meter, &[&texts[0], &texts[1], &texts[2]]).map_err(limit)?;
        let [base, ours, theirs] = [0, 1, 2].map(|at: usize| {
            let mut input = MergeFileInput::new();
            input.content(&texts[at]);
            input
        });
        let failed = |error: git2::Error| limit(format!("libgit2 cannot merge it: {}", error.message()));
        let result = merge_file(&base, &ours, &theirs, None).map_err(failed)?;
        // Of what does not merge, libgit2 may have no content at all.
        if !result.is_automergeable() {
            return Ok(None);
        }
        let id = Oid::hash_object_ext(ObjectType::Blob, result.content(), self.repository.object_format());
        Ok(ObjectId::from_bytes(id.map_err(failed)?.as_bytes()))
    }
}

/// Tells which trees already contain a change: merging it into them alters none of the paths that it touches.
pub struct Containment<'a> {
    git: &'a Git,
    change: &'a [PathChange],
    /// The directories that lead to the paths; the first is the root.
    folders: Vec<Folder>,
    /// Directories in which some path still is as it was before the change, by their tree and their place here.
    untouched: HashSet<(TreeId, usize)>,
    /// Results so far, by path and content.
    tried: HashMap<(usize, Option<Entry>), bool>,
}

/// A directory that leads to paths of a change.
#[derive(Default)]
struct Folder {
    /// Paths that end here, by their last name.
    files: BTreeMap<Vec<u8>, usize>,
    folders: BTreeMap<Vec<u8>, usize>,
}

impl<'a> Containment<'a> {
    /// Asks about a change, which must not be empty.
    pub fn new(git: &'a Git, change: &'a [PathChange]) -> Self {
        let mut folders = vec![Folder::default()];
        for (number, path) in change.iter().enumerate() {
            let mut names: Vec<&[u8]> = path.path.split(|byte| *byte == b'/').collect();
            let last = names.pop().unwrap_or_default();
            let mut at = 0;
            for name in names {
                at = if let Some(known) = folders[at].folders.get(name) {
                    *known
                } else {
                    folders.push(Folder::default());
                    let new = folders.len() - 1;
                    folders[at].folders.insert(name.to_vec(), new);
                    new
                };
            }
            folders[at].files.insert(last.to_vec(), number);
        }
        Self { git, change, folders, untouched: HashSet::new(), tried: HashMap::new() }
    }

    /// Whether a tree has the change.
    pub fn is_in(&mut self, tree: Option<&TreeId>, allowance: &mut Allowance) -> Read<bool> {
        let mut found = Vec::with_capacity(self.change.len());
        if !self.gather(tree.copied(), 0, &mut found)? {
            return Ok(false);
        }
        // First the entries that can be decided without reading any text.
        let mut contents = Vec::new();
        for (number, entry) in found {
            let change = &self.change[number];
            if entry == change.new {
                continue;
            }
            if let Some(known) = self.tried.get(&(number, entry)) {
                if *known {
                    continue;
                }
                return Ok(false);
            }
            match merge(change.old, entry, change.new) {
                Merged::Is(merged) if merged == entry => {}
                merged @ Merged::Content { mode, .. } if entry.is_some_and(|entry| entry.mode == mode) => {
                    contents.push((number, entry, merged));
                }
                _ => {
                    self.tried.insert((number, entry), false);
                    return Ok(false);
                }
            }
        }
        for (number, entry, merged) in contents {
            let same = self.git.merged_id(&merged, allowance)? == entry.map(|entry| entry.id);
            self.tried.insert((number, entry), same);
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Collects what a tree has at the paths; `false` as soon as one of them is as it was before the change.
    fn gather(&mut self, tree: Option<TreeId>, folder: usize, found: &mut Vec<(usize, Option<Entry>)>) -> Read<bool> {
        if let Some(tree) = tree
            && self.untouched.contains(&(tree, folder))
        {
            return Ok(false);
        }
        let entries = tree.map(|tree| self.git.read_tree(&tree)).transpose()?;
        let (files, folders): (Vec<_>, Vec<_>) = {
            let folder = &self.folders[folder];
            let find = |name: &[u8], directory| entries.as_ref().and_then(|entries| entries.find(name, directory));
            let entry = |name: &[u8]| find(name, false).map(|found| found.entry());
            let files = folder.files.iter().map(|(name, number)| (*number, entry(name)));
            let below = folder.folders.iter().map(|(name, at)| (*at, find(name, true).map(|found| TreeId(found.id))));
            (files.collect(), below.collect())
        };
        let mut whole = files.iter().all(|(number, entry)| self.change[*number].old != *entry);
        found.extend(files);
        for (at, below) in folders {
            whole = whole && self.gather(below, at, found)?;
        }
        if let Some(tree) = tree.filter(|_| !whole) {
            self.untouched.insert((tree, folder));
        }
        Ok(whole)
    }
}
