//! The index of changes: where each anchored change was seen, so that it is found again after a rewrite that no hook saw,
//! and so that what was pushed stays checkable when its branch is gone.

use std::collections::{BTreeMap, BTreeSet};

use super::fork::{MAX_BRANCH, Pushed, bases_of};
use super::squash as squashing;
use super::squash::Squashed;
use super::walk::Walk;
use crate::error::Result;
use crate::git::limits::{MAX_INDEX_LINES, MAX_MERGED_NOTE, MAX_NOTE};
use crate::git::{CHANGES, Fanned, Git, ObjectError, Remote};
use crate::proof::change::Sighting;
use crate::proof::digest::{ChangeId, CommitId};
use crate::proof::note::NoteLine;
use crate::record::Workspace;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Indexed {
    pub ranges: u64,
    /// The commits that are proven here and that others cannot check: each was rewritten before it was pushed, the session
    /// names the commit as it was, and publishing that commit would reveal work that was not pushed.
    pub uncheckable: Vec<CommitId>,
}

/// Adds the anchors that no remote has yet, the branches that were pushed before they were anchored, or without the hook,
/// and the squashes of this clone that the remote has. A commit is kept alive only where the remote has it anyway, or where it
/// reveals nothing that the remote does not have: this program never publishes a commit that its author did not push.
pub fn index_anchors(workspace: &Workspace, git: &Git, remote: &Remote) -> Result<Indexed> {
    let remote = &git.code_remote(remote);
    let (lines, _) = workspace.store.unseen_after(0)?;
    let mut sightings = BTreeSet::new();
    for (commit, line) in &lines {
        let Ok(Some(NoteLine::Anchor { anchor, .. })) = NoteLine::parse(line.as_bytes()) else { continue };
        sightings.extend(anchor.change_id.map(|change| (change, Sighting::Commit(*commit))));
        if let Ok(found) = git.commit(commit)
            && let Some(ids) = git.change_ids_of(&found)?
        {
            sightings.extend(ids.sighted(Sighting::Commit(*commit)));
        }
    }
    let mut commits: Vec<CommitId> = lines.iter().map(|(commit, _)| *commit).collect();
    let prefix = format!("refs/remotes/{}", remote.name);
    let hidden: BTreeSet<CommitId> = git.unreachable_from(&prefix, &commits)?.into_iter().collect();
    commits.retain(|commit| !hidden.contains(commit));
    add(git, &sightings, &commits.iter().copied().collect())?;
    let mut branches = Vec::new();
    let kept = squashing::kept(git)?;
    if commits.is_empty() && kept.is_empty() {
        return Ok(Indexed::default());
    }
    let tips = git.refs_below(&prefix)?;
    for (name, head) in &tips {
        if git.unreachable_from(name, &commits)?.len() < commits.len() {
            let name = name.replacen(&prefix, "refs/heads", 1);
            branches.push(Pushed { name, head: *head, was: None });
        }
    }
    let tips: Vec<CommitId> = tips.into_iter().map(|(_, tip)| tip).collect();
    index(workspace, git, remote, &branches, (&kept, &tips), &commits)
}

/// Adds what is being pushed: each branch as a whole range, if there is an anchor in it, and the ranges that its commits
/// were made of here, whatever the remote has already.
pub fn index_pushed(workspace: &Workspace, git: &Git, remote: &Remote, pushed: &[Pushed]) -> Result<Indexed> {
    let tips: Vec<CommitId> = pushed.iter().map(|branch| branch.head).collect();
    index(workspace, git, remote, pushed, (&squashing::kept(git)?, &tips), &[])
}

fn index(
    workspace: &Workspace,
    git: &Git,
    remote: &Remote,
    pushed: &[Pushed],
    (kept, tips): (&[(String, Squashed)], &[CommitId]),
    anchored: &[CommitId],
) -> Result<Indexed> {
    let Some(mut walk) = Walk::new(workspace, git)? else { return Ok(Indexed::default()) };
    let mut rewritten: BTreeSet<CommitId> = anchored.iter().copied().collect();
    for branch in pushed {
        let bases = bases_of(git, remote, branch)?;
        if bases.is_empty() {
            // The remote has nothing that the branch could be merged to; but it may have squashes in it.
            rewritten.extend(walk.unpublished(remote, &[branch.head], None)?);
        }
        for base in bases {
            let anchored = walk.range(&base, &branch.head, 0)?;
            if anchored > 1 {
                walk.sight(None, &base, &branch.head)?;
            } else if anchored == 1 {
                // A server that squashes or rebases it leaves no other trace of it.
                walk.keep.insert(branch.head);
            }
            rewritten.extend(git.commits(&[&format!("{base}..{}", branch.head)])?.into_iter().take(MAX_BRANCH));
        }
    }
    let theirs = git.branches_of(&remote.name)?;
    let heads: Vec<CommitId> = pushed.iter().map(|branch| branch.head).collect();
    for commit in rewritten {
        walk.keep_originals((&theirs, &heads), &git.commit(&commit)?)?;
    }
    let kept = if walk.squashed { kept } else { &[] };
    for (_, range) in kept {
        walk.squashes_of(range, tips)?;
        if !walk.has(range) {
            walk.unpublished(remote, tips, Some(&range.base))?; // it may have been rebased since
        }
    }
    Ok(Indexed { ranges: add(git, &walk.sightings, &walk.keep)?, uncheckable: walk.uncheckable })
}

