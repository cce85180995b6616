//! What leaves a clone, and whatever an interrupted command left undone on the way: [`reconcile()`] finishes it. The commands
//! that it runs beside are here, so that every way to call them does.

mod reconcile;

use serde::Serialize;

use crate::error::Result;
use crate::ops::{self, FinalizeOutcome, Workspace};

pub use reconcile::{Extent, Repairs, reconcile, uncheckable};

/// What a command did, and what it finished that others had left undone.
#[derive(Debug, Clone, Serialize)]
pub struct Repaired<T> {
    /// What the command did.
    #[serde(flatten)]
    pub outcome: T,
    /// What was finished on the way.
    #[serde(skip_serializing_if = "Repairs::is_nothing")]
    pub repaired: Repairs,
}

/// Finalizes a session, and finishes what was left undone. What keeps that from being finished is only said: the session is
/// finalized, and the next command tries again.
pub fn finalize(
    workspace: &mut Workspace,
    session: Option<&str>,
    idempotent: bool,
) -> Result<Repaired<FinalizeOutcome>> {
    let outcome = ops::finalize(workspace, session, idempotent)?;
    let repaired = reconcile(workspace, None, Extent::Unpublished).unwrap_or_else(|error| Repairs::not_done(&error));
    Ok(Repaired { outcome, repaired })
}
