//! The tree over a session's entries, as a growing structure and in one pass.
//!
//! A node is *complete* when all the leaves below it exist; a complete node never changes. So it is enough to keep
//! complete nodes: a leaf completes one node for each trailing one-bit of the count before it, and the rest, the
//! right edge, is recomputed from at most one node a level when a root or a proof is wanted.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::digest::{NodeHash, RootHash};
use super::inclusion::{Position, Step};
use super::scheme::Scheme;

/// A source of nodes; level 0 holds the leaves. It is only asked for nodes that are complete.
pub trait Nodes {
    /// What goes wrong when a node cannot be had.
    type Error;

    /// The complete node at this level and index.
    fn node(&self, level: u32, index: u64) -> Result<NodeHash, Self::Error>;
}

/// A node that a new leaf completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completed {
    /// 0 for the leaf itself.
    pub level: u32,
    /// Position in its level.
    pub index: u64,
    /// The node.
    pub hash: NodeHash,
}

/// All nodes that become complete when `leaf` follows `count` leaves: the leaf first, then upwards.
pub fn append<N: Nodes>(scheme: Scheme, nodes: &N, count: u64, leaf: NodeHash) -> Result<Vec<Completed>, N::Error> {
    let mut completed = vec![Completed { level: 0, index: count, hash: leaf }];
    let mut hash = leaf;
    for level in 0..count.trailing_ones() {
        let left = nodes.node(level, (count >> level) - 1)?;
        hash = scheme.node(&left, &hash);
        completed.push(Completed { level: level + 1, index: count >> (level + 1), hash });
    }
    Ok(completed)
}

/// Number of levels above the leaves.
pub(super) fn height(count: u64) -> u32 {
    count.checked_sub(1).map_or(0, |last| u64::BITS - last.leading_zeros())
}

/// The right edge: for each level the last node, where it is not complete.
pub fn edge<N: Nodes>(scheme: Scheme, nodes: &N, count: u64) -> Result<Vec<Option<NodeHash>>, N::Error> {
    let mut edge = vec![None];
    let mut last = None;
    for level in 0..height(count) {
        let complete = count >> level;
        last = match (complete % 2 == 1, last) {
            (true, Some(right)) => Some(scheme.node(&nodes.node(level, complete - 1)?, &right)),
            (true, None) => Some(scheme.lone(&nodes.node(level, complete - 1)?)),
            (false, Some(lone)) => Some(scheme.lone(&lone)),
            (false, None) => None,
        };
        edge.push(last);
    }
    Ok(edge)
}

/// The root over the first `count` leaves; `None` for none. Costs one node a level.
pub fn root<N: Nodes>(scheme: Scheme, nodes: &N, count: u64) -> Result<Option<RootHash>, N::Error> {
    if count == 0 {
        return Ok(None);
    }
    let top = height(count);
    let edge = edge(scheme, nodes, count)?;
    let root = match edge[top as usize] {
        Some(root) => root,
        None => nodes.node(top, 0)?,
    };
    Ok(Some(root.into()))
}

/// The path from a leaf to the root over the first `count` leaves; `None` if there is no such leaf.
pub fn path<N: Nodes>(scheme: Scheme, nodes: &N, count: u64, index: u64) -> Result<Option<Vec<Step>>, N::Error> {
    if index >= count {
        return Ok(None);
    }
    let edge = edge(scheme, nodes, count)?;
    let mut steps = Vec::new();
    for (level, sibling) in siblings(scheme, index, count) {
        let (at, position) = match sibling {
            Sibling::Left => ((index >> level) - 1, Position::Left),
            Sibling::Right => ((index >> level) + 1, Position::Right),
            Sibling::Itself => (index >> level, Position::Right),
        };
        let hash = match edge[level as usize] {
            Some(last) if at == count >> level => last,
            _ => nodes.node(level, at)?,
        };
        steps.push(Step { hash, position });
    }
    Ok(Some(steps))
}

/// The side of a path's node on which its neighbour stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sibling {
    Left,
    Right,
    /// The last node of an odd level, paired with itself.
    Itself,
}

/// The steps that a path must have, level by level. A level where a lone node moves up unchanged has none.
pub(super) fn siblings(scheme: Scheme, index: u64, count: u64) -> impl Iterator<Item = (u32, Sibling)> {
    (0..height(count)).filter_map(move |level| {
        let at = index >> level;
        let last = (count - 1) >> level;
        if at % 2 == 1 {
            Some((level, Sibling::Left))
        } else if at < last {
            Some((level, Sibling::Right))
        } else if scheme.doubles() {
            Some((level, Sibling::Itself))
        } else {
            None
        }
    })
}

/// A root in one pass: keeps the complete nodes that have no neighbour yet, one for each one-bit of the count.
#[derive(Debug, Clone)]
pub struct Frontier {
    scheme: Scheme,
    count: u64,
    /// From the highest level to the lowest.
    peaks: Vec<NodeHash>,
}

impl Frontier {
    /// An empty tree. In `v1-sorted` the leaves must come sorted.
    pub fn new(scheme: Scheme) -> Self {
        Self { scheme, count: 0, peaks: Vec::new() }
    }

    /// Number of leaves.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds a leaf.
    #[inline]
    pub fn push(&mut self, leaf: NodeHash) {
        self.push_subtree(0, leaf, |_| ());
    }

    /// Adds a leaf; `each` sees the inner nodes that it completes, upwards from level 1.
    #[inline]
    pub fn push_each(&mut self, leaf: NodeHash, each: impl FnMut(&NodeHash)) {
        self.push_subtree(0, leaf, each);
    }

