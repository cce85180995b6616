//! Signs an anchor: the signature is a line of its own in the note.

use std::collections::BTreeSet;

use super::lines::Line;
use crate::error::Result;
use crate::git;
use crate::proof::anchor::Anchor;
use crate::proof::change::ChangeIds;
use crate::proof::digest::CommitId;
use crate::proof::note::NoteLine;
use crate::proof::sshsig::claimed_key;
use crate::record::Workspace;

/// The line of an anchor, signed by the user; `None` if the note has a signature by the same key. The check comes after
/// signing, because many keys never give the same bytes twice.
pub(crate) fn signed_line(
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