/// Lets go of the commits of squashes that the remote now has, and of those that nobody needs: the squash is on the remote,
/// nothing in its range is proven, and no session is open that may still prove it.
pub(crate) fn release(workspace: &Workspace, git: &Git, remote: &Remote) -> Result<()> {
    let kept = squashing::kept(git)?;
    let Some(mut walk) = Walk::new(workspace, git)?.filter(|_| !kept.is_empty()) else { return Ok(()) };
    let published = git.tip(&remote.tracking(CHANGES))?;
    let tips = git.branches_of(&git.code_remote(remote).name)?;
    let closed = workspace.store.open_sessions()?.is_empty();
    for (name, range) in kept {
        let arrived = published.map(|tip| git.is_ancestor(&range.head, &tip)).transpose()? == Some(true);
        let unproven = !arrived
            && closed
            && walk.squashes_of(&range, &tips)?
            && git.has(&range.base.0)
            && walk.range(&range.base, &range.head, 1)? == 0;
        if arrived || unproven {
            git.delete_ref(&name, &range.head)?;
        }
    }
    Ok(())
}

/// Adds lines to the index, and keeps commits alive. The answer is how many ranges are new.
pub(super) fn add(git: &Git, sightings: &BTreeSet<(ChangeId, Sighting)>, keep: &BTreeSet<CommitId>) -> Result<u64> {
    let mut by_change: BTreeMap<ChangeId, BTreeSet<String>> = BTreeMap::new();
    for (change, sighting) in sightings {
        by_change.entry(*change).or_default().insert(sighting.to_line());
    }
    if by_change.is_empty() && keep.is_empty() {
        return Ok(0);
    }
    git.update(CHANGES, "git-proof: index", |tip| {
        let tree = git.tree_of(tip)?;
        let mut files = Vec::new();
        let mut ranges = BTreeSet::new();
        for (change, lines) in &by_change {
            let name = change.to_string();
            let mut there = BTreeSet::new();
            if let Some(tree) = &tree
                && let Fanned::File(blob) = git.find_fanned(tree, &name)?
            {
                let text = match git.blob(&blob, MAX_MERGED_NOTE) {
                    // Someone filled this file up to the limit, so the index cannot help with this change; a note still
                    // proves its own commit.
                    Err(ObjectError::Limit(..)) => continue,
                    text => String::from_utf8_lossy(&text?).into_owned(),
                };
                there.extend(text.lines().filter(|line| !line.is_empty()).map(str::to_owned));
            }
            if !lines.is_subset(&there) {
                let is_range = |line: &&String| matches!(Sighting::parse(line.as_bytes()), Ok(Sighting::Range { .. }));
                let new: Vec<String> = lines.difference(&there).filter(is_range).cloned().collect();
                there.extend(lines.iter().cloned());
                let lines = there.len();
                let text = there.into_iter().collect::<Vec<_>>().join("\n") + "\n";
                if text.len() <= MAX_NOTE && lines <= MAX_INDEX_LINES {
                    ranges.extend(new);
                    files.push((name, git.write_blob(text.as_bytes())?));
                }
            }
        }
        let mut parents: Vec<CommitId> = tip.into_iter().collect();
        for commit in keep {
            // A commit that the tip already keeps alive needs no second parent.
            let kept = tip.is_some_and(|tip| git.is_ancestor(commit, &tip).unwrap_or(false));
            if !kept && git.has(&commit.0) {
                parents.push(*commit);
            }
        }
        if files.is_empty() && parents.len() == tip.iter().len() {
            return Ok((None, 0));
        }
        let tree = git.put_fanned(tree.as_ref(), &files)?;
        Ok((Some(git.write_commit(&tree, &parents, "Changes seen")?), ranges.len() as u64))
    })
}
