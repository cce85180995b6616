//! `merkle_proof` and `merkle_verify`: arguments that need more than a name.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::arguments::{Arguments, invalid, missing};
use super::call::{Work, work};
use super::verdicts;
use crate::error::{Code, Error, Result};
use crate::ops::{self, Trusted};
use crate::proof::canonical::MAX_INTEGER;
use crate::proof::digest::RootHash;

/// A leaf is named by its record, or by its hash within a session.
pub(super) fn merkle_proof(given: &mut Arguments) -> Result<Work> {
    let (record, session, leaf) = (given.text("record_id")?, given.text("session_id")?, given.text("leaf_hash")?);
    match (record, session, leaf) {
        (Some(record), None, None) => Ok(work(move |workspace| ops::prove(workspace, &record))),
        (None, Some(session), Some(leaf)) => Ok(work(move |workspace| {
            let log = ops::log(workspace, Some(&session), None)?;
            let entry = log.entries.iter().find(|entry| entry.content_hash.to_string() == leaf).ok_or_else(|| {
                Error::new(Code::RecordNotFound, format!("no record of session {session} has the hash {leaf:?}"))
            })?;
            ops::prove(workspace, entry.id.as_str())
        })),
        _ => Err(invalid("record_id", "is required, or session_id and leaf_hash instead")),
    }
}

/// A proof that does not hold is an answer too.
pub(super) fn merkle_verify(given: &mut Arguments) -> Result<Work> {
    let proof = given.object("proof")?.ok_or_else(|| missing("proof"))?;
    let (root, count, session) = (given.text("root")?, given.number("count", MAX_INTEGER)?, given.text("session_id")?);
    let pinned = match (root, count) {
        (Some(root), Some(count)) => {
            let root = RootHash::parse(&root).ok_or_else(|| invalid("root", "takes 64 lower-case hex digits"))?;
            Some(Trusted { root, count })
        }
        (None, None) => None,
        (None, _) => return Err(missing("root").hint("root and count go together: merkle_root returns both")),
        (_, None) => return Err(missing("count").hint("root and count go together: merkle_root returns both")),
    };
    let line = proof_line(proof)?;
    Ok(Box::new(move |workspace| {
        let trusted = match (pinned, session) {
            (Some(pinned), _) => Some(pinned),
            (None, None) => None,
            (None, Some(session)) => {
                let stored = ops::root(workspace, Some(&session))?;
                Some(Trusted { root: stored.root, count: stored.record_count })
            }
        };
        verdicts::proof(&line, trusted.as_ref())
    }))
}

/// A proof as the line of a proof file, whose fields have an order; on its way through a client they may have lost it.
fn proof_line(proof: Value) -> Result<String> {
    #[derive(Deserialize, Serialize)]
    #[serde(deny_unknown_fields)]
    struct Line {
        scheme: String,
        leaf_hash: String,
        index: u64,
        count: u64,
        proof: Vec<Step>,
        root: String,
    }
    #[derive(Deserialize, Serialize)]
    #[serde(deny_unknown_fields)]
    struct Step {
        hash: String,
        position: String,
    }
    let line: Result<Line, _> = serde_json::from_value(proof);
    line.and_then(|line| serde_json::to_string(&line))
        .map_err(|error| invalid("proof", &format!("is not what merkle_proof returns: {error}")))
}
