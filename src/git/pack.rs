//! Packs, read here where many objects are wanted: libgit2 reads one at a time behind a lock that all threads share, and
//! goes through a chain of deltas anew for each. On 100,000 commits that took eighteen times as long as `git log --notes`.
//!
//! What this cannot read is no answer, and left to libgit2: it has the words for what is wrong. Nothing here checks what
//! an object's id says; whoever asks hashes it.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use git2::ObjectType;
use libdeflater::Decompressor;

use super::recent::Recent;
use crate::proof::digest::ObjectId;

/// Largest object that is read here, and most bytes of deltas that lead to one.
const LARGEST: usize = 16 << 20;
/// Longest chain of deltas; git makes them of 50.
const DEEPEST: usize = 4096;
/// Bytes that are read from a pack at once.
const WINDOW: u64 = 64 << 10;
/// Windows that are kept: commits, trees, notes and files are each in a place of their own.
const WINDOWS: usize = 32;
/// Bytes of objects that are kept because others may be deltas of them.
const KEPT: usize = 8 << 20;

/// Where an object is: which pack, and where in it.
pub(crate) type Place = (usize, u64);

/// The packs of a repository, with their indexes. Threads share it.
#[derive(Debug, Default)]
pub(crate) struct Packs {
    packs: Vec<Pack>,
}

#[derive(Debug)]
struct Pack {
    /// The index, version 2: 256 counts, the sorted ids, their checksums, their places, and the places beyond 2 GiB.
    index: Vec<u8>,
    count: usize,
    id_length: usize,
    file: File,
    length: u64,
}

impl Packs {
    /// Opens all packs in some object directories; those that cannot be read are left out.
    pub(super) fn open(directories: &[PathBuf], id_length: usize) -> Self {
        let mut packs = Vec::new();
        for directory in directories {
            let Ok(files) = fs::read_dir(directory.join("pack")) else { continue };
            let mut names: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
            names.sort();
            let indexes = names.iter().filter(|name| name.extension().is_some_and(|extension| extension == "idx"));
            packs.extend(indexes.filter_map(|name| Pack::open(name, id_length)));
        }
        Self { packs }
    }

    /// Where an object is.
    pub(super) fn find(&self, id: &ObjectId) -> Option<Place> {
        self.packs.iter().enumerate().find_map(|(number, pack)| Some((number, pack.find(id.as_bytes())?)))
    }
}

impl Pack {
    fn open(name: &Path, id_length: usize) -> Option<Self> {
        let index = fs::read(name).ok()?;
        let file = File::open(name.with_extension("pack")).ok()?;
        let length = file.metadata().ok()?.len();
        if !index.starts_with(b"\xfftOc\0\0\0\x02") {
            return None;
        }
        let count = number(&index, 8 + 255 * 4)?;
        let whole = 8 + 1024 + count.checked_mul(id_length + 8)? + 2 * id_length;
        (index.len() >= whole).then_some(Self { index, count, id_length, file, length })
    }

    /// Where an object is in this pack.
    fn find(&self, id: &[u8]) -> Option<u64> {
        if id.len() != self.id_length {
            return None;
        }
        let until = |first: usize| Some(number(&self.index, 8 + first * 4)?.min(self.count));
        let first = usize::from(id[0]);
        let (mut low, mut high) = (if first == 0 { 0 } else { until(first - 1)? }, until(first)?);
        let names = self.index.get(8 + 1024..)?;
        while low < high {
            let middle = usize::midpoint(low, high);
            let name = names.get(middle * self.id_length..(middle + 1) * self.id_length)?;
            match name.cmp(id) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.place(middle),
            }
        }
        None
    }

    fn place(&self, at: usize) -> Option<u64> {
        const FAR: usize = 1 << 31;
        let places = 8 + 1024 + self.count * (self.id_length + 4);
        let place = number(&self.index, places + at * 4)?;
        if place < FAR {
            return Some(place as u64);
        }
        let far = places + self.count * 4 + (place - FAR) * 8;
        Some(u64::from_be_bytes(self.index.get(far..far + 8)?.try_into().ok()?))
    }
}

