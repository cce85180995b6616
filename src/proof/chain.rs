//! The chain: every entry names the chain hash of its parent, which must be the genesis or an earlier entry.
//!
//! Most entries name the one just before. Branches may name any, so all earlier hashes are kept, exactly and not as
//! fingerprints (whoever writes a file would choose the rest of the bytes): 32 bytes an entry, and 4 to 8 more for
//! an index from the first branch on.

use std::hash::{BuildHasher, RandomState};

use super::digest::{ChainHash, ContentHash};
use super::scheme::Scheme;

/// An entry whose parent is neither the genesis nor an earlier entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownParent;

/// A chain as far as it has been read.
#[derive(Debug)]
pub struct Chain {
    scheme: Scheme,
    genesis: ChainHash,
    hashes: Hashes,
    index: Option<Index>,
}

impl Chain {
    /// A chain without entries.
    pub fn new(scheme: Scheme, genesis: ChainHash) -> Self {
        Self { scheme, genesis, hashes: Hashes::default(), index: None }
    }

    /// The chain hash of the first entry's parent.
    pub fn genesis(&self) -> ChainHash {
        self.genesis
    }

    /// The chain hash of the last entry, or the genesis.
    pub fn head(&self) -> ChainHash {
        self.hashes.last().unwrap_or(self.genesis)
    }

    /// Adds an entry and returns its chain hash.
    pub fn append(&mut self, content: &ContentHash, prev: &ChainHash) -> Result<ChainHash, UnknownParent> {
        if *prev != self.head() && *prev != self.genesis && !self.has_entry(prev) {
            return Err(UnknownParent);
        }
        let hash = self.scheme.chain_hash(content, prev);
        if let Some(index) = &mut self.index {
            index.insert(&self.hashes, self.hashes.len, &hash);
        }
        self.hashes.push(hash);
        Ok(hash)
    }

    fn has_entry(&mut self, hash: &ChainHash) -> bool {
        let hashes = &self.hashes;
        self.index.get_or_insert_with(|| Index::of(hashes)).find(hashes, hash)
    }
}

/// A vector in blocks: growing never copies, so the peak is what is needed and no more.
#[derive(Debug, Default)]
struct Hashes {
    blocks: Vec<Vec<ChainHash>>,
    len: u32,
}

impl Hashes {
    const BLOCK: u32 = 1 << 14;

    fn get(&self, at: u32) -> ChainHash {
        self.blocks[(at / Self::BLOCK) as usize][(at % Self::BLOCK) as usize]
    }

    fn last(&self) -> Option<ChainHash> {
        self.len.checked_sub(1).map(|at| self.get(at))
    }

    fn push(&mut self, hash: ChainHash) {
        if self.len.is_multiple_of(Self::BLOCK) {
            // The first block grows as needed: most sessions have a dozen entries.
            self.blocks.push(Vec::with_capacity(if self.len == 0 { 0 } else { Self::BLOCK as usize }));
        }
        if let Some(block) = self.blocks.last_mut() {
            block.push(hash);
        }
        self.len += 1;
    }
}

/// Open addressing over positions in [`Hashes`]. Keyed at random, so that no file is slow to look up in.
#[derive(Debug)]
struct Index {
    slots: Vec<u32>,
    keys: RandomState,
}

const FREE: u32 = u32::MAX;

impl Index {
    fn of(hashes: &Hashes) -> Self {
        let mut index = Self { slots: vec![FREE; 64], keys: RandomState::new() };
        index.rebuild(hashes, hashes.len);
        index
    }

    fn rebuild(&mut self, hashes: &Hashes, len: u32) {
        let wanted = (len as usize + 1) * 3 / 2;
        self.slots = vec![FREE; wanted.next_power_of_two().max(64)];
        for at in 0..len {
            self.place(at, &hashes.get(at));
        }
    }

    fn slot(&self, hash: &ChainHash) -> usize {
        #[allow(clippy::cast_possible_truncation)] // masked anyway
        let key = self.keys.hash_one(hash) as usize;
        key & (self.slots.len() - 1)
    }

    fn place(&mut self, at: u32, hash: &ChainHash) {
        let mut slot = self.slot(hash);
        while self.slots[slot] != FREE {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = at;
    }

    fn insert(&mut self, hashes: &Hashes, at: u32, hash: &ChainHash) {
        if (at as usize + 1) * 5 / 4 >= self.slots.len() {
            self.rebuild(hashes, at);
        }
        self.place(at, hash);
    }

    fn find(&self, hashes: &Hashes, hash: &ChainHash) -> bool {
        let mut slot = self.slot(hash);
        while self.slots[slot] != FREE {
            if hashes.get(self.slots[slot]) == *hash {
                return true;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::digest::sha256;

    #[test]
    fn any_earlier_entry_is_a_parent_and_nothing_else_is() {
        let genesis = ChainHash::new(sha256(b"genesis"));
        let mut chain = Chain::new(Scheme::V1, genesis);
        let mut known = vec![genesis];
        for number in 0..40_000u32 {
            let content = ContentHash::new(sha256(&number.to_be_bytes()));
            // Every third entry branches off somewhere in the past.
            let parent = if number % 3 == 0 { known[(number as usize * 7919) % known.len()] } else { chain.head() };
            let stranger = ChainHash::new(*content.as_bytes());
            if number % 1000 == 1 {
                assert_eq!(chain.append(&content, &stranger), Err(UnknownParent));
            }
            let hash = chain.append(&content, &parent);
            assert_eq!(hash, Ok(Scheme::V1.chain_hash(&content, &parent)), "{number}");
            known.extend(hash);
        }
        assert_eq!(Some(&chain.head()), known.last());
    }
}
