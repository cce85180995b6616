//! The chain: every entry names the chain hash of its parent, which must be the genesis or an earlier entry.
//!
//! Most entries name the one just before. Branches may name any, so all earlier hashes are kept, exactly and not as
//! fingerprints (whoever writes a file would choose the rest of the bytes): 32 bytes an entry, and 5 to 10 more for
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
    index: Index,
}

impl Chain {
    /// A chain without entries.
    pub fn new(scheme: Scheme, genesis: ChainHash) -> Self {
        Self { scheme, genesis, hashes: Hashes::default(), index: Index::new() }
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
        self.hashes.push(hash);
        Ok(hash)
    }

    fn has_entry(&mut self, hash: &ChainHash) -> bool {
        self.index.catch_up(&self.hashes);
        self.index.find(&self.hashes, hash).is_ok()
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

/// Open addressing over positions in [`Hashes`]. Entries are taken up when a branch asks for one and not as they come:
/// each costs a cache miss, and those of a batch overlap.
#[derive(Debug)]
struct Index {
    slots: Vec<u32>,
    /// How many entries have been taken up.
    len: u32,
    /// Odd and random, so that no file can be made slow to look up in.
    multiplier: u64,
}

const FREE: u32 = u32::MAX;

impl Index {
    fn new() -> Self {
        Self { slots: Vec::new(), len: 0, multiplier: RandomState::new().hash_one(0) | 1 }
    }

    fn catch_up(&mut self, hashes: &Hashes) {
        // At most four fifths full.
        let wanted = hashes.len as usize / 4 * 5 + 8;
        if wanted > self.slots.len() {
            self.slots.clear();
            self.slots.resize(wanted.next_power_of_two().max(64), FREE);
            self.len = 0;
        }
        for at in self.len..hashes.len {
            // The same line twice below the same parent has the same hash, which needs no second slot: with one each,
            // a file of a million such lines would take a million probes for every one.
            if let Err(free) = self.find(hashes, &hashes.get(at)) {
                self.slots[free] = at;
            }
        }
        self.len = hashes.len;
    }

    /// The slot of this hash, or the one where it belongs.
    fn find(&self, hashes: &Hashes, hash: &ChainHash) -> Result<usize, usize> {
        let mut slot = self.first_slot(hash);
        while self.slots[slot] != FREE {
            if hashes.get(self.slots[slot]) == *hash {
                return Ok(slot);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        Err(slot)
    }

    /// Multiply-shift: spreads any keys that were chosen without the multiplier. Eight bytes are enough, for many
    /// different chain hashes that share them cost about 2^64 attempts each.
    #[allow(clippy::cast_possible_truncation)] // the shift leaves as many bits as there are slots
    fn first_slot(&self, hash: &ChainHash) -> usize {
        let (words, _) = hash.as_bytes().as_chunks();
        (u64::from_le_bytes(words[0]).wrapping_mul(self.multiplier) >> (u64::BITS - self.slots.len().ilog2())) as usize
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

    #[test]
    fn the_same_entry_a_hundred_thousand_times_is_no_slower_than_others() {
        let genesis = ChainHash::new(sha256(b"genesis"));
        let content = ContentHash::new(sha256(b"content"));
        let mut chain = Chain::new(Scheme::V1, genesis);
        for _ in 0..100_000 {
            assert!(chain.append(&content, &genesis).is_ok());
        }
        // This asks the index, which would be at it for minutes if every repetition had a slot of its own.
        assert_eq!(chain.append(&content, &ChainHash::ZERO), Err(UnknownParent));
    }
}
