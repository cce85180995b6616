//! Proofs about the log of sealed sessions, the words of maintainers, and what is said of a note of working memory.

use git_proof::proof::change::GitAttestation;
use git_proof::proof::digest::{NodeHash, RootHash, sha256};
use git_proof::proof::log;
use git_proof::proof::logged::{ConsistencyProof, LoggedProof, RoundHead};
use git_proof::proof::memory::MemoryAttestation;
use git_proof::proof::scheme::Scheme;
use git_proof::proof::seal::{LogHead, SealedSession};
use git_proof::proof::tree::Tree;
use git_proof::proof::word::Word;

use super::assert_canonical;

/// Most sessions in a log that is made.
const MOST: u64 = 40;

/// A line of one of the four kinds; no line is of two.
pub fn logged(data: &[u8]) {
    let mut kinds = 0;
    if let Ok(proof) = LoggedProof::parse(data) {
        kinds += 1;
        assert_eq!(proof.to_line().as_bytes(), data, "printing gives back the bytes");
        session_only_for_what_it_says(&proof);
        session_made(&proof);
    }
    if let Ok(proof) = ConsistencyProof::parse(data) {
        kinds += 1;
        assert_eq!(proof.to_line().as_bytes(), data, "printing gives back the bytes");
        logs_only_for_what_it_says(&proof);
        logs_made(&proof);
    }
    if let Ok(word) = Word::parse(data) {
        kinds += 1;
        assert_eq!(word.to_text().as_bytes(), data, "printing gives back the bytes");
        assert!(word.sessions.is_sorted() && word.sessions.iter().all(|session| session.count > 0));
    }
    let claimed = std::str::from_utf8(data).is_ok_and(MemoryAttestation::is_claimed_by);
    if let Ok(attestation) = MemoryAttestation::parse(data) {
        kinds += 1;
        assert_eq!(attestation.to_text().as_bytes(), data, "printing gives back the bytes");
        assert!(claimed, "nobody else may write one");
        assert!(GitAttestation::parse(data).is_err());
    }
    assert!(kinds <= 1, "one line, {kinds} kinds");
    if kinds > 0 {
        assert_canonical(data);
    }
    if kinds == 0
        && let Err(malformed) = LoggedProof::parse(data)
    {
        assert!(!malformed.to_string().is_empty());
    }
}

/// Either the proof does not hold, or for its own log, session, place and path only.
fn session_only_for_what_it_says(proof: &LoggedProof) {
    let holds = |proof: &LoggedProof| proof.verify(&proof.head.log()).is_ok();
    // Whatever size is claimed, there is an answer.
    for shift in 0..=53 {
        let mut claimed = proof.clone();
        claimed.head.size = (1 << 53) >> shift;
        let _ = holds(&claimed);
    }
    if !holds(proof) {
        return;
    }
    let other = sha256(proof.to_line().as_bytes());
    let trusted = proof.head.log();
    assert!(proof.verify(&LogHead { size: trusted.size + 1, ..trusted }).is_err(), "another size");
    assert!(proof.verify(&LogHead { root: RootHash::new(other), ..trusted }).is_err(), "another root");
    let mut changed = proof.clone();
    changed.session.count += 1;
    assert!(!holds(&changed), "another session");
    for bit in 0..54 {
        assert!(!holds(&LoggedProof { index: proof.index ^ (1 << bit), ..proof.clone() }), "another place");
    }
    for step in 0..proof.path.len() {
        let mut changed = proof.clone();
        changed.path[step] = NodeHash::new(other);
        assert!(!holds(&changed), "another neighbour");
        changed.path.remove(step);
        assert!(!holds(&changed), "a step too few");
    }
}

/// The numbers of the proof that was read, used for a proof of our own: it holds.
fn session_made(read: &LoggedProof) {
    let size = read.head.size % MOST + 1;
    let index = read.index % size;
    let session = |at: u64| SealedSession { count: at + 1, ..read.session.clone() };
    let (tree, head) = tree(size, |at| session(at).to_text());
    let made = LoggedProof::make(&tree, head(size), index, session(index)).expect("within the log");
    assert_eq!(made.verify(&made.head.log()), Ok(()));
    assert_eq!(LoggedProof::parse(made.to_line().as_bytes()).as_ref(), Ok(&made));
    session_only_for_what_it_says(&made);
    assert_eq!(LoggedProof::make(&tree, head(size), size, session(size)), None);
}

/// Either the proof does not hold, or for its own two logs and its own path only.
fn logs_only_for_what_it_says(proof: &ConsistencyProof) {
    let holds = |proof: &ConsistencyProof| proof.verify(&proof.to.log()).is_ok();
    for shift in 0..=53 {
        let mut claimed = proof.clone();
        claimed.to.size = (1 << 53) >> shift;
        let _ = holds(&claimed);
        claimed.from.size = ((1 << 53) >> shift) - 1;
        let _ = holds(&claimed);
    }
    if !holds(proof) {
        return;
    }
    let (from, to) = (proof.from.log(), proof.to.log());
    assert!(0 < from.size && from.size <= to.size);
    assert_eq!(from.size == to.size, proof.path.is_empty() && from.root == to.root);
    let other = RootHash::new(sha256(proof.to_line().as_bytes()));
    assert!(proof.verify(&LogHead { root: other, ..to }).is_err(), "another log");
    let mut changed = proof.clone();
    changed.from.root = other;
    assert!(!holds(&changed), "another beginning");
    for step in 0..proof.path.len() {
        let mut changed = proof.clone();
        changed.path[step] = NodeHash::new(*other.as_bytes());
        assert!(!holds(&changed), "another node");
        changed.path.remove(step);
        assert!(!holds(&changed), "a node too few");
    }
    let mut longer = proof.clone();
    longer.path.push(NodeHash::new(*other.as_bytes()));
    assert!(!holds(&longer), "a node too many");
}

/// The sizes of the proof that was read, used for a proof of our own: it holds.
fn logs_made(read: &ConsistencyProof) {
    let size = read.to.size % MOST + 1;
    let old = read.from.size % size + 1;
    let (tree, head) = tree(size, |at| at.to_string());
    let made = ConsistencyProof::make(&tree, head(old), head(size)).expect("not empty, not larger");
    assert_eq!(made.verify(&made.to.log()), Ok(()));
    assert_eq!(ConsistencyProof::parse(made.to_line().as_bytes()).as_ref(), Ok(&made));
    logs_only_for_what_it_says(&made);
    // A log that was something else before does not begin with what it was.
    for wrong in (1..=size).filter(|wrong| *wrong != old) {
        let mut changed = made.clone();
        changed.from.size = wrong;
        assert!(changed.verify(&changed.to.log()).is_err(), "{wrong} of {size} as if {old}");
    }
}

/// A log of so many leaves, and its head at each size.
fn tree(size: u64, leaf: impl Fn(u64) -> String) -> (Tree, impl Fn(u64) -> RoundHead) {
    let mut tree = Tree::new(Scheme::V1Rfc9162);
    let mut roots = Vec::new();
    for at in 0..size {
        tree.push(log::leaf(leaf(at).as_bytes()));
        roots.push(tree.root().expect("not empty"));
    }
    let head = move |size: u64| {
        let root = roots[usize::try_from(size).expect("a few") - 1];
        RoundHead { root, round: size, size }
    };
    (tree, head)
}
