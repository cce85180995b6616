//! `prove`: the inclusion proof of one record.

use serde::Serialize;

use super::workspace::{Workspace, parse_id};
use crate::error::Result;
use crate::proof::inclusion::InclusionProof;

/// A proof; serializes to exactly the line of a proof file.
#[derive(Debug, Clone)]
pub struct InclusionOutcome(pub InclusionProof);

impl Serialize for InclusionOutcome {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        #[derive(Serialize)]
        struct Step {
            hash: String,
            position: &'static str,
        }
        let InclusionProof { scheme, leaf_hash, index, count, steps, root } = &self.0;
        let steps: Vec<Step> =
            steps.iter().map(|step| Step { hash: step.hash.to_string(), position: step.position.as_str() }).collect();
        let mut object = serializer.serialize_struct("InclusionProof", 6)?;
        object.serialize_field("scheme", scheme)?;
        object.serialize_field("leaf_hash", leaf_hash)?;
        object.serialize_field("index", index)?;
        object.serialize_field("count", count)?;
        object.serialize_field("proof", &steps)?;
        object.serialize_field("root", root)?;
        object.end()
    }
}

/// Proves that a record is in its session, finalized or not.
pub fn prove(workspace: &Workspace, record: &str) -> Result<InclusionOutcome> {
    let record = parse_id("the record", record)?;
    workspace.store.prove(&record).map(InclusionOutcome)
}
