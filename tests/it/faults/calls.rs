//! `kill -9` and a full disk at any write of `seal`, of a sync that makes a seal again, of `rounds accept` and of `vouch`:
//! running it again finishes the work, and everything verifies.

use crate::anchoring::clones::{Clone, NOTES};
use crate::anchoring::killed::{CALLS, at_each_call};
use crate::rounds::ROUNDS;
use crate::store::scratch::{Scratch, no_strace, text};

const KILL: (&str, &[&str]) = ("signal=KILL", &CALLS);
const FULL: (&str, &[&str]) =
    ("error=ENOSPC", &["write", "pwrite64", "mkdir", "link", "rename", "fsync", "fdatasync", "ftruncate"]);
const UNOPENED: (&str, &[&str]) = ("error=EIO", &["openat"]);

/// A repository of this name with a first commit.
pub(super) fn begun<'a>(scratch: &'a Scratch, name: &str) -> Clone<'a> {
    let repo = Clone::init(scratch, name, &["--template="]);
    repo.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
    repo
}

/// That these sessions are sealed in this order, one a round, and that all that can be checked holds.
#[track_caller]
fn holds(clone: &Clone<'_>, sessions: &[&str], what: &str) {
    let (exit, found) = clone.rounds();
    assert_eq!(exit, Some(0), "{what}: {found}");
    let seal = |back: usize| serde_json::from_str::<serde_json::Value>(&clone.seal_text(back)).unwrap();
    let seals: Vec<_> = (0..found["rounds"].as_array().unwrap().len()).rev().map(seal).collect();
    let sealed = seals.iter().flat_map(|seal| seal["sessions"].as_array().unwrap());
    let sealed: Vec<&str> = sealed.map(|session| text(session, "session_id")).collect();
    assert_eq!((sealed.as_slice(), seals.len()), (sessions, sessions.len()), "{what}");
    let check = clone.run(&["check"]);
    assert_eq!(check.exit, Some(0), "{what}: {check:?}");
    clone.passes("HEAD");
    clone.is_whole();
}

/// That the newest seal has a signature of its own, and not only one that was made for a seal that came to nothing.
#[track_caller]
fn is_signed(clone: &Clone<'_>, what: &str) {
    let newest = clone.tip(ROUNDS).unwrap();
    let notes = clone.notes();
    let lines = notes.get(&newest).unwrap_or_else(|| panic!("{what}: the seal is not signed"));
    assert!(lines.len() == 1 && lines[0].contains("\"seal\""), "{what}: {lines:?}");
}

fn seal_with(fault: (&str, &[&str]), before: bool) {
    let scratch = Scratch::without_repository();
    if no_strace(&scratch) {
        return;
    }
    let repo = begun(&scratch, "repo");
    repo.signs_as("ada");
    let mut sessions = Vec::new();
    if before {
        repo.explain("before");
        repo.json(&["seal"]);
        sessions.push("before");
    }
    repo.explain("s");
    sessions.push("s");
    at_each_call(&scratch, &["repo"], fault, &["--json", "seal", "--sign"], |clone, what| {
        holds(clone, &sessions, what);
        is_signed(clone, what);
    });
}

#[test]
fn seal_that_is_killed_at_any_write_is_finished_by_the_next() {
    seal_with(KILL, false);
}

#[test]
fn seal_on_a_disk_that_is_full_at_any_write_is_finished_by_the_next() {
    seal_with(FULL, true);
}

#[test]
fn seal_that_cannot_open_any_one_file_is_finished_by_the_next() {
    seal_with(UNOPENED, true);
}

/// A remote, a clone that has sealed and shared, and another one that sealed without having heard of it, signed.
fn to_be_joined(scratch: &Scratch) -> (Clone<'_>, Clone<'_>) {
    let remote = Clone::init(scratch, "remote", &["--bare", "--template="]);
    let repo = begun(scratch, "repo");
    repo.git(&["remote", "add", "origin", "../remote.run"]);
    repo.git(&["push", "--quiet", remote.path.to_str().unwrap(), "main"]);
    let other = remote.clone("other", &["--template="]);
    for (clone, session) in [(&other, "theirs"), (&repo, "ours")] {
        clone.signs_as("ada");
        clone.explain(session);
        clone.json(&["seal", "--sign"]);
    }
    (remote, other)
}

