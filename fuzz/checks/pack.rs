//! Objects as a repository stores them: packs with their indexes, loose objects, and the trees and commits in both.
//!
//! The repository is one of SHA-256, so that ids can be computed here. What is read with the index in memory is held against
//! what is read without, and against what was put in.

use git_proof::git::{Git, TreeEntry};
use git_proof::proof::digest::{CommitId, ObjectId, TreeId, sha256};

use super::scratch::Scratch;
use super::storing::{ID, Object, apply, distance, head, id_of, index, stored, varint};

const CONFIG: &str = "\
[core]
\trepositoryformatversion = 1
\tbare = false
[extensions]
\tobjectformat = sha256
";

const KINDS: [(u8, &str); 4] = [(1, "commit"), (2, "tree"), (3, "blob"), (4, "tag")];

/// The first byte says what the rest is: `r` an index (its length in two bytes, then itself) and a pack; `e` entries of a
/// pack, of which an index is made; `t` a tree; `c` a commit; `l` what is in a loose object; `f` the file of one.
pub fn pack(data: &[u8]) {
    let Some((form, rest)) = data.split_first() else { return };
    match form {
        b'r' => raw(rest),
        b'e' => entries(rest),
        b't' => tree(rest),
        b'c' => commit(rest),
        b'l' => loose(rest, &stored(rest)),
        b'f' => loose(&[], rest),
        _ => {}
    }
}

/// A repository with one pack, opened for few objects and for many.
struct Repository {
    // Only there to be dropped last.
    _scratch: Scratch,
    plain: Git,
    packed: Git,
}

impl Repository {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let scratch = Scratch::empty();
        scratch.write(".git/config", CONFIG.as_bytes());
        scratch.write(".git/HEAD", b"ref: refs/heads/main\n");
        scratch.write(".git/refs/heads/none", b"");
        scratch.write(".git/objects/pack/none", b"");
        for (name, bytes) in files {
            scratch.write(format!(".git/objects/{name}"), bytes);
        }
        let open = || Git::discover(&scratch.context()).expect("a repository");
        let (plain, packed) = (open(), open());
        packed.open_packs(true);
        Self { _scratch: scratch, plain, packed }
    }

    fn of_pack(index: &[u8], pack: &[u8]) -> Self {
        Self::new(&[("pack/pack-1.idx", index), ("pack/pack-1.pack", pack)])
    }

    /// Reads an object as each of the three kinds. Both ways answer the same; whatever is read has the id that was asked
    /// for. The content, if it is a file.
    fn read(&self, id: &ObjectId) -> Option<Vec<u8>> {
        let (there, here) = (self.plain.blob(id, usize::MAX), self.packed.blob(id, usize::MAX));
        assert_eq!(there, here);
        for content in there.iter().chain(&here) {
            assert_eq!(id_of("blob", content), *id, "another file");
        }
        let (there, also) = (self.plain.tree(&TreeId(*id)), self.packed.tree(&TreeId(*id)));
        assert_eq!(there, also);
        let (there, also) = (self.plain.commit(&CommitId(*id)), self.packed.commit(&CommitId(*id)));
        assert_eq!(there, also);
        assert_eq!(self.plain.has(id), self.packed.has(id));
        here.ok()
    }

    /// Sorting loses nothing, whatever is a delta of what.
    fn sort(&self, ids: &[ObjectId]) {
        let sorted = self.packed.sort_by_family(ids.to_vec(), |id| id);
        let ordered = |ids: &[ObjectId]| {
            let mut names: Vec<String> = ids.iter().map(ToString::to_string).collect();
            names.sort_unstable();
            names
        };
        assert_eq!(ordered(&sorted), ordered(ids));
    }
}

