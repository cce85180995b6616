//! The four schemes as their definition has them: level lists and plain recursion, with no thought for speed. Shares
//! nothing with the code under test but the names of the schemes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;

use git_proof::proof::scheme::Scheme;
use sha2::{Digest as _, Sha256};

pub(crate) type Hash = [u8; 32];

pub(crate) fn sha256(parts: &[&[u8]]) -> Hash {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

pub(crate) fn hex(hash: &Hash) -> String {
    hash.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// The chain hash of an entry.
pub(crate) fn chain_hash(scheme: Scheme, content: &Hash, prev: &Hash) -> Hash {
    match scheme {
        Scheme::AmsV0 => sha256(&[hex(content).as_bytes(), hex(prev).as_bytes()]),
        _ => sha256(&[content, prev]),
    }
}

/// The node above two others, in the schemes that pair an odd node with itself.
fn node(scheme: Scheme, left: &Hash, right: &Hash) -> Hash {
    match scheme {
        Scheme::V1 => sha256(&[left, right]),
        Scheme::V1Sorted if left <= right => sha256(&[left, right]),
        Scheme::V1Sorted => sha256(&[right, left]),
        Scheme::AmsV0 => sha256(&[hex(left).as_bytes(), hex(right).as_bytes()]),
        Scheme::V1Rfc9162 => unreachable!("RFC 9162 is defined by recursion, not by levels"),
    }
}

/// Every level of a tree that doubles, from the leaves to the root. A level holds its last node once.
pub(crate) fn levels(scheme: Scheme, contents: &[Hash]) -> Vec<Vec<Hash>> {
    let mut leaves = contents.to_vec();
    if scheme == Scheme::V1Sorted {
        leaves.sort_unstable();
    }
    let mut levels = vec![leaves];
    while levels.last().unwrap().len() > 1 {
        let mut padded = levels.last().unwrap().clone();
        if padded.len() % 2 == 1 {
            padded.push(*padded.last().unwrap());
        }
        levels.push(padded.chunks(2).map(|pair| node(scheme, &pair[0], &pair[1])).collect());
    }
    levels
}

/// A path in a tree that doubles: each neighbour, and whether it stands to the right.
fn path_in(levels: &[Vec<Hash>], index: usize) -> Vec<(Hash, bool)> {
    let mut at = index;
    let mut path = Vec::new();
    for level in &levels[..levels.len() - 1] {
        let neighbour = if at % 2 == 1 { at - 1 } else { at + 1 };
        path.push((*level.get(neighbour).unwrap_or(&level[at]), at.is_multiple_of(2)));
        at /= 2;
    }
    path
}

/// The largest power of two smaller than `n`.
fn split(n: usize) -> usize {
    let mut k = 1;
    while k * 2 < n {
        k *= 2;
    }
    k
}

/// RFC 9162, 2.1, over a fixed list of entries of which every prefix is a tree. What was computed once is remembered.
pub(crate) struct Rfc9162 {
    contents: Vec<Hash>,
    known: RefCell<HashMap<(usize, usize), Hash>>,
}

impl Rfc9162 {
    pub(crate) fn new(contents: &[Hash]) -> Self {
        Self { contents: contents.to_vec(), known: RefCell::default() }
    }

    /// MTH(D[from:to]).
    pub(crate) fn root(&self, from: usize, to: usize) -> Hash {
        if let Some(known) = self.known.borrow().get(&(from, to)) {
            return *known;
        }
        let hash = if to - from == 1 {
            sha256(&[&[0], &self.contents[from]])
        } else {
            let k = from + split(to - from);
            sha256(&[&[1], &self.root(from, k), &self.root(k, to)])
        };
        self.known.borrow_mut().insert((from, to), hash);
        hash
    }

    /// PATH(m, D[from:to]), with the side of each neighbour.
    fn path(&self, m: usize, from: usize, to: usize) -> Vec<(Hash, bool)> {
        if to - from == 1 {
            return Vec::new();
        }
        let k = split(to - from);
        let (mut path, neighbour) = if m < k {
            (self.path(m, from, from + k), (self.root(from + k, to), true))
        } else {
            (self.path(m - k, from + k, to), (self.root(from, from + k), false))
        };
        path.push(neighbour);
        path
    }

    /// PROOF(m, D[n]) of 2.1.4.1.
    pub(crate) fn consistency(&self, m: usize, n: usize) -> Vec<Hash> {
        self.subproof(m, 0, n, true)
    }

    /// SUBPROOF(m, D[from:to], b).
    fn subproof(&self, m: usize, from: usize, to: usize, whole: bool) -> Vec<Hash> {
        let n = to - from;
        if m == n {
            return if whole { Vec::new() } else { vec![self.root(from, to)] };
        }
        let k = split(n);
        let (mut proof, last) = if m <= k {
            (self.subproof(m, from, from + k, whole), self.root(from + k, to))
        } else {
            (self.subproof(m - k, from + k, to, false), self.root(from, from + k))
        };
        proof.push(last);
        proof
    }
}

/// One list of content hashes, and the trees over its prefixes.
pub(crate) enum Definition {
    Doubling { scheme: Scheme, contents: Vec<Hash> },
    Rfc9162(Rfc9162),
}

impl Definition {
    pub(crate) fn new(scheme: Scheme, contents: &[Hash]) -> Self {
        match scheme {
            Scheme::V1Rfc9162 => Self::Rfc9162(Rfc9162::new(contents)),
            _ => Self::Doubling { scheme, contents: contents.to_vec() },
        }
    }

    /// Root over the first `count` entries, and the path of each of `indices` (in tree order).
    pub(crate) fn tree(&self, count: usize, indices: &[usize]) -> (Hash, Vec<Vec<(Hash, bool)>>) {
        match self {
            Self::Doubling { scheme, contents } => {
                let levels = levels(*scheme, &contents[..count]);
                let paths = indices.iter().map(|index| path_in(&levels, *index)).collect();
                (levels.last().unwrap()[0], paths)
            }
            Self::Rfc9162(tree) => {
                (tree.root(0, count), indices.iter().map(|index| tree.path(*index, 0, count)).collect())
            }
        }
    }

    pub(crate) fn root(&self, count: usize) -> Hash {
        self.tree(count, &[]).0
    }
}

/// `count` content hashes that depend on the seed; sorted, so that every prefix is in tree order in every scheme.
pub(crate) fn contents(seed: u64, count: usize) -> Vec<Hash> {
    let mut contents: Vec<Hash> =
        (0..count as u64).map(|at| sha256(&[&seed.to_be_bytes(), &at.to_be_bytes()])).collect();
    contents.sort_unstable();
    contents
}
