//! Merging what a remote has: notes as unions of lines, evidence and changes as unions of files. Rounds have rules of their
//! own ([`seal`](crate::seal)).
//! Both sides are merged even if one is ahead of the other, because the newer side may have removed something.

use std::collections::BTreeMap;

use super::evidence::better_evidence;
use super::lines::join_lines;
use crate::error::{Code, Error, Result};
use crate::git::{CHANGES, EVIDENCE, Git, NOTES, ObjectError, Read, Remote};
use crate::proof::digest::{CommitId, RootHash, TreeId};

/// Merges the remote's state of a ref into ours. `true` if that changed ours.
pub(crate) fn merge(git: &Git, remote: &Remote, shared: &str) -> Result<bool> {
    let Some(theirs) = git.tip(&remote.tracking(shared))? else { return Ok(false) };
    let their_tree = readable(git, &theirs).map_err(|error| {
        if let ObjectError::Limit(..) = error {
            return error.into();
        }
        Error::new(Code::RemoteFailed, format!("{shared} of {} is not what git-proof writes", remote.name))
            .because(error)
            .hint("nothing of it was taken over; whoever looks after the remote should look at that ref")
    })?;
    git.update(shared, &format!("git-proof: merge {}", remote.name), |ours| {
        let Some(ours) = ours else { return Ok((Some(theirs), true)) };
        if ours == theirs {
            return Ok((None, false));
        }
        let ahead = git.is_ancestor(&theirs, &ours)?;
        let behind = !ahead && git.is_ancestor(&ours, &theirs)?;
        let our_tree = git.commit(&ours)?.tree;
        let tree = united(git, shared, &our_tree, &their_tree)?;
        let parents: &[CommitId] = match (ahead, behind) {
            (true, _) if tree == our_tree => return Ok((None, false)),
            (_, true) if tree == their_tree => return Ok((Some(theirs), true)),
            (true, _) => &[ours],
            (_, true) => &[theirs],
            _ => &[ours, theirs],
        };
        Ok((Some(git.write_commit(&tree, parents, &format!("Merge {shared} of {}", remote.name))?), true))
    })
}

/// The trees of shared refs, each with what another repository has of it. Of evidence that both have, the better one counts;
/// notes and lines of the index are joined.
pub(crate) fn unite_offered(
    git: &Git,
    trees: &BTreeMap<&'static str, TreeId>,
    offered: &BTreeMap<&'static str, CommitId>,
) -> Result<BTreeMap<&'static str, TreeId>> {
    let mut united_trees = trees.clone();
    for (shared, tip) in offered {
        let theirs = readable(git, tip)?;
        let tree = match trees.get(shared) {
            Some(ours) => united(git, shared, ours, &theirs)?,
            None => theirs,
        };
        united_trees.insert(*shared, tree);
    }
    Ok(united_trees)
}

/// The tree of a commit, if both are what they should be. A ref can name anything.
fn readable(git: &Git, commit: &CommitId) -> Read<TreeId> {
    let tree = git.commit(commit)?.tree;
    git.read_tree(&tree)?;
    Ok(tree)
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
