//! Packs, read here where many objects are wanted: libgit2 reads one at a time behind a lock that all threads share, and
//! goes through a chain of deltas anew for each. On 100,000 commits that took eighteen times as long as `git log --notes`.
//!
//! What this cannot read is no answer, and left to libgit2: it has the words for what is wrong. Nothing here checks what
//! an object's id says; whoever asks hashes it.

use std::collections::HashMap;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use git2::ObjectType;
use libdeflater::Decompressor;

use super::index::{Pack, Packs, Place};
use super::recent::Recent;
use crate::proof::digest::ObjectId;

/// Largest object that is read here, and most bytes of deltas that lead to one.
const LARGEST: usize = 16 << 20;
/// Longest chain of deltas; git makes them of 50.
const DEEPEST: usize = 4096;
/// A pack is read in windows that begin at multiples of this, and are twice as long: most objects that begin in the first
/// half are whole.
const WINDOW: u64 = 4 << 10;
/// Windows that are kept: commits, trees, notes and files are each in a place of their own.
const WINDOWS: u64 = 64;
/// Bytes of objects that are kept because others may be deltas of them.
const KEPT: usize = 8 << 20;

/// Reads objects from packs, for one thread.
pub(super) struct Reader {
    packs: Arc<Packs>,
    inflater: Decompressor,
    /// Each in the place that its number gives it, so that none is looked for.
    windows: Vec<Window>,
    /// Of what objects are deltas, as far as it was asked for.
    families: HashMap<Place, Family>,
    /// Objects that others may be deltas of.
    kept: Recent<Place, Object>,
}

/// A part of a pack.
#[derive(Default)]
struct Window {
    /// Which pack, and which part of it; `None` where nothing was read yet.
    of: Option<(usize, u64)>,
    bytes: Vec<u8>,
}

/// Which object a chain of deltas begins with, and how far from it an object is: in this order, each comes soon after the
/// one that it is a delta of.
pub(crate) type Family = (Place, u32);

/// What an object is, and its content.
type Object = (ObjectType, Arc<Vec<u8>>);

/// How an object stands in a pack.
enum Form {
    Whole(ObjectType),
    /// As what is to be done to the one at this place.
    Delta(u64),
    /// As something that git does not know.
    Unknown,
}

/// What comes before an object's bytes.
struct Head {
    form: Form,
    /// Of what is packed.
    size: usize,
    /// How long the head itself is.
    length: usize,
}

impl Reader {
    pub(super) fn new(packs: Arc<Packs>) -> Self {
        let windows = (0..WINDOWS).map(|_| Window::default()).collect();
        let inflater = Decompressor::new();
        Self { packs, inflater, windows, families: HashMap::new(), kept: Recent::new(KEPT) }
    }

    pub(super) fn packs(&self) -> &Arc<Packs> {
        &self.packs
    }

    /// An object that is as it should be: of the packs that have it, one may be damaged.
    pub(super) fn read(&mut self, id: &ObjectId, is_good: impl Fn(&Object) -> bool) -> Option<Object> {
        let packs = Arc::clone(&self.packs);
        packs.all(id).find_map(|place| self.read_at(place).filter(&is_good))
    }

