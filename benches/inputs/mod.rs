//! Inputs that are made to exhaust whoever reads them, for the benchmark `hostile` and for the tests of attacks. Each is
//! something that a person could push to a server, or leave in a repository that others clone.

#![allow(clippy::unwrap_used)] // an input that cannot be made should stop whoever asks for it
#![allow(dead_code)] // each user takes what it needs

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::{Digest as _, Sha1};

/// A repository of SHA-1 ids, and how git is run in it: with these arguments and this input, and answering what it prints.
pub(crate) struct Target<'a> {
    pub(crate) path: &'a Path,
    pub(crate) git: &'a dyn Fn(&[&str], &[u8]) -> String,
}

/// A text that is mostly the same part over and over, so that it takes no memory to describe.
pub(crate) struct Repeated<'a> {
    pub(crate) before: &'a [u8],
    pub(crate) part: &'a [u8],
    pub(crate) times: usize,
    pub(crate) after: &'a [u8],
}

impl Repeated<'_> {
    fn len(&self) -> usize {
        self.before.len() + self.part.len() * self.times + self.after.len()
    }

    fn write(&self, to: &mut impl FnMut(&[u8])) {
        const AT_ONCE: usize = 4096;
        to(self.before);
        let many = self.part.repeat(AT_ONCE.min(self.times.max(1)));
        let mut left = self.times * self.part.len();
        while left > 0 {
            let length = left.min(many.len());
            to(&many[..length]);
            left -= length;
        }
        to(self.after);
    }
}

impl<'a> From<&'a [u8]> for Repeated<'a> {
    fn from(before: &'a [u8]) -> Self {
        Self { before, part: b"", times: 0, after: b"" }
    }
}

