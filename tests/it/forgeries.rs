//! Two forgeries that trees which pair an odd node with itself invite: a leaf that stands there once more, and an inner
//! node shown as a leaf. Both are refused against a root that is trusted together with its count.

use git_proof::proof::digest::{ContentHash, NodeHash, RootHash};
use git_proof::proof::evidence::{self, Flaw};
use git_proof::proof::inclusion::{InclusionProof, NotIncluded, Position, Step};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::tree::Tree;

use crate::naive::{self, Hash};

const DOUBLING: [Scheme; 3] = [Scheme::V1, Scheme::V1Sorted, Scheme::AmsV0];
const SIZES: std::ops::RangeInclusive<usize> = 1..=34;

struct Session {
    scheme: Scheme,
    contents: Vec<Hash>,
    root: RootHash,
}

impl Session {
    fn new(scheme: Scheme, count: usize) -> Self {
        Self::of(scheme, naive::contents(11, count))
    }

    fn of(scheme: Scheme, contents: Vec<Hash>) -> Self {
        let root = tree(scheme, &contents).root().unwrap();
        Self { scheme, contents, root }
    }

    fn count(&self) -> u64 {
        self.contents.len() as u64
    }

    fn proof(&self, index: usize) -> InclusionProof {
        InclusionProof {
            scheme: self.scheme,
            leaf_hash: ContentHash::new(self.contents[index]),
            index: index as u64,
            count: self.count(),
            steps: tree(self.scheme, &self.contents).path(index as u64).unwrap(),
            root: self.root,
        }
    }

    fn verify(&self, proof: &InclusionProof) -> Result<(), NotIncluded> {
        proof.verify(&self.root, self.count())
    }

    /// The same leaves with the last block of `2^level` repeated, where that gives the same root: the block is whole and
    /// has no neighbour.
    fn repeated(&self, level: usize) -> Option<Self> {
        let width = self.contents.len() >> level;
        if width << level != self.contents.len() || width.is_multiple_of(2) || width == 1 {
            return None;
        }
        let start = (width - 1) << level;
        Some(Self::of(self.scheme, [&self.contents[..], &self.contents[start..]].concat()))
    }
}

/// The tree over leaves as they stand, also where `v1-sorted` would sort them.
fn tree(scheme: Scheme, contents: &[Hash]) -> Tree {
    let mut tree = Tree::new(scheme);
    for content in contents {
        tree.push(scheme.leaf(&ContentHash::new(*content)));
    }
    tree
}

/// Every doubling scheme, size and level at which the last block can be repeated without changing the root.
fn twins() -> impl Iterator<Item = (Session, Session)> {
    DOUBLING.into_iter().flat_map(|scheme| {
        SIZES.flat_map(move |count| {
            (0..6).filter_map(move |level| {
                let session = Session::new(scheme, count);
                session.repeated(level).map(|twin| (session, twin))
            })
        })
    })
}

#[test]
fn a_list_with_its_last_leaf_repeated_has_the_same_root_so_a_root_needs_its_count() {
    let contents = naive::contents(12, 3);
    let forged = [&contents[..], &contents[2..]].concat();
    let (honest, forged) = (Session::of(Scheme::V1, contents), Session::of(Scheme::V1, forged));
    assert_eq!(honest.root, forged.root);
    assert_eq!(honest.verify(&honest.proof(2)), Ok(()));
    assert_eq!(forged.verify(&forged.proof(3)), Ok(()));
    assert_eq!(honest.verify(&forged.proof(3)), Err(NotIncluded::AnotherCount));
    assert_eq!(forged.verify(&honest.proof(2)), Err(NotIncluded::AnotherCount));
}

#[test]
fn evidence_with_its_last_line_repeated_adds_up_to_the_same_root_and_is_refused_by_its_count() {
    let mut file = OPENING.to_owned() + "\n";
    let mut prev = naive::sha256(&[OPENING.as_bytes()]);
    for at in 0..3 {
        let prev_hash = naive::hex(&prev);
        let line = format!(
            r#"{{"attest":"step {at}","id":"{at}","prev_hash":"{prev_hash}","timestamp":"2026-03-01T00:00:40.196Z"}}"#
        );
        prev = naive::chain_hash(Scheme::V1, &naive::sha256(&[line.as_bytes()]), &prev);
        file += &(line + "\n");
    }
    let honest = evidence::verify(file.as_bytes()).unwrap();
    let last = file.split_inclusive('\n').next_back().unwrap();
    let forged = evidence::verify((file.clone() + last).as_bytes()).unwrap();
    assert_eq!(honest.root, forged.root);
    let refused = forged.require(&honest.root, honest.count).unwrap_err();
    assert_eq!(refused.flaw, Flaw::CountMismatch { actual: 4 });
}

