//! Roots and proofs, however they are computed, are those of the definition.

use git_proof::proof::digest::{ContentHash, NodeHash, RootHash};
use git_proof::proof::inclusion::{InclusionProof, Position, Step};
use git_proof::proof::log;
use git_proof::proof::scheme::Scheme;
use git_proof::proof::tree::{self, Frontier, Tree};
use proptest::prelude::*;

use crate::naive::{Definition, Hash, Rfc9162, contents};

fn leaf(scheme: Scheme, content: &Hash) -> NodeHash {
    scheme.leaf(&ContentHash::new(*content))
}

fn steps(path: &[(Hash, bool)]) -> Vec<Step> {
    let position = |right| if right { Position::Right } else { Position::Left };
    path.iter().map(|(hash, right)| Step { hash: NodeHash::new(*hash), position: position(*right) }).collect()
}

/// The tree's own proofs of `indices` are those of the definition, and hold.
fn assert_proofs(scheme: Scheme, tree: &Tree, definition: &Definition, contents: &[Hash], indices: &[usize]) {
    let count = contents.len();
    let (root, paths) = definition.tree(count, indices);
    let root = RootHash::new(root);
    for (&index, path) in indices.iter().zip(&paths) {
        let made = tree.path(index as u64).unwrap();
        assert_eq!(made, steps(path), "{scheme}, entry {index} of {count}");
        let proof = InclusionProof {
            scheme,
            leaf_hash: ContentHash::new(contents[index]),
            index: index as u64,
            count: count as u64,
            steps: made,
            root,
        };
        assert_eq!(proof.verify(&root, count as u64), Ok(()), "{scheme}, entry {index} of {count}");
    }
}

/// All four ways to a root give that of the definition.
fn assert_roots(scheme: Scheme, tree: &Tree, frontier: &Frontier, definition: &Definition, leaves: &[NodeHash]) {
    let expected = Some(RootHash::new(definition.root(leaves.len())));
    let found = [tree.root(), frontier.root(), tree::root_of(scheme, leaves, 1), tree::root_of(scheme, leaves, 2)];
    assert_eq!(found, [expected; 4], "{scheme}, {} entries", leaves.len());
}

#[test]
fn every_root_of_up_to_300_entries_is_that_of_the_definition() {
    for scheme in Scheme::ALL {
        let contents = contents(1, 300);
        let definition = Definition::new(scheme, &contents);
        let leaves: Vec<_> = contents.iter().map(|content| leaf(scheme, content)).collect();
        let (mut tree, mut frontier) = (Tree::new(scheme), Frontier::new(scheme));
        for count in 1..=contents.len() {
            tree.push(leaves[count - 1]);
            frontier.push(leaves[count - 1]);
            assert_roots(scheme, &tree, &frontier, &definition, &leaves[..count]);
        }
    }
}

#[test]
fn every_proof_of_a_growing_tree_is_that_of_the_definition() {
    for scheme in Scheme::ALL {
        let contents = contents(2, 300);
        let definition = Definition::new(scheme, &contents);
        let mut tree = Tree::new(scheme);
        for count in 1..=contents.len() {
            tree.push(leaf(scheme, &contents[count - 1]));
            // All of them in small trees; above, the ends and a few between, which move with the size.
            let stride = if count <= 70 { 1 } else { 23 };
            let mut indices: Vec<usize> = (count % stride..count).step_by(stride).collect();
            indices.extend([0, count - 1]);
            assert_proofs(scheme, &tree, &definition, &contents[..count], &indices);
        }
    }
}

#[test]
fn every_proof_of_a_large_tree_is_that_of_the_definition() {
    for (scheme, count) in Scheme::ALL.into_iter().zip([257, 384, 511, 300]) {
        let contents = contents(3, count);
        let mut tree = Tree::new(scheme);
        for content in &contents {
            tree.push(leaf(scheme, content));
        }
        let indices: Vec<usize> = (0..count).collect();
        assert_proofs(scheme, &tree, &Definition::new(scheme, &contents), &contents, &indices);
    }
}

