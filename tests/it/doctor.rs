//! `doctor`: every state that it tells apart, and the command that mends it.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

use crate::init::git_hooks::{real, script, tools};
use crate::store::scratch::{Ran, Scratch, text};

/// A path on which `git proof` is the program under test.
fn path(scratch: &Scratch) -> OsString {
    let bin = scratch.around().join("installed");
    std::fs::create_dir_all(&bin).unwrap();
    let link = bin.join("git-proof");
    if !link.exists() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_git-proof"), link).unwrap();
    }
    std::env::join_paths([bin, tools(scratch)]).unwrap()
}

fn ran(scratch: &Scratch, arguments: &[&str]) -> Ran {
    scratch.proof(arguments).env("PATH", path(scratch)).output().unwrap().into()
}

/// What it says of one thing, and its exit code.
#[track_caller]
fn check(scratch: &Scratch, name: &str) -> (Value, Option<i32>) {
    let ran = ran(scratch, &["--json", "doctor"]);
    let outcome: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(outcome["ok"].as_bool().unwrap(), ran.exit == Some(0), "{outcome}");
    let checks = outcome["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| text(check, "name") == name);
    (found.unwrap_or_else(|| panic!("no {name} in {outcome}")).clone(), ran.exit)
}

#[track_caller]
fn assert_state(scratch: &Scratch, name: &str, state: &str, hint: &str) {
    let (check, exit) = check(scratch, name);
    assert_eq!(text(&check, "state"), state, "{check}");
    assert!(check["hint"].as_str().unwrap_or_default().contains(hint), "{check}");
    let is_bad = ["missing", "stale", "wrong"].contains(&state);
    assert_eq!(exit, Some(i32::from(is_bad)), "{check}");
}

/// A repository in which everything is wired.
fn wired() -> Scratch {
    let scratch = Scratch::new();
    ran(&scratch, &["init"]).text();
    scratch
}

#[test]
fn everything_is_wired_after_init() {
    let scratch = wired();
    let said = ran(&scratch, &["doctor"]);
    insta::assert_snapshot!(said.text().replace(env!("CARGO_PKG_VERSION"), "VERSION").lines().map(|line| {
        // The version of git and the places of programs are this machine's.
        let line = line.split(": /").next().unwrap();
        if line.contains(" git  ") { "ok      git ..." } else { line }.to_owned() + "\n"
    }).collect::<String>(), @r"
    ok      git ...
    ok      git-proof          version VERSION
    ok      store              .git/proof/store.db, schema 10
    ok      hook commit-msg    a block in .git/hooks/commit-msg
    ok      hook post-commit   a block in .git/hooks/post-commit
    ok      hook post-rewrite  a block in .git/hooks/post-rewrite
    ok      hook pre-push      a block in .git/hooks/pre-push
    ok      notes.displayRef   git log shows why a commit was made
    ok      notes.rewriteRef   it does not touch the anchors
    info    policy             there is no .proof/policy.toml: the gate uses its defaults
            hint: git proof init --policy
    info    signing            gpg.format is not ssh: anchors are not signed
    info    remotes            no proofs of a remote have been fetched
    ");
}

#[test]
fn fresh_repository_misses_store_hooks_and_notes() {
    let scratch = Scratch::new();
    for name in ["store", "hook commit-msg", "hook pre-push", "notes.displayRef"] {
        assert_state(&scratch, name, "missing", "git proof init");
    }
    assert!(!scratch.store().exists(), "it looks, and makes nothing");
}

#[test]
fn place_outside_of_a_repository_cannot_be_checked() {
    Scratch::without_repository().refused(&["doctor"], "ERR_NO_REPOSITORY", 3);
}

#[test]
fn program_that_is_not_on_the_path_is_missing() {
    let scratch = wired();
    let ran: Ran = scratch.proof(["doctor"]).env("PATH", tools(&scratch)).output().unwrap().into();
    assert_eq!(ran.exit, Some(1));
    assert!(ran.out.contains("missing git-proof"), "{}", ran.out);
}

#[test]
fn program_of_another_version_on_the_path_is_stale() {
    let scratch = wired();
    let other = scratch.around().join("other");
    script(&other.join("git-proof"), "#!/bin/sh\necho git-proof 0.0.0\n");
    let path = std::env::join_paths([other, tools(&scratch)]).unwrap();
    let ran: Ran = scratch.proof(["doctor"]).env("PATH", path).output().unwrap().into();
    assert!(ran.out.contains("stale   git-proof") && ran.exit == Some(1), "{}", ran.out);
}

#[test]
fn store_of_a_later_version_is_wrong() {
    let scratch = wired();
    scratch.database().pragma_update(None, "user_version", 99).unwrap();
    assert_state(&scratch, "store", "wrong", "upgrade git-proof");
}

#[test]
fn hook_that_is_gone_changed_or_switched_off_is_told() {
    let scratch = wired();
    let hook = |name: &str| scratch.place.join(".git/hooks").join(name);
    std::fs::remove_file(hook("commit-msg")).unwrap();
    assert_state(&scratch, "hook commit-msg", "missing", "git proof init");
    let old = "#!/bin/sh\n# >>> git-proof >>>\n/old/git-proof hook post-commit\n# <<< git-proof <<<\n";
    script(&hook("post-commit"), old);
    assert_state(&scratch, "hook post-commit", "stale", "git proof init");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(hook("pre-push"), mode).unwrap();
    assert_state(&scratch, "hook pre-push", "missing", "chmod +x .git/hooks/pre-push");
    script(&hook("post-rewrite"), "#!/usr/bin/env python3\n");
    assert_state(&scratch, "hook post-rewrite", "missing", "git-proof hook post-rewrite");
}

/// What a git of this version is told of the hook for pushing.
fn told_by_git_of(scratch: &Scratch, version: &str, arguments: &[&str]) -> Ran {
    let bin = scratch.around().join(version);
    let answer = format!("[ \"$1\" = --version ] && echo 'git version {version}' && exit");
    script(&bin.join("git"), &format!("#!/bin/sh\n{answer}\nexec '{}' \"$@\"\n", real("git").display()));
    let mut all = bin.into_os_string();
    all.push(":");
    all.push(path(scratch));
    scratch.proof(arguments).env("PATH", all).output().unwrap().into()
}

#[track_caller]
fn pre_push(ran: &Ran) -> &str {
    ran.out.lines().find(|line| line.contains("hook pre-push")).unwrap()
}

#[test]
fn hook_in_the_configuration_is_stale_for_an_older_git() {
    let scratch = Scratch::new();
    told_by_git_of(&scratch, "2.54.0", &["init"]).text();
    let line = told_by_git_of(&scratch, "2.54.0", &["doctor"]).text().to_owned();
    assert!(line.contains("a command in git's configuration"), "{line}");
    let older = told_by_git_of(&scratch, "2.53.0", &["doctor"]);
    let line = pre_push(&older);
    assert!(line.starts_with("stale") && line.contains("git 2.53.0 ignores hooks in its configuration"), "{line}");
    assert_eq!(older.exit, Some(1));
}

#[test]
fn hook_that_is_switched_off_in_the_configuration_is_wrong() {
    let scratch = Scratch::new();
    told_by_git_of(&scratch, "2.54.0", &["init"]).text();
    scratch.git(["config", "hook.git-proof-pre-push.enabled", "false"]);
    let ran = told_by_git_of(&scratch, "2.54.0", &["doctor"]);
    assert!(pre_push(&ran).starts_with("wrong") && ran.exit == Some(1), "{}", ran.out);
    assert!(ran.out.contains("--unset-all hook.git-proof-pre-push.enabled"), "{}", ran.out);
}

#[test]
fn manager_that_does_not_run_us_is_told() {
    let scratch = wired();
    scratch.git(["config", "core.hooksPath", "elsewhere"]);
    assert_state(&scratch, "hook pre-push", "missing", "git proof init prints what to paste");
}

#[test]
fn settings_that_do_harm_are_told_with_the_command_that_mends_them() {
    for (key, value) in [
        ("notes.rewriteRef", "refs/notes/*"),
        ("remote.origin.fetch", "+refs/notes/*:refs/notes/*"),
        ("remote.a b's.fetch", "+refs/*:refs/*"),
        ("remote.origin.fetch", "+refs/proof/*:refs/proof/*"),
    ] {
        let scratch = wired();
        scratch.git(["config", "--add", key, value]);
        let (found, exit) = check(&scratch, key);
        assert_eq!((text(&found, "state"), exit), ("wrong", Some(1)), "{found}");
        let command = text(&found, "hint");
        let mended = scratch.command("sh").args(["-c", command]).status().unwrap();
        assert!(mended.success(), "{command}");
        ran(&scratch, &["doctor"]).text();
    }
    let scratch = wired();
    scratch.git(["config", "--add", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"]);
    scratch.git(["config", "--add", "remote.origin.fetch", "refs/notes/*:refs/notes/*"]);
    ran(&scratch, &["doctor"]).text();
}

#[test]
fn agents_are_told_apart_by_what_is_there_of_ours() {
    let scratch = wired();
    std::fs::create_dir(scratch.place.join(".zed")).unwrap();
    std::fs::write(scratch.place.join(".zed/settings.json"), "{}").unwrap();
    assert_state(&scratch, "agent zed", "info", "git proof init --agent zed");
    ran(&scratch, &["init", "--agent", "codex", "--agent", "claude-code"]).text();
    assert_state(&scratch, "agent claude-code", "ok", "");
    assert_state(&scratch, "agent codex", "info", "/hooks");
    std::fs::remove_file(scratch.place.join(".mcp.json")).unwrap();
    assert_state(&scratch, "agent claude-code", "stale", "git proof init --agent claude-code");
    std::fs::write(scratch.place.join(".mcp.json"), "{").unwrap();
    assert_state(&scratch, "agent claude-code", "wrong", "correct .mcp.json");
}

#[test]
fn policy_is_read() {
    let scratch = wired();
    ran(&scratch, &["init", "--policy"]).text();
    assert_state(&scratch, "policy", "ok", "");
    std::fs::write(scratch.place.join(".proof/policy.toml"), "[proof]\nrooted = true\nbindung = 1\n").unwrap();
    assert_state(&scratch, "policy", "wrong", "correct it");
    assert!(text(&check(&scratch, "policy").0, "message").contains("line 3"));
}

#[test]
fn signing_and_remotes_are_good_to_know() {
    let scratch = wired();
    scratch.git(["config", "gpg.format", "ssh"]);
    scratch.git(["config", "user.signingKey", "~/.ssh/id"]);
    assert_state(&scratch, "signing", "info", "");
    assert!(text(&check(&scratch, "signing").0, "message").contains("~/.ssh/id"));
    scratch.git(["commit", "--quiet", "--no-verify", "--allow-empty", "--message=x"]);
    scratch.git(["update-ref", "refs/proof/remote/origin/notes", "HEAD"]);
    assert!(text(&check(&scratch, "remotes").0, "message").contains("origin"));
    scratch.git(["config", "proof.remote", "https://ada:secret@example.org/proofs"]);
    let kept = "refs/proof/remote/https---example-org-proofs-5e0c40f6/notes";
    scratch.git(["update-ref", kept, "HEAD"]);
    let said = text(&check(&scratch, "remotes").0, "message").to_owned();
    assert!(said.ends_with("from https://example.org/proofs, origin"), "{said}");
}

#[test]
fn bare_repository_is_told_of_the_hook_of_a_server() {
    let scratch = Scratch::without_repository();
    scratch.git(["init", "--quiet", "--bare"]);
    assert_state(&scratch, "hook pre-receive", "info", "git proof init prints");
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks/pre-receive");
    script(&scratch.place.join("hooks/pre-receive"), &std::fs::read_to_string(published).unwrap());
    assert_state(&scratch, "hook pre-receive", "ok", "");
}

#[test]
fn text_of_the_repository_does_not_reach_the_terminal_as_it_is() {
    let scratch = wired();
    scratch.git(["config", "user.signingKey", "\u{1b}[31mred\u{202e}"]);
    scratch.git(["config", "gpg.format", "ssh"]);
    let said = ran(&scratch, &["doctor"]).text().to_owned();
    assert!(said.contains("red") && !said.contains('\u{1b}') && !said.contains('\u{202e}'), "{said}");
}
