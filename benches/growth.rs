//! What grows: each figure at 10², 10³ and 10⁴ items, in time and memory an item. What grows faster than its items shows as
//! a step that costs more an item than the step before.
//!
//! `cargo bench --bench growth`; `GIT_PROOF_GROWTH=100000 cargo bench --bench growth` goes on to 10⁵.

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop

mod history;
mod scratch;
mod table;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use history::{anchored_history, import, seal_each, unseal};
use scratch::{CONTENT, Scratch};
use table::{Row, Target, peak_seen_kib, run};

/// The most that an item may cost, times what it cost one step before.
const MOST: f64 = 1.5;
/// The steps below ten thousand are short, and so need more runs until one is undisturbed.
const ROUNDS: usize = 15;
const ROUNDS_OF_MANY: usize = 5;
/// The mark is read every millisecond, so that short runs pass between two readings: the highest of some counts.
const MEMORY_ROUNDS: usize = 5;
/// Less than this, of time and memory, is the machine's and not the items'.
const NOISE: Duration = Duration::from_millis(1);
const NOISE_KIB: u32 = 1024;

fn main() {
    if !table::wanted() {
        return;
    }
    let largest = std::env::var("GIT_PROOF_GROWTH").map_or(10_000, |largest| largest.parse().unwrap());
    let steps = std::iter::successors(Some(100), |step| Some(step * 10)).take_while(|step| *step <= largest);
    // The first has what a run costs without any items to speak of.
    let sizes: Vec<usize> = std::iter::once(1).chain(steps).collect();
    let mut rows = records(&sizes);
    rows.extend(histories(&sizes));
    table::print(&rows);
}

/// A repository of some size.
struct Place {
    items: usize,
    scratch: Scratch,
}

/// What is divided by what.
#[derive(Clone, Copy)]
enum Share {
    /// The command looks at all items: its cost, less that of a run with one item, is theirs together.
    All,
    /// The command adds one item to those that are there: its cost is that one's.
    One,
}

/// Sessions of so many records.
fn records(sizes: &[usize]) -> Vec<Row> {
    let place = |items: &usize| {
        let scratch = Scratch::new();
        scratch.session("s", *items);
        Place { items: *items, scratch }
    };
    let places: Vec<Place> = sizes.iter().map(place).collect();
    let check = |place: &Place| place.scratch.git_proof(&["check", "--session", "s"]);
    let mut rows = axis("check", "record", Share::All, &places, check, |_| ());
    let arguments = ["record", "--type", "analysis", "--content", CONTENT, "--session", "s"];
    let record = |place: &Place| place.scratch.git_proof(&arguments);
    rows.extend(axis("record", "record", Share::One, &places, record, |_| ()));
    rows
}

/// Histories of so many commits, each with a note and a session of its own, and then a round for each.
fn histories(sizes: &[usize]) -> Vec<Row> {
    let mut sessions = Vec::new();
    let place = |items: &usize| {
        let scratch = Scratch::new();
        sessions.push(anchored_history(&scratch, *items));
        import(&scratch, &bare_commits());
        run(&mut scratch.git(&["gc", "-q"]));
        run(&mut scratch.git(&["commit-graph", "write", "--reachable"]));
        Place { items: *items, scratch }
    };
    let places: Vec<Place> = sizes.iter().map(place).collect();
    // The two have nothing in common: the range is all of the one.
    let verify = |place: &Place| place.scratch.git_proof(&["verify", "--quiet", "bare..many"]);
    let mut rows = axis("verify", "commit", Share::All, &places, verify, |_| ());
    let seal = |place: &Place| place.scratch.git_proof(&["seal"]);
    rows.extend(axis("seal", "session", Share::All, &places, seal, |place| unseal(&place.scratch)));
    for Place { scratch, .. } in &places {
        run(&mut scratch.git_proof(&["start", "--intent", "measure", "--session-id", "s"]));
        run(&mut scratch.git_proof(&["record", "--type", "reflection", "--content", "measured"]));
        run(&mut scratch.git_proof(&["finalize"]));
    }
    let mut number = 0;
    let anchor = |place: &Place| {
        number += 1;
        let mut command = place.scratch.git_proof(&["anchor", "--commit", &format!("bare~{number}")]);
        command.stderr(Stdio::null()); // it says that the session does not attest that commit
        command
    };
    rows.extend(axis("anchor", "note", Share::One, &places, anchor, |_| ()));
    for (place, sessions) in places.iter().zip(&sessions) {
        seal_each(&place.scratch, sessions);
        run(&mut place.scratch.git(&["gc", "-q"]));
    }
    let rounds = |place: &Place| place.scratch.git_proof(&["rounds"]);
    rows.extend(axis("rounds", "round", Share::All, &places, rounds, |_| ()));
    rows
}

/// Commits without notes, more than there are anchors to make.
fn bare_commits() -> String {
    (0..500)
        .map(|at| format!("commit refs/heads/bare\ncommitter A <a@b> {} +0000\ndata 1\nx\n", 1_800_000_000 + at))
        .collect()
}

/// Runs a command at all sizes in turn, undoing what it did each time. The answer is a row for each step and for each of time and
/// memory.
fn axis(
    name: &str,
    item: &str,
    share: Share,
    places: &[Place],
    mut command: impl FnMut(&Place) -> Command,
    undo: impl Fn(&Place),
) -> Vec<Row> {
    // The shortest, not the median: what others do on the machine only adds to what is the same work each time.
    let mut times = vec![Duration::MAX; places.len()];
    let mut peaks = vec![0; places.len()];
    for round in 0..ROUNDS {
        for (at, place) in places.iter().enumerate() {
            if place.items >= 10_000 && round >= ROUNDS_OF_MANY {
                continue;
            }
            let mut command = command(place);
            let begun = Instant::now();
            run(&mut command);
            times[at] = begun.elapsed().min(times[at]);
            undo(place);
        }
    }
    for _ in 0..MEMORY_ROUNDS {
        for (at, place) in places.iter().enumerate() {
            peaks[at] = peak_seen_kib(&mut command(place)).max(peaks[at]);
            undo(place);
        }
    }
    assert!(peaks.iter().all(|peak| *peak > 0), "{name}: no VmHWM was seen; this figure needs Linux");
    let time = |at: usize| match share {
        Share::All => micros(times[at].saturating_sub(times[0]).max(NOISE)) / count(places[at].items),
        Share::One => micros(times[at]),
    };
    let memory = |at: usize| match share {
        Share::All => f64::from(peaks[at].saturating_sub(peaks[0]).max(NOISE_KIB)) / count(places[at].items),
        Share::One => f64::from(peaks[at]),
    };
    let mut rows = Vec::new();
    for at in 2..places.len() {
        let [before, now] = [at - 1, at].map(|at| places[at].items);
        let figure = |what: &str| match share {
            Share::All => format!("{name}: {what} a {item}, of {now} : of {before}"),
            Share::One => format!("{name}: {what} of one more {item}, with {now} there : with {before}"),
        };
        rows.push(step(&figure("time"), time(at), time(at - 1), "µs"));
        rows.push(step(&figure("memory"), memory(at), memory(at - 1), "KiB"));
    }
    rows
}

fn step(figure: &str, ours: f64, before: f64, unit: &str) -> Row {
    Row {
        figure: figure.to_owned(),
        ours: format!("{ours:.2} {unit}"),
        baseline: format!("{before:.2} {unit}"),
        ratio: ours / before,
        target: Target::AtMost(MOST),
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn count(items: usize) -> f64 {
    f64::from(u32::try_from(items).unwrap())
}
