//! Commits of a person's session that no hook of git told about, because the hooks are switched off, or because another
//! tool replaced them. They are found in the reflog of HEAD, before the session is closed, in clones where a hook of ours
//! has run before: elsewhere somebody chose to work without hooks, and is told of `cover` by `status`. Rather nobody's than the wrong
//! one's: what a rebase or a cherry-pick brought along was written by somebody else or at another time, and where an agent
//! is at work too, a commit may be the agent's.

use super::commit_hooks::attest;
use crate::error::Result;
use crate::git::{Commit, Git};
use crate::proof::digest::CommitId;
use crate::proof::record::{Id, RecordType};
use crate::record::Workspace;

/// How many days `status` looks back.
const DAYS: i64 = 7;
/// Most commits that `status` offers to cover.
const MOST: usize = 20;

/// Attests the commits that were made in this worktree since a person opened the session, and that no hook has seen. The
/// answer are those commits.
pub(crate) fn attest_unheard(workspace: &mut Workspace, session: &Id) -> Result<Vec<CommitId>> {
    let row = workspace.store.session(session)?;
    let began = row.opening.started_at;
    let here = workspace.repository.worktree();
    // In the second in which the session began, the reflog cannot tell what came first.
    let is_ours = row.is_open() && workspace.store.current_session(&here)?.as_ref() == Some(session);
    if !is_ours
        || !workspace.store.has_seen_any()?
        || is_closed(workspace, session)?
        || workspace.store.agent_seen_since(&here, began)?
    {
        return Ok(Vec::new());
    }
    let git = workspace.git()?;
    let mut found = Vec::new();
    for commit in unseen(workspace, &git, began.seconds() + 1)? {
        if commit.author_seconds() > began.seconds() && attest(workspace, &git, session, &commit.id, false)? {
            workspace.store.see_commit(&commit.id, workspace.context.now())?;
            found.push(commit.id);
        }
    }
    Ok(found)
}

/// Whether a reflection closes the session. It must stay the last entry.
fn is_closed(workspace: &Workspace, session: &Id) -> Result<bool> {
    let log = workspace.store.log(session, Some(1))?;
    let is_reflection = log.entries.last().is_some_and(|last| last.kind == Some(RecordType::Reflection));
    Ok(log.session.opening.proof_grade && is_reflection)
}

/// The newest commits of the last days that were made in this worktree, are part of HEAD, and that no hook has
/// seen, oldest first. `cover` explains them.
pub(crate) fn nobodys(workspace: &Workspace, git: &Git) -> Result<Vec<CommitId>> {
    let since = workspace.context.seconds() - DAYS * 24 * 60 * 60;
    // Before the first session nobody meant to record anything.
    let Some(first) = workspace.store.first_session()? else { return Ok(Vec::new()) };
    let mut commits: Vec<CommitId> =
        unseen(workspace, git, since.max(first.seconds() + 1))?.into_iter().map(|commit| commit.id).collect();
    commits.drain(..commits.len().saturating_sub(MOST));
    Ok(commits)
}

/// The commits since a time that no hook has seen and that are part of HEAD, oldest first.
fn unseen(workspace: &Workspace, git: &Git, since: i64) -> Result<Vec<Commit>> {
    let mut candidates: Vec<CommitId> = Vec::new();
    for id in git.made_after(since) {
        let is_known = workspace.store.has_seen(&id)? || !workspace.store.lines(Some(&id))?.is_empty();
        if !is_known && !candidates.contains(&id) && git.has(&id.0) {
            candidates.push(id);
        }
    }
    let Some(head) = git.tip("HEAD")?.filter(|_| !candidates.is_empty()) else { return Ok(Vec::new()) };
    // One that was amended or dropped needs no explanation any more.
    let dropped = git.outside(&candidates, &head)?;
    candidates.retain(|id| !dropped.contains(id));
    Ok(candidates.iter().map(|id| git.commit(id)).collect::<Result<_, _>>()?)
}
