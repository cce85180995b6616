//! No replay: a change that was applied, and undone since, does not come back by the proof that it had the first time.
//! Bringing it back is a decision of its own, and needs a session of its own.

use super::bond::cover_as_it_is;
use super::commit::Judge;
use super::facts::Facts;
use crate::git::{Allowance, Containment, ObjectError, Read};
use crate::proof::change::{ChangeIds, Sighting};
use crate::proof::digest::{CommitId, TreeId};
use crate::proof::finding::{Finding, FindingCode};
use crate::proof::merge::PathChange;

/// Most commits whose change ids are computed to find out which range they were made of.
const MAX_COMPARED: usize = 1000;

/// So many commits are few enough to ask of each which paths it touches.
const FEW: usize = 100;

/// How a change came to be applied before.
pub(super) struct Before {
    /// The commit that had it.
    pub(super) by: CommitId,
    what: &'static str,
}

impl Before {
    /// The commit itself is there already.
    pub(super) fn by_itself(by: CommitId) -> Self {
        Self { by, what: "by its own commit" }
    }

    pub(super) fn finding(&self) -> Finding {
        let message = format!(
            "the change was applied before, {} {}, and undone since; applying it again is a new decision",
            self.what, self.by
        );
        Finding::error(FindingCode::Replayed, message).hint(cover_as_it_is())
    }
}

