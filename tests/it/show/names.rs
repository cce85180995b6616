//! Records and commits, sessions and ranges: which one is meant.

use super::Explained;
use crate::store::scratch::{Ran, Scratch, text};

#[test]
fn show_without_a_name_is_head() {
    let explained = Explained::new();
    assert_eq!(explained.scratch.json(&["show"])["commit"], explained.tip("HEAD").as_str());
}

#[test]
fn commit_is_named_as_git_names_it() {
    let explained = Explained::new();
    let head = explained.tip("HEAD");
    explained.scratch.git(["tag", "-a", "-m", "x", "v1"]);
    for name in ["HEAD", "main", "@", "v1", "main~0", "refs/heads/main", &head, &head[..8]] {
        assert_eq!(explained.scratch.json(&["show", name])["commit"], head.as_str(), "{name}");
    }
}

#[test]
fn record_is_still_shown_by_its_id() {
    let explained = Explained::new();
    let shown = explained.scratch.json(&["show", &explained.fork]);
    assert_eq!((text(&shown, "type"), text(&shown, "content")), ("plan", super::PLAN));
}

#[test]
fn name_of_both_a_record_and_a_commit_is_refused() {
    let explained = Explained::new();
    explained.scratch.git(["branch", &explained.fork]);
    let error = explained.scratch.refused(&["show", &explained.fork], "INVALID_PARAMS", 2);
    assert!(text(&error, "message").contains("both a record and a commit"), "{error}");
    let hint = format!("refs/heads/{}", explained.fork);
    assert!(text(&error, "hint").contains(&hint), "{error}");
    assert_eq!(explained.scratch.json(&["show", &hint])["commit"], explained.tip("HEAD").as_str());
}

#[test]
fn name_of_nothing_is_refused() {
    let explained = Explained::new();
    for (name, code) in [
        ("nobody", "ERR_RECORD_NOT_FOUND"),
        ("deadbeef", "ERR_COMMIT_NOT_FOUND"),
        ("main~99", "ERR_COMMIT_NOT_FOUND"),
        ("origin/main", "ERR_COMMIT_NOT_FOUND"),
        ("no body", "INVALID_PARAMS"),
        ("--", "INVALID_PARAMS"),
        ("", "INVALID_PARAMS"),
    ] {
        let arguments: &[&str] = if name == "--" { &["show", "--", "--all"] } else { &["show", name] };
        explained.scratch.refused(arguments, code, 2);
    }
    let empty = Scratch::new();
    empty.refused(&["show"], "ERR_COMMIT_NOT_FOUND", 2);
    Scratch::without_repository().refused(&["show"], "ERR_NO_REPOSITORY", 3);
}

#[test]
fn log_without_commits_is_the_session() {
    let explained = Explained::new();
    assert_eq!(explained.scratch.json(&["log"])["session"]["session_id"], "t-89");
    assert_eq!(explained.scratch.json(&["log", "main"])["commits"].as_array().unwrap().len(), 2);
}

#[test]
fn session_named_where_commits_are_meant_is_told_how() {
    let explained = Explained::new();
    let error = explained.scratch.refused(&["log", "t-89"], "ERR_COMMIT_NOT_FOUND", 2);
    assert_eq!(text(&error, "hint"), "git proof log --session t-89");
    explained.scratch.refused(&["log", "nowhere"], "ERR_COMMIT_NOT_FOUND", 2);
    explained.scratch.refused(&["log", "nowhere..HEAD"], "ERR_COMMIT_NOT_FOUND", 2);
    let both: Ran = explained.scratch.run(["log", "HEAD", "--session", "t-89"]);
    assert_eq!(both.exit, Some(2), "{both:?}");
    let all: Ran = explained.scratch.run(["log", "HEAD", "--all"]);
    assert_eq!(all.exit, Some(2), "{all:?}");
}

#[test]
fn names_mean_to_show_verify_and_why_what_they_mean_to_git() {
    let explained = Explained::new();
    let scratch = &explained.scratch;
    scratch.git(["commit", "--quiet", "--allow-empty", "-m", "Something~2 else^{tree}"]);
    scratch.git(["tag", "-a", "-m", "a tag", "v1", "HEAD~1"]);
    let subject = scratch.git(["log", "-1", "--format=%s", "HEAD~1"]);
    let word = subject.split_whitespace().next().unwrap();
    for name in [
        &format!(":/{word}"),
        ":/Something~2 else",
        ":/else",
        &format!("HEAD^{{/{word}}}"),
        "HEAD^{/else}~1",
        "HEAD@{1}",
        "@{0}",
        "@{1.day.ago}",
        "@",
        "@~1",
        "v1",
        "v1^{}",
        "v1^0",
        "HEAD^{commit}",
    ] {
        let expected = scratch.git(["rev-parse", "--verify", "--quiet", "--end-of-options", name]);
        let expected = scratch.git(["rev-parse", &format!("{}^{{commit}}", expected.trim())]);
        for command in ["show", "verify", "why"] {
            let ran: Ran = explained.proof(80, &[command, "--json", name]).output().unwrap().into();
            let answer: serde_json::Value =
                serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{command} {name}: {error} {ran:?}"));
            let found = if command == "verify" { &answer["commits"][0]["commit"] } else { &answer["commit"] };
            assert_eq!(found, expected.trim(), "{command} {name}");
        }
    }
    for name in [":/nobody wrote this", "HEAD^{tree}", "HEAD:", "nonsense", "HEAD^@"] {
        for command in ["show", "verify", "why"] {
            let ran: Ran = explained.proof(80, &[command, name]).output().unwrap().into();
            assert_eq!(ran.exit, Some(2), "{command} {name}: {ran:?}");
        }
    }
}
