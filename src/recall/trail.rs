//! The trail of a session as its published evidence has it. Only evidence that adds up to the anchor's root is told.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value;

use super::points::Points;
use super::seen::Seen;
use crate::git::limits::MAX_EVIDENCE;
use crate::git::{EVIDENCE, Fanned, Git};
use crate::judge::SessionVerdict;
use crate::proof::digest::{ChainHash, ContentHash, RootHash};
use crate::proof::evidence::Verifier;
use crate::proof::observed::{Event, Marks};
use crate::proof::record::{Body, Entry, Id, Line, RecordType};
use crate::proof::schema::names;
use crate::proof::scheme::Scheme;
use crate::proof::timestamp::Timestamp;
use crate::publish::evidence_name;

/// What a session recorded.
#[derive(Debug, Clone, Serialize)]
pub struct Trail {
    pub session_id: Id,
    pub intent: String,
    pub caller: String,
    pub task_id: Option<String>,
    pub started_at: Timestamp,
    pub scheme: Scheme,
    /// Hash of its opening.
    pub genesis: ChainHash,
    pub root: RootHash,
    /// Its number of entries.
    pub count: u64,
    /// What the tool observed while it was open.
    #[serde(skip_serializing_if = "Seen::is_nothing")]
    pub observed: Seen,
    /// The entries that are shown, in order of recording.
    pub steps: Vec<Step>,
    /// How many entries are not shown.
    #[serde(rename = "left_away")]
    pub omitted: Omitted,
}

/// How many entries of each kind are not shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Omitted {
    pub plans: u64,
    pub analyses: u64,
    /// Attested operations.
    pub attested: u64,
    /// Entries whose text was not published.
    pub withheld: u64,
}

/// An entry that is shown.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// Its position in the session.
    pub index: u64,
    /// The position among the steps of the one that it follows, the nearest that is told; `None` for the beginning.
    pub parent: Option<usize>,
    /// Its id, where its text was published.
    pub id: Option<Id>,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: StepKind,
    /// Where its text comes from, if the agent did not state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<&'static str>,
    /// Its text as it was recorded; `None` where it was not published.
    pub content: Option<String>,
    /// What it says, point by point.
    #[serde(flatten)]
    pub said: Points,
    pub metadata: Option<Value>,
    pub timestamp: Option<Timestamp>,
    /// The content hash of the entry that it corrects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<ContentHash>,
    /// The content hashes of the records that correct it, as far as they are known here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded_by: Vec<ContentHash>,
    /// Until when it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// SHA-256 of the entry's bytes.
    pub content_hash: ContentHash,
    /// Hash of `content_hash` and the parent's chain hash together.
    pub chain_hash: ChainHash,
}

names! {
    /// What an entry is.
    pub enum StepKind {
        /// The intended way.
        Plan = "plan",
        /// What was learned.
        Analysis = "analysis",
        /// A choice.
        Decision = "decision",
        /// What happened.
        Reflection = "reflection",
        /// An attested operation.
        Attest = "attest",
        /// An entry whose text was not published.
        Withheld = "withheld",
    }
}

impl From<RecordType> for StepKind {
    fn from(kind: RecordType) -> Self {
        match kind {
            RecordType::Plan => Self::Plan,
            RecordType::Analysis => Self::Analysis,
            RecordType::Decision => Self::Decision,
            RecordType::Reflection => Self::Reflection,
        }
    }
}

impl StepKind {
    fn of(line: &Line<'_>) -> Self {
        let Line::Entry(entry) = line else { return Self::Withheld };
        match &entry.body {
            Body::Attest { .. } => Self::Attest,
            Body::Thought { kind, .. } => (*kind).into(),
        }
    }
}

