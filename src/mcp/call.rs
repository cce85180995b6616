//! From a call to an op and back: arguments are read before anything is opened, every call is written down.

use rmcp::model::Implementation;
use serde::Serialize;
use serde_json::{Value, json};

use super::arguments::{Arguments, invalid, missing};
use super::desk::Drawer;
use super::progress::Reporter;
use super::proofs::{merkle_proof, merkle_verify};
use super::strict::{Given, Unreadable};
use super::{keeping, recall, verdicts};
use crate::agents::Caller;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::flow::{self, AnchorRequest};
use crate::hint::worded_as_calls;
use crate::judge::{self, VerifyRequest};
use crate::proof::canonical;
use crate::publish;
use crate::record::{self, Call, RecordRequest, StartRequest, Workspace};
use crate::{agents, git};

/// Largest answer. It goes out twice, as structured content and as text, and clients read lines of at most 16 MiB.
const MAX_ANSWER: usize = 6 << 20;
/// Most commits that one call judges: their verdicts fit into an answer.
const MAX_COMMITS: usize = 1000;
const DEFAULT_HITS: u32 = 20;
const MAX_HITS: u64 = 200;

/// What an answer is, and how the ledger calls it.
pub(super) struct Done {
    pub(super) data: Value,
    pub(super) outcome: &'static str,
}

/// Work that an op does once the store is open.
pub(super) type Work = Box<dyn FnOnce(&mut Workspace) -> Result<Done>>;

/// A call whose arguments have been read.
struct Prepared {
    /// Whether it may make the store.
    creates: bool,
    work: Work,
}

/// What a client asks for.
pub(super) struct Asked<'a> {
    pub(super) tool: &'a str,
    pub(super) given: Given,
    pub(super) client: Option<Implementation>,
    /// The session of Codex that asks.
    pub(super) thread: Option<String>,
    /// Where it wants to hear how far the work is.
    pub(super) reporter: Option<Reporter>,
    /// Whether it has thought better of it. A call that has begun is finished; one that has not is not begun.
    pub(super) cancelled: bool,
}

/// Does a call and writes it down.
pub(super) fn call(drawer: &mut Drawer, asked: Asked<'_>) -> Result<Value> {
    let Asked { tool, given, client, thread, reporter, cancelled } = asked;
    let (session, digested, given) = match given {
        Ok(given) => {
            let session = given.get("session_id").and_then(Value::as_str).map(str::to_owned);
            let given = Value::Object(given);
            let digested = canonical::to_text(&given).unwrap_or_else(|_| given.to_string());
            let Value::Object(given) = given else { unreachable!("an object was put in") };
            (session, digested, Ok(Arguments::new(given)))
        }
        Err(Unreadable { text, why }) => {
            (None, text, Err(invalid("arguments", &format!("cannot be read exactly: {why}"))))
        }
    };
    let prepared = if cancelled {
        Err(Error::new(Code::InvalidParams, "the call was cancelled before it began"))
    } else {
        given.and_then(|given| prepare(tool, given, client.as_ref(), thread, &drawer.context))
    };
    let workspace = match &prepared {
        Ok(prepared) => drawer.workspace(prepared.creates)?,
        // Without a store there is no ledger, and the mistake in the arguments is the better answer.
        Err(refused) => match drawer.workspace(false) {
            Ok(workspace) => workspace,
            Err(_) => return Err(refused.clone()),
        },
    };
    let before = record::changes(workspace);
    workspace.given(Some(digested.clone()));
    workspace.watched_by(reporter.map(Reporter::watcher));
    let result = prepared.and_then(|prepared| (prepared.work)(workspace));
    workspace.watched_by(None);
    let unchanged = record::changes(workspace) == before;
    // What was done is done and is said; only what was merely asked for can be too much.
    let result = if unchanged { result.and_then(readable) } else { result };
    let (session, outcome) = match &result {
        Ok(done) => (session.or_else(|| session_of(&done.data)), done.outcome),
        Err(_) if cancelled => (session, "cancelled"),
        Err(error) => (session, error.code.as_str()),
    };
    let note = Call { tool, session: session.as_deref(), arguments: digested.as_bytes(), outcome };
    match result {
        // What changed something has written itself down with the change.
        Ok(done) if !unchanged => Ok(done.data),
        Ok(done) => record::note(workspace, &note).map(|()| done.data),
        // To wait for the writer once more would not help.
        Err(error) if error.code == Code::StoreBusy => Err(error),
        Err(error) => {
            let _ = record::note(workspace, &note); // the refusal itself is what the agent must hear
            Err(error)
        }
    }
}

