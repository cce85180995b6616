//! Trees, checked once and then walked or searched in their own bytes.

use std::cmp::Ordering;

use super::object::TreeEntry;
use crate::proof::digest::ObjectId;

/// A tree that git can read.
#[derive(Debug)]
pub struct Tree {
    raw: Vec<u8>,
    /// Where its entries begin.
    starts: Vec<u32>,
    id_length: usize,
    /// Whether git would write it: sorted, no name twice, no name that is no file's.
    orderly: bool,
}

/// An entry of a tree, in the tree's own bytes.
pub(super) type Item<'a> = TreeEntry<&'a [u8]>;

/// How git sorts two names: a subtree's as if it ended in a slash, which no name has in it.
pub(super) fn order(one: (&[u8], bool), other: (&[u8], bool)) -> Ordering {
    let common = one.0.len().min(other.0.len());
    let next = |(name, tree): (&[u8], bool)| name.get(common).copied().or(tree.then_some(b'/'));
    one.0[..common].cmp(&other.0[..common]).then_with(|| next(one).cmp(&next(other)))
}

impl Tree {
    /// Reads a tree; `None` if git could not.
    pub(super) fn parse(raw: Vec<u8>, id_length: usize) -> Option<Self> {
        let mut starts = Vec::with_capacity(raw.len() / (id_length + 12) + 1);
        let (mut at, mut orderly) = (0, true);
        let mut before: Option<Item<'_>> = None;
        // Names of files that all names since then begin with, the longest last.
        let mut files: Vec<(usize, usize)> = Vec::new();
        while at < raw.len() {
            let (item, length) = item(&raw[at..], id_length)?;
            orderly &= before.is_none_or(|before| before.order(&item).is_lt());
            orderly &= !item.name.contains(&b'/');
            // A file and a directory of one name have those between them that begin with it, such as `a.b`.
            while files.pop_if(|(from, to)| !item.name.starts_with(&raw[*from..*to])).is_some() {}
            let end = at + length - id_length - 1;
            let name = (end - item.name.len(), end);
            if !item.is_tree() {
                files.push(name);
            } else if files.last().is_some_and(|(from, to)| to - from == item.name.len()) {
                orderly = false;
            }
            starts.push(u32::try_from(at).ok()?);
            before = Some(item);
            at += length;
        }
        Some(Self { raw, starts, id_length, orderly })
    }

    /// Whether git would write it. Only then can an entry be looked up by its name.
    pub(super) fn is_orderly(&self) -> bool {
        self.orderly
    }

    /// How many entries it has.
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// How many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        self.raw.len() + self.starts.len() * 4
    }

    /// The entry of a number; `None` after the last.
    pub(super) fn get(&self, number: usize) -> Option<Item<'_>> {
        let start = *self.starts.get(number)? as usize;
        item(&self.raw[start..], self.id_length).map(|(item, _)| item)
    }

    /// How many entries from the one of a number on are also in another tree, one after the other.
    pub(super) fn same(&self, number: usize, other: &Self, other_number: usize) -> usize {
        const BLOCK: usize = 128;
        let (mine, theirs) = (self.after(number), other.after(other_number));
        let common = mine.len().min(theirs.len());
        // By blocks first: a comparison of a few bytes costs as much as one of hundreds.
        let blocks = mine[..common].chunks_exact(BLOCK).zip(theirs[..common].chunks_exact(BLOCK));
        let equal = blocks.take_while(|(mine, theirs)| mine == theirs).count() * BLOCK;
        let rest = mine[equal..common].iter().zip(&theirs[equal..common]);
        let equal = equal + rest.take_while(|(mine, theirs)| mine == theirs).count();
        let until = self.raw.len() - mine.len() + equal;
        // As many as end where the two are still the same. An entry tells by itself where it ends.
        let ended = self.starts[number.min(self.starts.len())..].partition_point(|start| *start as usize <= until);
        if until == self.raw.len() { ended } else { ended.saturating_sub(1) }
    }

    /// The bytes from the entry of a number on.
    fn after(&self, number: usize) -> &[u8] {
        &self.raw[self.starts.get(number).map_or(self.raw.len(), |start| *start as usize)..]
    }

    /// All entries, in order.
    pub(super) fn items(&self) -> impl Iterator<Item = Item<'_>> {
        (0..self.starts.len()).filter_map(|number| self.get(number))
    }

    /// An entry by its name. A directory and something else of the same name are two.
    pub fn find(&self, name: &[u8], directory: bool) -> Option<TreeEntry<&[u8]>> {
        let (mut low, mut high) = (0, self.starts.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let item = self.get(middle)?;
            match order((item.name, item.is_tree()), (name, directory)) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(item),
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
        if digit > 7 {
            return None;
        }
        // As many digits as there are, of which git keeps the last sixteen bits.
        (mode, at) = ((mode << 3 | u32::from(digit)) & 0xffff, at + 1);
    }
    let name = &raw[at + 1..];
    let end = memchr::memchr(0, name)?;
    if at == 0 || end == 0 {
        return None;
    }
    let id = ObjectId::from_bytes(name.get(end + 1..end + 1 + id_length)?)?;
    Some((Item { mode, name: &name[..end], id }, at + 1 + end + 1 + id_length))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use super::Tree;

    fn tree(names: &[(&str, u8)]) -> Tree {
        let raw = names.iter().flat_map(|(name, id)| [format!("100644 {name}\0").as_bytes(), &[*id; 20]].concat());
        Tree::parse(raw.collect(), 20).unwrap()
    }

    #[test]
    fn the_same_entries_are_counted_up_to_the_first_that_differs() {
        let many: Vec<(String, u8)> = (0..60).map(|number| (format!("file-{number:02}"), number)).collect();
        let many: Vec<(&str, u8)> = many.iter().map(|(name, id)| (name.as_str(), *id)).collect();
        let whole = tree(&many);
        for changed in 0..60 {
            let mut other = many.clone();
            other[changed].1 ^= 0x80;
            assert_eq!(whole.same(0, &tree(&other), 0), changed);
            other[changed] = ("zzz", 0);
            other.truncate(changed + 1);
            assert_eq!(whole.same(0, &tree(&other), 0), changed, "another name, and nothing after it");
            assert_eq!(whole.same(0, &tree(&many[..changed]), 0), changed, "nothing after it");
            assert_eq!(whole.same(changed, &tree(&many[changed..]), 0), 60 - changed, "nothing before it");
        }
        assert_eq!(whole.same(60, &whole, 60), 0);
        assert_eq!(whole.same(3, &whole, 60), 0);
        assert_eq!(tree(&[]).same(0, &whole, 0), 0);
        // The last byte of an id, and the first of a name.
        assert_eq!(tree(&[("a", 1), ("b", 2)]).same(0, &tree(&[("a", 1), ("bb", 2)]), 0), 1);
    }
}
