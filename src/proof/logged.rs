//! Proofs about the log of sealed sessions, as files: that a session is in it, and that a later log begins with an
//! earlier one. Both are one line of canonical JSON and are checked against a log head that is trusted already.

use std::fmt;

use super::canonical::object;
use super::digest::{NodeHash, RootHash};
use super::log;
use super::scheme::Scheme;
use super::seal::{LogHead, SealedSession};
use super::tree::{Sibling, Tree, siblings};

object! {
    /// Where the log stood when a round was sealed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct RoundHead, "round head", to_text {
        /// Root of the log of all sessions up to the round.
        root: RootHash,
        /// The round.
        round: u64,
        /// Number of the log's leaves.
        size: u64,
    }
}

object! {
    /// A proof that a session is in the log.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LoggedProof, "proof that a session is in the log", to_line, type LOGGED_TYPE = "git-proof/logged@1" {
        /// Its place in the log, from 0.
        index: u64,
        /// The log.
        head["log"]: RoundHead,
        /// The nodes beside the path upwards.
        path["proof"]: Vec<NodeHash>,
        /// The session as its seal has it.
        session: SealedSession,
    }
    "proof", "at most 65 steps": |proof| proof.path.len() <= MAX_STEPS;
}

object! {
    /// A proof that a log begins with another.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ConsistencyProof, "consistency proof", to_line, type CONSISTENCY_TYPE = "git-proof/consistency@1" {
        /// The earlier log.
        from: RoundHead,
        /// The nodes that tie them.
        path["proof"]: Vec<NodeHash>,
        /// The later log.
        to: RoundHead,
    }
    "proof", "at most 65 steps": |proof| proof.path.len() <= MAX_STEPS;
}

/// A consistency proof has at most one node more than the tree has levels.
const MAX_STEPS: usize = 65;

impl RoundHead {
    /// The log as the seal of a round has it.
    pub fn new(round: u64, log: &LogHead) -> Self {
        Self { root: log.root, round, size: log.size }
    }

    /// Root and size alone.
    pub fn log(&self) -> LogHead {
        LogHead { root: self.root, size: self.size }
    }
}

/// Why a proof about the log does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotLogged {
    /// It speaks of another log than the trusted one.
    AnotherLog,
    /// There are not that many sessions in the log.
    IndexBeyondSize,
    /// The path has too few or too many steps.
    PathLength {
        /// Steps that index and size call for.
        expected: usize,
    },
    /// The path leads to another root.
    RootMismatch,
    /// The two logs are not tied by it.
    NotConsistent,
}

impl NotLogged {
    /// The field of the proof that is wrong.
    pub fn field(&self) -> &'static str {
        match self {
            Self::AnotherLog => "log",
            Self::IndexBeyondSize => "index",
            Self::PathLength { .. } | Self::RootMismatch | Self::NotConsistent => "proof",
        }
    }
}

impl fmt::Display for NotLogged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnotherLog => f.write_str("the proof is for another log"),
            Self::IndexBeyondSize => f.write_str("the log has no session with this index"),
            Self::PathLength { expected } => write!(f, "the path must have exactly {expected} steps"),
            Self::RootMismatch => f.write_str("the path does not lead to the root of the log"),
            Self::NotConsistent => f.write_str("the later log does not begin with the earlier one"),
        }
    }
}

impl std::error::Error for NotLogged {}

impl LoggedProof {
    /// Proves a session by the log that has it at `index`; `None` if it has not so many.
    pub fn make(log: &Tree, head: RoundHead, index: u64, session: SealedSession) -> Option<Self> {
        let path = log.path(index)?.into_iter().map(|step| step.hash).collect();
        Some(Self { index, head, path, session })
    }

    /// Checks the proof against a log that is trusted already.
    pub fn verify(&self, trusted: &LogHead) -> Result<(), NotLogged> {
        if self.head.log() != *trusted {
            return Err(NotLogged::AnotherLog);
        }
        if self.index >= trusted.size {
            return Err(NotLogged::IndexBeyondSize);
        }
        let sides: Vec<Sibling> = siblings(Scheme::V1Rfc9162, self.index, trusted.size).map(|(_, side)| side).collect();
        if sides.len() != self.path.len() {
            return Err(NotLogged::PathLength { expected: sides.len() });
        }
        let leaf = log::leaf(self.session.to_text().as_bytes());
        let top = sides.iter().zip(&self.path).fold(leaf, |node, (side, beside)| match side {
            Sibling::Left => Scheme::V1Rfc9162.node(beside, &node),
            Sibling::Right | Sibling::Itself => Scheme::V1Rfc9162.node(&node, beside),
        });
        if RootHash::from(top) == trusted.root { Ok(()) } else { Err(NotLogged::RootMismatch) }
    }
}

impl ConsistencyProof {
    /// Proves that a log begins with an earlier one; `None` unless that one is not empty and not larger.
    pub fn make(log: &Tree, from: RoundHead, to: RoundHead) -> Option<Self> {
        let Ok(path) = log::consistency(log, from.size, to.size);
        Some(Self { from, path: path?, to })
    }

    /// Checks the proof against a later log that is trusted already: then the earlier one was its beginning.
    pub fn verify(&self, trusted: &LogHead) -> Result<(), NotLogged> {
        if self.to.log() != *trusted {
            return Err(NotLogged::AnotherLog);
        }
        let (from, to) = (&self.from, &self.to);
        if log::is_consistent((from.size, &from.root), (to.size, &to.root), &self.path) {
            Ok(())
        } else {
            Err(NotLogged::NotConsistent)
        }
    }
}
