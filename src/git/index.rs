//! The indexes of packs: which objects there are, and where. Threads share them.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::proof::digest::ObjectId;

/// Most packs that are read here, each of which needs two open files; git begins to gather them when there are 50.
const MOST: usize = 48;
/// How often an index is looked up where an id should be, before the rest is halved: three are enough for nearly all.
const GUESSES: usize = 6;
/// Largest index of which all is kept, and largest part of one that is looked through.
const LARGEST_INDEX: u64 = 1 << 30;
const LARGEST_PART: usize = 64 << 20;

/// Where an object is: which pack, and where in it.
pub(crate) type Place = (usize, u64);

/// The packs of a repository, with their indexes. Threads share it.
#[derive(Debug, Default)]
pub(crate) struct Packs {
    packs: Vec<Pack>,
}

/// A pack and its index.
#[derive(Debug)]
pub(super) struct Pack {
    /// The index, version 2: 256 counts, the sorted ids, their checksums, their places, and the places beyond 2 GiB. All of
    /// it where many objects are to be read, else only the counts: it may be much larger than what is asked for.
    known: Vec<u8>,
    /// Where the rest of it is.
    index: Option<File>,
    count: usize,
    /// Bytes of an id.
    pub(super) id_length: usize,
    /// The pack itself, and how long it is.
    pub(super) file: File,
    pub(super) length: u64,
}

impl Packs {
    /// Opens the packs in some object directories, the largest if there are very many; those that cannot be read are left
    /// out.
    pub(super) fn open(directories: &[PathBuf], id_length: usize, many: bool) -> Self {
        let mut indexes: Vec<(Reverse<u64>, PathBuf)> = Vec::new();
        for directory in directories {
            let Ok(files) = fs::read_dir(directory.join("pack")) else { continue };
            let names = files.filter_map(|file| Some(file.ok()?.path()));
            let names = names.filter(|name| name.extension().is_some_and(|extension| extension == "idx"));
            indexes.extend(names.filter_map(|name| Some((Reverse(size(&name.with_extension("pack"))?), name))));
        }
        indexes.sort();
        indexes.dedup();
        let packs = indexes.iter().filter_map(|(_, name)| Pack::open(name, id_length, many)).take(MOST).collect();
        Self { packs }
    }

    /// The pack of a number.
    pub(super) fn get(&self, pack: usize) -> Option<&Pack> {
        self.packs.get(pack)
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
    fn open(name: &Path, id_length: usize, many: bool) -> Option<Self> {
        let pack = name.with_extension("pack");
        let (length, size) = (size(&pack)?, size(name)?);
        let (index, file) = (File::open(name).ok()?, File::open(pack).ok()?);
        let all = many && size <= LARGEST_INDEX;
        let mut known = vec![0; if all { usize::try_from(size).ok()? } else { COUNTS }];
        index.read_exact_at(&mut known, 0).ok()?;
        let count = number(&known, COUNTS - 4)?;
        let whole = COUNTS + count.checked_mul(id_length + 8)? + 2 * id_length;
        let is_index = known.starts_with(b"\xfftOc\0\0\0\x02") && size >= whole as u64;
        let index = (!all).then_some(index);
        is_index.then_some(Self { known, index, count, id_length, file, length })
    }

    /// Bytes of the index.
    fn index(&self, at: usize, length: usize) -> Option<Cow<'_, [u8]>> {
        if let Some(known) = self.known.get(at..at.checked_add(length)?) {
            return Some(Cow::Borrowed(known));
        }
        let index = self.index.as_ref().filter(|_| length <= LARGEST_PART)?;
        let mut bytes = vec![0; length];
        index.read_exact_at(&mut bytes, at as u64).ok()?;
        Some(Cow::Owned(bytes))
    }

    /// Where an object is in this pack.
    pub(super) fn find(&self, id: &[u8]) -> Option<u64> {
        if id.len() != self.id_length {
            return None;
        }
        let until = |first: usize| Some(number(&self.known, 8 + first * 4)?.min(self.count));
        let first = usize::from(id[0]);
        let (mut low, mut high) = (if first == 0 { 0 } else { until(first - 1)? }, until(first)?);
        // Ids are spread evenly, so the next four bytes tell about where to look; where they do not, halving does.
        let (mut least, mut most) = (0, 1 << 32);
        let wanted = number(id, 1)?;
        for step in 0.. {
            if low >= high {
                break;
            }
            let middle = if step < GUESSES && (least..most).contains(&wanted) {
                low + (wanted - least) * (high - low) / (most - least)
            } else {
                usize::midpoint(low, high)
            };
            let name = self.index(COUNTS + middle * self.id_length, self.id_length)?;
            match name.as_ref().cmp(id) {
                Ordering::Less => (low, least) = (middle + 1, number(&name, 1)?),
                Ordering::Greater => (high, most) = (middle, number(&name, 1)?),
                Ordering::Equal => return self.place(middle),
            }
        }
        None
    }

    fn place(&self, at: usize) -> Option<u64> {
        const FAR: usize = 1 << 31;
        let places = COUNTS + self.count * (self.id_length + 4);
        let place = number(&self.index(places + at * 4, 4)?, 0)?;
        if place < FAR {
            return Some(place as u64);
        }
        let far = self.index(places + self.count * 4 + (place - FAR) * 8, 8)?;
        Some(u64::from_be_bytes(far.as_ref().try_into().ok()?))
    }
}

/// How large a plain file is; `None` for anything else, such as a pipe, which would be waited for.
fn size(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|found| found.len())
}

/// Where the ids begin in an index: after its mark and its 256 counts.
const COUNTS: usize = 8 + 256 * 4;

/// A number of four bytes.
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use std::fs::{self, File};

    use super::{COUNTS, Pack};

    /// An index of these ids, each at the place that its number gives it.
    fn index(ids: &[[u8; 20]]) -> Vec<u8> {
        let mut bytes = b"\xfftOc\0\0\0\x02".to_vec();
        for first in 0..=255u8 {
            let until = ids.iter().filter(|id| id[0] <= first).count();
            bytes.extend(u32::try_from(until).unwrap().to_be_bytes());
        }
        assert_eq!(bytes.len(), COUNTS);
        bytes.extend(ids.concat());
        bytes.extend(vec![0; ids.len() * 4]);
        bytes.extend((0..u32::try_from(ids.len()).unwrap()).flat_map(u32::to_be_bytes));
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
        fs::write(&name, index(&ids)).unwrap();
        File::create(name.with_extension("pack")).unwrap();
        for many in [true, false] {
            let pack = Pack::open(&name, 20, many).unwrap();
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
