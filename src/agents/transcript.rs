//! The transcript that an agent keeps on its own disk. A session commits to its beginning and never holds any of it but the
//! last message, where the agent tells that nowhere else.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::context::open_regular;
use crate::proof::digest::TranscriptHash;
use crate::proof::observed::Observed;
use crate::record::Agent;

/// Most bytes that are committed to: the end of an agent's session waits for it.
const MAX_HASHED: u64 = 64 << 20;
/// How long a message is waited for.
const PATIENCE: Duration = Duration::from_millis(300);
/// How much of the end, and of the beginning, is searched.
const SEARCHED: u64 = 512 << 10;

/// A commitment to a transcript as it is now; `None` if there is none.
pub(super) fn commitment(path: &str) -> Option<Observed> {
    let mut file = open_regular(Path::new(path)).ok()?.take(MAX_HASHED);
    let (mut hasher, mut bytes, mut piece) = (Sha256::new(), 0, vec![0; 1 << 16]);
    loop {
        let length = file.read(&mut piece).ok()?;
        if length == 0 {
            break;
        }
        bytes += length as u64;
        hasher.update(&piece[..length]);
    }
    (bytes > 0).then(|| Observed::Transcript { bytes, sha256: TranscriptHash::new(hasher.finalize().into()) })
}

/// The lines of JSON at the end of a transcript, the newest first.
fn newest(path: &str) -> impl Iterator<Item = Value> {
    let text = tail(path).unwrap_or_default();
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    lines.into_iter().rev()
}

fn tail(path: &str) -> Option<String> {
    let mut file = open_regular(Path::new(path)).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(SEARCHED))).ok()?;
    part(file)
}

fn part(file: File) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(SEARCHED).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The exit code of a command of Codex, which is in no event.
pub(super) fn codex_exit(path: &str, call: &str) -> Option<u8> {
    let of_call = |line: &Value| {
        let item = &line["payload"]["item"];
        (item["id"].as_str() == Some(call)).then(|| item["exit_code"].as_i64()).flatten()
    };
    newest(path).find_map(|line| of_call(&line)).and_then(|code| u8::try_from(code).ok())
}

/// The model and the version that a transcript names last.
pub(super) fn model_and_version(agent: Agent, path: &str) -> (Option<String>, Option<String>) {
    let (mut model, mut version) = (None, None);
    let mut look = |line: &Value| {
        let at = |pointer: &str| line.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
        let (models, versions): (&[&str], &[&str]) = match agent {
            Agent::ClaudeCode => (&["/message/model"], &["/version"]),
            Agent::Codex => (&["/payload/model"], &["/payload/cli_version"]),
            Agent::Copilot => (&["/data/model", "/data/selectedModel"], &["/data/copilotVersion"]),
            Agent::Qwen => (&["/model", "/message/model"], &["/version"]),
            _ => (&["/model"], &["/version"]),
        };
        // Claude Code names a model of its own for messages that no model wrote.
        let named = models.iter().find_map(|pointer| at(pointer)).filter(|name| !name.starts_with('<'));
        model = model.take().or_else(|| named.map(str::to_owned));
        version = version.take().or_else(|| versions.iter().find_map(|pointer| at(pointer)).map(str::to_owned));
    };
    newest(path).for_each(|line| look(&line));
    let head = open_regular(Path::new(path)).ok().and_then(part).unwrap_or_default();
    head.lines().take(20).filter_map(|line| serde_json::from_str(line).ok()).for_each(|line| look(&line));
    (model, version)
}

/// The last message of the model, for an agent that tells it nowhere else. Copilot calls its hooks a moment before it writes
/// what they are about, in a short session even before it makes the file, so it is looked for again for a short while.
pub(super) fn last_message(agent: Agent, path: &str) -> Option<String> {
    if agent != Agent::Copilot || !Path::new(path).parent().is_some_and(Path::exists) {
        return None;
    }
    let begun = Instant::now();
    loop {
        let found = final_message(path);
        if found.is_some() || begun.elapsed() > PATIENCE {
            return found;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// The newest message, if it asks for no tool and came after the last one had run.
fn final_message(path: &str) -> Option<String> {
    for line in newest(path) {
        match line["type"].as_str() {
            Some("tool.execution_complete") => return None,
            Some("assistant.message") => {
                let asks = line["data"]["toolRequests"].as_array().is_some_and(|asked| !asked.is_empty());
                let text = line["data"]["content"].as_str().filter(|text| !text.trim().is_empty());
                return text.filter(|_| !asks).map(str::to_owned);
            }
            _ => {}
        }
    }
    None
}
