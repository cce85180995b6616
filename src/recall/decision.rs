//! A decision with everything that says how far to rely on it.

use schemars::JsonSchema;
use serde::Serialize;

use super::points::{Label, Points};
use super::trail::{Step, StepKind, Trail};
use crate::judge::{CommitVerdict, SessionVerdict};
use crate::proof::digest::{CommitId, ContentHash};
use crate::proof::finding::Verdict;
use crate::proof::observed::Event;
use crate::proof::policy::Binding;
use crate::proof::record::{Id, RecordType};
use crate::proof::timestamp::Timestamp;

/// A decision behind lines of a file; of a session without any, the reflection that closes it. The schema that agents pay for
/// names only what they need.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
#[allow(clippy::struct_excessive_bools)] // each is a field of the JSON
pub struct Decision {
    pub id: Id,
    #[schemars(skip)]
    pub session_id: Id,
    /// Its position there.
    #[schemars(skip)]
    pub index: u64,
    /// `decision`, or `reflection`.
    #[serde(rename = "type")]
    #[schemars(skip)]
    pub kind: RecordType,
    /// Its text as it was recorded.
    pub content: String,
    /// The alternatives that the text marks as rejected.
    pub rejected: Vec<String>,
    /// The uncertainties that its text and the closing reflection of the session name.
    #[schemars(skip)]
    pub uncertain: Vec<String>,
    /// Whether the agent or a person stated it; otherwise the tool observed it.
    #[schemars(skip)]
    pub stated: bool,
    /// When it was recorded.
    #[schemars(skip)]
    pub decided_at: Timestamp,
    /// The commit that it explains; of several, the one that most of the lines come from.
    pub commit: CommitId,
    /// How that commit stands.
    pub verdict: Verdict,
    /// How the session belongs to it.
    #[schemars(skip)]
    pub binding: Option<Binding>,
    #[schemars(skip)]
    pub signers: Vec<String>,
    /// Whether this clone recorded it.
    #[schemars(skip)]
    pub own: bool,
    /// Whether it was recorded after the commit had been made.
    #[schemars(skip)]
    pub afterwards: bool,
    /// How many of the lines come from commits that it explains.
    #[schemars(skip)]
    pub lines: u64,
    /// By what other records name it.
    #[schemars(skip)]
    pub content_hash: ContentHash,
    /// What it corrects.
    #[schemars(skip)]
    pub supersedes: Option<ContentHash>,
    /// What corrects it.
    pub superseded_by: Vec<ContentHash>,
    /// Until when it holds.
    #[schemars(skip)]
    pub until: Option<Timestamp>,
    /// Whether nothing corrects it and its time is not over.
    pub in_force: bool,
    /// What it says, point by point.
    #[serde(skip)]
    pub said: Points,
}

/// Where a decision was found.
pub(super) struct Found<'a> {
    pub(super) trail: &'a Trail,
    pub(super) commit: &'a CommitVerdict,
    pub(super) session: &'a SessionVerdict,
    pub(super) own: bool,
    pub(super) lines: u64,
    pub(super) now: Timestamp,
}

impl Found<'_> {
    /// The decisions of the session; where there is none, the last reflection that can be read.
    pub(super) fn decisions(&self, superseded_by: &dyn Fn(&ContentHash) -> Vec<ContentHash>) -> Vec<Decision> {
        let steps = &self.trail.steps;
        let decisions: Vec<&Step> = steps.iter().filter(|step| step.kind == StepKind::Decision).collect();
        let reflection = steps.iter().rfind(|step| step.kind == StepKind::Reflection);
        let shown = if decisions.is_empty() { reflection.into_iter().collect() } else { decisions };
        let open = reflection.map(|step| points(&step.said, Label::Uncertain)).unwrap_or_default();
        shown.into_iter().filter_map(|step| self.decision(step, &open, superseded_by)).collect()
    }

    fn decision(
        &self,
        step: &Step,
        open: &[String],
        superseded_by: &dyn Fn(&ContentHash) -> Vec<ContentHash>,
    ) -> Option<Decision> {
        let mut uncertain = points(&step.said, Label::Uncertain);
        uncertain.extend(open.iter().filter(|open| !uncertain.contains(open)).cloned().collect::<Vec<_>>());
        let superseded_by = superseded_by(&step.content_hash);
        let expired = step.until.is_some_and(|until| until < self.now);
        Some(Decision {
            id: step.id.clone()?,
            session_id: self.trail.session_id.clone(),
            index: step.index,
            kind: if step.kind == StepKind::Decision { RecordType::Decision } else { RecordType::Reflection },
            content: step.content.clone()?,
            rejected: points(&step.said, Label::Rejected),
            uncertain,
            stated: step.observed.is_none_or(|event| event == Event::Restated.as_str()),
            decided_at: step.timestamp?,
            commit: self.commit.commit,
            verdict: self.commit.verdict,
            binding: self.commit.binding,
            signers: self.session.signers.clone(),
            own: self.own,
            afterwards: self.session.afterwards,
            lines: self.lines,
            content_hash: step.content_hash,
            supersedes: step.supersedes,
            in_force: superseded_by.is_empty() && !expired,
            superseded_by,
            until: step.until,
            said: step.said.clone(),
        })
    }
}

fn points(said: &Points, label: Label) -> Vec<String> {
    said.points.iter().filter(|point| point.label == label).map(|point| point.text.clone()).collect()
}
