//! Commits, tree entries, and the errors of reading them. Commits are parsed strictly.

use std::cmp::Ordering;
use std::fmt;

use super::tree;
use crate::error::{Code, Error};
use crate::hint::{Step, hint};
use crate::proof::digest::{CommitId, ObjectId, TreeId};
use crate::proof::finding::fetch_objects;
use crate::proof::merge::{Entry, Mode};

/// Mode of a plain file.
pub const FILE: u32 = 0o100_644;
/// Mode of a subtree.
pub const DIRECTORY: u32 = 0o040_000;
/// The bits of a mode that say what kind of thing an entry is.
const KIND: u32 = 0o170_000;

/// Longest subject that is shown, in bytes.
const LONGEST_SUBJECT: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub id: CommitId,
    pub tree: TreeId,
    pub parents: Vec<CommitId>,
    /// `Name <email>` of its author.
    pub author: Vec<u8>,
    /// Seconds and zone of the author's clock, as they are written.
    pub author_time: Vec<u8>,
    /// Seconds of the committer's clock; 0 where they cannot be read. It only orders a walk, and proves nothing.
    pub committed: i64,
    /// Its message, as it is stored.
    pub message: Vec<u8>,
}

impl Commit {
    /// The first line of the message.
    pub fn subject(&self) -> String {
        let message = self.message.trim_ascii_start();
        let end = memchr::memchr(b'\n', message).unwrap_or(message.len()).min(LONGEST_SUBJECT);
        String::from_utf8_lossy(&message[..end]).trim().to_owned()
    }

    /// Seconds of the author's clock; 0 where they cannot be read.
    pub fn author_seconds(&self) -> i64 {
        let seconds = self.author_time.split(|byte| *byte == b' ').next().unwrap_or_default();
        std::str::from_utf8(seconds).ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(0)
    }
}

/// An entry of a tree, with a name of its own or in the tree's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeEntry<Name = Vec<u8>> {
    /// Its mode, as git has it.
    pub mode: u32,
    pub name: Name,
    /// The id of its object.
    pub id: ObjectId,
}

impl<Name: AsRef<[u8]>> TreeEntry<Name> {
    /// The entry as git reads it.
    pub fn entry(&self) -> Entry {
        Entry { mode: Mode::of(self.mode), id: self.id }
    }

    /// Whether git reads it as a subtree: every mode of a directory is one, `40755` too.
    pub fn is_tree(&self) -> bool {
        self.mode & KIND == DIRECTORY
    }

    /// Whether it is a file, be it a program or not; a link is none.
    pub fn is_file(&self) -> bool {
        self.mode & KIND == 0o100_000
    }

    /// How git sorts two entries.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        tree::order((self.name.as_ref(), self.is_tree()), (other.name.as_ref(), other.is_tree()))
    }

    /// The same with a name of its own.
    pub fn to_entry(&self) -> TreeEntry {
        TreeEntry { mode: self.mode, name: self.name.as_ref().to_vec(), id: self.id }
    }
}

/// Why an object cannot be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObjectError {
    /// It is not in this clone.
    Missing(ObjectId),
    /// Its content is not what its id says, or not what git would write.
    Damaged(ObjectId, String),
    /// Reading it, or following it further, takes more than this program spends on one commit. The text names the limit.
    Limit(ObjectId, String),
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(id) => write!(f, "object {id} is not in this clone"),
            Self::Damaged(id, why) => write!(f, "object {id} is damaged: {why}"),
            Self::Limit(id, why) => write!(f, "object {id} reaches a limit: {why}"),
        }
    }
}

impl From<ObjectError> for Error {
    fn from(error: ObjectError) -> Self {
        let message = error.to_string();
        match error {
            ObjectError::Missing(_) => Self::new(Code::ObjectMissing, message).hint(fetch_objects()),
            ObjectError::Damaged(..) => Self::new(Code::ObjectDamaged, message)
                .hint(hint!(Step::GitFsck, " tells what else is damaged"; "fetch it anew")),
            ObjectError::Limit(..) => Self::new(Code::LimitReached, message)
                .hint("docs/threat-model.md lists the limits; nothing was decided about this object"),
        }
    }
}

/// The result of reading an object.
pub type Read<T> = std::result::Result<T, ObjectError>;

/// Reads a commit: the headers that git always writes, once each and in order, then others, then the message. A second
/// tree, parent list or author further down would be read by one program and not by another.
pub(super) fn parse_commit(id: CommitId, raw: &[u8]) -> Option<Commit> {
    let mut rest = raw;
    let mut line = || -> Option<&[u8]> {
        let end = memchr::memchr(b'\n', rest)?;
        let (line, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        Some(line)
    };
    let object = |line: &[u8], key: &[u8]| ObjectId::parse(std::str::from_utf8(line.strip_prefix(key)?).ok()?);
    let same_length = |found: ObjectId| (found.as_bytes().len() == id.0.as_bytes().len()).then_some(found);
    let tree = TreeId(same_length(object(line()?, b"tree ")?)?);
    let mut parents = Vec::new();
    let author = loop {
        let next = line()?;
        match next.strip_prefix(b"author ") {
            Some(author) => break author,
            None => parents.push(CommitId(same_length(object(next, b"parent ")?)?)),
        }
    };
    let committer = line()?.strip_prefix(b"committer ")?;
    let committed = committer
        .rsplit(|byte| *byte == b'>')
        .next()
        .and_then(|time| time.trim_ascii().split(|byte| *byte == b' ').next());
    let committed = committed.and_then(|time| std::str::from_utf8(time).ok()?.parse().ok()).unwrap_or(0);
    loop {
        let next = line()?;
        if next.is_empty() {
            break;
        }
        let repeated = [&b"tree "[..], b"parent ", b"author ", b"committer "].iter().any(|key| next.starts_with(key));
        if repeated {
            return None;
        }
    }
    let message = rest.to_vec();
    let end = author.iter().rposition(|byte| *byte == b'>')?;
    let (who, when) = author.split_at(end + 1);
    Some(Commit {
        id,
        tree,
        parents,
        author: who.to_vec(),
        author_time: when.trim_ascii().to_vec(),
        committed,
        message,
    })
}
