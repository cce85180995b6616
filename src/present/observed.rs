//! How observations are told: always as observed, and never in the words of what an agent stated.

use crate::flow::Seen;
use crate::judge::FileSeen;
use crate::proof::change::GitAttestation;
use crate::proof::edits::{Checked, SeenAs};
use crate::proof::memory::MemoryAttestation;
use crate::proof::observed::{Event, Marks, Observed};
use crate::proof::record::RecordType;
use crate::proof::text::counted;

/// The label of a decision or a reflection, with whether it was observed.
pub fn record(kind: RecordType, metadata: Option<&str>) -> &'static str {
    match (kind, is_observed(metadata)) {
        (RecordType::Decision, _) => "Decision",
        (_, false) => "Reflection",
        (_, true) => "Observed reflection",
    }
}

/// Whether the tool took down a record by itself. One that an agent stated and the tool recorded again was stated.
pub(super) fn is_observed(metadata: Option<&str>) -> bool {
    !matches!(Marks::of(metadata).event, None | Some(Event::Restated))
}

/// The agent that worked.
pub(super) fn seen_agent(seen: &Seen) -> Option<String> {
    seen.agent.as_ref().map(|by| agent(&by.name, by.model.as_deref(), by.version.as_deref()))
}

/// The word for a reflection, given where its text comes from.
pub fn reflection(event: Option<&str>) -> &'static str {
    match event.and_then(Event::parse) {
        None | Some(Event::Restated) => "reflection",
        Some(_) => "observed reflection",
    }
}

/// An attestation in words. One that the tool made is an object, of which a reader sees nothing.
pub fn attested(text: &str) -> String {
    if let Ok(change) = GitAttestation::parse(text.as_bytes()) {
        return change.commit.map_or_else(|| "what was staged".to_owned(), |commit| format!("commit {commit}"));
    }
    if let Ok(seen) = Observed::parse(text.as_bytes()) {
        return format!("observed: {}", observed(&seen));
    }
    match MemoryAttestation::parse(text.as_bytes()) {
        Ok(note) => format!("a note of working memory, put there at {}", note.put_at()),
        Err(_) => text.to_owned(),
    }
}

/// An observation in a few words.
fn observed(seen: &Observed) -> String {
    match seen {
        Observed::Agent { name, model, version } => agent(name, model.as_deref(), version.as_deref()),
        Observed::Check { command, exit } => check(command, *exit, None),
        Observed::Tools { calls, failed } => tools(*calls, *failed),
        Observed::Transcript { bytes, sha256 } => format!("transcript of {bytes} bytes, SHA-256 {sha256}"),
        Observed::Wrote(blobs) => {
            let blobs: Vec<String> = blobs.iter().map(ToString::to_string).collect();
            format!("wrote {}", blobs.join(", "))
        }
    }
}

/// The checkers that ran in a session, a line each: how the last run of each ended.
pub fn checks(seen: &Seen) -> Vec<String> {
    seen.last_checks().into_iter().map(|ran| check(&ran.command, ran.exit, ran.after_last_edit)).collect()
}

/// What was observed in a session, a line each.
pub fn seen(seen: &Seen) -> Vec<String> {
    let mut lines = seen_at_work(seen);
    lines.extend(seen.transcript.map(|kept| format!("transcript of {} bytes, SHA-256 {}", kept.bytes, kept.sha256)));
    lines
}

/// The same without the transcript, whose hash says nothing to a reader.
pub(super) fn seen_at_work(seen: &Seen) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(seen_agent(seen));
    lines.extend(checks(seen));
    match seen.wrote.len() {
        0 => {}
        1 => lines.push("1 file written by an edit tool".to_owned()),
        count => lines.push(format!("{count} file contents written by edit tools")),
    }
    lines.extend(seen.tools.map(|called| tools(called.calls, called.failed)));
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

/// The page's script has the same words, in `shown.js`.
fn check(command: &str, exit: Option<u8>, after_last_edit: Option<bool>) -> String {
    let when = match after_last_edit {
        Some(true) => " after the last edit",
        Some(false) => " before the last edit",
        None => "",
    };
    match exit {
        Some(0) => format!("{command} passed{when}"),
        Some(code) => format!("{command} failed{when} with exit code {code}"),
        None => format!("{command} ran{when}; its exit code is not known"),
    }
}

fn tools(calls: u64, failed: u64) -> String {
    let calls = counted(calls, "tool call", "tool calls");
    if failed == 0 { calls } else { format!("{calls}, {failed} failed") }
}
