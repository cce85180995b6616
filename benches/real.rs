//! The history of a real project, or one that is made like it: thousands of files, every fourth commit a merge of a branch
//! that is weeks old.
//!
//! First, what judging it costs: with nothing anchored, with one commit in ten anchored, and when it is pushed to an empty
//! remote. Then rule 1: its commits are moved by git itself to where fewer commits were before them, alone and as
//! squashes of five. Which of these does the rule accept, how long does it take, and does it ever accept one that was
//! edited by hand?
//!
//! `cargo bench --bench real`; with `REPOSITORY=/path/to/bare.git` on that history, of which `RANGE=500` first-parent commits
//! are judged. `COMMITS=1000` moves more commits than 300, `SEED=2` others.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a benchmark whose figures would mean nothing should stop

mod history;
mod scratch;
mod table;

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use git_proof::context::Context;
use git_proof::git::{DIRECTORY, FILE, Git, TreeEntry};
use git_proof::proof::digest::{CommitId, ObjectId, TreeId};
use git_proof::proof::merge::{Mode, PathChange};
use table::{Row, run};

/// How often each command is timed.
const ROUNDS: usize = 5;
/// How many commits lie between where a change was made and where it goes.
const DISTANCES: [usize; 3] = [1, 10, 50];
/// How many commits are squashed.
const RANGE: usize = 5;
/// How many times each result is edited by hand.
const EDITS: usize = 3;

fn main() {
    if !table::wanted() {
        return;
    }
    let number = |name: &str, otherwise: u64| std::env::var(name).map_or(otherwise, |text| text.parse().unwrap());
    let project = Project::new();
    let range = number("RANGE", 500);
    table::print(&project.rows(&format!("old~{range}..old")));
    let scratch = Scratch::new(project.here.path());
    let mut random = Random(number("SEED", 1));
    let heads = scratch.commits(&mut random, usize::try_from(number("COMMITS", 300)).unwrap());
    println!(
        "| moves | clean by git | accepted | git needs renames or histogram | a mode alone | median | p99 | edited by hand | accepted |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (count, what) in [(1, "picks"), (RANGE, "squashes of five")] {
        for distance in DISTANCES {
            let moves = scratch.moves(&heads, count, distance);
            let Figures { clean, accepted, needs_more, mode_alone, times, edited, fooled } =
                scratch.judge(&mut random, &moves);
            let [median, p99] = [50, 99].map(|percent| table::percentile(&times, percent).as_secs_f64() * 1e3);
            println!(
                "| {what} over {distance} | {clean} | {accepted} | {needs_more} | {mode_alone} | {median:.2} ms | {p99:.2} ms | {edited} | {fooled} |"
            );
            assert_eq!(fooled, 0, "what was edited by hand must never be accepted");
            assert_eq!(clean, accepted + needs_more + mode_alone, "refused, though git makes it by plumbing alone");
        }
    }
}

/// Commits of a history that is made up.
const MADE_UP: usize = 4000;

/// A project whose main branch is called `old`, with nothing anchored.
struct Project {
    here: scratch::Scratch,
}

impl Project {
    fn new() -> Self {
        let here = scratch::Scratch::new();
        if let Some(repository) = std::env::var_os("REPOSITORY") {
            let repository = std::fs::canonicalize(repository).unwrap();
            run(&mut here.git(&["fetch", "-q", &repository.to_string_lossy(), "HEAD:refs/heads/old"]));
        } else {
            history::project(&here, MADE_UP);
            run(&mut here.git(&["gc", "-q"]));
        }
        run(&mut here.git(&["symbolic-ref", "HEAD", "refs/heads/old"]));
        Self { here }
    }

