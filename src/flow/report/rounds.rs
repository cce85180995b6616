//! The chain of rounds, as far as a page shows it.

use crate::error::Result;
use crate::git::{Git, ROUNDS};
use crate::proof::digest::SealHash;
use crate::proof::timestamp::Timestamp;
use crate::rounds::walk;

/// Seals that go into one report, in bytes.
const MOST: usize = 4 << 20;

/// The chain of rounds.
#[derive(Debug, Clone, Default)]
pub struct ReportedRounds {
    /// Whether this clone has one.
    pub fetched: bool,
    /// The newest rounds that hold, the oldest of them first.
    pub rounds: Vec<ReportedRound>,
    /// How many came before those.
    pub earlier: usize,
    /// Why the rest of the chain does not hold.
    pub broken: Option<String>,
}

#[derive(Debug, Clone)]
pub struct ReportedRound {
    /// Its number.
    pub round: u64,
    pub hash: SealHash,
    /// The bytes of `seal.json`.
    pub text: String,
    /// How many sessions it seals.
    pub sessions: usize,
    /// When it ended.
    pub sealed_at: Timestamp,
}

/// Reads the chain.
pub(super) fn read(git: &Git) -> Result<ReportedRounds> {
    let Some(tip) = git.tip(ROUNDS)? else { return Ok(ReportedRounds::default()) };
    let mut rounds = std::collections::VecDeque::new();
    let (mut bytes, mut earlier) = (0, 0);
    let walked = walk(git, &tip, &mut |sealed| {
        let text = sealed.seal.to_text();
        bytes += text.len();
        rounds.push_back(ReportedRound {
            round: sealed.seal.round,
            hash: sealed.hash,
            sessions: sealed.seal.sessions.len(),
            sealed_at: sealed.seal.sealed_at,
            text,
        });
        while bytes > MOST
            && let Some(oldest) = rounds.pop_front()
        {
            bytes -= oldest.text.len();
            earlier += 1;
        }
    });
    let broken = walked.broken.map(|finding| finding.message);
    Ok(ReportedRounds { fetched: true, rounds: rounds.into(), earlier, broken })
}
