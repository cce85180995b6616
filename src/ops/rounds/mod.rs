//! Rounds: `seal` ends one, `rounds` shows and checks their chain, and two chains are joined when clones meet.

mod chain;
mod join;
mod list;
mod prove;
mod seal;
mod sign;

pub(super) use chain::{Sealed, Walked, walk};
pub use join::{Joined, Remade, accept_rounds};
pub(super) use join::{is_of_the_future, join, seen_at, vanished};
pub use list::{RoundOutcome, RoundsOutcome, SeenView, round, rounds};
pub(super) use prove::read_log;
pub use prove::{CheckpointOutcome, CheckpointRequest, checkpoint, prove_rounds, prove_sealed};
pub use seal::{SealOutcome, SealRequest, SealedView, seal};
pub use sign::{SignedRound, sign_round};

use crate::error::{Code, Error, Result};
use crate::store::SeenRound;

/// Refuses to build on a chain that lacks a round which was there before. What was `seen` must have been asked for before
/// the ref was read: whoever moves the ref remembers it afterwards.
pub(super) fn still_there(seen: &[SeenRound], walked: &Walked) -> Result<()> {
    for seen in seen {
        if !walked.has(&seen.seal) {
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
