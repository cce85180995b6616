//! Objects: read with their hash checked, parsed strictly, and written as git writes them.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use git2::{ObjectType, Odb, OdbLookupFlags, Oid};
use sha1::{Digest as _, Sha1};

use super::loose::{self, Loose};
use super::open::Git;
use super::pack::Reader;
use super::tree::{self, Item, Tree};
use crate::error::{Code, Error, Result};
use crate::proof::digest::{CommitId, ObjectId, TreeId};
use crate::proof::timestamp::Timestamp;

/// Mode of a plain file.
pub const FILE: u32 = 0o100_644;
/// Mode of a subtree.
pub const DIRECTORY: u32 = 0o040_000;

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
    /// Its message, as it is stored.
    pub message: Vec<u8>,
}

impl Commit {
    /// The first line of the message.
    pub fn subject(&self) -> String {
        let text = String::from_utf8_lossy(&self.message);
        text.trim_start().lines().next().unwrap_or_default().trim_end().to_owned()
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
    /// Whether it is a subtree.
    pub fn is_tree(&self) -> bool {
        self.mode == DIRECTORY
    }

    /// Whether it is a file, be it a program or not; a link is none.
    pub fn is_file(&self) -> bool {
        self.mode & 0o170_000 == 0o100_000
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
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(id) => write!(f, "object {id} is not in this clone"),
            Self::Damaged(id, why) => write!(f, "object {id} is damaged: {why}"),
        }
    }
}

impl From<ObjectError> for Error {
    fn from(error: ObjectError) -> Self {
        let message = error.to_string();
        match error {
            ObjectError::Missing(_) => Self::new(Code::ObjectMissing, message)
                .hint("the clone may be shallow or partial: git fetch --unshallow, or git fetch --refetch"),
            ObjectError::Damaged(..) => {
                Self::new(Code::ObjectDamaged, message).hint("`git fsck` tells what else is damaged; fetch it anew")
            }
        }
    }
}

/// What reading an object gives.
pub type Read<T> = std::result::Result<T, ObjectError>;

impl Git {
    /// The content of an object of the given kind; its hash is checked.
    fn read(&self, id: &ObjectId, kind: ObjectType, limit: usize) -> Read<Arc<Vec<u8>>> {
        if let Some(content) = self.read_packed(id, kind, limit, Self::is_id_of) {
            return Ok(content);
        }
        let damaged = |why: String| ObjectError::Damaged(*id, why);
        let small_enough = |size: usize| match size {
            size if size > limit => Err(damaged(format!("{size} bytes are more than the {limit} that are read"))),
            _ => Ok(()),
        };
        let (found, data) = match self.loose(id)? {
            Some(object) => {
                small_enough(object.size)?;
                let found = object.kind;
                let data = object.content().map_err(|error| damaged(error.to_string()))?;
                if !self.is_id_of(id, found, &data) {
                    return Err(damaged("its content has another id".to_owned()));
                }
                (found, data)
            }
            None => {
                if limit < usize::MAX {
                    small_enough(self.find(id, |objects, oid| objects.read_header(oid).map(|(size, _)| size))?)?;
                }
                self.find(id, |objects, oid| objects.read(oid).map(|object| (object.kind(), object.data().to_vec())))?
            }
        };
        if found != kind {
            return Err(damaged(format!("it is a {found}, not a {kind}")));
        }
        Ok(Arc::new(data))
    }

