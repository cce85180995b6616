//! Rounds: `seal` ends one, `rounds` shows and checks their chain, and two chains are joined when clones meet.

mod chain;
mod join;
mod list;
mod prove;
mod seal;
mod sign;

pub(super) use chain::{Sealed, Walked, walk};
pub use join::{Joined, Remade, accept_rounds};
pub(super) use join::{join, seen_at, vanished};
pub use list::{RoundOutcome, RoundsOutcome, SeenView, round, rounds};
pub(super) use prove::read_log;
pub use prove::{CheckpointOutcome, CheckpointRequest, checkpoint, prove_rounds, prove_sealed};
pub use seal::{SealOutcome, SealRequest, SealedView, seal};
pub use sign::{SignedRound, sign_round};

use super::workspace::Workspace;
use crate::error::{Code, Error, Result};

/// Refuses to build on a chain that lacks a round which was there before.
fn still_there(workspace: &Workspace, walked: &Walked) -> Result<()> {
    for seen in workspace.store.seen_rounds()? {
        if !walked.commits.iter().any(|(commit, _)| *commit == seen.commit) {
            let place = if seen.place.is_empty() { "here".to_owned() } else { format!("at {}", seen.place) };
            return Err(Error::new(
                Code::RoundsRolledBack,
                format!("round {} was seen {place}, and refs/proof/rounds does not have it", seen.round),
            )
            .because(format!("it was commit {} with seal {}, seen at {}", seen.commit, seen.seal, seen.seen_at))
            .hint("git proof sync fetches the chain again; git proof rounds compares what there is")
            .details(serde_json::json!({ "round": seen.round, "seal": seen.seal, "commit": seen.commit })));
        }
    }
    Ok(())
}
