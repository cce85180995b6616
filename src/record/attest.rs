//! `attest`: adds operations to a session as leaves.

use schemars::JsonSchema;
use serde::Serialize;

use super::text::{MAX_BODY, acceptable, without_secrets};
use super::workspace::Workspace;
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::change::GitAttestation;
use crate::proof::digest::{ChainHash, ContentHash};
use crate::proof::memory::MemoryAttestation;
use crate::proof::observed::Observed;
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;
use crate::store::{NewAttestation, NewEntry, NewEvent};

/// An operation that was attested.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AttestOutcome {
    pub id: Id,
    pub session_id: Id,
    /// Its position there.
    pub index: u64,
    /// The operation.
    pub attest: String,
    pub timestamp: Timestamp,
    pub prev_hash: ChainHash,
    /// SHA-256 of the entry's bytes.
    pub content_hash: ContentHash,
    /// Hash of `content_hash` and `prev_hash` together.
    pub chain_hash: ChainHash,
}

/// Attests operations, all or none.
pub fn attest(workspace: &mut Workspace, session: Option<&str>, operations: &[String]) -> Result<Vec<AttestOutcome>> {
    if operations.is_empty() {
        return Err(Error::new(Code::InvalidParams, "there is nothing to attest").hint(Step::Attest));
    }
    for operation in operations {
        acceptable("an operation", operation, MAX_BODY)?;
        without_secrets("an operation", operation, "attest a digest, or say it without the credential")?;
        let refused = |what: &str| Error::new(Code::InvalidParams, format!("only git-proof itself attests {what}"));
        if GitAttestation::is_claimed_by(operation) {
            return Err(refused("which change a session explains")
                .hint("commit while the session is open, or stage the change before the closing reflection"));
        }
        if Observed::is_claimed_by(operation) {
            return Err(refused("what it observed").hint(hint!("attest it in words of your own: ", Step::Attest)));
        }
        if MemoryAttestation::is_claimed_by(operation) {
            return Err(refused("what was in working memory")
                .hint(hint!(Step::MemoryPut, " puts it there, and packing attests it")));
        }
    }
    let session = workspace.session(session)?;
    let now = workspace.context.now();
    let entries: Vec<NewEntry<'_>> = operations
        .iter()
        .map(|operation| {
            NewEntry::Attestation(NewAttestation {
                id: workspace.context.new_id(),
                operation,
                metadata: None,
                timestamp: now,
            })
        })
        .collect();
    let joined = operations.join("\n");
    let arguments = workspace.given.as_ref().unwrap_or(&joined).as_bytes();
    let event = NewEvent { tool: "merkle_attest", arguments, at: now };
    let appended = workspace.store.append(&session, &entries, &event)?;
    let outcomes = appended.into_iter().zip(operations).map(|(entry, operation)| AttestOutcome {
        id: entry.id,
        session_id: session.clone(),
        index: entry.index,
        attest: operation.clone(),
        timestamp: entry.timestamp,
        prev_hash: entry.prev_hash,
        content_hash: entry.content_hash,
        chain_hash: entry.chain_hash,
    });
    Ok(outcomes.collect())
}