fn raw(data: &[u8]) {
    let Some((length, rest)) = data.split_first_chunk::<2>() else { return };
    let (index, pack) = rest.split_at(usize::from(u16::from_be_bytes(*length)).min(rest.len()));
    let mut ids: Vec<ObjectId> =
        index.get(1032..).unwrap_or_default().chunks(ID).filter_map(ObjectId::from_bytes).collect();
    ids.truncate(12);
    ids.extend(ObjectId::from_bytes(&[0; ID]));
    let repository = Repository::of_pack(index, pack);
    for id in &ids {
        repository.read(id);
    }
    repository.sort(&ids);
}

/// Entries: what each is, what it is a delta of, two bytes for its length, and itself; the sizes before a delta are put
/// there unless the entry asks for none.
fn entries(mut data: &[u8]) {
    let mut pack = b"PACK\0\0\0\x02\0\0\0\0".to_vec();
    let mut objects: Vec<Object> = Vec::new();
    while let Some(([form, base, high, low], rest)) = data.split_first_chunk::<4>() {
        let (content, rest) = rest.split_at(usize::from(u16::from_be_bytes([*high, *low])).min(rest.len()));
        data = rest;
        let kind = form & 7;
        let place = pack.len();
        let of = (!objects.is_empty()).then(|| &objects[usize::from(*base) % objects.len()]);
        let (object, packed) = match (KINDS.iter().find(|(number, _)| *number == kind), of) {
            (Some((_, name)), _) => (
                Object { id: id_of(name, content), content: Some(content.to_vec()), kind: name, place },
                content.to_vec(),
            ),
            (None, Some(of)) if kind == 6 || kind == 7 => {
                let made = of.content.as_ref().and_then(|base| apply(base, content));
                let mut delta = Vec::new();
                if form & 0x80 == 0 {
                    varint(&mut delta, of.content.as_ref().map_or(0, Vec::len));
                    varint(&mut delta, made.as_ref().map_or(0, Vec::len));
                }
                delta.extend_from_slice(content);
                // With sizes of its own it may be one, and not of what it says.
                let made = made.filter(|_| form & 0x80 == 0);
                let id = made.as_ref().map_or_else(|| id_of("blob", &delta), |made| id_of(of.kind, made));
                (Object { id, content: made, kind: of.kind, place }, delta)
            }
            // Something that git does not know.
            _ => (Object { id: id_of("blob", content), content: None, kind: "blob", place }, content.to_vec()),
        };
        if objects.iter().any(|other| other.id == object.id) || objects.len() > 60 {
            continue;
        }
        head(&mut pack, kind, packed.len());
        match (kind, of) {
            (6, Some(of)) => distance(&mut pack, place - of.place),
            (7, Some(of)) => pack.extend_from_slice(of.id.as_bytes()),
            _ => {}
        }
        pack.extend(stored(&packed));
        objects.push(object);
    }
    let count = u32::try_from(objects.len()).expect("a few");
    pack[8..12].copy_from_slice(&count.to_be_bytes());
    let sum = sha256(&pack);
    pack.extend_from_slice(&sum);
    objects.sort_by(|one, other| one.id.as_bytes().cmp(other.id.as_bytes()));
    let repository = Repository::of_pack(&index(&objects, &sum), &pack);
    for object in &objects {
        let found = repository.read(&object.id);
        match &object.content {
            Some(content) if object.kind == "blob" => assert_eq!(found.as_ref(), Some(content), "{}", object.id),
            Some(_) => assert_eq!(found, None, "a {} is no file", object.kind),
            None => {}
        }
    }
    repository.sort(&objects.iter().map(|object| object.id).collect::<Vec<_>>());
}

/// A pack with one object.
fn single(kind: u8, content: &[u8]) -> (Repository, ObjectId) {
    let name = KINDS.iter().find(|(number, _)| *number == kind).expect("a kind").1;
    let mut pack = b"PACK\0\0\0\x02\0\0\0\x01".to_vec();
    head(&mut pack, kind, content.len());
    pack.extend(stored(content));
    let sum = sha256(&pack);
    pack.extend_from_slice(&sum);
    let id = id_of(name, content);
    let object = Object { id, content: None, kind: name, place: 12 };
    (Repository::of_pack(&index(&[object], &sum), &pack), id)
}

