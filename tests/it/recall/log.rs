//! The line under a commit in `git log` that says why it was made, in clones of others.

use super::{OTHER, OURS, Team};

/// A clone in which nobody ran `init`, of a remote that has one session.
fn cloned() -> Team {
    let team = Team::new();
    team.decide(OURS, "s", &["use a list"], "a.txt", "one\n");
    team.push(OURS, "main");
    team.git(OURS, &["clone", "-q", "../remote", OTHER]);
    team
}

#[test]
fn git_log_says_why_in_a_clone_that_only_synced() {
    for arguments in [&["sync"][..], &["sync", "--fetch-only"]] {
        let team = cloned();
        team.scratch.json(&[&["-C", OTHER], arguments].concat());
        let log = team.git(OTHER, &["log", "-1"]);
        assert!(log.contains("Notes (proof-why):\n    Reflection of s; uncertain: doubt of s ["), "{log}");
    }
}

#[test]
fn git_log_says_why_of_what_was_pulled_after_the_first_sync() {
    let team = cloned();
    team.scratch.json(&["-C", OTHER, "sync"]);
    team.decide(OURS, "t", &["use a map"], "a.txt", "two\n");
    team.push(OURS, "main");
    team.git(OTHER, &["pull", "-q"]);
    team.scratch.json(&["-C", OTHER, "sync"]);
    let log = team.git(OTHER, &["log", "-2"]);
    assert!(log.contains("    Reflection of t;") && log.contains("    Reflection of s;"), "{log}");
}

#[test]
fn a_note_that_was_copied_to_another_commit_says_nothing_there() {
    let team = cloned();
    team.git(OURS, &["commit", "-q", "--no-verify", "--allow-empty", "-m", "Another"]);
    team.git(OURS, &["notes", "--ref=proof", "copy", "HEAD~1", "HEAD"]);
    team.git(OURS, &["push", "-q", "--no-verify", "origin", "HEAD:main", "refs/notes/proof"]);
    team.git(OTHER, &["pull", "-q"]);
    team.scratch.json(&["-C", OTHER, "sync"]);
    let log = team.git(OTHER, &["log", "-1", "HEAD"]);
    assert!(!log.contains("Reflection"), "{log}");
    assert!(team.git(OTHER, &["log", "-1", "HEAD~1"]).contains("Reflection of s"));
}

#[test]
fn who_switches_the_lines_off_is_not_overruled() {
    let team = cloned();
    team.scratch.json(&["-C", OTHER, "sync"]);
    team.git(OTHER, &["config", "--unset-all", "notes.displayRef"]);
    team.scratch.json(&["-C", OTHER, "sync"]);
    assert!(!team.git(OTHER, &["log", "-1"]).contains("Reflection"));
}
