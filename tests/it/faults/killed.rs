//! `kill -9` at any write of any command that writes, or of a git process below it; then `sync`. What was acknowledged is
//! proven in a fresh clone, with no step by hand but removing a lock that git left and that `sync` names. Each command has a row.
//!
//! `GIT_PROOF_TEST_KILLS` says how many moments of each command are tried (a large number: all of them), and
//! `GIT_PROOF_TEST_SEED` which.

use serde_json::Value;

use super::calls::begun;
use super::points::{Point, Victim};
use crate::anchoring::clones::Clone;
use crate::anchoring::killed::{again, finish};
use crate::store::scratch::{Dice, Scratch, no_strace, text};

/// A command that writes.
pub(super) struct Row<'a> {
    /// Its arguments; [`WITHHELD`] stands for a record.
    pub(super) command: &'a [&'a str],
    /// What it reads.
    pub(super) input: fn(&Clone<'_>) -> String,
    /// Makes the state in which it runs. Session `before` and its commit are there, acknowledged and not shared yet.
    pub(super) prepare: fn(&Clone<'_>),
    /// Whether the command said that it did its work. That must be there after `sync`, as `holds` says.
    pub(super) acknowledged: fn(&str) -> bool,
    /// Runs the command again where it was not acknowledged.
    pub(super) again: fn(&Clone<'_>, &Row<'_>),
    /// What must hold of an acknowledged command, in its clone (first) and in a fresh one.
    pub(super) holds: fn(&Clone<'_>, &Clone<'_>, &str),
    /// Whether session `s` is brought to its end afterwards, so that the commit at HEAD is proven in the fresh clone.
    pub(super) goes_on: bool,
    /// Whether `sync` can do its work before the command is run again: two chains of rounds stay apart until one is accepted.
    pub(super) syncs_before: bool,
}

/// The record of session `s` that is withheld.
pub(super) const WITHHELD: &str = "WITHHELD";

/// A command that prints JSON, that can be run again, and after which the commit at HEAD is proven.
pub(super) const USUAL: Row<'_> = Row {
    command: &[],
    input: |_| String::new(),
    prepare: |_| {},
    acknowledged: |out| serde_json::from_str::<Value>(out).is_ok(),
    again: |clone, row| {
        finish(clone, row.command, "again");
    },
    holds: |_, fresh, _| fresh.passes("HEAD"),
    goes_on: false,
    syncs_before: true,
};

/// A command that records the text behind `--content` in session `s`, which goes on.
pub(super) const RECORDS: Row<'_> = Row {
    prepare: open,
    again: |clone, row| {
        if !row.is_done(clone) {
            finish(clone, row.command, "again");
        }
    },
    holds: |_, _, _| {},
    goes_on: true,
    ..USUAL
};

/// A hook of git. Only its exit code says that it is done, so it counts as not acknowledged.
pub(super) const HOOK: Row<'_> = Row { acknowledged: |_| false, ..USUAL };

impl Row<'_> {
    /// Whether the entry that a killed command was to record is there: then it is not run again.
    fn is_done(&self, clone: &Clone<'_>) -> bool {
        let Some(text) = self.command.iter().skip_while(|part| **part != "--content").nth(1) else { return false };
        entries(clone).iter().any(|entry| entry["content"] == **text)
    }
}

/// The entries of session `s`.
pub(super) fn entries(clone: &Clone<'_>) -> Vec<Value> {
    let ran = clone.run(&["--json", "log", "--session", "s"]);
    if ran.exit == Some(0) { ran.json()["entries"].as_array().unwrap().clone() } else { Vec::new() }
}

pub(super) fn open(clone: &Clone<'_>) {
    clone.json(&["start", "--intent", "try it", "--session-id", "s"]);
    clone.json(&["record", "--type", "plan", "--content", "change a file"]);
}

/// Stages a file that is new.
pub(super) fn stage(clone: &Clone<'_>) {
    std::fs::write(clone.path.join("s"), "s\n").unwrap();
    clone.git(&["add", "s"]);
}

/// The commit of session `s`, of which the session has heard.
pub(super) fn commit(clone: &Clone<'_>) {
    stage(clone);
    clone.git(&["commit", "--quiet", "--message", "s"]);
    assert_eq!(clone.run(&["hook", "post-commit"]).exit, Some(0));
}

pub(super) fn reflect(clone: &Clone<'_>) {
    clone.json(&["record", "--session", "s", "--type", "reflection", "--content", "it is changed"]);
}

/// A session with its commit and its reflection.
pub(super) fn reflected(clone: &Clone<'_>) {
    open(clone);
    commit(clone);
    reflect(clone);
    push(clone);
}

/// A finalized session whose commit was amended and then pushed by somebody without hooks.
pub(super) fn amended(clone: &Clone<'_>) {
    reflected(clone);
    clone.json(&["finalize"]);
    clone.git(&["commit", "--quiet", "--amend", "--message", "in other words"]);
    push(clone);
}

/// Pushes from the state that is being prepared, which is not the one that the remote of a clone names.
pub(super) fn push(clone: &Clone<'_>) {
    clone.git(&["push", "--quiet", "--force", "--no-verify", "../remote", "main"]);
}

