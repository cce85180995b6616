//! What an agent waits for: a record through the server against one in a process of its own, and the server's start
//! against git's.
//!
//! `cargo bench --bench mcp`

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop

mod scratch;
mod server;
mod table;

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use git_proof::context::Context;
use git_proof::publish;
use git_proof::record::{self, RecordRequest, StartRequest, Workspace};
use scratch::{CONTENT, Scratch};
use serde_json::json;
use server::{Server, hello, request};
use table::{Row, Target, percentile, run, sorted_times};

const RECORDS: usize = 3000;
const STARTS: usize = 200;

fn main() {
    if !table::wanted() {
        return;
    }
    let mut rows = round_trips();
    rows.extend(starts());
    table::print(&rows);
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

/// The same record through the server, and in this process. Each has a store of its own, with the same durability.
fn round_trips() -> Vec<Row> {
    let (served, alone) = (Scratch::new(), Scratch::new());
    let mut server = Server::start(&mut served.git_proof(&["mcp"]));
    server.ask(&hello());
    server.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    let start = json!({ "name": "audit_session_start", "arguments": { "intent": "bench", "session_id": "s1" } });
    server.ask(&request(1, "tools/call", &start));
    let arguments = json!({ "session_id": "s1", "type": "analysis", "content": CONTENT });
    let record = request(2, "tools/call", &json!({ "name": "thought_record", "arguments": arguments }));
    assert!(server.ask(&record).contains("\"ok\":true"));

    let mut workspace = Workspace::open_or_create(Context::new(alone.path().to_owned())).unwrap();
    let start = StartRequest { intent: "bench".into(), session_id: Some("s1".into()), ..StartRequest::default() };
    record::start(&mut workspace, &start).unwrap();
    let request = RecordRequest {
        session: Some("s1".into()),
        kind: "analysis".into(),
        content: CONTENT.into(),
        ..RecordRequest::default()
    };
    let mut echo = Server::start(&mut Command::new("cat"));
    let [over_stdio, in_process, pipe] = sorted_times(
        RECORDS,
        [
            &mut || timed(|| server.ask(&record).len()),
            &mut || timed(|| publish::record(&mut workspace, &request).unwrap()),
            &mut || timed(|| echo.ask(&record).len()),
        ],
    );
    server.end();
    echo.end();
    let at = |percent| (percentile(&over_stdio, percent), percentile(&in_process, percent));
    let ((ours, append), (ours_99, append_99)) = (at(50), at(99));
    let bare = percentile(&pipe, 50);
    vec![
        Row::cost("thought_record over stdio, p50 : durable append in one process", ours, append, 1.5),
        Row::cost("thought_record over stdio, p99 : durable append in one process", ours_99, append_99, 4.0),
        Row { target: Target::None, ..Row::cost("a line through `cat` and back : durable append", bare, append, 0.0) },
    ]
}

/// From nothing to the answer of `initialize`, without what the client itself needs for a line to go and come.
fn starts() -> Vec<Row> {
    let scratch = Scratch::new();
    let hello = hello();
    let mut echo = Server::start(&mut Command::new("cat"));
    let [first_answer, version, client] = sorted_times(
        STARTS,
        [
            &mut || {
                let start = Instant::now();
                let mut server = Server::start(&mut scratch.git_proof(&["mcp"]));
                assert!(server.ask(&hello).contains("git-proof"));
                let elapsed = start.elapsed();
                server.end();
                elapsed
            },
            &mut || timed(|| run(&mut scratch.git(&["--version"]))),
            &mut || timed(|| echo.ask(&hello).len()),
        ],
    )
    .map(|times| percentile(&times, 50));
    echo.end();
    vec![
        Row::cost(
            "mcp, start to first answer, less the client's share : git --version",
            first_answer.saturating_sub(client),
            version,
            2.0,
        ),
        Row {
            target: Target::None,
            ..Row::cost("the client's share, a line through `cat` : git --version", client, version, 0.0)
        },
    ]
}
