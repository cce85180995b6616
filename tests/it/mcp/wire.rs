//! Line by line: what a client should not do, and what becomes of the store when it does.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::{check, database, ledger, repository};
use crate::common;

/// A server and the two ends of its pipes.
pub(super) struct Wire {
    pub(super) server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Wire {
    /// A server that has been spoken to as the protocol says.
    pub(super) fn new(directory: &Path) -> Self {
        let mut wire = Self::silent(directory);
        let client = json!({ "name": "wire", "version": "0" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        wire.send(&json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello }));
        assert_eq!(wire.answer()["result"]["protocolVersion"], "2025-06-18");
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        wire
    }

    pub(super) fn silent(directory: &Path) -> Self {
        let mut command = common::git_proof(directory);
        command
            .arg("mcp")
            .env("GIT_PROOF_PATIENCE", "30000")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let (input, output) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        Self { server, input, output }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    pub(super) fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Writes lines while reading so many answers, and ends the input.
    pub(super) fn pour(mut self, lines: &str, answers: usize) -> (Vec<Value>, common::Run) {
        let (mut input, lines) = (self.input.take().unwrap(), lines.to_owned());
        let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
        let said = (0..answers).map(|_| self.answer()).collect();
        writer.join().unwrap();
        (said, self.end().1)
    }

    /// The end of input: what the server still says, its exit code and its complaints.
    pub(super) fn end(mut self) -> (Vec<Value>, common::Run) {
        drop(self.input.take());
        let rest = self.output.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        (rest, self.server.wait_with_output().unwrap().into())
    }
}

pub(super) fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

pub(super) fn start(wire: &mut Wire) {
    wire.send(&call(0, "audit_session_start", &json!({ "intent": "wire", "session_id": "s1" })));
    assert_eq!(wire.answer()["result"]["structuredContent"]["ok"], true);
}

pub(super) fn plan(content: &str) -> Value {
    json!({ "session_id": "s1", "type": "plan", "content": content })
}

#[test]
fn the_end_of_input_is_a_clean_end_at_any_moment() {
    let home = repository();
    let (said, run) = Wire::silent(home.path()).end();
    assert_eq!((said.len(), run.code, run.stderr.as_str()), (0, Some(0), ""));
    let mut half = Wire::silent(home.path());
    half.write(br#"{"jsonrpc":"2.0","id":1,"meth"#);
    let (said, run) = half.end();
    assert_eq!((&said[0]["id"], &said[0]["error"]["code"], run.code), (&json!(1), &json!(-32700), Some(0)));
    let (_, run) = Wire::new(home.path()).end();
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let mut busy = Wire::new(home.path());
    start(&mut busy);
    busy.send(&call(1, "thought_record", &plan("the last word")));
    busy.write(br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"na"#);
    let (said, run) = busy.end();
    let mut ids: Vec<_> = said.iter().map(|answer| answer["id"].as_u64()).collect();
    ids.sort_unstable();
    assert_eq!(
        (ids, run.code),
        (vec![Some(1), Some(2)], Some(0)),
        "what was asked before the end is answered: {said:?}"
    );
    assert_eq!(check(home.path(), "s1")["records"], 1);
}

#[test]
fn blank_lines_are_skipped_and_unknown_methods_and_parameters_are_answered() {
    let home = repository();
    let mut wire = Wire::new(home.path());
    start(&mut wire);
    for blank in ["", "\r", "  \t"] {
        wire.write(format!("{blank}\n").as_bytes());
    }
    wire.send(&call(7, "audit_verify_chain", &json!({ "session_id": "s1" })));
    assert_eq!(wire.answer()["id"], 7);
    wire.send(&json!({ "jsonrpc": "2.0", "id": 8, "method": "no/such" }));
    let unknown = wire.answer();
    assert_eq!((&unknown["id"], &unknown["error"]["code"]), (&json!(8), &json!(-32601)));
    for (id, params) in [(9, json!({ "name": "thought_get", "arguments": [1] })), (10, json!({ "name": 5 }))] {
        wire.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
        let answer = wire.answer();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32602)), "{answer}");
    }
    wire.send(&json!({ "jsonrpc": "2.0", "id": 11, "method": "ping" }));
    assert_eq!(wire.answer(), json!({ "jsonrpc": "2.0", "id": 11, "result": {} }));
    assert_eq!(wire.end().1.code, Some(0));
    check(home.path(), "s1");
}

#[test]
fn before_the_handshake_there_are_no_tools() {
    let home = repository();
    let mut wire = Wire::silent(home.path());
    wire.send(&call(1, "audit_session_start", &json!({ "intent": "too early" })));
    assert_eq!(wire.answer()["error"]["code"], -32602);
    assert_eq!(wire.end().1.code, Some(0));
    assert!(!home.path().join(".git/proof").exists());
    let mut wire = Wire::silent(home.path());
    wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let run = wire.end().1;
    assert_eq!(run.code, Some(2), "{run:?}");
}

#[test]
fn a_line_of_ten_megabytes() {
    let home = repository();
    let mut wire = Wire::new(home.path());
    start(&mut wire);
    wire.send(&call(1, "thought_record", &plan(&"x".repeat(10_000_000))));
    let answer = wire.answer();
    assert_eq!(answer["result"]["structuredContent"]["error"]["code"], "ERR_TOO_LARGE");
    assert_eq!(answer["result"]["isError"], true);
    wire.send(&call(2, "thought_record", &plan(&"y".repeat(1 << 20))));
    assert_eq!(wire.answer()["result"]["structuredContent"]["ok"], true);
    assert_eq!(wire.end().1.code, Some(0));
    assert_eq!(check(home.path(), "s1")["records"], 1);
}

#[test]
fn a_thousand_calls_in_flight() {
    let home = repository();
    let mut wire = Wire::new(home.path());
    start(&mut wire);
    let lines: String =
        (1..=1000).map(|n| call(n, "thought_record", &plan(&format!("thought {n}"))).to_string() + "\n").collect();
    let mut input = wire.input.take().unwrap();
    let writer = std::thread::spawn(move || {
        input.write_all(lines.as_bytes()).unwrap();
        input
    });
    for _ in 1..=1000 {
        let answer = wire.answer();
        let data = &answer["result"]["structuredContent"]["data"];
        // In the order in which they were sent.
        assert_eq!(data["content"], format!("thought {}", answer["id"]));
        assert_eq!(json!(data["index"].as_u64().unwrap() + 1), answer["id"]);
    }
    wire.input = Some(writer.join().unwrap());
    assert_eq!(wire.end().1.code, Some(0));
    assert_eq!(check(home.path(), "s1")["records"], 1000);
    assert_eq!(ledger(home.path()).len(), 1001);
}

#[test]
fn whatever_was_asked_before_the_end_is_answered_however_long_it_takes() {
    let home = repository();
    let mut wire = Wire::new(home.path());
    start(&mut wire);
    let other = database(home.path());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for n in 1..=20 {
        wire.send(&call(n, "thought_record", &plan("x")));
    }
    // What is cancelled before it begins is neither done nor waited for.
    wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 20 } }));
    let holding = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(6500)); // longer than rmcp would wait
        other.execute_batch("COMMIT").unwrap();
    });
    let (said, run) = wire.end();
    holding.join().unwrap();
    let ids: Vec<_> = said.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    assert_eq!((ids, run.code), ((1..=19).collect(), Some(0)));
    assert_eq!(check(home.path(), "s1")["records"], 19);
}

