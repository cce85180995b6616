//! `check`: verifies a session's chain, and its root once it is finalized.

use schemars::JsonSchema;
use serde::Serialize;

use super::close::is_zero;
use super::restore::archived;
use super::workspace::Workspace;
use crate::error::{Code, Error, Result};
use crate::proof::digest::{ChainHash, RootHash};
use crate::proof::finding::Verdict;
use crate::proof::record::Id;

/// A session that verifies.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckOutcome {
    pub session_id: Id,
    /// Always `pass`: a break is an error, whose details say where.
    #[schemars(with = "String", extend("const" = "pass"))]
    pub verdict: Verdict,
    /// The same, under the name that the protocol's source gives it.
    #[schemars(extend("const" = true))]
    pub valid: bool,
    pub count: u64,
    /// The same, under the name that the protocol's source gives it.
    pub records: u64,
    /// The same: every entry is in the chain.
    pub chain_length: u64,
    /// Chain hash of the last entry.
    pub head: ChainHash,
    /// Root over the entries, finalized or not; null for none.
    pub root: Option<RootHash>,
    /// Entries whose text is not in the store: their hashes hold.
    pub blanked: u64,
    /// How many of those texts are in an archive, which was read and holds.
    pub archived: u64,
    /// Entries of another clone's session that its evidence withholds: their hashes hold. Only said if there are some.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(skip)]
    pub withheld: u64,
}

/// Verifies a session.
pub fn check(workspace: &Workspace, session: Option<&str>) -> Result<CheckOutcome> {
    let session = workspace.session(session)?;
    let check = workspace.store_of(&session)?.check(&session)?;
    if let Some(broken) = &check.broken {
        return Err(Error::new(Code::ChainBroken, format!("session {session} does not verify: {}", broken.explain()))
            .because(format!("{}: expected {}, found {}", broken.reason.as_str(), broken.expected, broken.actual))
            .hint("what was recorded has been changed since; restore the store from a backup, or take the session as lost")
            .details(broken.details()));
    }
    let imported = workspace.is_imported(&session)?;
    let archived = if check.blanked > 0 && !imported { archived(workspace, &session)? } else { 0 };
    Ok(CheckOutcome {
        session_id: session,
        verdict: Verdict::Pass,
        valid: true,
        count: check.records,
        records: check.records,
        chain_length: check.records,
        head: check.head,
        root: check.root,
        blanked: if imported { 0 } else { check.blanked },
        archived,
        withheld: if imported { check.blanked } else { 0 },
    })
}
