//! The log of all sealed sessions: an RFC 9162 tree, with proofs that a later log contains an earlier one.

use super::digest::{NodeHash, RootHash};
use super::scheme::{Scheme, rfc9162_leaf};
use super::tree::{self, Nodes};

/// The leaf of the log for the canonical bytes of one sealed session.
pub fn leaf(element: &[u8]) -> NodeHash {
    rfc9162_leaf(element)
}

/// The node over leaves `from..to` of the log: complete subtrees joined from the right.
fn subtree<N: Nodes>(nodes: &N, from: u64, to: u64) -> Result<NodeHash, N::Error> {
    let size = to - from;
    let level = size.ilog2();
    if size == 1 << level {
        return nodes.node(level, from >> level);
    }
    let split = from + (1 << level);
    let left = nodes.node(level, from >> level)?;
    Ok(Scheme::V1Rfc9162.node(&left, &subtree(nodes, split, to)?))
}

/// The proof of RFC 9162, 2.1.4.1: that the log of `new` leaves begins with the log of `old`. `None` unless
/// 0 < `old` ≤ `new`.
pub fn consistency<N: Nodes>(nodes: &N, old: u64, new: u64) -> Result<Option<Vec<NodeHash>>, N::Error> {
    if old == 0 || old > new {
        return Ok(None);
    }
    let mut proof = Vec::new();
    let (mut from, mut to) = (0, new);
    let mut whole = true; // whether the old tree's root is a node that the verifier has already
    while old != to {
        let split = from + (1 << (to - from - 1).ilog2());
        if old <= split {
            proof.push(subtree(nodes, split, to)?);
            to = split;
        } else {
            proof.push(subtree(nodes, from, split)?);
            from = split;
            whole = false;
        }
    }
    if !whole {
        proof.push(subtree(nodes, from, to)?);
    }
    proof.reverse();
    Ok(Some(proof))
}

/// Checks a consistency proof (RFC 9162, 2.1.4.2). Both roots and sizes are what is claimed; the proof ties them.
pub fn is_consistent(old: (u64, &RootHash), new: (u64, &RootHash), proof: &[NodeHash]) -> bool {
    let ((old, old_root), (new, new_root)) = (old, new);
    if old == 0 || old > new {
        return false;
    }
    if old == new {
        return proof.is_empty() && old_root == new_root;
    }
    let mut steps = proof.iter();
    let seed = if old.is_power_of_two() { Some(NodeHash::new(*old_root.as_bytes())) } else { steps.next().copied() };
    let Some(seed) = seed else { return false };
    let (mut old_node, mut new_node) = (seed, seed);
    let (mut first, mut second) = (old - 1, new - 1);
    let shift = first.trailing_ones();
    first >>= shift;
    second >>= shift;
    for step in steps {
        if second == 0 {
            return false;
        }
        if first % 2 == 1 || first == second {
            old_node = Scheme::V1Rfc9162.node(step, &old_node);
            new_node = Scheme::V1Rfc9162.node(step, &new_node);
            while first % 2 == 0 && first != 0 {
                first >>= 1;
                second >>= 1;
            }
        } else {
            new_node = Scheme::V1Rfc9162.node(&new_node, step);
        }
        first >>= 1;
        second >>= 1;
    }
    second == 0 && RootHash::from(old_node) == *old_root && RootHash::from(new_node) == *new_root
}

/// The root of the log over its first `size` leaves.
pub fn root<N: Nodes>(nodes: &N, size: u64) -> Result<Option<RootHash>, N::Error> {
    tree::root(Scheme::V1Rfc9162, nodes, size)
}
