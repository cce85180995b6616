//! The one table that a benchmark prints, and the way its figures are taken.

#![allow(clippy::print_stdout, clippy::unwrap_used)] // what a benchmark is for; one whose figures mean nothing should stop
#![allow(dead_code)] // each benchmark takes what it needs

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

/// What a figure must be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
    /// The ratio must be at least this.
    AtLeast(f64),
    /// The ratio must be at most this.
    AtMost(f64),
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
    /// The two as one number.
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

    /// A row about cost: the ratio is how many times as long as the baseline we take.
    pub(crate) fn cost(figure: &str, ours: Duration, baseline: Duration, most: f64) -> Self {
        Self {
            ratio: ours.as_secs_f64() / baseline.as_secs_f64(),
            ..Self::speed(figure, ours, baseline, Target::AtMost(most))
        }
    }

    /// A row about memory, in KiB: the ratio is which part of the limit we take.
    pub(crate) fn memory(figure: &str, ours: u32, limit: u32) -> Self {
        let mebibytes = |kib: u32| format!("{:.1} MiB", f64::from(kib) / 1024.0);
        Self {
            figure: figure.to_owned(),
            ours: mebibytes(ours),
            baseline: mebibytes(limit),
            ratio: f64::from(ours) / f64::from(limit),
            target: Target::AtMost(1.0),
        }
    }
}

impl Row {
    fn to_json(&self) -> String {
        let Self { figure, ours, baseline, ratio, target } = self;
        let (least, most) = match *target {
            Target::AtLeast(least) => (Some(least), None),
            Target::AtMost(most) => (None, Some(most)),
            Target::None => (None, None),
        };
        // Cargo names the program after its benchmark, and a hash after that.
        let program = std::env::current_exe().unwrap();
        let program = program.file_stem().unwrap().to_string_lossy();
        let bench = program.rsplit_once('-').map_or(&*program, |(name, _)| name);
        json!({
            "bench": bench, "figure": figure, "ours": ours, "baseline": baseline, "ratio": ratio,
            "at_least": least, "at_most": most, "met": target.met(*ratio),
        })
        .to_string()
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

impl Target {
    fn text(self) -> String {
        match self {
            Self::AtLeast(least) => format!("≥ {least}"),
            Self::AtMost(most) => format!("≤ {most}"),
            Self::None => "–".to_owned(),
        }
    }

    /// Whether a ratio is what it must be; nothing where nothing is asked.
    fn met(self, ratio: f64) -> Option<bool> {
        match self {
            Self::AtLeast(least) => Some(ratio >= least),
            Self::AtMost(most) => Some(ratio <= most),
            Self::None => None,
        }
    }
}

/// Prints the rows as a Markdown table, so that it can be pasted into the documentation. Where `GIT_PROOF_BENCH_JSON` names
/// a file, they are added to it too, a line of JSON each: benches/all.sh makes one table of all benchmarks so.
pub(crate) fn print(rows: &[Row]) {
    println!("| figure | ours | baseline | ratio | target | met |");
    println!("|---|--:|--:|--:|--:|---|");
    for Row { figure, ours, baseline, ratio, target } in rows {
        let met = target.met(*ratio).map_or("–", |met| if met { "yes" } else { "**no**" });
        println!("| {figure} | {ours} | {baseline} | {ratio:.2} | {} | {met} |", target.text());
    }
    if let Some(path) = std::env::var_os("GIT_PROOF_BENCH_JSON") {
        let lines: String = rows.iter().map(|row| row.to_json() + "\n").collect();
        OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(lines.as_bytes()).unwrap();
    }
}

/// Runs all candidates in turn, `rounds` times over, and answers the median of each.
///
/// In turn, because a machine that others use slows down for seconds at a time: that way it slows down for all.
pub(crate) fn medians<const N: usize>(rounds: usize, candidates: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut timed = candidates.map(|candidate| {
        move || {
            let start = Instant::now();
            candidate();
            start.elapsed()
        }
    });
    sorted_times(rounds, timed.each_mut().map(|candidate| candidate as &mut dyn FnMut() -> Duration))
        .map(|times| percentile(&times, 50))
}

/// Runs all candidates in turn, `rounds` times over. Each says itself how long it took; the answer is sorted.
pub(crate) fn sorted_times<const N: usize>(
    rounds: usize,
    candidates: [&mut dyn FnMut() -> Duration; N],
) -> [Vec<Duration>; N] {
    let mut candidates = candidates;
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..rounds {
        for (candidate, times) in candidates.iter_mut().zip(&mut times) {
            times.push(candidate());
        }
    }
    for times in &mut times {
        times.sort_unstable();
    }
    times
}

/// The time that so many in a hundred do not exceed.
pub(crate) fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

/// Runs a command that must succeed, without what it prints.
pub(crate) fn run(command: &mut Command) {
    let status = command.stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}

/// The most memory that a command had at any time, in KiB, as the kernel counts it: read until the very end.
pub(crate) fn peak_memory_kib(command: &mut Command) -> u32 {
    let peak = peak_seen_kib(command);
    assert!(peak > 0, "no VmHWM of {command:?}; this figure needs Linux");
    peak
}

/// The same of a command that may be over before it was looked at: zero then.
pub(crate) fn peak_seen_kib(command: &mut Command) -> u32 {
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let mark = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(mark.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(1));
    }
    peak
}

/// Whether this was started to measure. `cargo test --benches` starts benchmarks too, without `--bench`.
pub(crate) fn wanted() -> bool {
    let arguments: Vec<String> = std::env::args().collect();
    arguments.iter().any(|argument| argument == "--bench") && !arguments.iter().any(|argument| argument == "--test")
}
