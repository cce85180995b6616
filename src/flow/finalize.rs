//! `finalize`: closes a session and anchors it on the commits that it attests.

use serde::Serialize;

use super::reconcile::{Extent, Repairs, reconcile};
use crate::agents::close_stated;
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::record::Id;
use crate::publish::{Anchored, attest_unheard, attested_commits, mend_of, obstacle, on_commits, write_commit_hint};
use crate::record::{RootOutcome, Workspace, is_zero, note_done};
use crate::store::NewEvent;

/// A session that was finalized, and what it was anchored on.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct FinalizeOutcome {
    #[serde(flatten)]
    pub root: RootOutcome,
    /// Its anchors on the commits that it attests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<Anchored>,
    /// How many of its entries were withheld because they hold what looks like a credential.
    #[serde(skip_serializing_if = "is_zero")]
    pub guarded: u64,
    /// How many notes of its working memory were not packed, and no longer can be.
    #[serde(skip_serializing_if = "is_zero")]
    pub unpacked: u64,
    /// What it explains, if that is no commit yet.
    #[serde(skip)]
    pub unexplaining: Option<Unexplaining>,
}

/// A finalized session that explains no commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unexplaining {
    /// It explains what was staged, and waits for the commit of that.
    Staged,
    /// Nothing was committed while it was open, and nothing was staged when it was closed.
    Nothing,
}

/// The outcome of a command, and the interrupted work of earlier commands that it finished.
#[derive(Debug, Clone, Serialize)]
pub struct Repaired<T> {
    /// The outcome of the command itself.
    #[serde(flatten)]
    pub outcome: T,
    /// The interrupted work that it finished.
    #[serde(skip_serializing_if = "Repairs::is_nothing")]
    pub repaired: Repairs,
}

/// Finalizes a session, and finishes what was left undone. What keeps that from being finished is only said: the session is
/// finalized, and the next command tries again.
pub fn finalize(
    workspace: &mut Workspace,
    session: Option<&str>,
    idempotent: bool,
) -> Result<Repaired<FinalizeOutcome>> {
    let id = workspace.session(session)?;
    let closed = close_stated(workspace, &id)?;
    let outcome = close(workspace, Some(id.as_str()), idempotent || closed)?;
    let repaired = reconcile(workspace, None, Extent::Unpublished).unwrap_or_else(|error| Repairs::not_done(&error));
    Ok(Repaired { outcome, repaired })
}

/// Finalizes a session and anchors it on the commits that it attests. One that is finalized already: an error, or with
/// `idempotent` the stored row. Where it cannot be anchored, it is finalized all the same, and the error says both.
pub(super) fn close(workspace: &mut Workspace, session: Option<&str>, idempotent: bool) -> Result<FinalizeOutcome> {
    let session = workspace.session(session)?;
    if workspace.store.root(&session)?.is_none() {
        mend_of(workspace, &session)?;
        attest_unheard(workspace, &session)?;
        obstacle(&workspace.store.log(&session, Some(1))?)?.map_or(Ok(()), Err)?;
    }
    let arguments = workspace.given.as_deref().unwrap_or(session.as_str()).as_bytes();
    let event = NewEvent { tool: "merkle_finalize", arguments, at: workspace.context.now() };
    let (outcome, new) = workspace.store.finalize(&session, &event)?;
    if new || idempotent {
        let (anchors, guarded) = anchor_attested(workspace, &outcome).map_err(|error| not_anchored(&outcome, error))?;
        if !new {
            note_done(workspace, "merkle_finalize", Some(&session), session.as_str())?; // it may have anchored something
        }
        let _ = write_commit_hint(workspace, &outcome); // a shortcut, without which the hook asks the store
        let unpacked = workspace.store.unpacked_notes(&session)?;
        let unexplaining = if anchors.is_empty() { unexplaining(workspace, &session)? } else { None };
        return Ok(FinalizeOutcome { root: outcome, anchors, guarded, unpacked, unexplaining });
    }
    Err(Error::new(Code::AlreadyFinalized, format!("session {session} was finalized at {}", outcome.finalized_at))
        .hint(hint!(Step::Root, " returns its root"; Step::Start, " opens a new session"))
        .details(serde_json::json!(outcome)))
}

fn unexplaining(workspace: &Workspace, session: &Id) -> Result<Option<Unexplaining>> {
    if !workspace.store.commits_of(session)?.is_empty() {
        return Ok(None);
    }
    let attested = workspace.store.attested(session)?;
    Ok(Some(if attested.is_empty() { Unexplaining::Nothing } else { Unexplaining::Staged }))
}

/// Why a session that is finalized now has no anchor. Its root is kept, and is in the details.
fn not_anchored(root: &RootOutcome, error: Error) -> Error {
    let session = &root.session_id;
    let again = Step::Anchor(session.to_string());
    let mut causes = vec![error.message];
    causes.extend(error.causes);
    Error {
        code: error.code,
        message: format!("session {session} is finalized, and its root is kept, but it could not be anchored"),
        causes,
        hint: match error.hint {
            // Anchoring again would not help here: this session can never be published.
            Some(hint) if matches!(error.code, Code::ReflectionRequired | Code::SecretDetected) => Some(hint),
            Some(hint) => Some(hint.and(hint!("then ", again))),
            None => Some(again.into()),
        },
        details: Some(serde_json::json!(root)),
    }
}

/// Anchors a session on the commits that it attests; those that it does not are nobody's to anchor by the way.
/// With them comes how many entries the guard withheld.
fn anchor_attested(workspace: &mut Workspace, root: &RootOutcome) -> Result<(Vec<Anchored>, u64)> {
    mend_of(workspace, &root.session_id)?;
    if workspace.store.attested(&root.session_id)?.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let git = workspace.git()?;
    let commits = attested_commits(workspace, &git, &root.session_id)?;
    if commits.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let outcome = on_commits(workspace, &git, root, &commits, None)?;
    Ok((outcome.anchors, outcome.guarded))
}
