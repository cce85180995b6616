//! What anchoring adds to a developer's day: to a commit, to a repository full of notes, to a rebase.
//!
//! `cargo bench --bench anchor`

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop

mod scratch;
mod table;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use scratch::Scratch;
use table::{Row, Target, percentile, run, sorted_times};

const COMMITS: usize = 100;
const NOTES: usize = 100_000;
const ANCHORS: usize = 40;
const REBASES: usize = 10;
const REBASED: usize = 50;

fn main() {
    if !table::wanted() {
        return;
    }
    let mut rows = commits();
    rows.extend(notes());
    rows.extend(rebases());
    table::print(&rows);
}

/// What two hooks add to `git commit`.
fn commits() -> Vec<Row> {
    let (bare, idle, silent, anchoring) = (Scratch::new(), Scratch::new(), Scratch::new(), Scratch::new());
    for hook in ["commit-msg", "post-commit"] {
        write_hook(&idle, hook, "#!/bin/sh\n:\n");
    }
    for scratch in [&silent, &anchoring] {
        run(&mut proof(scratch, &["init"]));
        for hook in ["post-rewrite", "pre-push"] {
            std::fs::remove_file(scratch.path().join(".git/hooks").join(hook)).unwrap();
        }
    }
    let mut number = 0;
    let mut commit = |scratch: &Scratch, session: bool| {
        number += 1;
        std::fs::write(scratch.path().join("file"), format!("{number}\n")).unwrap();
        run(&mut scratch.git(&["add", "file"]));
        if session {
            run(&mut proof(scratch, &["start", "--intent", "measure"]));
            run(&mut proof(scratch, &["record", "--type", "decision", "--content", scratch::CONTENT]));
            run(&mut proof(scratch, &["record", "--type", "reflection", "--content", "measured"]));
            run(&mut proof(scratch, &["finalize"]));
        }
        let mut command = on_path(scratch.git(&["commit", "-q", "-m", "measured"]));
        command.stderr(Stdio::null());
        let start = Instant::now();
        run(&mut command);
        start.elapsed()
    };
    let mut rounds: [Vec<Duration>; 4] = std::array::from_fn(|_| Vec::new());
    for _ in 0..COMMITS {
        rounds[0].push(commit(&bare, false));
        rounds[1].push(commit(&idle, false));
        rounds[2].push(commit(&silent, false));
        rounds[3].push(commit(&anchoring, true));
    }
    let [none, nothing, silent_took, anchoring_took] = rounds.map(|mut times| {
        times.sort_unstable();
        percentile(&times, 50)
    });
    let notes = String::from_utf8(anchoring.git(&["notes", "--ref=proof", "list"]).output().unwrap().stdout).unwrap();
    assert_eq!(notes.lines().count(), COMMITS, "every commit is anchored");
    let cost = |took: Duration| took.saturating_sub(none);
    vec![
        Row::cost(
            "what hooks add to a commit that is anchored : two hooks that do nothing",
            cost(anchoring_took),
            cost(nothing),
            4.0,
        ),
        Row::cost(
            "what hooks add where nothing is to anchor : two hooks that do nothing",
            cost(silent_took),
            cost(nothing),
            1.7,
        ),
        Row {
            target: Target::None,
            ..Row::cost("git commit with two hooks that do nothing : without", nothing, none, 0.0)
        },
    ]
}

/// One more note among many.
fn notes() -> Vec<Row> {
    let (ours, theirs) = (Scratch::new(), Scratch::new());
    let commits: Vec<String> = [&ours, &theirs].map(full_of_notes).into_iter().next().unwrap();
    run(&mut proof(&ours, &["start", "--intent", "measure", "--session-id", "s"]));
    run(&mut proof(&ours, &["record", "--type", "reflection", "--content", "measured"]));
    run(&mut proof(&ours, &["finalize"]));
    run(&mut proof(&ours, &["anchor", "--commit", &commits[NOTES]]));
    let line = "x".repeat(700);
    let mut anchors = Vec::new();
    let mut adds = Vec::new();
    for commit in commits[NOTES + 1..].iter().take(ANCHORS) {
        let start = Instant::now();
        run(&mut proof(&ours, &["anchor", "--commit", commit]));
        anchors.push(start.elapsed());
        let start = Instant::now();
        run(&mut theirs.git(&["notes", "--ref=proof", "add", "-m", &line, commit]));
        adds.push(start.elapsed());
    }
    anchors.sort_unstable();
    adds.sort_unstable();
    let (anchor, add) = (percentile(&anchors, 50), percentile(&adds, 50));
    vec![Row::cost("anchor among 100,000 notes : git notes add", anchor, add, 2.0)]
}

