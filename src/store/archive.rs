//! Archives: the whole evidence of a session, private entries included, as a compressed file beside the store.
//!
//! A file is named by the SHA-256 of what is in it, `ab/<hash>.jsonl.zst`, so that `zstd -dc FILE | sha256sum` tells
//! whether it is whole, and `zstd -dc FILE | git proof check-evidence -` what it proves. It is written under another name,
//! flushed, and only then renamed. Before a body is blanked, the file is read back.

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::{RootRow, StoredEntry};
use crate::access::Access;
use crate::context::open_regular;
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::digest::ArchiveHash;
use crate::proof::evidence::{MAX_LINE, Verifier};
use crate::proof::record::Entry;

/// How files that are not finished begin.
const UNFINISHED: &str = "writing-";
/// zstd's own default: three to four times smaller for prose, at the speed of a disk.
const LEVEL: i32 = 3;

/// The directories in which archives are looked for. New ones go into the first.
#[derive(Debug, Clone)]
pub struct Archive {
    directory: PathBuf,
    before: Option<PathBuf>,
}

/// An archive that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Its name.
    pub hash: ArchiveHash,
    /// The size of its file.
    pub bytes: u64,
}

/// Why an archive cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Damage {
    /// There is no such file.
    Missing,
    /// It cannot be read, or not to its end.
    Unreadable(String),
    /// It can be read, and is not what was archived.
    Differs(String),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("the file is not there"),
            Self::Unreadable(why) => write!(f, "the file cannot be read: {why}"),
            Self::Differs(why) => write!(f, "the file is not what was archived: {why}"),
        }
    }
}

impl Archive {
    /// Archives in a directory; those that were written before it was set are in the other one.
    pub fn new(directory: PathBuf, before: Option<PathBuf>) -> Self {
        Self { before: before.filter(|before| *before != directory), directory }
    }

    /// Where new archives go.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where an archive is, or where it should be.
    pub fn path(&self, hash: &ArchiveHash) -> PathBuf {
        let here = path_in(&self.directory, hash);
        let elsewhere = self.before.as_ref().map(|before| path_in(before, hash));
        elsewhere.filter(|other| !here.exists() && other.exists()).unwrap_or(here)
    }

    /// The cheap look: whether the file is there with the size that it had.
    pub fn is_there(&self, held: &Held) -> bool {
        fs::metadata(self.path(&held.hash)).is_ok_and(|file| file.is_file() && file.len() == held.bytes)
    }

    /// Reads an archive to its end: it must be what its name says, and add up to this root.
    pub fn verify(&self, hash: &ArchiveHash, root: &RootRow) -> Result<(), Damage> {
        let mut lines = self.read(hash)?;
        let mut verifier = Verifier::new();
        while let Some(line) = lines.next()? {
            verifier.push(line).map_err(|error| Damage::Differs(error.to_string()))?;
        }
        let summary = verifier.finish().map_err(|error| Damage::Differs(error.to_string()))?;
        if lines.hash() != *hash {
            return Err(Damage::Differs("its text has another hash".to_owned()));
        }
        if root.is_of(&summary) && summary.withheld == 0 {
            Ok(())
        } else {
            Err(Damage::Differs("it adds up to another root".to_owned()))
        }
    }

    /// Gives entries of a session their texts, without putting these back into the store.
    pub fn fill(&self, hash: &ArchiveHash, root: &RootRow, entries: &mut [StoredEntry]) -> Result<(), Damage> {
        self.verify(hash, root)?;
        let mut blank: HashMap<u64, &mut StoredEntry> =
            entries.iter_mut().filter(|entry| entry.line.is_none()).map(|entry| (entry.index, entry)).collect();
        let mut lines = self.read(hash)?;
        lines.next()?; // the opening has never left the store
        for position in 0..root.record_count {
            let Some(line) = lines.next()? else { break };
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let Some(stored) = blank.get_mut(&position) else { continue };
            let entry = Entry::parse(line).ok();
            if entry.is_none_or(|entry| root.scheme.content_hash(line, entry.body.text()) != stored.content_hash) {
                return Err(Damage::Differs(format!("its line {} is not that of the session", position + 2)));
            }
            stored.line = Some(String::from_utf8_lossy(line).into_owned());
        }
        Ok(())
    }

