//! `kill -9` between any two writes of `anchor` and `sync`, and a full disk at any of them: running it again finishes the
//! work, and nothing is there twice.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::clones::{Clone, EVIDENCE, NOTES};
use crate::store::scratch::{Dice, Ran, Scratch, no_strace, with_fault};

/// The calls by which something is written. What is opened for it is left behind where the first of them is never made.
pub(crate) const CALLS: [&str; 9] =
    ["write", "pwrite64", "link", "rename", "unlink", "mkdir", "fsync", "fdatasync", "ftruncate"];
const MOST_RUNS: usize = 400;
/// What a command says that is run again and finds its work done.
const NOTHING_LEFT: [&str; 2] = ["\"ERR_NOTHING_TO_SEAL\"", "\"ERR_NOTHING_TO_PACK\""];

/// A copy of all repositories as they were before, for one more try.
pub(crate) fn again(scratch: &Scratch, names: &[&str]) {
    for name in names {
        let (from, to) = (scratch.around().join(name), scratch.around().join(format!("{name}.run")));
        let _ = std::fs::remove_dir_all(&to); // the first time there is none
        assert!(scratch.command("cp").arg("-a").args([from, to]).status().unwrap().success());
    }
}

/// Runs it until it is done. A lock that was left behind is named, and goes away by the hand that is asked to do it. The
/// answer is how many locks there were.
#[track_caller]
pub(crate) fn finish(clone: &Clone<'_>, arguments: &[&str], what: &str) -> usize {
    for locks in 0..4 {
        let ran: Ran = clone.proof(arguments).env("GIT_PROOF_PATIENCE", "30").output().unwrap().into();
        if ran.exit == Some(0) {
            return locks;
        }
        // It was done, and only the answer was lost.
        if NOTHING_LEFT.iter().any(|code| ran.err.contains(code)) {
            assert_eq!(ran.exit, Some(1), "{what}: {ran:?}");
            return locks;
        }
        let codes = ["ERR_REMOTE_FAILED", "ERR_OUTPUT_FAILED"];
        let code = codes.into_iter().find(|code| ran.err.contains(code)).unwrap_or("ERR_REPOSITORY_FAILED");
        let error = ran.error(code, 4);
        let hint = error["hint"].as_str().unwrap();
        let lock =
            PathBuf::from(hint.split('\'').nth(1).unwrap_or_else(|| panic!("{what}: no lock is named: {error}")));
        assert_eq!(lock.extension().and_then(|end| end.to_str()), Some("lock"), "{what}: {error}");
        std::fs::remove_file(clone.path.join(&lock)).unwrap();
    }
    panic!("{what}: it does not come to an end");
}

