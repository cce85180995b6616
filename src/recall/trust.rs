//! Decides which decisions an agent is told: those for commits of the base branch that were recorded before the commit,
//! and that either this clone recorded itself or a listed signer signed by their own anchor. A seal gives no trust,
//! because a sealer seals everything that verifies.

use crate::error::Result;
use crate::git::Git;
use crate::judge::{self, CommitVerdict, SessionVerdict};
use crate::proof::digest::CommitId;
use crate::proof::finding::Verdict;
use crate::store::Store;

/// The setting that says which decisions agents are told.
const SETTING: &str = "proof.recall";

/// Which decisions agents are told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Recall {
    /// None.
    Off,
    /// Those of sessions of this clone, and those that a listed person signed.
    #[default]
    Trusted,
    /// Those of all sessions that are proven on the base branch, whoever recorded them.
    All,
}

impl Recall {
    /// By the setting of the repository. A value that is not known switches it off.
    pub fn of(git: &Git) -> Self {
        match git.setting(SETTING).map(|value| value.to_ascii_lowercase()).as_deref() {
            None | Some("trusted") => Self::Trusted,
            Some("all") => Self::All,
            Some(_) => Self::Off,
        }
    }
}

/// What agents may be told: which decisions, of which branch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowed {
    recall: Recall,
    /// The newest commit of the branch whose commits count.
    pub(super) tip: CommitId,
    /// Whether it is the branch that rules are taken from. Otherwise it is whatever is checked out, and only sessions of this
    /// clone count there: its list of signers may be anybody's.
    trusted: bool,
}

impl Allowed {
    /// By the setting and the base branch; `None` where there is no commit yet.
    pub(crate) fn of(git: &Git) -> Result<Option<Self>> {
        let recall = Recall::of(git);
        Ok(match judge::trusted_branch(git)? {
            Some((_, tip)) => Some(Self { recall, tip, trusted: true }),
            None => git.tip("HEAD")?.map(|tip| Self { recall, tip, trusted: false }),
        })
    }

    /// Whether the setting switches it off.
    pub(crate) fn is_nothing(&self) -> bool {
        self.recall == Recall::Off
    }

    /// Whether what a session decided may be told to an agent, given that the commit is on this branch.
    pub(super) fn lets_through(&self, store: Option<&Store>, commit: &CommitVerdict, session: &SessionVerdict) -> bool {
        let proven = commit.verdict == Verdict::Pass && session.holds && session.rooted && !session.afterwards;
        proven
            && match self.recall {
                Recall::Off => false,
                Recall::All => true,
                Recall::Trusted => is_own(store, session) || self.trusted && !session.signers.is_empty(),
            }
    }
}

/// Whether this clone recorded a session: the store has it, with this very root.
pub(super) fn is_own(store: Option<&Store>, session: &SessionVerdict) -> bool {
    store.is_some_and(|store| store.recorded(&session.session_id, &session.root, session.count))
}
