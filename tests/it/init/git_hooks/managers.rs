//! Whoever else manages the hooks keeps doing so: nothing of theirs is touched, and what to paste is said.

use serde_json::Value;

use super::super::{everything, put};
use super::{HOOKS, assert_all, commit, git, log, script, tools, unwired, wiring, with_stub};
use crate::store::scratch::{Scratch, text};

/// Runs `init` for hooks that somebody else manages: neither their files nor ours may appear.
#[track_caller]
fn left_alone(scratch: &Scratch, manager: &str) -> Value {
    let (before, files) = (wiring(scratch), everything(scratch));
    let outcome = unwired(scratch);
    assert_all(&outcome, "by", "nothing");
    assert_eq!(text(&outcome["manager"], "name"), manager);
    assert_eq!(everything(scratch), files);
    let mut after = wiring(scratch);
    after.insert(".git/config".to_owned(), before[".git/config"].clone());
    assert_eq!(after, before);
    let said = scratch.run(["init"]).out;
    for paste in outcome["manager"]["paste"].as_array().unwrap() {
        assert!(said.contains(text(paste, "lines").trim_end()), "{said}");
    }
    outcome
}

/// Pastes what it says to paste, as a person would.
fn paste(scratch: &Scratch, outcome: &Value) {
    for paste in outcome["manager"]["paste"].as_array().unwrap() {
        let path = scratch.place.join(text(paste, "file"));
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        script(&path, &(old + text(paste, "lines")));
    }
}

#[test]
fn hooks_path_is_left_alone_wherever_it_is_set() {
    for level in ["--local", "--global"] {
        let scratch = Scratch::new();
        let shared = scratch.around().join("my hooks");
        std::fs::create_dir(&shared).unwrap();
        script(&shared.join("pre-push"), "#!/bin/sh\nexit 0\n");
        let config = scratch.around().join("gitconfig");
        let mut set = scratch.command("git");
        set.env("GIT_CONFIG_GLOBAL", &config).args(["config", level, "core.hooksPath", shared.to_str().unwrap()]);
        assert!(set.status().unwrap().success());
        let ran = scratch.proof(["--json", "init"]).env("GIT_CONFIG_GLOBAL", &config).output().unwrap();
        let outcome: Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_all(&outcome, "by", "nothing");
        let manager = &outcome["manager"];
        assert_eq!((text(manager, "name"), text(manager, "found")), ("hooks-path", shared.to_str().unwrap()));
        let pastes = manager["paste"].as_array().unwrap();
        assert_eq!(pastes.len(), HOOKS.len());
        // What is there has a shebang; what is not needs one.
        assert!(text(&pastes[0], "lines").starts_with("#!/bin/sh\ngit_proof_run=1;"));
        assert!(text(&pastes[3], "lines").starts_with("git_proof_in="));
        assert!(pastes.iter().all(|paste| text(paste, "lines").trim_start_matches("#!/bin/sh\n").lines().count() == 1));
        assert_eq!(std::fs::read_dir(&shared).unwrap().count(), 1);
        assert!(!super::hook(&scratch, "commit-msg").exists());
    }
}

#[test]
fn hooks_path_that_names_the_repositorys_own_directory_is_no_obstacle() {
    let scratch = Scratch::new();
    scratch.git(["config", "core.hooksPath", ".git/hooks"]);
    assert_all(&scratch.json(&["init"]), "by", "file");
}

