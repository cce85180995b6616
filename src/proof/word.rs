//! A person's word for a commit: a maintainer's statement about a change that no anchor can be bound to. It is signed
//! and for one commit, and it proves nothing: such a commit is reported as vouched, not as proven.

use std::cmp::Ordering;

use super::canonical::object;
use super::digest::{CommitId, RootHash, TreeId};
use super::timestamp::Timestamp;

/// Longest reason, in bytes.
pub const MAX_REASON: usize = 4096;

object! {
    /// Says: I stand by this commit, for this reason.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Word, "word", to_text, type WORD_TYPE = "git-proof/word@1" {
        /// If the commit was made of a range: where that begins; not one of its commits.
        base: Option<CommitId>,
        /// The commit.
        commit: CommitId,
        /// The last commit of the range.
        head: Option<CommitId>,
        /// Why.
        reason: String,
        /// When it was said.
        said_at: Timestamp,
        /// The sessions that explain it, sorted.
        sessions: Vec<NamedSession>,
        /// The commit's tree.
        tree: TreeId,
    }
    "head", "null if base is, and an id if base is one": |word| word.base.is_some() == word.head.is_some();
    "reason", "at most 4096 bytes": |word| word.reason.len() <= MAX_REASON;
    "sessions", "sessions sorted by root, none twice": |word| word.sessions.is_sorted_by(|left, right| left < right);
    "tree", "ids of the same length as the commit's": |word| {
        let ids = [Some(word.tree.0), word.base.map(|base| base.0), word.head.map(|head| head.0)];
        ids.iter().flatten().all(|id| id.is_as_long_as(&word.commit.0))
    };
}

object! {
    /// A session by what its evidence adds up to. Sorted by root.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct NamedSession, "named session", to_text {
        /// Its number of entries: the root means nothing without it.
        count: u64,
        /// Its root.
        root: RootHash,
    }
    "count", "at least 1": |session| session.count > 0;
}

impl Ord for NamedSession {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.root, self.count).cmp(&(other.root, other.count))
    }
}

impl PartialOrd for NamedSession {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
