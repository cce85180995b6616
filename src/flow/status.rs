//! `status`: the session you are in, what is missing before it is proven, what no remote has yet, and the next command.

use serde::Serialize;

use crate::agents::close_abandoned;
use crate::error::{Code, Result};
use crate::git::Git;
use crate::hint::{Hint, Step};
use crate::judge::{CommitVerdict, VerifyRequest, verify};
use crate::proof::digest::CommitId;
use crate::proof::finding::{Finding, Verdict};
use crate::proof::observed::{Event, Marks};
use crate::proof::record::{Body, Id, RecordType};
use crate::proof::timestamp::Timestamp;
use crate::publish::{nobodys, staged_change};
use crate::record::Workspace;
use crate::setup::{HookState, hook_states};
use crate::store::SessionRow;

/// How things stand.
#[derive(Debug, Clone, Serialize)]
pub struct StatusOutcome {
    /// The session you are in.
    pub session: Option<SessionStatus>,
    /// The finalized session that explains what is staged, and waits for the commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Id>,
    /// All sessions that are open in this clone.
    pub open_sessions: Vec<SessionStatus>,
    /// The commits with proofs that no remote is known to have.
    pub unpublished: Vec<CommitId>,
    /// The commits that no session explains, although a proof is required, or because no hook of git told whose they are.
    pub uncovered: Vec<CommitId>,
    /// The hooks of git, and whether they call this program.
    pub hooks: Vec<HookState>,
    /// What to do next: one command.
    pub next: Hint,
}

/// How a session stands.
#[derive(Debug, Clone, Serialize)]
pub struct SessionStatus {
    pub session_id: Id,
    pub intent: String,
    pub caller: String,
    pub started_at: Timestamp,
    /// Number of its entries.
    pub count: u64,
    /// The commits that it attests.
    pub commits: Vec<CommitId>,
    /// The steps that are missing before its commits are proven.
    pub missing: Vec<&'static str>,
    /// The agent whose session it is; it closes by itself.
    pub agent: Option<String>,
    /// What closes it, if nobody but a person does.
    pub close: Option<Hint>,
    /// How many days it has been open.
    pub days_open: u64,
    /// Whether it has commits and none of them leads to HEAD, as after a change of the branch.
    pub is_elsewhere: bool,
}

/// The least that is worth a look, for a prompt or an editor.
#[derive(Debug, Clone, Serialize)]
pub struct ShortStatus {
    /// The session you are in.
    pub session: Option<SessionStatus>,
    /// How many commits have proofs that no remote is known to have.
    pub unpublished: usize,
}

/// Seconds of a day.
const DAY: i64 = 24 * 60 * 60;

/// Most unpushed commits that are judged.
const MOST_JUDGED: usize = 50;

const NO_COMMIT: &str = "a commit";
const NO_REFLECTION: &str = "a closing reflection";
const NOT_FINALIZED: &str = "finalizing";

/// How things stand in this worktree, at a glance: nothing is judged, closed or looked up elsewhere.
pub fn short_status(workspace: &mut Workspace) -> Result<ShortStatus> {
    Ok(ShortStatus { session: current(workspace)?, unpublished: unpublished(workspace)?.len() })
}

/// The session you are in.
fn current(workspace: &mut Workspace) -> Result<Option<SessionStatus>> {
    let session = match workspace.session(None) {
        Ok(id) => workspace.store.session(&id).ok().filter(SessionRow::is_open),
        Err(error) if error.code == Code::SessionNotFound => None,
        Err(error) => return Err(error),
    };
    let Some(mut session) = session.map(|row| describe(workspace, &row)).transpose()? else { return Ok(None) };
    let git = workspace.git()?;
    if let Some(head) = git.tip("HEAD")?.filter(|_| session.agent.is_none()) {
        let outside = git.outside(&session.commits, &head)?;
        session.is_elsewhere =
            !session.commits.is_empty() && session.commits.iter().all(|commit| outside.contains(commit));
    }
    Ok(Some(session))
}

