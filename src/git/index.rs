//! The indexes of packs: which objects there are, and where. Threads share them.
//!
//! A lookup reads only the parts of an index that it needs, because someone else can make an index as large as they
//! like.

use std::cmp::{Ordering, Reverse};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::limits::{INDEX_CACHE, MAX_PACKS, OPEN_PACKS};
use crate::access::read_exact_at;
use crate::context::open_regular;
use crate::proof::digest::ObjectId;

/// Steps of a search that guess where an id is, before the rest is halved: three are enough for nearly all.
const GUESSES: usize = 6;
/// The first bytes of version 2 of an index. Version 1 begins with its counts.
const MARK: &[u8; 8] = b"\xfftOc\0\0\0\x02";
/// Bytes of the 256 counts of an index: how many ids begin with this byte or a lesser one.
const COUNTS: usize = 256 * 4;
/// A directory that changed so recently may change again without another time.
const RECENT: Duration = Duration::from_millis(100);

/// The place of an object: the number of the pack, and the offset in it.
pub(crate) type Place = (usize, u64);

/// The packs of a repository, with their indexes. Threads share it.
#[allow(clippy::struct_field_names)] // the packs of the packs
#[derive(Debug)]
pub(crate) struct Packs {
    packs: Vec<Pack>,
    /// The directories that were listed, and when each had last changed.
    folders: Vec<(PathBuf, Option<SystemTime>)>,
    /// Whether indexes are kept in memory.
    pub(super) many: bool,
    /// Whether there are more packs than are searched.
    pub(super) too_many: bool,
}

#[derive(Debug)]
pub(super) struct Pack {
    /// The file of the index.
    name: PathBuf,
    counts: Vec<u8>,
    layout: Layout,
    /// Bytes of an id.
    pub(super) id_length: usize,
    /// The whole index, where many objects are looked up and it is not too large.
    known: Option<Vec<u8>>,
    /// The index and the pack, for the packs that are kept open.
    open: Option<(Arc<File>, Arc<File>)>,
    /// Bytes of the pack.
    pub(super) length: u64,
}

/// How an index is laid out after its counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// A place of four bytes and the id, for each object.
    Version1,
    /// The ids, their checksums, their places, and the places beyond 2 GiB.
    Version2,
}

impl Packs {
    /// Opens the packs in some object directories; those that cannot be read are left out. With `many`, indexes are kept in
    /// memory.
    pub(super) fn open(directories: &[PathBuf], id_length: usize, many: bool) -> Self {
        let mut folders = Vec::new();
        let mut indexes: Vec<(Reverse<u64>, PathBuf)> = Vec::new();
        for directory in directories {
            let folder = directory.join("pack");
            let changed = changed(&folder);
            // One that changes while it is listed seems to have changed long before, so that it is listed again.
            folders.push((folder.clone(), changed.filter(|time| time.elapsed().is_ok_and(|past| past > RECENT))));
            let Ok(files) = fs::read_dir(folder) else { continue };
            let names = files.filter_map(|file| Some(file.ok()?.path()));
            let names = names.filter(|name| name.extension().is_some_and(|extension| extension == "idx"));
            indexes.extend(names.filter_map(|name| Some((Reverse(size(&name.with_extension("pack"))?), name))));
        }
        indexes.sort();
        let too_many = indexes.len() > MAX_PACKS;
        indexes.truncate(MAX_PACKS);
        let mut room = if many { INDEX_CACHE } else { 0 };
        let mut packs: Vec<Pack> = Vec::with_capacity(indexes.len());
        for (Reverse(length), name) in indexes {
            let keep_open = packs.len() < OPEN_PACKS;
            packs.extend(Pack::open(name, length, id_length, keep_open, &mut room));
        }
        Self { packs, folders, many, too_many }
    }

    /// Whether packs may have come or gone since they were listed.
    pub(super) fn are_stale(&self) -> bool {
        self.folders.iter().any(|(folder, before)| changed(folder).is_some_and(|now| *before != Some(now)))
    }

    pub(super) fn get(&self, pack: usize) -> Option<&Pack> {
        self.packs.get(pack)
    }

    pub(super) fn len(&self) -> usize {
        self.packs.len()
    }

    /// Where an object is.
    pub(super) fn find(&self, id: &ObjectId) -> Option<Place> {
        self.all(id).next()
    }

    /// All places where it is.
    pub(super) fn all(&self, id: &ObjectId) -> impl Iterator<Item = Place> {
        self.packs.iter().enumerate().filter_map(|(number, pack)| Some((number, pack.find(id.as_bytes())?)))
    }
}