impl Target<'_> {
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        (self.git)(arguments, b"").trim_end().to_owned()
    }

    pub(crate) fn run_with(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> String {
        (self.git)(arguments, input.as_ref()).trim_end().to_owned()
    }

    pub(crate) fn tip(&self, name: &str) -> String {
        self.run(&["rev-parse", name])
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.path.join(".git/objects")
    }

    /// Writes a loose object of any size without holding it in memory.
    pub(crate) fn loose(&self, kind: &str, content: &Repeated<'_>) -> String {
        let header = format!("{kind} {}\0", content.len());
        let mut hash = Sha1::new_with_prefix(&header);
        content.write(&mut |bytes| hash.update(bytes));
        let id = hex(&hash.finalize());
        let folder = self.objects().join(&id[..2]);
        fs::create_dir_all(&folder).unwrap();
        let mut stream = ZlibEncoder::new(File::create(folder.join(&id[2..])).unwrap(), Compression::fast());
        stream.write_all(header.as_bytes()).unwrap();
        content.write(&mut |bytes| stream.write_all(bytes).unwrap());
        stream.finish().unwrap();
        id
    }

    pub(crate) fn blob(&self, content: &[u8]) -> String {
        self.loose("blob", &content.into())
    }

    /// Makes a commit of a tree, with this message, on top of another.
    pub(crate) fn commit(&self, tree: &str, parents: &[&str], message: &Repeated<'_>) -> String {
        let mut head = format!("tree {tree}\n");
        for parent in parents {
            writeln!(head, "parent {parent}").unwrap();
        }
        head.push_str("author A <a@b> 1700000000 +0000\ncommitter A <a@b> 1700000000 +0000\n\n");
        let before = [head.as_bytes(), message.before].concat();
        let &Repeated { part, times, after, .. } = message;
        self.loose("commit", &Repeated { before: &before, part, times, after })
    }

    /// Moves a ref to a new commit of this tree, on top of where it is.
    pub(crate) fn set_tree(&self, name: &str, tree: &str) {
        let there = self.run(&["for-each-ref", "--format=%(objectname)", name]);
        let parents: Vec<&str> = Some(there.as_str()).filter(|there| !there.is_empty()).into_iter().collect();
        let commit = self.commit(tree, &parents, &b"set\n"[..].into());
        self.run(&["update-ref", name, &commit]);
    }

    /// A tree with these entries: mode, kind, id and name.
    pub(crate) fn tree(&self, entries: impl IntoIterator<Item = (&'static str, String, String)>) -> String {
        let mut listing = String::new();
        for (mode, id, name) in entries {
            let kind = if mode == "040000" { "tree" } else { "blob" };
            writeln!(listing, "{mode} {kind} {id}\t{name}").unwrap();
        }
        self.run_with(&["mktree", "--missing"], listing)
    }

    /// Puts a pack and its index among the others.
    pub(crate) fn install(&self, folder: &Path, name: &str, (pack, index): &(Vec<u8>, Vec<u8>)) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(format!("pack-{name}.pack")), pack).unwrap();
        fs::write(folder.join(format!("pack-{name}.idx")), index).unwrap();
    }

    /// Points the note of a commit at a blob, and keeps all others.
    pub(crate) fn set_note(&self, commit: &str, blob: &str) {
        self.run(&["notes", "--ref=proof", "add", "--force", "-C", blob, commit]);
    }

    /// Gives notes to many commits at once.
    pub(crate) fn add_notes(&self, notes: &[(String, String)]) {
        let mut stream = String::from("commit refs/notes/proof\ncommitter A <a@b> 1700000000 +0000\ndata 1\nn\n");
        let there = self.run(&["for-each-ref", "--format=%(objectname)", "refs/notes/proof"]);
        if !there.is_empty() {
            writeln!(stream, "from {there}").unwrap();
        }
        for (commit, blob) in notes {
            writeln!(stream, "M 100644 {blob} {commit}").unwrap();
        }
        self.run_with(&["fast-import", "--quiet", "--force"], stream);
    }

    /// Puts lines into the file of a change in the index.
    pub(crate) fn index_change(&self, change: &str, lines: &str) {
        let file = self.tree([("100644", self.blob(lines.as_bytes()), change.to_owned())]);
        let tree = self.tree([("040000", file, change[..2].to_owned())]);
        self.set_tree("refs/proof/changes", &tree);
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn raw(id: &str) -> Vec<u8> {
    (0..id.len()).step_by(2).map(|at| u8::from_str_radix(&id[at..at + 2], 16).unwrap()).collect()
}

/// An entry of a pack: its kind, the size that it claims, what comes before its stream, and what is in that.
pub(crate) struct Packed {
    pub(crate) id: String,
    pub(crate) kind: u8,
    pub(crate) size: u64,
    pub(crate) base: Vec<u8>,
    pub(crate) content: Vec<u8>,
}

pub(crate) const BLOB: u8 = 3;
pub(crate) const DELTA_BY_ID: u8 = 7;

impl Packed {
    pub(crate) fn new(id: &str, kind: u8, content: &[u8]) -> Self {
        Self { id: id.to_owned(), kind, size: content.len() as u64, base: Vec::new(), content: content.to_vec() }
    }

    pub(crate) fn delta(id: &str, base: &str, content: &[u8]) -> Self {
        Self { base: raw(base), ..Self::new(id, DELTA_BY_ID, content) }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut rest = self.size >> 4;
        let mut bytes = vec![self.kind << 4 | (self.size & 15) as u8 | u8::from(rest > 0) << 7];
        while rest > 0 {
            bytes.push((rest & 0x7f) as u8 | u8::from(rest > 0x7f) << 7);
            rest >>= 7;
        }
        bytes.extend(&self.base);
        let mut stream = ZlibEncoder::new(bytes, Compression::fast());
        stream.write_all(&self.content).unwrap();
        stream.finish().unwrap()
    }
}

/// A pack with these entries and its index, of version 1 or 2. Nothing checks what they say.
pub(crate) fn pack(entries: &[Packed], version: u8) -> (Vec<u8>, Vec<u8>) {
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend(u32::try_from(entries.len()).unwrap().to_be_bytes());
    let mut places = Vec::new();
    for entry in entries {
        places.push((raw(&entry.id), u32::try_from(pack.len()).unwrap()));
        pack.extend(entry.to_bytes());
    }
    let sum = Sha1::digest(&pack);
    pack.extend(sum);
    places.sort();
    let mut index = if version == 1 { Vec::new() } else { b"\xfftOc\0\0\0\x02".to_vec() };
    for first in 0..=255 {
        let count = places.iter().filter(|(id, _)| id[0] <= first).count();
        index.extend(u32::try_from(count).unwrap().to_be_bytes());
    }
    if version == 1 {
        index.extend(places.iter().flat_map(|(id, place)| [&place.to_be_bytes()[..], id].concat()));
    } else {
        index.extend(places.iter().flat_map(|(id, _)| id.clone()));
        index.extend(vec![0; 4 * places.len()]);
        index.extend(places.iter().flat_map(|(_, place)| place.to_be_bytes()));
    }
    index.extend(sum);
    let sum = Sha1::digest(&index);
    index.extend(sum);
    (pack, index)
}

/// The bytes of a size at the beginning of a delta.
fn varint(bytes: &mut Vec<u8>, mut size: usize) {
    while size > 0x7f {
        bytes.push((size & 0x7f) as u8 | 0x80);
        size >>= 7;
    }
    bytes.push((size & 0x7f) as u8);
}

/// A delta that copies all of a base of a size, in pieces of at most 16 MiB.
pub(crate) fn copy_all(size: usize) -> Vec<u8> {
    let mut delta = Vec::new();
    varint(&mut delta, size);
    varint(&mut delta, size);
    let mut at = 0;
    while at < size {
        let length = (size - at).min(0xff_ffff);
        delta.push(0xff);
        delta.extend(u32::try_from(at).unwrap().to_le_bytes());
        delta.extend(&u32::try_from(length).unwrap().to_le_bytes()[..3]);
        at += length;
    }
    delta
}

/// A chain of so many deltas, each of which copies all of the one before. The last has the given id, the others ids that
/// nobody asks for.
pub(crate) fn chain(content: &[u8], deltas: usize, id: &str) -> Vec<Packed> {
    let name = |number: usize| format!("{number:040x}");
    let mut entries = vec![Packed::new(&name(1), BLOB, content)];
    for number in 1..=deltas {
        let own = if number == deltas { id.to_owned() } else { name(number + 1) };
        entries.push(Packed::delta(&own, &name(number), &copy_all(content.len())));
    }
    entries
}

/// The id of a blob.
pub(crate) fn blob_id(content: &[u8]) -> String {
    hex(&Sha1::new_with_prefix(format!("blob {}\0", content.len())).chain_update(content).finalize())
}

/// Two objects that are deltas of each other.
pub(crate) fn circle(id: &str) -> Vec<Packed> {
    let other = "77".repeat(20);
    let copy = copy_all(9);
    vec![Packed::delta(id, &other, &copy), Packed::delta(&other, id, &copy)]
}

/// Lines that all occur on both sides, in another order: the slowest texts to compare that are known.
pub(crate) fn shuffled(lines: usize) -> [Vec<u8>; 2] {
    let mut numbers: Vec<usize> = (0..lines).collect();
    let print = |numbers: &[usize]| {
        let mut text = String::with_capacity(lines * 7);
        numbers.iter().for_each(|number| writeln!(text, "{:x}", number / 2).unwrap());
        text.into_bytes()
    };
    let mut seed = 7u64;
    let mut shuffle = |numbers: &mut Vec<usize>| {
        for at in (1..numbers.len()).rev() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            numbers.swap(at, usize::try_from(seed >> 33).unwrap() % (at + 1));
        }
    };
    shuffle(&mut numbers);
    let before = print(&numbers);
    shuffle(&mut numbers);
    [before, print(&numbers)]
}

