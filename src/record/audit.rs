//! `merkle_audit`: how a session's tree stands, finalized or not.

use schemars::JsonSchema;
use serde::Serialize;

use super::workspace::Workspace;
use crate::error::Result;
use crate::proof::digest::RootHash;
use crate::proof::record::Id;
use crate::proof::scheme::Scheme;
use crate::proof::timestamp::Timestamp;

/// A summary of a session's tree.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AuditOutcome {
    pub session_id: Id,
    pub scheme: Scheme,
    /// Number of its leaves: one for each entry.
    pub count: u64,
    /// The same, under its old name (docs/json.md).
    #[schemars(skip)]
    pub leaf_count: u64,
    /// Root over them as they are now; null for none. It moves with every entry until the session is finalized.
    pub root: Option<RootHash>,
    /// Whether the root is final.
    pub finalized: bool,
    /// Since when.
    pub finalized_at: Option<Timestamp>,
    /// When the session was ended.
    pub ended_at: Option<Timestamp>,
    /// Whether a reflection must close it.
    pub proof_grade: bool,
}

/// Summarizes the tree of a session.
pub fn audit(workspace: &Workspace, session: Option<&str>) -> Result<AuditOutcome> {
    let session = workspace.session(session)?;
    let row = workspace.store.session(&session)?;
    let finalized = workspace.store.root(&session)?;
    let (root, count) = match &finalized {
        Some(stored) => (Some(stored.root), stored.record_count),
        None => workspace.store.running_root(&session)?.map_or((None, 0), |(root, count)| (Some(root), count)),
    };
    Ok(AuditOutcome {
        session_id: session,
        scheme: row.scheme(),
        count,
        leaf_count: count,
        root,
        finalized: finalized.is_some(),
        finalized_at: finalized.map(|stored| stored.finalized_at),
        ended_at: row.ended_at,
        proof_grade: row.opening.proof_grade,
    })
}
