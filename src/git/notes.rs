//! Notes trees: a blob for each commit, under its id in hex, which git cuts into directories of two digits as they fill.
//! Any such cut is read; what is written follows git's rule, so that git itself would leave it as it is.

use std::collections::{BTreeMap, VecDeque};

use super::object::{DIRECTORY, FILE, Read, TreeEntry};
use super::open::Git;
use super::tree::Item;
use super::visits::{PassedOver, Visits};
use crate::error::Result;
use crate::proof::digest::{CommitId, ObjectId, TreeId};

/// One level of a notes tree.
#[derive(Default)]
struct Level {
    /// Notes, by the digits that are left.
    notes: BTreeMap<String, ObjectId>,
    /// Directories, by their two digits.
    fans: BTreeMap<String, TreeId>,
    /// Entries that are not notes; they are kept as they are.
    others: Vec<TreeEntry>,
}

/// The notes and other entries that a notes tree has and another one does not.
#[derive(Debug, Default)]
pub struct OnlyInNotes {
    /// The commits whose notes the other one lacks, or has other ones of.
    pub commits: Vec<CommitId>,
    /// The first entry that is no note and no directory of notes.
    pub odd: Option<TreeEntry>,
}

impl Git {
    /// The blobs that are the note of a commit: none or one, and more only where someone stored it in two places.
    pub fn find_note(&self, tree: &TreeId, commit: &CommitId) -> Read<Vec<ObjectId>> {
        let hex = commit.to_string();
        let mut found = Vec::new();
        let (mut tree, mut at) = (*tree, 0);
        loop {
            let level = self.read_proof_tree(&tree)?;
            let rest = &hex.as_bytes()[at..];
            found.extend(level.find(rest, false).filter(Item::is_file).map(|note| note.id));
            match level.find(&rest[..2], true).filter(|_| rest.len() > 2) {
                Some(fan) => (tree, at) = (TreeId(fan.id), at + 2),
                None => return Ok(found),
            }
        }
    }

    /// All notes of a tree, those in fewer directories first. What nobody could have written as notes is passed over, and
    /// the answer says so: it must not keep others from what they wrote.
    pub fn each_note(&self, tree: &TreeId, each: &mut dyn FnMut(CommitId, ObjectId)) -> Read<PassedOver> {
        let mut visits = Visits::default();
        let mut next = VecDeque::from([(String::new(), *tree)]);
        while let Some((prefix, tree)) = next.pop_front() {
            let Some(entries) = visits.read(self, &tree)? else { continue };
            let digits_left = self.hex_length() - prefix.len();
            for entry in entries.items() {
                if !visits.count() {
                    return Ok(visits.passed);
                }
                match Place::of(entry.name, digits_left) {
                    Some((Place::Note, rest)) if entry.is_file() => {
                        if let Some(commit) = CommitId::parse(&format!("{prefix}{rest}")) {
                            each(commit, entry.id);
                        }
                    }
                    Some((Place::Fan, digits)) if entry.is_tree() => {
                        next.push_back((format!("{prefix}{digits}"), TreeId(entry.id)));
                    }
                    _ => visits.passed.other += 1,
                }
            }
        }
        Ok(visits.passed)
    }

    pub fn put_notes(&self, tree: Option<&TreeId>, notes: &BTreeMap<CommitId, ObjectId>) -> Result<TreeId> {
        let notes = notes.iter().map(|(commit, id)| (commit.to_string(), *id)).collect();
        self.put_below(tree, 0, notes)
    }

    fn put_below(&self, tree: Option<&TreeId>, at: usize, new: BTreeMap<String, ObjectId>) -> Result<TreeId> {
        let mut level = self.level(tree, at)?;
        if level.fans.is_empty() {
            level.notes.extend(new);
            if !level.is_full(self.hex_length() - at) {
                return self.write_level(level);
            }
            let notes = std::mem::take(&mut level.notes);
            self.fan_out(&mut level, at, notes)?;
        } else {
            for rest in new.keys() {
                level.notes.remove(rest);
            }
            self.fan_out(&mut level, at, new)?;
        }
        self.write_level(level)
    }

