//! `root` and `end`: how a session stands, and that it takes no more entries.

use schemars::JsonSchema;
use serde::Serialize;

use super::workspace::Workspace;
use crate::error::{Code, Error, Result};
use crate::hint::Step;
use crate::proof::digest::RootHash;
use crate::proof::record::{Id, RecordType};
use crate::proof::timestamp::Timestamp;
use crate::store::{NewEvent, RootRow};

/// A finalized session, as the store keeps it.
pub type RootOutcome = RootRow;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The root of a finalized session.
pub fn root(workspace: &Workspace, session: Option<&str>) -> Result<RootOutcome> {
    let session = workspace.session(session)?;
    workspace.store_of(&session)?.root(&session)?.ok_or_else(|| {
        Error::new(Code::NotFinalized, format!("session {session} is not finalized"))
            .hint(Step::Finalize(session.to_string()))
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
    pub count: u64,
    /// The same, under its old name (docs/json.md).
    #[schemars(skip)]
    pub records: u64,
    /// Whether it is finalized.
    pub finalized: bool,
    /// Its root, if it is.
    pub root: Option<RootHash>,
    /// Whether a reflection must close it.
    pub proof_grade: bool,
    /// Whether a reflection does.
    #[serde(skip)]
    #[schemars(skip)]
    pub has_reflection: bool,
}

/// Ends a session: it takes no more entries. Ending it again answers the same. One that explains commits and must be closed
/// by a reflection is not ended before: nothing could close it afterwards.
pub fn end(workspace: &mut Workspace, session: Option<&str>) -> Result<EndOutcome> {
    let session = workspace.session(session)?;
    let log = workspace.store.log(&session, Some(1))?;
    let is_closed = log.entries.last().is_some_and(|last| last.kind == Some(RecordType::Reflection));
    if log.session.is_open() && log.session.opening.proof_grade && !is_closed {
        let attested = workspace.store.attested(&session)?;
        if attested.iter().any(|said| said.commit.is_some()) {
            return Err(Error::new(
                Code::ReflectionRequired,
                format!("session {session} explains commits, and no reflection closes it yet"),
            )
            .hint(Step::Done(session.to_string()))
            .details(serde_json::json!({ "session_id": session })));
        }
    }
    let arguments = workspace.given.as_deref().unwrap_or(session.as_str()).as_bytes();
    let event = NewEvent { tool: "audit_session_end", arguments, at: workspace.context.now() };
    let row = workspace.store.end(&session, &event)?;
    let root = workspace.store.root(&session)?.map(|root| root.root);
    Ok(EndOutcome {
        session_id: session,
        ended_at: row.ended_at,
        count: row.count,
        records: row.count,
        finalized: root.is_some(),
        root,
        proof_grade: row.opening.proof_grade,
        has_reflection: is_closed,
    })
}
