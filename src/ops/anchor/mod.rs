//! `anchor`: binds a finalized session to the commits it explains. Evidence first, then the note that rests on it.

mod carry;
mod evidence;
mod publish;
mod why;

use serde::Serialize;

use super::finalize;
use super::workspace::Workspace;
use crate::error::{Code, Error, Result};
use crate::git::{Commit, Git};
use crate::proof::anchor::Anchor;
use crate::proof::change::GitAttestation;
use crate::proof::digest::{AnchorId, ChangeId, CommitId};
use crate::proof::note::NoteLine;
use crate::proof::record::Id;
use crate::store::RootRow;

pub use carry::{Carried, CarryOutcome, carry, carry_rewritten};
pub(super) use evidence::{MAX_EVIDENCE, better_evidence, file_name as evidence_name, has_evidence};
pub(super) use publish::{Line, MAX_NOTE, heal, join_lines, note_of, publish};

/// What `anchor` is asked for.
#[derive(Debug, Clone, Default, Serialize)]
pub struct AnchorRequest {
    /// The session; the current one if not given.
    pub session: Option<String>,
    /// The commits; those that the session attested if none is given, else HEAD.
    pub commits: Vec<String>,
}

/// What `anchor` did.
#[derive(Debug, Clone, Serialize)]
pub struct AnchorOutcome {
    /// The session.
    pub session_id: Id,
    /// Its anchors on the commits that were asked for.
    pub anchors: Vec<Anchored>,
    /// How many lines of ours another writer had overwritten, and were put back.
    pub restored: u64,
}

/// An anchor on a commit.
#[derive(Debug, Clone, Serialize)]
pub struct Anchored {
    /// The commit.
    pub commit: CommitId,
    /// The anchor.
    pub anchor_id: AnchorId,
    /// Whether it is new; `false` if it was there.
    pub created: bool,
    /// Whether the session itself attests the commit or its change.
    pub rooted: bool,
}

/// Anchors a finalized session.
pub fn anchor(workspace: &mut Workspace, request: &AnchorRequest) -> Result<AnchorOutcome> {
    let row = finalize::root(workspace, request.session.as_deref())?;
    let git = workspace.git()?;
    let mut commits = Vec::new();
    for revision in &request.commits {
        commits.push(git.resolve(revision)?);
    }
    if commits.is_empty() {
        commits = attested_commits(workspace, &git, &row.session_id)?;
    }
    if commits.is_empty() {
        commits.push(git.resolve("HEAD")?);
    }
    on_commits(workspace, &git, &row, &commits)
}

/// The commits that a session attests: those made while it was open, and those that its staged change became.
pub(super) fn attested_commits(workspace: &Workspace, git: &Git, session: &Id) -> Result<Vec<CommitId>> {
    let attested = workspace.store.attested(session)?;
    let mut commits: Vec<CommitId> = attested.iter().filter_map(|change| change.commit).collect();
    commits.extend(workspace.store.commits_of(session)?);
    // A commit may have been rewritten before the session was finalized; what is gone cannot be anchored.
    commits.retain(|commit| git.has(&commit.0));
    let mut seen = std::collections::HashSet::new();
    commits.retain(|commit| seen.insert(*commit));
    Ok(commits)
}

/// Anchors a session on commits. What is there already stays as it is.
pub(super) fn on_commits(
    workspace: &mut Workspace,
    git: &Git,
    row: &RootRow,
    commits: &[CommitId],
) -> Result<AnchorOutcome> {
    let task_id = workspace.store.session(&row.session_id)?.opening.task_id;
    let attested = workspace.store.attested(&row.session_id)?;
    let evidence = evidence::publish_evidence(workspace, git, row)?;
    // What an anchor that was killed had remembered is written first, so that it is found there and not made again.
    let mut restored = heal(workspace, git)?;
    let notes = git.tip(crate::git::NOTES)?;
    let mut lines = Vec::new();
    let mut anchors = Vec::new();
    for id in commits {
        let commit = git.commit(id).map_err(|error| {
            Error::new(Code::CommitNotFound, format!("commit {id} cannot be read"))
                .because(error)
                .hint("git fetch brings commits that are not here yet")
        })?;
        let change_id = git.change_id(&commit)?;
        let rooted = row.scheme.covers_everything() && is_attested(&attested, &commit, change_id.as_ref());
        let there = existing(git, notes.as_ref(), id, row)?;
        let (anchor_id, created) = match there {
            Some(anchor) => (anchor.id(), false),
            None => {
                let anchor = Anchor {
                    anchored_at: workspace.context.now(),
                    change_id,
                    commit: *id,
                    count: row.record_count,
                    genesis: row.genesis,
                    head: row.head,
                    root: row.root,
                    scheme: row.scheme,
                    session_id: row.session_id.clone(),
                    task_id: task_id.clone(),
                    tree: commit.tree,
                };
                let anchor_id = anchor.id();
                let line = NoteLine::Anchor { anchor: Box::new(anchor), signature: None };
                let text = line.to_line().unwrap_or_default();
                lines.push(Line { commit: *id, text, change: change_id });
                (anchor_id, true)
            }
        };
        anchors.push(Anchored { commit: *id, anchor_id, created, rooted });
    }
    restored += publish(workspace, git, &lines)?;
    why::explain(git, lines.iter().map(|line| line.commit), &evidence)?;
    Ok(AnchorOutcome { session_id: row.session_id.clone(), anchors, restored })
}

/// The session's anchor that a commit's note has already.
fn existing(git: &Git, notes: Option<&CommitId>, commit: &CommitId, row: &RootRow) -> Result<Option<Anchor>> {
    let Some(tip) = notes else { return Ok(None) };
    let lines = note_of(git, &git.commit(tip)?.tree, commit)?;
    Ok(lines.iter().find_map(|line| match NoteLine::parse(line) {
        Ok(Some(NoteLine::Anchor { anchor, .. }))
            if anchor.commit == *commit && anchor.root == row.root && anchor.session_id == row.session_id =>
        {
            Some(*anchor)
        }
        _ => None,
    }))
}

/// Whether attestations speak of a commit: by its id, by its change, or by its tree where there is no change.
pub(super) fn is_attested(attested: &[GitAttestation], commit: &Commit, change: Option<&ChangeId>) -> bool {
    attested.iter().any(|said| match (said.commit, change) {
        (Some(id), _) if id == commit.id => true,
        (_, Some(change)) => said.change_id.as_ref() == Some(change),
        (_, None) => said.change_id.is_none() && said.tree == commit.tree,
    })
}
