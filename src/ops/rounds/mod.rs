//! Rounds: `seal` ends one, `rounds` shows and checks their chain, and two chains are joined when clones meet.

mod chain;
mod seal;

pub(super) use chain::{Walked, walk};
pub use seal::{SealOutcome, SealRequest, SealedView, seal};

use super::workspace::Workspace;
use crate::error::{Code, Error, Result};

/// Refuses to build on a chain that lacks a round which was there before.
pub(super) fn still_there(workspace: &Workspace, walked: &Walked) -> Result<()> {
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
