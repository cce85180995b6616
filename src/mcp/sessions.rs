//! The tools that open, check and close a session.

use serde_json::json;

use super::arguments::Arguments;
use super::call::{Origin, Work, work};
use super::schema::answer;
use super::tool::{Input, Kind, SESSION, Tool, of_session, said, text};
use super::verdicts::{self, ChainVerdict};
use crate::agents;
use crate::error::Result;
use crate::flow::{self, FinalizeOutcome};
use crate::record::{self, AttestOutcome, AuditOutcome, EndOutcome, RootOutcome, StartOutcome, StartRequest};

pub(super) static START: Tool = Tool {
    name: "audit_session_start",
    title: "Start a session",
    description: "Opens a session: a hash chain whose genesis covers intent, task and caller.",
    kind: Kind::Adds,
    input: Input(&["intent"], || {
        json!({
            "intent": said("What you are about to do"),
            "task_id": text(),
            "session_id": said("Your own id instead of a random one"),
            "scheme": { "type": "string", "enum": ["v1", "v1-sorted", "v1-rfc9162", "ams-v0"], "default": "v1" },
            "proof_grade": {
                "type": "boolean", "default": true, "description": "Whether a reflection must close it",
            },
        })
    }),
    output: answer::<StartOutcome>,
    prepare: |given, origin| {
        let request = StartRequest {
            intent: given.required("intent")?,
            task_id: given.text("task_id")?,
            session_id: given.text("session_id")?,
            scheme: given.text("scheme")?,
            not_proof_grade: !given.flag("proof_grade")?.unwrap_or(true),
            caller: origin.caller(),
            continues: None,
        };
        Ok(work(move |workspace| agents::start(workspace, &request)).creating_store(true))
    },
};

pub(super) static VERIFY_CHAIN: Tool = Tool {
    name: "audit_verify_chain",
    title: "Verify a session's chain",
    description: "Recomputes every hash of a session. valid is true, or false with the first break: broken_at, index, \
                  reason, expected, actual.",
    kind: Kind::Reads,
    input: SESSION,
    output: answer::<ChainVerdict>,
    prepare: |given, _| {
        let session = given.required("session_id")?;
        Ok(Work::new(move |workspace| verdicts::chain(workspace, &session)))
    },
};

pub(super) static VERIFY_THOUGHTS: Tool = Tool {
    name: "thought_verify",
    title: "Verify a session's thoughts",
    description: "The same as audit_verify_chain.",
    ..VERIFY_CHAIN
};

pub(super) static END: Tool = Tool {
    name: "audit_session_end",
    title: "End a session",
    description: "Ends a session: no more entries. Says how it stands. Call it last.",
    kind: Kind::Closes,
    input: SESSION,
    output: answer::<EndOutcome>,
    prepare: |given, _| of_session(given, |workspace, session| record::end(workspace, Some(session))),
};

pub(super) static FINALIZE: Tool = Tool {
    name: "merkle_finalize",
    title: "Finalize a session",
    description: "Verifies the chain and closes the tree to its root, for good. A proof-grade session must end in a \
                  reflection.",
    kind: Kind::Closes,
    input: Input(&["session_id"], || {
        json!({
            "session_id": text(),
            "idempotent": {
                "type": "boolean", "default": false,
                "description": "Answer with the stored root if it is finalized already",
            },
        })
    }),
    output: answer::<FinalizeOutcome>,
    prepare: |given, _| {
        let (session, idempotent) = (given.required("session_id")?, given.flag("idempotent")?.unwrap_or(false));
        Ok(work(move |workspace| Ok(flow::finalize(workspace, Some(&session), idempotent)?.outcome)))
    },
};

pub(super) static ROOT: Tool = Tool {
    name: "merkle_root",
    title: "Root of a session",
    description: "Root and record_count of a finalized session, for pinning.",
    kind: Kind::Reads,
    input: SESSION,
    output: answer::<RootOutcome>,
    prepare: |given, _| of_session(given, |workspace, session| record::root(workspace, Some(session))),
};

pub(super) static AUDIT: Tool = Tool {
    name: "merkle_audit",
    title: "How a tree stands",
    description: "Leaf count, running root, and whether the session is finalized.",
    kind: Kind::Reads,
    input: SESSION,
    output: answer::<AuditOutcome>,
    prepare: |given, _| of_session(given, |workspace, session| record::audit(workspace, Some(session))),
};

pub(super) static ATTEST: Tool = Tool {
    name: "merkle_attest",
    title: "Attest operations",
    description: "Appends operations as leaves, all or none: what was run, digests of what was made.",
    kind: Kind::Adds,
    input: Input(&["session_id", "operations"], || {
        json!({
            "session_id": text(),
            "operations": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
        })
    }),
    output: answer::<Vec<AttestOutcome>>,
    prepare: |given, _| {
        let (session, operations) = (given.required("session_id")?, given.texts("operations")?);
        Ok(work(move |workspace| record::attest(workspace, Some(&session), &operations)))
    },
};

/// Reads a session as a resource.
pub(super) fn read(given: &mut Arguments, _: &Origin<'_>) -> Result<Work> {
    of_session(given, |workspace, session| record::log(workspace, Some(session), None))
}
