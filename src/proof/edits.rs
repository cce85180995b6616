//! Finds out from the order of a session's entries whether a recorded edit wrote the content of a file, after which
//! decision, and whether a check is known to have passed afterwards.
//!
//! Entries stand in the order of arrival. Those that were appended together have one time, and nothing is concluded from
//! their order.

use super::change::GitAttestation;
use super::digest::{CommitId, ContentHash, ObjectId, TreeId, sha256};
use super::observed::Observed;
use super::record::{Body, Line, RecordType};
use super::schema::{name_schema, names};
use super::timestamp::Timestamp;

/// Most bytes of observations that are kept of one session.
const MAX_KEPT: usize = 1 << 20;

names! {
    /// Whether the content of a file is what a recorded edit wrote.
    pub enum SeenAs {
        /// An edit tool wrote exactly this content.
        Written = "written",
        /// No edit tool was seen to write it. It may have come through a shell, a formatter or by hand.
        NotSeen = "not_seen",
    }
}

name_schema!(SeenAs);

names! {
    /// What checks said after a content was written.
    pub enum Checked {
        /// Every checker whose result is known passed the last time.
        Passed = "passed",
        /// One of them failed the last time.
        Failed = "failed",
    }
}

name_schema!(Checked);

/// How a content came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The last decision before it was written: its position in the session, and its content hash.
    pub after: Option<(u64, ContentHash)>,
    /// What checks said afterwards, and the checker that decides it.
    pub checked: Option<(Checked, String)>,
}

/// What a session observed and decided, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Edits {
    steps: Vec<Step>,
    /// The number of the present batch, and the time of its entries.
    batch: u64,
    time: Option<Timestamp>,
    writes: bool,
    kept: usize,
}

#[derive(Debug, PartialEq, Eq)]
struct Step {
    batch: u64,
    what: What,
}

#[derive(Debug, PartialEq, Eq)]
enum What {
    /// A decision, by its position.
    Decided(u64, Option<ContentHash>),
    Wrote(Vec<ObjectId>),
    Check(String, u8),
    /// A commit, or what was staged.
    Attested(Option<CommitId>, TreeId),
}

impl Edits {
    /// Takes the next entry.
    pub fn add(&mut self, index: u64, line: &Line<'_>) {
        let Line::Entry(entry) = line else { return };
        if self.time != Some(entry.timestamp) {
            self.time = Some(entry.timestamp);
            self.batch += 1;
        }
        let what = match &entry.body {
            Body::Thought { kind: RecordType::Decision, .. } => What::Decided(index, None),
            Body::Thought { .. } => return,
            Body::Attest { attest } if attest.starts_with("{\"observed\":{\"") => {
                match Observed::parse(attest.as_bytes()) {
                    Ok(Observed::Wrote(blobs)) => {
                        self.writes = true;
                        What::Wrote(blobs)
                    }
                    // A check whose exit code is not known has neither passed nor failed.
                    Ok(Observed::Check { command, exit: Some(exit) }) => What::Check(command, exit),
                    _ => return,
                }
            }
            Body::Attest { attest } => match GitAttestation::parse(attest.as_bytes()) {
                Ok(said) => What::Attested(said.commit, said.tree),
                Err(_) => return,
            },
        };
        self.kept += size_of::<Step>() + if let What::Wrote(blobs) = &what { blobs.len() * 33 } else { 32 };
        if self.kept <= MAX_KEPT {
            self.steps.push(Step { batch: self.batch, what });
        }
    }

    /// Ends the session, whose evidence was `text`. Where no edit was seen, or too much to be kept, nothing stays.
    pub fn finish(&mut self, text: &[u8]) {
        if !self.writes || self.kept > MAX_KEPT {
            *self = Self::default();
            return;
        }
        // The first line is the opening. A line is what is hashed.
        let mut lines = text.split(|byte| *byte == b'\n').skip(1);
        let mut next = 0;
        for step in &mut self.steps {
            if let What::Decided(index, hash) = &mut step.what {
                let line = usize::try_from(*index - next).ok().and_then(|skip| lines.nth(skip));
                next = *index + 1;
                *hash = line.map(|line| ContentHash::new(sha256(line)));
            }
        }
    }

    /// Whether no edit was seen.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// About how many bytes it takes.
    pub fn size(&self) -> usize {
        self.kept
    }

    /// How a content came about that a commit has, which the session attests by its id or, before it was made, by its tree.
    /// `None` if no edit before that attestation is known to have written it.
    pub fn of(&self, blob: &ObjectId, commit: &CommitId, tree: &TreeId) -> Option<Written> {
        let attested = |step: &Step| match &step.what {
            What::Attested(Some(attested), _) => attested == commit,
            What::Attested(None, attested) => attested == tree,
            _ => false,
        };
        let before = &self.steps[..self.steps.iter().position(attested)?];
        let wrote = |step: &Step| matches!(&step.what, What::Wrote(blobs) if blobs.binary_search(blob).is_ok());
        let last = before.iter().rposition(wrote)?;
        let batch = before[last].batch;
        let after = before[..last].iter().rev().filter(|step| step.batch < batch).find_map(|step| match step.what {
            What::Decided(index, hash) => Some((index, hash?)),
            _ => None,
        });
        Some(Written { after, checked: checked(before[last..].iter().filter(|step| step.batch > batch)) })
    }
}

/// Combines the last known result of each checker.
fn checked<'a>(steps: impl Iterator<Item = &'a Step>) -> Option<(Checked, String)> {
    let mut results: Vec<(&str, u8)> = Vec::new();
    for step in steps {
        let What::Check(command, exit) = &step.what else { continue };
        results.retain(|(known, _)| known != command);
        results.push((command, *exit));
    }
    let failed = results.iter().rfind(|(_, exit)| *exit != 0);
    let decides = failed.or(results.last())?;
    Some((if decides.1 == 0 { Checked::Passed } else { Checked::Failed }, decides.0.to_owned()))
}