#[test]
fn directory_of_hooks_that_is_a_link_is_somebody_elses() {
    let scratch = Scratch::new();
    let shared = scratch.around().join("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::remove_dir_all(scratch.place.join(".git/hooks")).unwrap();
    std::os::unix::fs::symlink(&shared, scratch.place.join(".git/hooks")).unwrap();
    assert_all(&unwired(&scratch), "by", "nothing");
    assert_eq!(std::fs::read_dir(&shared).unwrap().count(), 0);
}

#[test]
fn what_is_pasted_into_a_hooks_path_runs_and_is_seen() {
    let scratch = Scratch::new();
    scratch.git(["config", "core.hooksPath", "githooks"]);
    let outcome = left_alone(&scratch, "hooks-path");
    paste(&scratch, &outcome);
    commit(&scratch, with_stub(&scratch, 0)).text();
    assert_eq!(log(&scratch), ["hook commit-msg .git/COMMIT_EDITMSG", "hook post-commit"]);
    let outcome = scratch.json(&["init"]);
    assert_all(&outcome, "by", "manager");
    assert!(scratch.run(["init"]).text().starts_with("Nothing to change: everything"));
    let outcome = scratch.json(&["init", "--uninstall"]);
    assert!(text(&outcome["notices"][1], "message").contains("githooks still call git-proof"), "{outcome}");
    assert!(scratch.place.join("githooks/pre-push").exists());
}

#[test]
fn husky_is_left_alone_and_gets_lines_that_run() {
    let scratch = Scratch::new();
    put(&scratch, ".husky/pre-commit", "npm test\n");
    let outcome = left_alone(&scratch, "husky");
    assert_eq!(text(&outcome["manager"], "run"), "npx husky");
    // What husky does when it is installed.
    for name in HOOKS {
        let text = format!("#!/bin/sh\nexec sh -e \"$(dirname \"$0\")/../{name}\" \"$@\"\n");
        script(&scratch.place.join(".husky/_").join(name), &text.replace("$(dirname \"$0\")", ".husky/_"));
    }
    scratch.git(["config", "core.hooksPath", ".husky/_"]);
    let outcome = left_alone(&scratch, "husky");
    assert!(outcome["manager"]["run"].is_null());
    paste(&scratch, &outcome);
    assert_all(&scratch.json(&["init"]), "by", "manager");
    let ran = commit(&scratch, with_stub(&scratch, 0));
    assert_eq!(log(&scratch), ["hook commit-msg .git/COMMIT_EDITMSG", "hook post-commit"], "{ran:?}");
    // Who has cloned it without having git-proof can still commit.
    git(&scratch, tools(&scratch), &["commit", "--quiet", "--allow-empty", "--message=y"]).text();
}

#[test]
fn lefthook_is_left_alone_and_gets_yaml() {
    for name in ["lefthook.yml", ".lefthook.yaml", "lefthook.toml", ".config/lefthook.yml"] {
        let scratch = Scratch::new();
        put(&scratch, name, "# theirs\n");
        let outcome = left_alone(&scratch, "lefthook");
        assert_eq!(text(&outcome["manager"], "found"), name);
        assert_eq!(text(&outcome["manager"], "run"), "lefthook install");
        let lines = text(&outcome["manager"]["paste"][0], "lines");
        let expected = "\npre-push: {scripts: {git-proof: {runner: sh, use_stdin: true}}}\n";
        assert!(lines.contains(expected), "{lines}");
        assert_eq!(lines.lines().count(), HOOKS.len());
        assert_eq!(text(&outcome["manager"]["paste"][1], "file"), ".lefthook/pre-push/git-proof");
    }
}

#[test]
fn pre_commit_is_left_alone_and_gets_an_entry() {
    let scratch = Scratch::new();
    put(&scratch, ".pre-commit-config.yaml", "repos:\n");
    let outcome = left_alone(&scratch, "pre-commit");
    let manager = &outcome["manager"];
    let lines = text(&manager["paste"][0], "lines");
    assert!(lines.starts_with("  - repo: local\n    hooks:\n      - id: git-proof-commit-msg\n"), "{lines}");
    let types = HOOKS.map(|name| format!(" --hook-type {name}")).concat();
    assert_eq!(text(manager, "run"), format!("pre-commit install{types}"));
    paste(&scratch, &outcome);
    let outcome = left_alone(&scratch, "pre-commit");
    assert!(text(&outcome["hooks"][0], "reason").contains("git does not run it"), "{outcome}");
    for name in HOOKS {
        script(&super::hook(&scratch, name), "#!/usr/bin/env python3\n# pre-commit's\n");
    }
    assert_all(&scratch.json(&["init"]), "by", "manager");
    let said = scratch.run(["doctor"]).out;
    assert!(said.contains("pre-commit does not say which commits were rewritten"), "{said}");
}

#[test]
fn simple_git_hooks_is_left_alone_and_gets_lines_of_json() {
    for (name, file) in [
        ("package.json", "{\"simple-git-hooks\": {\"pre-commit\": \"npm test\"}}\n"),
        (".simple-git-hooks.json", "{\"pre-commit\": \"npm test\"}\n"),
    ] {
        let scratch = Scratch::new();
        put(&scratch, name, file);
        let outcome = left_alone(&scratch, "simple-git-hooks");
        assert_eq!(text(&outcome["manager"], "run"), "npx simple-git-hooks");
        let lines = text(&outcome["manager"]["paste"][0], "lines");
        let settings: Value = serde_json::from_str(&format!("{{{lines}}}")).unwrap();
        assert_eq!(settings.as_object().unwrap().len(), HOOKS.len());
        // What it makes of them.
        for hook in HOOKS {
            script(&super::hook(&scratch, hook), &format!("#!/bin/sh\n\n{}", text(&settings, hook)));
        }
        put(&scratch, name, &format!("{{\"simple-git-hooks\": {{{lines}}}}}\n"));
        assert_all(&scratch.json(&["init"]), "by", "manager");
        commit(&scratch, with_stub(&scratch, 0)).text();
        assert_eq!(log(&scratch), ["hook commit-msg .git/COMMIT_EDITMSG", "hook post-commit"]);
        git(&scratch, tools(&scratch), &["commit", "--quiet", "--allow-empty", "--message=y"]).text();
    }
}

#[test]
fn package_without_simple_git_hooks_is_nobodys() {
    let scratch = Scratch::new();
    put(&scratch, "package.json", "{\"devDependencies\": {\"simple-git-hooks\": \"2\"}}\n");
    assert_all(&scratch.json(&["init"]), "by", "file");
}

#[test]
fn hooks_that_another_tool_replaced_are_noticed() {
    let scratch = Scratch::new();
    scratch.json(&["init"]);
    let says = |arguments: &[&str]| scratch.run(arguments).err.contains("git no longer runs our pre-push");
    scratch.start("one", &[]);
    scratch.json(&["record", "--type", "reflection", "--content", "It works."]);
    assert!(!says(&["finalize"]));
    script(&super::hook(&scratch, "pre-push"), "#!/bin/sh\nexit 0\n");
    assert!(says(&["finalize"]));
    scratch.json(&["init"]);
    assert!(!says(&["finalize"]));
    // Who took them out knows.
    scratch.json(&["init", "--uninstall"]);
    assert!(!says(&["finalize"]));
}
