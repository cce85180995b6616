//! Decisions that come back, in a repository of 10,000 anchored commits: `why` of a line against git's own blame of it, the
//! hook that tells an agent the decisions for a file against git's smallest question, and `decisions_for` over the protocol
//! against its limit.
//!
//! `cargo bench --bench recall`

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop

mod history;
mod scratch;
mod server;
mod table;

use std::fs::File;
use std::time::Duration;

use history::anchored_files;
use scratch::Scratch;
use serde_json::json;
use server::{Server, hello, request};
use table::{Row, medians, run};

const COMMITS: usize = 10_000;
const FILES: usize = 5_000;
const ROUNDS: usize = 30;
/// What `decisions_for` may take.
const LIMIT: Duration = Duration::from_millis(5);
/// A file of the history, which two commits changed.
const PATH: &str = "d1/f17";

fn main() {
    if !table::wanted() {
        return;
    }
    let scratch = Scratch::new();
    anchored_files(&scratch, COMMITS, FILES);
    run(&mut scratch.git(&["gc", "-q"]));
    run(&mut scratch.git(&["commit-graph", "write", "--reachable"]));
    run(&mut scratch.git(&["checkout", "-q", "many"]));
    // The sessions are nobody's here; what is measured is how long it takes to find and to judge them.
    for (key, value) in [("proof.recall", "all"), ("proof.rules", "many")] {
        run(&mut scratch.git(&["config", key, value]));
    }
    let place = format!("{PATH}:1");
    let mut why = || run(&mut scratch.git_proof(&["why", &place]));
    let mut blame = || run(&mut scratch.git(&["blame", "-L1,1", "--", PATH]));
    let mut number = 0;
    let mut hook = || {
        number += 1; // an agent is told of each file once
        let event = scratch.path().join("event.json");
        std::fs::write(&event, read_event(&scratch, number)).unwrap();
        run(scratch.git_proof(&["hook", "claude-code"]).stdin(File::open(&event).unwrap()));
    };
    // Makes the index, and sees that there is something to tell.
    let bare = scratch.path().join(".git/remote").display().to_string();
    run(&mut scratch.git(&["init", "-q", "--bare", &bare]));
    run(&mut scratch.git(&["remote", "add", "origin", &bare]));
    run(&mut scratch.git_proof(&["sync"]));
    hook();
    let mut head = || run(&mut scratch.git(&["rev-parse", "HEAD"]));
    let [why, blame] = medians(ROUNDS, [&mut why, &mut blame]);
    let [hook, head] = medians(ROUNDS, [&mut hook, &mut head]);
    let mut server = Server::start(&mut scratch.git_proof(&["mcp"]));
    server.ask(&hello());
    server.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    let call = json!({ "name": "decisions_for", "arguments": { "paths": [PATH] } });
    let call = request(1, "tools/call", &call);
    assert!(server.ask(&call).contains("write-ahead log"), "there is something to tell");
    let [told] = medians(10 * ROUNDS, [&mut || assert!(server.ask(&call).len() > 100)]);
    server.end();
    table::print(&[
        Row::cost(&format!("why FILE:LINE among {COMMITS} commits : git blame -L"), why, blame, 1.3),
        Row::cost(&format!("hook that tells decisions, {COMMITS} commits : git rev-parse HEAD"), hook, head, 3.0),
        Row::cost(&format!("decisions_for over stdio, {COMMITS} commits : the limit"), told, LIMIT, 1.0),
    ]);
}

/// What Claude Code sends after it has read a file.
fn read_event(scratch: &Scratch, number: u32) -> String {
    let (place, folder) = (scratch.path().display(), number % 16);
    format!(
        "{{\"session_id\":\"agent\",\"cwd\":\"{place}\",\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Read\",\
         \"tool_input\":{{\"file_path\":\"{place}/d{folder}/f{number}\"}},\"tool_response\":{{}},\
         \"tool_use_id\":\"toolu_{number}\"}}"
    )
}