/// The hook after a rebase, against the rebase.
fn rebases() -> Vec<Row> {
    let scratch = Scratch::new();
    for (number, branch) in ["one", "other"].iter().enumerate() {
        run(&mut scratch.git(&["checkout", "-q", "-b", branch]));
        std::fs::write(scratch.path().join(branch), number.to_string()).unwrap();
        run(&mut scratch.git(&["add", "."]));
        run(&mut scratch.git(&["commit", "-q", "-m", branch]));
        run(&mut scratch.git(&["checkout", "-q", "-"]));
    }
    run(&mut scratch.git(&["checkout", "-q", "-b", "work", "one"]));
    run(&mut proof(&scratch, &["start", "--intent", "measure", "--session-id", "s"]));
    for number in 0..REBASED {
        std::fs::write(scratch.path().join(format!("file-{number}")), "text\n".repeat(20)).unwrap();
        run(&mut scratch.git(&["add", "."]));
        run(&mut scratch.git(&["commit", "-q", "-m", "work"]));
        run(&mut proof(&scratch, &["hook", "post-commit"]));
    }
    run(&mut proof(&scratch, &["record", "--type", "reflection", "--content", "measured"]));
    run(&mut proof(&scratch, &["finalize"]));
    let work = |base: &str| {
        let range = format!("{base}..work");
        let listed = scratch.git(&["rev-list", "--reverse", &range]).output().unwrap().stdout;
        String::from_utf8(listed).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let mut bases = ["one", "other"].into_iter().cycle();
    let mut base = bases.next().unwrap();
    let mut hooks = Vec::new();
    let mut rebase = || {
        let before = work(base);
        let onto = bases.next().filter(|next| *next != base).unwrap_or_else(|| bases.next().unwrap());
        let start = Instant::now();
        run(&mut scratch.git(&["rebase", "-q", "--onto", onto, base, "work"]));
        let took = start.elapsed();
        base = onto;
        let pairs: String = before.iter().zip(work(base)).map(|(old, new)| format!("{old} {new}\n")).collect();
        let start = Instant::now();
        let mut child = proof(&scratch, &["hook", "post-rewrite", "rebase"]).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(pairs.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        hooks.push(start.elapsed());
        took
    };
    let [rebases] = sorted_times(REBASES, [&mut rebase]);
    hooks.sort_unstable();
    run(&mut proof(&scratch, &["verify", "--quiet", "work"]));
    let (hook, rebase) = (percentile(&hooks, 50), percentile(&rebases, 50));
    vec![Row::cost("post-rewrite of 50 commits : the rebase itself", hook, rebase, 0.1)]
}

fn proof(scratch: &Scratch, arguments: &[&str]) -> Command {
    let mut command = on_path(scratch.git_proof(arguments));
    command.stderr(Stdio::null());
    command
}

/// With the program that is measured on the path, where the hooks look for it.
fn on_path(mut command: Command) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_git-proof")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(program.to_owned()).chain(std::env::split_paths(&path))).unwrap();
    command.env("PATH", path);
    command
}

fn write_hook(scratch: &Scratch, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = scratch.path().join(".git/hooks").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Makes commits, and notes on all but the last few of them. The answer is the commits.
fn full_of_notes(scratch: &Scratch) -> Vec<String> {
    let extra = ANCHORS + 2;
    let mut stream = String::new();
    for number in 0..NOTES + extra {
        stream.push_str(&format!(
            "commit refs/heads/many\nmark :{}\ncommitter A <a@b> {} +0000\ndata 1\nx\n",
            number + 1,
            1_700_000_000 + number
        ));
    }
    stream.push_str("commit refs/notes/proof\ncommitter A <a@b> 1700000000 +0000\ndata 1\nn\n");
    let note = "y".repeat(700);
    for number in 0..NOTES {
        stream.push_str(&format!("N inline :{}\ndata 700\n{note}\n", number + 1));
    }
    let marks = scratch.path().join("marks");
    let export = format!("--export-marks={}", marks.display());
    let mut child = scratch.git(&["fast-import", "--quiet", &export]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stream.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let text = std::fs::read_to_string(marks).unwrap();
    let mut commits: Vec<(usize, String)> = text
        .lines()
        .map(|line| {
            let (mark, id) = line.split_once(' ').unwrap();
            (mark[1..].parse().unwrap(), id.to_owned())
        })
        .collect();
    commits.sort_unstable();
    commits.into_iter().map(|(_, id)| id).collect()
}
