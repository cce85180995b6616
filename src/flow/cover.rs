//! `cover`: explains commits that exist already, in the open session or in one of its own. The way out of a forgotten
//! `start`, a hook that did not run, and a rewrite that no proof follows. The record says that it came afterwards.

use serde::Serialize;

use super::finalize::{FinalizeOutcome, close};
use crate::agents::saw_commit;
use crate::error::{Code, Error, Result};
use crate::git::Git;
use crate::hint::{Step, hint};
use crate::judge::range_ids;
use crate::proof::digest::CommitId;
use crate::proof::record::Id;
use crate::publish::attest;
use crate::record::{
    MAX_BODY, RecordRequest, StartRequest, Workspace, acceptable, find_secret, open_session, record_unstaged,
};

/// What `cover` did.
#[derive(Debug, Clone, Serialize)]
pub struct CoverOutcome {
    pub session_id: Id,
    /// Whether it was opened for this.
    pub opened: bool,
    pub commits: Vec<CoveredCommit>,
    /// Its root and its anchors, where it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finalized: Option<FinalizeOutcome>,
}

#[derive(Debug, Clone, Serialize)]
pub struct CoveredCommit {
    pub commit: CommitId,
    /// The first line of its message.
    pub subject: String,
    /// Whether it was attested now; `false` if the session had done so.
    pub attested: bool,
}

/// Most commits that one session is to explain afterwards: nobody remembers why more were made.
const MOST: usize = 1000;

/// Attests commits and ranges that exist already: in the session that is named, else in the one that is open here, else in a
/// new one. A reflection closes the session; without one it stays open.
pub fn cover(
    workspace: &mut Workspace,
    revisions: &[String],
    named: Option<&str>,
    reflection: Option<&str>,
) -> Result<CoverOutcome> {
    if let Some(reflection) = reflection {
        acceptable("the reflection", reflection, MAX_BODY)?;
    }
    let git = workspace.git()?;
    git.must_be_writable()?;
    let commits = select(&git, revisions)?;
    let (session, opened) = match open(workspace, named)? {
        Some(session) => (session, false),
        None => (start(workspace, &git, &commits, reflection.is_none())?, true),
    };
    let mut covered = Vec::new();
    for commit in &commits {
        let attested = attest(workspace, &git, &session, commit, true)?;
        saw_commit(workspace, commit)?;
        covered.push(CoveredCommit { commit: *commit, subject: git.commit(commit)?.subject(), attested });
    }
    let mut finalized = None;
    if let Some(reflection) = reflection {
        let closing = RecordRequest {
            session: Some(session.to_string()),
            kind: "reflection".to_owned(),
            content: reflection.to_owned(),
            ..RecordRequest::default()
        };
        record_unstaged(workspace, &closing)?;
        finalized = Some(close(workspace, Some(session.as_str()), true)?);
    }
    Ok(CoverOutcome { session_id: session, opened, commits: covered, finalized })
}

/// The commits that are meant, the oldest first.
fn select(git: &Git, revisions: &[String]) -> Result<Vec<CommitId>> {
    let mut commits: Vec<CommitId> = Vec::new();
    for revision in revisions {
        let found = if revision.contains("..") {
            let mut listed = git.commits(&range_ids(git, revision)?)?;
            listed.reverse();
            listed
        } else {
            vec![git.resolve(revision)?]
        };
        commits.extend(found.into_iter().filter(|commit| !commits.contains(commit)).collect::<Vec<_>>());
    }
    if commits.is_empty() {
        return Err(Error::new(Code::InvalidParams, "there is no commit to cover")
            .hint(hint!(Step::Cover("HEAD".into()), ", or a range such as main..HEAD")));
    }
    if commits.len() > MOST {
        return Err(Error::new(Code::InvalidParams, format!("{} commits are more than {MOST}", commits.len()))
            .hint("cover them in parts, each with what is known of it"));
    }
    Ok(commits)
}

/// The session that is named, or the one that is open here, if there is one.
fn open(workspace: &Workspace, named: Option<&str>) -> Result<Option<Id>> {
    let found = workspace.session(named).and_then(|session| workspace.store.session(&session));
    match found {
        Ok(row) => Ok((row.is_open() || named.is_some()).then(|| row.id().clone())),
        Err(error) if error.code == Code::SessionNotFound && named.is_none() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens a session for commits that exist already. `current` makes it the current one of this worktree.
fn start(workspace: &mut Workspace, git: &Git, commits: &[CommitId], current: bool) -> Result<Id> {
    let subject = commits.first().map(|commit| git.commit(commit)).transpose()?.map(|commit| commit.subject());
    let subject = subject.filter(|subject| !subject.trim().is_empty() && !subject.contains('\0'));
    let mut intent = subject.map_or_else(
        || "explain a commit afterwards".to_owned(),
        |subject| format!("explain afterwards: {}", subject.chars().take(200).collect::<String>()),
    );
    if find_secret(&intent).is_some() {
        "explain a commit afterwards".clone_into(&mut intent);
    }
    let opening = StartRequest { intent, ..StartRequest::default() };
    Ok(open_session(workspace, &opening, current)?.session_id)
}