    fn fan_out(&self, level: &mut Level, at: usize, notes: BTreeMap<String, ObjectId>) -> Result<()> {
        let mut by_digits: BTreeMap<String, BTreeMap<String, ObjectId>> = BTreeMap::new();
        for (rest, id) in notes {
            let (digits, rest) = rest.split_at(2);
            by_digits.entry(digits.to_owned()).or_default().insert(rest.to_owned(), id);
        }
        for (digits, notes) in by_digits {
            let below = self.put_below(level.fans.get(&digits), at + 2, notes)?;
            level.fans.insert(digits, below);
        }
        Ok(())
    }

    /// All notes of both trees. Where both have one for a commit and they differ, `join` makes one of the two.
    pub fn unite_notes(
        &self,
        ours: &TreeId,
        theirs: &TreeId,
        join: &mut dyn FnMut(ObjectId, ObjectId) -> Result<ObjectId>,
    ) -> Result<TreeId> {
        self.unite_below(ours, theirs, 0, &mut Uniting { join, visits: Visits::default() })
    }

    fn unite_below(&self, ours: &TreeId, theirs: &TreeId, at: usize, uniting: &mut Uniting<'_>) -> Result<TreeId> {
        if ours == theirs {
            return Ok(*ours);
        }
        let (mut mine, other) = (self.level(Some(ours), at)?, self.level(Some(theirs), at)?);
        uniting.visits.meet(ours, theirs, mine.len() + other.len())?;
        for (digits, below) in other.fans {
            let united = match mine.fans.get(&digits) {
                Some(mine) => self.unite_below(mine, &below, at + 2, uniting)?,
                None => below,
            };
            mine.fans.insert(digits, united);
        }
        for (rest, theirs) in other.notes {
            let joined = match mine.notes.get(&rest) {
                Some(ours) if *ours != theirs => (uniting.join)(*ours, theirs)?,
                _ => theirs,
            };
            mine.notes.insert(rest, joined);
        }
        let mut others: BTreeMap<Vec<u8>, TreeEntry> = BTreeMap::new();
        for entry in mine.others.drain(..).chain(other.others) {
            // Both clones must come to the same.
            let kept = others.entry(entry.name.clone()).or_insert_with(|| entry.clone());
            if (entry.id, entry.mode) < (kept.id, kept.mode) {
                *kept = entry;
            }
        }
        mine.others = others.into_values().collect();
        if !mine.fans.is_empty() || mine.is_full(self.hex_length() - at) {
            // One side is cut finer than the other: what stands at this level goes where the finer cut has it.
            let mut lower: BTreeMap<String, ObjectId> = BTreeMap::new();
            for (rest, mut id) in std::mem::take(&mut mine.notes) {
                for deeper in
                    mine.fans.get(&rest[..2]).map(|fan| self.find_rest(fan, &rest[2..])).transpose()?.iter().flatten()
                {
                    if *deeper != id {
                        id = (uniting.join)(*deeper, id)?;
                    }
                }
                lower.insert(rest, id);
            }
            self.fan_out(&mut mine, at, lower)?;
        }
        self.write_level(mine)
    }

    /// The notes whose remaining digits are `rest`, at this level and below.
    fn find_rest(&self, tree: &TreeId, rest: &str) -> Read<Vec<ObjectId>> {
        let level = self.level_of(tree, rest.len())?;
        let mut found: Vec<ObjectId> = level.notes.get(rest).copied().into_iter().collect();
        if let Some(below) = rest.get(..2).and_then(|digits| level.fans.get(digits)) {
            found.extend(self.find_rest(below, &rest[2..])?);
        }
        Ok(found)
    }

    /// The commits whose notes of `old` are gone or other ones in `new`.
    pub fn lost_notes(&self, old: &TreeId, new: Option<&TreeId>) -> Read<Vec<CommitId>> {
        Ok(self.only_in_notes(old, new)?.commits)
    }

