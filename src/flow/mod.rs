//! Commands that combine the folders below: closing a session, covering commits afterwards, vouching, syncing, telling the
//! story of a commit, reports, the demonstration. [`reconcile()`] finishes whatever an interrupted command left undone.

mod accept;
mod anchor;
mod check_proof;
mod check_transcript;
mod cover;
mod demo;
mod finalize;
mod reconcile;
mod report;
mod rounds;
mod sign;
mod status;
mod story;
mod sync;
mod vouch;
pub use accept::{AcceptOutcome, AcceptedCommit, LeftCommit, accept};
pub use anchor::anchor;
pub use check_proof::{
    CheckedProof, ConsistencyOutcome, LoggedOutcome, PathOutcome, ProofOutcome, check_path_line, check_proof,
    check_proof_line,
};
pub use check_transcript::{CommittedTranscript, TranscriptOutcome, check_transcript};
pub use cover::{CoverOutcome, CoveredCommit, cover};
pub use demo::{Audience, DemoOutcome, DemoRequest, Forged, Scene, demo};
pub use finalize::{FinalizeOutcome, Repaired, Unexplaining, finalize};
pub use reconcile::{Extent, Repairs, reconcile, uncheckable};
pub use report::write_report;
pub use report::{Embedded, EmbeddedLines, Telling};
pub use report::{ReportOutcome, ReportedSession, oldest_first, report, reported_sessions};
pub use report::{ReportedCommit, ReportedFile, Touch};
pub use report::{ReportedRound, ReportedRounds};
pub use rounds::{RoundOutcome, RoundsOutcome, SeenView, round, rounds};
pub use sign::{SignOutcome, sign};
pub use status::{SessionStatus, ShortStatus, StatusOutcome, short_status, status};
pub use story::{CommitStory, Meant, StoryOutcome, StoryRequest, meant, story, story_of};
// Told by `show` and the reports as `why` tells them.
pub use crate::recall::{
    Label, Omitted, Point, Points, Seen, SeenAgent, SeenCheck, SeenTools, SeenTranscript, Step, StepKind, Trail,
    doubts, listed, rejections,
};
pub use sync::{MoveOutcome, SyncOutcome, fetch, move_to, sync};
pub use vouch::{VouchOutcome, VouchedRange, vouch};
