//! Trees of files under two-digit directories, `ab/abcd…`: evidence by root, changes by id. Files are added and merged,
//! never taken away.

use std::collections::BTreeMap;

use super::objects::{DIRECTORY, FILE, Read, TreeEntry};
use super::open::Git;
use crate::error::Result;
use crate::proof::digest::{ObjectId, TreeId};

/// What stands in a tree under the name of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shelved {
    /// Nothing.
    Nothing,
    /// A plain file.
    File(ObjectId),
    /// A link, a submodule, a program or a directory, where only a plain file belongs.
    Other,
}

/// Which content of a file stays.
type Choose<'a> = dyn FnMut(&[u8], ObjectId, ObjectId) -> Result<ObjectId> + 'a;

/// Which of the two levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Directories.
    Top,
    /// Plain files.
    Below,
}

impl Place {
    /// Whether an entry is what belongs there.
    fn fits(self, entry: &TreeEntry) -> bool {
        match self {
            Self::Top => entry.is_tree(),
            Self::Below => entry.mode == FILE,
        }
    }
}

impl Git {
    /// The file of this name, below the directory of its first two characters.
    pub fn shelved(&self, tree: &TreeId, name: &str) -> Read<Shelved> {
        let Some(directory) = name.get(..2) else { return Ok(Shelved::Nothing) };
        let entry = |tree: &TreeId, name: &str| -> Read<Option<TreeEntry>> {
            Ok(self.tree(tree)?.into_iter().find(|entry| entry.name == name.as_bytes()))
        };
        let Some(below) = entry(tree, directory)? else { return Ok(Shelved::Nothing) };
        if !below.is_tree() {
            return Ok(Shelved::Other);
        }
        Ok(match entry(&TreeId(below.id), name)? {
            None => Shelved::Nothing,
            Some(file) if file.mode == FILE => Shelved::File(file.id),
            Some(_) => Shelved::Other,
        })
    }

    /// Adds or replaces files.
    pub fn shelve(&self, tree: Option<&TreeId>, files: &[(String, ObjectId)]) -> Result<TreeId> {
        let mut by_directory: BTreeMap<&str, Vec<(&str, ObjectId)>> = BTreeMap::new();
        for (name, id) in files {
            by_directory.entry(name.get(..2).unwrap_or(name)).or_default().push((name, *id));
        }
        let mut top = self.entries_of(tree)?;
        for (directory, files) in by_directory {
            let below = top.iter().find(|entry| entry.name == directory.as_bytes() && entry.is_tree());
            let mut entries = self.entries_of(below.map(|entry| TreeId(entry.id)).as_ref())?;
            for (name, id) in files {
                place(&mut entries, TreeEntry { mode: FILE, name: name.as_bytes().to_vec(), id });
            }
            let id = self.write_tree(&mut entries)?.0;
            place(&mut top, TreeEntry { mode: DIRECTORY, name: directory.as_bytes().to_vec(), id });
        }
        self.write_tree(&mut top)
    }

    /// All that is in either tree. Where both have a file and they differ, `choose` says which content stays.
    pub fn unite(&self, ours: &TreeId, theirs: &TreeId, choose: &mut Choose<'_>) -> Result<TreeId> {
        self.unite_at(Place::Top, ours, theirs, choose)
    }

    fn unite_at(&self, place: Place, ours: &TreeId, theirs: &TreeId, choose: &mut Choose<'_>) -> Result<TreeId> {
        if ours == theirs {
            return Ok(*ours);
        }
        let mut entries = self.tree(ours)?;
        for other in self.tree(theirs)? {
            let Some(mine) = entries.iter_mut().find(|entry| entry.name == other.name) else {
                entries.push(other);
                continue;
            };
            if mine.id == other.id && mine.mode == other.mode {
                continue;
            }
            match (place.fits(mine), place.fits(&other)) {
                (true, true) if place == Place::Top => {
                    mine.id = self.unite_at(Place::Below, &TreeId(mine.id), &TreeId(other.id), choose)?.0;
                }
                (true, true) => mine.id = choose(&mine.name, mine.id, other.id)?,
                // What does not belong here gives way to what does; of two such, both clones must keep the same.
                (false, true) => *mine = other,
                (false, false) if (other.id, other.mode) < (mine.id, mine.mode) => *mine = other,
                _ => {}
            }
        }
        self.write_tree(&mut entries)
    }

    /// The files of two trees that are in `new` and not, or not with the same content, in `old`. What lies deeper than
    /// files belong is not looked at.
    pub fn added(&self, old: Option<&TreeId>, new: &TreeId, each: &mut dyn FnMut(&[u8], &TreeEntry)) -> Read<()> {
        self.added_at(Place::Top, old, new, each)
    }

    fn added_at(
        &self,
        place: Place,
        old: Option<&TreeId>,
        new: &TreeId,
        each: &mut dyn FnMut(&[u8], &TreeEntry),
    ) -> Read<()> {
        if old == Some(new) {
            return Ok(());
        }
        let before = old.map(|old| self.tree(old)).transpose()?.unwrap_or_default();
        for entry in self.tree(new)? {
            let same = before.iter().find(|old| old.name == entry.name && old.mode == entry.mode);
            match same {
                Some(old) if old.id == entry.id => {}
                old if entry.is_tree() && place == Place::Top => {
                    self.added_at(Place::Below, old.map(|old| TreeId(old.id)).as_ref(), &TreeId(entry.id), each)?;
                }
                _ => each(&entry.name, &entry),
            }
        }
        Ok(())
    }

    pub(super) fn entries_of(&self, tree: Option<&TreeId>) -> Result<Vec<TreeEntry>> {
        Ok(tree.map(|tree| self.tree(tree)).transpose()?.unwrap_or_default())
    }
}

/// Puts an entry in the place of the one with its name, or at the end: writing sorts.
pub(super) fn place(entries: &mut Vec<TreeEntry>, new: TreeEntry) {
    match entries.iter_mut().find(|entry| entry.name == new.name) {
        Some(entry) => *entry = new,
        None => entries.push(new),
    }
}
