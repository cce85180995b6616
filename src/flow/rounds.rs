//! `rounds`: the chain of seals, verified, one by one or as a whole.

use serde::Serialize;

use crate::context::Context;
use crate::error::Result;
use crate::judge::{RoundView, survey};
use crate::proof::digest::{CommitId, SealHash};
use crate::proof::finding::{Finding, Verdict};
use crate::proof::timestamp::Timestamp;
use crate::rounds::{no_such, open};
use crate::seal::SealedView;

/// The chain of rounds.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct RoundsOutcome {
    /// How it stands.
    pub verdict: Verdict,
    /// The rounds that hold, the first one first.
    pub rounds: Vec<RoundView>,
    pub findings: Vec<Finding>,
    /// The newest round that this clone has seen, here and at each remote.
    pub seen: Vec<SeenView>,
}

/// The newest round that was seen at a place.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct SeenView {
    /// The remote; `None` for this clone itself.
    pub remote: Option<String>,
    pub round: u64,
    pub seal: SealHash,
    /// The seal's commit.
    pub commit: CommitId,
    pub seen_at: Timestamp,
    /// Whether the chain has it.
    pub in_chain: bool,
}

/// One round.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct RoundOutcome {
    /// How the whole chain stands.
    pub verdict: Verdict,
    #[serde(flatten)]
    pub round: RoundView,
    /// What it seals, in its order.
    #[serde(rename = "sealed")]
    pub sessions: Vec<SealedView>,
    /// What is wrong with the chain.
    pub findings: Vec<Finding>,
}

/// Lists and verifies the chain.
pub fn rounds(context: &Context) -> Result<RoundsOutcome> {
    let git = open(context)?;
    let survey = survey(context, &git, None)?;
    let seen = survey.seen.iter().map(|seen| SeenView {
        remote: Some(seen.place.clone()).filter(|place| !place.is_empty()),
        round: seen.round,
        seal: seen.seal,
        commit: seen.commit,
        seen_at: seen.seen_at,
        in_chain: survey.walked.has(&seen.seal),
    });
    let seen = seen.collect();
    Ok(RoundsOutcome { verdict: survey.verdict, rounds: survey.rounds, findings: survey.findings, seen })
}

/// One round of the chain.
pub fn round(context: &Context, number: u64) -> Result<RoundOutcome> {
    let git = open(context)?;
    let survey = survey(context, &git, Some(number))?;
    let last = survey.rounds.len();
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let found = index.and_then(|index| survey.rounds.into_iter().nth(index));
    let round = found.ok_or_else(|| no_such(number, last as u64))?;
    let sessions = survey.sessions.iter().map(SealedView::of).collect();
    Ok(RoundOutcome { verdict: survey.verdict, round, sessions, findings: survey.findings })
}
