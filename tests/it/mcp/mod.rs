//! The MCP server as a process: through rmcp's own client, and line by line.

mod catalogue;
mod keeping;
mod malformed;
mod progress;
mod proofs;
mod refusals;
mod schema;
mod sequence;
mod soak;
mod together;
mod tools;
mod wire;

use std::cell::OnceCell;
use std::path::Path;
use std::process::Stdio;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation, ProtocolVersion,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RunningService, ServiceError};
use rmcp::transport::TokioChildProcess;
use rmcp::{Peer, RoleClient};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::common;

/// How a client begins.
#[derive(Debug, Clone, Copy)]
pub(super) enum Era {
    /// `initialize`, with this version.
    Initialize(&'static str),
    /// `server/discover`, and who calls with every request.
    Discover,
}

pub(super) const ERAS: [Era; 5] = [
    Era::Initialize("2024-11-05"),
    Era::Initialize("2025-03-26"),
    Era::Initialize("2025-06-18"),
    Era::Initialize("2025-11-25"),
    Era::Discover,
];

/// An agent with a server of its own.
pub(crate) struct Agent {
    runtime: tokio::runtime::Runtime,
    service: RunningService<RoleClient, ClientConfig>,
    /// What the server says of its tools, once it has been asked.
    tools: OnceCell<Value>,
}

impl Agent {
    pub(crate) fn new(directory: &Path) -> Self {
        Self::with(directory, Era::Initialize("2025-11-25"), &[])
    }

    pub(super) fn with(directory: &Path, era: Era, arguments: &[&str]) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut command = common::git_proof(directory);
        command.arg("mcp").args(arguments).env("GIT_PROOF_PATIENCE", "5000");
        let known = |text: &str| {
            ProtocolVersion::KNOWN_VERSIONS.iter().find(|version| version.as_str() == text).unwrap().clone()
        };
        let me = ClientConfig::new(ClientCapabilities::default(), Implementation::new("tester", "1.2"));
        let (me, lifecycle) = match era {
            Era::Initialize(version) => (me.with_protocol_version(known(version)), ClientLifecycleMode::Initialize),
            Era::Discover => {
                let preferred_versions = vec![known("2026-07-28")];
                (me, ClientLifecycleMode::Discover { preferred_versions })
            }
        };
        let service = runtime.block_on(async {
            let command = tokio::process::Command::from(command);
            let (transport, _) = TokioChildProcess::builder(command).stderr(Stdio::null()).spawn().unwrap();
            me.serve_with_lifecycle(transport, lifecycle).await.unwrap()
        });
        Self { runtime, service, tools: OnceCell::new() }
    }

    /// Asks the server something.
    pub(super) fn ask<T>(&self, request: impl AsyncFnOnce(&Peer<RoleClient>) -> T) -> T {
        self.runtime.block_on(request(self.service.peer()))
    }

    pub(super) fn try_call(&self, tool: &str, arguments: Value) -> Result<CallToolResult, ServiceError> {
        let arguments: Map<String, Value> = serde_json::from_value(arguments).unwrap();
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        self.runtime.block_on(self.service.call_tool(request))
    }

    /// Calls a tool; the answer is the envelope, which must be well-formed whatever it says.
    #[track_caller]
    pub(super) fn call(&self, tool: &str, arguments: Value) -> Value {
        let result = self.try_call(tool, arguments).unwrap();
        let envelope = result.structured_content.unwrap();
        let text = serde_json::to_value(&result.content).unwrap();
        assert_eq!(text[0]["type"], "text");
        assert_eq!(serde_json::from_str::<Value>(text[0]["text"].as_str().unwrap()).unwrap(), envelope);
        assert_eq!(text.as_array().unwrap().len(), 1);
        assert_eq!(result.is_error, Some(envelope["ok"] == false), "{envelope}");
        let schema = self.schema(tool);
        assert_eq!(schema::flaw(&schema, &schema, &envelope), None, "{tool}");
        let keys: Vec<_> = envelope.as_object().unwrap().keys().map(String::as_str).collect();
        if envelope["ok"] == true {
            assert_eq!(keys, ["data", "ok"]);
        } else {
            assert_eq!(keys, ["error", "ok"]);
            let error = envelope["error"].as_object().unwrap();
            assert_eq!(error.keys().collect::<Vec<_>>(), ["code", "details", "hint", "message"]);
        }
        assert_eq!(command_in_a_hint(&envelope), None);
        envelope
    }

