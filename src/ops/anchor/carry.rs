//! `carry`: the anchors of a commit follow it when it is rewritten, if it still makes the same change.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use serde::Serialize;

use super::publish::{Line, heal, note_of, publish};
use super::why;
use crate::context::Context;
use crate::error::Result;
use crate::git::{Commit, Git, NOTES, Read};
use crate::ops::workspace::Workspace;
use crate::proof::change::Sighting;
use crate::proof::digest::{ChangeId, CommitId, TreeId};
use crate::proof::note::NoteLine;

/// What became of the anchors of rewritten commits.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CarryOutcome {
    /// One for each commit that had a note.
    pub carried: Vec<Carried>,
    /// How many lines of ours another writer had overwritten, and were put back.
    pub restored: u64,
}

/// What became of the anchors of one commit.
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

/// Carries the anchors of commits that were rewritten, in the order in which they were.
pub fn carry_rewritten(
    workspace: &mut Workspace,
    git: &Git,
    rewritten: &[(CommitId, CommitId)],
) -> Result<CarryOutcome> {
    let mut outcome = CarryOutcome::default();
    let mut changes = Changes { git, known: BTreeMap::new() };
    // Also where there is no note yet: a session that is still open will be anchored on the old commits.
    let squashes = squashes(&mut changes, rewritten);
    workspace.store.sight(&squashes.values().copied().collect::<Vec<_>>())?;
    let Some(tip) = git.tip(NOTES)? else {
        outcome.restored = heal(workspace, git)?;
        return Ok(outcome);
    };
    let tree = git.commit(&tip)?.tree;
    let mut notes = Vec::new();
    for (from, to) in rewritten {
        let note = note_of(git, &tree, from)?;
        if !note.is_empty() {
            notes.push((from, to, note));
        }
    }
    changes.learn(&workspace.context, notes.iter().map(|(_, to, _)| **to).collect());
    let mut lines = Vec::new();
    let mut followed = Vec::new();
    for (from, to, note) in notes {
        let mut carried = Carried { from: *from, to: *to, lines: 0, left: 0, squashed: squashes.contains_key(to) };
        for line in note {
            let text = String::from_utf8(line).ok();
            match text.filter(|text| follows(&mut changes, text, from, to)) {
                Some(text) => {
                    carried.lines += 1;
                    lines.push(Line { commit: *to, text, change: changes.of(to).ok().flatten() });
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

/// The commits that are, as a whole, the range that several were.
fn squashes(changes: &mut Changes<'_>, rewritten: &[(CommitId, CommitId)]) -> BTreeMap<CommitId, (ChangeId, Sighting)> {
    let mut olds: BTreeMap<CommitId, BTreeSet<CommitId>> = BTreeMap::new();
    for (from, to) in rewritten {
        olds.entry(*to).or_default().insert(*from);
    }
    olds.retain(|_, olds| olds.len() > 1);
    olds.into_iter().filter_map(|(to, olds)| Some((to, squashed(changes, &olds, &to)?))).collect()
}

/// Whether a line is for the change that the new commit makes.
fn follows(changes: &mut Changes<'_>, line: &str, from: &CommitId, to: &CommitId) -> bool {
    let named = match NoteLine::parse(line.as_bytes()) {
        Ok(Some(NoteLine::Anchor { anchor, .. })) => anchor.change_id,
        Ok(Some(NoteLine::Unknown { .. })) => changes.of(from).ok().flatten(),
        // A seal's commit is never rewritten, and what cannot be read is not spread.
        _ => return false,
    };
    match named {
        Some(change) => changes.of(to) == Ok(Some(change)),
        None => same_trees(changes.git, from, to) == Ok(true),
    }
}

/// Same tree, and parents of the same trees: only the words are other ones.
fn same_trees(git: &Git, one: &CommitId, two: &CommitId) -> Read<bool> {
    let trees = |commit: &Commit| -> Read<Vec<TreeId>> {
        commit.parents.iter().map(|parent| Ok(git.commit(parent)?.tree)).collect()
    };
    let (one, two) = (git.commit(one)?, git.commit(two)?);
    Ok(one.tree == two.tree && trees(&one)? == trees(&two)?)
}

/// The range that became one commit: the commits that were rewritten to it, one after the other, if together they make
/// the change that it makes.
fn squashed(changes: &mut Changes<'_>, ids: &BTreeSet<CommitId>, to: &CommitId) -> Option<(ChangeId, Sighting)> {
    let change = changes.of(to).ok()??;
    let olds: Vec<Commit> = ids.iter().map(|old| changes.git.commit(old)).collect::<Read<_>>().ok()?;
    let parents: BTreeSet<CommitId> = olds.iter().flat_map(|commit| commit.parents.clone()).collect();
    // The one that no other has for a parent is the head, the parent that is not among them the base.
    let mut heads = ids.difference(&parents);
    let mut bases = parents.difference(ids);
    let (head, base) = (*heads.next()?, *bases.next()?);
    if heads.next().is_some() || bases.next().is_some() {
        return None;
    }
    let (from, till) = (changes.git.commit(&base).ok()?.tree, changes.git.commit(&head).ok()?.tree);
    let whole = changes.git.change_between(Some(&from), &till).ok()??;
    (whole == change).then_some((change, Sighting::Range { base, head }))
}

/// Change ids, each computed once.
struct Changes<'a> {
    git: &'a Git,
    known: BTreeMap<CommitId, Read<Option<ChangeId>>>,
}

/// As many commits are worth a second thread, which opens the repository once more.
const MANY: usize = 8;

impl Changes<'_> {
    /// Computes the change ids of many commits, half of them on another thread: after a rebase they are most of the work.
    fn learn(&mut self, context: &Context, mut commits: Vec<CommitId>) {
        commits.retain(|commit| !self.known.contains_key(commit));
        let here = commits.split_off(commits.len() / 2);
        if here.len() < MANY / 2 {
            return;
        }
        let place = self.git.place();
        thread::scope(|scope| {
            let there = scope.spawn(move || {
                let Ok(git) = Git::open(place, context) else { return BTreeMap::new() };
                let mut changes = Changes { git: &git, known: BTreeMap::new() };
                for commit in &commits {
                    let _ = changes.of(commit);
                }
                changes.known
            });
            for commit in &here {
                let _ = self.of(commit);
            }
            // What was not computed there will be when it is asked for.
            self.known.extend(there.join().unwrap_or_default());
        });
    }

    fn of(&mut self, commit: &CommitId) -> Read<Option<ChangeId>> {
        let git = self.git;
        self.known.entry(*commit).or_insert_with(|| git.change_id(&git.commit(commit)?)).clone()
    }
}
