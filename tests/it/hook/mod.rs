//! Agent hooks, driven with the inputs that the agents' public documentation shows.

mod events;
mod garbage;
mod reminders;

use std::path::PathBuf;

use serde_json::Value;

use crate::store::scratch::{Ran, Scratch};

const AGENTS: [&str; 4] = ["claude-code", "codex", "cursor", "gemini"];

/// What the recorded inputs hold that must never be on disk.
const MARKERS: [&str; 2] = ["RAW-OUTPUT-MARKER-7c1d", "RAW-INPUT-MARKER-93ab"];

fn inputs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/hook/inputs")
}

/// A recorded input, such as `codex-stop`.
fn input(name: &str) -> Value {
    let text = std::fs::read(inputs().join(format!("{name}.json"))).unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::from_slice(&text).unwrap()
}

/// Sends an event to the agent's hook.
fn send(scratch: &Scratch, agent: &str, event: &Value) -> Ran {
    scratch.run_with(&["hook", agent], event.to_string().as_bytes())
}

/// Sends a recorded event; the hook must have nothing to say.
#[track_caller]
fn quiet(scratch: &Scratch, agent: &str, event: &str) {
    let ran = send(scratch, agent, &input(&format!("{agent}-{event}")));
    assert_eq!((ran.exit, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""), "{agent} {event}");
}

/// The session that is current.
fn current(scratch: &Scratch) -> String {
    scratch.database().query_row("SELECT session_id FROM worktree_sessions", [], |row| row.get(0)).unwrap()
}

/// What was seen in a session: tool, outcome, detail, digest of the input.
fn observed(scratch: &Scratch, session: &str) -> Vec<(String, String, Option<String>, Vec<u8>)> {
    let database = scratch.database();
    let mut statement = database
        .prepare(
            "SELECT tool, outcome, detail, arguments FROM audit_events \
             WHERE session_id = ?1 AND tool GLOB 'observed:*' ORDER BY event_id",
        )
        .unwrap();
    statement
        .query_map([session], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}
