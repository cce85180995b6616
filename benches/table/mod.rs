//! The one table that a benchmark prints, and the way its figures are taken.

#![allow(clippy::print_stdout)] // what a benchmark is for

use std::time::{Duration, Instant};

/// What a figure must be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
    /// The ratio must be at least this.
    AtLeast(f64),
    /// Nothing is asked of it: it says where the time goes.
    None,
}

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Row {
    /// What is measured.
    pub(crate) figure: String,
    /// Ours, with its unit.
    pub(crate) ours: String,
    /// What it is held against, with its unit.
    pub(crate) baseline: String,
    /// The two as one number: the larger, the better for us.
    pub(crate) ratio: f64,
    /// What that number must be.
    pub(crate) target: Target,
}

impl Row {
    /// A row about speed: the ratio is how many times as fast as the baseline we are.
    pub(crate) fn speed(figure: &str, ours: Duration, baseline: Duration, target: Target) -> Self {
        Self {
            figure: figure.to_owned(),
            ours: milliseconds(ours),
            baseline: milliseconds(baseline),
            ratio: baseline.as_secs_f64() / ours.as_secs_f64(),
            target,
        }
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

/// Prints the rows as a Markdown table, so that it can be pasted into the documentation.
pub(crate) fn print(rows: &[Row]) {
    println!("| figure | ours | baseline | ratio | target | met |");
    println!("|---|--:|--:|--:|--:|---|");
    for Row { figure, ours, baseline, ratio, target } in rows {
        let (target, met) = match *target {
            Target::AtLeast(least) => (format!("≥ {least}"), if *ratio >= least { "yes" } else { "**no**" }),
            Target::None => ("–".to_owned(), "–"),
        };
        println!("| {figure} | {ours} | {baseline} | {ratio:.2} | {target} | {met} |");
    }
}

/// Runs all candidates in turn, `rounds` times over, and answers the median of each.
///
/// In turn, because a machine that others use slows down for seconds at a time: that way it slows down for all.
pub(crate) fn medians<const N: usize>(rounds: usize, candidates: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut candidates = candidates;
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..rounds {
        for (candidate, times) in candidates.iter_mut().zip(&mut times) {
            let start = Instant::now();
            candidate();
            times.push(start.elapsed());
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}

/// Whether this was started to measure. `cargo test --benches` starts benchmarks too, without `--bench`.
pub(crate) fn wanted() -> bool {
    let arguments: Vec<String> = std::env::args().collect();
    arguments.iter().any(|argument| argument == "--bench") && !arguments.iter().any(|argument| argument == "--test")
}