/// A number of four bytes.
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize)
}

/// Reads objects from packs, for one thread.
pub(super) struct Reader {
    packs: Arc<Packs>,
    inflater: Decompressor,
    windows: HashMap<(usize, u64), Vec<u8>>,
    /// Objects that others may be deltas of.
    kept: Recent<Place, Object>,
}

/// What an object is, and its content.
type Object = (ObjectType, Arc<Vec<u8>>);

/// What is in a pack for an object.
enum Entry {
    Whole(ObjectType, Vec<u8>),
    Delta(u64, Vec<u8>),
}

impl Reader {
    pub(super) fn new(packs: Arc<Packs>) -> Self {
        Self { packs, inflater: Decompressor::new(), windows: HashMap::new(), kept: Recent::new(KEPT) }
    }

    pub(super) fn packs(&self) -> &Arc<Packs> {
        &self.packs
    }

    /// An object of which nothing has been checked.
    pub(super) fn read(&mut self, id: &ObjectId) -> Option<Object> {
        let (pack, mut at) = self.packs.find(id)?;
        let mut deltas: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut bytes = 0;
        let (kind, mut content) = loop {
            if let Some(kept) = self.kept.get(&(pack, at), |(_, content)| content.len()) {
                break kept;
            }
            match self.entry(pack, at)? {
                Entry::Whole(kind, content) => {
                    let content = Arc::new(content);
                    // Git makes no deltas of commits to speak of, and nobody would make one of a few bytes.
                    if kind != ObjectType::Commit && content.len() >= 50 {
                        self.keep((pack, at), &(kind, Arc::clone(&content)));
                    }
                    break (kind, content);
                }
                Entry::Delta(base, delta) => {
                    bytes += delta.len();
                    if bytes > LARGEST || deltas.len() > DEEPEST {
                        return None;
                    }
                    deltas.push((at, delta));
                    at = base;
                }
            }
        };
        for (at, delta) in deltas.iter().rev() {
            content = Arc::new(apply(&content, delta)?);
            self.keep((pack, *at), &(kind, Arc::clone(&content)));
        }
        Some((kind, content))
    }

    fn keep(&mut self, place: Place, object: &Object) {
        self.kept.put(place, object.clone(), object.1.len());
    }

    fn entry(&mut self, pack: usize, at: u64) -> Option<Entry> {
        let packs = Arc::clone(&self.packs);
        let pack_file = packs.packs.get(pack)?;
        // The kind, the size, where the base is: seldom more than ten bytes, and then the stream.
        let head = self.window(pack_file, pack, at)?;
        let mut bytes = head.iter();
        let mut byte = *bytes.next()?;
        let kind = byte >> 4 & 7;
        let (mut size, mut shift) = (usize::from(byte & 15), 4);
        while byte & 0x80 != 0 {
            byte = *bytes.next()?;
            size |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
        }
        if size > LARGEST || shift > 32 {
            return None;
        }
        let base = match kind {
            6 => {
                byte = *bytes.next()?;
                let mut back = u64::from(byte & 0x7f);
                while byte & 0x80 != 0 {
                    byte = *bytes.next()?;
                    back = (back + 1).checked_mul(0x80)? | u64::from(byte & 0x7f);
                }
                Some(at.checked_sub(back).filter(|base| *base < at)?)
            }
            7 => Some(pack_file.find(bytes.as_slice().get(..pack_file.id_length)?)?),
            _ => None,
        };
        let id_of_base = if kind == 7 { pack_file.id_length } else { 0 };
        let stream = head.len() - bytes.len() + id_of_base;
        // No stream that git writes is longer than this; one that is will not end in time, and is left to libgit2.
        let longest = size + size / 512 + 64;
        let mut content = vec![0; size];
        let (head, inflater) = self.window_and_inflater(pack, at)?;
        let written = if head.len() >= stream + longest {
            inflater.zlib_decompress(&head[stream..], &mut content)
        } else {
            let start = at + stream as u64;
            let length = (longest as u64).min(pack_file.length.checked_sub(start)?);
            let mut packed = vec![0; usize::try_from(length).ok()?];
            pack_file.file.read_exact_at(&mut packed, start).ok()?;
            inflater.zlib_decompress(&packed, &mut content)
        };
        if written.ok()? != size {
            return None;
        }
        Some(match (kind, base) {
            (1, _) => Entry::Whole(ObjectType::Commit, content),
            (2, _) => Entry::Whole(ObjectType::Tree, content),
            (3, _) => Entry::Whole(ObjectType::Blob, content),
            (_, Some(base)) => Entry::Delta(base, content),
            _ => return None,
        })
    }

