//! Commits that are made of a whole range by hand: what `git merge --squash` and `git reset` leave behind says which range
//! it was. It is remembered as a place to look, in this clone; whatever is found there is verified. A ref of this clone
//! keeps the commits of the range from being pruned until `sync` has published them.

use crate::context::read_text;
use crate::error::Result;
use crate::git::{Git, ORIGINALS};
use crate::proof::change::{ChangeIds, Sighting};
use crate::proof::digest::CommitId;
use crate::record::Workspace;

/// Before a commit: what is staged may be a branch that `git merge --squash` has brought.
pub fn before_squash(workspace: &mut Workspace, git: &Git) -> Result<()> {
    let Some(message) = read_text(&workspace.repository.git_dir.join("SQUASH_MSG")) else { return Ok(()) };
    // The newest commit comes first.
    let Some(squashed) = message.lines().find_map(|line| CommitId::parse(line.strip_prefix("commit ")?)) else {
        return Ok(());
    };
    let (Some(head), Some(tree)) = (git.tip("HEAD")?, git.staged_tree()?) else { return Ok(()) };
    let Some(base) = git.merge_base(&head, &squashed)? else { return Ok(()) };
    let (ours, from, till) = (git.commit(&head)?.tree, git.commit(&base)?.tree, git.commit(&squashed)?.tree);
    if git.is_merge_of_trees((Some(&from), &till), (Some(&ours), &tree))?
        && let Some(ids) = git.change_ids(&git.diff(Some(&ours), Some(&tree))?)?
    {
        remember(workspace, git, ids, Squashed { onto: Some(head), base, head: squashed })?;
    }
    Ok(())
}

/// After a commit: `git reset --soft` may have left its tree, and where HEAD was before.
pub(super) fn after_reset(workspace: &mut Workspace, git: &Git, head: &CommitId) -> Result<()> {
    let commit = git.commit(head)?;
    let ([base], Some(before)) = (commit.parents.as_slice(), git.tip("ORIG_HEAD")?) else { return Ok(()) };
    let Ok(old) = git.commit(&before) else { return Ok(()) };
    // Of one commit, the change itself tells.
    if old.tree != commit.tree
        || old.id == commit.id
        || old.parents.contains(base)
        || !git.is_ancestor(base, &before)?
    {
        return Ok(());
    }
    if let Some(ids) = git.change_ids_of(&commit)? {
        remember(workspace, git, ids, Squashed { onto: Some(*base), base: *base, head: before })?;
    }
    Ok(())
}

/// The same for the commit at HEAD, whose hook may have been killed.
pub fn squashed_at_head(workspace: &mut Workspace, git: &Git) -> Result<()> {
    git.tip("HEAD")?.map_or(Ok(()), |head| after_reset(workspace, git, &head))
}

/// A range that became one commit here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Squashed {
    /// The parent of that commit.
    pub(super) onto: Option<CommitId>,
    pub(super) base: CommitId,
    pub(super) head: CommitId,
}

/// Remembers a range under the change of the commit that it became, and keeps its commits alive.
pub(super) fn remember(workspace: &mut Workspace, git: &Git, ids: ChangeIds, range: Squashed) -> Result<()> {
    let Squashed { onto, base, head } = range;
    let whole = Sighting::Range { base, head };
    if workspace.store.sightings(&ids.wide)?.contains(&whole) {
        return Ok(());
    }
    // The ref comes first: what is remembered was kept alive once, and may have been published since.
    if let Some(onto) = onto {
        git.move_ref(&format!("{ORIGINALS}/{onto}/{base}/{head}"), None, &head, "git-proof: squashed")?;
    }
    workspace.store.sight(&ids.sighted(whole))
}

/// The ranges whose commits are kept alive, with their refs.
pub(super) fn kept(git: &Git) -> Result<Vec<(String, Squashed)>> {
    let read = |(name, head): (String, CommitId)| {
        let mut ids = name.strip_prefix(ORIGINALS)?.split('/').skip(1).map(CommitId::parse);
        let range = Squashed { onto: ids.next()?, base: ids.next()??, head };
        Some((name, range))
    };
    Ok(git.refs_below(ORIGINALS)?.into_iter().filter_map(read).collect())
}
