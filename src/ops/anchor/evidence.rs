//! Evidence of a session, published under its root.

use crate::error::{Code, Error, Result};
use crate::git::{EVIDENCE, Git, ObjectError, Shelved};
use crate::ops::retain::thaw;
use crate::ops::workspace::Workspace;
use crate::proof::change::GitAttestation;
use crate::proof::digest::{CommitId, ObjectId, RootHash};
use crate::proof::evidence::{self, Verifier};
use crate::proof::record::{Body, Line};
use crate::store::RootRow;

/// Largest evidence file that is read, in bytes.
pub(crate) const MAX_EVIDENCE: usize = 512 << 20;

/// The name of a root's evidence.
pub(in crate::ops) fn file_name(root: &RootHash) -> String {
    format!("{root}.jsonl")
}

/// Whether there is evidence for a root.
pub(in crate::ops) fn has_evidence(git: &Git, root: &RootHash) -> Result<bool> {
    let Some(tip) = git.tip(EVIDENCE)? else { return Ok(false) };
    let shelved = git.shelved(&git.commit(&tip)?.tree, &file_name(root))?;
    Ok(matches!(shelved, Shelved::File(_)))
}

/// The commits that the evidence of a root attests.
pub(in crate::ops) fn attested_by_evidence(git: &Git, root: &RootHash) -> Result<Vec<CommitId>> {
    let Some(tip) = git.tip(EVIDENCE)? else { return Ok(Vec::new()) };
    let Shelved::File(blob) = git.shelved(&git.commit(&tip)?.tree, &file_name(root))? else { return Ok(Vec::new()) };
    let mut commits = Vec::new();
    let _ = Verifier::new().push_with(&git.blob(&blob, MAX_EVIDENCE)?, |_, line, _| {
        if let Line::Entry(entry) = line
            && let Body::Attest { attest } = &entry.body
            && let Ok(GitAttestation { commit: Some(commit), .. }) = GitAttestation::parse(attest.as_bytes())
        {
            commits.push(commit);
        }
    });
    Ok(commits)
}

/// Publishes the evidence of a finalized session, unless it is there. The answer is its text.
pub(super) fn publish_evidence(workspace: &mut Workspace, git: &Git, row: &RootRow) -> Result<Vec<u8>> {
    let Some(text) = evidence_of(workspace, row)? else { return published(git, row) };
    let name = file_name(&row.root);
    git.update(EVIDENCE, "git-proof: evidence", |tip| {
        let tree = tip.map(|tip| git.commit(&tip).map(|commit| commit.tree)).transpose()?;
        let there = tree.map(|tree| git.shelved(&tree, &name)).transpose()?.unwrap_or(Shelved::Nothing);
        let mut blob = git.write_blob(&text)?;
        if let Shelved::File(other) = there {
            blob = better_evidence(git, &row.root, other, blob)?;
            if blob == other {
                return Ok((None, ()));
            }
        }
        let tree = git.shelve(tree.as_ref(), &[(name.clone(), blob)])?;
        let parents: Vec<_> = tip.into_iter().collect();
        let commit = git.write_commit(&tree, &parents, &format!("Evidence of session {}", row.session_id))?;
        Ok((Some(commit), ()))
    })?;
    Ok(text)
}

/// The evidence that was published of a session whose texts are gone.
fn published(git: &Git, row: &RootRow) -> Result<Vec<u8>> {
    let gone = || {
        Error::new(Code::RecordNotFound, format!("the texts of session {} are frozen", row.session_id)).hint(
            "git proof sync may fetch the evidence that it published before; without it there is nothing to anchor",
        )
    };
    let tip = git.tip(EVIDENCE)?.ok_or_else(gone)?;
    let Shelved::File(blob) = git.shelved(&git.commit(&tip)?.tree, &file_name(&row.root))? else { return Err(gone()) };
    let text = git.blob(&blob, MAX_EVIDENCE)?;
    let holds = evidence::verify(&text).is_ok_and(|summary| summary.require(&row.root, row.record_count).is_ok());
    if holds { Ok(text) } else { Err(gone()) }
}

/// The evidence file of a session, private entries withheld; `None` if its texts are gone.
fn evidence_of(workspace: &mut Workspace, row: &RootRow) -> Result<Option<Vec<u8>>> {
    let mut log = workspace.store.log(&row.session_id, None)?;
    if log.entries.iter().any(|entry| entry.line.is_none()) && thaw(workspace, &row.session_id)? {
        log = workspace.store.log(&row.session_id, None)?;
    }
    let mut text = log.session.opening_line.into_bytes();
    text.push(b'\n');
    let last = log.entries.len().saturating_sub(1);
    for (index, stored) in log.entries.iter().enumerate() {
        let Some(entry) = stored.entry()? else { return Ok(None) };
        text.extend_from_slice(evidence::publish(row.scheme, &entry, stored.private, index == last).as_bytes());
        text.push(b'\n');
    }
    Ok(Some(text))
}

/// Of two files for one root: the one that verifies, then the one with less withheld. Two clones that merge in opposite
/// directions must come to the same, so the order of the arguments decides nothing.
///
/// Several lists of leaves have one root. A list of which any line can be read has the session's own entries, with the
/// last of them repeated at most, so the shortest such list is the session's; one of which no line can be read may be
/// made of nodes further up in its tree.
pub(in crate::ops) fn better_evidence(git: &Git, root: &RootHash, there: ObjectId, new: ObjectId) -> Result<ObjectId> {
    if there == new {
        return Ok(there);
    }
    let rank = |blob: ObjectId| {
        let text = match git.blob(&blob, MAX_EVIDENCE) {
            Ok(text) => text,
            // In a partial clone the good one may be the one that is not at hand.
            Err(missing @ ObjectError::Missing(_)) => return Err(Error::from(missing)),
            Err(ObjectError::Damaged(..)) => return Ok((1, true, 0, 0, blob)),
        };
        // The least is the best.
        Ok(match evidence::verify(&text).ok().filter(|summary| summary.root == *root) {
            Some(summary) => (0, summary.withheld == summary.count, summary.count, summary.withheld, blob),
            None => (1, true, 0, 0, blob),
        })
    };
    Ok(if rank(new)? < rank(there)? { new } else { there })
}
