//! Objects: read with their hash checked, parsed strictly, and written as git writes them.

use std::cell::RefMut;
use std::cmp::Ordering;
use std::sync::Arc;
use std::{fmt, io};

use git2::{ObjectType, Oid};
use sha1::{Digest as _, Sha1};

use super::index::Place;
use super::limits::{LARGEST_TEXT, MAX_COMMIT, MAX_OBJECT, MAX_PACKS, MAX_TEXT, MAX_TREE, cost};
use super::loose::{self, Loose};
use super::open::Git;
use super::pack::{Fault, Reader, within};
use super::tree::{self, Item, Tree};
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::digest::{CommitId, ObjectId, TreeId};
use crate::proof::finding::fetch_objects;
use crate::proof::merge::{Entry, Mode};
use crate::proof::timestamp::Timestamp;

/// Mode of a plain file.
pub const FILE: u32 = 0o100_644;
/// Mode of a subtree.
pub const DIRECTORY: u32 = 0o040_000;
/// The bits of a mode that say what kind of thing an entry is.
pub(super) const KIND: u32 = 0o170_000;

/// Longest subject that is shown, in bytes.
const LONGEST_SUBJECT: usize = 4096;

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub id: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// Its parents.
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

/// An entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// Its mode, as git has it.
    pub mode: u32,
    /// Its name.
    pub name: Vec<u8>,
    /// What is there.
    pub id: ObjectId,
}