impl Judge<'_> {
    /// Whether a commit brings back what `own` did, after it was undone.
    pub(super) fn replays(&self, own: &Facts, judged: &Facts) -> Read<Option<Finding>> {
        let change = own.diff(self.gatherer)?;
        for parent in &judged.commit.parents {
            if let Some(before) = self.applied_before(&change, &own.id(), parent)? {
                return Ok(Some(before.finding()));
            }
        }
        Ok(None)
    }

    /// The same for a change that was only staged when it was attested, on top of the commit `onto` where the session
    /// says so. The session knew everything that leads to `onto`, so the search ends there; without it, the whole history
    /// is searched.
    pub(super) fn replays_itself(&self, judged: &Facts, onto: Option<&CommitId>) -> Read<Option<Finding>> {
        let change = judged.diff(self.gatherer)?;
        let known: Vec<CommitId> = onto.copied().into_iter().collect();
        for parent in &judged.commit.parents {
            let only = self.gatherer.history.only(self.gatherer.git, &[*parent], &known);
            if let Some(by) = self.contained(&change, parent, &only.commits)? {
                let before = Before { by, what: "in commit" };
                return Ok(Some(before.finding()));
            }
            only.complete()?;
        }
        Ok(None)
    }

    /// Whether a change that was made in `head` has been applied to what leads to `parent`, and undone there.
    pub(super) fn applied_before(
        &self,
        change: &[PathChange],
        head: &CommitId,
        parent: &CommitId,
    ) -> Read<Option<Before>> {
        let (git, history) = (&self.gatherer.git, &self.gatherer.history);
        let only = history.only(git, &[*parent], &[*head]);
        if only.shared.contains(head) {
            return Ok(Some(Before::by_itself(*head)));
        }
        if change.is_empty() {
            return only.complete().map(|()| None);
        }
        // Looking at entries is cheap, and reading texts is not. A branch of few commits has mostly touched other files.
        if only.commits.len() <= FEW && !self.is_touched(change, &only.commits)? {
            return only.complete().map(|()| None);
        }
        if self.has(parent, change)? {
            return only.complete().map(|()| None);
        }
        if let Some(by) = self.contained(change, parent, &only.commits)? {
            return Ok(Some(Before { by, what: "in commit" }));
        }
        if let Some(by) = self.bound_to(change, head, parent, &only.commits)? {
            return Ok(Some(Before { by, what: "as a part of commit" }));
        }
        only.complete().map(|()| None)
    }

    /// Whether one of these commits differs from a parent of its own at a path of a change.
    fn is_touched(&self, change: &[PathChange], among: &[CommitId]) -> Read<bool> {
        let (git, history) = (&self.gatherer.git, &self.gatherer.history);
        for id in among {
            let node = history.node(git, id)?;
            if node.parents.is_empty() {
                return Ok(true);
            }
            for before in &node.parents {
                let before = history.node(git, before)?.tree;
                if before != node.tree && self.touches(change, &before, &node.tree)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether a commit has a change already.
    fn has(&self, id: &CommitId, change: &[PathChange]) -> Read<bool> {
        let (git, history) = (&self.gatherer.git, &self.gatherer.history);
        let tree = history.node(git, id)?.tree;
        Containment::new(git, change).is_in(Some(&tree), &mut Allowance::default())
    }

    /// The first of these commits that applied a change which `parent` does not have: the commit has it, and one of its
    /// own parents does not. A commit from before some lines were written "has" their removal too, and applied nothing:
    /// without that difference, no branch that adds something and takes it away again could be rebased.
    fn contained(&self, change: &[PathChange], parent: &CommitId, among: &[CommitId]) -> Read<Option<CommitId>> {
        let (git, history) = (&self.gatherer.git, &self.gatherer.history);
        let mut containment = Containment::new(git, change);
        let mut allowance = Allowance::default();
        let parent_tree = history.node(git, parent)?.tree;
        if containment.is_in(Some(&parent_tree), &mut allowance)? {
            return Ok(None);
        }
        for id in among {
            let node = history.node(git, id)?;
            if !containment.is_in(Some(&node.tree), &mut allowance)? {
                continue;
            }
            let mut applied = node.parents.is_empty() && !containment.is_in(None, &mut allowance)?;
            for before in &node.parents {
                applied = applied || !containment.is_in(Some(&history.node(git, before)?.tree), &mut allowance)?;
            }
            if applied {
                return Ok(Some(*id));
            }
        }
        Ok(None)
    }

    /// The first of these commits that replaced `head`, or is a squash of a range with `head` in it, and that `parent` does
    /// not have any more. Such a commit need not contain the change by the test above: in a range it may have been changed
    /// further, and merging a change for a second time is sometimes a conflict.
    fn bound_to(
        &self,
        change: &[PathChange],
        head: &CommitId,
        parent: &CommitId,
        among: &[CommitId],
    ) -> Read<Option<CommitId>> {
        let (git, history) = (&self.gatherer.git, &self.gatherer.history);
        let mut compared = 0;
        for id in among {
            let node = history.node(git, id)?;
            let [first] = node.parents[..] else { continue };
            let before = history.node(git, &first)?.tree;
            if before == node.tree || !self.touches(change, &before, &node.tree)? {
                continue;
            }
            compared += 1;
            if compared > MAX_COMPARED {
                let why = format!("more than {MAX_COMPARED} commits touch the same files");
                return Err(ObjectError::Limit(id.0, why));
            }
            let facts = self.gatherer.facts(id)?;
            let made = facts.diff(self.gatherer)?;
            let replaced = git.is_merge(change, Some(&before), (&node.tree, &made), true, &mut Allowance::default())?;
            if (replaced || self.squashes(&facts, head)?) && !self.has(parent, &made)? {
                return Ok(Some(*id));
            }
        }
        Ok(None)
    }

    /// Whether a commit is a squash of a range with `head` in it.
    fn squashes(&self, facts: &Facts, head: &CommitId) -> Read<bool> {
        let (git, history) = (&self.gatherer.git, &self.gatherer.history);
        let Some(ids) = facts.change(self.gatherer)?.filter(|_| self.gatherer.has_sightings()) else {
            return Ok(false);
        };
        for sighting in self.gatherer.sightings(&ids) {
            let Sighting::Range { base, head: end } = sighting else { continue };
            if self.is_squash(facts, &base, &end)?
                && history.reaches(git, &end, head)?
                && !history.reaches(git, &base, head)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether two trees differ at a path of a change.
    fn touches(&self, change: &[PathChange], before: &TreeId, after: &TreeId) -> Read<bool> {
        let git = &self.gatherer.git;
        for path in change {
            if git.entry_at(Some(before), &path.path)? != git.entry_at(Some(after), &path.path)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a commit that leads to a judged one has the same change id: then the change is not new, and where its
    /// first place was nobody can tell.
    pub(super) fn seen_before(&self, judged: &Facts, ids: &ChangeIds) -> Read<Option<Finding>> {
        let (git, history) = (&self.gatherer.git, &self.gatherer.history);
        let change = judged.diff(self.gatherer)?;
        let Some(parent) = judged.commit.parents.first() else { return Ok(None) };
        let only = history.only(git, &[*parent], &[]);
        if let Some(by) = self.contained(&change, parent, &only.commits)? {
            return Ok(Some(Before { by, what: "in commit" }.finding()));
        }
        let mut compared = 0;
        for id in &only.commits {
            let node = history.node(git, id)?;
            let before = match node.parents[..] {
                [] => None,
                [parent] => Some(history.node(git, &parent)?.tree),
                _ => continue,
            };
            // The same change has the same paths, each of which it changes.
            let mut same = true;
            for path in change.iter() {
                let was = git.entry_at(before.as_ref(), &path.path)?;
                if was == git.entry_at(Some(&node.tree), &path.path)? {
                    same = false;
                    break;
                }
            }
            if !same {
                continue;
            }
            compared += 1;
            if compared > MAX_COMPARED {
                let why = format!("more than {MAX_COMPARED} commits touch the same files");
                return Err(ObjectError::Limit(id.0, why));
            }
            let diff = git.diff(before.as_ref(), Some(&node.tree))?;
            if git.change_ids(&diff)?.is_some_and(|found| found.wide == ids.wide) {
                return Ok(Some(Before { by: *id, what: "in commit" }.finding()));
            }
        }
        only.complete()?;
        Ok(None)
    }
}
