//! `sign`: a person's name on the anchors of a commit that hold.

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::git::NOTES;
use crate::hint::{Step, hint};
use crate::judge::{VerifyRequest, verify};
use crate::proof::digest::{AnchorId, CommitId};
use crate::proof::note::NoteLine;
use crate::publish::{note_of, publish, signed_line};
use crate::record::Workspace;

/// What `sign` is asked for.
#[derive(Debug, Clone, Default)]
pub struct SignRequest {
    /// The commit whose anchors are signed.
    pub commit: String,
    /// Only the anchor of this session.
    pub session: Option<String>,
}

/// What `sign` did.
#[derive(Debug, Clone, Serialize)]
pub struct SignOutcome {
    pub commit: CommitId,
    /// The anchors that were signed.
    pub signed: Vec<AnchorId>,
    /// How many lines of ours another writer had overwritten, and were put back.
    pub restored: u64,
}

/// Signs the anchors of a commit that hold.
pub fn sign(workspace: &mut Workspace, request: &SignRequest) -> Result<SignOutcome> {
    let git = workspace.git()?;
    let commit = git.resolve(&request.commit)?;
    let asked = VerifyRequest { revisions: vec![commit.to_string()], ..VerifyRequest::default() };
    let outcome = verify(&workspace.context, &asked)?;
    // A signature that is missing or not valid must not keep anyone from signing; everything else must hold.
    let sound: Vec<AnchorId> = outcome
        .commits
        .iter()
        .flat_map(|commit| &commit.sessions)
        .filter(|session| session.sound)
        .filter(|session| request.session.as_deref().is_none_or(|wanted| session.session_id.as_str() == wanted))
        .map(|session| session.anchor_id)
        .collect();
    let mut lines = Vec::new();
    let mut signed = Vec::new();
    let change = git.change_ids_of(&git.commit(&commit)?)?;
    let tip = git.tip(NOTES)?;
    let note = tip.map(|tip| note_of(&git, &git.commit(&tip)?.tree, &commit)).transpose()?.unwrap_or_default();
    for line in &note {
        let Ok(Some(NoteLine::Anchor { anchor, .. })) = NoteLine::parse(line) else { continue };
        let id = anchor.id();
        if sound.contains(&id) && !signed.contains(&id) {
            lines.extend(signed_line(workspace, commit, *anchor, change, &note)?);
            signed.push(id);
        }
    }
    if signed.is_empty() {
        return Err(Error::new(Code::InvalidParams, format!("commit {commit} has no anchor that could be signed"))
            .hint(hint!(
                Step::Verify(commit.to_string()), " tells what it has";
                Step::Sync, " fetches what others anchored"
            )));
    }
    let restored = publish(workspace, &git, &lines, None)?;
    Ok(SignOutcome { commit, signed, restored })
}
