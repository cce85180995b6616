//! Trees, checked once and then walked or searched in their own bytes.

use std::cmp::Ordering;

use super::objects::{DIRECTORY, TreeEntry};
use crate::proof::digest::ObjectId;

/// A tree that git would write.
#[derive(Debug)]
pub struct Tree {
    raw: Vec<u8>,
    /// Where its entries begin.
    starts: Vec<u32>,
    id_length: usize,
}

/// An entry of a tree, in the tree's own bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item<'a> {
    pub(super) mode: u32,
    pub(super) name: &'a [u8],
    pub(super) id: ObjectId,
}

impl Item<'_> {
    pub(super) fn is_tree(&self) -> bool {
        self.mode == DIRECTORY
    }

    pub(super) fn to_entry(self) -> TreeEntry {
        TreeEntry { mode: self.mode, name: self.name.to_vec(), id: self.id }
    }

    /// How git sorts two entries.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        order((self.name, self.is_tree()), (other.name, other.is_tree()))
    }
}

/// How git sorts two names: a subtree's as if it ended in a slash, which no name has in it.
pub(super) fn order(one: (&[u8], bool), other: (&[u8], bool)) -> Ordering {
    let common = one.0.len().min(other.0.len());
    let next = |(name, tree): (&[u8], bool)| name.get(common).copied().or(tree.then_some(b'/'));
    one.0[..common].cmp(&other.0[..common]).then_with(|| next(one).cmp(&next(other)))
}

impl Tree {
    /// Reads a tree; `None` if git would not write it.
    pub(super) fn parse(raw: Vec<u8>, id_length: usize) -> Option<Self> {
        let mut starts = Vec::with_capacity(raw.len() / (id_length + 12) + 1);
        let mut at = 0;
        let mut before: Option<Item<'_>> = None;
        while at < raw.len() {
            let (item, length) = item(&raw[at..], id_length)?;
            if before.is_some_and(|before| before.order(&item).is_ge()) {
                return None;
            }
            // A file and a directory of one name have those between them that begin with it, such as `a.b`.
            if item.is_tree() && before.is_some_and(|before| before.name.starts_with(item.name)) {
                let earlier = starts.iter().rev().filter_map(|start| self::item(&raw[*start as usize..], id_length));
                let mut alike = earlier.map(|(other, _)| other.name).take_while(|name| name.starts_with(item.name));
                if alike.any(|name| name == item.name) {
                    return None;
                }
            }
            starts.push(u32::try_from(at).ok()?);
            before = Some(item);
            at += length;
        }
        Some(Self { raw, starts, id_length })
    }

    /// How many bytes it takes.
    pub(super) fn size(&self) -> usize {
        self.raw.len() + self.starts.len() * 4
    }

    /// The entry of a number; `None` after the last.
    pub(super) fn get(&self, number: usize) -> Option<Item<'_>> {
        let start = *self.starts.get(number)? as usize;
        item(&self.raw[start..], self.id_length).map(|(item, _)| item)
    }

    /// The bytes of the entry of a number; empty after the last.
    pub(super) fn bytes(&self, number: usize) -> &[u8] {
        let place = |number: usize| self.starts.get(number).map_or(self.raw.len(), |start| *start as usize);
        &self.raw[place(number)..place(number + 1)]
    }

    /// All entries, in order.
    pub(super) fn items(&self) -> impl Iterator<Item = Item<'_>> {
        (0..self.starts.len()).filter_map(|number| self.get(number))
    }

    /// An entry by its name. A directory and something else of the same name are two.
    pub fn find(&self, name: &[u8], directory: bool) -> Option<TreeEntry> {
        let (mut low, mut high) = (0, self.starts.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let item = self.get(middle)?;
            match order((item.name, item.is_tree()), (name, directory)) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(item.to_entry()),
            }
        }
        None
    }
}

/// The entry that some bytes begin with, and its length.
fn item(raw: &[u8], id_length: usize) -> Option<(Item<'_>, usize)> {
    let (mut mode, mut at) = (0, 0);
    while *raw.get(at)? != b' ' {
        let digit = raw[at].wrapping_sub(b'0');
        if digit > 7 || at >= 7 {
            return None;
        }
        (mode, at) = (mode << 3 | u32::from(digit), at + 1);
    }
    let name = &raw[at + 1..];
    let end = memchr::memchr2(0, b'/', name)?;
    if at == 0 || end == 0 || name[end] == b'/' {
        return None;
    }
    let id = ObjectId::from_bytes(name.get(end + 1..end + 1 + id_length)?)?;
    Some((Item { mode, name: &name[..end], id }, at + 1 + end + 1 + id_length))
}