/// Brings session `s` to its end from wherever it is, and pushes its commit.
fn conclude(clone: &Clone<'_>) {
    if entries(clone).is_empty() && clone.run(&["log", "--session", "s"]).exit != Some(0) {
        clone.json(&["start", "--intent", "try it", "--session-id", "s"]);
    }
    if clone.git(&["log", "-1", "--format=%s"]) != "s" {
        commit(clone);
    }
    if !entries(clone).iter().any(|entry| entry["type"] == "reflection") {
        reflect(clone);
    }
    clone.json(&["finalize", "--session", "s"]);
    clone.git(&["push", "--quiet", "--no-verify", "origin", "main"]);
}

/// Another clone, which has shared a session of its own with the remote.
pub(super) fn other_shares(clone: &Clone<'_>) {
    let other = Clone::at(clone.scratch, "remote").clone("other", &["--template="]);
    other.explain("theirs");
    other.git(&["push", "--quiet", "--no-verify", "origin", "HEAD:refs/heads/theirs"]);
    other.json(&["sync"]);
}

/// That the word stands in the note of HEAD, once.
pub(super) fn noted(clone: &Clone<'_>, commit: &str, word: &str, what: &str) {
    let lines = clone.notes().remove(&clone.tip(commit).unwrap()).unwrap_or_default();
    assert_eq!(lines.iter().filter(|line| line.contains(word)).count(), 1, "{what}: {word} in {lines:?}");
}

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().map_or(usual, |value| value.parse().unwrap())
}

/// Kills the command of a row at as many of its moments as are asked for.
pub(super) fn killed(row: &Row<'_>) {
    let scratch = Scratch::without_repository();
    if no_strace(&scratch) {
        return;
    }
    let repo = begun(&scratch, "repo");
    Clone::init(&scratch, "remote", &["--bare", "--template="]);
    repo.git(&["remote", "add", "origin", "../remote.run"]);
    repo.signs_as("ada");
    let before = repo.explain("before");
    push(&repo);
    (row.prepare)(&repo);
    let withheld =
        entries(&repo).iter().find(|entry| entry["private"] == true).map(|entry| text(entry, "id").to_owned());
    let put = |part: &&str| if *part == WITHHELD { withheld.clone().unwrap() } else { (*part).to_owned() };
    let command: Vec<String> = row.command.iter().map(put).collect();
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    let row = &Row { command: &command, ..*row };

    let mut victim = Victim { scratch: &scratch, arguments: row.command, input: String::new(), threads: false };
    victim.threads = row.command == ["mcp"];
    let fresh_copy = || {
        again(&scratch, &["repo", "remote"]);
        Clone::at(&scratch, "repo.run")
    };
    let clone = fresh_copy();
    victim.input = (row.input)(&clone);
    let (ran, mut points) = victim.watch(&clone);
    assert!((row.acknowledged)(&ran.out) || ran.exit == Some(0), "{:?}: {ran:?}", row.command);
    points.extend(victim.watch_git(&fresh_copy()));
    assert!(points.len() > 1, "{:?} writes nothing", row.command);

    let seed = setting("GIT_PROOF_TEST_SEED", 20_261_118);
    let wanted = usize::try_from(setting("GIT_PROOF_TEST_KILLS", 1)).unwrap().min(points.len());
    let mut dice = Dice(seed);
    let all = points.len();
    let (mut kills, mut locks) = (0, 0);
    for _ in 0..wanted {
        let point = points.swap_remove(usize::try_from(dice.below(points.len() as u64)).unwrap());
        let what = format!("{:?} killed at {point:?}, seed {seed}", row.command);
        let clone = fresh_copy();
        let (ran, hit) = victim.kill(&clone, &point);
        kills += usize::from(hit);
        assert_ne!(ran.exit, Some(101), "{what}: {ran:?}");
        locks += after(row, &clone, &before, (&point, (row.acknowledged)(&ran.out)), &what);
    }
    eprintln!("{kills} kills of {:?} at {wanted} of {all} moments, seed {seed}; git left {locks} locks", row.command);
}

/// What must hold after a kill. The answer is how many locks git had left.
fn after(row: &Row<'_>, clone: &Clone<'_>, before: &str, (point, acknowledged): (&Point, bool), what: &str) -> usize {
    let scratch = clone.scratch;
    let _ = std::fs::remove_dir_all(scratch.around().join("fresh")); // the first time there is none
    if !acknowledged && !row.syncs_before {
        (row.again)(clone, row);
    }
    let locks = finish(clone, &["--json", "sync"], what);
    assert!(locks == 0 || point.child.is_some(), "{what}: a lock is named, and no git was killed");
    let fresh = Clone::at(scratch, "remote.run").clone("fresh", &["--template="]);
    fresh.json(&["sync"]);
    fresh.passes(before);
    let share = || {
        finish(clone, &["--json", "sync"], what);
        fresh.git(&["fetch", "--quiet"]);
        fresh.git(&["reset", "--quiet", "--hard", "origin/main"]);
        fresh.json(&["sync"]);
    };
    if !acknowledged {
        (row.again)(clone, row);
        share();
    }
    (row.holds)(clone, &fresh, what);
    if row.goes_on {
        conclude(clone);
        share();
        fresh.passes("HEAD");
    }
    let check = clone.run(&["check", "--session", "before"]);
    assert_eq!(check.exit, Some(0), "{what}: {check:?}");
    locks
}
