//! What is said of a commit, and of the sessions that explain it.

use serde::Serialize;

use super::evidence::Told;
use super::files::FileSeen;
use super::word::Vouched;
use crate::git::Commit;
use crate::proof::anchor::Anchor;
use crate::proof::change::{ChangeIds, Sighting};
use crate::proof::digest::{AnchorId, CommitId, RootHash};
use crate::proof::finding::{Finding, Verdict};
use crate::proof::observed::Reflection;
use crate::proof::policy::Binding;
use crate::proof::record::Id;
use crate::proof::scheme::Scheme;

/// A commit and how it stands.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct CommitVerdict {
    /// The commit.
    pub commit: CommitId,
    /// The first line of its message.
    pub subject: String,
    /// Its parents, by its own word.
    #[serde(skip)]
    pub parents: Vec<CommitId>,
    /// How it stands.
    pub verdict: Verdict,
    /// Whether it must be anchored.
    pub proof_grade: bool,
    /// Why it must be anchored.
    pub reason: Option<String>,
    /// How its proof belongs to it; `None` without one that holds.
    pub binding: Option<Binding>,
    /// Who vouches for it instead: a person's word, which is no proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vouched: Option<Box<Vouched>>,
    /// Its files, where a session that explains it saw edits.
    pub files: Vec<FileSeen>,
    /// The sessions that explain it.
    pub sessions: Vec<SessionVerdict>,
    /// What there is to say.
    pub findings: Vec<Finding>,
    /// The lines of the index by which anchors that hold were found, each with the change that it was found under.
    #[serde(skip)]
    pub found_by: Vec<(ChangeIds, Sighting)>,
}

/// A session that explains a commit, or claims to.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
#[allow(clippy::struct_excessive_bools)] // each is a field of the JSON
pub struct SessionVerdict {
    /// The session.
    pub session_id: Id,
    /// How it is hashed.
    pub scheme: Scheme,
    /// Its root.
    pub root: RootHash,
    /// Its number of entries.
    pub count: u64,
    /// The anchor.
    pub anchor_id: AnchorId,
    /// All that the anchor says.
    #[serde(skip)]
    pub anchor: Anchor,
    /// The commit in whose note it is.
    #[serde(skip)]
    pub noted_on: CommitId,
    /// Whether the anchor holds.
    pub holds: bool,
    /// Whether it would hold if enough people had signed it.
    #[serde(skip)]
    pub sound: bool,
    /// `verified`, `missing`, `not_fetched`, or `broken`.
    pub evidence: &'static str,
    /// Whether the session covers the change.
    pub rooted: bool,
    /// Whether the reflection that closes it was stated or observed; null where the evidence was not read.
    pub reflection: Option<Reflection>,
    /// Whether it was recorded after the commit had been made.
    pub afterwards: bool,
    /// Who signed it.
    pub signers: Vec<String>,
    /// The round that sealed it.
    pub round: Option<u64>,
    /// Its intent, if the evidence was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// Its decisions and reflections, where they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<Told>,
}

impl CommitVerdict {
    /// A commit of which nothing is known yet. It counts as one that must be anchored and could not be checked.
    pub(super) fn blank(commit: CommitId) -> Self {
        Self {
            commit,
            subject: String::new(),
            parents: Vec::new(),
            verdict: Verdict::Unchecked,
            proof_grade: true,
            reason: None,
            binding: None,
            vouched: None,
            files: Vec::new(),
            sessions: Vec::new(),
            findings: Vec::new(),
            found_by: Vec::new(),
        }
    }

    /// The same of a commit that was read.
    pub(super) fn of(commit: &Commit) -> Self {
        Self { subject: commit.subject(), parents: commit.parents.clone(), ..Self::blank(commit.id) }
    }

    /// The verdict without what it rests on. Of 100,000 commits that takes most of the memory.
    pub(super) fn alone(self) -> Self {
        let Self { parents, verdict, proof_grade, binding, .. } = self;
        Self { parents, verdict, proof_grade, binding, ..Self::blank(self.commit) }
    }

    /// The verdict where a limit was reached: what was found until then proves nothing, and shows nothing to be wrong. That
    /// policy asks for no proof is known before anything is looked for.
    pub(super) fn cut_short(mut self, limit: Finding) -> Self {
        self.findings = self.findings.into_iter().map(Finding::softened).collect();
        if self.verdict == Verdict::Exempt && !self.proof_grade {
            self.findings.push(limit.softened());
            return self;
        }
        self.findings.push(limit);
        Self { verdict: Verdict::Unchecked, binding: None, vouched: None, ..self }
    }
}
