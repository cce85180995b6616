//! Proofs about the log of sealed sessions, as files: that a session is in it, and that a later log begins with an
//! earlier one. Both are one line of canonical JSON and are checked against a log head that is trusted already.

use std::fmt;

use super::canonical::{Malformed, Problem, Reader, Writer};
use super::digest::{NodeHash, RootHash};
use super::log;
use super::scheme::Scheme;
use super::seal::{LogHead, SealedSession};
use super::tree::{Sibling, Tree, siblings};

/// The type of a proof that a session is in the log.
pub const LOGGED_TYPE: &str = "git-proof/logged@1";
/// The type of a proof that a log begins with another.
pub const CONSISTENCY_TYPE: &str = "git-proof/consistency@1";

const DIGEST: &str = "64 lower-case hex digits";

/// Where the log stood when a round was sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundHead {
    /// The round.
    pub round: u64,
    /// The log of all sessions up to it.
    pub log: LogHead,
}

/// A proof that a session is in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedProof {
    /// Its place in the log, from 0.
    pub index: u64,
    /// The log.
    pub head: RoundHead,
    /// The nodes beside the path upwards.
    pub path: Vec<NodeHash>,
    /// The session as its seal has it.
    pub session: SealedSession,
}

/// A proof that a log begins with another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsistencyProof {
    /// The earlier log.
    pub from: RoundHead,
    /// The nodes that tie them.
    pub path: Vec<NodeHash>,
    /// The later log.
    pub to: RoundHead,
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
        if self.head.log != *trusted {
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

    /// The line, without its newline.
    pub fn to_line(&self) -> String {
        Writer::new()
            .begin()
            .key("index")
            .integer(self.index)
            .key("log")
            .raw(&self.head.to_text())
            .key("proof")
            .array(self.path.iter().map(|node| format!("\"{node}\"")))
            .key("session")
            .raw(&self.session.to_text())
            .key("type")
            .plain(&LOGGED_TYPE)
            .end()
            .finish()
    }

    /// Reads the line, without its newline.
    pub fn parse(line: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(line)?;
        reader.begin()?;
        reader.key("index")?;
        let index = reader.unsigned("index")?;
        reader.key("log")?;
        let head = RoundHead::read(&mut reader)?;
        reader.key("proof")?;
        let path = read_path(&mut reader)?;
        reader.key("session")?;
        let session = SealedSession::read(&mut reader)?;
        read_type(&mut reader, LOGGED_TYPE)?;
        reader.end()?;
        reader.finish()?;
        Ok(Self { index, head, path, session })
    }
}

impl ConsistencyProof {
    /// Proves that a log begins with an earlier one; `None` unless that one is not empty and not larger.
    pub fn make(log: &Tree, from: RoundHead, to: RoundHead) -> Option<Self> {
        let path = match log::consistency(log, from.log.size, to.log.size) {
            Ok(path) => path?,
            Err(never) => match never {},
        };
        Some(Self { from, path, to })
    }

    /// Checks the proof against a later log that is trusted already: then the earlier one was its beginning.
    pub fn verify(&self, trusted: &LogHead) -> Result<(), NotLogged> {
        if self.to.log != *trusted {
            return Err(NotLogged::AnotherLog);
        }
        let (from, to) = (&self.from.log, &self.to.log);
        if log::is_consistent((from.size, &from.root), (to.size, &to.root), &self.path) {
            Ok(())
        } else {
            Err(NotLogged::NotConsistent)
        }
    }

    /// The line, without its newline.
    pub fn to_line(&self) -> String {
        Writer::new()
            .begin()
            .key("from")
            .raw(&self.from.to_text())
            .key("proof")
            .array(self.path.iter().map(|node| format!("\"{node}\"")))
            .key("to")
            .raw(&self.to.to_text())
            .key("type")
            .plain(&CONSISTENCY_TYPE)
            .end()
            .finish()
    }

    /// Reads the line, without its newline.
    pub fn parse(line: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(line)?;
        reader.begin()?;
        reader.key("from")?;
        let from = RoundHead::read(&mut reader)?;
        reader.key("proof")?;
        let path = read_path(&mut reader)?;
        reader.key("to")?;
        let to = RoundHead::read(&mut reader)?;
        read_type(&mut reader, CONSISTENCY_TYPE)?;
        reader.end()?;
        reader.finish()?;
        Ok(Self { from, path, to })
    }
}

impl RoundHead {
    fn to_text(self) -> String {
        Writer::new()
            .begin()
            .key("root")
            .plain(&self.log.root)
            .key("round")
            .integer(self.round)
            .key("size")
            .integer(self.log.size)
            .end()
            .finish()
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.begin()?;
        reader.key("root")?;
        let root = reader.parsed("root", DIGEST, RootHash::parse)?;
        reader.key("round")?;
        let round = reader.unsigned("round")?;
        reader.key("size")?;
        let size = reader.unsigned("size")?;
        reader.end()?;
        Ok(Self { round, log: LogHead { root, size } })
    }
}

fn read_path(reader: &mut Reader<'_>) -> Result<Vec<NodeHash>, Malformed> {
    let path = reader.array("proof", |reader| reader.parsed("proof", DIGEST, NodeHash::parse))?;
    // A consistency proof has at most one node more than the tree has levels.
    if path.len() > 65 { Err(Malformed::new("proof", Problem::Expected("at most 65 steps"))) } else { Ok(path) }
}

fn read_type(reader: &mut Reader<'_>, wanted: &'static str) -> Result<(), Malformed> {
    reader.key("type")?;
    reader.parsed("type", wanted, |text| (text == wanted).then_some(()))
}
