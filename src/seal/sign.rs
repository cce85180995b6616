//! `sign --round`: another person's name on a seal, as a line in the note of its commit.

use serde::Serialize;

use crate::error::Result;
use crate::git::{self, NOTES, ROUNDS};
use crate::proof::digest::{CommitId, SealHash};
use crate::proof::note::NoteLine;
use crate::proof::sshsig::claimed_key;
use crate::publish::{Line, note_of, publish};
use crate::record::Workspace;
use crate::rounds::no_such;
use crate::rounds::walk;

#[derive(Debug, Clone, Serialize)]
pub struct SignedRound {
    pub round: u64,
    pub seal: SealHash,
    /// The seal's commit.
    pub commit: CommitId,
    /// Whether the signature is new; `false` if the same key had signed it before.
    pub created: bool,
    /// How many lines of ours another writer had overwritten, and were put back.
    pub restored: u64,
}

/// Signs the seal of a round. The whole chain must hold: a seal vouches for all before it.
pub fn sign_round(workspace: &mut Workspace, number: u64) -> Result<SignedRound> {
    let git = workspace.git()?;
    let mut found = None;
    let seen = workspace.store.seen_rounds()?;
    let tip = git.tip(ROUNDS)?.ok_or_else(|| no_such(number, 0))?;
    let walked = walk(&git, &tip, &mut |sealed| {
        if sealed.seal.round == number {
            found = Some((sealed.commit, sealed.hash, sealed.seal.to_text()));
        }
    });
    let walked = walked.whole()?;
    crate::rounds::still_there(&seen, &walked)?;
    let (commit, seal, text) = found.ok_or_else(|| no_such(number, walked.commits.len() as u64))?;
    let signature = git::sign(&workspace.context, text.as_bytes())?;
    let key = claimed_key(&signature.0).ok();
    let note = git.tip_tree(NOTES)?.map(|tree| note_of(&git, &tree, &commit)).transpose()?.unwrap_or_default();
    let there = note.iter().any(|line| match NoteLine::parse(line) {
        Ok(Some(NoteLine::Seal { seal: of, signature })) => of == seal && claimed_key(&signature.0).ok() == key,
        _ => false,
    });
    let line = NoteLine::Seal { seal, signature };
    let line = Line { commit, text: line.to_line().unwrap_or_default(), change: None };
    let restored = publish(workspace, &git, if there { &[] } else { std::slice::from_ref(&line) }, None)?;
    Ok(SignedRound { round: number, seal, commit, created: !there, restored })
}
