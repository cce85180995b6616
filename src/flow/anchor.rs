//! `anchor`: binds a finalized session to commits, by hand.

use serde::Serialize;

use crate::error::Result;
use crate::publish::{AnchorOutcome, attested_commits, mend_of, on_commits};
use crate::record::{Workspace, note_done, root};

/// What `anchor` is asked for.
#[derive(Debug, Clone, Default, Serialize)]
pub struct AnchorRequest {
    /// The session; the current one if not given.
    pub session: Option<String>,
    /// The commits; those that the session attested if none is given, else HEAD.
    pub commits: Vec<String>,
    /// Whether to sign; as the setting `proof.sign` says if not given.
    pub sign: Option<bool>,
}

/// Anchors a finalized session.
pub fn anchor(workspace: &mut Workspace, request: &AnchorRequest) -> Result<AnchorOutcome> {
    let row = root(workspace, request.session.as_deref())?;
    // Ignore failures here: any real obstacle also fails below, except a missing signing key, which this call may not
    // need.
    let _ = mend_of(workspace, &row.session_id);
    let git = workspace.git()?;
    let mut commits = Vec::new();
    for revision in &request.commits {
        commits.push(git.resolve(revision)?);
    }
    if commits.is_empty() {
        commits = attested_commits(workspace, &git, &row.session_id)?;
    }
    if commits.is_empty() {
        commits.push(git.resolve("HEAD")?);
    }
    let outcome = on_commits(workspace, &git, &row, &commits, request.sign)?;
    note_done(workspace, "anchor_commit", Some(&row.session_id), row.session_id.as_str())?;
    Ok(outcome)
}