fn readable(done: Done) -> Result<Done> {
    let bytes = done.data.to_string().len();
    if bytes <= MAX_ANSWER {
        return Ok(done);
    }
    Err(Error::new(Code::TooLarge, format!("the answer has {bytes} bytes; the limit is {MAX_ANSWER}"))
        .hint("thought_search with a small limit finds records; thought_get returns one")
        .details(json!({ "bytes": bytes, "limit": MAX_ANSWER })))
}

/// The session that an answer is about.
fn session_of(data: &Value) -> Option<String> {
    let entry = data.get(0).unwrap_or(data);
    entry.get("session_id").and_then(Value::as_str).map(str::to_owned)
}

pub(super) fn done<T: Serialize>(outcome: &T) -> Done {
    match worded_as_calls(|| serde_json::to_value(outcome)) {
        Ok(data) => Done { data, outcome: "ok" },
        Err(error) => unreachable!("an outcome does not serialize: {error}"),
    }
}

pub(super) fn work<T: Serialize>(op: impl FnOnce(&mut Workspace) -> Result<T> + 'static) -> Work {
    Box::new(move |workspace| Ok(done(&op(workspace)?)))
}

fn prepare(
    tool: &str,
    mut given: Arguments,
    client: Option<&Implementation>,
    thread: Option<String>,
    context: &Context,
) -> Result<Prepared> {
    let mut creates = false;
    let work = match tool {
        "audit_session_start" => {
            creates = true;
            let request = StartRequest {
                intent: given.required("intent")?,
                task_id: given.text("task_id")?,
                session_id: given.text("session_id")?,
                scheme: given.text("scheme")?,
                not_proof_grade: !given.flag("proof_grade")?.unwrap_or(true),
                caller: caller(context, client),
                continues: None,
            };
            work(move |workspace| agents::start(workspace, &request))
        }
        "thought_record" => {
            let mut request = record_request(&mut given, context, client)?;
            creates = request.session.is_none();
            let caller = Caller { client: client.map(|client| client.name.clone()), thread };
            work(move |workspace| {
                if request.session.is_some() || request.task.is_none() {
                    let own = agents::own_session(workspace, request.session.as_deref(), &caller)?;
                    request.session = own.map(|own| own.to_string()).or(request.session);
                    if request.session.is_none() {
                        return Err(missing("session_id")
                            .hint("audit_session_start answers with one; task_id alone will do too"));
                    }
                }
                publish::record(workspace, &request)
            })
        }
        "thought_search" => {
            let (query, session) = (given.required("query")?, given.text("session_id")?);
            let limit = given.number("limit", 1..=MAX_HITS)?;
            let limit = limit.and_then(|limit| u32::try_from(limit).ok()).unwrap_or(DEFAULT_HITS);
            work(move |workspace| record::search(workspace, &query, session.as_deref(), limit))
        }
        "thought_get" => {
            let id = given.required("id")?;
            work(move |workspace| record::show(workspace, &id))
        }
        "thought_trail" => {
            let (session, record) = (given.text("session_id")?, given.required("record_id")?);
            work(move |workspace| trail(workspace, session.as_deref(), &record))
        }
        "verify_commits" | "resources/read-commit" => {
            // The ledger needs a place, even where nothing was recorded.
            creates = true;
            let revisions = given.list("commits")?.unwrap_or_default();
            let with_story = tool != "verify_commits";
            let request = VerifyRequest {
                revisions,
                with_story,
                rules: None,
                most: Some(MAX_COMMITS),
                ..VerifyRequest::default()
            };
            work(move |workspace| judge::verify(&workspace.context, &request))
        }
        "round_seal" | "retention_run" | "memory_put" | "memory_pack" => {
            creates = tool == "round_seal"; // what others anchored can be sealed where nothing was recorded
            keeping::work_of(tool, &mut given)?
        }
        "decisions_for" | "why" => {
            creates = true; // what others recorded can be asked for where nothing was recorded
            recall::work_of(tool, &mut given)?
        }
        "merkle_proof" => merkle_proof(&mut given)?,
        "merkle_verify" => merkle_verify(&mut given)?,
        _ => of_session(tool, &mut given)?,
    };
    given.finish()?;
    Ok(Prepared { creates, work })
}

