//! The index of changes: where each anchored change was seen, so that it is found again after a rewrite that no hook saw,
//! and so that what was pushed stays checkable when its branch is gone.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::git::{CHANGES, Git, NOTES, Remote, Shelved};
use crate::ops::anchor::{MAX_NOTE, note_of};
use crate::ops::workspace::Workspace;
use crate::proof::change::Sighting;
use crate::proof::digest::{ChangeId, CommitId};
use crate::proof::note::NoteLine;

/// A branch that is being pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    /// The commit that it is set to.
    pub head: CommitId,
    /// The commit where it was on the remote, if it was there.
    pub was: Option<CommitId>,
}

/// Adds the anchors that no remote has yet. The commit itself is kept alive only where the remote has it anyway: a commit
/// that nobody pushed is nobody's to publish.
pub(super) fn index_anchors(workspace: &Workspace, git: &Git, remote: &Remote) -> Result<()> {
    let (lines, _) = workspace.store.unseen_after(0)?;
    let mut sightings = BTreeSet::new();
    for (commit, line) in &lines {
        if let Ok(Some(NoteLine::Anchor { anchor, .. })) = NoteLine::parse(line.as_bytes())
            && let Some(change) = anchor.change_id
        {
            sightings.insert((change, Sighting::Commit(*commit)));
        }
    }
    let commits: Vec<CommitId> = lines.iter().map(|(commit, _)| *commit).collect();
    let hidden: BTreeSet<CommitId> =
        git.unreachable_from(&format!("refs/remotes/{}", remote.name), &commits)?.into_iter().collect();
    let keep = commits.into_iter().filter(|commit| !hidden.contains(commit)).collect();
    add(git, &sightings, &keep)
}

/// Adds what is being pushed: each branch as a whole range, if there is an anchor in it, and the ranges that its commits
/// were made of here.
pub fn index_pushed(workspace: &Workspace, git: &Git, remote: &Remote, pushed: &[Pushed]) -> Result<()> {
    let Some(notes) = git.tip(NOTES)? else { return Ok(()) };
    let notes = git.commit(&notes)?.tree;
    let publish_squashed = git.setting("proof.publishSquashed").is_none_or(|value| value != "false");
    let mut sightings = BTreeSet::new();
    let mut keep = BTreeSet::new();
    for branch in pushed {
        let Some(base) = base_of(git, remote, branch)? else { continue };
        let commits = git.commits(&[&format!("{base}..{}", branch.head)])?;
        let mut anchored = false;
        for id in &commits {
            let note = note_of(git, &notes, id)?;
            let commit = git.commit(id)?;
            if !note.is_empty() {
                anchored = true;
            } else if let Some(change) = git.change_id(&commit)? {
                anchored |= !workspace.store.anchored_with(&change)?.is_empty();
                for sighting in workspace.store.sightings(&change)? {
                    if let (Sighting::Range { head, .. }, true) = (sighting, publish_squashed) {
                        anchored = true;
                        keep.insert(head);
                        sightings.insert((change, sighting));
                    }
                }
            }
        }
        if !anchored || commits.len() < 2 {
            continue;
        }
        let (from, till) = (git.commit(&base)?.tree, git.commit(&branch.head)?.tree);
        if let Some(change) = git.change_between(Some(&from), &till)? {
            sightings.insert((change, Sighting::Range { base, head: branch.head }));
            keep.insert(branch.head);
        }
    }
    add(git, &sightings, &keep)
}

/// Where a branch will be merged to: the remote's main branch, or what it has of the branch itself.
fn base_of(git: &Git, remote: &Remote, branch: &Pushed) -> Result<Option<CommitId>> {
    let mut tips = Vec::new();
    for name in ["HEAD", "main", "master"] {
        tips.extend(git.tip(&format!("refs/remotes/{}/{name}", remote.name))?);
    }
    tips.extend(branch.was.filter(|was| git.has(&was.0)));
    for tip in tips {
        if let Some(base) = git.merge_base(&tip, &branch.head)?
            && base != branch.head
        {
            return Ok(Some(base));
        }
    }
    Ok(None)
}

/// Adds lines to the index, and keeps commits alive.
fn add(git: &Git, sightings: &BTreeSet<(ChangeId, Sighting)>, keep: &BTreeSet<CommitId>) -> Result<()> {
    let mut by_change: BTreeMap<ChangeId, BTreeSet<String>> = BTreeMap::new();
    for (change, sighting) in sightings {
        by_change.entry(*change).or_default().insert(sighting.to_line());
    }
    if by_change.is_empty() && keep.is_empty() {
        return Ok(());
    }
    git.update(CHANGES, "git-proof: index", |tip| {
        let tree = tip.map(|tip| git.commit(&tip).map(|commit| commit.tree)).transpose()?;
        let mut files = Vec::new();
        for (change, lines) in &by_change {
            let name = change.to_string();
            let mut there = BTreeSet::new();
            if let Some(tree) = &tree
                && let Shelved::File(blob) = git.shelved(tree, &name)?
            {
                let text = String::from_utf8_lossy(&git.blob(&blob, MAX_NOTE)?).into_owned();
                there.extend(text.lines().filter(|line| !line.is_empty()).map(str::to_owned));
            }
            if !lines.is_subset(&there) {
                there.extend(lines.iter().cloned());
                let text: String = there.iter().map(|line| format!("{line}\n")).collect();
                files.push((name, git.write_blob(text.as_bytes())?));
            }
        }
        let mut parents: Vec<CommitId> = tip.into_iter().collect();
        for commit in keep {
            // What an earlier line keeps alive needs no second parent.
            let kept = tip.is_some_and(|tip| git.is_ancestor(commit, &tip).unwrap_or(false));
            if !kept && git.has(&commit.0) {
                parents.push(*commit);
            }
        }
        if files.is_empty() && parents.len() == tip.iter().len() {
            return Ok((None, ()));
        }
        let tree = git.shelve(tree.as_ref(), &files)?;
        Ok((Some(git.write_commit(&tree, &parents, "Changes seen")?), ()))
    })
}
