//! Loose objects, read and written here and not by libgit2, which waits for ever for the rest of an object that was cut
//! off, for example by a power loss. The caller checks that the content has the right id.

use std::fs::{self, File};
use std::io::{self, BufReader, Read as _, Take, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use flate2::bufread::ZlibDecoder;
use git2::ObjectType;
use libdeflater::{CompressionLvl, Compressor};

use super::discover::Repository;
use super::limits::{MAX_ALTERNATES_DEPTH, MAX_OBJECT_DIRECTORIES};
use super::pack::longest;
use crate::access::{create_new, name_of};
use crate::context::{Context, open_regular, read_regular};
use crate::proof::digest::ObjectId;

/// Longest header of an object: a kind, a size and a NUL.
const HEADER: usize = 32;
/// Bytes that zlib adds around stored (uncompressed) bytes: its header, the head of the block, and a checksum at the
/// end.
const FRAME: usize = 2 + 5 + 4;
/// Most bytes that are stored as they are: with their frame, one block of the disk.
const SMALL: usize = 4096 - FRAME;
/// How often a folder is made that is deleted at once.
const FOLDER_TRIES: usize = 100;

/// The directories in which objects may be: those of a push that is being judged, the repository's own, and its
/// alternates, as far as git follows them.
pub(super) fn directories(place: &Repository, context: &Context) -> Vec<PathBuf> {
    let mut directories = Vec::new();
    let mut add = |directory: PathBuf| add_with_alternates(&directory, 0, &mut directories);
    if let Some(path) = context.variable("GIT_OBJECT_DIRECTORY") {
        add(context.directory.join(path));
    }
    add(place.common_dir.join("objects"));
    if let Some(list) = context.variable("GIT_ALTERNATE_OBJECT_DIRECTORIES") {
        std::env::split_paths(&list).for_each(|path| add(context.directory.join(path)));
    }
    directories
}

fn add_with_alternates(directory: &Path, depth: usize, all: &mut Vec<PathBuf>) {
    // Alternates may lead to each other.
    let Ok(directory) = fs::canonicalize(directory) else { return };
    if depth > MAX_ALTERNATES_DEPTH || all.len() >= MAX_OBJECT_DIRECTORIES || all.contains(&directory) {
        return;
    }
    all.push(directory.clone());
    let listed = read_regular(&directory.join("info/alternates")).unwrap_or_default();
    let lines = listed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    for line in lines {
        add_with_alternates(&directory.join(name_of(line)), depth + 1, all);
    }
}

/// Tells a gc that runs beside us that a file with objects is wanted. `false` if it may not be told.
pub(super) fn freshen(path: &Path) -> bool {
    open_regular(path).and_then(|file| file.set_modified(SystemTime::now())).is_ok()
}

/// Where a loose object is or would be.
pub(super) fn path(directory: &Path, id: &ObjectId) -> PathBuf {
    let hex = id.to_string();
    let (first, rest) = hex.split_at(2);
    directory.join(first).join(rest)
}

/// Writes a loose object: beside its place under a name of its own, which git clears away if it is left behind, then
/// into its place.
pub(super) fn write(
    packer: &mut Option<Compressor>,
    directory: &Path,
    name: &str,
    id: &ObjectId,
    (kind, content): (ObjectType, &[u8]),
) -> io::Result<()> {
    let path = path(directory, id);
    let temporary = path.with_file_name(format!("tmp_obj_{name}"));
    let packed = pack(packer, format!("{kind} {}\0", content.len()).as_bytes(), content)?;
    let written = fill(&temporary, &packed).and_then(|()| fs::rename(&temporary, &path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary); // git clears it away, too
    }
    written
}

/// Makes a file and the folder it stands in. A gc beside us deletes a folder that has become empty: then both are made
/// again.
fn fill(path: &Path, packed: &[u8]) -> io::Result<()> {
    let mut created = create_new(path, 0o444);
    for _ in 0..FOLDER_TRIES {
        let (Err(error), Some(folder)) = (&created, path.parent()) else { break };
        if error.kind() != io::ErrorKind::NotFound {
            break;
        }
        match fs::create_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => created = create_new(path, 0o444),
        }
    }
    created?.write_all(packed)
}

