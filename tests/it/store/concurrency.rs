//! Many writers and readers at once: one chain, no torn state, and an honest answer to who waited too long.

use std::collections::HashSet;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use git_proof::proof::record::{Id, RecordType};
use git_proof::proof::timestamp::Timestamp;
use git_proof::store::{NewEntry, NewEvent, NewThought, Store};
use serde_json::Value;

use super::scratch::{Ran, Scratch, text};

/// That the entries of a session are one chain, none twice, none missing.
#[track_caller]
fn is_one_chain(scratch: &Scratch, count: usize) {
    assert_eq!(scratch.json(&["check"])["records"], count);
    let log = scratch.json(&["log"]);
    let mut head = log["session"]["genesis"].clone();
    let mut contents = HashSet::new();
    for (index, entry) in log["entries"].as_array().unwrap().iter().enumerate() {
        assert_eq!((&entry["index"], &entry["prev_hash"]), (&Value::from(index), &head));
        head = entry["chain_hash"].clone();
        contents.insert(text(entry, "content").to_owned());
    }
    assert_eq!(contents.len(), count);
}

#[test]
fn eight_writers_of_two_hundred_records_make_one_chain() {
    let scratch = Scratch::with_session();
    let path = scratch.store();
    thread::scope(|scope| {
        for writer in 0..8 {
            let path = &path;
            scope.spawn(move || {
                let session = Id::parse("s").unwrap();
                for number in 0..200 {
                    // As the program does: a connection for each record.
                    let mut store = Store::open(path, Duration::from_mins(1)).unwrap();
                    let timestamp = Timestamp::parse("2026-03-01T00:00:00.000Z").unwrap();
                    let content = format!("record {number} of writer {writer}");
                    let thought = NewThought {
                        id: Id::parse(&format!("w{writer}-{number}")).unwrap(),
                        kind: RecordType::Plan,
                        content: &content,
                        metadata: None,
                        parent: None,
                        private: false,
                        timestamp,
                    };
                    let event = NewEvent { tool: "thought_record", arguments: b"", at: timestamp };
                    store.append(&session, &[NewEntry::Thought(thought)], &event).unwrap();
                }
            });
        }
    });
    is_one_chain(&scratch, 1600);
}

/// Runs eight times 25 commands that record, and `reader` over and over until they are done.
fn while_processes_write(scratch: &Scratch, reader: impl Fn() + Sync) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                reader();
            }
        });
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                scope.spawn(move || {
                    for number in 0..25 {
                        let content = format!("record {number} of process {writer}");
                        let arguments = ["--json", "record", "--type", "plan", "--content", &content];
                        let mut command = scratch.proof(arguments);
                        let ran: Ran = command.env("GIT_PROOF_PATIENCE", "60000").output().unwrap().into();
                        ran.json();
                    }
                })
            })
            .collect();
        let ended: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        ended.into_iter().for_each(Result::unwrap);
    });
}

#[test]
fn processes_that_write_at_once_make_one_chain_that_checks_at_every_moment() {
    let scratch = Scratch::with_session();
    while_processes_write(&scratch, || {
        let check = scratch.json(&["check"]);
        assert_eq!(check["records"], check["chain_length"]);
    });
    is_one_chain(&scratch, 200);
}

#[test]
fn log_shows_one_state_while_others_write() {
    let scratch = Scratch::with_session();
    while_processes_write(&scratch, || {
        let log = scratch.json(&["log"]);
        assert_eq!(log["session"]["records"], log["entries"].as_array().unwrap().len());
    });
}

#[test]
fn writer_that_waits_too_long_is_told_so() {
    let scratch = Scratch::with_session();
    let other = scratch.database();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut command = scratch.proof(["--json", "record", "--type", "plan", "--content", "late"]);
    let ran: Ran = command.env("GIT_PROOF_PATIENCE", "50").output().unwrap().into();
    ran.error("ERR_STORE_BUSY", 4);
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(scratch.record("plan", "in time")["index"], 0);
}

#[test]
fn readers_do_not_wait_for_a_writer() {
    let scratch = Scratch::with_session();
    let other = scratch.database();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut command = scratch.proof(["--json", "check"]);
    let ran: Ran = command.env("GIT_PROOF_PATIENCE", "0").output().unwrap().into();
    assert_eq!(ran.json()["valid"], true);
}

#[test]
fn two_processes_can_make_the_store_at_the_same_moment() {
    for round in 0..20 {
        let scratch = Scratch::new();
        let children: Vec<_> = ["a", "b"]
            .into_iter()
            .map(|id| {
                let mut command = scratch.proof(["--json", "start", "--intent", "first", "--session-id", id]);
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for child in children {
            let ran = Ran::from(child.wait_with_output().unwrap());
            assert_eq!(ran.exit, Some(0), "round {round}: {ran:?}");
        }
        assert_eq!(scratch.rows("audit_sessions"), 2, "round {round}");
    }
}
