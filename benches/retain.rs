//! What it costs to move a million records out of the store, and to bring them back: in memory, which must not grow with
//! the session, and in time, held against a check of the same session.
//!
//! `cargo bench --bench retain`

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop

mod scratch;
mod table;

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use git_proof::proof::digest::AnchorId;
use git_proof::proof::record::{Id, Opening, RecordType};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::seal::{Rounds, SealedSession};
use git_proof::proof::timestamp::Timestamp;
use git_proof::store::{NewEntry, NewEvent, NewSession, NewThought, RootRow, Store};
use scratch::{CONTENT, Scratch};
use table::{Row, Target, peak_memory_kib};

const RECORDS: u32 = 1_000_000;
const BATCH: u32 = 10_000;

fn main() {
    if !table::wanted() {
        return;
    }
    let records = std::env::var("RECORDS").ok().and_then(|text| text.parse().ok()).unwrap_or(RECORDS);
    let scratch = Scratch::new();
    let root = record(&scratch, records);
    seal(&scratch, &root);
    // Search has taken everything up before: to take it out again is a part of the work.
    table::run(&mut scratch.git_proof(&["search", "journal", "-n", "1"]));
    let (check, _) = timed(&mut scratch.git_proof(&["check", "--session", "long"]));
    let (retain, retain_peak) = timed(&mut scratch.git_proof(&["retain"]));
    let archived: u64 = files(&scratch.path().join(".git/proof/archive"));
    assert!(archived > 0, "nothing was archived");
    let (check_cold, check_peak) = timed(&mut scratch.git_proof(&["check", "--session", "long"]));
    let (restore, restore_peak) = timed(&mut scratch.git_proof(&["log", "--session", "long", "-n", "1"]));
    let limit = 128 << 10;
    let against = |figure: &str, ours, target| Row { target, ..Row::cost(figure, ours, check, 0.0) };
    table::print(&[
        Row::memory(&format!("peak memory of retain over {records} records"), retain_peak, limit),
        Row::memory("peak memory of bringing them back", restore_peak, limit),
        Row::memory("peak memory of check while they are cold", check_peak, limit),
        against("retain : check of the same records", retain, Target::None),
        against("bringing them back : check of the same records", restore, Target::None),
        against("check while they are cold : while they are warm", check_cold, Target::AtMost(4.0)),
    ]);
}

/// How long a command took, and the most memory that it had.
fn timed(command: &mut Command) -> (Duration, u32) {
    let begun = Instant::now();
    let peak = peak_memory_kib(command);
    (begun.elapsed(), peak)
}

fn files(folder: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files(&path) } else { path.metadata().unwrap().len() }).sum()
}

/// A time that is long past: what was sealed then is old.
fn then() -> Timestamp {
    Timestamp::parse("2020-01-01T00:00:00.000Z").unwrap()
}

/// One finalized session of so many records.
fn record(scratch: &Scratch, records: u32) -> RootRow {
    let event = NewEvent { tool: "bench", arguments: b"", at: then() };
    let mut store = Store::open_or_create(&scratch.store(), Duration::from_mins(1)).unwrap();
    let opening = Opening {
        caller: "bench".into(),
        intent: "a long one".into(),
        proof_grade: false,
        scheme: Scheme::V1,
        session_id: Id::parse("long").unwrap(),
        started_at: then(),
        task_id: None,
    };
    store.start(&NewSession { opening: &opening, worktree: None }, &event).unwrap();
    for from in (0..records).step_by(BATCH as usize) {
        let numbers = from..records.min(from + BATCH);
        let contents: Vec<String> = numbers.clone().map(|number| format!("{number}: {CONTENT}")).collect();
        let thought = |(number, content)| {
            let id = Id::parse(&format!("long-{number}")).unwrap();
            let (kind, metadata, parent, private) = (RecordType::Analysis, None, None, false);
            NewEntry::Thought(NewThought { id, kind, content, metadata, parent, private, timestamp: then() })
        };
        let contents = contents.iter().map(String::as_str);
        let entries: Vec<NewEntry<'_>> = numbers.zip(contents).map(thought).collect();
        store.append(&opening.session_id, &entries, &event).unwrap();
    }
    store.finalize(&opening.session_id, &event).unwrap().0
}

/// Seals a session by hand: to anchor half a gigabyte of evidence is not what is measured.
fn seal(scratch: &Scratch, root: &RootRow) {
    let session = SealedSession {
        anchors: vec![AnchorId::new([1; 32])],
        count: root.record_count,
        root: root.root,
        scheme: root.scheme,
        session_id: root.session_id.clone(),
    };
    let seal = Rounds::default().seal(vec![session], then(), then()).unwrap().to_text();
    let stream = format!(
        "commit refs/proof/rounds\ncommitter n <e> 1 +0000\ndata 1\nx\nM 100644 inline seal.json\ndata {}\n{seal}\n",
        seal.len()
    );
    let mut child = scratch.git(&["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stream.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}
