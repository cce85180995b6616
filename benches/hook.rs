//! What an agent waits for after each of its tools: the hook as a process, against git's own smallest question.
//!
//! `cargo bench --bench hook`

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop

mod scratch;
mod table;

use std::fs::File;

use scratch::Scratch;
use table::{Row, Target, medians, run};

const ROUNDS: usize = 300;
/// A store of 100,000 records.
const SESSIONS: u32 = 1000;

/// What Claude Code sends after a tool has run.
const EVENT: &str = r#"{"session_id":"11111111-aaaa-4bbb-8ccc-222222222222","transcript_path":"/tmp/transcript.jsonl",
"cwd":"/tmp","permission_mode":"default","hook_event_name":"PostToolUse","tool_name":"Bash",
"tool_input":{"command":"cargo test","description":"Run the tests"},
"tool_response":{"stdout":"212 passed","stderr":"","interrupted":false},"tool_use_id":"toolu_01"}"#;

fn main() {
    if !table::wanted() {
        return;
    }
    let (empty, large) = (Scratch::new(), Scratch::new());
    large.fill(SESSIONS);
    let hook = |scratch: &Scratch| {
        let event = scratch.path().join("event.json");
        std::fs::write(&event, EVENT).unwrap();
        let mut command = scratch.git_proof(&["hook", "claude-code"]);
        move || run(command.stdin(File::open(&event).unwrap()))
    };
    let (mut in_empty, mut in_large) = (hook(&empty), hook(&large));
    // The first event of an agent's session opens ours; what is measured is every other one.
    in_empty();
    in_large();
    let mut head = || run(&mut empty.git(&["rev-parse", "HEAD"]));
    let mut nothing = || run(&mut empty.git_proof(&["--version"]));
    let [hook_empty, hook_large, head, nothing] =
        medians(ROUNDS, [&mut in_empty, &mut in_large, &mut head, &mut nothing]);
    table::print(&[
        Row::cost("agent hook, empty store : git rev-parse HEAD", hook_empty, head, 2.0),
        Row::cost("agent hook, 100,000 records in the store : git rev-parse HEAD", hook_large, head, 2.0),
        Row { target: Target::None, ..Row::cost("git proof --version : git rev-parse HEAD", nothing, head, 0.0) },
    ]);
}