/// The stream of zlib that an object is kept in.
///
/// Small objects, which take one block of the disk either way, are stored uncompressed inside a zlib stream. Readers
/// notice no difference, and setting up zlib's tables took longer than everything else that is done for a small object.
/// Larger objects are compressed by a coder that keeps its tables.
fn pack(packer: &mut Option<Compressor>, header: &[u8], content: &[u8]) -> io::Result<Vec<u8>> {
    let length = header.len() + content.len();
    match u16::try_from(length) {
        Ok(short) if length <= SMALL => {
            let mut packed = Vec::with_capacity(length + FRAME);
            packed.extend_from_slice(&[0x78, 0x01, 0x01]); // zlib, fastest; the last block, stored
            packed.extend_from_slice(&short.to_le_bytes());
            packed.extend_from_slice(&(!short).to_le_bytes());
            packed.extend_from_slice(header);
            packed.extend_from_slice(content);
            let sum = libdeflater::adler32(&packed[FRAME - 4..]);
            packed.extend_from_slice(&sum.to_be_bytes());
            Ok(packed)
        }
        _ => {
            // Git packs it in earnest when it gathers loose objects.
            let packer = packer.get_or_insert_with(|| Compressor::new(CompressionLvl::fastest()));
            let whole = [header, content].concat();
            let mut packed = vec![0; packer.zlib_compress_bound(length)];
            let length = packer
                .zlib_compress(&whole, &mut packed)
                .map_err(|error| io::Error::other(format!("it cannot be packed: {error}")))?;
            packed.truncate(length);
            Ok(packed)
        }
    }
}

/// A loose object that is open at the beginning of its content.
pub(super) struct Loose {
    /// The kind that its header gives.
    pub(super) kind: ObjectType,
    /// The size that its header gives.
    pub(super) size: u64,
    begun: Vec<u8>,
    stream: ZlibDecoder<BufReader<Take<File>>>,
}

/// A loose object; `None` if there is none of this id.
pub(super) fn open(directories: &[PathBuf], id: &ObjectId) -> Option<io::Result<Loose>> {
    directories.iter().find_map(|directory| match open_regular(&path(directory, id)) {
        Ok(file) => Some(Loose::new(file)),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Some(Err(error)),
        Err(_) => None,
    })
}

impl Loose {
    fn new(file: File) -> io::Result<Self> {
        let mut stream = ZlibDecoder::new(BufReader::new(file.take(longest(HEADER as u64))));
        let mut head = Vec::with_capacity(HEADER);
        stream.by_ref().take(HEADER as u64).read_to_end(&mut head)?;
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "it has no header");
        let end = memchr::memchr(0, &head).ok_or_else(wrong)?;
        let (kind, size) =
            std::str::from_utf8(&head[..end]).ok().and_then(|text| text.split_once(' ')).ok_or_else(wrong)?;
        let kind = ObjectType::from_str(kind).ok_or_else(wrong)?;
        let size = size.parse().map_err(|_| wrong())?;
        stream.get_mut().get_mut().set_limit(longest(size));
        Ok(Self { kind, size, begun: head.split_off(end + 1), stream })
    }

    /// The first bytes of the content, up to `length`.
    pub(super) fn start(self, length: usize) -> io::Result<Vec<u8>> {
        let mut content = self.begun;
        let more = (length as u64).saturating_sub(content.len() as u64);
        self.stream.take(more).read_to_end(&mut content)?;
        content.truncate(length);
        Ok(content)
    }

    /// The whole content; an error if there is less or more of it than it says. The caller has checked its size.
    pub(super) fn content(self) -> io::Result<Vec<u8>> {
        let size = usize::try_from(self.size).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let content = self.start(size.saturating_add(1))?;
        if content.len() == size { Ok(content) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn folder_that_a_gc_deletes_meanwhile_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let (subfolder, is_done) = (folder.path().join("ab"), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    let _ = fs::remove_dir(&subfolder);
                    // Git does so once; we need not win against somebody who does nothing else.
                    thread::sleep(Duration::from_micros(20));
                }
            });
            let written = (0..2000).try_for_each(|number| {
                let file = subfolder.join(number.to_string());
                fill(&file, b"packed").and_then(|()| fs::remove_file(file))
            });
            is_done.store(true, Ordering::Relaxed);
            written.unwrap();
        });
    }

    #[test]
    fn what_is_written_is_read_again_whatever_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let (mut packer, id) = (None, ObjectId::parse(&"ab".repeat(20)).unwrap());
        let header = "blob 4000\0".len();
        for length in [0, 1, 999, SMALL - header - 1, SMALL - header, SMALL - header + 1, 65_535, 65_536, 300_000] {
            let content: Vec<u8> = (0..length).map(|at| (at * at / 7).to_le_bytes()[0]).collect();
            write(&mut packer, folder.path(), "x", &id, (ObjectType::Blob, &content)).unwrap();
            let object = open(&[folder.path().to_owned()], &id).unwrap().unwrap();
            assert_eq!((object.kind, object.size), (ObjectType::Blob, length as u64));
            assert_eq!(object.content().unwrap(), content, "{length} bytes");
        }
        assert_eq!(fs::read_dir(folder.path().join("ab")).unwrap().count(), 1, "nothing else is left");
    }
}