#[test]
fn a_tree_without_leaves_has_no_root_and_no_proofs() {
    for scheme in Scheme::ALL {
        assert_eq!(tree::root_of(scheme, &[], 1), None);
        assert_eq!(Frontier::new(scheme).root(), None);
        assert_eq!(Tree::new(scheme).root(), None);
        assert_eq!(Tree::new(scheme).path(0), None);
    }
}

#[test]
fn a_sorted_root_is_the_same_in_any_order_of_recording() {
    let sorted = contents(4, 37);
    let mut recorded = sorted.clone();
    recorded.rotate_left(11);
    recorded.swap(0, 20);
    assert_eq!(
        Definition::new(Scheme::V1Sorted, &recorded).root(37),
        Definition::new(Scheme::V1Sorted, &sorted).root(37)
    );
    assert_ne!(Definition::new(Scheme::V1, &recorded).root(37), Definition::new(Scheme::V1, &sorted).root(37));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn trees_of_any_size_have_the_roots_and_proofs_of_the_definition(
        seed in any::<u64>(),
        count in 1usize..=2000,
        scheme in prop::sample::select(&Scheme::ALL),
        chosen in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
    ) {
        let contents = contents(seed, count);
        let definition = Definition::new(scheme, &contents);
        let leaves: Vec<_> = contents.iter().map(|content| leaf(scheme, content)).collect();
        let (mut tree, mut frontier) = (Tree::new(scheme), Frontier::new(scheme));
        for leaf in &leaves {
            tree.push(*leaf);
            frontier.push(*leaf);
        }
        assert_roots(scheme, &tree, &frontier, &definition, &leaves);
        let indices: Vec<_> = chosen.iter().map(|index| index.index(count)).collect();
        assert_proofs(scheme, &tree, &definition, &contents, &indices);
        prop_assert_eq!(tree.path(count as u64), None);
    }
}

/// A log of the first `LOG` entries, next to its definition.
struct Log {
    definition: Rfc9162,
    tree: Tree,
    roots: Vec<RootHash>,
}

const LOG: usize = 130;

impl Log {
    fn new() -> Self {
        let contents = contents(5, LOG);
        let definition = Rfc9162::new(&contents);
        let mut tree = Tree::new(Scheme::V1Rfc9162);
        for content in &contents {
            tree.push(log::leaf(content));
        }
        // The root of no entries is never asked for; a zero keeps sizes and indices the same.
        let mut roots = vec![RootHash::new([0; 32])];
        roots.extend((1..=LOG).map(|size| RootHash::new(definition.root(0, size))));
        Self { definition, tree, roots }
    }

    fn proof(&self, old: usize, new: usize) -> Vec<NodeHash> {
        log::consistency(&self.tree, old as u64, new as u64).unwrap().unwrap()
    }

    fn holds(&self, old: usize, new: usize, proof: &[NodeHash]) -> bool {
        log::is_consistent((old as u64, &self.roots[old]), (new as u64, &self.roots[new]), proof)
    }
}

#[test]
fn every_log_root_is_that_of_rfc_9162() {
    let log = Log::new();
    for size in 1..=LOG {
        assert_eq!(log::root(&log.tree, size as u64).unwrap(), Some(log.roots[size]), "{size}");
    }
}

#[test]
fn every_consistency_proof_is_that_of_rfc_9162_and_holds() {
    let log = Log::new();
    for new in 1..=LOG {
        for old in 1..=new {
            let proof = log.proof(old, new);
            let expected: Vec<_> = log.definition.consistency(old, new).into_iter().map(NodeHash::new).collect();
            assert_eq!(proof, expected, "{old} to {new}");
            assert!(log.holds(old, new, &proof), "{old} to {new}");
        }
    }
}

