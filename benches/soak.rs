//! A server that runs for long: one process, many calls, memory and descriptors at its end as at its beginning, and the
//! last thousand calls as fast as the first.
//!
//! `cargo bench --bench soak`, and `GIT_PROOF_SOAK=20000` for another number of calls than 200,000.
//!
//! Standard input has one writer, so two clients are two agents that share the pipe, each in a session of its own, their
//! calls one in flight each and interleaved. Every thousand calls an agent packs its notes, finalizes and begins anew, so
//! that calls late in the run work on sessions as long as those early in it.

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop

mod scratch;
mod table;

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use scratch::{CONTENT, Scratch};
use serde_json::{Value, json};
use table::{Row, Target, percentile};

/// As many as the goal says, unless the environment names another number.
const CALLS: usize = 200_000;
/// Calls in the life of one session.
const SESSION: usize = 1000;
/// Calls that are compared, from both ends. The very first of all warm the caches and are left out.
const WINDOW: usize = 1000;
const WARM: usize = 2 * SESSION;
/// What the page cache of the store may still gain, in KiB, once it is warm.
const SLACK: u32 = 4 * 1024;

fn main() {
    if !table::wanted() {
        return;
    }
    let calls = std::env::var("GIT_PROOF_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(CALLS);
    let least = WARM + 2 * SESSION + WINDOW;
    assert!(calls > least, "{least} calls or fewer say nothing");
    table::print(&soak(calls));
}

fn soak(calls: usize) -> Vec<Row> {
    let scratch = Scratch::new();
    let mut server = Server::start(&scratch);
    let mut agents = [Client::new("a"), Client::new("b")];
    let mut times = Vec::with_capacity(calls);
    for (at, agent) in agents.iter_mut().enumerate() {
        server.send(at, &agent.next());
    }
    let mut warm = None;
    // Two calls are in flight at any time, one of each agent, so each waits for one of the other at most.
    while times.len() < calls {
        let (agent, took) = server.answer();
        times.push(took);
        server.send(agent, &agents[agent].next());
        if times.len() == WARM {
            warm = Some(server.size());
        }
    }
    server.answer();
    server.answer();
    let ((memory, files), (memory_after, files_after)) = (warm.unwrap(), server.size());
    server.end();
    let middle = |times: &[Duration], percent: usize| {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        percentile(&sorted, percent)
    };
    // At the same stage of their sessions, so that the same kinds of calls are compared.
    let start = WARM + (calls - WINDOW - WARM) % (2 * SESSION);
    let (first, last) = (&times[start..start + WINDOW], &times[calls - WINDOW..]);
    let row = |what: &str, percent: usize| {
        let figure = format!("{calls} calls of two agents, {what} of the last thousand : of the first");
        Row::cost(&figure, middle(last, percent), middle(first, percent), 1.2)
    };
    vec![
        row("p50", 50),
        Row { target: Target::None, ..row("p99", 99) },
        Row::memory("memory of the server after them : when it was warm, and 4 MiB", memory_after, memory + SLACK),
        Row {
            figure: "descriptors of the server after them : when it was warm".to_owned(),
            ours: files_after.to_string(),
            baseline: files.to_string(),
            ratio: f64::from(files_after) / f64::from(files),
            target: Target::AtMost(1.0),
        },
    ]
}

/// An agent that works, closes its session and begins the next.
struct Client {
    name: &'static str,
    calls: usize,
}

impl Client {
    fn new(name: &'static str) -> Self {
        Self { name, calls: 0 }
    }

    fn next(&mut self) -> Value {
        let (session, at) = (format!("{}-{}", self.name, self.calls / SESSION), self.calls % SESSION);
        self.calls += 1;
        let (tool, arguments) = match at {
            0 => ("audit_session_start", json!({ "session_id": session, "intent": "soak" })),
            995 => ("memory_pack", json!({ "session_id": session })),
            996 => ("thought_record", json!({ "session_id": session, "type": "reflection", "content": CONTENT })),
            997 => ("merkle_finalize", json!({ "session_id": session })),
            998 => ("merkle_root", json!({ "session_id": session })),
            999 => ("audit_session_end", json!({ "session_id": session })),
            at if at % 100 == 50 => ("audit_verify_chain", json!({ "session_id": session })),
            at if at % 10 == 3 => ("memory_put", json!({ "session_id": session, "text": format!("note {at}") })),
            at if at % 10 == 5 => ("thought_search", json!({ "session_id": session, "query": "journal", "limit": 3 })),
            at if at % 10 == 7 => ("merkle_audit", json!({ "session_id": session })),
            at if at % 10 == 9 => ("thought_record", json!({ "session_id": session, "type": "no such type" })),
            _ => ("thought_record", json!({ "session_id": session, "type": "analysis", "content": CONTENT })),
        };
        json!({ "name": tool, "arguments": arguments })
    }
}

/// The server, and the calls in flight. Answers that are ready at the same time may come in any order.
struct Server {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    sent: HashMap<u64, Sent>,
    count: u64,
}

/// A call in flight.
struct Sent {
    agent: usize,
    refused: bool,
    at: Instant,
}

impl Server {
    fn start(scratch: &Scratch) -> Self {
        let mut command = scratch.git_proof(&["mcp"]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        let mut server = Self { process, input, output, sent: HashMap::new(), count: 0 };
        let client = json!({ "name": "soak", "version": "0" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        server.write(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }));
        server.output.read_line(&mut String::new()).unwrap();
        server.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    fn write(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.input.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    fn send(&mut self, agent: usize, call: &Value) {
        self.count += 1;
        let refused = call["arguments"]["type"] == "no such type";
        self.sent.insert(self.count, Sent { agent, refused, at: Instant::now() });
        self.write(&json!({ "jsonrpc": "2.0", "id": self.count, "method": "tools/call", "params": call }));
    }

    /// The next answer: whose it is, and how long it took. It must be yes, unless the call asked for a no.
    fn answer(&mut self) -> (usize, Duration) {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let now = Instant::now();
        let answer: Value = serde_json::from_str(&line).unwrap();
        let sent = self.sent.remove(&answer["id"].as_u64().unwrap()).unwrap();
        assert_eq!(answer["result"]["isError"], sent.refused, "{line}");
        (sent.agent, now.duration_since(sent.at))
    }

    /// Its resident memory in KiB, and its open descriptors.
    fn size(&self) -> (u32, u32) {
        let id = self.process.id();
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
        let files = fs::read_dir(format!("/proc/{id}/fd")).unwrap().count();
        (memory.unwrap().parse().unwrap(), u32::try_from(files).unwrap())
    }

    fn end(mut self) {
        drop(self.input.take());
        assert!(self.process.wait().unwrap().success());
    }
}
