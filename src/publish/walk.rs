//! The walk over the commits that are pushed, and over those that they were made of: it collects what the index must say.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::attested_by_evidence;
use super::fork::MAX_BRANCH;
use super::lines::note_of;
use super::squash::Squashed;
use crate::error::Result;
use crate::git::{Commit, Git, NOTES, Read, Remote};
use crate::proof::change::{ChangeIds, Sighting};
use crate::proof::digest::{ChangeId, CommitId, TreeId};
use crate::proof::note::NoteLine;
use crate::record::Workspace;

/// How deep squashes of squashes are followed.
const MAX_DEPTH: u32 = 3;

/// A walk over what is pushed, and over what that was made of.
pub(super) struct Walk<'a> {
    workspace: &'a Workspace,
    git: &'a Git,
    notes: TreeId,
    /// Whether commits that were squashed here are published, so that the squash can be checked.
    pub(super) squashed: bool,
    pub(super) sightings: BTreeSet<(ChangeId, Sighting)>,
    pub(super) keep: BTreeSet<CommitId>,
    pub(super) uncheckable: Vec<CommitId>,
    /// Commits that were looked at, and whether they are proven.
    seen: BTreeMap<CommitId, bool>,
}

impl<'a> Walk<'a> {
    /// `None` where nothing is anchored yet.
    pub(super) fn new(workspace: &'a Workspace, git: &'a Git) -> Result<Option<Self>> {
        let Some(notes) = git.tip_tree(NOTES)? else { return Ok(None) };
        let squashed = git.setting("proof.publishSquashed").is_none_or(|value| value != "false");
        let (sightings, keep, uncheckable, seen) = (BTreeSet::new(), BTreeSet::new(), Vec::new(), BTreeMap::new());
        Ok(Some(Self { workspace, git, notes, squashed, sightings, keep, uncheckable, seen }))
    }

    /// Looks at the commits which lead to these tips and which the remote does not have, after a base if there is one.
    pub(super) fn unpublished(
        &mut self,
        remote: &Remote,
        tips: &[CommitId],
        base: Option<&CommitId>,
    ) -> Result<Vec<CommitId>> {
        let mut arguments: Vec<String> = tips.iter().map(ToString::to_string).collect();
        let theirs = self.git.branches_of(&remote.name)?;
        arguments.extend(theirs.iter().chain(base).map(|id| format!("^{id}")));
        let mut commits = self.git.commits(&arguments)?;
        commits.truncate(MAX_BRANCH);
        for id in &commits {
            self.commit(id, 0)?;
        }
        Ok(commits)
    }

    /// Looks at the commits that a range of this clone may have become, among those that lead to these tips; whether there
    /// is one that it did become.
    pub(super) fn squashes_of(&mut self, range: &Squashed, tips: &[CommitId]) -> Result<bool> {
        let Some(onto) = &range.onto else { return Ok(false) };
        let whole = Sighting::Range { base: range.base, head: range.head };
        let mut found = false;
        for id in self.git.children(onto, tips)? {
            self.commit(&id, 0)?;
            if let Some(ids) = self.git.change_ids_of(&self.git.commit(&id)?)? {
                found |= self.workspace.store.sightings(&ids.wide)?.contains(&whole);
            }
        }
        Ok(found)
    }

    /// Whether a range is to be published.
    pub(super) fn has(&self, range: &Squashed) -> bool {
        let whole = Sighting::Range { base: range.base, head: range.head };
        self.sightings.iter().any(|(_, sighting)| *sighting == whole)
    }

    /// How many commits a range has; 0 if none of them is proven.
    pub(super) fn range(&mut self, base: &CommitId, head: &CommitId, depth: u32) -> Result<usize> {
        let commits = self.git.commits(&[&format!("{base}..{head}")])?;
        let mut anchored = false;
        for id in &commits {
            anchored |= self.commit(id, depth)?;
        }
        Ok(if anchored { commits.len() } else { 0 })
    }

    /// Whether a commit is proven: by its note, by its change, or as a range.
    fn commit(&mut self, id: &CommitId, depth: u32) -> Result<bool> {
        if let Some(known) = self.seen.get(id).filter(|_| depth == 0) {
            return Ok(*known);
        }
        let proven = self.is_proven(id, depth)?;
        if depth == 0 {
            self.seen.insert(*id, proven);
        }
        Ok(proven)
    }

    fn is_proven(&mut self, id: &CommitId, depth: u32) -> Result<bool> {
        if !note_of(self.git, &self.notes, id)?.is_empty() {
            return Ok(true);
        }
        let Some(ids) = self.git.change_ids_of(&self.git.commit(id)?)? else { return Ok(false) };
        let store = &self.workspace.store;
        let mut anchored = !store.anchored_with(&ids.wide)?.is_empty();
        let mut sightings = store.sightings(&ids.wide)?;
        sightings.extend(store.sightings(&ids.bare)?);
        for sighting in sightings {
            let Sighting::Range { base, head } = sighting else {
                anchored = true;
                continue;
            };
            // A range without any proof is not published.
            if self.squashed
                && depth < MAX_DEPTH
                && self.git.has(&head.0)
                && self.git.has(&base.0)
                && self.range(&base, &head, depth + 1)? > 0
            {
                anchored = true;
                self.sight(Some(ids), &base, &head)?;
            }
        }
        Ok(anchored)
    }

