//! How observations are told: always as observed, and never in the words of what an agent stated.

use crate::flow::Seen;
use crate::judge::FileSeen;
use crate::proof::edits::{Checked, SeenAs};
use crate::proof::observed::{Event, Marks, Observed};
use crate::proof::record::RecordType;

/// The label of a decision or a reflection, with whether it was observed.
pub fn record(kind: RecordType, metadata: Option<&str>) -> &'static str {
    match (kind, Marks::of(metadata).event) {
        (RecordType::Decision, _) => "Decision",
        (_, None | Some(Event::Restated)) => "Reflection",
        (_, Some(_)) => "Observed reflection",
    }
}

/// The word for a reflection, given where its text comes from.
pub fn reflection(event: Option<&str>) -> &'static str {
    match event.and_then(Event::parse) {
        None | Some(Event::Restated) => "reflection",
        Some(_) => "observed reflection",
    }
}

/// An observation in a few words.
pub fn observed(seen: &Observed) -> String {
    match seen {
        Observed::Agent { name, model, version } => agent(name, model.as_deref(), version.as_deref()),
        Observed::Check { command, exit } => check(command, *exit),
        Observed::Tools { calls, failed } => tools(*calls, *failed),
        Observed::Transcript { bytes, sha256 } => format!("transcript of {bytes} bytes, SHA-256 {sha256}"),
        Observed::Wrote(blobs) => {
            let blobs: Vec<String> = blobs.iter().map(ToString::to_string).collect();
            format!("wrote {}", blobs.join(", "))
        }
    }
}

/// What was observed in a session, a line each.
pub fn seen(seen: &Seen) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(by) = &seen.agent {
        lines.push(agent(&by.name, by.model.as_deref(), by.version.as_deref()));
    }
    let mut checks: Vec<String> = seen.checks.iter().map(|ran| check(&ran.command, ran.exit)).collect();
    checks.dedup();
    lines.extend(checks);
    match seen.wrote.len() {
        0 => {}
        1 => lines.push("1 file written by an edit tool".to_owned()),
        count => lines.push(format!("{count} file contents written by edit tools")),
    }
    lines.extend(seen.tools.map(|called| tools(called.calls, called.failed)));
    lines.extend(seen.transcript.map(|kept| format!("transcript of {} bytes, SHA-256 {}", kept.bytes, kept.sha256)));
    lines
}

/// How the content of a file came about, as far as that was seen.
pub fn file(file: &FileSeen) -> String {
    if file.seen == SeenAs::NotSeen {
        return "not seen by an edit tool".to_owned();
    }
    let mut said = "written by a recorded edit".to_owned();
    said += &file.after_index.map_or_else(String::new, |index| format!(", after decision {index}"));
    let check = file.check.as_deref().unwrap_or("a check");
    said += &match file.checked_after {
        Some(Checked::Passed) => format!(", {check} passed afterwards"),
        Some(Checked::Failed) => format!(", {check} failed afterwards"),
        None => String::new(),
    };
    said
}

fn agent(name: &str, model: Option<&str>, version: Option<&str>) -> String {
    let version = version.map(|version| format!(" {version}")).unwrap_or_default();
    let model = model.map_or_else(|| "model not known".to_owned(), |model| format!("model {model}"));
    format!("agent {name}{version}, {model}")
}

fn check(command: &str, exit: Option<u8>) -> String {
    match exit {
        Some(0) => format!("{command} passed"),
        Some(code) => format!("{command} failed with exit code {code}"),
        None => format!("{command} ran; its exit code is not known"),
    }
}

fn tools(calls: u64, failed: u64) -> String {
    let plural = if calls == 1 { "tool call" } else { "tool calls" };
    if failed == 0 { format!("{calls} {plural}") } else { format!("{calls} {plural}, {failed} failed") }
}
