//! `prove`: the inclusion proof of one record.

use super::workspace::{Workspace, parse_id};
use crate::error::Result;
use crate::proof::inclusion::InclusionProof;

/// A proof; serializes to exactly the line of a proof file.
pub type InclusionOutcome = InclusionProof;

/// Proves that a record is in its session, finalized or not.
pub fn prove(workspace: &Workspace, record: &str) -> Result<InclusionOutcome> {
    let record = parse_id("the record", record)?;
    workspace.store_of_record(&record)?.prove(&record)
}

/// Whether a record is one whose text its clone withheld: a proof covers its hash, and nobody here knows what was hashed.
pub fn is_withheld(workspace: &Workspace, record: &str) -> Result<bool> {
    let record = parse_id("the record", record)?;
    Ok(workspace.store_of_record(&record)?.entry(&record)?.is_withheld())
}