    /// Adds a complete subtree of `2^level` leaves; `each` sees the nodes above it that it completes. The count must be a
    /// multiple of that.
    pub fn push_subtree(&mut self, level: u32, subtree: NodeHash, mut each: impl FnMut(&NodeHash)) {
        let mut hash = subtree;
        for _ in 0..(self.count >> level).trailing_ones() {
            if let Some(left) = self.peaks.pop() {
                hash = self.scheme.node(&left, &hash);
                each(&hash);
            }
        }
        self.peaks.push(hash);
        self.count += 1 << level;
    }

    /// The root so far; `None` for no leaves.
    pub fn root(&self) -> Option<RootHash> {
        // The same walk as everywhere: a frontier can answer for the nodes on the right edge.
        let Ok(root) = root(self.scheme, self, self.count);
        root
    }
}

impl Nodes for Frontier {
    type Error = std::convert::Infallible;

    fn node(&self, level: u32, _index: u64) -> Result<NodeHash, Self::Error> {
        // The peak of a level stands before the peaks of all lower levels.
        let lower = (self.count & ((1 << level) - 1)).count_ones() as usize;
        Ok(self.peaks[self.peaks.len() - 1 - lower])
    }
}

/// Leaves that are reduced to one node at a time: 8 KiB, which stays in the first-level cache.
const CHUNK_LEVEL: u32 = 8;

/// Leaves that a thread takes up at a time: a thread that is held up leaves the rest to the others.
const SLICE: usize = 1 << 14;

/// The root over leaves that are all at hand, on one thread or several. In `v1-sorted` the leaves must come sorted.
pub fn root_of(scheme: Scheme, leaves: &[NodeHash], threads: usize) -> Option<RootHash> {
    let (whole, rest) = leaves.split_at(leaves.len() >> CHUNK_LEVEL << CHUNK_LEVEL);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let slice = next.fetch_add(1, Ordering::Relaxed);
            match whole.chunks(SLICE).nth(slice) {
                Some(leaves) => done.push((slice, reduce_chunks(scheme, leaves))),
                None => return done,
            }
        }
    };
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(slice, _)| *slice);
    let mut frontier = Frontier::new(scheme);
    for node in done.iter().flat_map(|(_, nodes)| nodes) {
        frontier.push_subtree(CHUNK_LEVEL, *node, |_| ());
    }
    for leaf in rest {
        frontier.push(*leaf);
    }
    frontier.root()
}

fn reduce_chunks(scheme: Scheme, leaves: &[NodeHash]) -> Vec<NodeHash> {
    // One copy of the loop for each scheme, so that the choice is not made again for every node.
    match scheme {
        Scheme::V1 => reduce_with(leaves, |left, right| Scheme::V1.node(left, right)),
        Scheme::V1Sorted => reduce_with(leaves, |left, right| Scheme::V1Sorted.node(left, right)),
        Scheme::V1Rfc9162 => reduce_with(leaves, |left, right| Scheme::V1Rfc9162.node(left, right)),
        Scheme::AmsV0 => reduce_with(leaves, |left, right| Scheme::AmsV0.node(left, right)),
    }
}

fn reduce_with(leaves: &[NodeHash], node: impl Fn(&NodeHash, &NodeHash) -> NodeHash) -> Vec<NodeHash> {
    let mut level = [NodeHash::new([0; 32]); 1 << CHUNK_LEVEL];
    leaves
        .chunks_exact(level.len())
        .map(|chunk| {
            let half = chunk.len() / 2;
            for (at, pair) in chunk.chunks_exact(2).enumerate() {
                level[at] = node(&pair[0], &pair[1]);
            }
            let mut width = half;
            while width > 1 {
                for at in 0..width / 2 {
                    level[at] = node(&level[2 * at], &level[2 * at + 1]);
                }
                width /= 2;
            }
            level[0]
        })
        .collect()
}

/// A tree in memory with all its complete nodes.
#[derive(Debug, Clone)]
pub struct Tree {
    scheme: Scheme,
    levels: Vec<Vec<NodeHash>>,
}

impl Tree {
    /// An empty tree. In `v1-sorted` the leaves must come sorted.
    pub fn new(scheme: Scheme) -> Self {
        Self { scheme, levels: vec![Vec::new()] }
    }

    /// Number of leaves.
    pub fn count(&self) -> u64 {
        self.levels[0].len() as u64
    }

    /// Adds a leaf.
    pub fn push(&mut self, leaf: NodeHash) {
        let Ok(completed) = append(self.scheme, self, self.count(), leaf);
        for (level, node) in completed.into_iter().enumerate() {
            if level == self.levels.len() {
                self.levels.push(Vec::new());
            }
            self.levels[level].push(node.hash);
        }
    }

    /// The root so far; `None` for no leaves.
    pub fn root(&self) -> Option<RootHash> {
        let Ok(root) = root(self.scheme, self, self.count());
        root
    }

    /// The path of a leaf; `None` if there is no such leaf.
    pub fn path(&self, index: u64) -> Option<Vec<Step>> {
        let Ok(path) = path(self.scheme, self, self.count(), index);
        path
    }
}

impl Nodes for Tree {
    type Error = std::convert::Infallible;

    fn node(&self, level: u32, index: u64) -> Result<NodeHash, Self::Error> {
        #[allow(clippy::cast_possible_truncation)] // as many as the vector holds
        Ok(self.levels[level as usize][index as usize])
    }
}