const OPENING: &str = concat!(
    r#"{"caller":"A","intent":"I","proof_grade":false,"scheme":"v1","session_id":"s","#,
    r#""started_at":"2026-03-01T00:00:40.196Z","task_id":null}"#
);

#[test]
fn rfc9162_gives_a_repeated_last_leaf_another_root() {
    for count in SIZES {
        let contents = naive::contents(12, count);
        let longer = [&contents[..], &contents[count - 1..]].concat();
        assert_ne!(Session::of(Scheme::V1Rfc9162, contents).root, Session::of(Scheme::V1Rfc9162, longer).root);
    }
}

#[test]
fn the_last_block_of_any_level_can_be_repeated_without_changing_the_root() {
    // What makes the forgeries below worth trying.
    assert_eq!(twins().count(), 3 * 28);
    for (session, twin) in twins() {
        assert_eq!(session.root, twin.root, "{} {}", session.scheme, session.count());
    }
}

#[test]
fn a_repeated_leaf_with_the_longer_count_is_refused() {
    for (session, twin) in twins() {
        for index in session.contents.len()..twin.contents.len() {
            assert_eq!(session.verify(&twin.proof(index)), Err(NotIncluded::AnotherCount));
        }
    }
}

#[test]
fn a_repeated_leaf_with_the_trusted_count_is_beyond_it() {
    for (session, twin) in twins() {
        for index in session.contents.len()..twin.contents.len() {
            let proof = InclusionProof { count: session.count(), ..twin.proof(index) };
            assert_eq!(session.verify(&proof), Err(NotIncluded::IndexBeyondCount));
        }
    }
}

#[test]
fn a_repeated_leaf_under_a_smaller_index_stands_on_the_wrong_side() {
    // The path of the copy joins it from the left where the original is joined with itself from the right.
    for (session, twin) in twins().filter(|(session, _)| session.count() % 2 == 1) {
        let copy = twin.proof(twin.contents.len() - 1);
        let proof = InclusionProof { index: session.count() - 1, count: session.count(), ..copy };
        assert_eq!(session.verify(&proof), Err(NotIncluded::Position { step: 0 }));
    }
}

#[test]
fn a_neighbour_that_should_repeat_the_node_and_does_not_is_refused() {
    for scheme in DOUBLING {
        for count in SIZES {
            let session = Session::new(scheme, count);
            let honest = session.proof(count - 1);
            let levels = naive::levels(scheme, &session.contents);
            for (step, level) in levels[..levels.len() - 1].iter().enumerate() {
                if level.len().is_multiple_of(2) {
                    continue;
                }
                let mut proof = honest.clone();
                proof.steps[step].hash = NodeHash::new([1; 32]);
                assert_eq!(session.verify(&proof), Err(NotIncluded::NotDoubled { step }), "{scheme} {count}");
            }
        }
    }
}

/// Every inner node of a session's tree, as level, index and hash.
fn inner_nodes(session: &Session) -> Vec<(usize, usize, Hash)> {
    let levels = match session.scheme {
        Scheme::V1Rfc9162 => {
            // Only complete subtrees: those that are nodes in both ways of drawing the tree.
            let rfc9162 = naive::Rfc9162::new(&session.contents);
            let complete = |level: usize| {
                (0..session.contents.len() >> level).map(|at| rfc9162.root(at << level, (at + 1) << level)).collect()
            };
            (0..7).map(complete).collect()
        }
        scheme => naive::levels(scheme, &session.contents),
    };
    let nodes = levels.into_iter().enumerate().skip(1);
    nodes
        .flat_map(|(level, nodes): (usize, Vec<Hash>)| {
            nodes.into_iter().enumerate().map(move |(index, hash)| (level, index, hash))
        })
        .collect()
}

/// The honest path of the first leaf below an inner node, from that node on.
fn path_above(session: &Session, level: usize, index: usize) -> Vec<Step> {
    let first = session.proof(index << level);
    // In RFC 9162 a complete subtree's first leaf has a step at each of its levels.
    first.steps[level..].to_vec()
}

