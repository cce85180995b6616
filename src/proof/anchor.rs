//! The anchor: what binds a session's root to a change.

use super::canonical::object;
use super::digest::{AnchorId, ChainHash, ChangeId, CommitId, RootHash, TreeId, sha256};
use super::record::Id;
use super::scheme::Scheme;
use super::timestamp::Timestamp;

object! {
    /// Says: this change is explained by the session with this root.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Anchor, "anchor", to_text, type ANCHOR_TYPE = "git-proof/anchor@1" {
        /// When it was made.
        anchored_at: Timestamp,
        /// The change it was made for; `None` where there is none.
        change_id: Option<ChangeId>,
        /// The commit it was made for.
        commit: CommitId,
        /// Number of entries: the root means nothing without it.
        count: u64,
        /// The session's genesis.
        genesis: ChainHash,
        /// Chain hash of the session's last entry.
        head: ChainHash,
        /// The session's root.
        root: RootHash,
        /// How the session is hashed.
        scheme: Scheme,
        /// The session.
        session_id: Id,
        /// The task it belongs to.
        task_id: Option<String>,
        /// The commit's tree.
        tree: TreeId,
    }
    "count", "at least 1": |anchor| anchor.count > 0;
    "tree", "an id of the same length as the commit's": |anchor| anchor.tree.0.is_as_long_as(&anchor.commit.0);
}

impl Anchor {
    /// SHA-256 of the canonical text.
    pub fn id(&self) -> AnchorId {
        AnchorId::new(sha256(self.to_text().as_bytes()))
    }
}
