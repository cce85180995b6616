//! The settings for notes, and the policy.

use git_proof::proof::policy::Policy;

use super::wiring;
use crate::store::scratch::{Scratch, text};

fn shown(scratch: &Scratch) -> Vec<String> {
    scratch.git(["config", "--get-all", "notes.displayRef"]).lines().map(str::to_owned).collect()
}

#[test]
fn notes_that_are_shown_gain_ours_and_lose_it_again() {
    let scratch = Scratch::new();
    scratch.git(["config", "notes.displayRef", "refs/notes/review"]);
    scratch.git(["config", "--add", "notes.displayRef", "refs/notes/ci"]);
    let before = wiring(&scratch);
    let outcome = scratch.json(&["init"]);
    assert_eq!(text(&outcome["settings"][0], "action"), "created");
    assert_eq!(shown(&scratch), ["refs/notes/review", "refs/notes/ci", "refs/notes/proof-why*"]);
    scratch.json(&["init"]);
    assert_eq!(shown(&scratch).len(), 3);
    scratch.json(&["init", "--uninstall"]);
    assert_eq!(wiring(&scratch)[".git/config"], before[".git/config"]);
}

#[test]
fn log_shows_the_readable_notes_alone_and_is_quiet_without_them() {
    let scratch = Scratch::new();
    scratch.json(&["init", "--no-hooks"]);
    scratch.git(["commit", "--quiet", "--allow-empty", "--message=x"]);
    let quiet = scratch.command("git").args(["log", "-1"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&quiet.stderr), "");
    scratch.git(["notes", "--ref=proof", "add", "--message={\"anchor\":{}}"]);
    scratch.git(["notes", "--ref=proof-why", "add", "--message=because"]);
    let log = scratch.git(["log", "-1"]);
    assert!(log.contains("because") && !log.contains("anchor"), "{log}");
}

#[test]
fn notes_that_are_shown_already_are_left_as_they_are() {
    for value in ["refs/notes/*", "refs/notes/proof-why"] {
        let scratch = Scratch::new();
        scratch.git(["config", "notes.displayRef", value]);
        assert_eq!(text(&scratch.json(&["init"])["settings"][0], "action"), "unchanged");
        scratch.json(&["init", "--uninstall"]);
        assert_eq!(shown(&scratch), [value]);
    }
}

#[test]
fn notes_that_git_would_copy_are_warned_of_with_the_command_to_stop_it() {
    for (value, warned) in [("refs/notes/*", true), ("refs/notes/proof", true), ("refs/notes/commits", false)] {
        let scratch = Scratch::new();
        scratch.git(["config", "notes.rewriteRef", value]);
        let outcome = scratch.json(&["init", "--policy"]);
        let notices = outcome["notices"].as_array().unwrap();
        // The last one is about the policy.
        assert_eq!(notices.len(), usize::from(warned) + 1, "{value}: {notices:?}");
        assert_eq!(scratch.git(["config", "notes.rewriteRef"]).trim(), value);
        if warned {
            let command = text(&notices[0], "hint");
            assert!(command.starts_with("git config --local "), "{command}");
            assert!(scratch.command("sh").args(["-c", command]).status().unwrap().success());
            assert!(!scratch.git(["config", "--list"]).contains("rewriteref"));
        }
    }
}

#[test]
fn policy_is_offered_written_when_asked_for_and_never_overwritten() {
    let scratch = Scratch::new();
    let outcome = scratch.json(&["init"]);
    assert!(text(&outcome["notices"][0], "hint").contains("git proof init --policy"));
    let file = scratch.place.join(".proof/policy.toml");
    assert!(!file.exists());
    let outcome = scratch.json(&["init", "--policy"]);
    assert_eq!(text(&outcome["files"][0], "action"), "created");
    let policy = Policy::parse(&std::fs::read(&file).unwrap()).unwrap();
    assert!(policy.proof.rooted);
    std::fs::write(&file, "[proof]\nrooted = false\n").unwrap();
    let outcome = scratch.json(&["init", "--policy"]);
    assert_eq!(text(&outcome["files"][0], "action"), "unchanged");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "[proof]\nrooted = false\n");
    scratch.json(&["init", "--uninstall"]);
    assert!(file.exists());
}

#[test]
fn corrupt_configuration_changes_nothing() {
    let scratch = Scratch::new();
    let config = scratch.place.join(".git/config");
    let broken = std::fs::read_to_string(&config).unwrap() + "[broken\n";
    std::fs::write(&config, broken).unwrap();
    let before = wiring(&scratch);
    for arguments in [&["init"][..], &["init", "--uninstall"], &["init", "--dry-run"], &["init", "--agent", "zed"]] {
        let error = scratch.refused(arguments, "ERR_CONFIG_INVALID", 2);
        assert!(text(&error, "message").contains("bad config line"), "{error}");
    }
    assert_eq!(wiring(&scratch), before);
    assert!(!scratch.store().exists() && !scratch.place.join(".zed").exists());
}

#[test]
fn configuration_that_is_locked_is_an_error() {
    let scratch = Scratch::new();
    std::fs::write(scratch.place.join(".git/config.lock"), "").unwrap();
    let error = scratch.refused(&["init"], "ERR_OUTPUT_FAILED", 4);
    assert!(text(&error, "message").contains("lock"), "{error}");
    std::fs::remove_file(scratch.place.join(".git/config.lock")).unwrap();
    scratch.json(&["init"]);
    assert!(scratch.run(["init"]).text().starts_with("Nothing to change"));
}
