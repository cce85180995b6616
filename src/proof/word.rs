//! A person's word for a commit: what a maintainer says of a change that no anchor can be bound to. It is signed, it is for
//! one commit, and it proves nothing: whoever takes it says so.

use super::canonical::{Malformed, Problem, Reader, Writer};
use super::digest::{CommitId, RootHash, TreeId};
use super::record::read_time;
use super::timestamp::Timestamp;

/// The type of word that is written, and the only one that is understood.
pub const WORD_TYPE: &str = "git-proof/word@1";
/// Longest reason, in bytes.
pub const MAX_REASON: usize = 4096;

const OBJECT: &str = "40 or 64 lower-case hex digits";

/// Says: I stand by this commit, for this reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The commit.
    pub commit: CommitId,
    /// The commits that it was made of, if the word is about such.
    pub range: Option<WordRange>,
    /// Why.
    pub reason: String,
    /// When it was said.
    pub said_at: Timestamp,
    /// The sessions that explain it, sorted.
    pub sessions: Vec<NamedSession>,
    /// The commit's tree.
    pub tree: TreeId,
}

/// The commits that a squash was made of: all that `head` reaches and `base` does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordRange {
    /// Where they begin; not one of them.
    pub base: CommitId,
    /// The last of them.
    pub head: CommitId,
}

/// A session by what its evidence adds up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedSession {
    /// Its root.
    pub root: RootHash,
    /// Its number of entries: the root means nothing without it.
    pub count: u64,
}

impl NamedSession {
    fn to_text(self) -> String {
        Writer::new().begin().key("count").integer(self.count).key("root").plain(&self.root).end().finish()
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.begin()?;
        reader.key("count")?;
        let count = reader.unsigned("count")?;
        if count == 0 {
            return Err(Malformed::new("count", Problem::Expected("at least 1")));
        }
        reader.key("root")?;
        let root = reader.parsed("root", "64 lower-case hex digits", RootHash::parse)?;
        reader.end()?;
        Ok(Self { root, count })
    }
}

impl Word {
    /// The canonical text, which is signed.
    pub fn to_text(&self) -> String {
        Writer::new()
            .begin()
            .key("base")
            .plain_or_null(self.range.as_ref().map(|range| &range.base))
            .key("commit")
            .plain(&self.commit)
            .key("head")
            .plain_or_null(self.range.as_ref().map(|range| &range.head))
            .key("reason")
            .string(&self.reason)
            .key("said_at")
            .plain(&self.said_at)
            .key("sessions")
            .array(self.sessions.iter().map(|session| session.to_text()))
            .key("tree")
            .plain(&self.tree)
            .key("type")
            .plain(&WORD_TYPE)
            .end()
            .finish()
    }

    /// Reads the canonical text.
    pub fn parse(text: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(text)?;
        let word = Self::read(&mut reader)?;
        reader.finish()?;
        Ok(word)
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        reader.begin()?;
        reader.key("base")?;
        let base = reader.parsed_or_null("base", "40 or 64 lower-case hex digits, or null", CommitId::parse)?;
        reader.key("commit")?;
        let commit = reader.parsed("commit", OBJECT, CommitId::parse)?;
        reader.key("head")?;
        let head = reader.parsed_or_null("head", "40 or 64 lower-case hex digits, or null", CommitId::parse)?;
        let range = match (base, head) {
            (Some(base), Some(head)) => Some(WordRange { base, head }),
            (None, None) => None,
            _ => return Err(Malformed::new("head", Problem::Expected("null if base is, and an id if base is one"))),
        };
        reader.key("reason")?;
        let reason = reader.text("reason")?.into_owned();
        if reason.len() > MAX_REASON {
            return Err(Malformed::new("reason", Problem::Expected("at most 4096 bytes")));
        }
        reader.key("said_at")?;
        let said_at = read_time(reader, "said_at")?;
        reader.key("sessions")?;
        let sessions = reader.array("sessions", NamedSession::read)?;
        if !sessions.is_sorted_by(|left, right| left < right) {
            return Err(Malformed::new("sessions", Problem::Expected("sessions sorted by root, none twice")));
        }
        reader.key("tree")?;
        let tree = reader.parsed("tree", OBJECT, TreeId::parse)?;
        let ids = [Some(tree.0), base.map(|base| base.0), head.map(|head| head.0)];
        if ids.into_iter().flatten().any(|id| id.as_bytes().len() != commit.0.as_bytes().len()) {
            return Err(Malformed::new("tree", Problem::Expected("ids of the same length as the commit's")));
        }
        reader.key("type")?;
        reader.parsed("type", WORD_TYPE, |text| (text == WORD_TYPE).then_some(()))?;
        reader.end()?;
        Ok(Self { commit, range, reason, said_at, sessions, tree })
    }
}
