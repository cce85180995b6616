//! The ledger of calls: what changes something is written with the change; the rest is written here.

use super::workspace::Workspace;
use crate::error::Result;
use crate::proof::record::Id;
use crate::store::NewEvent;

/// A call that changed nothing.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// Its name.
    pub tool: &'a str,
    /// The session that it named; the ledger names it only if it exists.
    pub session: Option<&'a str>,
    /// What it was given, canonical; only the digest is kept.
    pub arguments: &'a [u8],
    /// `ok`, or the code of the refusal.
    pub outcome: &'a str,
}

/// Writes a call down.
pub fn note(workspace: &mut Workspace, call: &Call<'_>) -> Result<()> {
    let event = NewEvent { tool: call.tool, arguments: call.arguments, at: workspace.context.now() };
    let session = call.session.and_then(Id::parse);
    workspace.store.note(session.as_ref(), &event, call.outcome)?;
    Ok(())
}

/// Writes down what changed git and not the store. The ledger names a session if the call was about one.
pub(crate) fn note_done(workspace: &mut Workspace, tool: &str, session: Option<&Id>, given: &str) -> Result<()> {
    let arguments = workspace.given.as_deref().unwrap_or(given).as_bytes();
    let event = NewEvent { tool, arguments, at: workspace.context.now() };
    workspace.store.note(session, &event, "ok")?;
    Ok(())
}

/// A counter that grows with every write here. If a call made it grow, the call is in the ledger already.
pub fn changes(workspace: &Workspace) -> u64 {
    workspace.store.changes()
}