    /// Keeps alive the commits that a pushed one was made from, for example by `git pull --rebase` or `git commit
    /// --amend`: with them, others can check that git itself made the new commit from them. This happens only if it
    /// publishes nothing new. If it would, and others cannot check the new commit without them, the new commit is
    /// listed as uncheckable.
    pub(super) fn keep_originals(&mut self, tips: (&[CommitId], &[CommitId]), commit: &Commit) -> Result<()> {
        let originals = self.originals(commit)?;
        let mut checkable = originals.is_empty();
        for original in originals {
            let old = self.git.commit(&original)?;
            if self.is_publishable(tips, &original)? {
                self.keep.insert(original);
                if let Some(ids) = self.git.change_ids_of(&old)? {
                    self.sightings.extend(ids.sighted(Sighting::Commit(original)));
                }
                checkable = true;
            } else {
                checkable |= self.is_checkable_without(&old, commit)?;
            }
        }
        if !checkable && !note_of(self.git, &self.notes, &commit.id)?.is_empty() {
            self.uncheckable.push(commit.id);
        }
        Ok(())
    }

    /// Whether others can tell, without the original, that a commit makes the change that was proven.
    fn is_checkable_without(&self, original: &Commit, commit: &Commit) -> Result<bool> {
        if self.git.change_ids_of(original)?.map(|ids| ids.wide) != self.git.change_ids_of(commit)?.map(|ids| ids.wide)
        {
            return Ok(false);
        }
        let before = self.git.tree_of(commit.parents.first().copied())?;
        Ok(original.tree == commit.tree
            || self.git.ambiguity(&self.git.diff(before.as_ref(), Some(&commit.tree))?)?.is_none())
    }

    /// The commits at hand that may be what a pushed one was before: those that its sessions attest, and those with the
    /// same change.
    fn originals(&self, commit: &Commit) -> Result<Vec<CommitId>> {
        let mut found = BTreeSet::new();
        for line in note_of(self.git, &self.notes, &commit.id)? {
            if let Ok(Some(NoteLine::Anchor { anchor, .. })) = NoteLine::parse(&line) {
                found.extend(attested_by_evidence(self.git, &anchor.root)?);
            }
        }
        // A session that attests the commit itself needs no other.
        if found.contains(&commit.id) {
            return Ok(Vec::new());
        }
        if let Some(ids) = self.git.change_ids_of(commit)? {
            let store = &self.workspace.store;
            found.extend(store.anchored_with(&ids.wide)?);
            for sighting in store.sightings(&ids.bare)? {
                if let Sighting::Commit(other) = sighting {
                    found.insert(other);
                }
            }
        }
        let is_one = |id: &CommitId| {
            let old = self.git.commit(id);
            *id != commit.id && old.is_ok_and(|old| self.git.is_rewrite(&old, commit) == Ok(true))
        };
        Ok(found.into_iter().filter(is_one).collect())
    }

    /// Whether publishing an original, and all that leads to it, tells nothing that the pushed commits do not tell: one of
    /// them was made by the same author, makes the same change, and has every line of the message. The remote has `theirs`,
    /// and `heads` are pushed.
    fn is_publishable(&self, (theirs, heads): (&[CommitId], &[CommitId]), original: &CommitId) -> Result<bool> {
        let mut arguments = vec![original.to_string()];
        arguments.extend(theirs.iter().chain(heads).map(|tip| format!("^{tip}")));
        let hidden = self.git.commits(&arguments)?;
        if hidden.is_empty() {
            return Ok(true);
        }
        let mut arguments = vec![format!("^{original}")];
        arguments.extend(heads.iter().map(ToString::to_string));
        let shown = self.git.commits(&arguments)?;
        if hidden.len() > MAX_BRANCH || shown.len() > MAX_BRANCH {
            return Ok(false);
        }
        let shown: Vec<Commit> = shown.iter().map(|id| self.git.commit(id)).collect::<Read<_>>()?;
        for id in hidden {
            let old = self.git.commit(&id)?;
            let is_told = |new: &Commit| {
                new.author == old.author
                    && has_lines_of(&new.message, &old.message)
                    && self.git.is_rewrite(&old, new) == Ok(true)
            };
            if !shown.iter().any(is_told) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn sight(&mut self, change: Option<ChangeIds>, base: &CommitId, head: &CommitId) -> Result<()> {
        let ids = match change {
            None => {
                let (from, till) = (self.git.commit(base)?.tree, self.git.commit(head)?.tree);
                self.git.change_ids(&self.git.diff(Some(&from), Some(&till))?)?
            }
            known => known,
        };
        if let Some(ids) = ids {
            self.sightings.extend(ids.sighted(Sighting::Range { base: *base, head: *head }));
            self.keep.insert(*head);
        }
        Ok(())
    }
}

/// Whether a message has every line that another one has.
fn has_lines_of(message: &[u8], other: &[u8]) -> bool {
    let lines = |text: &'_ [u8]| -> BTreeSet<Vec<u8>> {
        text.split(|byte| *byte == b'\n').map(|line| line.trim_ascii_end().to_vec()).collect()
    };
    let there = lines(message);
    lines(other).iter().all(|line| line.is_empty() || there.contains(line))
}
