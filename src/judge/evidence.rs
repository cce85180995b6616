//! Evidence as a judge reads it: whether it adds up, what it attests, and what it tells people.

use crate::proof::change::GitAttestation;
use crate::proof::edits::Edits;
use crate::proof::evidence::Verifier;
use crate::proof::observed::{Event, Marks};
use crate::proof::record::{Body, Line, RecordType};
use crate::proof::verify::{Attested, Evidence, EvidenceFacts};

/// Most bytes of the decisions and reflections of one session that are shown.
const MAX_TOLD: usize = 4 << 20;

/// Something that a session said, for people.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Told {
    /// What kind of record.
    #[serde(rename = "type")]
    pub kind: RecordType,
    /// Its text.
    pub content: String,
    /// Where the text comes from, if the agent did not state it: `final_message`, `commit_message` or `restated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<&'static str>,
}

/// Evidence with what it tells people.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) evidence: Evidence,
    pub(super) told: Vec<Told>,
    /// What edit tools wrote, and what was decided before and checked after.
    pub(super) edits: Edits,
}

impl Gathered {
    /// Evidence that tells nothing.
    pub(super) fn without(evidence: Evidence) -> Self {
        Self { evidence, told: Vec::new(), edits: Edits::default() }
    }

    /// About how many bytes it takes.
    pub(super) fn size(&self) -> usize {
        let attested = match &self.evidence {
            Evidence::Holds(facts) => facts.attested.len() * size_of::<Attested>(),
            _ => 0,
        };
        let told = self.told.iter().map(|told| size_of::<Told>() + told.content.len());
        size_of::<Self>() + attested + told.sum::<usize>() + self.edits.size()
    }

    /// Reads evidence, with what it tells people if that is wanted.
    pub(super) fn read(text: &[u8], with_story: bool) -> Self {
        let mut attested = Vec::new();
        let (mut told, mut told_bytes) = (Vec::new(), 0);
        let mut edits = Edits::default();
        let mut verifier = Verifier::new();
        let read = verifier.push_with(text, |index, line, _| {
            edits.add(index, line);
            let Line::Entry(entry) = line else { return };
            match &entry.body {
                Body::Attest { attest } => {
                    let change = GitAttestation::parse(attest.as_bytes());
                    attested.extend(change.map(|change| Attested::new(change, entry.metadata.as_deref())));
                }
                Body::Thought { kind, content, .. }
                    if with_story && matches!(kind, RecordType::Decision | RecordType::Reflection) =>
                {
                    told_bytes += size_of::<Told>() + content.len();
                    if told_bytes > MAX_TOLD {
                        return;
                    }
                    let observed = Marks::of(entry.metadata.as_deref()).event.map(Event::as_str);
                    told.push(Told { kind: *kind, content: content.to_string(), observed });
                }
                Body::Thought { .. } => {}
            }
        });
        let evidence = match read.and_then(|()| verifier.finish()) {
            Ok(summary) => {
                attested.shrink_to_fit();
                // The other schemes do not cover the order of entries, or not what they say.
                if summary.opening.scheme.covers_everything() {
                    edits.finish(text);
                } else {
                    edits = Edits::default();
                }
                Evidence::Holds(EvidenceFacts { summary, attested })
            }
            Err(error) => {
                edits = Edits::default();
                Evidence::Broken(error)
            }
        };
        Self { evidence, told, edits }
    }
}
