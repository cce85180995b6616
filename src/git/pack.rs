//! Packs: objects are read here and not by libgit2, which reads one at a time behind a lock that all threads share, follows
//! deltas of each other for ever, and reads an object of any size.
//!
//! Sizes are checked before anything is inflated. The ids of objects are not checked here; the caller hashes the
//! content.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use flate2::bufread::ZlibDecoder;
use git2::ObjectType;
use libdeflater::Decompressor;

use super::cache::Cache;
use super::index::{Pack, Packs, Place};
use super::limits::{CHAIN_FACTOR, CHAIN_LEAST, MAX_BASE, MAX_DELTAS, Meter, cost};
use crate::access::{read_at, read_exact_at};

/// A pack is read in windows that begin at multiples of this, and are twice as long: most objects that begin in the first
/// half are whole.
const WINDOW: u64 = 4 << 10;
/// Windows that are kept: commits, trees, notes and files are each in a place of their own.
const WINDOWS: u64 = 64;
/// Bytes of objects that are kept because others may be deltas of them.
const KEPT: usize = 4 << 20;
/// Bytes of deltas that are kept inflated on the way down a chain. Beyond that, each is inflated when it is applied.
const HELD: usize = 4 << 20;
/// Up to this size a stream is inflated in one piece, which is faster; a larger one piece by piece, which takes less memory.
const ONE_PIECE: usize = 1 << 20;

/// Reads objects from packs, for one thread.
pub(super) struct Reader {
    packs: Arc<Packs>,
    inflater: Decompressor,
    /// Each in the place that its number gives it, so that none is looked for.
    windows: Vec<Window>,
    /// Of what objects are deltas, as far as it was asked for.
    families: HashMap<Place, Family>,
    /// Objects that others may be deltas of.
    kept: Cache<Place, Object>,
}

/// A part of a pack.
#[derive(Default)]
struct Window {
    /// Which pack, and which part of it; `None` where nothing was read yet.
    of: Option<(usize, u64)>,
    bytes: Vec<u8>,
}

/// The object that a chain of deltas begins with, and the distance from it. Sorted by this, each object comes soon
/// after the one that it is a delta of.
pub(crate) type Family = (Place, u32);

/// The kind of an object, and its content.
type Object = (ObjectType, Arc<Vec<u8>>);

/// Why a copy of an object cannot be used.
#[derive(Debug)]
pub(super) enum Fault {
    /// It is not what git writes, or not what was asked for.
    Damaged(String),
    /// Reading it takes more than it may.
    Limit(String),
}

impl Fault {
    pub(super) fn damaged(why: impl Into<String>) -> Self {
        Self::Damaged(why.into())
    }
}

/// How an object stands in a pack.
#[derive(Clone, Copy)]
enum Form {
    Whole(ObjectType),
    /// As what is to be done to the one at this place.
    Delta(u64),
}

/// The header before an object's bytes.
#[derive(Clone, Copy)]
struct Head {
    form: Form,
    /// Of what is packed.
    size: u64,
    /// How long the head itself is.
    length: usize,
}

/// A delta on the way down to an object that is whole.
struct Step {
    at: u64,
    head: Head,
    /// The delta, if it is inflated already.
    delta: Option<Vec<u8>>,
}

impl Reader {
    pub(super) fn new(packs: Arc<Packs>) -> Self {
        let windows = (0..WINDOWS).map(|_| Window::default()).collect();
        let inflater = Decompressor::new();
        Self { packs, inflater, windows, families: HashMap::new(), kept: Cache::new(KEPT) }
    }

    pub(super) fn packs(&self) -> &Arc<Packs> {
        &self.packs
    }