    /// The schema of a tool's answers.
    pub(super) fn schema(&self, tool: &str) -> Value {
        let tools = self.tools.get_or_init(|| {
            let tools = self.ask(async |peer| peer.list_all_tools().await.unwrap());
            tools.into_iter().map(|tool| (tool.name.to_string(), json!(tool.output_schema))).collect()
        });
        tools[tool].clone()
    }

    /// Calls a tool that must succeed; the answer is its data.
    #[track_caller]
    pub(crate) fn ok(&self, tool: &str, arguments: Value) -> Value {
        let envelope = self.call(tool, arguments);
        assert_eq!(envelope["ok"], true, "{tool}: {envelope}");
        envelope["data"].clone()
    }

    /// Calls a tool that must refuse with this code; the answer is the error.
    #[track_caller]
    pub(crate) fn refused(&self, code: &str, tool: &str, arguments: Value) -> Value {
        let envelope = self.call(tool, arguments);
        assert_eq!(envelope["error"]["code"], code, "{tool}: {envelope}");
        envelope["error"].clone()
    }

    /// The JSON of a resource; `None` if it is refused.
    pub(crate) fn read(&self, uri: &str) -> Option<Value> {
        let request = rmcp::model::ReadResourceRequestParams::new(uri);
        let read = self.ask(async |peer| peer.read_resource(request).await).ok()?;
        let read = serde_json::to_value(read).unwrap();
        Some(serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap())
    }

    /// Closes the connection and waits for the server.
    pub(crate) fn leave(self) {
        self.runtime.block_on(self.service.cancel()).unwrap();
    }
}

/// A repository of someone.
pub(super) fn repository() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let run = common::run(common::command("git", directory.path()).args(arguments));
        assert_eq!(run.code, Some(0), "{run:?}");
    };
    git(&["init", "-q"]);
    git(&["config", "user.name", "A U Thor"]);
    git(&["config", "user.email", "a@example.com"]);
    directory
}

/// Commits a file of this name and content.
pub(super) fn commit(directory: &Path, name: &str) {
    std::fs::write(directory.join(name), name).unwrap();
    for arguments in [&["add", name][..], &["commit", "-q", "-m", name]] {
        let run = common::run(common::command("git", directory).args(arguments));
        assert_eq!(run.code, Some(0), "{run:?}");
    }
}

/// Stages what [`commit`] commits.
pub(super) fn stage(directory: &Path, name: &str) {
    std::fs::write(directory.join(name), name).unwrap();
    let run = common::run(common::command("git", directory).args(["add", name]));
    assert_eq!(run.code, Some(0), "{run:?}");
}

/// The store itself, to look at or to break.
pub(super) fn database(directory: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(directory.join(".git/proof/store.db")).unwrap()
}

/// The ledger: tool, session, outcome.
pub(super) fn ledger(directory: &Path) -> Vec<(String, Option<String>, String)> {
    let database = database(directory);
    let mut statement =
        database.prepare("SELECT tool, session_id, outcome FROM audit_events ORDER BY event_id").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// What `git proof check` says of a session: the store is intact and so is the chain.
#[track_caller]
pub(super) fn check(directory: &Path, session: &str) -> Value {
    let run = common::run(common::git_proof(directory).args(["check", "--json", "--session", session]));
    assert_eq!(run.code, Some(0), "{run:?}");
    let intact: String = database(directory).query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(intact, "ok");
    serde_json::from_str(&run.stdout).unwrap()
}

/// A hint that speaks of commands to somebody who calls tools, wherever it is in an answer.
fn command_in_a_hint(answer: &Value) -> Option<String> {
    match answer {
        Value::Array(items) => items.iter().find_map(command_in_a_hint),
        Value::Object(fields) => fields.iter().find_map(|(name, value)| match value {
            Value::String(hint) if name == "hint" && !git_proof::hint::is_plain(hint) => Some(hint.clone()),
            _ => command_in_a_hint(value),
        }),
        _ => None,
    }
}