/// The trail of a session whose anchor holds; `None` where its evidence is not at hand, or not the anchor's.
pub(crate) fn read_trail(git: &Git, session: &SessionVerdict, full: bool) -> Option<Trail> {
    let tip = git.tip(EVIDENCE).ok()??;
    let tree = git.commit(&tip).ok()?.tree;
    let Fanned::File(blob) = git.find_fanned(&tree, &evidence_name(&session.root)).ok()? else { return None };
    let text = git.blob(&blob, MAX_EVIDENCE).ok()?;
    let mut gathered = Gathered::default();
    let mut verifier = Verifier::new();
    verifier.push_with(&text, |index, line, chain| gathered.add(session.scheme, full, index, line, chain)).ok()?;
    let summary = verifier.finish().ok()?;
    summary.require(&session.root, session.count).ok()?;
    let opening = summary.opening;
    if opening.scheme != session.scheme {
        return None;
    }
    Some(Trail {
        session_id: opening.session_id,
        intent: opening.intent,
        caller: opening.caller,
        task_id: opening.task_id,
        started_at: opening.started_at,
        scheme: opening.scheme,
        genesis: summary.genesis,
        root: summary.root,
        count: summary.count,
        observed: if opening.scheme.covers_everything() { gathered.seen } else { Seen::default() },
        steps: gathered.steps,
        omitted: gathered.omitted,
    })
}

impl Trail {
    /// Lets each step name the records that correct it: later ones of the session itself, and those that `known` names.
    pub(crate) fn mark_superseded(&mut self, known: impl Fn(&ContentHash) -> Vec<ContentHash>) {
        let own: Vec<(ContentHash, ContentHash)> =
            self.steps.iter().filter_map(|step| Some((step.supersedes?, step.content_hash))).collect();
        for step in &mut self.steps {
            let within = own.iter().filter(|(superseded, _)| *superseded == step.content_hash).map(|(_, by)| *by);
            step.superseded_by.extend(within);
            for other in known(&step.content_hash) {
                if !step.superseded_by.contains(&other) {
                    step.superseded_by.push(other);
                }
            }
        }
    }
}

#[derive(Default)]
struct Gathered {
    seen: Seen,
    steps: Vec<Step>,
    omitted: Omitted,
    /// For each entry by its chain hash, the step that stands for it: itself, or the nearest before it.
    nearest: HashMap<ChainHash, Option<usize>>,
}

impl Gathered {
    fn add(&mut self, scheme: Scheme, full: bool, index: u64, line: &Line<'_>, chain: &ChainHash) {
        let kind = StepKind::of(line);
        let (entry, prev_hash) = match line {
            Line::Entry(entry) => (Some(entry), &entry.prev_hash),
            Line::Withheld(withheld) => (None, &withheld.prev_hash),
        };
        let parent = self.nearest.get(prev_hash).copied().flatten();
        if let Line::Entry(Entry { body: Body::Attest { attest }, .. }) = line {
            self.seen.add(attest); // anything else that was attested is a step
        }
        if !full && !matches!(kind, StepKind::Decision | StepKind::Reflection) {
            self.nearest.insert(*chain, parent);
            match kind {
                StepKind::Plan => self.omitted.plans += 1,
                StepKind::Analysis => self.omitted.analyses += 1,
                StepKind::Attest => self.omitted.attested += 1,
                _ => self.omitted.withheld += 1,
            }
            return;
        }
        self.nearest.insert(*chain, Some(self.steps.len()));
        let metadata = entry.and_then(|entry| entry.metadata.as_deref());
        // Scheme ams-v0 does not cover metadata, so that its marks say nothing.
        let marks = Marks::of(metadata.filter(|_| scheme != Scheme::AmsV0));
        let metadata = metadata.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let content = entry.map(|entry| entry.body.text().to_owned());
        let said = match (kind, &content) {
            (StepKind::Decision | StepKind::Reflection, Some(text)) => Points::read(text, metadata.as_ref()),
            _ => Points { text: content.clone().unwrap_or_default(), points: Vec::new() },
        };
        self.steps.push(Step {
            index,
            parent,
            id: entry.map(|entry| entry.id.clone()),
            kind,
            observed: marks.event.map(Event::as_str),
            content,
            said,
            metadata,
            timestamp: entry.map(|entry| entry.timestamp),
            supersedes: marks.supersedes,
            superseded_by: Vec::new(),
            until: marks.until,
            content_hash: match line {
                Line::Entry(entry) => scheme.content_hash(entry.to_line().as_bytes(), entry.body.text()),
                Line::Withheld(withheld) => withheld.content_hash,
            },
            chain_hash: *chain,
        });
    }
}
