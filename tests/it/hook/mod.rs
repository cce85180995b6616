//! Agent hooks, driven with what real agents send and with the inputs that their documentation shows.

mod attribution;
mod capture;
mod closing;
mod garbage;
mod interleaved;
mod stage;
mod unheard;

use std::path::PathBuf;

use serde_json::Value;

use crate::store::scratch::{Ran, Scratch};

const AGENTS: [&str; 8] = ["claude-code", "codex", "copilot", "cursor", "gemini", "opencode", "qwen", "vscode"];

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
