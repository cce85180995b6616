//! `sign`: a person's name on an anchor, as a line of its own.

use std::collections::BTreeSet;

use serde::Serialize;

use super::publish::{Line, note_of, publish};
use crate::error::{Code, Error, Result};
use crate::git::{self, NOTES};
use crate::ops::verify::{self, VerifyRequest};
use crate::ops::workspace::Workspace;
use crate::proof::anchor::Anchor;
use crate::proof::change::ChangeIds;
use crate::proof::digest::{AnchorId, CommitId};
use crate::proof::note::NoteLine;
use crate::proof::sshsig::claimed_key;

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
    /// The commit.
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
    let outcome = verify::verify(&workspace.context, &asked)?;
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
            .hint("git proof verify tells what it has; git proof sync fetches what others anchored"));
    }
    let restored = publish(workspace, &git, &lines, None)?;
    Ok(SignOutcome { commit, signed, restored })
}

/// The line of an anchor with the signature of whoever works here; `None` if the note has one by the same key. Many keys
/// never sign twice with the same bytes, so this cannot be told before.
pub(super) fn signed_line(
    workspace: &Workspace,
    commit: CommitId,
    anchor: Anchor,
    change: Option<ChangeIds>,
    note: &BTreeSet<Vec<u8>>,
) -> Result<Option<Line>> {
    let signature = git::sign(&workspace.context, anchor.to_text().as_bytes())?;
    let key = claimed_key(&signature.0).ok();
    let there = note.iter().any(|line| match NoteLine::parse(line) {
        Ok(Some(NoteLine::Anchor { anchor: other, signature: Some(other_signature) })) => {
            *other == anchor && claimed_key(&other_signature.0).ok() == key
        }
        _ => false,
    });
    let line = NoteLine::Anchor { anchor: Box::new(anchor), signature: Some(signature) };
    Ok((!there).then(|| Line { commit, text: line.to_line().unwrap_or_default(), change }))
}
