//! Mistakes that everyone makes once: what a stranger reads says what happened and what to do.

use std::os::unix::fs::PermissionsExt as _;

use crate::store::scratch::{Ran, Scratch};

/// A mistake, the exit code, and what the text must say.
type Mistake = (&'static [&'static str], i32, &'static [&'static str]);

/// In a directory that is in no repository.
const NOWHERE: &[Mistake] = &[
    (&["log"], 3, &["is not in a git repository", "git init"]),
    (&["init"], 3, &["is not in a git repository", "git init"]),
    (&["doctor"], 3, &["is not in a git repository", "-C DIR"]),
    (&["-C", "away", "log"], 2, &["-C names ./away", "name a directory"]),
    (&["check-evidence", "away.jsonl"], 3, &["cannot read away.jsonl", "No such file", "standard input"]),
    (&["check-proof", "away.json"], 3, &["cannot read away.json", "No such file", "standard input"]),
    (&["check-proof", "p", "--root", "abc", "--count", "1"], 2, &["64 lower-case hex digits", "git proof root"]),
    (&["recrod"], 2, &["unrecognized subcommand 'recrod'", "'record'", "try 'git proof -h'"]),
    (&["memory", "pux"], 2, &["'put'", "try 'git proof memory -h'"]),
    (&["verify", "--nope"], 2, &["unexpected argument '--nope'", "try 'git proof verify -h'"]),
    (&["--bogus"], 2, &["unexpected argument '--bogus'", "try 'git proof -h'"]),
    (&["completions", "csh"], 2, &["'csh'", "bash, zsh, fish"]),
    (&["man", "nonsense"], 2, &["there is no command nonsense", "git proof -h"]),
];

/// In a repository that git has just made.
const UNBORN: &[Mistake] = &[
    (&["log"], 3, &["nothing has been recorded", "git proof start"]),
    (&["verify"], 2, &["there is no commit here yet", "git commit"]),
    (&["gate", "--base", "main"], 2, &["there is no commit here yet", "git commit"]),
    (&["sign"], 2, &["there is no commit here yet", "git commit"]),
    (&["sync"], 2, &["there is no remote", "git remote add"]),
    (&["policy", "check"], 3, &["cannot read .proof/policy.toml", "git proof init --policy"]),
    (&["init", "--agent", "emacs"], 2, &["'emacs'", "claude-code"]),
    (&["start"], 2, &["<INTENT>", "-h"]),
    (&["start", "--intent", ""], 2, &["the intent must not be empty", "say in a sentence"]),
    (&["start", "--intent", "x", "--scheme", "v9"], 2, &["\"v9\" is not a scheme: v1,", "leave out --scheme"]),
    (
        &["start", "--intent", "x", "--session-id", "a b"],
        2,
        &["the session id \"a b\" is not an id: a letter or digit"],
    ),
];

