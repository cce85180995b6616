//! The rules by which commits are judged: a policy, read from a commit and never from the worktree.

use crate::error::{Code, Error, Result};
use crate::git::{FILE, Git};
use crate::proof::anchor::Anchor;
use crate::proof::digest::CommitId;
use crate::proof::grade::Grader;
use crate::proof::note::Signature;
use crate::proof::policy::{MAX_POLICY, Policy, Requirements};
use crate::proof::verify::Signatures;

/// Where a policy is.
const POLICY: &str = ".proof/policy.toml";

/// A policy, ready to be applied.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub(super) grader: Grader,
    pub(super) requirements: Requirements,
    /// Whether a proof-grade commit without an anchor fails.
    pub(super) must_be_anchored: bool,
    /// Whether commits that need no proof are looked up by their change as well.
    pub(super) look_everywhere: bool,
    /// Whether the policy came from a file; else these are the defaults.
    pub(super) from_file: bool,
}

impl Rules {
    /// The policy of a commit, or the defaults where it has none.
    pub(super) fn of(git: &Git, commit: &CommitId) -> Result<Self> {
        let unreadable = |why: String| {
            Error::new(Code::PolicyUnreadable, format!("the policy {POLICY} of commit {commit} cannot be used"))
                .because(why)
                .hint("git proof doctor checks the policy of the worktree; correct it on that branch")
        };
        let tree = git.commit(commit)?.tree;
        let entry = git.file(&tree, POLICY).map_err(|error| unreadable(error.to_string()))?;
        let policy = match &entry {
            None => Policy::default(),
            Some(entry) if entry.mode & 0o170_000 != FILE & 0o170_000 => {
                return Err(unreadable("it is not a plain file".to_owned()));
            }
            Some(entry) => {
                let text = git.blob(&entry.id, MAX_POLICY).map_err(|error| unreadable(error.to_string()))?;
                Policy::parse(&text).map_err(|error| unreadable(error.to_string()))?
            }
        };
        let grader = Grader::new(&policy.proof_grade).map_err(|error| unreadable(error.to_string()))?;
        Ok(Self {
            grader,
            requirements: policy.proof,
            must_be_anchored: false,
            look_everywhere: true,
            from_file: entry.is_some(),
        })
    }

    /// The rules where nobody has set any.
    pub(super) fn defaults() -> Result<Self> {
        let policy = Policy::default();
        let grader = Grader::new(&policy.proof_grade)
            .map_err(|error| Error::new(Code::PolicyUnreadable, "the default policy").because(error))?;
        Ok(Self {
            grader,
            requirements: policy.proof,
            must_be_anchored: false,
            look_everywhere: true,
            from_file: false,
        })
    }

    /// Who signed an anchor.
    pub(super) fn signatures(&self, _anchor: &Anchor, _signatures: &[Signature]) -> Signatures {
        Signatures::default()
    }
}