impl Target<'_> {
    /// A directory in which every name is the same directory once more, so many levels deep. `names` are those of each
    /// level, `leaf` the innermost tree.
    pub(crate) fn bomb(&self, names: &[String], levels: usize, leaf: String) -> String {
        let mut below = leaf;
        for _ in 0..levels {
            below = self.tree(names.iter().map(|name| ("040000", below.clone(), name.clone())));
        }
        below
    }

    /// All names that a notes tree may have for its directories.
    pub(crate) fn fans() -> Vec<String> {
        (0..256).map(|digits| format!("{digits:02x}")).collect()
    }

    /// A tree whose names are prefixes of each other, the longest first, all of directories.
    pub(crate) fn prefixes(&self, longest: usize) -> String {
        let empty = raw("4b825dc642cb6eb9a060e54bf8d69288fbee4904");
        let mut bytes = Vec::new();
        for length in (1..=longest).rev() {
            bytes.extend(b"40000 ");
            bytes.extend(vec![b'!'; length]);
            bytes.push(0);
            bytes.extend(&empty);
        }
        self.loose("tree", &bytes.as_slice().into())
    }
}

/// The bytes of an SSH signature that names an RSA key of so many bits, and is none of it.
pub(crate) fn rsa_signature(bits: usize, number: usize) -> Vec<u8> {
    let mut modulus = vec![0; 1];
    modulus.extend((0..bits / 8).map(|at| 0x81u8.wrapping_add(((at * 31 + number) % 63) as u8) | 0x81));
    let string = |bytes: &[u8]| [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat();
    let key = [string(b"ssh-rsa"), string(&[1, 0, 1]), string(&modulus)].concat();
    signature_of(&key, &[string(b"rsa-sha2-512"), string(&vec![1; bits / 8])].concat())
}

/// The bytes of an SSH signature that names this key.
pub(crate) fn signature_of(key: &[u8], signature: &[u8]) -> Vec<u8> {
    let string = |bytes: &[u8]| [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat();
    let fields = [string(key), string(b"git-proof"), string(b""), string(b"sha512"), string(signature)];
    [&b"SSHSIG\0\0\0\x01"[..], &fields.concat()].concat()
}