fn join_with(fault: &str, calls: &[&str]) {
    let scratch = Scratch::without_repository();
    if no_strace(&scratch) {
        return;
    }
    let (_, other) = to_be_joined(&scratch);
    other.json(&["sync"]);
    at_each_call(&scratch, &["repo", "remote"], (fault, calls), &["--json", "sync"], |clone, what| {
        holds(clone, &["theirs", "ours"], what);
        is_signed(clone, what);
        let remote = Clone::at(&scratch, "remote.run");
        assert_eq!((clone.tip(ROUNDS), clone.tip(NOTES)), (remote.tip(ROUNDS), remote.tip(NOTES)), "{what}");
    });
}

#[test]
fn sync_that_makes_a_seal_again_and_is_killed_at_any_write_is_finished_by_the_next() {
    join_with("signal=KILL", &["pwrite64", "link", "rename", "unlink", "fsync", "fdatasync"]);
}

#[test]
fn sync_that_makes_a_seal_again_on_a_full_disk_is_finished_by_the_next() {
    // Not mkdir: without a folder to sign in, the seal is made again unsigned, and sync says so.
    join_with("error=ENOSPC", &["pwrite64", "link", "rename", "fsync", "fdatasync"]);
}

#[test]
fn rounds_accept_that_is_killed_at_any_write_is_finished_by_the_next() {
    let scratch = Scratch::without_repository();
    if no_strace(&scratch) {
        return;
    }
    // Both chains were published, one after the other: the remote was wound back between.
    let (remote, other) = to_be_joined(&scratch);
    let repo = Clone::at(&scratch, "repo");
    repo.git(&["config", "remote.origin.url", "../remote"]);
    repo.json(&["sync"]);
    remote.git(&["update-ref", "-d", ROUNDS]);
    other.json(&["sync"]);
    assert_eq!(repo.run(&["sync"]).exit, Some(1), "a fork");
    repo.git(&["config", "remote.origin.url", "../remote.run"]);
    let calls = ["pwrite64", "link", "rename", "unlink", "fsync", "fdatasync"];
    let accept = ["--json", "rounds", "accept", "origin"];
    at_each_call(&scratch, &["repo", "remote"], ("signal=KILL", &calls), &accept, |clone, what| {
        holds(clone, &["theirs", "ours"], what);
        clone.json(&["sync"]);
        holds(clone, &["theirs", "ours"], what);
        is_signed(clone, what);
        assert_eq!(clone.tip(ROUNDS), Clone::at(&scratch, "remote.run").tip(ROUNDS), "{what}");
    });
}

fn vouch_with(fault: (&str, &[&str])) {
    let scratch = Scratch::without_repository();
    if no_strace(&scratch) {
        return;
    }
    let repo = begun(&scratch, "repo");
    let key = repo.signs_as("ada");
    std::fs::create_dir(repo.path.join(".proof")).unwrap();
    std::fs::write(repo.path.join(".proof/policy.toml"), "[proof]\nvouchers = [\"ada@x\"]\n").unwrap();
    std::fs::write(repo.path.join(".proof/allowed_signers"), format!("ada@x {key}\n")).unwrap();
    repo.git(&["add", ".proof"]);
    repo.git(&["commit", "--quiet", "--message", "Policy"]);
    repo.explain("s");
    std::fs::write(repo.path.join("more"), "more\n").unwrap();
    repo.git(&["add", "more"]);
    repo.git(&["commit", "--quiet", "--message", "Squash\n\nProof-Grade: true"]);
    let vouch = ["--json", "vouch", "HEAD", "--reason", "Read line by line."];
    at_each_call(&scratch, &["repo"], fault, &vouch, |clone, what| {
        let gate = clone.run(&["--json", "gate", "--base", "HEAD~1"]);
        assert_eq!(gate.exit, Some(0), "{what}: {gate:?}");
        assert_eq!(clone.notes()[&clone.tip("HEAD").unwrap()].len(), 1, "{what}: said more than once");
        let check = clone.run(&["check"]);
        assert_eq!(check.exit, Some(0), "{what}: {check:?}");
        clone.passes("HEAD~1");
        clone.is_whole();
    });
}

#[test]
fn vouch_that_is_killed_at_any_write_is_finished_by_the_next() {
    vouch_with(KILL);
}

#[test]
fn vouch_on_a_disk_that_is_full_at_any_write_is_finished_by_the_next() {
    vouch_with(FULL);
}
