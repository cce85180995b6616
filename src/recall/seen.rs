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
    /// Whether it ran after the last edit that was observed and is in a commit; `None` where no edit was observed.
    #[serde(skip)]
    pub after_last_edit: Option<bool>,
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

    /// Adds what an attestation says; `false` if it is no observation.
    pub(crate) fn add(&mut self, attested: &str) -> bool {
        match Observed::parse(attested.as_bytes()) {
            Ok(Observed::Agent { name, model, version }) => self.agent = Some(SeenAgent { name, model, version }),
            Ok(Observed::Check { command, exit }) => {
                let after_last_edit = (!self.wrote.is_empty()).then_some(true);
                self.checks.push(SeenCheck { command, exit, after_last_edit });
            }
            Ok(Observed::Wrote(blobs)) => {
                self.wrote.extend(blobs.iter().map(ObjectId::to_string));
                for check in &mut self.checks {
                    check.after_last_edit = Some(false);
                }
            }
            Ok(Observed::Tools { calls, failed }) => self.tools = Some(SeenTools { calls, failed }),
            Ok(Observed::Transcript { bytes, sha256 }) => self.transcript = Some(SeenTranscript { bytes, sha256 }),
            Err(_) => return false,
        }
        true
    }

    /// The last run of each checker, in the order of these runs.
    pub fn last_checks(&self) -> Vec<&SeenCheck> {
        let later = |at: usize| &self.checks[at + 1..];
        let is_last = |at: usize, check: &SeenCheck| later(at).iter().all(|other| other.command != check.command);
        self.checks.iter().enumerate().filter(|(at, check)| is_last(*at, check)).map(|(_, check)| check).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(entries: &[&str]) -> Vec<(String, Option<u8>, Option<bool>)> {
        let mut seen = Seen::default();
        for entry in entries {
            assert!(seen.add(&format!("{{\"observed\":{{{entry}}}}}")), "{entry}");
        }
        let told = |check: &SeenCheck| (check.command.clone(), check.exit, check.after_last_edit);
        seen.last_checks().into_iter().map(told).collect()
    }

    #[test]
    fn a_check_is_told_once_by_its_last_run_and_by_whether_an_edit_came_after_it() {
        let edit = format!("\"wrote\":[\"{}\"]", "a".repeat(40));
        let check = |command: &str, exit: &str| format!("\"check\":{{\"command\":\"{command}\",\"exit\":{exit}}}");
        let (failed, passed, unknown) =
            (check("cargo test", "1"), check("cargo test", "0"), check("make check", "null"));
        let told = |command: &str, exit, after| (command.to_owned(), exit, after);
        assert_eq!(seen(&[&passed]), [told("cargo test", Some(0), None)]);
        assert_eq!(seen(&[&passed, &edit]), [told("cargo test", Some(0), Some(false))]);
        assert_eq!(
            seen(&[&failed, &unknown, &edit, &passed]),
            [told("make check", None, Some(false)), told("cargo test", Some(0), Some(true))]
        );
        assert!(!Seen::default().add("{\"observed\":{\"check\":{\"command\":\"rm\",\"exit\":0}}}"));
    }
}
