//! `anchor`: binds a finalized session to commits, by hand.

use crate::error::Result;
use crate::publish::{AnchorOutcome, attested_commits, mend_of, on_commits};
use crate::record::{Workspace, note_done, root};

/// Anchors a finalized session, else the current one, on these commits; if there are none, on those that it attested, else on
/// HEAD. Without `sign` the setting `proof.sign` decides.
pub fn anchor(
    workspace: &mut Workspace,
    session: Option<&str>,
    revisions: &[String],
    sign: Option<bool>,
) -> Result<AnchorOutcome> {
    let row = root(workspace, session)?;
    // Ignore failures here: any real obstacle also fails below, except a missing signing key, which this call may not
    // need.
    let _ = mend_of(workspace, &row.session_id);
    let git = workspace.git()?;
    let mut commits = Vec::new();
    for revision in revisions {
        commits.push(git.resolve(revision)?);
    }
    if commits.is_empty() {
        commits = attested_commits(workspace, &git, &row.session_id)?;
    }
    if commits.is_empty() {
        commits.push(git.resolve("HEAD")?);
    }
    let outcome = on_commits(workspace, &git, &row, &commits, sign)?;
    note_done(workspace, "anchor_commit", Some(&row.session_id), row.session_id.as_str())?;
    Ok(outcome)
}