    /// An object of which nothing has been checked.
    fn read_at(&mut self, (pack, mut at): Place) -> Option<Object> {
        let mut deltas: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut bytes = 0;
        let (kind, mut content) = loop {
            if let Some(kept) = self.kept.get(&(pack, at), |(_, content)| content.len()) {
                break kept;
            }
            let head = self.head(pack, at)?;
            let content = self.inflate(pack, at, &head)?;
            match head.form {
                Form::Whole(kind) => {
                    let content = Arc::new(content);
                    // Git makes no deltas of commits to speak of, and nobody would make one of a few bytes.
                    if kind != ObjectType::Commit && content.len() >= 50 {
                        self.keep((pack, at), &(kind, Arc::clone(&content)));
                    }
                    break (kind, content);
                }
                Form::Delta(base) => {
                    bytes += content.len();
                    if bytes > LARGEST || deltas.len() > DEEPEST {
                        return None;
                    }
                    deltas.push((at, content));
                    at = base;
                }
                Form::Unknown => return None,
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

    /// The family of an object; itself where it is a delta of none, or cannot be told.
    pub(super) fn family(&mut self, place: Place) -> Family {
        let mut chain = Vec::new();
        let mut at = place;
        let (first, mut depth) = loop {
            if let Some(known) = self.families.get(&at) {
                break *known;
            }
            chain.push(at);
            match self.head(at.0, at.1) {
                Some(Head { form: Form::Delta(base), .. }) if chain.len() <= DEEPEST => at.1 = base,
                _ => {
                    self.families.insert(at, (at, 0));
                    chain.pop();
                    break (at, 0);
                }
            }
        };
        for place in chain.into_iter().rev() {
            depth += 1;
            self.families.insert(place, (first, depth));
        }
        (first, depth)
    }

    /// What is wrong with an object so that libgit2 must not be asked for it. Two objects that are deltas of each other it
    /// would follow for ever; at one that is nothing git knows, or beyond the end of the pack, the program would end.
    pub(super) fn trap(&mut self, id: &ObjectId) -> Option<&'static str> {
        let packs = Arc::clone(&self.packs);
        packs.all(id).find_map(|(pack, mut at)| {
            for _ in 0..=DEEPEST {
                match self.head(pack, at).map(|head| head.form) {
                    Some(Form::Whole(_)) => return None,
                    Some(Form::Delta(base)) => at = base,
                    Some(Form::Unknown) | None => return Some("there is no object where the index of a pack has it"),
                }
            }
            Some("what it is a delta of has no end")
        })
    }

    /// Forgets the families, of which there may be many.
    pub(super) fn forget_families(&mut self) {
        self.families = HashMap::new();
    }

    fn head(&mut self, pack: usize, at: u64) -> Option<Head> {
        let packs = Arc::clone(&self.packs);
        let file = packs.get(pack)?;
        let window = self.window(file, pack, at)?;
        let mut bytes = window.iter();
        let mut byte = *bytes.next()?;
        let kind = byte >> 4 & 7;
        let (mut size, mut shift) = (usize::from(byte & 15), 4);
        while byte & 0x80 != 0 {
            byte = *bytes.next()?;
            size |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
        }
        if shift > 32 {
            size = usize::MAX;
        }
        let form = match kind {
            1 => Form::Whole(ObjectType::Commit),
            2 => Form::Whole(ObjectType::Tree),
            3 => Form::Whole(ObjectType::Blob),
            4 => Form::Whole(ObjectType::Tag),
            6 => {
                byte = *bytes.next()?;
                let mut back = u64::from(byte & 0x7f);
                while byte & 0x80 != 0 {
                    byte = *bytes.next()?;
                    back = back.checked_add(1)?.checked_mul(0x80)? | u64::from(byte & 0x7f);
                }
                Form::Delta(at.checked_sub(back).filter(|base| *base < at)?)
            }
            7 => {
                let (base, rest) = bytes.as_slice().split_at_checked(file.id_length)?;
                bytes = rest.iter();
                Form::Delta(file.find(base)?)
            }
            _ => Form::Unknown,
        };
        Some(Head { form, size, length: window.len() - bytes.len() })
    }

    /// What is packed at a place.
    fn inflate(&mut self, pack: usize, at: u64, head: &Head) -> Option<Vec<u8>> {
        if head.size > LARGEST {
            return None;
        }
        // No stream that git writes is longer than this; one that is will not end in time, and is left to libgit2.
        let longest = head.size + head.size / 512 + 64;
        let mut content = vec![0; head.size];
        let window = self.windows.get(slot(pack, at)).filter(|window| window.of == Some((pack, at / WINDOW)))?;
        let here = window.bytes.get(usize::try_from(at % WINDOW).ok()? + head.length..)?;
        let written = if here.len() >= longest {
            self.inflater.zlib_decompress(&here[..longest], &mut content)
        } else {
            let file = self.packs.get(pack)?;
            let start = at + head.length as u64;
            let length = (longest as u64).min(file.length.checked_sub(start)?);
            let mut packed = vec![0; usize::try_from(length).ok()?];
            file.file.read_exact_at(&mut packed, start).ok()?;
            self.inflater.zlib_decompress(&packed, &mut content)
        };
        (written.ok()? == head.size).then_some(content)
    }

    /// What is in a pack from a place on, as far as it was read.
    fn window(&mut self, file: &Pack, pack: usize, at: u64) -> Option<&[u8]> {
        let window = self.windows.get_mut(slot(pack, at))?;
        let of = (pack, at / WINDOW);
        if window.of != Some(of) {
            window.of = None;
            let start = of.1 * WINDOW;
            let length = (2 * WINDOW).min(file.length.checked_sub(start)?);
            window.bytes.resize(usize::try_from(length).ok()?, 0);
            file.file.read_exact_at(&mut window.bytes, start).ok()?;
            window.of = Some(of);
        }
        window.bytes.get(usize::try_from(at % WINDOW).ok()?..)
    }
}

/// The place of a window.
fn slot(pack: usize, at: u64) -> usize {
    ((at / WINDOW).wrapping_add(pack as u64) % WINDOWS) as usize
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
        if order == 0 {
            return None;
        } else if order & 0x80 == 0 {
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
