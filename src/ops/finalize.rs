//! `finalize`, `root`, `end`: how a session is closed.

use schemars::JsonSchema;
use serde::Serialize;

use super::anchor::{self, Anchored};
use super::committing;
use super::ledger::note_done;
use super::pending;
use super::workspace::Workspace;
use crate::error::{Code, Error, Result};
use crate::proof::digest::RootHash;
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;
use crate::store::{NewEvent, RootRow};

/// A finalized session, as the store keeps it.
pub type RootOutcome = RootRow;

/// A session that was finalized, and what it was anchored on.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct FinalizeOutcome {
    /// Its root.
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
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Finalizes a session and anchors it on the commits that it attests. One that is finalized already: an error, or with
/// `idempotent` the stored row. Where it cannot be anchored, it is finalized all the same, and the error says both.
pub fn finalize(workspace: &mut Workspace, session: Option<&str>, idempotent: bool) -> Result<FinalizeOutcome> {
    let session = workspace.session(session)?;
    if workspace.store.root(&session)?.is_none() {
        pending::mend_of(workspace, &session)?;
        anchor::obstacle(&workspace.store.log(&session, Some(1))?)?.map_or(Ok(()), Err)?;
    }
    let arguments = workspace.given.as_deref().unwrap_or(session.as_str()).as_bytes();
    let event = NewEvent { tool: "merkle_finalize", arguments, at: workspace.context.now() };
    let (outcome, new) = workspace.store.finalize(&session, &event)?;
    if new || idempotent {
        let (anchors, guarded) = anchor_attested(workspace, &outcome).map_err(|error| not_anchored(&outcome, error))?;
        if !new {
            note_done(workspace, "merkle_finalize", Some(&session), session.as_str())?; // it may have anchored something
        }
        let _ = committing::foresee(workspace, &outcome); // a shortcut, without which the hook asks the store
        let unpacked = workspace.store.unpacked_notes(&session)?;
        return Ok(FinalizeOutcome { root: outcome, anchors, guarded, unpacked });
    }
    let details = serde_json::to_value(&outcome).ok();
    let mut error =
        Error::new(Code::AlreadyFinalized, format!("session {session} was finalized at {}", outcome.finalized_at))
            .hint("merkle_root returns its root; audit_session_start opens a new session");
    error.details = details;
    Err(error)
}

/// Why a session that is finalized now has no anchor. Its root is kept, and is in the details.
fn not_anchored(root: &RootOutcome, error: Error) -> Error {
    let session = &root.session_id;
    let again = format!("git proof anchor --session {session}");
    let mut causes = vec![error.message];
    causes.extend(error.causes);
    Error {
        code: error.code,
        message: format!("session {session} is finalized, and its root is kept, but it could not be anchored"),
        causes,
        hint: match error.hint {
            // What keeps this session from being published keeps it for good.
            Some(hint) if matches!(error.code, Code::ReflectionRequired | Code::SecretDetected) => Some(hint),
            Some(hint) => Some(format!("{hint}; then {again}")),
            None => Some(again),
        },
        details: serde_json::to_value(root).ok(),
    }
}

/// Anchors a session that was just finalized on the commits that it attests.
pub fn anchor_finalized(workspace: &mut Workspace, root: &RootOutcome) -> Result<()> {
    anchor_attested(workspace, root).map_err(|error| not_anchored(root, error)).map(|_| ())
}

/// Anchors a session on the commits that it attests; those that it does not are nobody's to anchor by the way.
/// With them comes how many entries the guard withheld.
fn anchor_attested(workspace: &mut Workspace, root: &RootOutcome) -> Result<(Vec<Anchored>, u64)> {
    pending::mend_of(workspace, &root.session_id)?;
    if workspace.store.attested(&root.session_id)?.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let git = workspace.git()?;
    let commits = anchor::attested_commits(workspace, &git, &root.session_id)?;
    if commits.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let outcome = anchor::on_commits(workspace, &git, root, &commits)?;
    Ok((outcome.anchors, outcome.guarded))
}

/// The root of a finalized session.
pub fn root(workspace: &Workspace, session: Option<&str>) -> Result<RootOutcome> {
    let session = workspace.session(session)?;
    workspace.store_of(&session)?.root(&session)?.ok_or_else(|| {
        Error::new(Code::NotFinalized, format!("session {session} is not finalized"))
            .hint(format!("git proof finalize --session {session}"))
            .details(serde_json::json!({ "session_id": session }))
    })
}

/// A session that has ended, and how it stands.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EndOutcome {
    /// The session.
    pub session_id: Id,
    /// When it was ended.
    pub ended_at: Option<Timestamp>,
    /// Number of its entries.
    pub records: u64,
    /// Whether it is finalized.
    pub finalized: bool,
    /// Its root, if it is.
    pub root: Option<RootHash>,
    /// Whether a reflection must close it.
    pub proof_grade: bool,
}

/// Ends a session: it takes no more entries. Ending it again answers the same.
pub fn end(workspace: &mut Workspace, session: Option<&str>) -> Result<EndOutcome> {
    let session = workspace.session(session)?;
    let arguments = workspace.given.as_deref().unwrap_or(session.as_str()).as_bytes();
    let event = NewEvent { tool: "audit_session_end", arguments, at: workspace.context.now() };
    let row = workspace.store.end(&session, &event)?;
    let root = workspace.store.root(&session)?.map(|root| root.root);
    Ok(EndOutcome {
        session_id: session,
        ended_at: row.ended_at,
        records: row.count,
        finalized: root.is_some(),
        root,
        proof_grade: row.opening.proof_grade,
    })
}