    fn rows(&self, range: &str) -> Vec<Row> {
        let here = &self.here;
        let base = range.split("..").next().unwrap();
        let mut raw = || run(&mut here.git(&["log", "--raw", range]));
        let mut patches = || run(&mut here.git(&["log", "-p", range]));
        // Some commits may be marked, so that a verdict need not be yes.
        let judge = |arguments: &[&str]| {
            let mut command = here.git_proof(arguments);
            move || assert!(command.stdout(Stdio::null()).status().unwrap().code().is_some_and(|code| code < 2))
        };
        let (mut verify, mut gate) =
            (judge(&["verify", "--quiet", range]), judge(&["gate", "--base", base, "--head", "old"]));
        let mut report = judge(&["report", range]);
        let mut rows = self.pushes();
        let [verified, gated, reported, logged] =
            table::medians(ROUNDS, [&mut verify, &mut gate, &mut report, &mut raw]);
        rows.extend([
            Row::cost("verify, nothing anchored : git log --raw", verified, logged, 3.0),
            Row::cost("gate, nothing anchored : git log --raw", gated, logged, 3.0),
            Row::cost("report, nothing anchored : git log --raw", reported, logged, 3.0),
        ]);
        let commits = history::list(here, &["--no-merges", range]);
        let tenth: Vec<CommitId> = commits.into_iter().step_by(10).collect();
        history::anchor(here, &tenth);
        history::index(here, &tenth);
        let [verified, gated, reported, logged] =
            table::medians(ROUNDS, [&mut verify, &mut gate, &mut report, &mut patches]);
        rows.extend([
            Row::cost("verify, one in ten anchored : git log -p", verified, logged, 1.5),
            Row::cost("gate, one in ten anchored : git log -p", gated, logged, 1.5),
            Row::cost("report, one in ten anchored : git log -p", reported, logged, 1.5),
        ]);
        rows
    }

    /// The first push of everything to an empty remote, with the hook of a project that has recorded something, and without.
    fn pushes(&self) -> Vec<Row> {
        let here = &self.here;
        here.session("recorded", 1);
        let hooks = here.path().join("hooks");
        std::fs::create_dir(&hooks).unwrap();
        let hook = format!("#!/bin/sh\nexec '{}' hook pre-push \"$@\"\n", env!("CARGO_BIN_EXE_git-proof"));
        std::fs::write(hooks.join("pre-push"), hook).unwrap();
        std::fs::set_permissions(hooks.join("pre-push"), std::fs::Permissions::from_mode(0o755)).unwrap();
        let push = |hooks: &Path| {
            let remote = tempfile::tempdir().unwrap();
            run(Command::new("git").args(["init", "-q", "--bare"]).arg(remote.path()));
            run(&mut here.git(&["remote", "add", "new", &remote.path().to_string_lossy()]));
            let start = Instant::now();
            run(&mut here.git(&["-c", &format!("core.hooksPath={}", hooks.display()), "push", "-q", "new", "old"]));
            let took = start.elapsed();
            run(&mut here.git(&["remote", "remove", "new"]));
            took
        };
        let (mut with, mut without) = (|| push(&hooks), || push(Path::new("/dev/null")));
        let [with, without] = table::sorted_times(ROUNDS, [&mut with, &mut without]);
        let median = |times: &[Duration]| table::percentile(times, 50);
        vec![Row::cost("first push, nothing to prove : without the hook", median(&with), median(&without), 1.05)]
    }
}

/// Random numbers that are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end.max(1)
    }
}

/// A change, and where it goes.
struct Move {
    base: TreeId,
    head: TreeId,
    onto: TreeId,
    /// The same three as commits.
    commits: [String; 3],
}

/// What came of some moves.
#[derive(Default)]
struct Figures {
    clean: usize,
    accepted: usize,
    /// Refused, and git's plumbing, which follows no renames, does not make it either.
    needs_more: usize,
    /// Refused because a mode changes alone, of a file that is another one there.
    mode_alone: usize,
    times: Vec<Duration>,
    edited: usize,
    fooled: usize,
}

/// A repository that borrows all objects of another one: nothing is written there.
struct Scratch {
    folder: tempfile::TempDir,
    head: String,
    git: Git,
}

