//! `kill -9` at any moment: what was acknowledged is there, what is there verifies, nothing is half done.

use std::io::Read as _;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::OptionalExtension as _;
use serde_json::Value;

use super::scratch::{Dice, Scratch, text};

/// Lets a command run for so long, kills it, and returns what it had printed, if that is a whole answer.
fn killed_after(mut child: Child, delay: Duration) -> Option<Value> {
    thread::sleep(delay); // what is tested is any moment, so the length of it does not matter
    child.kill().unwrap();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.wait().unwrap();
    out.ends_with('\n').then(|| serde_json::from_str(&out).unwrap())
}

/// A moment within the time that such a command takes here, or a little after.
fn moment(dice: &mut Dice, whole: Duration) -> Duration {
    whole * u32::try_from(dice.below(1300)).unwrap() / 1000
}

fn spawn(scratch: &Scratch, arguments: &[&str]) -> Child {
    scratch.proof(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn acknowledged_record_survives_being_killed() {
    let scratch = Scratch::with_session();
    let mut dice = Dice(1);
    let begun = Instant::now();
    let mut acknowledged = vec![scratch.record("plan", "not killed")];
    let whole = begun.elapsed();
    for round in 0..160 {
        let content = format!("record {round}");
        let child = spawn(&scratch, &["--json", "record", "--type", "plan", "--content", &content]);
        acknowledged.extend(killed_after(child, moment(&mut dice, whole)));
        if round % 40 == 39 {
            scratch.json(&["check"]);
        }
    }
    let log = scratch.json(&["log"]);
    for entry in &acknowledged {
        let index = usize::try_from(entry["index"].as_u64().unwrap()).unwrap();
        assert_eq!(&log["entries"][index], entry);
    }
    let there = log["entries"].as_array().unwrap().len();
    assert_eq!(scratch.json(&["check"])["records"], there);
    assert!(there < 161, "no record was killed in time");
}

#[test]
fn killed_finalize_leaves_a_session_finalized_or_open_and_nothing_between() {
    let scratch = Scratch::new();
    let mut dice = Dice(2);
    let begun = Instant::now();
    scratch.start("not-killed", &[]);
    let whole = begun.elapsed();
    for round in 0..40 {
        let id = format!("s{round}");
        scratch.start(&id, &["--not-proof-grade"]);
        scratch.json(&["attest", "a", "b", "c", "d", "e", "f", "g"]);
        let child = spawn(&scratch, &["--json", "finalize"]);
        let answered = killed_after(child, moment(&mut dice, whole));
        let stored: Option<i64> = scratch
            .database()
            .query_row("SELECT record_count FROM merkle_roots WHERE session_id = ?1", [&id], |row| row.get(0))
            .optional()
            .unwrap();
        // Seven leaves: 3 + 1 complete nodes arrive with them; on closing the last of level 1, of level 2, and the root.
        let nodes: i64 = scratch
            .database()
            .query_row("SELECT count(*) FROM merkle_nodes WHERE session_id = ?1", [&id], |row| row.get(0))
            .unwrap();
        assert_eq!(nodes, if stored.is_some() { 3 } else { 0 }, "{id}");
        assert!(answered.is_none() || stored.is_some(), "{id} was acknowledged");
        let root = scratch.json(&["finalize"]);
        assert_eq!(scratch.json(&["check"])["root"].as_str(), Some(text(&root, "root")));
    }
}
