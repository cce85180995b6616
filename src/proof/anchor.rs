//! The anchor: what binds a session's root to a change.

use std::borrow::Cow;

use super::canonical::{Malformed, Problem, Reader, Writer};
use super::digest::{AnchorId, ChainHash, ChangeId, CommitId, RootHash, TreeId, sha256};
use super::record::{Id, read_task, read_time};
use super::scheme::Scheme;
use super::timestamp::Timestamp;

/// The type of anchor that is written, and the only one that is understood.
pub const ANCHOR_TYPE: &str = "git-proof/anchor@1";

/// Says: this change is explained by the session with this root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// When it was made.
    pub anchored_at: Timestamp,
    /// The change it was made for; `None` where there is none.
    pub change_id: Option<ChangeId>,
    /// The commit it was made for.
    pub commit: CommitId,
    /// Number of entries: the root means nothing without it.
    pub count: u64,
    /// The session's genesis.
    pub genesis: ChainHash,
    /// Chain hash of the session's last entry.
    pub head: ChainHash,
    /// The session's root.
    pub root: RootHash,
    /// How the session is hashed.
    pub scheme: Scheme,
    /// The session.
    pub session_id: Id,
    /// The task it belongs to.
    pub task_id: Option<String>,
    /// The commit's tree.
    pub tree: TreeId,
}

impl Anchor {
    /// The canonical text, which is hashed and signed.
    pub fn to_text(&self) -> String {
        Writer::new()
            .begin()
            .key("anchored_at")
            .plain(&self.anchored_at)
            .key("change_id")
            .plain_or_null(self.change_id.as_ref())
            .key("commit")
            .plain(&self.commit)
            .key("count")
            .integer(self.count)
            .key("genesis")
            .plain(&self.genesis)
            .key("head")
            .plain(&self.head)
            .key("root")
            .plain(&self.root)
            .key("scheme")
            .plain(&self.scheme)
            .key("session_id")
            .plain(&self.session_id)
            .key("task_id")
            .string_or_null(self.task_id.as_deref())
            .key("tree")
            .plain(&self.tree)
            .key("type")
            .plain(&ANCHOR_TYPE)
            .end()
            .finish()
    }

    /// SHA-256 of the canonical text.
    pub fn id(&self) -> AnchorId {
        AnchorId::new(sha256(self.to_text().as_bytes()))
    }

    /// Reads the canonical text.
    pub fn parse(text: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(text)?;
        let anchor = Self::read(&mut reader)?;
        reader.finish()?;
        Ok(anchor)
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        const DIGEST: &str = "64 lower-case hex digits";
        const OBJECT: &str = "40 or 64 lower-case hex digits";
        reader.begin()?;
        reader.key("anchored_at")?;
        let anchored_at = read_time(reader, "anchored_at")?;
        reader.key("change_id")?;
        let change_id = reader.parsed_or_null("change_id", "64 lower-case hex digits, or null", ChangeId::parse)?;
        reader.key("commit")?;
        let commit = reader.parsed("commit", OBJECT, CommitId::parse)?;
        reader.key("count")?;
        let count = reader.unsigned("count")?;
        if count == 0 {
            return Err(Malformed::new("count", Problem::Expected("at least 1")));
        }
        reader.key("genesis")?;
        let genesis = reader.parsed("genesis", DIGEST, ChainHash::parse)?;
        reader.key("head")?;
        let head = reader.parsed("head", DIGEST, ChainHash::parse)?;
        reader.key("root")?;
        let root = reader.parsed("root", DIGEST, RootHash::parse)?;
        reader.key("scheme")?;
        let scheme = reader.parsed("scheme", Scheme::RULE, Scheme::parse)?;
        reader.key("session_id")?;
        let session_id = reader.parsed("session_id", Id::RULE, Id::parse)?;
        reader.key("task_id")?;
        let task_id = read_task(reader)?.map(Cow::into_owned);
        reader.key("tree")?;
        let tree = reader.parsed("tree", OBJECT, TreeId::parse)?;
        if tree.0.as_bytes().len() != commit.0.as_bytes().len() {
            return Err(Malformed::new("tree", Problem::Expected("an id of the same length as the commit's")));
        }
        reader.key("type")?;
        reader.parsed("type", ANCHOR_TYPE, |text| (text == ANCHOR_TYPE).then_some(()))?;
        reader.end()?;
        Ok(Self { anchored_at, change_id, commit, count, genesis, head, root, scheme, session_id, task_id, tree })
    }
}
