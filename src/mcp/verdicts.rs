//! Answers that say no: a chain or a proof that does not hold is an answer, and the call has not failed.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::call::{Done, done};
use crate::error::{Code, Error, Result};
use crate::flow::{self, PathOutcome, ProofOutcome};
use crate::proof::finding::Verdict;
use crate::record::{self, CheckOutcome, Trusted, Workspace};

/// What `audit_verify_chain` answers.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum ChainVerdict {
    Holds(CheckOutcome),
    Broken(BrokenChain),
}

/// Where a chain first breaks.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct BrokenChain {
    session_id: String,
    #[schemars(with = "String", extend("const" = "fail"))]
    verdict: Verdict,
    #[schemars(extend("const" = false))]
    valid: bool,
    broken_at: String,
    index: u64,
    reason: Option<String>,
    expected: Option<String>,
    actual: Option<String>,
    message: String,
}

/// What `merkle_verify` answers.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum ProofVerdict {
    Holds(HeldProof),
    Leads(PathOutcome),
    Refused(RefusedProof),
}

/// A proof that holds against a root and its count.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct HeldProof {
    #[serde(flatten)]
    outcome: ProofOutcome,
    #[schemars(extend("const" = true))]
    count_checked: bool,
}

/// Why a proof does not hold.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct RefusedProof {
    #[schemars(with = "String", extend("const" = "fail"))]
    verdict: Verdict,
    #[schemars(skip)]
    valid: bool,
    reason: String,
    field: Option<String>,
}

/// Checks a chain.
pub(super) fn chain(workspace: &Workspace, session: &str) -> Result<Done> {
    match record::check(workspace, Some(session)) {
        Ok(outcome) => Ok(done(&ChainVerdict::Holds(outcome))),
        Err(error) if error.code == Code::ChainBroken => {
            let text = |key| detail(&error, key).and_then(Value::as_str).map(str::to_owned);
            let broken = BrokenChain {
                session_id: session.to_owned(),
                verdict: Verdict::Fail,
                valid: false,
                broken_at: text("broken_at").unwrap_or_else(|| session.to_owned()),
                index: detail(&error, "index").and_then(Value::as_u64).unwrap_or(0),
                reason: text("reason"),
                expected: text("expected"),
                actual: text("actual"),
                message: error.message.clone(),
            };
            Ok(Done { outcome: error.code.as_str(), ..done(&ChainVerdict::Broken(broken)) })
        }
        Err(error) => Err(error),
    }
}

/// Checks a proof, as its line.
pub(super) fn proof(line: &str, trusted: Option<&Trusted>) -> Result<Done> {
    let held = flow::check_proof_line(line.as_bytes(), "the proof", trusted);
    judged(held.map(|outcome| ProofVerdict::Holds(HeldProof { outcome, count_checked: true })))
}

/// Checks only the path of a proof.
pub(super) fn path(line: &str) -> Result<Done> {
    judged(flow::check_path_line(line.as_bytes(), "the proof").map(ProofVerdict::Leads))
}

fn judged(verdict: Result<ProofVerdict>) -> Result<Done> {
    match verdict {
        Ok(verdict) => Ok(done(&verdict)),
        Err(error) if error.code == Code::ProofInvalid => {
            let field = detail(&error, "field").and_then(Value::as_str).map(str::to_owned);
            let refused = RefusedProof { verdict: Verdict::Fail, valid: false, reason: error.to_string(), field };
            Ok(Done { outcome: error.code.as_str(), ..done(&ProofVerdict::Refused(refused)) })
        }
        Err(error) => Err(error),
    }
}

fn detail<'a>(error: &'a Error, key: &str) -> Option<&'a Value> {
    error.details.as_ref()?.get(key)
}
