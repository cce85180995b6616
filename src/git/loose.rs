//! A guard before libgit2: of a loose object that was cut off, as a power loss leaves them, it waits for the rest for ever.
//! So such a file is unpacked here first, into nothing, as far as it says that it goes.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use flate2::read::ZlibDecoder;

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

/// Whether some copy of a loose object is cut off.
pub(super) fn is_cut_off(directories: &[PathBuf], id: &ObjectId) -> bool {
    let hex = id.to_string();
    let (first, rest) = hex.split_at(2);
    directories.iter().any(|directory| {
        File::open(directory.join(Path::new(first)).join(rest)).is_ok_and(|file| unpack(file).is_err())
    })
}

fn unpack(file: File) -> io::Result<()> {
    let mut stream = ZlibDecoder::new(file);
    let mut head = Vec::with_capacity(HEADER);
    stream.by_ref().take(HEADER as u64).read_to_end(&mut head)?;
    // What has no size is refused by libgit2 without our help.
    let size = memchr::memchr(0, &head).and_then(|end| {
        let text = std::str::from_utf8(&head[..end]).ok()?;
        let size: u64 = text.rsplit(' ').next()?.parse().ok()?;
        Some(size.saturating_add(end as u64 + 1))
    });
    let left = size.unwrap_or(0).saturating_sub(head.len() as u64);
    let copied = io::copy(&mut stream.take(left), &mut io::sink())?;
    if copied < left { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}