#[test]
fn a_client_that_dies_half_way() {
    let home = repository();
    let mut wire = Wire::new(home.path());
    start(&mut wire);
    for n in 1..=50 {
        wire.send(&call(n, "thought_record", &plan("x")));
    }
    let acknowledged = wire.answer()["id"].as_u64().unwrap();
    assert_eq!(acknowledged, 1);
    // Both ends are gone at once: nobody reads what is still to be said.
    drop(wire.input.take());
    drop(wire.output);
    assert_eq!(wire.server.wait().unwrap().code(), Some(0));
    let records = check(home.path(), "s1")["records"].as_u64().unwrap();
    assert!(records >= acknowledged);
    assert_eq!(ledger(home.path()).len() as u64, records + 1);
}

#[test]
fn a_server_that_is_killed_keeps_what_it_acknowledged() {
    let home = repository();
    let mut wire = Wire::new(home.path());
    start(&mut wire);
    for n in 1..=100 {
        wire.send(&call(n, "thought_record", &plan("x")));
    }
    for _ in 1..=10 {
        wire.answer();
    }
    wire.server.kill().unwrap();
    wire.server.wait().unwrap();
    let records = check(home.path(), "s1")["records"].as_u64().unwrap();
    assert!(records >= 10, "{records}");
    assert_eq!(ledger(home.path()).len() as u64, records + 1);
}