/// Does something to each call of each kind, once, in a fresh copy each time.
pub(crate) fn at_each_call(
    scratch: &Scratch,
    names: &[&str],
    (fault, calls): (&str, &[&str]),
    arguments: &[&str],
    check: impl Fn(&Clone<'_>, &str),
) {
    let mut runs = 0;
    for call in calls {
        for nth in moments() {
            again(scratch, names);
            let clone = Clone::at(scratch, &format!("{}.run", names[0]));
            let what = format!("{fault} at {call} {nth}");
            let mut strace = clone.command("strace");
            strace.env("GIT_PROOF_PATIENCE", "2000");
            let (ran, hit) = with_fault(scratch, &mut strace, (fault, call, nth), arguments);
            runs += 1;
            assert!(runs < MOST_RUNS, "more calls of {call} than expected");
            assert_ne!(ran.exit, Some(101), "{what}: {ran:?}");
            if !hit {
                assert_eq!(ran.exit, Some(0), "{what}: {ran:?}");
                break;
            }
            if ran.exit != Some(0) {
                finish(&clone, arguments, &what);
            }
            check(&clone, &what);
        }
    }
    assert!(runs > 2 * calls.len(), "faults did not come about");
    eprintln!("{runs} runs with {fault}");
}

/// Which calls are tried: the first three, and then each 17th. With `GIT_PROOF_TEST_EACH_CALL` it is every one.
pub(crate) fn moments() -> impl Iterator<Item = usize> {
    let each = std::env::var_os("GIT_PROOF_TEST_EACH_CALL").is_some();
    (1..).filter(move |nth| each || *nth <= 3 || nth % 17 == 0)
}

/// A repository with a session that is finalized and not anchored yet, and what to run. Half of its tries begin with an
/// anchor that is there already, so that refs are moved and not made.
fn to_be_anchored(scratch: &Scratch, before: bool) -> (Vec<String>, String) {
    let repo = Clone::init(scratch, "repo", &["--template="]);
    let commits = repo.commits(2);
    repo.session("before");
    if before {
        repo.anchor("before", &commits[0]);
    }
    repo.session("s");
    let commit = commits[1].clone();
    (if before { commits } else { vec![commit.clone()] }, commit)
}

fn anchored_once(clone: &Clone<'_>, commits: &[String], what: &str) {
    assert!(clone.tip(NOTES).is_some(), "{what}");
    clone.has_one_line_each(commits);
    assert_eq!(clone.evidence().len(), commits.len(), "{what}");
    clone.is_whole();
}

#[test]
fn anchor_that_is_killed_at_any_write_is_finished_by_the_next() {
    let scratch = Scratch::without_repository();
    if no_strace(&scratch) {
        return;
    }
    let (commits, commit) = to_be_anchored(&scratch, false);
    let arguments = ["--json", "anchor", "--session", "s", "--commit", &commit];
    at_each_call(&scratch, &["repo"], ("signal=KILL", &CALLS), &arguments, |clone, what| {
        anchored_once(clone, &commits, what);
    });
}

#[test]
fn anchor_on_a_disk_that_is_full_at_any_write_is_finished_by_the_next() {
    let scratch = Scratch::without_repository();
    if no_strace(&scratch) {
        return;
    }
    let (commits, commit) = to_be_anchored(&scratch, true);
    let arguments = ["--json", "anchor", "--session", "s", "--commit", &commit];
    let calls = ["write", "pwrite64", "mkdir", "link", "rename", "fsync", "fdatasync", "ftruncate"];
    at_each_call(&scratch, &["repo"], ("error=ENOSPC", &calls), &arguments, |clone, what| {
        anchored_once(clone, &commits, what);
    });
}

/// Two clones that have both anchored since they last met.
fn to_be_synced(scratch: &Scratch) -> Vec<String> {
    let remote = Clone::init(scratch, "remote", &["--bare", "--template="]);
    let repo = Clone::init(scratch, "repo", &["--template="]);
    repo.git(&["remote", "add", "origin", "../remote.run"]);
    let commits = repo.commits(2);
    repo.git(&["push", "--quiet", remote.path.to_str().unwrap(), "main"]);
    let other = remote.clone("other", &["--template="]);
    for (clone, session, commit) in [(&other, "theirs", &commits[0]), (&repo, "ours", &commits[1])] {
        clone.session(session);
        clone.anchor(session, commit);
    }
    other.json(&["sync"]);
    commits
}

fn synced_once(clone: &Clone<'_>, commits: &[String], what: &str) {
    let remote = Clone::at(clone.scratch, "remote.run");
    for place in [clone, &remote] {
        place.has_one_line_each(commits);
        assert_eq!(place.evidence().len(), 2, "{what}");
        place.is_whole();
    }
    assert_eq!((clone.tip(NOTES), clone.tip(EVIDENCE)), (remote.tip(NOTES), remote.tip(EVIDENCE)), "{what}");
}

#[test]
fn sync_that_is_killed_at_any_write_is_finished_by_the_next() {
    let scratch = Scratch::without_repository();
    if no_strace(&scratch) {
        return;
    }
    let commits = to_be_synced(&scratch);
    let calls = ["link", "rename", "unlink", "fsync", "fdatasync"];
    at_each_call(&scratch, &["repo", "remote"], ("signal=KILL", &calls), &["--json", "sync"], |clone, what| {
        synced_once(clone, &commits, what);
    });
}

/// Removes the locks that processes of git left, as whoever looks after a repository would; how many there were.
pub(crate) fn unlock(directory: &std::path::Path) -> usize {
    let mut found = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found += unlock(&path);
        } else if path.extension().is_some_and(|end| end == "lock") {
            std::fs::remove_file(&path).unwrap();
            found += 1;
        }
    }
    found
}

#[test]
fn sync_that_is_killed_with_all_its_processes_is_finished_by_the_next() {
    let scratch = Scratch::without_repository();
    let commits = to_be_synced(&scratch);
    let mut dice = Dice(5);
    again(&scratch, &["repo", "remote"]);
    let clone = Clone::at(&scratch, "repo.run");
    let begun = Instant::now();
    clone.json(&["sync"]);
    let whole = begun.elapsed();
    for round in 0..12 {
        again(&scratch, &["repo", "remote"]);
        let mut command = clone.proof(&["sync"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap();
        // What is tested is any moment, so the length of it does not matter.
        std::thread::sleep(whole * u32::try_from(dice.below(1000)).unwrap() / 1000);
        let group = format!("-{}", child.id());
        // It may have come to its end by itself.
        let _ = Command::new("kill").args(["-9", "--", &group]).stderr(Stdio::null()).status().unwrap();
        child.wait().unwrap();
        // Those at the other end of the pipe end when they find nobody there.
        std::thread::sleep(Duration::from_millis(50));
        for place in ["repo.run", "remote.run"] {
            unlock(&scratch.around().join(place));
        }
        clone.json(&["sync"]);
        synced_once(&clone, &commits, &format!("round {round}"));
    }
}
