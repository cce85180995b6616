//! Loose objects, read and written here and not by libgit2: of one that was cut off, as a power loss leaves them, it waits for the
//! rest for ever. Whether the content is what its id says is checked by whoever asked.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;
use git2::ObjectType;

use super::discover::Repository;
use crate::context::Context;
use crate::proof::digest::ObjectId;

/// Longest header of an object: a kind, a size and a NUL.
const HEADER: usize = 32;

/// The directories in which loose objects may be.
pub(super) fn directories(place: &Repository, context: &Context) -> Vec<PathBuf> {
    let own = place.common_dir.join("objects");
    let mut directories = vec![own.clone()];
    directories.extend(context.variable("GIT_OBJECT_DIRECTORY").map(|path| context.directory.join(path)));
    if let Some(list) = context.variable("GIT_ALTERNATE_OBJECT_DIRECTORIES") {
        directories.extend(std::env::split_paths(&list).map(|path| context.directory.join(path)));
    }
    let alternates = fs::read_to_string(own.join("info/alternates")).unwrap_or_default();
    directories.extend(alternates.lines().filter(|line| !line.starts_with('#')).map(|line| own.join(line)));
    directories
}

/// Writes a loose object: beside its place under a name of its own, which git clears away if it is left behind, then
/// into its place.
pub(super) fn write(directory: &Path, name: &str, id: &ObjectId, kind: ObjectType, content: &[u8]) -> io::Result<()> {
    let hex = id.to_string();
    let (first, rest) = hex.split_at(2);
    let folder = directory.join(first);
    match fs::create_dir(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let temporary = folder.join(format!("tmp_obj_{name}"));
    let written = fill(&temporary, kind, content).and_then(|()| fs::rename(&temporary, folder.join(rest)));
    if written.is_err() {
        let _ = fs::remove_file(&temporary); // git clears it away, too
    }
    written
}

fn fill(path: &Path, kind: ObjectType, content: &[u8]) -> io::Result<()> {
    let mut packed = ZlibEncoder::new(Vec::with_capacity(content.len() / 2 + 64), Compression::fast());
    packed.write_all(format!("{kind} {}\0", content.len()).as_bytes())?;
    packed.write_all(content)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o444).open(path)?;
    file.write_all(&packed.finish()?)
}

/// A loose object that is open at the beginning of its content.
pub(super) struct Loose {
    /// What it says it is.
    pub(super) kind: ObjectType,
    /// How large it says it is.
    pub(super) size: usize,
    begun: Vec<u8>,
    stream: ZlibDecoder<BufReader<File>>,
}

/// A loose object; `None` if there is none of this id.
pub(super) fn open(directories: &[PathBuf], id: &ObjectId) -> Option<io::Result<Loose>> {
    let hex = id.to_string();
    let (first, rest) = hex.split_at(2);
    directories.iter().find_map(|directory| File::open(directory.join(first).join(rest)).ok()).map(Loose::new)
}

impl Loose {
    fn new(file: File) -> io::Result<Self> {
        let mut stream = ZlibDecoder::new(BufReader::new(file));
        let mut head = Vec::with_capacity(HEADER);
        stream.by_ref().take(HEADER as u64).read_to_end(&mut head)?;
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "it has no header");
        let end = memchr::memchr(0, &head).ok_or_else(wrong)?;
        let (kind, size) =
            std::str::from_utf8(&head[..end]).ok().and_then(|text| text.split_once(' ')).ok_or_else(wrong)?;
        let kind = ObjectType::from_str(kind).ok_or_else(wrong)?;
        let size = size.parse().map_err(|_| wrong())?;
        Ok(Self { kind, size, begun: head.split_off(end + 1), stream })
    }

    /// The whole content; an error if there is less or more of it than it says.
    pub(super) fn content(self) -> io::Result<Vec<u8>> {
        let mut content = self.begun;
        let limit = (self.size as u64).saturating_add(1).saturating_sub(content.len() as u64);
        self.stream.take(limit).read_to_end(&mut content)?;
        if content.len() == self.size { Ok(content) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}