/// The tools that are about one session.
fn of_session(tool: &str, given: &mut Arguments) -> Result<Work> {
    let session = given.required("session_id")?;
    Ok(match tool {
        "audit_verify_chain" | "thought_verify" => Box::new(move |workspace| verdicts::chain(workspace, &session)),
        "audit_session_end" => work(move |workspace| record::end(workspace, Some(&session))),
        "merkle_finalize" => {
            let idempotent = given.flag("idempotent")?.unwrap_or(false);
            work(move |workspace| Ok(flow::finalize(workspace, Some(&session), idempotent)?.outcome))
        }
        "anchor_commit" => {
            let (commits, sign) = (given.list("commits")?.unwrap_or_default(), given.flag("sign")?);
            let request = AnchorRequest { session: Some(session), commits, sign };
            work(move |workspace| flow::anchor(workspace, &request))
        }
        "merkle_root" => work(move |workspace| record::root(workspace, Some(&session))),
        "merkle_audit" => work(move |workspace| record::audit(workspace, Some(&session))),
        "merkle_attest" => {
            let operations = given.texts("operations")?;
            work(move |workspace| record::attest(workspace, Some(&session), &operations))
        }
        "thought_tree" => {
            work(move |workspace| record::tree(workspace, Some(&session)).map(record::TreeOutcome::into_data))
        }
        // Reading a resource is a call like any other.
        "resources/read" => work(move |workspace| record::log(workspace, Some(&session), None)),
        _ => return Err(Error::new(Code::InvalidParams, format!("there is no tool {tool}"))),
    })
}

fn record_request(given: &mut Arguments, context: &Context, client: Option<&Implementation>) -> Result<RecordRequest> {
    let (session, task) = (given.text("session_id")?, given.text("task_id")?);
    Ok(RecordRequest {
        caller: if session.is_none() { caller(context, client) } else { None },
        session,
        task,
        kind: given.required("type")?,
        content: given.required("content")?,
        parent: given.text("parent_id")?,
        metadata: given.object("metadata")?.map(|metadata| metadata.to_string()),
        private: given.flag("private")?.unwrap_or(false),
        supersedes: given.text("supersedes")?,
        until: given.text("until")?,
    })
}

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

/// Who calls: the client as it introduced itself, and the person whose repository it is. It becomes part of a genesis.
fn caller(context: &Context, client: Option<&Implementation>) -> Option<String> {
    let short = |text: &str, most: usize| -> String {
        text.trim().chars().filter(|character| !character.is_control()).take(most).collect()
    };
    let client = client?;
    let name = Some(short(&client.name, 100)).filter(|name| !name.is_empty())?;
    let version = short(&client.version, 40);
    let client = if version.is_empty() { name } else { format!("{name}/{version}") };
    Some(match git::identity(context) {
        Some(person) => format!("{client} ({person})"),
        None => client,
    })
}
