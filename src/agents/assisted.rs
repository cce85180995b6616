//! `Assisted-by: AGENT:MODEL`, for projects that ask for it, from what was observed of the agent whose session it is.

use super::transcript;
use crate::error::Result;
use crate::proof::record::Id;
use crate::record::{Agent, Workspace};

/// The trailer for a commit of a session; `None` for a person's own. Without a model that was seen, the agent stands alone.
pub fn assisted_by(workspace: &Workspace, session: &Id) -> Result<Option<String>> {
    let Some(row) = workspace.store.agent_of(session)? else { return Ok(None) };
    let told = || transcript::model_and_version(Agent::parse(&row.agent)?, row.transcript.as_deref()?).0;
    // An agent may send anything; what cannot stand in a trailer is not put there.
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-+/@".contains(letter);
    let model = row.model.clone().or_else(told).filter(|model| !model.is_empty() && model.chars().all(plain));
    Ok(Some(match model {
        Some(model) => format!("Assisted-by: {}:{model}", row.agent),
        None => format!("Assisted-by: {}", row.agent),
    }))
}
