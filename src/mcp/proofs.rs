//! `merkle_proof` and `merkle_verify`: arguments that need more than a name.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::arguments::{Arguments, invalid, missing};
use super::call::{Origin, Work, work};
use super::schema::answer;
use super::tool::{Input, Kind, Tool, said, text};
use super::verdicts::{self, ProofVerdict};
use crate::error::{Code, Error, Result};
use crate::proof::canonical::MAX_INTEGER;
use crate::proof::digest::RootHash;
use crate::proof::scheme::Scheme;
use crate::record::{self, InclusionOutcome, Trusted};

pub(super) static PROVE: Tool = Tool {
    name: "merkle_proof",
    title: "Prove a record",
    description: "Inclusion proof of a record: record_id, or session_id with leaf_hash (its content_hash).",
    kind: Kind::Reads,
    input: Input(&[], || json!({ "record_id": text(), "session_id": text(), "leaf_hash": text() })),
    output: answer::<InclusionOutcome>,
    prepare: merkle_proof,
};

pub(super) static VERIFY_PROOF: Tool = Tool {
    name: "merkle_verify",
    title: "Check a proof",
    description: "Checks an inclusion proof. Give proof as merkle_proof returned it, or its list of steps with leaf_hash \
                  and root, and count and index if you know them. It is checked against the root and count that you \
                  give, or against the stored root of session_id. Answers with valid. Without a count, count_checked is \
                  false: the path leads to the root, but leaf_hash need not be an entry.",
    kind: Kind::Reads,
    input: Input(&["proof"], || {
        json!({
            "proof": {
                "description": "As merkle_proof returned it, or its list of steps, {hash, position: left or right}",
                "anyOf": [{ "type": "object" }, { "type": "array", "items": { "type": "object" } }],
            },
            "leaf_hash": said("With a list of steps"),
            "index": { "type": "integer", "minimum": 0 },
            "scheme": said("With a list of steps; default v1"),
            "root": text(),
            "count": { "type": "integer", "minimum": 1 },
            "session_id": text(),
        })
    }),
    output: answer::<ProofVerdict>,
    prepare: merkle_verify,
};

/// A leaf is named by its record, or by its hash within a session.
fn merkle_proof(given: &mut Arguments, _: &Origin<'_>) -> Result<Work> {
    let (record, session, leaf) = (given.text("record_id")?, given.text("session_id")?, given.text("leaf_hash")?);
    match (record, session, leaf) {
        (Some(record), None, None) => Ok(work(move |workspace| record::prove(workspace, &record))),
        (None, Some(session), Some(leaf)) => Ok(work(move |workspace| {
            let log = record::log(workspace, Some(&session), None)?;
            let entry = log.entries.iter().find(|entry| entry.content_hash.to_string() == leaf).ok_or_else(|| {
                Error::new(Code::RecordNotFound, format!("no record of session {session} has the hash {leaf:?}"))
            })?;
            record::prove(workspace, entry.id.as_str())
        })),
        _ => Err(invalid("record_id", "is required, or session_id and leaf_hash instead")),
    }
}

/// A proof is the object that `merkle_proof` returns, or a list of steps beside its leaf and root.
fn merkle_verify(given: &mut Arguments, _: &Origin<'_>) -> Result<Work> {
    let proof = given.nested("proof")?;
    let is_path = proof.is_array();
    let index = if is_path { given.number("index", 0..=MAX_INTEGER)? } else { None };
    let (root, count) = (given.text("root")?, given.number("count", 1..=MAX_INTEGER)?);
    let session = given.text("session_id")?;
    let parse = |root: String| RootHash::parse(&root).ok_or_else(|| invalid("root", "takes 64 lower-case hex digits"));
    let (root, both) = (root.map(parse).transpose()?, "root and count go together: merkle_root returns both");
    let pinned = match (root, count) {
        (Some(root), Some(count)) => Some(Trusted { root, count }),
        (None, None) if !is_path || session.is_some() => None,
        (None, _) => return Err(missing("root").hint(both)),
        (Some(_), None) if is_path && (session.is_some() || index.is_none()) => None,
        (Some(_), None) => return Err(missing("count").hint(both)),
    };
    let form = if is_path {
        let (scheme, leaf_hash) = (scheme(given.text("scheme")?)?, given.required("leaf_hash")?);
        Form::Path(Path { scheme, leaf_hash, index, steps: as_returned(proof)? })
    } else if let Some(name) = ["leaf_hash", "index", "scheme"].into_iter().find(|name| given.has(name)) {
        return Err(invalid(name, "goes with a proof that is a list of steps"));
    } else {
        Form::Whole(as_returned(proof)?)
    };
    Ok(Work::new(move |workspace| {
        let trusted = match (pinned, session) {
            (Some(pinned), _) => Some(pinned),
            (None, None) => None,
            (None, Some(session)) => {
                let stored = record::root(workspace, Some(&session))?;
                Some(Trusted { root: stored.root, count: stored.record_count })
            }
        };
        match (form, trusted) {
            (Form::Whole(line), trusted) => verdicts::proof(&line.text(), trusted.as_ref()),
            (Form::Path(path), Some(trusted)) => {
                let (root, index) = (root.unwrap_or(trusted.root), path.index()?);
                verdicts::proof(&path.line(index, trusted.count, root).text(), Some(&trusted))
            }
            (Form::Path(path), None) => {
                let root = root.ok_or_else(|| missing("root"))?;
                verdicts::path(&path.line(0, 1, root).text())
            }
        }
    }))
}

enum Form {
    Whole(Line),
    Path(Path),
}

/// The form of a proof in which leaf, steps and root are arguments of their own.
struct Path {
    scheme: Scheme,
    leaf_hash: String,
    index: Option<u64>,
    steps: Vec<Step>,
}

impl Path {
    /// The index, which the sides of the steps spell in binary where every level has a step.
    fn index(&self) -> Result<u64> {
        let spelled =
            || self.steps.iter().rev().fold(0_u64, |index, step| index << 1 | u64::from(step.position == "left"));
        match self.index {
            Some(index) => Ok(index),
            None if self.scheme.doubles() => Ok(spelled()),
            None => {
                Err(missing("index").hint("merkle_proof returns it; in this scheme it does not follow from the steps"))
            }
        }
    }

    fn line(self, index: u64, count: u64, root: RootHash) -> Line {
        let Self { scheme, leaf_hash, steps, .. } = self;
        Line { scheme: scheme.to_string(), leaf_hash, index, count, proof: steps, root: root.to_string() }
    }
}

/// The line of a proof file, whose fields have an order; on their way through a client they may have lost it.
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

impl Line {
    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| unreachable!("texts and numbers do not serialize: {error}"))
    }
}

fn as_returned<T: DeserializeOwned>(proof: Value) -> Result<T> {
    serde_json::from_value(proof)
        .map_err(|error| invalid("proof", &format!("is not what merkle_proof returns: {error}")))
}

fn scheme(name: Option<String>) -> Result<Scheme> {
    let parse =
        |name: String| Scheme::parse(&name).ok_or_else(|| invalid("scheme", &format!("must be {}", Scheme::RULE)));
    name.map_or(Ok(Scheme::V1), parse)
}
