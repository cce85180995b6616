//! Rounds: a seal must not feel the rounds behind it, and checking the chain must not cost much more than printing it.
//!
//! `cargo bench --bench rounds`

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop

mod history;
mod scratch;
mod table;

use std::time::{Duration, Instant};

use history::{ROUNDS, anchored_history, seal_each, unseal};
use scratch::Scratch;
use table::{Row, medians, percentile, run, sorted_times};

/// Sessions that a timed seal takes in, and rounds behind it.
const MANY: usize = 1000;

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

/// Seals what is left, and takes it back; only the sealing counts.
fn seal(scratch: &Scratch) -> Duration {
    let begun = Instant::now();
    run(&mut scratch.git_proof(&["seal"]));
    let took = begun.elapsed();
    unseal(scratch);
    took
}
