//! Working memory: notes become leaves, their texts are removed, and anyone who has a text can prove it.

mod killed;
mod packing;
mod proving;
mod refusing;

use serde_json::Value;

use crate::store::scratch::Scratch;

/// The bytes of a text of hex digits.
fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// The texts of the notes that wait in a session.
#[track_caller]
fn waiting(scratch: &Scratch, session: &str) -> Vec<String> {
    let memory = scratch.json(&["memory", "list", "--session", session]);
    let text = |note: &Value| note["text"].as_str().unwrap().to_owned();
    memory["notes"].as_array().unwrap().iter().map(text).collect()
}

/// The bodies of a session's attestations, and the types of its other entries.
#[track_caller]
fn entries(scratch: &Scratch, session: &str) -> Vec<String> {
    let log = scratch.json(&["log", "--session", session]);
    let body = |entry: &Value| entry["attest"].as_str().or(entry["type"].as_str()).unwrap().to_owned();
    log["entries"].as_array().unwrap().iter().map(body).collect()
}