#[test]
fn there_is_no_consistency_proof_from_nothing_or_backwards() {
    let log = Log::new();
    for (old, new) in [(0, 5), (0, 0), (6, 5)] {
        assert_eq!(log::consistency(&log.tree, old, new).unwrap(), None);
        assert!(!log::is_consistent((old, &log.roots[5]), (new, &log.roots[5]), &[]), "{old} to {new}");
    }
}

/// Sizes up to 33, and some around the powers of two above.
fn pairs() -> impl Iterator<Item = (usize, usize)> {
    let sizes = || (1..=33).chain([63, 64, 65, 100, 127, 128, 129, 130]);
    sizes().flat_map(move |new| sizes().take_while(move |old| *old <= new).map(move |old| (old, new)))
}

#[test]
fn a_consistency_proof_with_a_step_dropped_is_refused() {
    let log = Log::new();
    for (old, new) in pairs() {
        let proof = log.proof(old, new);
        for step in 0..proof.len() {
            let mut short = proof.clone();
            short.remove(step);
            assert!(!log.holds(old, new, &short), "{old} to {new} without step {step}");
        }
    }
}

#[test]
fn a_consistency_proof_with_a_step_added_is_refused() {
    let log = Log::new();
    for (old, new) in pairs() {
        let proof = log.proof(old, new);
        for step in 0..=proof.len() {
            for added in [NodeHash::new([7; 32]), proof.get(step).copied().unwrap_or(NodeHash::new([0; 32]))] {
                let mut extended = proof.clone();
                extended.insert(step, added);
                assert!(!log.holds(old, new, &extended), "{old} to {new} with one more at {step}");
            }
        }
    }
}

#[test]
fn a_consistency_proof_with_a_step_changed_is_refused() {
    let log = Log::new();
    for (old, new) in pairs() {
        let proof = log.proof(old, new);
        for step in 0..proof.len() {
            let mut changed = proof.clone();
            let mut bytes = *changed[step].as_bytes();
            bytes[(old + step) % 32] ^= 1 << (new % 8);
            changed[step] = NodeHash::new(bytes);
            assert!(!log.holds(old, new, &changed), "{old} to {new} with step {step} changed");
        }
    }
}

#[test]
fn a_consistency_proof_does_not_tie_other_logs() {
    // Each log with its own root: a size alone is not covered (a subtree could be one leaf), a size with its root is.
    const MOST: usize = 20;
    let log = Log::new();
    for (old, new) in pairs().filter(|(old, new)| old < new && *new <= MOST) {
        let proof = log.proof(old, new);
        for later in 1..=MOST {
            for earlier in (1..=later).filter(|earlier| (*earlier, later) != (old, new)) {
                assert!(!log.holds(earlier, later, &proof), "{old} to {new} as {earlier} to {later}");
            }
        }
    }
}

#[test]
fn a_consistency_proof_does_not_hold_for_other_roots() {
    let log = Log::new();
    for (old, new) in pairs() {
        let proof = log.proof(old, new);
        let (old_root, new_root) = (&log.roots[old], &log.roots[new]);
        let other = RootHash::new([9; 32]);
        assert!(!log::is_consistent((old as u64, &other), (new as u64, new_root), &proof), "{old} to {new}");
        assert!(!log::is_consistent((old as u64, old_root), (new as u64, &other), &proof), "{old} to {new}");
    }
}

#[test]
fn a_consistency_proof_does_not_hold_for_a_log_that_is_said_to_be_a_level_higher() {
    // The roots fit and every step is right; only the path must go on, and does not.
    let log = Log::new();
    for (old, new) in pairs() {
        let proof = log.proof(old, new);
        let higher = new.next_power_of_two() as u64 + 1;
        let (old_root, new_root) = (&log.roots[old], &log.roots[new]);
        assert!(!log::is_consistent((old as u64, old_root), (higher, new_root), &proof), "{old} to {new}");
    }
}