/// The finalized session of this worktree that explains exactly what is staged now.
fn waiting(workspace: &Workspace) -> Result<Option<Id>> {
    let id = match workspace.session(None) {
        Ok(id) => id,
        Err(error) if error.code == Code::SessionNotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if workspace.store.root(&id).ok().flatten().is_none() {
        return Ok(None);
    }
    let staged = staged_change(workspace)?;
    let attested = workspace.store.attested(&id)?;
    Ok(staged.filter(|staged| attested.contains(staged)).map(|_| id))
}

/// The commits with proofs that no remote is known to have.
fn unpublished(workspace: &Workspace) -> Result<Vec<CommitId>> {
    let mut commits: Vec<CommitId> = workspace.store.unseen_after(0)?.0.into_iter().map(|(commit, _)| commit).collect();
    commits.sort_unstable();
    commits.dedup();
    Ok(commits)
}

/// How things stand in this worktree.
pub fn status(workspace: &mut Workspace) -> Result<StatusOutcome> {
    close_abandoned(workspace)?;
    let session = current(workspace)?;
    let mut open_sessions = Vec::new();
    for id in workspace.store.open_sessions()? {
        open_sessions.push(describe(workspace, &workspace.store.session(&id)?)?);
    }
    let unpublished = unpublished(workspace)?;
    let hooks = hook_states(&workspace.context)?;
    let git = workspace.git()?;
    let uncovered = if session.is_some() { Vec::new() } else { uncovered(workspace, &git)? };
    let abandoned = open_sessions.iter().find(|session| session.is_abandoned());
    let waiting = if session.is_some() { None } else { waiting(workspace)? };
    let next = match waiting {
        Some(_) => Step::GitCommit,
        None => next(session.as_ref(), abandoned, &uncovered, &unpublished, &hooks, git.main_remote().is_some()),
    };
    Ok(StatusOutcome { session, waiting, open_sessions, unpublished, uncovered, hooks, next: next.into() })
}

/// Commits that `cover` would explain: those of which no hook told whose they are, and those that no remote has yet and
/// whose proof is required and missing, or was lost when they were rewritten. Oldest first.
fn uncovered(workspace: &Workspace, git: &Git) -> Result<Vec<CommitId>> {
    let mut commits = nobodys(workspace, git)?;
    let unpushed = git.unpushed(MOST_JUDGED)?;
    let began = workspace.store.first_session()?.map(|first| first.seconds());
    let has_remote = !git.remote_names().is_empty();
    let head = git.tip("HEAD")?;
    // Without a remote all of history is unpushed; commits older than the first session are not counted.
    let is_meant = |id: &CommitId| {
        has_remote
            || head == Some(*id)
            || git.commit(id).is_ok_and(|commit| began.is_some_and(|began| commit.committed >= began))
    };
    let revisions: Vec<String> = unpushed.iter().filter(|id| is_meant(id)).map(ToString::to_string).collect();
    if !revisions.is_empty()
        // If nothing can be judged, `verify` and the hooks report why.
        && let Ok(judged) = verify(&workspace.context, &VerifyRequest { revisions, ..VerifyRequest::default() })
    {
        let lacks = |commit: &&CommitVerdict| {
            matches!(commit.verdict, Verdict::Missing | Verdict::Fail)
                && commit.findings.iter().any(Finding::is_helped_by_cover)
        };
        let lacking = judged.commits.iter().rev().filter(lacks).map(|commit| commit.commit);
        commits.extend(lacking.filter(|id| !commits.contains(id)).collect::<Vec<_>>());
    }
    Ok(commits)
}

impl SessionStatus {
    /// Whether a person opened it more than a day ago, and never closed it.
    fn is_abandoned(&self) -> bool {
        self.close.is_some() && self.days_open > 0
    }

    /// What closes it: a session without commits needs no reflection.
    fn closing_step(&self) -> Step {
        let id = self.session_id.to_string();
        if self.missing.contains(&NO_COMMIT) { Step::End(id) } else { Step::Done(id) }
    }
}

fn describe(workspace: &Workspace, row: &SessionRow) -> Result<SessionStatus> {
    let attested = workspace.store.attested(row.id())?;
    let commits: Vec<CommitId> = attested.iter().filter_map(|said| said.commit).collect();
    let agent = workspace.store.agent_of(row.id())?.map(|agent| agent.agent);
    let mut missing = Vec::new();
    if attested.is_empty() {
        missing.push(NO_COMMIT);
    }
    if agent.is_none() {
        if row.opening.proof_grade && !ends_in_reflection(workspace, row)? {
            missing.push(NO_REFLECTION);
        }
        missing.push(NOT_FINALIZED);
    }
    let mut session = SessionStatus {
        session_id: row.id().clone(),
        intent: row.opening.intent.clone(),
        caller: row.opening.caller.clone(),
        started_at: row.opening.started_at,
        count: row.count,
        commits,
        missing,
        agent,
        close: None,
        days_open: u64::try_from((workspace.context.seconds() - row.opening.started_at.seconds()) / DAY).unwrap_or(0),
        is_elsewhere: false,
    };
    session.close = session.agent.is_none().then(|| session.closing_step().into());
    Ok(session)
}

fn ends_in_reflection(workspace: &Workspace, row: &SessionRow) -> Result<bool> {
    let log = workspace.store.log(row.id(), Some(1))?;
    let Some(stored) = log.entries.last() else { return Ok(false) };
    let Some(entry) = stored.entry()? else { return Ok(false) };
    let stated = matches!(Marks::of(entry.metadata.as_deref()).event, None | Some(Event::Restated));
    Ok(stated && matches!(entry.body, Body::Thought { kind: RecordType::Reflection, .. }))
}

fn next(
    session: Option<&SessionStatus>,
    abandoned: Option<&SessionStatus>,
    uncovered: &[CommitId],
    unpublished: &[CommitId],
    hooks: &[HookState],
    has_remote: bool,
) -> Step {
    match session {
        Some(session) if session.missing.contains(&NO_COMMIT) && session.is_abandoned() => session.closing_step(),
        Some(session) if session.missing.contains(&NO_COMMIT) => Step::GitCommit,
        Some(session) if session.missing.contains(&NO_REFLECTION) => Step::DoneHere,
        Some(session) if session.agent.is_none() => Step::FinalizeHere,
        Some(_) if has_remote => Step::GitPush,
        _ if hooks.iter().any(|hook| !hook.wired) => Step::Init,
        _ if !uncovered.is_empty() => cover(uncovered),
        _ if !unpublished.is_empty() && has_remote => Step::Sync,
        _ => abandoned.map_or(Step::Start, SessionStatus::closing_step),
    }
}

/// The command that covers these commits. It asks for the reasons, so that no other command is needed.
fn cover(commits: &[CommitId]) -> Step {
    let ids: Vec<String> = commits.iter().map(|commit| commit.to_string()[..12].to_owned()).collect();
    Step::Cover(ids.join(" "))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn session_that_was_left_open_is_closed_before_another_is_started() {
        let mut session = SessionStatus {
            session_id: Id::parse("s").unwrap(),
            intent: String::new(),
            caller: String::new(),
            started_at: Timestamp::parse("2026-01-02T03:04:05.678Z").unwrap(),
            count: 0,
            commits: Vec::new(),
            missing: vec![NO_REFLECTION, NOT_FINALIZED],
            agent: None,
            close: None,
            days_open: 1,
            is_elsewhere: false,
        };
        let next = |session: &SessionStatus| next(None, Some(session), &[], &[], &[], false);
        assert_eq!(next(&session), Step::Done("s".into()));
        session.missing.push(NO_COMMIT);
        assert_eq!(next(&session), Step::End("s".into()));
    }
}