/// In a repository with a commit, a remote that is not there, and an open session `s` without records.
const OPEN: &[Mistake] = &[
    (&["start", "--intent", "x", "--session-id", "s"], 2, &["session s exists already", "--session-id"]),
    (&["record", "--type", "thought", "--content", "x"], 2, &["\"thought\" is not a type", "plan, analysis, decision"]),
    (&["record", "--type", "plan"], 2, &["there is nothing to record", "git proof record plan --content-file FILE"]),
    (&["record", "decision"], 2, &["there is nothing to record", "git proof record decision --content-file FILE"]),
    (&["decide"], 2, &["there is nothing to record", "argument: git proof decide \""]),
    (&["done"], 2, &["there is nothing to record", "argument: git proof done \""]),
    (&["done", "--session", "s"], 2, &["there is nothing to record", "argument: git proof done --session s \""]),
    (&["record", "--type", "plan", "--content-file", "f"], 3, &["cannot read f", "No such file", "standard input"]),
    (&["record", "--type", "plan", "--content", ""], 2, &["the content must not be empty", "say in a sentence"]),
    (&["record", "--type", "plan", "--content", "x", "--parent", "p"], 2, &["there is no record p", "git proof log"]),
    (&["record", "--type", "plan", "--content", "x", "--metadata", "{"], 2, &["metadata", "give a JSON object"]),
    (&["log", "--session", "t"], 2, &["there is no session t", "git proof log --all"]),
    (
        &["log", "-n", "x"],
        2,
        &["invalid value 'x' for '--limit <N>': it takes a whole number", "try 'git proof log -h'"],
    ),
    (&["check-transcript", "away.jsonl"], 3, &["cannot read ", "away.jsonl", "No such file", "standard input"]),
    (&["backup", "away/store"], 2, &["away/store is in no directory that exists", "make the directory first"]),
    (&["report", "--html", "away/page"], 2, &["away/page is in no directory that exists", "make the directory first"]),
    (&["import", "away.backup"], 3, &["away.backup cannot be imported", "No such file", "git proof backup FILE"]),
    (&["show", "r"], 2, &["\"r\" is neither a record of this clone nor a commit", "git proof log"]),
    (&["prove", "--record", "r"], 2, &["there is no record r", "git proof log"]),
    (&["finalize"], 1, &["session s has no records", "git proof done --session s"]),
    (&["root"], 1, &["session s is not finalized", "git proof finalize --session s"]),
    (&["anchor"], 1, &["session s is not finalized", "git proof finalize --session s"]),
    (&["anchor", "--sign", "--session", "t"], 2, &["there is no session t", "git proof log --all"]),
    (&["verify", "nope"], 2, &["\"nope\" is not a commit", "git log --oneline"]),
    (&["verify", "a..b"], 2, &["\"a\" is not a commit", "git fetch"]),
    (&["gate", "--base", "HEAD", "--require-policy"], 3, &["HEAD has no .proof/policy.toml", "--require-policy"]),
    (&["sign"], 2, &["has no anchor that could be signed", "git proof verify"]),
    (&["sync"], 4, &["origin cannot be reached", "git fetch must work first"]),
    (&["sync", "elsewhere"], 2, &["elsewhere cannot be reached", "git remote -v"]),
    (&["attest"], 2, &["<OPERATION>", "-h"]),
];

fn try_all(scratch: &Scratch, mistakes: &[Mistake]) {
    for (arguments, exit, wanted) in mistakes {
        let ran = scratch.run(*arguments);
        explains(&ran, *exit, wanted, &arguments.join(" "));
        // Programs get the same, in one line.
        let json = scratch.run(["--json"].iter().chain(*arguments));
        let code = serde_json::from_str::<serde_json::Value>(&json.err).unwrap()["error"]["code"].clone();
        json.error(code.as_str().unwrap(), *exit);
    }
}

#[track_caller]
fn explains(ran: &Ran, exit: i32, wanted: &[&str], what: &str) {
    assert_eq!((ran.exit, ran.out.as_str()), (Some(exit), ""), "{what}: {ran:?}");
    assert!(ran.err.starts_with("error: "), "{what}: {}", ran.err);
    assert!(ran.err.contains("\nhint: ") || ran.err.contains(" -h'."), "{what}: {}", ran.err);
    for words in wanted {
        assert!(ran.err.contains(words), "{what} does not say {words:?}:\n{}", ran.err);
    }
}

#[test]
fn a_mistake_outside_of_a_repository_is_explained() {
    try_all(&Scratch::without_repository(), NOWHERE);
}

#[test]
fn a_mistake_in_a_new_repository_is_explained() {
    try_all(&Scratch::new(), UNBORN);
}

#[test]
fn a_mistake_in_a_session_is_explained() {
    let scratch = Scratch::with_session();
    scratch.git(["commit", "--quiet", "--allow-empty", "-m", "first"]);
    scratch.git(["remote", "add", "origin", "../gone.git"]);
    try_all(&scratch, OPEN);
    // The same where no branch is checked out.
    scratch.git(["checkout", "--quiet", "--detach"]);
    try_all(&scratch, OPEN);
}

#[test]
fn a_store_that_may_not_be_read_is_not_taken_for_none() {
    let scratch = Scratch::with_session();
    let directory = scratch.place.join(".git/proof");
    let close = |mode| std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(mode)).unwrap();
    close(0o000);
    let ran = scratch.run(["log"]);
    close(0o755);
    if ran.exit == Some(0) {
        return eprintln!("left out: permissions do not hold this user back");
    }
    explains(&ran, 4, &["cannot open", "check who owns"], "log");
}

#[test]
fn without_arguments_the_commands_are_listed_by_role_as_help_does() {
    let scratch = Scratch::without_repository();
    let (bare, help) = (scratch.run([""; 0]), scratch.run(["-h"]));
    assert_eq!((bare.exit, bare.out.as_str(), bare.err.as_str()), (Some(2), "", help.text()));
}
