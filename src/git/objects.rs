//! Reading objects from packs and loose files, with their hash checked.

use std::cell::{RefCell, RefMut};
use std::io;
use std::sync::Arc;

use git2::{ObjectType, Oid};
use sha1::{Digest as _, Sha1};

use super::cache::Cache;
use super::index::Place;
use super::limits::{LARGEST_TEXT, MAX_COMMIT, MAX_OBJECT, MAX_PACKS, MAX_TEXT, MAX_TREE, cost};
use super::loose::{self, Loose};
use super::object::{Commit, ObjectError, Read, TreeEntry, parse_commit};
use super::open::Git;
use super::pack::{Fault, Reader, within};
use super::tree::Tree;
use crate::proof::digest::{CommitId, ObjectId, TreeId};

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

/// Refuses a tree that git would not write.
fn orderly(id: &TreeId, tree: Arc<Tree>) -> Read<Arc<Tree>> {
    if tree.is_orderly() {
        return Ok(tree);
    }
    Err(ObjectError::Damaged(id.0, "not a tree that git would write".to_owned()))
}

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

    pub fn commit(&self, id: &CommitId) -> Read<Commit> {
        let raw = self.read(&id.0, ObjectType::Commit, MAX_COMMIT, Self::is_id_of)?;
        parse_commit(*id, &raw)
            .ok_or_else(|| ObjectError::Damaged(id.0, "not a commit that git would write".to_owned()))
    }

    pub fn tree(&self, id: &TreeId) -> Read<Vec<TreeEntry>> {
        Ok(self.read_tree(id)?.items().map(|item| item.to_entry()).collect())
    }

    /// A tree that git would write.
    pub fn read_tree(&self, id: &TreeId) -> Read<Arc<Tree>> {
        orderly(id, self.read_tree_as_git(id)?)
    }

    /// A tree of a proof ref that git would write. All that it leads to is verified by what it says itself, so the tree's id
    /// tells no more than whether the tree is whole.
    pub(super) fn read_proof_tree(&self, id: &TreeId) -> Read<Arc<Tree>> {
        orderly(id, self.read_tree_kept(id, &self.proof_trees, Self::is_plain_id_of)?)
    }

    /// A tree as git reads it, in its own bytes: entries may stand in any order and under any name. A child's trees are
    /// its parent's, but for what it changed: those of late are kept.
    pub(super) fn read_tree_as_git(&self, id: &TreeId) -> Read<Arc<Tree>> {
        self.read_tree_kept(id, &self.trees, Self::is_id_of)
    }

    fn read_tree_kept(
        &self,
        id: &TreeId,
        kept: &RefCell<Cache<TreeId, Arc<Tree>>>,
        is_id_of: fn(&Self, &ObjectId, ObjectType, &[u8]) -> bool,
    ) -> Read<Arc<Tree>> {
        if let Some(known) = kept.borrow_mut().get(id, |tree| tree.size()) {
            return Ok(known);
        }
        let raw = match self.read(&id.0, ObjectType::Tree, MAX_TREE, is_id_of) {
            // Git has the empty tree without an object.
            Err(ObjectError::Missing(_)) if self.is_id_of(&id.0, ObjectType::Tree, b"") => Arc::default(),
            read => read?,
        };
        let raw = Arc::unwrap_or_clone(raw);
        let tree = Tree::parse(raw, id.0.as_bytes().len())
            .ok_or_else(|| ObjectError::Damaged(id.0, "not a tree that git can read".to_owned()))?;
        let tree = Arc::new(tree);
        kept.borrow_mut().put(*id, Arc::clone(&tree), tree.size());
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

    /// The same, of a blob that was found in a pack. It is looked for again if it is not there any more.
    pub(crate) fn proof_blob_at(&self, place: Place, id: &ObjectId, limit: usize) -> Read<Arc<Vec<u8>>> {
        let found = self.reader().read(place, ObjectType::Blob, limit.min(MAX_OBJECT), &self.meter).ok();
        match found.filter(|content| self.is_plain_id_of(id, ObjectType::Blob, content)) {
            Some(content) => Ok(content),
            None => self.proof_blob(id, limit),
        }
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
            let directory = || entries.find(name, true);
            if names.peek().is_none() {
                return Ok(entries.find(name, false).or_else(directory).map(|entry| entry.to_entry()));
            }
            let Some(below) = directory() else { return Ok(None) };
            tree = TreeId(below.id);
        }
        Ok(None)
    }
}
