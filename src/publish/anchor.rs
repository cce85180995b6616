//! Binds a finalized session to the commits it explains. Evidence first, then the note that rests on it.

use std::collections::{BTreeSet, HashSet};

use serde::Serialize;

use super::evidence::{Evidence, publish_evidence};
use super::lines::{self, Line, heal, note_of, publish};
use super::sign::signed_line;
use super::why::explain;
use crate::error::{Code, Error, Result};
use crate::git::{Commit, Git, NOTES};
use crate::hint::{Step, hint};
use crate::proof::anchor::Anchor;
use crate::proof::change::GitAttestation;
use crate::proof::digest::{AnchorId, ChangeId, CommitId};
use crate::proof::note::NoteLine;
use crate::proof::record::Id;
use crate::record::Workspace;
use crate::store::RootRow;

/// What `anchor` did.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct AnchorOutcome {
    pub session_id: Id,
    /// Its anchors on the commits that were asked for.
    pub anchors: Vec<Anchored>,
    /// How many lines of ours another writer had overwritten, and were put back.
    pub restored: u64,
    /// How many entries were withheld because they hold what looks like a credential.
    pub guarded: u64,
}

/// An anchor on a commit.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Anchored {
    pub commit: CommitId,
    pub anchor_id: AnchorId,
    /// Whether it is new; `false` if it was there.
    pub created: bool,
    /// Whether the session itself attests the commit or its change.
    pub rooted: bool,
    /// Whether it was signed now.
    pub signed: bool,
}

/// The commits that a session attests: those made while it was open, and those that its staged change became.
pub(crate) fn attested_commits(workspace: &Workspace, git: &Git, session: &Id) -> Result<Vec<CommitId>> {
    let attested = workspace.store.attested(session)?;
    let mut commits: Vec<CommitId> = attested.iter().filter_map(|change| change.commit).collect();
    commits.extend(workspace.store.commits_of(session)?);
    // A commit may have been rewritten before the session was finalized; what is gone cannot be anchored.
    commits.retain(|commit| git.has(&commit.0));
    let mut seen = HashSet::new();
    commits.retain(|commit| seen.insert(*commit));
    Ok(commits)
}

/// Anchors the finalized session on the commits that it attests, if that was never done: it was killed before, or something
/// was in its way. `false` if there was nothing to do.
pub fn anchor_unanchored(workspace: &mut Workspace, git: &Git, session: &Id) -> Result<bool> {
    let Some(row) = workspace.store.root(session)? else { return Ok(false) };
    let mut commits = attested_commits(workspace, git, session)?;
    if commits.is_empty() {
        return Ok(false);
    }
    let notes = git.tip_tree(NOTES)?;
    for at in (0..commits.len()).rev() {
        // Lines that the store remembers are added to the note if it lacks them.
        let remembered = workspace.store.lines(Some(&commits[at]))?;
        let mut lines: BTreeSet<Vec<u8>> = remembered.into_iter().map(String::into_bytes).collect();
        if let Some(tree) = &notes {
            lines.extend(note_of(git, tree, &commits[at])?);
        }
        if existing(&lines, &commits[at], &row).is_some() {
            commits.remove(at);
        }
    }
    if commits.is_empty() {
        return Ok(false);
    }
    on_commits(workspace, git, &row, &commits, None)?;
    Ok(true)
}

/// Anchors a session on commits, signed as asked for, or else as the settings say. What is there already stays as it is.
pub(crate) fn on_commits(
    workspace: &mut Workspace,
    git: &Git,
    row: &RootRow,
    commits: &[CommitId],
    sign: Option<bool>,
) -> Result<AnchorOutcome> {
    let sign = sign.unwrap_or_else(|| git.setting("proof.sign").is_some_and(|value| is_true(&value)));
    let attested = workspace.store.attested(&row.session_id)?;
    let Evidence { text, summary, guarded } = publish_evidence(workspace, git, row)?;
    let _lock = lines::lock(workspace);
    // First write the lines of an `anchor` that was killed, so that they are found in the note and not made again.
    let mut restored = heal(workspace, git)?;
    let notes = git.tip_tree(NOTES)?;
    let mut lines = Vec::new();
    let mut anchors = Vec::new();
    for id in commits {
        let commit = git.commit(id).map_err(|error| {
            Error::new(Code::CommitNotFound, format!("commit {id} cannot be read"))
                .because(error)
                .hint(hint!(Step::GitFetch, " brings commits that are not here yet"))
        })?;
        let change = git.change_ids_of(&commit)?;
        let change_id = change.map(|ids| ids.wide);
        let rooted = row.scheme.covers_everything() && is_attested(&attested, &commit, change_id.as_ref());
        let note = notes.map(|tree| note_of(git, &tree, id)).transpose()?.unwrap_or_default();
        let there = existing(&note, id, row);
        let created = there.is_none();
        let anchor = there.unwrap_or_else(|| Anchor {
            anchored_at: workspace.context.now(),
            change_id,
            commit: *id,
            count: summary.count,
            genesis: summary.genesis,
            head: summary.head,
            root: summary.root,
            scheme: summary.opening.scheme,
            session_id: summary.opening.session_id.clone(),
            task_id: summary.opening.task_id.clone(),
            tree: commit.tree,
        });
        let anchor_id = anchor.id();
        if sign {
            lines.extend(signed_line(workspace, *id, anchor, change, &note)?);
        } else if created {
            let line = NoteLine::Anchor { anchor: Box::new(anchor), signature: None };
            lines.push(Line { commit: *id, text: line.to_line().unwrap_or_default(), change });
        }
        anchors.push(Anchored { commit: *id, anchor_id, created, rooted, signed: sign });
    }
    restored += publish(workspace, git, &lines, Some(&row.session_id))?;
    explain(git, lines.iter().map(|line| line.commit), &text)?;
    Ok(AnchorOutcome { session_id: row.session_id.clone(), anchors, restored, guarded })
}

/// A setting that git would take for yes.
pub(crate) fn is_true(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1" | "")
}

/// The session's anchor that a commit's note has already.
fn existing(note: &BTreeSet<Vec<u8>>, commit: &CommitId, row: &RootRow) -> Option<Anchor> {
    note.iter().find_map(|line| match NoteLine::parse(line) {
        Ok(Some(NoteLine::Anchor { anchor, .. }))
            if anchor.commit == *commit && anchor.root == row.root && anchor.session_id == row.session_id =>
        {
            Some(*anchor)
        }
        _ => None,
    })
}

/// Whether attestations speak of a commit: by its id, by its change, or by its tree where there is no change.
pub(super) fn is_attested(attested: &[GitAttestation], commit: &Commit, change: Option<&ChangeId>) -> bool {
    attested.iter().any(|said| match (said.commit, change) {
        (Some(id), _) if id == commit.id => true,
        (_, Some(change)) => said.change_id.as_ref() == Some(change),
        (_, None) => said.change_id.is_none() && said.tree == commit.tree,
    })
}