impl Pack {
    /// Opens a pack by its index; `None` if that is none. `room` is what may still be kept of indexes in memory.
    fn open(name: PathBuf, length: u64, id_length: usize, keep_open: bool, room: &mut u64) -> Option<Self> {
        let index = open_regular(&name).ok()?;
        let size = index.metadata().ok()?.len();
        let mut mark = [0; MARK.len()];
        read_exact_at(&index, &mut mark, 0).ok()?;
        let layout = match &mark {
            MARK => Layout::Version2,
            // Of another version, which begins alike.
            [0xff, b't', b'O', b'c', ..] => return None,
            _ => Layout::Version1,
        };
        let mut counts = vec![0; COUNTS];
        read_exact_at(&index, &mut counts, layout.counts()).ok()?;
        let count = u64::from(number(&counts, COUNTS - 4)?);
        let least = layout.ids() + count * layout.bytes_each(id_length) + 2 * id_length as u64;
        if size < least {
            return None;
        }
        // Each place may be beyond 2 GiB, and then takes eight bytes more.
        let known = if size <= *room && size <= least + count * 8 {
            let mut known = vec![0; usize::try_from(size).ok()?];
            read_exact_at(&index, &mut known, 0).ok()?;
            *room -= size;
            Some(known)
        } else {
            None
        };
        let pack = open_regular(&name.with_extension("pack")).ok()?;
        let open = keep_open.then(|| (Arc::new(index), Arc::new(pack)));
        Some(Self { name, counts, layout, id_length, known, open, length })
    }

    /// The file of the pack, kept open or opened for one use.
    pub(super) fn file(&self) -> io::Result<Arc<File>> {
        match &self.open {
            Some((_, pack)) => Ok(Arc::clone(pack)),
            None => open_regular(&self.path()).map(Arc::new),
        }
    }

    /// Where the file of the pack is.
    pub(super) fn path(&self) -> PathBuf {
        self.name.with_extension("pack")
    }

    /// Whether git keeps it for objects that nothing leads to any more.
    pub(super) fn is_cruft(&self) -> bool {
        self.name.with_extension("mtimes").exists()
    }

    /// Where an object is in this pack.
    pub(super) fn find(&self, id: &[u8]) -> Option<u64> {
        if id.len() != self.id_length {
            return None;
        }
        let count = number(&self.counts, COUNTS - 4)?;
        let until = |first: usize| Some(number(&self.counts, first * 4)?.min(count));
        let first = usize::from(id[0]);
        let (low, high) = (if first == 0 { 0 } else { until(first - 1)? }, until(first)?);
        if low >= high {
            return None;
        }
        let file = match (&self.known, &self.open) {
            (Some(known), _) => Source::Known(known),
            (None, Some((index, _))) => Source::File(Arc::clone(index)),
            (None, None) => Source::File(Arc::new(open_regular(&self.name).ok()?)),
        };
        self.search(id, u64::from(low), u64::from(high), &file)
    }

    /// Looks for an id among those from number `low` to below `high`.
    fn search(&self, id: &[u8], mut low: u64, mut high: u64, index: &Source<'_>) -> Option<u64> {
        // Ids are spread evenly, so the next four bytes tell about where to look; where they do not, halving does.
        let (mut least, mut most) = (0, 1 << 32);
        let wanted = u64::from(number(id, 1)?);
        let mut buffer = [0; 32];
        let buffer = buffer.get_mut(..self.id_length)?;
        for step in 0.. {
            if low >= high {
                break;
            }
            let middle = if step < GUESSES && (least..most).contains(&wanted) {
                low + (wanted - least) * (high - low) / (most - least)
            } else {
                u64::midpoint(low, high)
            };
            let name = index.read(self.id_at(middle), buffer)?;
            match name.cmp(id) {
                Ordering::Less => (low, least) = (middle + 1, u64::from(number(name, 1)?)),
                Ordering::Greater => (high, most) = (middle, u64::from(number(name, 1)?)),
                Ordering::Equal => return self.place(middle, index),
            }
        }
        None
    }

    /// Where the id of a number is in the index.
    fn id_at(&self, at: u64) -> u64 {
        let length = self.id_length as u64;
        match self.layout {
            Layout::Version1 => COUNTS as u64 + at * (4 + length) + 4,
            Layout::Version2 => self.layout.ids() + at * length,
        }
    }

