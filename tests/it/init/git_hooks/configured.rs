//! Hooks in git's configuration, for a git that runs them. That git is a stub which says it is one.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::Value;

use super::{HOOKS, assert_all, by_hook, hook, log, real, script, tools, wiring, with_stub};
use crate::store::scratch::{Ran, Scratch, text};

/// A path on which git says that it is of this version.
fn git_of(scratch: &Scratch, version: &str) -> OsString {
    let bin = scratch.around().join("newer");
    let real = real("git");
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 'git version {version}' && exit\nexec '{}' \"$@\"\n",
        real.display()
    );
    script(&bin.join("git"), &text);
    std::env::join_paths([bin, tools(scratch)]).unwrap()
}

fn init(scratch: &Scratch, version: &str, more: &[&str]) -> Value {
    let path = git_of(scratch, version);
    let ran: Ran = scratch.proof(["--json", "init"]).args(more).env("PATH", path).output().unwrap().into();
    ran.json()
}

/// Runs a configured hook as git does: in a shell, with the arguments added.
fn run_configured(scratch: &Scratch, name: &str, exit: u8, arguments: &[&str], input: &str) -> Ran {
    let command = scratch.git(["config", &format!("hook.git-proof-{name}.command")]);
    let command = command.trim_end_matches('\n');
    let mut shell = scratch.command("sh");
    shell.env("PATH", with_stub(scratch, exit)).arg("-c");
    let whole = if arguments.is_empty() { command.to_owned() } else { format!("{command} \"$@\"") };
    shell.args([&whole, command]).args(arguments);
    let ran = crate::common::run_with_input(&mut shell, input.as_bytes());
    Ran { exit: ran.code, out: ran.stdout, err: ran.stderr }
}

#[test]
fn newer_git_gets_commands_in_its_configuration_and_no_file() {
    let scratch = Scratch::new();
    script(&hook(&scratch, "commit-msg"), "#!/usr/bin/env python3\n");
    let before = wiring(&scratch);
    let outcome = init(&scratch, "2.54.0", &[]);
    assert_all(&outcome, "by", "config");
    assert_all(&outcome, "action", "created");
    for name in HOOKS {
        assert_eq!(scratch.git(["config", &format!("hook.git-proof-{name}.event")]).trim(), name);
    }
    let mut after = wiring(&scratch);
    after.insert(".git/config".to_owned(), before[".git/config"].clone());
    assert_eq!(after, before);
    assert_all(&init(&scratch, "2.55.1", &[]), "action", "unchanged");
}

#[test]
fn configured_command_runs_the_program_as_git_would() {
    let scratch = Scratch::new();
    init(&scratch, "2.54.0", &[]);
    assert_eq!(run_configured(&scratch, "commit-msg", 0, &["a b"], "").exit, Some(0));
    assert_eq!(run_configured(&scratch, "commit-msg", 4, &["msg"], "").exit, Some(4));
    assert_eq!(run_configured(&scratch, "post-commit", 4, &[], "").exit, Some(0));
    assert_eq!(run_configured(&scratch, "post-rewrite", 4, &["amend"], "old new\n").exit, Some(0));
    assert_eq!(run_configured(&scratch, "pre-push", 1, &["origin", "url"], "a b c d\n").exit, Some(1));
    let expected = [
        "hook commit-msg a b",
        "hook commit-msg msg",
        "hook post-commit",
        "hook post-rewrite amend",
        "< old new",
        "hook pre-push origin url",
        "< a b c d",
    ];
    assert_eq!(log(&scratch), expected);
}

#[test]
fn uninstalling_takes_the_commands_out_whichever_git_does_it() {
    for version in ["2.54.0", "2.47.3"] {
        let scratch = Scratch::new();
        let before = wiring(&scratch);
        init(&scratch, "2.54.0", &[]);
        let outcome = init(&scratch, version, &["--uninstall"]);
        assert_all(&outcome, "action", "removed");
        assert_eq!(wiring(&scratch), before);
    }
}

#[test]
fn dry_run_shows_the_commands_and_runs_none() {
    let scratch = Scratch::new();
    let before = wiring(&scratch);
    let outcome = init(&scratch, "2.54.0", &["--dry-run"]);
    let diff = text(&outcome["hooks"][3], "diff");
    assert!(diff.contains("git config --local --replace-all hook.git-proof-pre-push.event pre-push"), "{diff}");
    assert_eq!(wiring(&scratch), before);
}

#[test]
fn command_of_another_place_is_updated() {
    let scratch = Scratch::new();
    init(&scratch, "2.54.0", &[]);
    scratch.git(["config", "hook.git-proof-pre-push.command", "/old/git-proof hook pre-push"]);
    let outcome = init(&scratch, "2.54.0", &[]);
    let actions = by_hook(&outcome, "action");
    assert_eq!((actions["pre-push"], actions["commit-msg"]), ("updated", "unchanged"));
    assert!(!scratch.git(["config", "hook.git-proof-pre-push.command"]).contains("/old/"));
}

#[test]
fn older_git_replaces_the_commands_by_files() {
    let scratch = Scratch::new();
    init(&scratch, "2.54.0", &[]);
    let outcome = init(&scratch, "2.53.0", &[]);
    assert_all(&outcome, "by", "file");
    assert!(text(&outcome["hooks"][0], "reason").contains("git 2.53.0 ignores hooks in its configuration"));
    assert!(hook(&scratch, "pre-push").is_file());
    assert!(!scratch.git(["config", "--list"]).contains("hook.git-proof"));
}

#[test]
fn newer_git_keeps_a_file_that_works() {
    let scratch = Scratch::new();
    init(&scratch, "2.53.0", &[]);
    let before = wiring(&scratch);
    assert_all(&init(&scratch, "2.54.0", &[]), "action", "unchanged");
    assert_eq!(wiring(&scratch), before);
}

#[test]
fn newer_git_needs_nothing_of_a_manager() {
    let scratch = Scratch::new();
    scratch.git(["config", "core.hooksPath", ".husky/_"]);
    std::fs::create_dir_all(scratch.place.join(".husky/_")).unwrap();
    let outcome = init(&scratch, "2.54.0", &[]);
    assert_all(&outcome, "by", "config");
    assert!(outcome["manager"].is_null());
    assert_eq!(std::fs::read_dir(scratch.place.join(".husky/_")).unwrap().count(), 0);
}

#[test]
fn path_of_any_name_survives_the_configuration() {
    let scratch = Scratch::new();
    let program: PathBuf = scratch.around().join("a 'b' \"c\" \\ d\u{e9};#/git-proof");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    crate::common::put_program(env!("CARGO_BIN_EXE_git-proof"), &program);
    let path = git_of(&scratch, "2.54.0");
    let set_up = || {
        let ran: Ran = scratch.command(&program).args(["--json", "init"]).env("PATH", &path).output().unwrap().into();
        ran.json()
    };
    set_up();
    assert_all(&set_up(), "action", "unchanged");
    let command = scratch.git(["config", "hook.git-proof-post-commit.command"]);
    std::fs::remove_file(&program).unwrap();
    super::stub(&scratch, &program, 0);
    let mut shell = scratch.command("sh");
    shell.env("PATH", tools(&scratch)).args(["-c", command.trim_end_matches('\n')]);
    assert!(shell.status().unwrap().success());
    assert_eq!(log(&scratch), ["hook post-commit"]);
}
