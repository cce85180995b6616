//! Merging what a remote has: notes as unions of lines, evidence and changes as unions of files. Rounds only go forward.

use crate::error::{Code, Error, Result};
use crate::git::{CHANGES, EVIDENCE, Git, NOTES, ROUNDS, Remote};
use crate::ops::anchor::{better_evidence, join_lines};
use crate::ops::workspace::Workspace;
use crate::proof::digest::{CommitId, RootHash, TreeId};

/// Merges the remote's state of a ref into ours. `true` if that changed ours.
pub(super) fn merge(workspace: &Workspace, git: &Git, remote: &Remote, shared: &str) -> Result<bool> {
    let Some(theirs) = git.tip(&remote.tracking(shared))? else { return Ok(false) };
    let _ = workspace;
    git.update(shared, &format!("git-proof: merge {}", remote.name), |ours| {
        let Some(ours) = ours else { return Ok((Some(theirs), true)) };
        if ours == theirs || git.is_ancestor(&theirs, &ours)? {
            return Ok((None, false));
        }
        if git.is_ancestor(&ours, &theirs)? {
            return Ok((Some(theirs), true));
        }
        if shared == ROUNDS {
            return Err(Error::new(Code::RemoteFailed, format!("{} has another chain of rounds", remote.name))
                .because(format!("ours ends at {ours}, theirs at {theirs}, and neither is in the other"))
                .hint("git proof rounds shows both; one of them was published over the other"));
        }
        let tree = united(git, shared, &tree_of(git, &ours)?, &tree_of(git, &theirs)?)?;
        let message = format!("Merge {shared} of {}", remote.name);
        Ok((Some(git.write_commit(&tree, &[ours, theirs], &message)?), true))
    })
}

fn tree_of(git: &Git, commit: &CommitId) -> Result<TreeId> {
    Ok(git.commit(commit)?.tree)
}

fn united(git: &Git, shared: &str, ours: &TreeId, theirs: &TreeId) -> Result<TreeId> {
    match shared {
        NOTES => git.unite_notes(ours, theirs, &mut |ours, theirs| join_lines(git, &ours, &theirs)),
        CHANGES => git.unite(ours, theirs, &mut |_, ours, theirs| join_lines(git, &ours, &theirs)),
        EVIDENCE => git.unite(ours, theirs, &mut |name, ours, theirs| {
            let root = std::str::from_utf8(name).ok().and_then(|name| RootHash::parse(name.strip_suffix(".jsonl")?));
            match root {
                Some(root) => better_evidence(git, &root, ours, theirs),
                None => Ok(ours.min(theirs)),
            }
        }),
        _ => Ok(*ours),
    }
}
