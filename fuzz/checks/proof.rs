//! Inclusion proofs.

use git_proof::proof::canonical::MAX_INTEGER;
use git_proof::proof::digest::{ContentHash, NodeHash, sha256};
use git_proof::proof::inclusion::InclusionProof;
use git_proof::proof::tree::Tree;

/// The line of a proof file.
pub fn proof(data: &[u8]) {
    let proof = match InclusionProof::parse(data) {
        Ok(proof) => proof,
        Err(malformed) => return assert!(!malformed.to_string().is_empty()),
    };
    assert_eq!(proof.to_line().as_bytes(), data, "printing gives back the bytes");
    only_for_what_it_says(&proof);

    // No count makes it panic, whether it is the one that the proof speaks of or not.
    for shift in 0..=53 {
        let ones = MAX_INTEGER >> shift;
        for count in [ones, ones.div_ceil(2), MAX_INTEGER - ones] {
            let claimed = InclusionProof { count, ..proof.clone() };
            only_for_what_it_says(&claimed);
            assert_eq!(claimed.verify(&proof.root, proof.count), proof.verify(&proof.root, count), "{count}");
        }
    }
    made(&proof);
}

/// Either the proof does not hold, or it holds for its own root, count, index, leaf and path and for no other.
fn only_for_what_it_says(proof: &InclusionProof) {
    let holds = |proof: &InclusionProof| proof.verify(&proof.root, proof.count).is_ok();
    if !holds(proof) {
        return;
    }
    assert!(proof.index < proof.count);
    assert!(proof.verify(&proof.root, proof.count + 1).is_err());
    let other = sha256(proof.to_line().as_bytes());
    assert!(!holds(&InclusionProof { leaf_hash: ContentHash::new(other), ..proof.clone() }));
    for bit in 0..54 {
        assert!(!holds(&InclusionProof { index: proof.index ^ (1 << bit), ..proof.clone() }), "another index");
    }
    for step in 0..proof.steps.len() {
        let mut changed = proof.clone();
        changed.steps[step].hash = NodeHash::new(other);
        assert!(!holds(&changed), "another neighbour");
        changed.steps.remove(step);
        assert!(!holds(&changed), "a step too few");
    }
    let mut longer = proof.clone();
    longer.steps.extend(proof.steps.last().copied());
    assert!(longer == *proof || !holds(&longer), "a step too many");
}

/// The numbers of the proof that was read, used for a proof of our own: it holds.
fn made(read: &InclusionProof) {
    let count = read.count % 40 + 1;
    let mut contents: Vec<_> = (0..count).map(|at| ContentHash::new(sha256(&at.to_be_bytes()))).collect();
    contents.sort_unstable(); // as one of the schemes wants it
    let mut tree = Tree::new(read.scheme);
    for content in &contents {
        tree.push(read.scheme.leaf(content));
    }
    let index = read.index % count;
    let made = InclusionProof {
        scheme: read.scheme,
        leaf_hash: contents.into_iter().nth(usize::try_from(index).unwrap_or_default()).expect("within the count"),
        index,
        count,
        steps: tree.path(index).expect("within the count"),
        root: tree.root().expect("not empty"),
    };
    assert_eq!(made.verify(&made.root, count), Ok(()));
    assert_eq!(InclusionProof::parse(made.to_line().as_bytes()).as_ref(), Ok(&made));
    only_for_what_it_says(&made);
}