impl TreeEntry {
    /// What stands there, as git reads it.
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
    fn order(&self, other: &Self) -> Ordering {
        tree::order((&self.name, self.is_tree()), (&other.name, other.is_tree()))
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

/// How often an object is searched while packs come and go.
const SEARCHES: usize = 4;
/// How far git looks for a NUL byte, which makes a file a binary one.
const LOOKED_AT: usize = 8000;
/// Up to this size a file is read without a look at whether it is binary.
const SMALL_TEXT: usize = 1 << 20;

/// A loose object that is not what git writes.
#[allow(clippy::needless_pass_by_value)] // for map_err
fn unreadable(error: io::Error) -> Fault {
    Fault::Damaged(error.to_string())
}

/// What reading an object gives.
pub type Read<T> = std::result::Result<T, ObjectError>;

/// A copy of an object.
enum Copy<'a> {
    Packed(&'a mut Reader, Place),
    Loose(io::Result<Loose>),
}

impl Git {
    /// The content of an object of the given kind that has at most `limit` bytes. `is_id_of` checks its hash.
    fn read(
        &self,
        id: &ObjectId,
        kind: ObjectType,
        limit: usize,
        is_id_of: fn(&Self, &ObjectId, ObjectType, &[u8]) -> bool,
    ) -> Read<Arc<Vec<u8>>> {
        let limit = limit.min(MAX_OBJECT);
        self.read_copies(id, |copy| {
            let content = match copy {
                Copy::Packed(reader, place) => reader.read(place, kind, limit, &self.meter)?,
                Copy::Loose(object) => Arc::new(self.read_loose(object.map_err(unreadable)?, kind, limit)?),
            };
            if !is_id_of(self, id, kind, &content) {
                return Err(Fault::damaged("its content has another id"));
            }
            Ok(content)
        })
    }

    fn read_loose(&self, object: Loose, kind: ObjectType, limit: usize) -> Result<Vec<u8>, Fault> {
        let (found, size) = (object.kind, object.size);
        if found != kind {
            return Err(Fault::Damaged(format!("it is a {found}, not a {kind}")));
        }
        within(size, limit)?;
        self.meter.spend(size + cost::STREAM).map_err(Fault::Limit)?;
        object.content().map_err(unreadable)
    }

    /// Reads an object from the first of its copies that is as it should be: of several, one may be damaged. A gc beside us
    /// moves objects from one place to the next: one that cannot be had while packs come and go is searched again.
    fn read_copies<T>(&self, id: &ObjectId, mut read: impl FnMut(Copy<'_>) -> Result<T, Fault>) -> Read<T> {
        if id.as_bytes().len() * 2 != self.hex_length() {
            return Err(ObjectError::Missing(*id));
        }
        let mut searches = 0..SEARCHES;
        loop {
            let found = self.read_a_copy(id, &mut read);
            let is_final = matches!(found, Ok(_) | Err(ObjectError::Limit(..)));
            searches.next();
            if is_final || searches.is_empty() || !self.list_packs_again() {
                return found;
            }
        }
    }

    fn read_a_copy<T>(&self, id: &ObjectId, mut read: impl FnMut(Copy<'_>) -> Result<T, Fault>) -> Read<T> {
        let mut first = None;
        // While no pack has been opened, a loose object is found faster.
        let loose_first = self.packed.borrow().is_none();
        for loose in [loose_first, !loose_first] {
            let found = if loose {
                loose::open(&self.loose, id).map(|object| read(Copy::Loose(object)))
            } else {
                let places = self.places(id)?;
                let mut tried = places.into_iter().map(|place| read(Copy::Packed(&mut self.reader(), place)));
                let one = tried.next();
                if matches!(one, Some(Err(_))) { tried.find(Result::is_ok).or(one) } else { one }
            };
            match found {
                Some(Ok(found)) => return Ok(found),
                Some(Err(fault)) => first = first.or(Some(fault)),
                None => {}
            }
        }
        Err(match first {
            None if self.reader().packs().too_many => {
                let why = format!("there are more than {MAX_PACKS} packs; `git gc` makes one of them");
                ObjectError::Limit(*id, why)
            }
            None => ObjectError::Missing(*id),
            Some(Fault::Damaged(why)) => ObjectError::Damaged(*id, why),
            Some(Fault::Limit(why)) => ObjectError::Limit(*id, why),
        })
    }

    /// All places in packs where an object is.
    fn places(&self, id: &ObjectId) -> Read<Vec<Place>> {
        let packs = Arc::clone(self.reader().packs());
        self.meter.spend(packs.len() as u64 * cost::LOOKUP).map_err(|why| ObjectError::Limit(*id, why))?;
        Ok(packs.all(id).collect())
    }

    /// Lists the packs again, if some may have come or gone.
    fn list_packs_again(&self) -> bool {
        let mut reader = self.reader();
        let (are_stale, many) = (reader.packs().are_stale(), reader.packs().many);
        if are_stale {
            *reader = Reader::new(self.packs(many));
        }
        are_stale
    }

    /// The reader of packs, which are opened when the first of them is needed.
    pub(super) fn reader(&self) -> RefMut<'_, Reader> {
        RefMut::map(self.packed.borrow_mut(), |packed| packed.get_or_insert_with(|| Reader::new(self.packs(false))))
    }

    /// Whether an object has this id. libgit2 hashes it, and finds out where someone made two objects of one SHA-1.
    fn is_id_of(&self, id: &ObjectId, kind: ObjectType, content: &[u8]) -> bool {
        let hash = Oid::hash_object_ext(kind, content, self.repository.object_format());
        hash.is_ok_and(|hash| hash.as_bytes() == id.as_bytes())
    }

    /// The same, without looking for two objects of one SHA-1, which takes several times as long.
    fn is_plain_id_of(&self, id: &ObjectId, kind: ObjectType, content: &[u8]) -> bool {
        let head = format!("{} {}\0", kind.str(), content.len());
        match id.as_bytes().len() {
            20 => Sha1::new_with_prefix(head).chain_update(content).finalize()[..] == *id.as_bytes(),
            _ => self.is_id_of(id, kind, content),
        }
    }

    /// How many bytes an object has, as its header says, and the first of them, up to `length`. Without these where it is
    /// stored as a delta. None of it is checked against its id.
    fn peek(&self, id: &ObjectId, length: usize) -> Read<(u64, Option<Vec<u8>>)> {
        self.read_copies(id, |copy| match copy {
            Copy::Packed(reader, place) => Ok((reader.size(place)?, reader.start(place, length)?)),
            Copy::Loose(object) => {
                let object = object.map_err(unreadable)?;
                Ok((object.size, Some(object.start(length).map_err(unreadable)?)))
            }
        })
    }

    /// A commit.
    pub fn commit(&self, id: &CommitId) -> Read<Commit> {
        let raw = self.read(&id.0, ObjectType::Commit, MAX_COMMIT, Self::is_id_of)?;
        parse_commit(*id, &raw)
            .ok_or_else(|| ObjectError::Damaged(id.0, "not a commit that git would write".to_owned()))
    }

    /// The entries of a tree.
    pub fn tree(&self, id: &TreeId) -> Read<Vec<TreeEntry>> {
        Ok(self.read_tree(id)?.items().map(Item::to_entry).collect())
    }

    /// A tree that git would write.
    pub fn read_tree(&self, id: &TreeId) -> Read<Arc<Tree>> {
        let tree = self.read_tree_as_git(id)?;
        if tree.is_orderly() {
            return Ok(tree);
        }
        Err(ObjectError::Damaged(id.0, "not a tree that git would write".to_owned()))
    }

    /// A tree as git reads it, in its own bytes: entries may stand in any order and under any name. A child's trees are
    /// its parent's, but for what it changed: those of late are kept.
    pub(super) fn read_tree_as_git(&self, id: &TreeId) -> Read<Arc<Tree>> {
        if let Some(known) = self.trees.borrow_mut().get(id, |tree| tree.size()) {
            return Ok(known);
        }
        let raw = match self.read(&id.0, ObjectType::Tree, MAX_TREE, Self::is_id_of) {
            // Git has the empty tree without an object.
            Err(ObjectError::Missing(_)) if self.is_id_of(&id.0, ObjectType::Tree, b"") => Arc::default(),
            read => read?,
        };
        let raw = Arc::unwrap_or_clone(raw);
        let tree = Tree::parse(raw, id.0.as_bytes().len())
            .ok_or_else(|| ObjectError::Damaged(id.0, "not a tree that git can read".to_owned()))?;
        let tree = Arc::new(tree);
        self.trees.borrow_mut().put(*id, Arc::clone(&tree), tree.size());
        Ok(tree)
    }

    /// The bytes of a file, if there are at most `limit`.
    pub fn blob(&self, id: &ObjectId, limit: usize) -> Read<Vec<u8>> {
        self.read(id, ObjectType::Blob, limit, Self::is_id_of).map(Arc::unwrap_or_clone)
    }

    /// How many bytes an object has, as its header says.
    pub fn blob_size(&self, id: &ObjectId) -> Read<u64> {
        self.peek(id, 0).map(|(size, _)| size)
    }

    /// The bytes of a note or of evidence. What these say is held to SHA-256 by what they say, whatever blob it stands in; the
    /// blob's own id tells no more than whether it is whole.
    pub(crate) fn proof_blob(&self, id: &ObjectId, limit: usize) -> Read<Arc<Vec<u8>>> {
        self.read(id, ObjectType::Blob, limit, Self::is_plain_id_of)
    }

    /// The text of a file; `None` if it is binary, by git's rule: it is very large, or has a NUL among its first bytes. What
    /// is there after one commit is there before the next that changes it: those of late are kept.
    pub(crate) fn text_blob(&self, id: &ObjectId) -> Read<Option<Arc<Vec<u8>>>> {
        let is_binary = |bytes: &[u8]| memchr::memchr(0, &bytes[..bytes.len().min(LOOKED_AT)]).is_some();
        if let Some(known) = self.files.borrow_mut().get(id, |file| file.len()) {
            return Ok(Some(known).filter(|file| !is_binary(file)));
        }
        let read = |limit| self.read(id, ObjectType::Blob, limit, Self::is_id_of);
        let content = match read(SMALL_TEXT) {
            // A large binary file need not be read: a patch names it by its id alone.
            Err(ObjectError::Limit(..)) => match self.peek(id, LOOKED_AT)? {
                (size, _) if size > LARGEST_TEXT => return Ok(None),
                (_, Some(start)) if is_binary(&start) => return Ok(None),
                _ => read(MAX_TEXT)?,
            },
            small => small?,
        };
        self.files.borrow_mut().put(*id, Arc::clone(&content), content.len());
        Ok(Some(content).filter(|file| !is_binary(file)))
    }

    /// Whether an object is in this clone.
    pub fn has(&self, id: &ObjectId) -> bool {
        let right_length = id.as_bytes().len() * 2 == self.hex_length();
        let is_loose = || self.loose.iter().any(|directory| loose::path(directory, id).is_file());
        let is_packed = || self.places(id).is_ok_and(|places| !places.is_empty());
        let is_here = || is_loose() || is_packed();
        right_length && (is_here() || self.list_packs_again() && is_here())
    }

    /// The file at a path of a tree, such as `.proof/policy.toml`; `None` if there is none.
    pub fn file(&self, tree: &TreeId, path: impl AsRef<[u8]>) -> Read<Option<TreeEntry>> {
        let mut tree = *tree;
        let mut names = path.as_ref().split(|byte| *byte == b'/').peekable();
        while let Some(name) = names.next() {
            let entries = self.read_tree(&tree)?;
            let find = |directory| entries.find(name, directory);
            let Some(entry) = find(false).or_else(|| find(true)) else { return Ok(None) };
            match names.peek() {
                None => return Ok(Some(entry)),
                Some(_) if entry.is_tree() => tree = TreeId(entry.id),
                Some(_) => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Writes an object, unless it is there.
    fn write(&self, kind: ObjectType, bytes: &[u8]) -> Result<ObjectId> {
        let directory = match &self.offer {
            Some(offer) => offer.objects().clone(),
            None => {
                self.must_be_writable()?;
                self.place.common_dir.join("objects")
            }
        };
        let failed = |error: &git2::Error| self.failed(&format!("cannot write a {kind}"), error);
        let oid = Oid::hash_object_ext(kind, bytes, self.repository.object_format()).map_err(|error| failed(&error))?;
        let id = ObjectId::from_bytes(oid.as_bytes())
            .ok_or_else(|| Error::new(Code::RepositoryFailed, "libgit2 gave an id of an unknown length"))?;
        if !self.freshen(&id) {
            let mut packer = self.packer.borrow_mut();
            loose::write(&mut packer, &directory, self.context.new_id().as_str(), &id, (kind, bytes))
                .map_err(|error| failed(&git2::Error::from_str(&error.to_string())))?;
        }
        Ok(id)
    }

    /// Whether an object is here and stays: the file that it is in counts as new from now on, so that a gc beside us leaves
    /// it alone. Git keeps no object for being in a cruft pack.
    fn freshen(&self, id: &ObjectId) -> bool {
        if self.loose.iter().any(|directory| loose::freshen(&loose::path(directory, id))) {
            return true;
        }
        let packs = Arc::clone(self.reader().packs());
        packs
            .all(id)
            .filter_map(|(pack, _)| packs.get(pack))
            .any(|pack| !pack.is_cruft() && loose::freshen(&pack.path()))
    }

    /// Writes a file.
    pub fn write_blob(&self, bytes: &[u8]) -> Result<ObjectId> {
        self.write(ObjectType::Blob, bytes)
    }

    /// Writes a tree; the entries are sorted as git sorts them.
    pub fn write_tree(&self, entries: &mut [TreeEntry]) -> Result<TreeId> {
        entries.sort_by(TreeEntry::order);
        let mut raw = Vec::with_capacity(entries.len() * 64);
        for entry in entries {
            match entry.mode {
                FILE => raw.extend_from_slice(b"100644 "),
                DIRECTORY => raw.extend_from_slice(b"40000 "),
                other => raw.extend_from_slice(format!("{other:o} ").as_bytes()),
            }
            raw.extend_from_slice(&entry.name);
            raw.push(0);
            raw.extend_from_slice(entry.id.as_bytes());
        }
        self.write(ObjectType::Tree, &raw).map(TreeId)
    }

    /// Writes a commit by whoever works here.
    pub fn write_commit(&self, tree: &TreeId, parents: &[CommitId], message: &str) -> Result<CommitId> {
        let who = self.committer();
        let when = seconds(&self.context.now());
        let mut raw = format!("tree {tree}\n");
        for parent in parents {
            raw.push_str(&format!("parent {parent}\n"));
        }
        raw.push_str(&format!("author {who} {when} +0000\ncommitter {who} {when} +0000\n\n{message}\n"));
        self.write(ObjectType::Commit, raw.as_bytes()).map(CommitId)
    }

    /// Who writes: what the environment or the configuration says, else the tool itself. It is not part of any proof.
    fn committer(&self) -> String {
        let part = |variable: &str, key: &str, otherwise: &str| {
            let set = self.context.variable(variable).and_then(|value| value.into_string().ok());
            let set = set.or_else(|| self.setting(key));
            let clean: String =
                set.unwrap_or_default().chars().filter(|letter| !matches!(letter, '<' | '>' | '\n' | '\0')).collect();
            if clean.trim().is_empty() { otherwise.to_owned() } else { clean.trim().to_owned() }
        };
        format!(
            "{} <{}>",
            part("GIT_COMMITTER_NAME", "user.name", "git-proof"),
            part("GIT_COMMITTER_EMAIL", "user.email", "git-proof@localhost")
        )
    }
}

/// Seconds since 1970 of a time; a clock before that counts as its beginning.
fn seconds(time: &Timestamp) -> i64 {
    chrono::DateTime::parse_from_rfc3339(time.as_str()).map_or(0, |time| time.timestamp().max(0))
}

/// Reads a commit: the headers that git always writes, once each and in order, then others, then the message. A second
/// tree, parent list or author further down would be read by one program and not by another.
fn parse_commit(id: CommitId, raw: &[u8]) -> Option<Commit> {
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