    /// The content of an object that is as it should be, where packs are read here. Whatever is wrong with it, libgit2 has
    /// to say: `None`.
    fn read_packed(
        &self,
        id: &ObjectId,
        kind: ObjectType,
        limit: usize,
        is_id_of: fn(&Self, &ObjectId, ObjectType, &[u8]) -> bool,
    ) -> Option<Arc<Vec<u8>>> {
        let is_good = |(found, content): &(ObjectType, Arc<Vec<u8>>)| {
            *found == kind && content.len() <= limit && is_id_of(self, id, kind, content)
        };
        self.packed.as_ref()?.borrow_mut().read(id, is_good).map(|(_, content)| content)
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

    /// How many bytes an object has, as its header says.
    fn size(&self, id: &ObjectId) -> Read<usize> {
        match self.loose(id)? {
            Some(object) => Ok(object.size),
            None => self.find(id, |objects, oid| objects.read_header(oid).map(|(size, _)| size)),
        }
    }

    /// A loose object, if it is one.
    fn loose(&self, id: &ObjectId) -> Read<Option<Loose>> {
        if id.as_bytes().len() * 2 != self.hex_length() {
            return Err(ObjectError::Missing(*id));
        }
        loose::open(&self.loose, id).transpose().map_err(|error| ObjectError::Damaged(*id, error.to_string()))
    }

    /// An object that is in a pack.
    fn find<T>(&self, id: &ObjectId, work: impl FnOnce(&Odb<'_>, Oid) -> Result<T, git2::Error>) -> Read<T> {
        let guard = self
            .packed
            .as_ref()
            .unwrap_or_else(|| self.guard.get_or_init(|| RefCell::new(Reader::new(self.packs(false)))));
        if let Some(why) = guard.borrow_mut().trap(id) {
            return Err(ObjectError::Damaged(*id, why.to_owned()));
        }
        Oid::from_bytes(id.as_bytes()).and_then(|oid| self.with_objects(|objects| work(objects, oid))).map_err(
            |error| match error.code() {
                git2::ErrorCode::NotFound => ObjectError::Missing(*id),
                _ => ObjectError::Damaged(*id, error.message().to_owned()),
            },
        )
    }

    /// A commit.
    pub fn commit(&self, id: &CommitId) -> Read<Commit> {
        let raw = self.read(&id.0, ObjectType::Commit, usize::MAX)?;
        parse_commit(*id, &raw)
            .ok_or_else(|| ObjectError::Damaged(id.0, "not a commit that git would write".to_owned()))
    }

    /// The entries of a tree.
    pub fn tree(&self, id: &TreeId) -> Read<Vec<TreeEntry>> {
        Ok(self.read_tree(id)?.items().map(Item::to_entry).collect())
    }

    /// A tree, in its own bytes. A child's trees are its parent's, but for what it changed: those of late are kept.
    pub fn read_tree(&self, id: &TreeId) -> Read<Arc<Tree>> {
        if let Some(known) = self.trees.borrow_mut().get(id, |tree| tree.size()) {
            return Ok(known);
        }
        let raw = Arc::unwrap_or_clone(self.read(&id.0, ObjectType::Tree, usize::MAX)?);
        let tree = Tree::parse(raw, id.0.as_bytes().len())
            .ok_or_else(|| ObjectError::Damaged(id.0, "not a tree that git would write".to_owned()))?;
        let tree = Arc::new(tree);
        self.trees.borrow_mut().put(*id, Arc::clone(&tree), tree.size());
        Ok(tree)
    }

    /// The bytes of a file, if there are at most `limit`.
    pub fn blob(&self, id: &ObjectId, limit: usize) -> Read<Vec<u8>> {
        self.read(id, ObjectType::Blob, limit).map(Arc::unwrap_or_clone)
    }

    /// The bytes of a note or of evidence. What these say is held to SHA-256 by what they say, whatever blob it stands in; the
    /// blob's own id tells no more than whether it is whole.
    pub(crate) fn proof_blob(&self, id: &ObjectId, limit: usize) -> Read<Arc<Vec<u8>>> {
        match self.read_packed(id, ObjectType::Blob, limit, Self::is_plain_id_of) {
            Some(content) => Ok(content),
            None => self.read(id, ObjectType::Blob, limit),
        }
    }

    /// The bytes of a file; `None` if there are more than `limit`. What is there after one commit is there before the
    /// next that changes it: those of late are kept.
    pub(super) fn blob_within(&self, id: &ObjectId, limit: usize) -> Read<Option<Arc<Vec<u8>>>> {
        if let Some(known) = self.files.borrow_mut().get(id, |file| file.len()) {
            return Ok(Some(known).filter(|file| file.len() <= limit));
        }
        let content = match self.read_packed(id, ObjectType::Blob, limit, Self::is_id_of) {
            Some(content) => content,
            None if self.size(id)? > limit => return Ok(None),
            None => self.read(id, ObjectType::Blob, usize::MAX)?,
        };
        self.files.borrow_mut().put(*id, Arc::clone(&content), content.len());
        Ok(Some(content))
    }

    /// Whether an object is in this clone.
    pub fn has(&self, id: &ObjectId) -> bool {
        let Ok(oid) = Oid::from_bytes(id.as_bytes()) else { return false };
        id.as_bytes().len() * 2 == self.hex_length()
            && self.with_objects(|objects| Ok(objects.exists(oid))).unwrap_or(false)
    }

    /// The file at a path of a tree, such as `.proof/policy.toml`; `None` if there is none.
    pub fn file(&self, tree: &TreeId, path: &str) -> Read<Option<TreeEntry>> {
        let mut tree = *tree;
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            let entries = self.read_tree(&tree)?;
            let find = |directory| entries.find(name.as_bytes(), directory);
            let Some(entry) = find(false).or_else(|| find(true)) else { return Ok(None) };
            match names.peek() {
                None => return Ok(Some(entry)),
                Some(_) if entry.is_tree() => tree = TreeId(entry.id),
                Some(_) => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Writes an object. Libgit2 would look through all packs before each one that is new; what is there already is left to
    /// it all the same, for it also tells a gc beside us that the object is wanted.
    fn write(&self, kind: ObjectType, bytes: &[u8]) -> Result<ObjectId> {
        let objects = self.writable()?;
        let failed = |error: &git2::Error| self.failed(&format!("cannot write a {kind}"), error);
        let oid = Oid::hash_object_ext(kind, bytes, self.repository.object_format()).map_err(|error| failed(&error))?;
        let id = ObjectId::from_bytes(oid.as_bytes())
            .ok_or_else(|| Error::new(Code::RepositoryFailed, "libgit2 gave an id of an unknown length"))?;
        if objects.exists_ext(oid, OdbLookupFlags::NO_REFRESH) {
            objects.write(kind, bytes).map_err(|error| failed(&error))?;
        } else {
            let directory = self.place.common_dir.join("objects");
            let mut packer = self.packer.borrow_mut();
            loose::write(&mut packer, &directory, self.context.new_id().as_str(), &id, (kind, bytes))
                .map_err(|error| failed(&git2::Error::from_str(&error.to_string())))?;
        }
        Ok(id)
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
    line()?.strip_prefix(b"committer ")?;
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
    Some(Commit { id, tree, parents, author: who.to_vec(), author_time: when.trim_ascii().to_vec(), message })
}
