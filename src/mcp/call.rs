//! One call of a tool: its arguments are read before the store is opened, and the ledger gets a line for every call.

use rmcp::model::Implementation;
use serde::Serialize;
use serde_json::{Value, json};

use super::arguments::{Arguments, invalid};
use super::progress::Reporter;
use super::strict::{Given, Unreadable};
use super::worker::WorkerState;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git;
use crate::hint::worded_as_calls;
use crate::proof::canonical;
use crate::record::{self, Call, Workspace};

/// Largest answer. It goes out twice, as structured content and as text, and clients read lines of at most 16 MiB.
const MAX_ANSWER: usize = 6 << 20;

/// The data of an answer, and the word for it in the ledger.
pub(super) struct Done {
    pub(super) data: Value,
    pub(super) outcome: &'static str,
}

/// Reads the arguments of one tool.
pub(super) type Prepare = fn(&mut Arguments, &Origin<'_>) -> Result<Work>;

type Run = Box<dyn FnOnce(&mut Workspace) -> Result<Done>>;

/// A call whose arguments have been read.
pub(super) struct Work {
    /// Whether the call creates the store if there is none.
    creates: bool,
    run: Run,
}

impl Work {
    pub(super) fn new(run: impl FnOnce(&mut Workspace) -> Result<Done> + 'static) -> Self {
        Self { creates: false, run: Box::new(run) }
    }

    pub(super) fn creating_store(self, creates: bool) -> Self {
        Self { creates, ..self }
    }
}

/// Where a call comes from.
pub(super) struct Origin<'a> {
    pub(super) context: &'a Context,
    pub(super) client: Option<&'a Implementation>,
    /// The Codex session that calls.
    pub(super) thread: Option<&'a str>,
}

impl Origin<'_> {
    /// The client as it introduced itself and the person whose repository it is, for the genesis of a session.
    pub(super) fn caller(&self) -> Option<String> {
        let short = |text: &str, most: usize| -> String {
            text.trim().chars().filter(|character| !character.is_control()).take(most).collect()
        };
        let client = self.client?;
        let name = Some(short(&client.name, 100)).filter(|name| !name.is_empty())?;
        let version = short(&client.version, 40);
        let client = if version.is_empty() { name } else { format!("{name}/{version}") };
        Some(match git::identity(self.context) {
            Some(person) => format!("{client} ({person})"),
            None => client,
        })
    }
}

/// A client's request to run a tool or to read a resource.
pub(super) struct Asked {
    /// The name for the ledger.
    pub(super) tool: &'static str,
    pub(super) prepare: Prepare,
    pub(super) given: Given,
    pub(super) client: Option<Implementation>,
    /// The Codex session that calls.
    pub(super) thread: Option<String>,
    /// Passes progress on to a client that asked for it.
    pub(super) reporter: Option<Reporter>,
    /// Whether the client cancelled the call before it began. A call that has begun is finished.
    pub(super) cancelled: bool,
}

/// Makes a call and writes it to the ledger.
pub(super) fn call(state: &mut WorkerState, asked: Asked) -> Result<Value> {
    let Asked { tool, prepare, given, client, thread, reporter, cancelled } = asked;
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
        let origin = Origin { context: &state.context, client: client.as_ref(), thread: thread.as_deref() };
        given.and_then(|mut given| {
            let work = prepare(&mut given, &origin)?;
            given.finish()?;
            Ok(work)
        })
    };
    let workspace = match &prepared {
        Ok(work) => state.workspace(work.creates)?,
        // Without a store there is no ledger, and the mistake in the arguments is the better answer.
        Err(refused) => match state.workspace(false) {
            Ok(workspace) => workspace,
            Err(_) => return Err(refused.clone()),
        },
    };
    let before = record::changes(workspace);
    workspace.given(Some(digested.clone()));
    workspace.watched_by(reporter.map(Reporter::watcher));
    let result = prepared.and_then(|work| (work.run)(workspace));
    workspace.watched_by(None);
    let unchanged = record::changes(workspace) == before;
    // A call that changed something always gets its answer. Only an answer to a reading call can be refused as too large.
    let result = if unchanged { result.and_then(readable) } else { result };
    let (session, outcome) = match &result {
        Ok(done) => (session.or_else(|| session_of(&done.data)), done.outcome),
        Err(_) if cancelled => (session, "cancelled"),
        Err(error) => (session, error.code.as_str()),
    };
    let note = Call { tool, session: session.as_deref(), arguments: digested.as_bytes(), outcome };
    match result {
        // A call that changed something wrote its line of the ledger in the same transaction.
        Ok(done) if !unchanged => Ok(done.data),
        Ok(done) => record::note(workspace, &note).map(|()| done.data),
        // The store is still locked, so writing the ledger would fail too.
        Err(error) if error.code == Code::StoreBusy => Err(error),
        Err(error) => {
            let _ = record::note(workspace, &note); // the agent must get the refusal, even if it cannot be written to the ledger
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
    Work::new(move |workspace| Ok(done(&op(workspace)?)))
}
