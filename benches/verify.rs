//! Whole histories judged, against what git needs to print them with their notes; and a gate that must not feel the past.
//!
//! `cargo bench --bench verify` for 10,000 commits; `COMMITS=100000 cargo bench --bench verify` for the long one.

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop

mod history;
mod scratch;
mod table;

use std::collections::HashMap;

use history::anchored_history;
use scratch::Scratch;
use table::{Row, medians, peak_memory_kib, run};

const ROUNDS: usize = 5;
const GATED: usize = 10;

fn main() {
    if !table::wanted() {
        return;
    }
    let commits = std::env::var("COMMITS").map_or(10_000, |count| count.parse().unwrap());
    let scratch = Scratch::new();
    anchored_history(&scratch, commits);
    run(&mut scratch.git(&["gc", "-q"]));
    run(&mut scratch.git(&["commit-graph", "write", "--reachable"]));
    let range = format!("many~{}..many", commits - 1);
    let mut ours = || run(&mut scratch.git_proof(&["verify", "--quiet", &range]));
    // What anyone must at least read: the commits, their notes and their evidence.
    let ids = scratch.path().join("ids");
    std::fs::write(&ids, objects(&scratch, &range)).unwrap();
    let mut read = || {
        run(scratch.git(&["cat-file", "--batch", "--buffer"]).stdin(std::fs::File::open(&ids).unwrap()));
    };
    let mut theirs = || run(&mut scratch.git(&["log", "--notes=proof", "--format=%H%n%B%n%N", &range]));
    let [ours, read, theirs] = medians(ROUNDS, [&mut ours, &mut read, &mut theirs]);
    let base = format!("many~{GATED}");
    let gated = format!("{base}..many");
    let mut gate = || run(&mut scratch.git_proof(&["gate", "--base", &base, "--head", "many"]));
    let mut list = || run(&mut scratch.git(&["rev-list", &gated]));
    let [gate, list] = medians(30, [&mut gate, &mut list]);
    let memory = peak_memory_kib(&mut scratch.git_proof(&["verify", "--quiet", &range]));
    table::print(&[
        Row::cost(&format!("verify of {commits} commits : git cat-file of all that it reads"), ours, read, 1.3),
        Row::cost(&format!("verify of {commits} commits : git log --notes"), ours, theirs, 2.2),
        Row::memory(&format!("peak memory of verify of {commits} commits"), memory, 160 << 10),
        Row::cost(&format!("gate of {GATED} commits among {commits} : git rev-list"), gate, list, 2.5),
    ]);
}

/// The ids of the commits of a range and of their notes, in the order of the history, and of all evidence: a line each.
fn objects(scratch: &Scratch, range: &str) -> String {
    let text = |arguments: &[&str]| String::from_utf8(scratch.git(arguments).output().unwrap().stdout).unwrap();
    let notes = text(&["notes", "--ref=proof", "list"]);
    let notes: HashMap<&str, &str> =
        notes.lines().filter_map(|line| line.split_once(' ')).map(|(note, commit)| (commit, note)).collect();
    let commits = text(&["rev-list", range]);
    let noted = commits.lines().flat_map(|commit| [Some(commit), notes.get(commit).copied()]).flatten();
    let evidence = text(&["ls-tree", "-r", "--object-only", "refs/proof/evidence"]);
    noted.chain(evidence.lines()).map(|id| format!("{id}\n")).collect()
}
