//! `check-transcript`: whether a transcript is the one that a commit's sessions committed to.

use std::io::Read as _;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::story::{StoryRequest, story};
use crate::context::Context;
use crate::error::Result;
use crate::proof::digest::{CommitId, TranscriptHash};
use crate::proof::finding::Verdict;
use crate::proof::record::Id;
use crate::record::Source;

/// How a transcript compares with the commitments of sessions.
#[derive(Debug, Clone, Serialize)]
pub struct TranscriptOutcome {
    /// `pass` if it is the transcript of one of the sessions, else `fail`.
    pub verdict: Verdict,
    /// The same, under its old name (docs/json.md).
    pub matches: bool,
    /// The commitments that were found.
    pub sessions: Vec<CommittedTranscript>,
}

/// The commitment of a session.
#[derive(Debug, Clone, Serialize)]
pub struct CommittedTranscript {
    /// The commit that the session explains.
    pub commit: CommitId,
    pub session_id: Id,
    /// How many bytes it covers.
    pub bytes: u64,
    /// SHA-256 of these bytes.
    pub sha256: TranscriptHash,
    /// Whether the file begins with them.
    pub matches: bool,
}

/// Compares a file with the commitments of the sessions that explain a commit.
pub fn check_transcript(context: &Context, source: &Source, commit: &str) -> Result<TranscriptOutcome> {
    let mut file = Vec::new();
    source.open()?.read_to_end(&mut file).map_err(|error| source.unreadable(&error))?;
    let request = StoryRequest { revisions: vec![commit.to_owned()], full: false, ..StoryRequest::default() };
    let mut sessions = Vec::new();
    for commit in story(context, &request)?.commits {
        for trail in &commit.trails {
            let Some(kept) = trail.observed.transcript else { continue };
            let begins = usize::try_from(kept.bytes).ok().and_then(|bytes| file.get(..bytes));
            let matches = begins.is_some_and(|bytes| TranscriptHash::new(Sha256::digest(bytes).into()) == kept.sha256);
            sessions.push(CommittedTranscript {
                commit: commit.standing.commit,
                session_id: trail.session_id.clone(),
                bytes: kept.bytes,
                sha256: kept.sha256,
                matches,
            });
        }
    }
    let matches = sessions.iter().any(|session| session.matches);
    Ok(TranscriptOutcome { verdict: Verdict::of(matches), matches, sessions })
}
