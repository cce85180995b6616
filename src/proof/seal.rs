//! Seals: a round's roots, chained round by round, and logged so that any two rounds can be compared.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::canonical::{Malformed, member, object};
use super::digest::{AnchorId, NodeHash, RootHash, SealHash, sha256};
use super::log;
use super::record::Id;
use super::scheme::Scheme;
use super::timestamp::Timestamp;
use super::tree::{self, Frontier};

object! {
    /// A round. Whether it fits its chain is for [`Rounds`] to say.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Seal, "seal", to_text, type SEAL_TYPE = "git-proof/seal@1" {
        /// SHA-256 of the canonical `{parents, previous, round}`.
        genesis: SealHash,
        /// The log of all sessions sealed so far.
        log: LogHead,
        /// When the round began.
        opened_at: Timestamp,
        /// The sessions of the round before, in their order.
        parents: Vec<Parent>,
        /// Hash of the seal before.
        previous: Option<SealHash>,
        /// The `v1` tree over the session roots.
        root: RootHash,
        /// 1, 2, …
        round: u64,
        /// When the round ended; never before the seal before.
        sealed_at: Timestamp,
        /// What is sealed.
        sessions: Vec<SealedSession>,
    }
}

object! {
    /// Root and size of the log.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct LogHead, "log head", to_text {
        /// Root of the RFC 9162 tree.
        root: RootHash,
        /// Number of leaves.
        size: u64,
    }
}

object! {
    /// A session of the round before.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Parent, "parent", to_text {
        /// Its root.
        root: RootHash,
        /// Its id.
        session_id: Id,
    }
}

object! {
    /// A session that a round seals. Its canonical text is a leaf of the log.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SealedSession, "sealed session", to_text {
        /// Its anchors, sorted.
        anchors: Vec<AnchorId>,
        /// Its number of entries.
        count: u64,
        /// Its root.
        root: RootHash,
        /// How it is hashed.
        scheme: Scheme,
        /// Its id.
        session_id: Id,
    }
    "anchors", "at least one anchor id, sorted, none twice":
        |session| !session.anchors.is_empty() && session.anchors.is_sorted_by(|left, right| left < right);
    "count", "at least 1": |session| session.count > 0;
}

/// SHA-256 of a seal's bytes.
pub fn seal_hash(text: &[u8]) -> SealHash {
    SealHash::new(sha256(text))
}

/// The genesis of a round.
pub fn genesis(parents: &Vec<Parent>, previous: Option<SealHash>, round: u64) -> SealHash {
    let mut text = "{".to_owned();
    member(&mut text, "parents", parents);
    member(&mut text, "previous", &previous);
    member(&mut text, "round", &round);
    seal_hash((text + "}").as_bytes())
}

/// The root of a round: the `v1` tree over its sessions' roots; `None` for no session.
pub fn round_root(sessions: &[SealedSession]) -> Option<RootHash> {
    let leaves: Vec<NodeHash> = sessions.iter().map(|session| NodeHash::new(*session.root.as_bytes())).collect();
    tree::root_of(Scheme::V1, &leaves, 1)
}

/// Why a seal does not continue its chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrokenSeal {
    /// Not a canonical seal.
    Malformed(Malformed),
    /// A field that is not what the seals before and the seal's own sessions make it.
    Field(&'static str),
    /// A session stands in the round twice.
    SessionTwice(Id),
    /// An earlier round has the session with the same root.
    SealedBefore(Id, u64),
}

impl fmt::Display for BrokenSeal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(malformed) => malformed.fmt(f),
            Self::Field(field) => write!(f, "field \"{field}\": not what the seals before and the sessions make it"),
            Self::SessionTwice(session) => write!(f, "field \"sessions\": {session} stands in the round twice"),
            Self::SealedBefore(session, round) => write!(f, "session {session} was sealed in round {round} already"),
        }
    }
}

impl std::error::Error for BrokenSeal {}

/// The chain of rounds as far as it has been read: what the next seal must fit.
#[derive(Debug, Clone)]
pub struct Rounds {
    log: Frontier,
    last: Option<(Seal, SealHash)>,
    sealed: HashMap<(Id, RootHash), u64>,
}

impl Default for Rounds {
    fn default() -> Self {
        Self { log: Frontier::new(Scheme::V1Rfc9162), last: None, sealed: HashMap::new() }
    }
}

impl Rounds {
    /// The chain before its first round.
    pub fn new() -> Self {
        Self::default()
    }

    /// The last seal and its hash.
    pub fn last(&self) -> Option<&(Seal, SealHash)> {
        self.last.as_ref()
    }

    /// Makes the seal of the next round; `None` for no sessions. A clock behind the seal before is held at its time.
    pub fn seal(&self, sessions: Vec<SealedSession>, opened_at: Timestamp, sealed_at: Timestamp) -> Option<Seal> {
        let root = round_root(&sessions)?;
        let (parents, previous, round) = self.next();
        let mut grown = self.log.clone();
        for session in &sessions {
            grown.push(log::leaf(session.to_text().as_bytes()));
        }
        let sealed_at = self.last.as_ref().map_or(sealed_at, |(last, _)| sealed_at.max(last.sealed_at));
        Some(Seal {
            genesis: genesis(&parents, previous, round),
            log: LogHead { root: grown.root()?, size: grown.count() },
            opened_at,
            parents,
            previous,
            root,
            round,
            sealed_at,
            sessions,
        })
    }

    /// Takes the bytes of the next seal, if they are exactly what the seals before allow.
    pub fn push(&mut self, text: &[u8]) -> Result<&Seal, BrokenSeal> {
        let seal = Seal::parse(text).map_err(BrokenSeal::Malformed)?;
        let mut seen = HashSet::new();
        if let Some(twice) = seal.sessions.iter().find(|session| !seen.insert(&session.session_id)) {
            return Err(BrokenSeal::SessionTwice(twice.session_id.clone()));
        }
        let expected =
            self.seal(seal.sessions.clone(), seal.opened_at, seal.sealed_at).ok_or(BrokenSeal::Field("sessions"))?;
        if let Some(field) = first_difference(&seal, &expected) {
            return Err(BrokenSeal::Field(field));
        }
        let key = |session: &SealedSession| (session.session_id.clone(), session.root);
        for session in &seal.sessions {
            if let Some(round) = self.sealed.get(&key(session)) {
                return Err(BrokenSeal::SealedBefore(session.session_id.clone(), *round));
            }
        }
        for session in &seal.sessions {
            self.log.push(log::leaf(session.to_text().as_bytes()));
            self.sealed.insert(key(session), seal.round);
        }
        Ok(&self.last.insert((seal, seal_hash(text))).0)
    }

    /// Parents, previous hash and number of the next round.
    fn next(&self) -> (Vec<Parent>, Option<SealHash>, u64) {
        match &self.last {
            None => (Vec::new(), None, 1),
            Some((last, hash)) => {
                let parents = last
                    .sessions
                    .iter()
                    .map(|session| Parent { root: session.root, session_id: session.session_id.clone() })
                    .collect();
                (parents, Some(*hash), last.round + 1)
            }
        }
    }
}

fn first_difference(found: &Seal, expected: &Seal) -> Option<&'static str> {
    [
        ("round", found.round == expected.round),
        ("previous", found.previous == expected.previous),
        ("parents", found.parents == expected.parents),
        ("genesis", found.genesis == expected.genesis),
        ("root", found.root == expected.root),
        ("log", found.log == expected.log),
        ("sealed_at", found.sealed_at == expected.sealed_at),
    ]
    .into_iter()
    .find_map(|(field, same)| (!same).then_some(field))
}
