//! `carry`: the anchors of a commit follow it when it is rewritten, if it still makes the same change.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::lines::{Line, heal, note_of, publish};
use super::squash::Squashed;
use super::{commit_hooks as committing, squash as squashing, why};
use crate::error::Result;
use crate::git::{Commit, Git, NOTES, Read};
use crate::proof::change::ChangeIds;
use crate::proof::digest::CommitId;
use crate::proof::note::NoteLine;
use crate::record::Workspace;

/// The result of carrying the anchors of rewritten commits.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CarryOutcome {
    /// One for each commit that had a note.
    pub carried: Vec<Carried>,
    /// How many lines of ours another writer had overwritten, and were put back.
    pub restored: u64,
}

/// The result for the anchors of one commit.
#[derive(Debug, Clone, Serialize)]
pub struct Carried {
    /// The commit as it was.
    pub from: CommitId,
    /// The commit as it is.
    pub to: CommitId,
    /// How many lines were copied, or were there already.
    pub lines: u64,
    /// How many stayed behind, because they are for another change.
    pub left: u64,
    /// Whether the new commit is, as a whole, the range that the old ones were.
    pub squashed: bool,
}

/// Carries the anchors of one commit to another.
pub fn carry(workspace: &mut Workspace, from: &str, to: &str) -> Result<CarryOutcome> {
    let git = workspace.git()?;
    let pair = (git.resolve(from)?, git.resolve(to)?);
    carry_rewritten(workspace, &git, &[pair])
}

/// Carries the anchors of commits that were rewritten, in the order in which they were: to those that git itself would have
/// made of them. The session that is open here attests the new commits as it did the old ones.
pub fn carry_rewritten(
    workspace: &mut Workspace,
    git: &Git,
    rewritten: &[(CommitId, CommitId)],
) -> Result<CarryOutcome> {
    let mut outcome = CarryOutcome::default();
    committing::attest_rewritten(workspace, git, rewritten)?;
    // Also where there is no note yet: a session that is still open will be anchored on the old commits.
    let squashes = squashes(git, rewritten);
    for (ids, range) in squashes.values() {
        squashing::remember(workspace, git, *ids, *range)?;
    }
    let Some(tree) = git.tip_tree(NOTES)? else {
        outcome.restored = heal(workspace, git)?;
        return Ok(outcome);
    };
    let mut lines = Vec::new();
    let mut followed = Vec::new();
    for (from, to) in rewritten {
        let note = note_of(git, &tree, from)?;
        if note.is_empty() {
            continue;
        }
        let mut carried = Carried { from: *from, to: *to, lines: 0, left: 0, squashed: squashes.contains_key(to) };
        let (old, new) = (git.commit(from), git.commit(to));
        let same = matches!((&old, &new), (Ok(old), Ok(new)) if git.is_rewrite(old, new) == Ok(true));
        for line in note {
            match String::from_utf8(line).ok().filter(|text| same && follows(text)) {
                Some(text) => {
                    carried.lines += 1;
                    let change = new.as_ref().ok().and_then(|new| git.change_ids_of(new).ok().flatten());
                    lines.push(Line { commit: *to, text, change });
                }
                None => carried.left += 1,
            }
        }
        if carried.lines > 0 || carried.squashed {
            followed.push((*from, *to));
        }
        outcome.carried.push(carried);
    }
    outcome.restored = publish(workspace, git, &lines, None)?;
    why::follow(git, &followed)?;
    Ok(outcome)
}

/// Whether a line is carried along: a seal's commit is never rewritten, a word is for one commit alone, and what cannot be
/// read is not spread.
fn follows(line: &str) -> bool {
    matches!(NoteLine::parse(line.as_bytes()), Ok(Some(NoteLine::Anchor { .. } | NoteLine::Unknown { .. })))
}

/// The commits that are, as a whole, the range that several were.
fn squashes(git: &Git, rewritten: &[(CommitId, CommitId)]) -> BTreeMap<CommitId, (ChangeIds, Squashed)> {
    let mut olds: BTreeMap<CommitId, BTreeSet<CommitId>> = BTreeMap::new();
    for (from, to) in rewritten {
        olds.entry(*to).or_default().insert(*from);
    }
    olds.retain(|_, olds| olds.len() > 1);
    olds.into_iter().filter_map(|(to, olds)| Some((to, squashed(git, &olds, &to)?))).collect()
}

/// The range that became one commit: the commits that were rewritten to it, one after the other, if git itself makes it of
/// them.
fn squashed(git: &Git, ids: &BTreeSet<CommitId>, to: &CommitId) -> Option<(ChangeIds, Squashed)> {
    let olds: Vec<Commit> = ids.iter().map(|old| git.commit(old)).collect::<Read<_>>().ok()?;
    let parents: BTreeSet<CommitId> = olds.iter().flat_map(|commit| commit.parents.clone()).collect();
    // The one that no other has for a parent is the head, the parent that is not among them the base.
    let mut heads = ids.difference(&parents);
    let mut bases = parents.difference(ids);
    let (head, base) = (*heads.next()?, *bases.next()?);
    if heads.next().is_some() || bases.next().is_some() {
        return None;
    }
    let commit = git.commit(to).ok()?;
    let (from, till) = (git.commit(&base).ok()?.tree, git.commit(&head).ok()?.tree);
    let ours = git.tree_of(commit.parents.first().copied()).ok()?;
    let whole = git.is_merge_of_trees((Some(&from), &till), (ours.as_ref(), &commit.tree)).ok()?;
    let ids = git.change_ids_of(&commit).ok()??;
    whole.then_some((ids, Squashed { onto: commit.parents.first().copied(), base, head }))
}