    /// The lines of an archive.
    pub(super) fn read(&self, hash: &ArchiveHash) -> Result<Lines, Damage> {
        let file = open_regular(&self.path(hash)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Damage::Missing,
            _ => Damage::Unreadable(error.to_string()),
        })?;
        let decoder = zstd::Decoder::new(file).map_err(|error| Damage::Unreadable(error.to_string()))?;
        Ok(Lines { reader: BufReader::new(decoder), line: Vec::new(), hasher: Sha256::new() })
    }

    /// A new archive, of which no line is written yet, for those who may use the store.
    pub(super) fn write(&self, name: &str, access: Access) -> Result<Writer<'_>> {
        make_durable(&self.directory, access).map_err(|error| self.failed(error))?;
        let path = self.directory.join(format!("{UNFINISHED}{name}"));
        let open = || {
            let file = access.open(&path, OpenOptions::new().write(true).create_new(true))?;
            // Held as long as it is written, so that nobody takes it for a leftover.
            let _ = file.try_lock();
            let mut encoder = zstd::Encoder::new(BufWriter::new(file), LEVEL)?;
            encoder.include_checksum(true)?;
            io::Result::Ok(encoder)
        };
        let encoder = open().map_err(|error| self.failed(error))?;
        Ok(Writer { archive: self, access, path, encoder: Some(encoder), hasher: Sha256::new() })
    }

    /// Removes an archive for good. One that is gone already is removed.
    pub fn remove(&self, hash: &ArchiveHash) -> Result<()> {
        for directory in [Some(&self.directory), self.before.as_ref()].into_iter().flatten() {
            let path = path_in(directory, hash);
            match fs::remove_file(&path) {
                Ok(()) => sync_parent(&path).map_err(|error| self.failed(error))?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        Ok(())
    }

    /// Removes what a process that was killed had not finished.
    pub fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.directory) else { return };
        for entry in entries.flatten() {
            let unfinished = entry.file_name().to_str().is_some_and(|name| name.starts_with(UNFINISHED));
            if unfinished && open_regular(&entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
                let _ = fs::remove_file(entry.path()); // it is in nobody's way
            }
        }
    }

    /// The error for an archive that cannot be used. It says what can still be proven, and what cannot be shown.
    pub fn error(&self, held: &Held, damage: &Damage, root: &RootRow, lost: u64) -> Error {
        let RootRow { session_id, root, record_count, head, .. } = root;
        let path = self.path(&held.hash);
        Error::new(Code::ArchiveDamaged, format!("the texts of session {session_id} are not at hand: {damage}"))
            .because(format!("its archive is {}", path.display()))
            .because(format!(
                "the chain of its {record_count} entries and its root {root} can still be proven; what {lost} of them say cannot be shown"
            ))
            .hint(hint!(
                "put that file back from a backup, or set proof.archive to where it is now";
                Step::RetainFreeze(session_id.to_string()), " takes the texts as lost"
            ))
            .details(serde_json::json!({
                "session_id": session_id,
                "archive": path.display().to_string(),
                "root": root,
                "count": record_count,
                "head": head,
                "lost": lost,
            }))
    }

    fn failed(&self, error: impl fmt::Display) -> Error {
        Error::new(Code::StoreFailed, format!("no archive could be written below {}", self.directory.display()))
            .because(error)
            .hint("check that the disk has room and who owns the directory, then run it again; nothing is lost")
    }
}

/// An archive that is being written. What is not finished is gone again.
pub(super) struct Writer<'a> {
    archive: &'a Archive,
    access: Access,
    path: PathBuf,
    encoder: Option<zstd::Encoder<'static, BufWriter<File>>>,
    hasher: Sha256,
}

impl Writer<'_> {
    /// Adds a line and its newline.
    pub(super) fn line(&mut self, line: &[u8]) -> Result<()> {
        let Some(encoder) = &mut self.encoder else { return Ok(()) };
        self.hasher.update(line);
        self.hasher.update(b"\n");
        encoder.write_all(line).and_then(|()| encoder.write_all(b"\n")).map_err(|error| self.archive.failed(error))
    }

    /// Flushes the file and gives it its name; both survive a power loss from here on.
    pub(super) fn finish(mut self) -> Result<Held> {
        let hash = ArchiveHash::new(std::mem::take(&mut self.hasher).finalize().into());
        let target = path_in(&self.archive.directory, &hash);
        let Some(encoder) = self.encoder.take() else { return Err(self.archive.failed("it is finished")) };
        let finish = || {
            let file = encoder.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.sync_all()?;
            let bytes = file.metadata()?.len();
            if let Some(parent) = target.parent() {
                make_durable(parent, self.access)?;
            }
            fs::rename(&self.path, &target)?;
            // Also flush the directories above: the process that made them may have been killed before it flushed them.
            for path in target.ancestors().take(3) {
                sync_parent(path)?;
            }
            io::Result::Ok(bytes)
        };
        Ok(Held { hash, bytes: finish().map_err(|error| self.archive.failed(error))? })
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path); // not there any more once it is finished; a leftover goes with the next sweep
    }
}

/// The lines of an archive, one at a time.
pub(super) struct Lines {
    reader: BufReader<zstd::Decoder<'static, BufReader<File>>>,
    line: Vec<u8>,
    hasher: Sha256,
}

impl Lines {
    /// The next line with its newline, if it has one.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, Damage> {
        self.line.clear();
        // A file that is not ours may be one endless line.
        let mut reader = (&mut self.reader).take(MAX_LINE as u64 + 2);
        let read = reader.read_until(b'\n', &mut self.line);
        let length = read.map_err(|error| Damage::Unreadable(error.to_string()))?;
        self.hasher.update(&self.line);
        Ok((length > 0).then_some(&self.line))
    }

    /// The hash of all lines so far.
    fn hash(&self) -> ArchiveHash {
        ArchiveHash::new(self.hasher.clone().finalize().into())
    }
}

fn path_in(directory: &Path, hash: &ArchiveHash) -> PathBuf {
    let name = hash.to_string();
    directory.join(&name[..2]).join(format!("{name}.jsonl.zst"))
}

/// Makes a directory with all above it, such that they survive a power loss.
fn make_durable(directory: &Path, access: Access) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    if let Some(parent) = directory.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_durable(parent, access)?;
    }
    match access.make_directory(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Err(_) if !directory.is_dir() => Err(io::ErrorKind::NotADirectory.into()),
        _ => sync_parent(directory),
    }
}

fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}