    /// Where the object of a number is in the pack.
    fn place(&self, at: u64, index: &Source<'_>) -> Option<u64> {
        const FAR: u32 = 1 << 31;
        let count = u64::from(number(&self.counts, COUNTS - 4)?);
        let places = self.layout.ids() + count * (self.id_length as u64 + 4);
        let (from, may_be_far) = match self.layout {
            Layout::Version1 => (self.id_at(at) - 4, false),
            Layout::Version2 => (places + at * 4, true),
        };
        let near = number(index.read(from, &mut [0; 4])?, 0)?;
        if near < FAR || !may_be_far {
            return Some(u64::from(near));
        }
        let far = places + count * 4 + u64::from(near - FAR) * 8;
        Some(u64::from_be_bytes(index.read(far, &mut [0; 8])?.try_into().ok()?))
    }
}

impl Layout {
    /// Where the counts begin.
    fn counts(self) -> u64 {
        match self {
            Self::Version1 => 0,
            Self::Version2 => MARK.len() as u64,
        }
    }

    /// Where the counts end.
    fn ids(self) -> u64 {
        self.counts() + COUNTS as u64
    }

    /// Least bytes that an object takes.
    fn bytes_each(self, id_length: usize) -> u64 {
        id_length as u64
            + match self {
                Self::Version1 => 4,
                Self::Version2 => 8,
            }
    }
}

/// Where the bytes of an index come from.
enum Source<'a> {
    Known(&'a [u8]),
    File(Arc<File>),
}

impl Source<'_> {
    /// The bytes at a place, as many as `buffer` has room for. They are read into it unless they are at hand.
    fn read<'b>(&'b self, at: u64, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        match self {
            Self::Known(known) => {
                let at = usize::try_from(at).ok()?;
                known.get(at..at.checked_add(buffer.len())?)
            }
            Self::File(file) => {
                read_exact_at(file, buffer, at).ok()?;
                Some(buffer)
            }
        }
    }
}

/// How large a regular file is; `None` for anything else.
fn size(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|found| found.len())
}

/// When something in a directory was last added or taken away.
fn changed(folder: &Path) -> Option<SystemTime> {
    fs::metadata(folder).and_then(|found| found.modified()).ok()
}

/// A number of four bytes.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use std::fs::{self, File};

    use super::{Layout, Pack};

    /// An index of these ids, each at the place that its number gives it.
    fn index(ids: &[[u8; 20]], layout: Layout) -> Vec<u8> {
        let mut bytes = if layout == Layout::Version2 { b"\xfftOc\0\0\0\x02".to_vec() } else { Vec::new() };
        for first in 0..=255u8 {
            let until = ids.iter().filter(|id| id[0] <= first).count();
            bytes.extend(u32::try_from(until).unwrap().to_be_bytes());
        }
        let places = (0..u32::try_from(ids.len()).unwrap()).map(u32::to_be_bytes);
        if layout == Layout::Version1 {
            bytes.extend(places.zip(ids).flat_map(|(place, id)| [&place[..], id].concat()));
        } else {
            bytes.extend(ids.concat());
            bytes.extend(vec![0; ids.len() * 4]);
            bytes.extend(places.flatten());
        }
        bytes.extend([0; 40]);
        bytes
    }

    #[test]
    fn every_id_is_found_however_unevenly_they_are_spread() {
        let id = |first: u8, next: u32, last: u8| {
            let mut id = [0; 20];
            id[0] = first;
            id[1..5].copy_from_slice(&next.to_be_bytes());
            id[19] = last;
            id
        };
        let even = (0..2000u32).map(|number| id(7, number.wrapping_mul(2_654_435_769), 1));
        let crowded = (0..2000u32).map(|number| id(9, number / 500, u8::try_from(number % 250).unwrap()));
        let ends = [0, 1, u32::MAX - 1, u32::MAX].into_iter().flat_map(|next| [id(0, next, 3), id(255, next, 3)]);
        let mut ids: Vec<[u8; 20]> = even.chain(crowded).chain(ends).collect();
        ids.sort_unstable();
        ids.dedup();
        let directory = tempfile::tempdir().unwrap();
        let name = directory.path().join("pack-1.idx");
        File::create(name.with_extension("pack")).unwrap();
        for layout in [Layout::Version1, Layout::Version2] {
            fs::write(&name, index(&ids, layout)).unwrap();
            for (keep_open, mut room) in [(true, 1 << 20), (true, 0), (false, 0)] {
                let pack = Pack::open(name.clone(), 0, 20, keep_open, &mut room).unwrap();
                assert_eq!(pack.layout, layout);
                for (place, known) in ids.iter().enumerate() {
                    assert_eq!(pack.find(known), Some(place as u64), "{known:?}");
                    let mut unknown = *known;
                    unknown[10] = 1;
                    assert_eq!(pack.find(&unknown), None, "{unknown:?}");
                }
                assert_eq!(pack.find(&[8; 20]), None, "nothing begins like it");
            }
        }
    }
}
