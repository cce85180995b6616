//! What the tool observed in a session, apart from what was stated there.

use serde::Serialize;

use crate::proof::digest::{ObjectId, TranscriptHash};
use crate::proof::observed::Observed;

/// What was observed while a session was open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// Which agent worked, with what was known of it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<SeenAgent>,
    /// The checkers that ran, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<SeenCheck>,
    /// The blobs that edit tools wrote, as far as they are published.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wrote: Vec<String>,
    /// How many tools were called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<SeenTools>,
    /// The commitment to the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<SeenTranscript>,
}

/// An agent that was observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SeenAgent {
    /// Its name.
    pub name: String,
    /// The model that it used.
    pub model: Option<String>,
    /// The version of the program.
    pub version: Option<String>,
}

/// A checker that was observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SeenCheck {
    /// The words that name it.
    pub command: String,
    /// Its exit code, where it is known.
    pub exit: Option<u8>,
}

/// How many tools were called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SeenTools {
    /// All calls.
    pub calls: u64,
    /// Those that failed.
    pub failed: u64,
}

/// A commitment to the beginning of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SeenTranscript {
    /// How many bytes it covers.
    pub bytes: u64,
    /// SHA-256 of these bytes.
    pub sha256: TranscriptHash,
}

impl Seen {
    /// Whether nothing was observed.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Adds what an attestation says, if it is an observation.
    pub(super) fn add(&mut self, attested: &str) {
        match Observed::parse(attested.as_bytes()) {
            Ok(Observed::Agent { name, model, version }) => self.agent = Some(SeenAgent { name, model, version }),
            Ok(Observed::Check { command, exit }) => self.checks.push(SeenCheck { command, exit }),
            Ok(Observed::Wrote(blobs)) => self.wrote.extend(blobs.iter().map(ObjectId::to_string)),
            Ok(Observed::Tools { calls, failed }) => self.tools = Some(SeenTools { calls, failed }),
            Ok(Observed::Transcript { bytes, sha256 }) => self.transcript = Some(SeenTranscript { bytes, sha256 }),
            Err(_) => {}
        }
    }
}
