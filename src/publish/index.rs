//! The index of changes: where each anchored change was seen, so that it is found again after a rewrite that no hook saw,
//! and so that what was pushed stays checkable when its branch is gone.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::attested_by_evidence;
use super::lines::note_of;
use super::squash as squashing;
use super::squash::Squashed;
use crate::error::Result;
use crate::git::limits::{MAX_INDEX_LINES, MAX_MERGED_NOTE, MAX_NOTE};
use crate::git::{CHANGES, Commit, Fanned, Git, NOTES, ObjectError, Read, Remote};
use crate::proof::change::{ChangeIds, Sighting};
use crate::proof::digest::{ChangeId, CommitId, TreeId};
use crate::proof::note::NoteLine;
use crate::record::Workspace;

/// How deep squashes of squashes are followed.
const MAX_DEPTH: u32 = 3;
/// Commits of a branch among which its fork point is looked for.
const MAX_BRANCH: usize = 1000;

/// A branch that is being pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    /// Its name on the remote, such as `refs/heads/topic`.
    pub name: String,
    /// The commit that it is set to.
    pub head: CommitId,
    /// The commit where it was on the remote, if it was there.
    pub was: Option<CommitId>,
}

/// What came of indexing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Indexed {
    /// How many ranges are new.
    pub ranges: u64,
    /// The commits that are proven here and that others cannot check: each was rewritten before it was pushed, the session
    /// names the commit as it was, and to publish that one would tell what was not pushed.
    pub uncheckable: Vec<CommitId>,
}

/// Adds the anchors that no remote has yet, the branches that were pushed before they were anchored, or without the hook,
/// and the squashes of this clone that the remote has. A commit is kept alive only where the remote has it anyway, or where it
/// tells nothing that the remote does not have: one that nobody pushed is nobody's to publish.
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
    let prefix = format!("refs/remotes/{}", remote.name);
    let theirs: Vec<CommitId> = git.refs_below(&prefix)?.into_iter().map(|(_, tip)| tip).collect();
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
    let tips: Vec<CommitId> = git
        .refs_below(&format!("refs/remotes/{}", git.code_remote(remote).name))?
        .into_iter()
        .map(|(_, tip)| tip)
        .collect();
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

/// A walk over what is pushed, and over what that was made of.
struct Walk<'a> {
    workspace: &'a Workspace,
    git: &'a Git,
    notes: TreeId,
    /// Whether commits that were squashed here are published, so that the squash can be checked.
    squashed: bool,
    sightings: BTreeSet<(ChangeId, Sighting)>,
    keep: BTreeSet<CommitId>,
    uncheckable: Vec<CommitId>,
    /// Commits that were looked at, and whether they are proven.
    seen: BTreeMap<CommitId, bool>,
}

impl<'a> Walk<'a> {
    /// `None` where nothing is anchored yet.
    fn new(workspace: &'a Workspace, git: &'a Git) -> Result<Option<Self>> {
        let Some(notes) = git.tip(NOTES)? else { return Ok(None) };
        let notes = git.commit(&notes)?.tree;
        let squashed = git.setting("proof.publishSquashed").is_none_or(|value| value != "false");
        let (sightings, keep, uncheckable, seen) = (BTreeSet::new(), BTreeSet::new(), Vec::new(), BTreeMap::new());
        Ok(Some(Self { workspace, git, notes, squashed, sightings, keep, uncheckable, seen }))
    }

    /// Looks at the commits which lead to these tips and which the remote does not have, after a base if there is one.
    fn unpublished(&mut self, remote: &Remote, tips: &[CommitId], base: Option<&CommitId>) -> Result<Vec<CommitId>> {
        let mut arguments: Vec<String> = tips.iter().map(ToString::to_string).collect();
        let theirs = self.git.refs_below(&format!("refs/remotes/{}", remote.name))?;
        arguments.extend(theirs.iter().map(|(_, tip)| tip).chain(base).map(|id| format!("^{id}")));
        let mut commits = self.git.commits(&arguments)?;
        commits.truncate(MAX_BRANCH);
        for id in &commits {
            self.commit(id, 0)?;
        }
        Ok(commits)
    }

