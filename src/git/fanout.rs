//! Trees of files under two-digit directories, `ab/abcd…`: evidence by root, changes by id. Files are added and merged,
//! never taken away.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::object::{DIRECTORY, FILE, Read, TreeEntry};
use super::open::Git;
use super::tree::Item;
use super::visits::{PassedOver, Visits};
use crate::error::Result;
use crate::proof::digest::{ObjectId, TreeId};

/// The entry of a tree that has the name of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fanned {
    Nothing,
    File(ObjectId),
    /// A link, a submodule, a program or a directory, where only a plain file belongs.
    Other,
}

/// Chooses the content of a file that both sides have.
type Choose<'a> = dyn FnMut(&[u8], ObjectId, ObjectId) -> Result<ObjectId> + 'a;

/// The two levels of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Directories.
    Top,
    /// Plain files.
    Below,
}

impl Place {
    fn fits(self, entry: &TreeEntry) -> bool {
        match self {
            Self::Top => entry.is_tree() && is_folder(&entry.name),
            Self::Below => entry.mode == FILE,
        }
    }
}

impl Git {
    /// The file of this name, below the directory of its first two characters. Nothing is listed: a few small trees can be put
    /// together so that they seem to hold more files than there are atoms. A directory and something else of the same name
    /// are two.
    pub fn find_fanned(&self, tree: &TreeId, name: &str) -> Read<Fanned> {
        let Some(directory) = name.get(..2) else { return Ok(Fanned::Nothing) };
        let level = self.read_proof_tree(tree)?;
        let Some(below) = level.find(directory.as_bytes(), true) else {
            let is_other = level.find(directory.as_bytes(), false).is_some();
            return Ok(if is_other { Fanned::Other } else { Fanned::Nothing });
        };
        let level = self.read_proof_tree(&TreeId(below.id))?;
        Ok(match (level.find(name.as_bytes(), false), level.find(name.as_bytes(), true)) {
            (None, None) => Fanned::Nothing,
            (Some(file), None) if file.mode == FILE => Fanned::File(file.id),
            _ => Fanned::Other,
        })
    }

    /// Adds or replaces files.
    pub fn put_fanned(&self, tree: Option<&TreeId>, files: &[(String, ObjectId)]) -> Result<TreeId> {
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
        let uniting = &mut Uniting { choose, visits: Visits::default() };
        self.unite_at(Place::Top, ours, theirs, uniting)
    }

    fn unite_at(&self, place: Place, ours: &TreeId, theirs: &TreeId, uniting: &mut Uniting<'_, '_>) -> Result<TreeId> {
        if ours == theirs {
            return Ok(*ours);
        }
        let (mut entries, others) = (self.tree(ours)?, self.tree(theirs)?);
        uniting.visits.meet(ours, theirs, entries.len() + others.len())?;
        let by_name: HashMap<Vec<u8>, usize> =
            entries.iter().enumerate().map(|(at, entry)| (entry.name.clone(), at)).collect();
        for other in others {
            let Some(mine) = by_name.get(&other.name).map(|at| &mut entries[*at]) else {
                entries.push(other);
                continue;
            };
            if mine.id == other.id && mine.mode == other.mode {
                continue;
            }
            match (place.fits(mine), place.fits(&other)) {
                (true, true) if place == Place::Top => {
                    mine.id = self.unite_at(Place::Below, &TreeId(mine.id), &TreeId(other.id), uniting)?.0;
                }
                (true, true) => mine.id = (uniting.choose)(&mine.name, mine.id, other.id)?,
                // An entry that does not belong here gives way to one that does. If neither does, both clones must keep
                // the same one.
                (false, true) => *mine = other,
                (false, false) if (other.id, other.mode) < (mine.id, mine.mode) => *mine = other,
                _ => {}
            }
        }
        self.write_tree(&mut entries)
    }

    /// The files of two trees that are in `new` and not, or not with the same content, in `old`, by their directory and
    /// entry. What belongs in no directory has an empty one; what lies deeper than files belong is not looked at.
    pub fn added(&self, old: Option<&TreeId>, new: &TreeId) -> Read<Vec<(Vec<u8>, TreeEntry)>> {
        let mut added = Vec::new();
        self.added_at(b"", old, new, &mut Visits::default(), &mut added)?;
        Ok(added)
    }

    fn added_at(
        &self,
        folder: &[u8],
        old: Option<&TreeId>,
        new: &TreeId,
        visits: &mut Visits,
        added: &mut Vec<(Vec<u8>, TreeEntry)>,
    ) -> Read<()> {
        if old == Some(new) {
            return Ok(());
        }
        let before = old.map(|old| self.read_tree(old)).transpose()?;
        for entry in self.read_tree(new)?.items() {
            visits.count_all(new, 0)?;
            let same = before.as_ref().and_then(|before| before.find(entry.name, entry.is_tree()));
            let same = same.filter(|old| old.mode == entry.mode);
            match same {
                Some(old) if old.id == entry.id => {}
                old if folder.is_empty() && is_folder(entry.name) && entry.is_tree() => {
                    let old = old.map(|old| TreeId(old.id));
                    self.added_at(entry.name, old.as_ref(), &TreeId(entry.id), visits, added)?;
                }
                _ => added.push((folder.to_vec(), entry.to_entry())),
            }
        }
        Ok(())
    }

    /// The names of the files below these folders, each of two characters.
    pub fn fanned_names(&self, tree: &TreeId, mut folders: HashSet<Vec<u8>>) -> Read<(HashSet<Vec<u8>>, PassedOver)> {
        let mut names = HashSet::new();
        let mut visits = Visits::default();
        let top = self.read_tree(tree)?;
        for folder in top.items().filter(Item::is_tree) {
            if !folders.remove(folder.name) {
                continue;
            }
            let Some(files) = visits.read(self, &TreeId(folder.id))? else { continue };
            for file in files.items() {
                if !visits.count() {
                    return Ok((names, visits.passed));
                }
                if file.name.starts_with(folder.name) {
                    names.insert(file.name.to_vec());
                }
            }
        }
        Ok((names, visits.passed))
    }

    pub(super) fn entries_of(&self, tree: Option<&TreeId>) -> Result<Vec<TreeEntry>> {
        Ok(tree.map(|tree| self.tree(tree)).transpose()?.unwrap_or_default())
    }
}

/// Two trees on the way to be one.
struct Uniting<'a, 'b> {
    choose: &'a mut Choose<'b>,
    visits: Visits,
}

/// Whether a directory may have this name: the first two digits of what is in it.
fn is_folder(name: &[u8]) -> bool {
    name.len() == 2 && name.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
}

/// Puts an entry in the place of the one with its name, or at the end: writing sorts.
pub(super) fn place(entries: &mut Vec<TreeEntry>, new: TreeEntry) {
    match entries.iter_mut().find(|entry| entry.name == new.name) {
        Some(entry) => *entry = new,
        None => entries.push(new),
    }
}
