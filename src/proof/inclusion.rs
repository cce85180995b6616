//! Inclusion proofs: that one entry is in a session, checked against a root and count that are trusted already.
//!
//! Pairing an odd node with itself gives several leaf lists one root. So the count belongs to the root, the path must
//! have exactly the shape that index and count give it, and a doubled neighbour must really be equal.

use std::fmt;

use super::canonical::object;
use super::digest::{ContentHash, NodeHash, RootHash};
use super::schema::{name_schema, names};
use super::scheme::Scheme;
use super::tree::{Sibling, siblings};

object! {
    /// One step up: the neighbour, and the side on which it stands.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
    #[schemars(inline)]
    pub struct Step, "step", to_text {
        /// The neighbour.
        hash: NodeHash,
        /// Its side.
        position: Position,
    }
}

names! {
    /// The side on which a neighbour stands.
    pub enum Position {
        /// Before the node on the path.
        Left = "left",
        /// After it.
        Right = "right",
    }
}

name_schema!(Position);

object! {
    /// A proof that an entry is in a session. Its fields stand in reading order, not in canonical order.
    #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
    pub struct InclusionProof, "inclusion proof", to_line {
        /// How the session is hashed.
        scheme: Scheme,
        /// Content hash of the entry.
        leaf_hash: ContentHash,
        /// Position in the tree: after sorting, in `v1-sorted`.
        index: u64,
        /// Number of leaves that the proof claims.
        count: u64,
        /// The path upwards.
        #[serde(rename = "proof")]
        steps["proof"]: Vec<Step>,
        /// The root that the proof claims.
        root: RootHash,
    }
    "proof", "at most 64 steps": |proof| proof.steps.len() <= 64;
}

/// Why a proof does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotIncluded {
    /// The proof speaks of another root than the trusted one.
    AnotherRoot,
    /// The proof speaks of another count than the trusted one.
    AnotherCount,
    /// There are not that many leaves.
    IndexBeyondCount,
    /// The path has too few or too many steps.
    PathLength {
        /// Steps that index and count call for.
        expected: usize,
    },
    /// A neighbour is on the wrong side.
    Position {
        /// Which step, from 0.
        step: usize,
    },
    /// The last node of an odd level is not paired with itself.
    NotDoubled {
        /// Which step, from 0.
        step: usize,
    },
    /// The path leads to another root.
    RootMismatch,
}

impl NotIncluded {
    /// The field of the proof that is wrong.
    pub fn field(&self) -> &'static str {
        match self {
            Self::AnotherRoot | Self::RootMismatch => "root",
            Self::AnotherCount => "count",
            Self::IndexBeyondCount => "index",
            Self::PathLength { .. } | Self::Position { .. } | Self::NotDoubled { .. } => "proof",
        }
    }
}

impl fmt::Display for NotIncluded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnotherRoot => f.write_str("the proof is for another root"),
            Self::AnotherCount => f.write_str("the proof is for another number of entries"),
            Self::IndexBeyondCount => f.write_str("there is no entry with this index"),
            Self::PathLength { expected } => write!(f, "the path must have exactly {expected} steps"),
            Self::Position { step } => write!(f, "step {step} stands on the wrong side"),
            Self::NotDoubled { step } => write!(f, "step {step} must repeat the node it is paired with"),
            Self::RootMismatch => f.write_str("the path does not lead to the root"),
        }
    }
}

impl std::error::Error for NotIncluded {}

impl InclusionProof {
    /// Checks the proof against a root and count that are trusted already.
    pub fn verify(&self, root: &RootHash, count: u64) -> Result<(), NotIncluded> {
        if self.root != *root {
            return Err(NotIncluded::AnotherRoot);
        }
        if self.count != count {
            return Err(NotIncluded::AnotherCount);
        }
        if self.index >= count {
            return Err(NotIncluded::IndexBeyondCount);
        }
        let expected = siblings(self.scheme, self.index, count).count();
        if self.steps.len() != expected {
            return Err(NotIncluded::PathLength { expected });
        }
        let mut node = self.scheme.leaf(&self.leaf_hash);
        for (step, (found, (_, sibling))) in self.steps.iter().zip(siblings(self.scheme, self.index, count)).enumerate()
        {
            node = match (sibling, found.position) {
                (Sibling::Left, Position::Left) => self.scheme.node(&found.hash, &node),
                (Sibling::Itself, Position::Right) if found.hash != node => {
                    return Err(NotIncluded::NotDoubled { step });
                }
                (Sibling::Right | Sibling::Itself, Position::Right) => self.scheme.node(&node, &found.hash),
                _ => return Err(NotIncluded::Position { step }),
            };
        }
        if RootHash::from(node) == *root { Ok(()) } else { Err(NotIncluded::RootMismatch) }
    }
}