    /// Looks at the commits that a range of this clone may have become, among those that lead to these tips; whether there
    /// is one that it did become.
    fn squashes_of(&mut self, range: &Squashed, tips: &[CommitId]) -> Result<bool> {
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
    fn has(&self, range: &Squashed) -> bool {
        let whole = Sighting::Range { base: range.base, head: range.head };
        self.sightings.iter().any(|(_, sighting)| *sighting == whole)
    }

    /// How many commits a range has; 0 if none of them is proven.
    fn range(&mut self, base: &CommitId, head: &CommitId, depth: u32) -> Result<usize> {
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
            // What has no proof in it stays at home.
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

    /// Keeps the commits alive of which a pushed one was made before it was pushed, such as by `git pull --rebase` or
    /// `git commit --amend`: with them, others can check that git itself made the new one of them. Only where that publishes
    /// nothing new. Where it would, and the new commit cannot be checked without them, that is noted.
    fn keep_originals(&mut self, tips: (&[CommitId], &[CommitId]), commit: &Commit) -> Result<()> {
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
        let before =
            commit.parents.first().map(|parent| self.git.commit(parent)).transpose()?.map(|parent| parent.tree);
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

    fn sight(&mut self, change: Option<ChangeIds>, base: &CommitId, head: &CommitId) -> Result<()> {
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

/// Where a branch may be merged to: where it left the remote's main branch, and where it left the nearest of the others;
/// or else what the remote has of the branch itself.
fn bases_of(git: &Git, remote: &Remote, branch: &Pushed) -> Result<BTreeSet<CommitId>> {
    let prefix = format!("refs/remotes/{}", remote.name);
    let own = branch.name.replacen("refs/heads", &prefix, 1);
    let mut others = git.refs_below(&prefix)?;
    others.retain(|(name, tip)| *name != own && *tip != branch.head && git.has(&tip.0));
    let mut bases = BTreeSet::new();
    let main = ["HEAD", "main", "master"].iter().find_map(|name| {
        let name = format!("{prefix}/{name}");
        others.iter().find(|(other, _)| *other == name).map(|(_, tip)| *tip)
    });
    if let Some(main) = main {
        bases.extend(git.merge_base(&main, &branch.head)?);
    }
    bases.extend(nearest_fork(git, branch, &others)?);
    if bases.is_empty()
        && let Some(was) = branch.was.filter(|was| git.has(&was.0))
    {
        bases.extend(git.merge_base(&was, &branch.head)?);
    }
    bases.remove(&branch.head);
    Ok(bases)
}

/// Where a branch left the others: of the parents that are theirs, the one with the least after it.
fn nearest_fork(git: &Git, branch: &Pushed, others: &[(String, CommitId)]) -> Result<Option<CommitId>> {
    if others.is_empty() {
        return Ok(None);
    }
    let mut arguments = vec![branch.head.to_string()];
    arguments.extend(others.iter().map(|(_, tip)| format!("^{tip}")));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let alone: BTreeSet<CommitId> = git.commits(&arguments)?.into_iter().collect();
    if alone.len() > MAX_BRANCH {
        return Ok(None);
    }
    let mut forks = BTreeSet::new();
    for commit in &alone {
        forks.extend(git.commit(commit)?.parents.into_iter().filter(|parent| !alone.contains(parent)));
    }
    let mut nearest = None;
    for fork in forks {
        let after = git.commits(&[&format!("{fork}..{}", branch.head)])?.len();
        if nearest.is_none_or(|(least, _)| after < least) {
            nearest = Some((after, fork));
        }
    }
    Ok(nearest.map(|(_, fork)| fork))
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
        let tree = tip.map(|tip| git.commit(&tip).map(|commit| commit.tree)).transpose()?;
        let mut files = Vec::new();
        let mut ranges = BTreeSet::new();
        for (change, lines) in &by_change {
            let name = change.to_string();
            let mut there = BTreeSet::new();
            if let Some(tree) = &tree
                && let Fanned::File(blob) = git.find_fanned(tree, &name)?
            {
                let text = match git.blob(&blob, MAX_MERGED_NOTE) {
                    // Whoever filled it has made it useless for this change; a note still proves its own commit.
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
            // What an earlier line keeps alive needs no second parent.
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
