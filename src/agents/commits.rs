//! Commits and agents: a session is ready before a commit of an agent is made, and commits that no hook of git told about
//! are found in the reflog. Rather nobody's than the wrong agent's.

use super::close;
use super::session::{self, append, ensure_open, open_session};
use crate::error::Result;
use crate::git::{self, Git, reflog_place};
use crate::proof::digest::CommitId;
use crate::publish;
use crate::record::{self, Whose, Workspace};
use crate::store::{AgentKey, AgentRow, OpenCall};

/// Where an agent makes a commit, its session is open. One that it finalized itself stays the last one if the commit is of
/// what that session attested while it was staged. `made`: the commit is HEAD now, and what the agent said before is no
/// longer its last word.
pub fn ready_for_commit(workspace: &mut Workspace, git: &Git, made: bool) -> Result<()> {
    if workspace.context.variable("GIT_PROOF_SESSION").is_some() {
        return Ok(());
    }
    let row = match record::whose(workspace)? {
        Whose::Agent(row) => *row,
        Whose::Unclear => return Ok(()),
        // An agent whose own hooks are off is known by nothing but its commits.
        Whose::Person => match meet(workspace)? {
            Some(row) => row,
            None => return Ok(()),
        },
    };
    if open_session(workspace, &row)?.is_some() {
        return if made { append(workspace, row.key(), &[], true).map(|_| ()) } else { Ok(()) };
    }
    if let Some(session) = &row.session
        && let Some(tree) = git.staged_tree()?
        && workspace.store.attested(session)?.iter().any(|said| said.commit.is_none() && said.tree == tree)
    {
        return Ok(());
    }
    if made { append(workspace, row.key(), &[], true) } else { ensure_open(workspace, row.key()) }.map(|_| ())
}

/// Makes the agent that the environment names known here; `None` where it names none, or several.
fn meet(workspace: &mut Workspace) -> Result<Option<AgentRow>> {
    let named = record::agents_in_environment(workspace)?;
    let Some((agent, session)) = named.first() else { return Ok(None) };
    if named.iter().any(|(other, _)| other != agent) {
        return Ok(None);
    }
    session::meet(workspace, AgentKey { agent: agent.as_str(), session })
}

/// Remembers a commit that a hook has seen: it is somebody's or nobody's, and no longer to be looked for.
pub fn saw_commit(workspace: &mut Workspace, commit: &CommitId) -> Result<()> {
    workspace.store.see_commit(commit, workspace.context.now()).map(|_| ())
}

/// Forgets the open calls of agents that no longer run, so that they do not cast doubt on those of others.
pub(super) fn forget_dead_callers(workspace: &mut Workspace, worktree: &str, own: AgentKey<'_>) -> Result<()> {
    let mut looked_at: Vec<(String, String)> = Vec::new();
    for call in workspace.store.open_calls(worktree)? {
        let name = (call.agent.clone(), call.agent_session.clone());
        if (name.0 == own.agent && name.1 == own.session) || looked_at.contains(&name) {
            continue;
        }
        let key = AgentKey { agent: &name.0, session: &name.1 };
        let process = workspace.store.agent(key)?.and_then(|row| row.process);
        if process.as_deref().and_then(git::is_running) == Some(false) {
            workspace.store.forget_calls(key)?;
        }
        looked_at.push(name);
    }
    Ok(())
}

/// After a shell call: commits that were made meanwhile and that no hook has seen are the agent's, unless another agent had
/// a call open in this worktree.
///
/// The answer is whether a session was closed because its commits were pushed, and no hook of git saw that.
pub(super) fn after_call(workspace: &mut Workspace, key: AgentKey<'_>, call: &OpenCall) -> Result<bool> {
    let begun = call.at.seconds();
    let now = reflog_place(&workspace.repository, begun);
    if now.split('@').next() == call.reflog.split('@').next() && !call.command.contains("push") {
        return Ok(false);
    }
    let git = workspace.git()?;
    for commit in git.made_since(&call.reflog) {
        // What may be of either agent is nobody's, and `status` offers to cover it. So is a commit that appears while a command
        // runs that makes none: a person's client may run no hooks, either.
        if call.shared
            || !may_commit(&call.command)
            || !workspace.store.see_commit(&commit, workspace.context.now())?
            || !git.has(&commit.0)
        {
            continue;
        }
        let session = append(workspace, key, &[], true)?;
        publish::attest(workspace, &git, &session, &commit, false)?;
    }
    // An agent that switches git's hooks off has none when it pushes either.
    if call.command.contains("push")
        && git.was_pushed_after(begun)
        && let Some(row) = workspace.store.agent(key)?
    {
        return Ok(close::close(workspace, &row, true)?.is_some_and(|closed| closed.finalized));
    }
    Ok(false)
}

/// Whether a command line says that it works with git. A script that does not say so in its name is not believed.
fn may_commit(command: &str) -> bool {
    let command = command.to_ascii_lowercase();
    ["git", "commit"].iter().any(|word| command.contains(word))
}
