//! Whole histories judged, against what git needs to print them with their notes; and a gate that must not feel the past.
//!
//! `cargo bench --bench verify` for 10,000 commits; `COMMITS=100000 cargo bench --bench verify` for the long one.

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop

mod history;
mod scratch;
mod table;

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
    let mut theirs = || run(&mut scratch.git(&["log", "--notes=proof", "--format=%H%n%B%n%N", &range]));
    let [ours, theirs] = medians(ROUNDS, [&mut ours, &mut theirs]);
    let base = format!("many~{GATED}");
    let gated = format!("{base}..many");
    let mut gate = || run(&mut scratch.git_proof(&["gate", "--base", &base, "--head", "many"]));
    let mut list = || run(&mut scratch.git(&["rev-list", &gated]));
    let [gate, list] = medians(30, [&mut gate, &mut list]);
    let memory = peak_memory_kib(&mut scratch.git_proof(&["verify", "--quiet", &range]));
    table::print(&[
        Row::cost(&format!("verify of {commits} commits : git log --notes"), ours, theirs, 1.5),
        Row::memory(&format!("peak memory of verify of {commits} commits"), memory, 256 << 10),
        Row::cost(&format!("gate of {GATED} commits among {commits} : git rev-list"), gate, list, 3.0),
    ]);
}
