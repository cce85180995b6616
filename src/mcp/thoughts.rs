//! The tools that record thoughts and read them.

use serde_json::json;

use super::arguments::missing;
use super::call::work;
use super::schema::answer;
use super::tool::{Input, Kind, SESSION, Tool, of_session, said, text};
use crate::agents::{self, Caller};
use crate::error::{Code, Error, Result};
use crate::publish;
use crate::record::{self, EntryView, RecordRequest, SearchOutcome, ShowOutcome, TreeData, TreeOutcome, Workspace};

const DEFAULT_HITS: u32 = 20;
const MAX_HITS: u64 = 200;

pub(super) static RECORD: Tool = Tool {
    name: "thought_record",
    title: "Record a thought",
    description: "Appends a thought to the chain; durable on return. session_id is required unless task_id is given \
                  alone: then it goes to that task's session that is not proof-grade, opened if there is none. A text \
                  in which a credential is found is refused.",
    kind: Kind::Adds,
    input: Input(&["type", "content"], || {
        json!({
            "session_id": text(),
            "task_id": text(),
            "type": {
                "type": "string", "enum": ["plan", "analysis", "decision", "reflection"],
                "description": "plan: the intended way; analysis: what was learned; decision: choice, alternatives, \
                                why; reflection: what happened, what remains uncertain; closes a task",
            },
            "content": said("At most 1 MiB"),
            "parent_id": said("The record it follows; default the last one"),
            "metadata": { "type": "object" },
            "private": { "type": "boolean", "default": false, "description": "Keep the text out of evidence; not for reflections" },
            "supersedes": said("The record it corrects: id or content_hash"),
            "until": said("Last day it holds, YYYY-MM-DD"),
        })
    }),
    output: answer::<EntryView>,
    prepare: |given, origin| {
        let (session, task) = (given.text("session_id")?, given.text("task_id")?);
        let mut request = RecordRequest {
            caller: if session.is_none() { origin.caller() } else { None },
            session,
            task,
            kind: given.required("type")?,
            content: given.required("content")?,
            parent: given.text("parent_id")?,
            metadata: given.object("metadata")?.map(|metadata| metadata.to_string()),
            private: given.flag("private")?.unwrap_or(false),
            supersedes: given.text("supersedes")?,
            until: given.text("until")?,
        };
        let creates = request.session.is_none();
        let caller = Caller {
            client: origin.client.map(|client| client.name.clone()),
            thread: origin.thread.map(str::to_owned),
        };
        let work = work(move |workspace| {
            if request.session.is_some() || request.task.is_none() {
                let own = agents::own_session(workspace, request.session.as_deref(), &caller)?;
                request.session = own.map(|own| own.to_string()).or(request.session);
                if request.session.is_none() {
                    return Err(
                        missing("session_id").hint("audit_session_start answers with one; task_id alone will do too")
                    );
                }
            }
            publish::record(workspace, &request)
        });
        Ok(work.creating_store(creates))
    },
};

pub(super) static GET: Tool = Tool {
    name: "thought_get",
    title: "Get a record",
    description: "One record with its hashes, and the calls made since the record before it (provenance).",
    kind: Kind::Reads,
    input: Input(&["id"], || json!({ "id": text() })),
    output: answer::<ShowOutcome>,
    prepare: |given, _| {
        let id = given.required("id")?;
        Ok(work(move |workspace| record::show(workspace, &id)))
    },
};

pub(super) static TREE: Tool = Tool {
    name: "thought_tree",
    title: "A session as a tree",
    description: "All records of a session, nested by parent; beyond 40 levels as a flat list, entries, with parent_id.",
    kind: Kind::Reads,
    input: SESSION,
    output: answer::<TreeData>,
    prepare: |given, _| {
        of_session(given, |workspace, session| record::tree(workspace, Some(session)).map(TreeOutcome::into_data))
    },
};

pub(super) static TRAIL: Tool = Tool {
    name: "thought_trail",
    title: "How a record came about",
    description: "The records from the first one to this one, along the parents.",
    kind: Kind::Reads,
    input: Input(&["record_id"], || json!({ "session_id": text(), "record_id": text() })),
    output: answer::<Vec<EntryView>>,
    prepare: |given, _| {
        let (session, record) = (given.text("session_id")?, given.required("record_id")?);
        Ok(work(move |workspace| trail(workspace, session.as_deref(), &record)))
    },
};

pub(super) static SEARCH: Tool = Tool {
    name: "thought_search",
    title: "Search records",
    description: "Full-text search (FTS5 syntax), best first; rank is BM25, smaller is better.",
    kind: Kind::Reads,
    input: Input(&["query"], || {
        json!({
            "query": text(),
            "session_id": said("Only in this session"),
            "limit": { "type": "integer", "minimum": 1, "maximum": 200, "default": 20 },
        })
    }),
    output: answer::<SearchOutcome>,
    prepare: |given, _| {
        let (query, session) = (given.required("query")?, given.text("session_id")?);
        let limit = given.number("limit", 1..=MAX_HITS)?;
        let limit = limit.and_then(|limit| u32::try_from(limit).ok()).unwrap_or(DEFAULT_HITS);
        Ok(work(move |workspace| record::search(workspace, &query, session.as_deref(), limit)))
    },
};

fn trail(workspace: &mut Workspace, session: Option<&str>, record: &str) -> Result<Vec<record::EntryView>> {
    let trail = record::trail(workspace, record)?;
    match (session, trail.last()) {
        (Some(session), Some(last)) if last.session_id.as_str() != session => {
            Err(Error::new(Code::RecordNotFound, format!("record {record} is not in session {session}"))
                .details(json!({ "id": record, "session_id": last.session_id })))
        }
        _ => Ok(trail),
    }
}