impl Scratch {
    fn new(repository: &Path) -> Self {
        let ask = |what: &str| {
            let mut git = Command::new("git");
            git.arg("-C").arg(repository).args(["rev-parse", "--path-format=absolute"]).args(what.split(' '));
            String::from_utf8(git.output().unwrap().stdout).unwrap().trim_end().to_owned()
        };
        let (objects, head) = (ask("--git-path objects"), ask("HEAD"));
        let folder = tempfile::tempdir().unwrap();
        table::run(Command::new("git").args(["init", "-q", "--bare"]).arg(folder.path()));
        std::fs::write(folder.path().join("objects/info/alternates"), objects + "\n").unwrap();
        let git = Git::discover(&Context::new(folder.path().to_owned())).unwrap();
        Self { folder, head, git }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.folder.path()).args(arguments).stderr(Stdio::null());
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        git
    }

    fn ask(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut child = self.command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(input).unwrap());
            child.wait_with_output().unwrap().stdout
        })
    }

    /// Random commits that are no merges.
    fn commits(&self, random: &mut Random, count: usize) -> Vec<CommitId> {
        let list = String::from_utf8(self.ask(&["rev-list", "--no-merges", &self.head], b"")).unwrap();
        let mut all: Vec<&str> = list.lines().collect();
        let count = count.min(all.len());
        (0..count).map(|_| CommitId::parse(all.swap_remove(random.below(all.len()))).unwrap()).collect()
    }

    /// A commit that is so many before another, by first parents; `None` where the history begins.
    fn before(&self, id: &CommitId, count: usize) -> Option<CommitId> {
        (0..count).try_fold(*id, |id, _| self.git.commit(&id).unwrap().parents.first().copied())
    }

    /// The last so many commits up to each head, moved to where so many fewer are before them.
    fn moves(&self, heads: &[CommitId], count: usize, distance: usize) -> Vec<Move> {
        let place = |head: &CommitId| {
            let base = self.before(head, count)?;
            let onto = self.before(&base, distance)?;
            let [base, head, onto] = [base, *head, onto];
            let tree = |id: &CommitId| self.git.commit(id).unwrap().tree;
            let commits = [base, onto, head].map(|id| id.to_string());
            Some(Move { base: tree(&base), head: tree(&head), onto: tree(&onto), commits })
        };
        heads.iter().filter_map(place).collect()
    }

    /// The tree that git merges to for each move; `None` where there is a conflict.
    fn merged(&self, moves: &[Move]) -> Vec<Option<TreeId>> {
        let line = |Move { commits: [base, onto, head], .. }: &Move| format!("{base} -- {onto} {head}\n");
        let list: String = moves.iter().map(line).collect();
        let printed = self.ask(&["merge-tree", "--stdin", "-z", "--name-only", "--no-messages"], list.as_bytes());
        let mut words = printed.split(|byte| *byte == 0);
        let mut merged = |_: &Move| {
            let (clean, tree) = (words.next().unwrap(), words.next().unwrap());
            let tree = TreeId::parse(std::str::from_utf8(tree).unwrap()).unwrap();
            assert!(words.by_ref().any(<[u8]>::is_empty)); // the paths in conflict
            (clean == b"1").then_some(tree)
        };
        moves.iter().map(&mut merged).collect()
    }

    /// Whether git makes a tree by plumbing, which follows no renames: with an empty index, in an empty work tree.
    fn is_made_by_plumbing(&self, moved: &Move, merged: &TreeId) -> bool {
        let empty = tempfile::tempdir().unwrap();
        let run = |arguments: &[&str]| {
            let mut git = self.command(arguments);
            git.env("GIT_INDEX_FILE", empty.path().join("index")).env("GIT_DIR", self.folder.path());
            git.env("GIT_WORK_TREE", empty.path()).current_dir(empty.path()).output().unwrap()
        };
        let [base, onto, head] = &moved.commits;
        run(&["read-tree", "-i", "-m", "--aggressive", base, onto, head]);
        run(&["merge-index", "-o", "-q", "git-merge-one-file", "-a"]);
        String::from_utf8_lossy(&run(&["write-tree"]).stdout).trim_end() == merged.to_string()
    }

    fn judge(&self, random: &mut Random, moves: &[Move]) -> Figures {
        let git = &self.git;
        let mut figures = Figures::default();
        for (moved, merged) in moves.iter().zip(self.merged(moves)) {
            let Move { base, head, onto, .. } = moved;
            let Some(merged) = merged.filter(|merged| merged != onto) else { continue };
            let start = Instant::now();
            let accepted = git.is_merge_of_trees((Some(base), head), (Some(onto), &merged)).unwrap();
            figures.times.push(start.elapsed());
            figures.clean += 1;
            if !accepted {
                let change = git.diff(Some(base), Some(head)).unwrap();
                let there = |path: &[u8]| git.entry_at(Some(onto), path).unwrap().map(|entry| entry.id);
                let is_other = |path: &&PathChange| there(&path.path) != path.new.map(|new| new.id);
                if change.iter().filter(|path| path.is_mode_alone()).any(|path| is_other(&path)) {
                    figures.mode_alone += 1;
                } else if !self.is_made_by_plumbing(moved, &merged) {
                    figures.needs_more += 1;
                }
                continue;
            }
            figures.accepted += 1;
            for _ in 0..EDITS {
                let edited = self.edited(random, onto, &merged);
                figures.edited += 1;
                let fooled = git.is_merge_of_trees((Some(base), head), (Some(onto), &edited)).unwrap();
                figures.fooled += usize::from(fooled);
            }
        }
        figures.times.sort_unstable();
        figures
    }

    fn lines(&self, id: &ObjectId) -> Vec<Vec<u8>> {
        let text = self.git.blob(id, usize::MAX).unwrap();
        text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    }

    /// A tree with another entry at a path, or with none.
    fn put(&self, tree: Option<&TreeId>, path: &[u8], entry: Option<(u32, ObjectId)>) -> TreeId {
        let mut entries = tree.map(|tree| self.git.tree(tree).unwrap()).unwrap_or_default();
        let slash = path.iter().position(|byte| *byte == b'/');
        let name = &path[..slash.unwrap_or(path.len())];
        let there = entries.iter().position(|entry| entry.name == name).map(|at| entries.remove(at));
        let entry = match slash {
            Some(slash) => {
                let inner = there.filter(TreeEntry::is_tree).map(|entry| TreeId(entry.id));
                Some((DIRECTORY, self.put(inner.as_ref(), &path[slash + 1..], entry).0))
            }
            None => entry,
        };
        entries.extend(entry.map(|(mode, id)| TreeEntry { mode, name: name.to_vec(), id }));
        self.git.write_tree(&mut entries).unwrap()
    }

    /// The same tree with one more thing done to it.
    fn edited(&self, random: &mut Random, onto: &TreeId, merged: &TreeId) -> TreeId {
        let made = self.git.diff(Some(onto), Some(merged)).unwrap();
        loop {
            let touched = &made[random.below(made.len())];
            let file = touched.new.filter(|entry| entry.mode.is_regular());
            let (path, entry) = match (random.below(6), file) {
                (0, _) => (b"added by hand".to_vec(), Some((FILE, self.git.write_blob(b"x\n").unwrap()))),
                (1, _) => (touched.path.clone(), touched.old.map(|old| (old.mode.bits(), old.id))),
                (2, _) => {
                    let all = self.git.diff(None, Some(merged)).unwrap();
                    (all[random.below(all.len())].path.clone(), None)
                }
                (3, Some(entry)) => {
                    let mode = if entry.mode == Mode::File { Mode::Program } else { Mode::File };
                    (touched.path.clone(), Some((mode.bits(), entry.id)))
                }
                (4, Some(entry)) => {
                    let mut lines = self.lines(&entry.id);
                    let at = random.below(lines.len() + 1);
                    lines.insert(at, b"edited by hand\n".to_vec());
                    (touched.path.clone(), Some((entry.mode.bits(), self.git.write_blob(&lines.concat()).unwrap())))
                }
                (5, Some(entry)) => {
                    // The same lines at another place.
                    let before = touched.old.filter(|old| old.mode.is_regular()).map(|old| self.lines(&old.id));
                    let (before, after) = (before.unwrap_or_default(), self.lines(&entry.id));
                    let prefix = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
                    let ends = before[prefix..].iter().rev().zip(after[prefix..].iter().rev());
                    let suffix = ends.take_while(|(one, other)| one == other).count();
                    let mut lines = [&before[..prefix], &before[before.len() - suffix..]].concat();
                    let to = random.below(lines.len() + 1);
                    lines.splice(to..to, after[prefix..after.len() - suffix].iter().cloned());
                    (touched.path.clone(), Some((entry.mode.bits(), self.git.write_blob(&lines.concat()).unwrap())))
                }
                _ => continue,
            };
            let tree = self.put(Some(merged), &path, entry);
            if tree != *merged {
                return tree;
            }
        }
    }
}
