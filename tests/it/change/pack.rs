//! Objects of any content, given to a repository as one pack: faster than a process or a file for each.

use std::collections::HashMap;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use git_proof::proof::digest::{ObjectId, TreeId};
use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use super::scratch::{Scratch, judging, output};

/// An object, as a number of those that were made.
pub(super) type Made = usize;

/// An entry of a tree.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) mode: String,
    pub(super) name: Vec<u8>,
    pub(super) id: Vec<u8>,
}

impl Item {
    /// Whether git looks for a tree behind it.
    pub(super) fn is_tree(&self) -> bool {
        let bits = self.mode.bytes().fold(0_u32, |bits, digit| bits << 3 | u32::from(digit - b'0'));
        bits & 0o170_000 == 0o040_000
    }
}

/// The objects of a pack that is being made.
pub(super) struct Pack {
    pub(super) sha256: bool,
    /// Of each object its id, for trees also their entries.
    pub(super) objects: Vec<(Vec<u8>, Vec<Item>)>,
    pub(super) known: HashMap<Vec<u8>, Made>,
    packed: Vec<u8>,
}

impl Pack {
    pub(super) fn new(sha256: bool) -> Self {
        Self { sha256, objects: Vec::new(), known: HashMap::new(), packed: Vec::new() }
    }

    fn hash(&self, bytes: &[u8]) -> Vec<u8> {
        if self.sha256 { Sha256::digest(bytes).to_vec() } else { Sha1::digest(bytes).to_vec() }
    }

    /// Adds an object of a type, which is a number in packs.
    fn add(&mut self, (number, name): (u8, &str), content: &[u8], items: Vec<Item>) -> Made {
        let id = self.hash(&[format!("{name} {}\0", content.len()).as_bytes(), content].concat());
        if let Some(made) = self.known.get(&id) {
            return *made;
        }
        let (mut byte, mut size) = (number << 4 | u8::try_from(content.len() & 15).unwrap(), content.len() >> 4);
        while size > 0 {
            self.packed.push(byte | 0x80);
            (byte, size) = (u8::try_from(size & 127).unwrap(), size >> 7);
        }
        self.packed.push(byte);
        let mut encoder = ZlibEncoder::new(&mut self.packed, Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap();
        self.objects.push((id.clone(), items));
        self.known.insert(id, self.objects.len() - 1);
        self.objects.len() - 1
    }

    pub(super) fn blob(&mut self, content: &[u8]) -> Made {
        self.add((3, "blob"), content, Vec::new())
    }

    pub(super) fn tree(&mut self, items: &[Item]) -> Made {
        let raw: Vec<u8> =
            items.iter().flat_map(|item| [item.mode.as_bytes(), b" ", &item.name, b"\0", &item.id].concat()).collect();
        self.add((2, "tree"), &raw, items.to_vec())
    }

    pub(super) fn broken_tree(&mut self, raw: &[u8]) -> Made {
        self.add((2, "tree"), raw, Vec::new())
    }

    /// Gives the objects to a repository. `index-pack` looks into none of them.
    pub(super) fn index(&self, scratch: &Scratch) {
        let count = u32::try_from(self.objects.len()).unwrap();
        let mut pack = [b"PACK\0\0\0\x02", &count.to_be_bytes()[..], &self.packed].concat();
        let sum = self.hash(&pack);
        pack.extend(sum);
        output(judging(scratch.path()).args(["index-pack", "--stdin"]), &pack);
    }

    pub(super) fn id(&self, made: Made) -> TreeId {
        TreeId(ObjectId::from_bytes(&self.objects[made].0).unwrap())
    }
}
