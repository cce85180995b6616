//! `kill -9` and a full disk at any write of `seal`, of a sync that makes a seal again, of `rounds accept` and of `vouch`:
//! running it again finishes the work, and everything verifies. And `kill -9` at any write of `finalize`, `anchor`, the
//! hooks and `carry`: `sync` alone finishes the work, and what was acknowledged is proven in a fresh clone.
//!
//! `GIT_PROOF_TEST_EVERY` says which writes: every one (1), or each so many.

use crate::anchoring::clones::{Clone, NOTES};
use crate::anchoring::killed::{CALLS, again, at_each_call};
use crate::rounds::ROUNDS;
use crate::store::scratch::{Scratch, no_strace, text, with_fault};

const KILL: (&str, &[&str]) = ("signal=KILL", &CALLS);
const FULL: (&str, &[&str]) =
    ("error=ENOSPC", &["write", "pwrite64", "mkdir", "link", "rename", "fsync", "fdatasync", "ftruncate"]);
const UNOPENED: (&str, &[&str]) = ("error=EIO", &["openat"]);

/// A repository of this name with a first commit.
fn begun<'a>(scratch: &'a Scratch, name: &str) -> Clone<'a> {
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

/// Kills a command at each so many of its writes, in a fresh copy of `repo` and `remote` each time. `check` gets the clone
/// after `sync`, which must succeed at once: no process of git was killed, so there is no lock to be removed by hand.
fn killed_then_synced(
    scratch: &Scratch,
    arguments: &[&str],
    finish: impl Fn(&Clone<'_>),
    check: impl Fn(&Clone<'_>, &str),
) {
    let every = std::env::var("GIT_PROOF_TEST_EVERY").ok().map_or(6, |every| every.parse().unwrap());
    let mut kills = 0;
    for (begin, call) in CALLS.iter().enumerate() {
        for nth in (1 + begin % every..).step_by(every) {
            again(scratch, &["repo", "remote"]);
            let clone = Clone::at(scratch, "repo.run");
            let what = format!("{arguments:?} killed at {call} {nth}");
            let (ran, hit) = with_fault(scratch, &mut clone.command("strace"), ("signal=KILL", call, nth), arguments);
            if !hit {
                assert_eq!(ran.exit, Some(0), "{what}: {ran:?}");
                break;
            }
            kills += 1;
            finish(&clone);
            let synced = clone.run(&["--json", "sync"]);
            assert_eq!(synced.exit, Some(0), "{what}: {synced:?}");
            let _ = std::fs::remove_dir_all(scratch.around().join("fresh")); // the first time there is none
            let fresh = Clone::at(scratch, "remote.run").clone("fresh", &["--template="]);
            fresh.json(&["sync"]);
            check(&fresh, &what);
        }
    }
    assert!(kills > 1, "faults did not come about");
    eprintln!("{kills} kills of {arguments:?}");
}

/// A remote, and a clone with a session `s` that has a commit, which the remote has, too.
fn to_be_shared(scratch: &Scratch) -> Clone<'_> {
    let remote = Clone::init(scratch, "remote", &["--bare", "--template="]);
    let repo = begun(scratch, "repo");
    repo.git(&["remote", "add", "origin", "../remote.run"]);
    std::fs::write(repo.path.join("file"), "one\ntwo\nthree\n").unwrap();
    repo.git(&["add", "file"]);
    repo.git(&["commit", "--quiet", "--message", "before"]);
    repo.json(&["start", "--intent", "try it", "--session-id", "s"]);
    std::fs::write(repo.path.join("file"), "one\n2\nthree\n").unwrap();
    repo.git(&["commit", "--quiet", "--all", "--message", "s"]);
    repo.git(&["push", "--quiet", remote.path.to_str().unwrap(), "main"]);
    repo
}

fn reflect(clone: &Clone<'_>) {
    clone.json(&["record", "--type", "reflection", "--content", "it is changed"]);
}

#[test]
fn finalize_that_is_killed_at_any_write_is_finished_by_sync() {
    let scratch = Scratch::without_repository();
    if no_strace(&scratch) {
        return;
    }
    let repo = to_be_shared(&scratch);
    assert_eq!(repo.run(&["hook", "post-commit"]).exit, Some(0));
    reflect(&repo);
    // Without a root it was not acknowledged, and is to be asked for again.
    let finish = |clone: &Clone<'_>| {
        if clone.run(&["root", "--session", "s"]).exit != Some(0) {
            clone.json(&["finalize", "--session", "s"]);
        }
    };
    killed_then_synced(&scratch, &["--json", "finalize"], finish, |fresh, what| {
        assert_eq!(fresh.notes().len(), 1, "{what}");
        fresh.passes("HEAD");
    });
}

#[test]
fn post_commit_that_is_killed_at_any_write_is_finished_by_sync() {
    let scratch = Scratch::without_repository();
    if no_strace(&scratch) {
        return;
    }
    let repo = to_be_shared(&scratch);
    // What commit-msg had left.
    let date = repo.git(&["log", "-1", "--format=%ad", "--date=raw"]);
    let pending = repo.path.join(".git/proof/pending");
    std::fs::create_dir(&pending).unwrap();
    let before = repo.tip("HEAD~1").unwrap();
    std::fs::write(pending.join("1"), format!("s\n{date}\n{before}\nrefs/heads/main\n\n")).unwrap();
    let finish = |clone: &Clone<'_>| {
        clone.json(&["sync"]);
        reflect(clone);
        clone.json(&["finalize"]);
        let log = clone.json(&["log", "--session", "s"]);
        let entries = log["entries"].as_array().unwrap();
        assert_eq!(entries.iter().filter(|entry| entry["attest"].is_string()).count(), 1, "{log}");
    };
    killed_then_synced(&scratch, &["hook", "post-commit"], finish, |fresh, _| fresh.passes("HEAD"));
}

#[test]
fn anchor_and_carry_that_are_killed_at_any_write_are_finished_by_sync() {
    let scratch = Scratch::without_repository();
    if no_strace(&scratch) {
        return;
    }
    let repo = to_be_shared(&scratch);
    assert_eq!(repo.run(&["hook", "post-commit"]).exit, Some(0));
    reflect(&repo);
    repo.json(&["finalize"]);
    let old = repo.tip("HEAD").unwrap();
    repo.git(&["commit", "--quiet", "--amend", "--message", "in other words"]);
    repo.git(&["push", "--quiet", "--force", "../remote", "main"]);
    let nothing = |_: &Clone<'_>| {};
    for arguments in [&["carry", "--from", &old, "--to", "HEAD"][..], &["anchor", "--session", "s", "--commit", "HEAD"]]
    {
        killed_then_synced(&scratch, arguments, nothing, |fresh, _| fresh.passes("HEAD"));
    }
}
