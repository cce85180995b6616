//! Rounds: a seal must not feel the rounds behind it, and checking the chain must not cost much more than printing it.
//!
//! `cargo bench --bench rounds`

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop

mod history;
mod scratch;
mod table;

use std::time::{Duration, Instant};

use git_proof::proof::seal::{Rounds, SealedSession};
use git_proof::proof::timestamp::Timestamp;
use history::{anchored_history, import};
use scratch::Scratch;
use table::{Row, medians, percentile, run, sorted_times};

/// Sessions that a timed seal takes in, and rounds behind it.
const MANY: usize = 1000;
const ROUNDS: &str = "refs/proof/rounds";

fn main() {
    if !table::wanted() {
        return;
    }
    let (without, with) = (Scratch::new(), Scratch::new());
    anchored_history(&without, MANY);
    let sessions = anchored_history(&with, 2 * MANY);
    seal_each(&with, &sessions[..MANY]);
    for scratch in [&without, &with] {
        run(&mut scratch.git(&["gc", "-q"]));
    }
    let [after, first] = sorted_times(5, [&mut || seal(&with), &mut || seal(&without)]);
    let [after, first] = [after, first].map(|times| percentile(&times, 50));
    let mut check = || run(&mut with.git_proof(&["rounds"]));
    let mut log = || run(&mut with.git(&["log", "-p", ROUNDS]));
    let [whole, printed] = medians(9, [&mut check, &mut log]);
    // The same with a tenth of the rounds: what grows faster than their number would show.
    let tenth = format!("{ROUNDS}~{}", MANY - MANY / 10);
    run(&mut with.git(&["update-ref", ROUNDS, &tenth]));
    let mut check = || run(&mut with.git_proof(&["rounds"]));
    let [part] = medians(9, [&mut check]);
    table::print(&[
        Row::cost(&format!("seal of {MANY} sessions, {MANY} rounds behind it : none"), after, first, 2.0),
        Row::cost(&format!("rounds, {MANY} of them : git log -p"), whole, printed, 3.0),
        Row {
            target: table::Target::None,
            ..Row::cost(&format!("rounds, {MANY} of them : a tenth"), whole, part, 10.0)
        },
    ]);
}

/// A chain of rounds with one session each.
fn seal_each(scratch: &Scratch, sessions: &[SealedSession]) {
    let at = Timestamp::parse("2026-03-01T00:00:00.000Z").unwrap();
    let mut rounds = Rounds::new();
    let mut stream = String::new();
    for session in sessions {
        let seal = rounds.seal(vec![session.clone()], at, at).unwrap().to_text();
        rounds.push(seal.as_bytes()).unwrap();
        stream.push_str(&format!(
            "commit {ROUNDS}\ncommitter A <a@b> 1700000000 +0000\ndata 1\nr\nM 100644 inline seal.json\ndata {}\n{seal}\n",
            seal.len()
        ));
    }
    import(scratch, &stream);
}

/// Seals what is left, and takes it back; only the sealing counts.
fn seal(scratch: &Scratch) -> Duration {
    let begun = Instant::now();
    run(&mut scratch.git_proof(&["seal"]));
    let took = begun.elapsed();
    let before = format!("{ROUNDS}~1");
    let there = scratch.git(&["rev-parse", "--verify", "-q", &before]).output().unwrap().status.success();
    run(&mut scratch.git(&if there { vec!["update-ref", ROUNDS, &before] } else { vec!["update-ref", "-d", ROUNDS] }));
    // The store would remember what was sealed.
    std::fs::remove_dir_all(scratch.path().join(".git/proof")).unwrap();
    took
}