    /// Reads an object of this kind that has at most `limit` bytes.
    pub(super) fn read(
        &mut self,
        (pack, at): Place,
        wanted: ObjectType,
        limit: usize,
        meter: &Meter,
    ) -> Result<Arc<Vec<u8>>, Fault> {
        let mut held = 0;
        let mut steps: Vec<Step> = Vec::new();
        let mut base = at;
        // Down to an object that is whole, or at hand.
        let (kind, known) = loop {
            if let Some((kind, content)) = self.kept.get(&(pack, base), |(_, content)| content.len()) {
                break (kind, Ok(content));
            }
            let head = self.head(pack, base).ok_or_else(no_object)?;
            let next = match head.form {
                Form::Whole(kind) => break (kind, Err(head)),
                Form::Delta(next) => next,
            };
            if steps.len() == MAX_DELTAS {
                if steps.iter().any(|step| step.at == base) {
                    return Err(Fault::damaged("it is a delta of itself"));
                }
                return Err(Fault::Limit(format!(
                    "a chain of deltas is followed for {MAX_DELTAS} steps, and this one is longer"
                )));
            }
            let mut step = Step { at: base, head, delta: None };
            if steps.is_empty() {
                within(self.size_after(pack, &mut step)?, limit)?;
            } else if head.size <= (HELD - held) as u64 {
                step.delta = Some(self.inflate(pack, base, &head)?);
            }
            held += step.delta.as_ref().map_or(0, Vec::len);
            steps.push(step);
            base = next;
        };
        if kind != wanted {
            return Err(Fault::Damaged(format!("it is a {kind}, not a {wanted}")));
        }
        let largest = if steps.is_empty() { limit } else { limit.max(MAX_BASE) };
        let mut content = match known {
            Ok(content) => {
                within(content.len() as u64, largest)?;
                content
            }
            Err(head) => {
                within(head.size, largest)?;
                meter.spend(head.size + cost::STREAM).map_err(Fault::Limit)?;
                let content = Arc::new(self.inflate(pack, base, &head)?);
                // Git makes no deltas of commits to speak of, and nobody would make one of a few bytes.
                if kind != ObjectType::Commit && content.len() >= 50 {
                    self.keep((pack, base), kind, &content);
                }
                content
            }
        };
        // Room of the object before, which is used again.
        let mut spare = Vec::new();
        let mut left = (limit as u64).max(CHAIN_LEAST) * CHAIN_FACTOR;
        for Step { at, head, delta } in steps.into_iter().rev() {
            meter.spend(head.size + cost::STREAM).map_err(Fault::Limit)?;
            let delta = match delta {
                Some(delta) => delta,
                // Git makes no delta that is larger than half of what it makes.
                None => {
                    within(head.size, largest / 2)?;
                    self.inflate(pack, at, &head)?
                }
            };
            let (_, made) = sizes(&delta).ok_or_else(no_delta)?;
            within(made, largest)?;
            left = left.checked_sub(made).ok_or_else(|| {
                Fault::Limit(format!("putting it together from deltas copies more than {CHAIN_FACTOR} times its limit"))
            })?;
            meter.spend(made / cost::COPIED_PER_UNIT).map_err(Fault::Limit)?;
            apply(&content, &delta, &mut spare).ok_or_else(no_delta)?;
            let before = std::mem::replace(&mut content, Arc::new(std::mem::take(&mut spare)));
            spare = Arc::try_unwrap(before).unwrap_or_default();
            self.keep((pack, at), kind, &content);
        }
        Ok(content)
    }

    fn keep(&mut self, place: Place, kind: ObjectType, content: &Arc<Vec<u8>>) {
        self.kept.put(place, (kind, Arc::clone(content)), content.len());
    }

    /// How many bytes an object has.
    pub(super) fn size(&mut self, (pack, at): Place) -> Result<u64, Fault> {
        let head = self.head(pack, at).ok_or_else(no_object)?;
        match head.form {
            Form::Whole(_) => Ok(head.size),
            Form::Delta(_) => self.size_after(pack, &mut Step { at, head, delta: None }),
        }
    }

    /// How many bytes a delta makes; a small one is inflated on the way.
    fn size_after(&mut self, pack: usize, step: &mut Step) -> Result<u64, Fault> {
        // Two sizes of at most ten bytes.
        const SIZES: usize = 20;
        let start = if step.head.size <= ONE_PIECE as u64 {
            step.delta.insert(self.inflate(pack, step.at, &step.head)?)
        } else {
            &self.stream(pack, step.at, &step.head, SIZES)?
        };
        sizes(start).map(|(_, made)| made).ok_or_else(no_delta)
    }

    /// The first bytes of an object, up to `length`; `None` where it is a delta, which may begin anywhere.
    pub(super) fn start(&mut self, (pack, at): Place, length: usize) -> Result<Option<Vec<u8>>, Fault> {
        let head = self.head(pack, at).ok_or_else(no_object)?;
        match head.form {
            Form::Whole(_) => self.stream(pack, at, &head, length).map(Some),
            Form::Delta(_) => Ok(None),
        }
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
                Some(Head { form: Form::Delta(base), .. }) if chain.len() <= MAX_DELTAS => at.1 = base,
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
        let (mut size, mut shift) = (u64::from(byte & 15), 4);
        while byte & 0x80 != 0 {
            byte = *bytes.next()?;
            // No file is so large that more digits would count.
            size = if shift > 56 { u64::MAX } else { size | u64::from(byte & 0x7f) << shift };
            shift = (shift + 7).min(63);
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
            _ => return None,
        };
        Some(Head { form, size, length: window.len() - bytes.len() })
    }

    /// Inflates the bytes at a place. The caller has checked the size.
    fn inflate(&mut self, pack: usize, at: u64, head: &Head) -> Result<Vec<u8>, Fault> {
        let size = usize::try_from(head.size).map_err(|_| no_object())?;
        if size <= ONE_PIECE
            && let Some(content) = self.inflate_at_once(pack, at, head, size)
        {
            return Ok(content);
        }
        let content = self.stream(pack, at, head, size)?;
        if content.len() == size { Ok(content) } else { Err(Fault::damaged("there is less of it than it says")) }
    }