fn inner_as_leaf(session: &Session, (level, index, hash): (usize, usize, Hash)) -> InclusionProof {
    InclusionProof {
        scheme: session.scheme,
        leaf_hash: ContentHash::new(hash),
        index: index as u64,
        count: session.count(),
        steps: path_above(session, level, index),
        root: session.root,
    }
}

fn sessions() -> impl Iterator<Item = Session> {
    Scheme::ALL.into_iter().flat_map(|scheme| SIZES.skip(1).map(move |count| Session::new(scheme, count)))
}

#[test]
fn an_inner_node_as_leaf_would_pass_if_the_count_were_not_trusted() {
    for session in sessions().filter(|session| session.scheme != Scheme::V1Rfc9162) {
        for node in inner_nodes(&session) {
            let width = session.count().div_ceil(1 << node.0);
            let proof = InclusionProof { count: width, ..inner_as_leaf(&session, node) };
            assert_eq!(proof.verify(&session.root, width), Ok(()), "{} {}", session.scheme, session.count());
        }
    }
}

#[test]
fn an_inner_node_as_leaf_never_passes_in_rfc9162() {
    for count in SIZES.skip(1) {
        let session = Session::new(Scheme::V1Rfc9162, count);
        for node in inner_nodes(&session) {
            let width = session.count().div_ceil(1 << node.0);
            let proof = InclusionProof { count: width, ..inner_as_leaf(&session, node) };
            assert_eq!(proof.verify(&session.root, width), Err(NotIncluded::RootMismatch), "{count}");
        }
    }
}

#[test]
fn an_inner_node_as_leaf_with_the_count_of_its_level_is_refused() {
    for session in sessions() {
        for node in inner_nodes(&session) {
            let width = session.count().div_ceil(1 << node.0);
            let proof = InclusionProof { count: width, ..inner_as_leaf(&session, node) };
            assert_eq!(session.verify(&proof), Err(NotIncluded::AnotherCount));
        }
    }
}

#[test]
fn an_inner_node_as_leaf_with_the_trusted_count_has_too_short_a_path() {
    for session in sessions() {
        for node in inner_nodes(&session) {
            let proof = inner_as_leaf(&session, node);
            let expected = session.proof(node.1).steps.len();
            // An RFC 9162 tree is not of even depth, so there the short path can be the right length for a late leaf.
            let refused = if proof.steps.len() == expected {
                assert_eq!(session.scheme, Scheme::V1Rfc9162);
                session.verify(&proof).is_err()
            } else {
                session.verify(&proof) == Err(NotIncluded::PathLength { expected })
            };
            assert!(refused, "{} {} {node:?}", session.scheme, session.count());
        }
    }
}

#[test]
fn an_inner_node_as_leaf_with_a_padded_path_is_refused() {
    for session in sessions() {
        for node in inner_nodes(&session) {
            let (level, index, hash) = node;
            let first = index << level;
            let mut proof = InclusionProof { leaf_hash: ContentHash::new(hash), ..session.proof(first) };
            for step in &mut proof.steps[..level] {
                step.hash = NodeHash::new(hash);
            }
            assert!(
                matches!(session.verify(&proof), Err(NotIncluded::RootMismatch | NotIncluded::NotDoubled { .. })),
                "{} {} {node:?}",
                session.scheme,
                session.count()
            );
        }
    }
}

#[test]
fn the_root_as_its_own_leaf_is_refused() {
    for session in sessions() {
        let proof = InclusionProof {
            scheme: session.scheme,
            leaf_hash: ContentHash::new(*session.root.as_bytes()),
            index: 0,
            count: session.count(),
            steps: Vec::new(),
            root: session.root,
        };
        let expected = session.proof(0).steps.len();
        assert_eq!(session.verify(&proof), Err(NotIncluded::PathLength { expected }));
    }
}

#[test]
fn two_leaves_joined_by_the_forger_to_be_one_leaf_below_are_refused() {
    // The other direction: a leaf said to be an inner node, with made-up children below it.
    for session in sessions().filter(|session| session.scheme != Scheme::V1Rfc9162) {
        let honest = session.proof(0);
        let child = Step { hash: NodeHash::new([3; 32]), position: Position::Right };
        let mut proof = InclusionProof { leaf_hash: ContentHash::new([2; 32]), ..honest.clone() };
        proof.steps.insert(0, child);
        assert_eq!(session.verify(&proof), Err(NotIncluded::PathLength { expected: honest.steps.len() }));
    }
}