    /// The notes and other entries that a notes tree has and another one does not.
    pub fn only_in_notes(&self, tree: &TreeId, other: Option<&TreeId>) -> Read<OnlyInNotes> {
        let mut only = OnlyInNotes::default();
        self.only_below(tree, other, "", &mut Visits::default(), &mut only)?;
        Ok(only)
    }

    fn only_below(
        &self,
        tree: &TreeId,
        other: Option<&TreeId>,
        prefix: &str,
        visits: &mut Visits,
        only: &mut OnlyInNotes,
    ) -> Read<()> {
        if other == Some(tree) {
            return Ok(());
        }
        let (level, other) = (self.level(Some(tree), prefix.len())?, self.level(other, prefix.len())?);
        visits.count_all(tree, level.len() + other.len())?;
        let odd = level.others.into_iter().find(|entry| !other.others.contains(entry));
        only.odd = only.odd.take().or(odd);
        for (rest, id) in &level.notes {
            if other.notes.get(rest) != Some(id) {
                only.commits.extend(CommitId::parse(&format!("{prefix}{rest}")));
            }
        }
        for (digits, below) in &level.fans {
            self.only_below(below, other.fans.get(digits), &format!("{prefix}{digits}"), visits, only)?;
        }
        Ok(())
    }

    fn level(&self, tree: Option<&TreeId>, at: usize) -> Read<Level> {
        match tree {
            Some(tree) => self.level_of(tree, self.hex_length() - at),
            None => Ok(Level::default()),
        }
    }

    fn level_of(&self, tree: &TreeId, digits_left: usize) -> Read<Level> {
        let mut level = Level::default();
        for entry in self.read_tree(tree)?.items() {
            match Place::of(entry.name, digits_left) {
                Some((Place::Note, rest)) if entry.is_file() => {
                    level.notes.insert(rest.to_owned(), entry.id);
                }
                Some((Place::Fan, digits)) if entry.is_tree() => {
                    level.fans.insert(digits.to_owned(), TreeId(entry.id));
                }
                _ => level.others.push(entry.to_entry()),
            }
        }
        Ok(level)
    }

    fn write_level(&self, level: Level) -> Result<TreeId> {
        let mut entries = level.others;
        entries.extend(level.notes.into_iter().map(|(name, id)| TreeEntry { mode: FILE, name: name.into_bytes(), id }));
        let fans = level.fans.into_iter();
        entries.extend(fans.map(|(name, tree)| TreeEntry { mode: DIRECTORY, name: name.into_bytes(), id: tree.0 }));
        self.write_tree(&mut entries)
    }
}

/// The two kinds of entries of a notes tree, told apart by their names.
enum Place {
    Note,
    Fan,
}

impl Place {
    /// Reads a name at a level of the tree where this many digits of an id are left.
    fn of(name: &[u8], digits_left: usize) -> Option<(Self, &str)> {
        let place = match name.len() {
            length if length == digits_left => Self::Note,
            2 if digits_left > 2 => Self::Fan,
            _ => return None,
        };
        let is_digit = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
        let name = std::str::from_utf8(name).ok().filter(|name| name.as_bytes().iter().all(is_digit))?;
        Some((place, name))
    }
}

/// Two trees on the way to be one.
struct Uniting<'a> {
    join: &'a mut dyn FnMut(ObjectId, ObjectId) -> Result<ObjectId>,
    visits: Visits,
}

impl Level {
    fn len(&self) -> usize {
        self.notes.len() + self.fans.len() + self.others.len()
    }

    /// Git's rule: a level is cut when each of the sixteen digits begins at least two of its notes.
    fn is_full(&self, digits_left: usize) -> bool {
        let mut counts = [0u8; 16];
        for digit in self.notes.keys().filter_map(|rest| char::from(*rest.as_bytes().first()?).to_digit(16)) {
            let count = &mut counts[digit as usize];
            *count = count.saturating_add(1);
        }
        digits_left > 4 && counts.iter().all(|count| *count >= 2)
    }
}
