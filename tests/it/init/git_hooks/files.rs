//! The files of the hooks: which are made, which are edited, and that they come back.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::{HOOKS, assert_all, by_hook, hook, script, unwired, wiring};
use crate::store::scratch::{Scratch, text};

/// Hooks of others, as they are found in the wild.
const THEIRS: [&str; 5] = [
    "#!/bin/sh\nexit 0\n",
    "#!/usr/bin/env bash\nset -euo pipefail\n\necho 'd\u{e9}j\u{e0}'\n",
    "#!/bin/sh -e",
    "#!/bin/sh\n",
    "#! /bin/dash\n\n\n# nothing\nexit 0",
];

#[test]
fn fresh_repository_gets_all_hooks_and_the_store() {
    let scratch = Scratch::new();
    let outcome = scratch.json(&["init"]);
    assert_all(&outcome, "action", "created");
    assert_all(&outcome, "by", "file");
    assert_eq!(text(&outcome["store"], "path"), ".git/proof/store.db");
    assert!(scratch.store().is_file());
    for name in HOOKS {
        let mode = hook(&scratch, name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o700, 0o700, "{name}");
    }
}

#[test]
fn file_that_is_made_differs_from_the_published_one_in_the_path_alone() {
    let scratch = Scratch::new();
    scratch.json(&["init"]);
    let program = std::fs::canonicalize(env!("CARGO_BIN_EXE_git-proof")).unwrap();
    for name in HOOKS {
        let published = std::fs::read_to_string(format!("{}/hooks/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let made = std::fs::read_to_string(hook(&scratch, name)).unwrap();
        assert_eq!(made.replace(program.to_str().unwrap(), "/usr/local/bin/git-proof"), published);
    }
}

#[test]
fn umask_is_respected() {
    let scratch = Scratch::new();
    let proof = env!("CARGO_BIN_EXE_git-proof");
    let ran = scratch.command("sh").args(["-c", &format!("umask 077; exec '{proof}' init")]).output().unwrap();
    assert!(ran.status.success());
    assert_eq!(hook(&scratch, "pre-push").metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn second_run_changes_nothing_and_says_so() {
    let scratch = Scratch::new();
    script(&hook(&scratch, "commit-msg"), THEIRS[0]);
    scratch.json(&["init"]);
    let before = wiring(&scratch);
    let outcome = scratch.json(&["init"]);
    assert_all(&outcome, "action", "unchanged");
    assert_eq!(text(&outcome["store"], "action"), "unchanged");
    assert!(scratch.run(["init"]).text().starts_with("Nothing to change: everything is as it should be"));
    assert_eq!(wiring(&scratch), before);
}

#[test]
fn uninstalling_gives_back_every_byte_and_keeps_the_store() {
    for theirs in THEIRS {
        let scratch = Scratch::new();
        script(&hook(&scratch, "commit-msg"), theirs);
        script(&hook(&scratch, "pre-push"), theirs);
        scratch.git(["config", "user.name", "Ada"]);
        let before = wiring(&scratch);
        scratch.json(&["init"]);
        assert_ne!(wiring(&scratch), before);
        let outcome = scratch.json(&["init", "--uninstall"]);
        let done = by_hook(&outcome, "action");
        assert_eq!((done["commit-msg"], done["post-commit"]), ("updated", "removed"));
        assert_eq!(wiring(&scratch), before, "{theirs:?}");
        assert!(scratch.store().is_file());
        assert!(text(&outcome["notices"][0], "message").contains("the store is kept"));
        assert!(scratch.run(["init", "--uninstall"]).text().starts_with("Nothing to change"));
    }
}

#[test]
fn block_goes_right_after_the_shebang() {
    let scratch = Scratch::new();
    script(&hook(&scratch, "commit-msg"), THEIRS[0]);
    scratch.json(&["init"]);
    let text = std::fs::read_to_string(hook(&scratch, "commit-msg")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5);
    assert!(lines[0] == "#!/bin/sh" && lines[1].starts_with("# >>> git-proof >>>"), "{text}");
    assert_eq!(lines[3..], ["# <<< git-proof <<<", "exit 0"]);
}

#[test]
fn stale_block_is_updated_where_it_is() {
    let scratch = Scratch::new();
    let old = "#!/bin/sh\nfirst\n# >>> git-proof >>>\n/old/git-proof hook commit-msg\n# <<< git-proof <<<\nlast\n";
    script(&hook(&scratch, "commit-msg"), old);
    let outcome = scratch.json(&["init"]);
    assert_eq!(by_hook(&outcome, "action")["commit-msg"], "updated");
    let text = std::fs::read_to_string(hook(&scratch, "commit-msg")).unwrap();
    assert!(text.starts_with("#!/bin/sh\nfirst\n# >>> git-proof >>>\n") && text.ends_with("<<<\nlast\n"), "{text}");
    assert!(!text.contains("/old/"));
}

#[test]
fn dry_run_shows_every_change_and_makes_none() {
    let scratch = Scratch::new();
    script(&hook(&scratch, "pre-push"), THEIRS[0]);
    let before = wiring(&scratch);
    let shown = scratch.run(["init", "--dry-run", "--policy"]).text().to_owned();
    for line in [
        "+++ b/.git/hooks/commit-msg",
        "--- a/.git/hooks/pre-push",
        "git config --local --add notes.displayRef 'refs/notes/proof-why*'",
        "+++ b/.proof/policy.toml",
        "create .git/proof/store.db",
    ] {
        assert!(shown.lines().any(|found| found == line), "no {line:?} in {shown}");
    }
    assert_eq!(wiring(&scratch), before);
    assert!(!scratch.store().exists() && !scratch.place.join(".proof").exists());
    scratch.json(&["init"]);
    let before = wiring(&scratch);
    let shown = scratch.run(["init", "--uninstall", "--dry-run"]).text().to_owned();
    assert!(shown.contains("+++ /dev/null") && shown.contains("--unset-all notes.displayRef"), "{shown}");
    assert_eq!(wiring(&scratch), before);
}

#[test]
fn hook_that_is_no_shell_script_is_left_alone_with_the_line_to_call() {
    for theirs in ["#!/usr/bin/env python3\nprint('x')\n", "echo no shebang\n", "\u{7f}ELF", "#!/usr/bin/fish\n"] {
        let scratch = Scratch::new();
        script(&hook(&scratch, "commit-msg"), theirs);
        let outcome = unwired(&scratch);
        let change = &outcome["hooks"][0];
        assert_eq!((text(change, "by"), text(change, "action")), ("nothing", "unchanged"));
        assert!(text(change, "reason").contains("not a shell script"), "{change}");
        assert_eq!(text(change, "call"), "git-proof hook commit-msg \"$@\"");
        assert_eq!(std::fs::read_to_string(hook(&scratch, "commit-msg")).unwrap(), theirs);
        assert_eq!(by_hook(&outcome, "by")["pre-push"], "file");
        let said = scratch.run(["init"]).out;
        assert!(said.contains("not wired commit-msg") && said.contains("git-proof hook commit-msg"), "{said}");
    }
}

#[test]
fn hook_that_calls_us_already_is_not_wired_twice() {
    let scratch = Scratch::new();
    let theirs =
        "#!/usr/bin/env python3\nimport subprocess # git-proof hook commit-msg\nrun('git-proof hook commit-msg')\n";
    script(&hook(&scratch, "commit-msg"), theirs);
    let outcome = scratch.json(&["init"]);
    assert_eq!(by_hook(&outcome, "by")["commit-msg"], "call");
    assert_eq!(std::fs::read_to_string(hook(&scratch, "commit-msg")).unwrap(), theirs);
}

#[test]
fn hook_that_is_a_link_is_not_edited_behind_it() {
    let scratch = Scratch::new();
    let shared = scratch.around().join("shared-hook");
    script(&shared, THEIRS[0]);
    symlink(&shared, hook(&scratch, "commit-msg")).unwrap();
    let outcome = unwired(&scratch);
    assert!(text(&outcome["hooks"][0], "reason").contains("is a link to"), "{outcome}");
    assert_eq!(std::fs::read_to_string(&shared).unwrap(), THEIRS[0]);
    assert!(hook(&scratch, "commit-msg").is_symlink());
    scratch.json(&["init", "--uninstall"]);
    assert!(hook(&scratch, "commit-msg").is_symlink());
}

#[test]
fn hook_that_was_switched_off_is_not_switched_on() {
    let scratch = Scratch::new();
    std::fs::write(hook(&scratch, "post-commit"), THEIRS[0]).unwrap();
    let outcome = unwired(&scratch);
    assert!(text(&outcome["hooks"][1], "reason").contains("not executable"), "{outcome}");
    assert_eq!(std::fs::read_to_string(hook(&scratch, "post-commit")).unwrap(), THEIRS[0]);
}

#[test]
fn block_without_an_end_changes_nothing() {
    let scratch = Scratch::new();
    script(&hook(&scratch, "pre-push"), "#!/bin/sh\n# >>> git-proof >>>\nx\n");
    let before = wiring(&scratch);
    for arguments in [&["init"][..], &["init", "--uninstall"]] {
        let error = scratch.refused(arguments, "ERR_CONFIG_INVALID", 2);
        assert!(text(&error, "message").contains("pre-push"), "{error}");
    }
    assert_eq!(wiring(&scratch), before);
    assert!(!scratch.store().exists());
}

#[test]
fn directory_of_hooks_that_cannot_be_written_changes_nothing() {
    let scratch = Scratch::new();
    let directory = scratch.place.join(".git/hooks");
    let set = |mode| std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(mode)).unwrap();
    let before = wiring(&scratch);
    set(0o555);
    // Who may write everywhere cannot be refused like this.
    let is_refused = std::fs::write(directory.join("probe"), "").is_err();
    if is_refused {
        let error = scratch.refused(&["init"], "ERR_OUTPUT_FAILED", 4);
        assert!(text(&error, "message").contains("hooks"), "{error}");
    }
    set(0o755);
    let _ = std::fs::remove_file(directory.join("probe"));
    assert_eq!(wiring(&scratch), before);
    std::fs::remove_dir_all(&directory).unwrap();
    std::fs::write(&directory, "a file where the directory should be").unwrap();
    let error = scratch.refused(&["init"], "ERR_UNREADABLE", 3);
    assert!(text(&error, "message").contains("nothing was changed"), "{error}");
    assert!(!scratch.git(["config", "--list"]).contains("notes."));
}

#[test]
fn linked_worktree_uses_the_hooks_that_all_share() {
    let scratch = Scratch::new();
    scratch.git(["commit", "--quiet", "--allow-empty", "--message=x"]);
    scratch.git(["worktree", "add", "--quiet", "../linked"]);
    let outcome = scratch.json(&["-C", "../linked", "init"]);
    assert_all(&outcome, "action", "created");
    assert!(text(&outcome["hooks"][0], "path").ends_with("/place/.git/hooks/commit-msg"), "{outcome}");
    assert!(hook(&scratch, "pre-push").is_file());
    assert_all(&scratch.json(&["init"]), "action", "unchanged");
}

#[test]
fn bare_repository_gets_nothing_but_the_hook_of_a_server_to_copy() {
    let scratch = Scratch::without_repository();
    scratch.git(["init", "--quiet", "--bare"]);
    let outcome = scratch.json(&["init"]);
    assert!(outcome["hooks"].as_array().unwrap().is_empty() && outcome["store"].is_null(), "{outcome}");
    assert!(text(&outcome["notices"][0], "message").contains("bare"));
    let published = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/hooks/pre-receive")).unwrap();
    assert_eq!(scratch.run(["init"]).text(), published);
    assert!(!scratch.place.join("proof").exists() && !scratch.place.join("hooks/commit-msg").exists());
}

#[test]
fn agent_and_hooks_are_set_up_together_and_taken_out_apart() {
    let scratch = Scratch::new();
    let outcome = scratch.json(&["init", "--agent", "zed"]);
    assert_all(&outcome, "action", "created");
    assert_eq!(text(&outcome["files"][0], "action"), "created");
    let kept = scratch.json(&["init", "--uninstall", "--dry-run"]);
    assert_eq!(text(&kept["notices"][1], "hint"), "git proof init --uninstall --agent zed");
    let outcome = scratch.json(&["init", "--agent", "zed", "--uninstall"]);
    assert_eq!(text(&outcome["files"][0], "action"), "removed");
    assert!(hook(&scratch, "pre-push").is_file());
    let other = Scratch::new();
    let outcome = other.json(&["init", "--agent", "zed", "--no-hooks"]);
    assert!(outcome["hooks"].as_array().unwrap().is_empty());
    assert!(!hook(&other, "pre-push").exists() && other.store().is_file());
}

#[test]
fn place_outside_of_a_repository_is_refused() {
    let scratch = Scratch::without_repository();
    scratch.refused(&["init"], "ERR_NO_REPOSITORY", 3);
    scratch.refused(&["init", "--uninstall"], "ERR_NO_REPOSITORY", 3);
}
