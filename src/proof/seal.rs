//! Seals: a round's roots, chained round by round, and logged so that any two rounds can be compared.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::canonical::{Malformed, Problem, Reader, Writer};
use super::digest::{AnchorId, NodeHash, RootHash, SealHash, sha256};
use super::log;
use super::record::{Id, read_time};
use super::scheme::Scheme;
use super::timestamp::Timestamp;
use super::tree::{self, Frontier};

/// The type of seal that is written, and the only one that is understood.
pub const SEAL_TYPE: &str = "git-proof/seal@1";

const DIGEST: &str = "64 lower-case hex digits";

/// A round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    /// SHA-256 of the canonical `{parents, previous, round}`.
    pub genesis: SealHash,
    /// The log of all sessions sealed so far.
    pub log: LogHead,
    /// When the round began.
    pub opened_at: Timestamp,
    /// The sessions of the round before, in their order.
    pub parents: Vec<Parent>,
    /// Hash of the seal before.
    pub previous: Option<SealHash>,
    /// The `v1` tree over the session roots.
    pub root: RootHash,
    /// 1, 2, …
    pub round: u64,
    /// When the round ended; never before the seal before.
    pub sealed_at: Timestamp,
    /// What is sealed.
    pub sessions: Vec<SealedSession>,
}

/// Root and size of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogHead {
    /// Root of the RFC 9162 tree.
    pub root: RootHash,
    /// Number of leaves.
    pub size: u64,
}

/// A session of the round before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    /// Its root.
    pub root: RootHash,
    /// Its id.
    pub session_id: Id,
}

/// A session that a round seals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSession {
    /// Its anchors, sorted.
    pub anchors: Vec<AnchorId>,
    /// Its number of entries.
    pub count: u64,
    /// Its root.
    pub root: RootHash,
    /// How it is hashed.
    pub scheme: Scheme,
    /// Its id.
    pub session_id: Id,
}

impl Parent {
    fn to_text(&self) -> String {
        Writer::new().begin().key("root").plain(&self.root).key("session_id").plain(&self.session_id).end().finish()
    }
}

impl SealedSession {
    /// The canonical text: a leaf of the log.
    pub fn to_text(&self) -> String {
        Writer::new()
            .begin()
            .key("anchors")
            .array(self.anchors.iter().map(|anchor| format!("\"{anchor}\"")))
            .key("count")
            .integer(self.count)
            .key("root")
            .plain(&self.root)
            .key("scheme")
            .plain(&self.scheme)
            .key("session_id")
            .plain(&self.session_id)
            .end()
            .finish()
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.begin()?;
        reader.key("anchors")?;
        let anchors = reader.array("anchors", |reader| reader.parsed("anchors", DIGEST, AnchorId::parse))?;
        if anchors.is_empty() || !anchors.is_sorted_by(|left, right| left < right) {
            return Err(Malformed::new("anchors", Problem::Expected("at least one anchor id, sorted, none twice")));
        }
        reader.key("count")?;
        let count = reader.unsigned("count")?;
        if count == 0 {
            return Err(Malformed::new("count", Problem::Expected("at least 1")));
        }
        reader.key("root")?;
        let root = reader.parsed("root", DIGEST, RootHash::parse)?;
        reader.key("scheme")?;
        let scheme = reader.parsed("scheme", Scheme::RULE, Scheme::parse)?;
        reader.key("session_id")?;
        let session_id = reader.parsed("session_id", Id::RULE, Id::parse)?;
        reader.end()?;
        Ok(Self { anchors, count, root, scheme, session_id })
    }
}

impl Seal {
    /// The canonical text of `seal.json`, without a newline.
    pub fn to_text(&self) -> String {
        Writer::new()
            .begin()
            .key("genesis")
            .plain(&self.genesis)
            .key("log")
            .begin()
            .key("root")
            .plain(&self.log.root)
            .key("size")
            .integer(self.log.size)
            .end()
            .key("opened_at")
            .plain(&self.opened_at)
            .key("parents")
            .array(self.parents.iter().map(Parent::to_text))
            .key("previous")
            .plain_or_null(self.previous.as_ref())
            .key("root")
            .plain(&self.root)
            .key("round")
            .integer(self.round)
            .key("sealed_at")
            .plain(&self.sealed_at)
            .key("sessions")
            .array(self.sessions.iter().map(SealedSession::to_text))
            .key("type")
            .plain(&SEAL_TYPE)
            .end()
            .finish()
    }

    /// Reads the canonical text. Whether it fits its chain is for [`Rounds`] to say.
    pub fn parse(text: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(text)?;
        reader.begin()?;
        reader.key("genesis")?;
        let genesis = reader.parsed("genesis", DIGEST, SealHash::parse)?;
        reader.key("log")?;
        reader.begin()?;
        reader.key("root")?;
        let log_root = reader.parsed("log.root", DIGEST, RootHash::parse)?;
        reader.key("size")?;
        let size = reader.unsigned("log.size")?;
        reader.end()?;
        reader.key("opened_at")?;
        let opened_at = read_time(&mut reader, "opened_at")?;
        reader.key("parents")?;
        let parents = reader.array("parents", |reader| {
            reader.begin()?;
            reader.key("root")?;
            let root = reader.parsed("parents.root", DIGEST, RootHash::parse)?;
            reader.key("session_id")?;
            let session_id = reader.parsed("parents.session_id", Id::RULE, Id::parse)?;
            reader.end()?;
            Ok(Parent { root, session_id })
        })?;
        reader.key("previous")?;
        let previous = reader.parsed_or_null("previous", DIGEST, SealHash::parse)?;
        reader.key("root")?;
        let root = reader.parsed("root", DIGEST, RootHash::parse)?;
        reader.key("round")?;
        let round = reader.unsigned("round")?;
        reader.key("sealed_at")?;
        let sealed_at = read_time(&mut reader, "sealed_at")?;
        reader.key("sessions")?;
        let sessions = reader.array("sessions", SealedSession::read)?;
        reader.key("type")?;
        reader.parsed("type", SEAL_TYPE, |text| (text == SEAL_TYPE).then_some(()))?;
        reader.end()?;
        reader.finish()?;
        let log = LogHead { root: log_root, size };
        Ok(Self { genesis, log, opened_at, parents, previous, root, round, sealed_at, sessions })
    }
}

/// SHA-256 of a seal's bytes.
pub fn seal_hash(text: &[u8]) -> SealHash {
    SealHash::new(sha256(text))
}

/// The genesis of a round.
pub fn genesis(parents: &[Parent], previous: Option<&SealHash>, round: u64) -> SealHash {
    let text = Writer::new()
        .begin()
        .key("parents")
        .array(parents.iter().map(Parent::to_text))
        .key("previous")
        .plain_or_null(previous)
        .key("round")
        .integer(round)
        .end()
        .finish();
    seal_hash(text.as_bytes())
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
            genesis: genesis(&parents, previous.as_ref(), round),
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