    fn inflate_at_once(&mut self, pack: usize, at: u64, head: &Head, size: usize) -> Option<Vec<u8>> {
        // No stream that git writes is longer than this.
        let longest = size + size / 512 + 64;
        let mut content = vec![0; size];
        let packs = Arc::clone(&self.packs);
        let file = packs.get(pack)?;
        self.window(file, pack, at)?;
        let window = self.windows.get(slot(pack, at))?;
        let here = window.bytes.get(usize::try_from(at % WINDOW).ok()? + head.length..)?;
        let written = if here.len() >= longest {
            self.inflater.zlib_decompress(&here[..longest], &mut content)
        } else {
            let start = at + head.length as u64;
            let length = (longest as u64).min(file.length.checked_sub(start)?);
            let mut packed = vec![0; usize::try_from(length).ok()?];
            read_exact_at(&*file.file().ok()?, &mut packed, start).ok()?;
            self.inflater.zlib_decompress(&packed, &mut content)
        };
        (written.ok()? == size).then_some(content)
    }

    /// The first bytes of what is packed at a place, up to `length`. One that has more than it says is damaged.
    fn stream(&self, pack: usize, at: u64, head: &Head, length: usize) -> Result<Vec<u8>, Fault> {
        let unreadable = |error: io::Error| Fault::Damaged(format!("its stream cannot be read: {error}"));
        let file = self.packs.get(pack).ok_or_else(no_object)?;
        let opened = file.file().map_err(unreadable)?;
        let packed = Packed { file: &opened, at: at + head.length as u64, left: longest(head.size) };
        let mut content = Vec::with_capacity(length.min(ONE_PIECE));
        let whole = length as u64 >= head.size;
        ZlibDecoder::new(BufReader::with_capacity(64 << 10, packed))
            .take(length as u64 + u64::from(whole))
            .read_to_end(&mut content)
            .map_err(unreadable)?;
        if content.len() as u64 > head.size {
            return Err(Fault::damaged("there is more of it than it says"));
        }
        Ok(content)
    }

    /// The bytes of a pack from a place on, as far as they were read.
    fn window(&mut self, file: &Pack, pack: usize, at: u64) -> Option<&[u8]> {
        let window = self.windows.get_mut(slot(pack, at))?;
        let of = (pack, at / WINDOW);
        if window.of != Some(of) {
            window.of = None;
            let start = of.1 * WINDOW;
            let length = (2 * WINDOW).min(file.length.checked_sub(start)?);
            window.bytes.resize(usize::try_from(length).ok()?, 0);
            read_exact_at(&*file.file().ok()?, &mut window.bytes, start).ok()?;
            window.of = Some(of);
        }
        window.bytes.get(usize::try_from(at % WINDOW).ok()?..)
    }
}

/// The place of a window.
fn slot(pack: usize, at: u64) -> usize {
    ((at / WINDOW).wrapping_add(pack as u64) % WINDOWS) as usize
}

/// Most bytes of a stream that are read for content of a size: what cannot be packed is stored with a few bytes around it,
/// and a stream may have empty parts.
pub(super) fn longest(size: u64) -> u64 {
    size.saturating_mul(2).saturating_add(64 << 10)
}

/// Refuses what has more bytes than are read.
pub(super) fn within(size: u64, limit: usize) -> Result<(), Fault> {
    if size > limit as u64 {
        return Err(Fault::Limit(format!("{size} bytes are more than the {limit} that are read")));
    }
    Ok(())
}

fn no_object() -> Fault {
    Fault::damaged("there is no object where the index of a pack has it")
}

fn no_delta() -> Fault {
    Fault::damaged("it is a delta that does not fit")
}

/// A part of a pack, as a stream.
struct Packed<'a> {
    file: &'a File,
    at: u64,
    left: u64,
}

impl Read for Packed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = into.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = read_at(self.file, &mut into[..length], self.at)?;
        self.at += read as u64;
        self.left -= read as u64;
        Ok(read)
    }
}

/// The sizes that a delta begins with: of its base, and of what it makes.
fn sizes(delta: &[u8]) -> Option<(u64, u64)> {
    let mut bytes = delta.iter();
    Some((size(&mut bytes)?, size(&mut bytes)?))
}

fn size(bytes: &mut std::slice::Iter<'_, u8>) -> Option<u64> {
    let (mut size, mut shift) = (0, 0);
    loop {
        let byte = *bytes.next()?;
        size |= u64::from(byte & 0x7f).checked_shl(shift)?;
        shift += 7;
        if byte & 0x80 == 0 {
            return Some(size);
        }
    }
}

/// Puts what a delta makes of its base into `made`; `None` if it is no delta of this base.
fn apply(base: &[u8], delta: &[u8], made: &mut Vec<u8>) -> Option<()> {
    let mut bytes = delta.iter();
    let (before, after) = (size(&mut bytes)?, usize::try_from(size(&mut bytes)?).ok()?);
    if before != base.len() as u64 {
        return None;
    }
    made.clear();
    made.reserve_exact(after);
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
    (made.len() == after).then_some(())
}

#[cfg(test)]
mod tests {
    fn apply(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
        let mut made = Vec::new();
        super::apply(base, delta, &mut made).map(|()| made)
    }

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