    /// What is in a pack from a place on, as far as it was read.
    fn window(&mut self, file: &Pack, pack: usize, at: u64) -> Option<&[u8]> {
        let key = (pack, at / WINDOW);
        if !self.windows.contains_key(&key) {
            if self.windows.len() >= WINDOWS {
                self.windows.clear();
            }
            let start = key.1 * WINDOW;
            let mut bytes = vec![0; usize::try_from(WINDOW.min(file.length.checked_sub(start)?)).ok()?];
            file.file.read_exact_at(&mut bytes, start).ok()?;
            self.windows.insert(key, bytes);
        }
        self.windows.get(&key)?.get(usize::try_from(at % WINDOW).ok()?..)
    }

    fn window_and_inflater(&mut self, pack: usize, at: u64) -> Option<(&[u8], &mut Decompressor)> {
        let window = self.windows.get(&(pack, at / WINDOW))?;
        Some((window.get(usize::try_from(at % WINDOW).ok()?..)?, &mut self.inflater))
    }
}

/// What a delta makes of its base; `None` if it is none of this base.
fn apply(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = delta.iter();
    let mut size = || -> Option<usize> {
        let (mut size, mut shift) = (0, 0);
        loop {
            let byte = *bytes.next()?;
            size |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(size);
            }
        }
    };
    let (before, after) = (size()?, size()?);
    if before != base.len() || after > LARGEST {
        return None;
    }
    let mut made = Vec::with_capacity(after);
    while let Some(&order) = bytes.next() {
        if order & 0x80 == 0 {
            let (new, rest) = bytes.as_slice().split_at_checked(usize::from(order))?;
            made.extend_from_slice(new);
            bytes = rest.iter();
        } else {
            let mut part = |bits: std::ops::Range<u8>| -> Option<usize> {
                let mut value = 0;
                for (place, bit) in bits.enumerate() {
                    if order & 1 << bit != 0 {
                        value |= usize::from(*bytes.next()?) << (8 * place);
                    }
                }
                Some(value)
            };
            let (from, length) = (part(0..4)?, part(4..7)?);
            let length = if length == 0 { 0x10000 } else { length };
            made.extend_from_slice(base.get(from..from.checked_add(length)?)?);
        }
        if made.len() > after {
            return None;
        }
    }
    (made.len() == after).then_some(made)
}

#[cfg(test)]
mod tests {
    use super::apply;

    #[test]
    fn a_delta_copies_and_adds_and_must_fit_its_base() {
        let delta = [5, 7, 0b1001_0001, 1, 3, 4, b'w', b'x', b'y', b'z'];
        assert_eq!(apply(b"abcde", &delta).as_deref(), Some(&b"bcdwxyz"[..]));
        assert_eq!(apply(b"abcd", &delta), None, "another base");
        assert_eq!(apply(b"abcde", &delta[..9]), None, "cut off");
        assert_eq!(apply(b"abcde", &[5, 3, 0b1001_0001, 3, 3]), None, "beyond the base");
        assert_eq!(apply(b"abcde", &[5, 2, 0b1001_0001, 1, 3]), None, "more than it says");
    }
}
