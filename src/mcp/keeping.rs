//! The tools that pack working memory into leaves, seal anchored sessions in rounds, and archive old texts.

use serde_json::json;

use super::call::work;
use super::schema::answer;
use super::tool::{Input, Kind, Tool, said, text};
use crate::keep::{self, PackOutcome, PackRequest, PutOutcome, PutRequest, RetainOutcome, RetainRequest};
use crate::seal::{self, SealOutcome, SealRequest};

pub(super) static PUT: Tool = Tool {
    name: "memory_put",
    title: "Put a note into working memory",
    description: "Keeps a note for this session; durable on return, not published. memory_pack makes a leaf of it.",
    kind: Kind::Adds,
    input: Input(
        &["session_id", "text"],
        || json!({ "session_id": text(), "text": said("At most 1 MiB"), "key": said("A name for it") }),
    ),
    output: answer::<PutOutcome>,
    prepare: |given, _| {
        let (session, text) = (Some(given.required("session_id")?), given.required("text")?);
        let request = PutRequest { session, text, key: given.text("key")? };
        Ok(work(move |workspace| keep::memory_put(workspace, &request)))
    },
};

pub(super) static PACK: Tool = Tool {
    name: "memory_pack",
    title: "Pack working memory",
    description: "Turns the session's notes into leaves that commit to each text, removes the texts, and records an \
                  analysis that says how many. Anyone with a text and its salt can prove it. It does not close the \
                  session: thought_record(type=reflection) does.",
    kind: Kind::Replaces,
    input: Input(&["session_id"], || {
        json!({
            "session_id": text(),
            "content": said("The text of the analysis; default how many notes were packed"),
        })
    }),
    output: answer::<PackOutcome>,
    prepare: |given, _| {
        let session = Some(given.required("session_id")?);
        let request = PackRequest { session, content: given.text("content")? };
        Ok(work(move |workspace| keep::memory_pack(workspace, &request)))
    },
};

pub(super) static SEAL: Tool = Tool {
    name: "round_seal",
    title: "Seal a round",
    description: "Lists every anchored session that no round has sealed yet in the next seal of refs/proof/rounds. \
                  Refused while a session of this clone is open, unless defer is true.",
    kind: Kind::Adds,
    input: Input(&[], || {
        json!({
            "defer": { "type": "boolean", "default": false, "description": "Leave open sessions to the next round" },
            "sign": { "type": "boolean" },
        })
    }),
    output: answer::<SealOutcome>,
    prepare: |given, _| {
        let request = SealRequest { defer: given.flag("defer")?.unwrap_or(false), sign: given.flag("sign")? };
        // A clone that recorded nothing itself can seal what others anchored.
        Ok(work(move |workspace| seal::seal(workspace, &request)).creating_store(true))
    },
};

pub(super) static RETAIN: Tool = Tool {
    name: "retention_run",
    title: "Move old texts to archives",
    description: "Moves the texts of sessions whose round was sealed long ago into verified archives. Hashes, roots and \
                  proofs stay; reading a session brings its texts back. dry_run only lists what would move.",
    kind: Kind::Adds,
    input: Input(&[], || json!({ "dry_run": { "type": "boolean", "default": false } })),
    output: answer::<RetainOutcome>,
    prepare: |given, _| {
        // Dropping texts for good (`freeze`) is for a person to decide, at the command line.
        let request = RetainRequest { dry_run: given.flag("dry_run")?.unwrap_or(false), freeze: None };
        Ok(work(move |workspace| keep::retain(workspace, &request)))
    },
};