/// A tree has the entries that are in it, sorted, each name once, and each is found by its name.
fn tree(raw: &[u8]) {
    let (repository, id) = single(2, raw);
    assert_eq!(repository.read(&id), None);
    let Ok(found) = repository.packed.tree(&TreeId(id)) else { return };
    assert_eq!(Some(&found), items(raw).as_ref(), "the entries of {raw:?}");
    let tree = repository.packed.read_tree(&TreeId(id)).expect("it was read before");
    let mut names: Vec<&[u8]> = found.iter().map(|entry| &entry.name[..]).collect();
    names.sort_unstable();
    assert!(names.is_sorted_by(|one, other| one < other), "a name is there twice: {raw:?}");
    for entry in &found {
        assert_eq!(tree.find(&entry.name, entry.is_tree()).map(|found| found.to_entry()).as_ref(), Some(entry));
        if let Ok(name) = std::str::from_utf8(&entry.name) {
            assert_eq!(repository.packed.file(&TreeId(id), name).as_ref(), Ok(&Some(entry.clone())));
        }
    }
    let key = |entry: &TreeEntry| [&entry.name[..], if entry.is_tree() { b"/" } else { b"\0" }].concat();
    assert!(found.is_sorted_by(|one, other| key(one) < key(other)), "not in order: {raw:?}");
}

/// The entries of a tree, read without any care.
fn items(mut raw: &[u8]) -> Option<Vec<TreeEntry>> {
    let mut items = Vec::new();
    while !raw.is_empty() {
        let space = raw.iter().position(|byte| *byte == b' ')?;
        let mode = u32::from_str_radix(std::str::from_utf8(&raw[..space]).ok()?, 8).ok()?;
        let end = space + raw[space..].iter().position(|byte| *byte == 0)?;
        let id = ObjectId::from_bytes(raw.get(end + 1..end + 1 + ID)?)?;
        items.push(TreeEntry { mode, name: raw[space + 1..end].to_vec(), id });
        raw = &raw[end + 1 + ID..];
    }
    Some(items)
}

/// What is told of a commit is in it.
fn commit(raw: &[u8]) {
    let (repository, id) = single(1, raw);
    assert_eq!(repository.read(&id), None);
    let Ok(found) = repository.packed.commit(&CommitId(id)) else { return };
    let mut head = format!("tree {}\n", found.tree);
    for parent in &found.parents {
        head.push_str(&format!("parent {parent}\n"));
    }
    let head = [head.as_bytes(), b"author ", &found.author].concat();
    assert!(raw.starts_with(&head) && raw.ends_with(&found.message), "{found:?}");
    let before = &raw[..raw.len() - found.message.len()];
    assert!(before.ends_with(b"\n\n"), "a message begins after the first empty line");
    let headers = &before[..before.len() - 1];
    assert!(!headers.windows(2).any(|two| two == b"\n\n"), "a message begins after the first empty line");
    let count = headers.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"author ")).count();
    assert_eq!(count, 1, "one author");
    let _ = found.subject();
}

/// A loose object is read if it is what its header says, and if that is what its id says.
fn loose(text: &[u8], file: &[u8]) {
    let id = ObjectId::from_bytes(&sha256(text)).expect("an id");
    let hex = id.to_string();
    let repository = Repository::new(&[(&format!("{}/{}", &hex[..2], &hex[2..]), file)]);
    let found = repository.read(&id);
    let end = text.iter().position(|byte| *byte == 0);
    let content = end.map(|end| &text[end + 1..]);
    let expected = content.filter(|content| text.starts_with(format!("blob {}\0", content.len()).as_bytes()));
    assert_eq!(found.as_deref(), expected);
}
