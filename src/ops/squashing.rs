//! Commits that are made of a whole range by hand: what `git merge --squash` and `git reset` leave behind says which range
//! it was. It is remembered as a place to look, in this clone; whatever is found there is verified.

use super::workspace::Workspace;
use crate::context::read_text;
use crate::error::Result;
use crate::git::Git;
use crate::proof::change::Sighting;
use crate::proof::digest::CommitId;

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
        workspace.store.sight(&ids.sighted(Sighting::Range { base, head: squashed }))?;
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
        workspace.store.sight(&ids.sighted(Sighting::Range { base: *base, head: before }))?;
    }
    Ok(())
}
