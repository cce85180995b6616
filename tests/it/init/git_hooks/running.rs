//! What an installed hook does when git runs it.

use std::path::Path;

use super::{commit, git, hook, log, script, stub, tools, with_stub};
use crate::store::scratch::Scratch;

/// A remote beside the repository.
pub(super) fn with_remote(scratch: &Scratch) {
    scratch.git(["init", "--quiet", "--bare", "../remote.git"]);
    scratch.git(["remote", "add", "origin", "../remote.git"]);
}

#[test]
fn commit_and_amend_call_the_program_with_what_git_gives() {
    let scratch = Scratch::new();
    scratch.json(&["init"]);
    let path = with_stub(&scratch, 0);
    commit(&scratch, &path).text();
    assert_eq!(log(&scratch), ["hook commit-msg .git/COMMIT_EDITMSG", "hook post-commit"]);
    git(&scratch, &path, &["commit", "--quiet", "--amend", "--allow-empty", "--message=y"]).text();
    let lines = log(&scratch);
    let rewritten = lines.iter().position(|line| line == "hook post-rewrite amend").unwrap();
    assert!(lines[rewritten + 1].starts_with("< ") && lines[rewritten + 1].len() > 80, "{lines:?}");
}

#[test]
fn push_calls_the_program_with_the_refs_on_standard_input() {
    let scratch = Scratch::new();
    scratch.json(&["init"]);
    with_remote(&scratch);
    let path = with_stub(&scratch, 0);
    commit(&scratch, &path).text();
    git(&scratch, &path, &["push", "--quiet", "origin", "main"]).text();
    let lines = log(&scratch);
    let called = lines.iter().position(|line| line == "hook pre-push origin ../remote.git").unwrap();
    assert!(lines[called + 1].starts_with("< refs/heads/main ") && lines.len() == called + 2, "{lines:?}");
}

#[test]
fn refusal_of_commit_msg_stops_the_commit_before_the_rest_of_the_hook() {
    let scratch = Scratch::new();
    script(&hook(&scratch, "commit-msg"), "#!/bin/sh\necho theirs >>../log\n");
    scratch.json(&["init"]);
    let ran = commit(&scratch, with_stub(&scratch, 7));
    assert_eq!(ran.exit, Some(1), "{ran:?}");
    assert_eq!(log(&scratch), ["hook commit-msg .git/COMMIT_EDITMSG"]);
}

#[test]
fn refusal_of_pre_push_stops_the_push() {
    let scratch = Scratch::new();
    commit(&scratch, tools(&scratch)).text();
    scratch.json(&["init"]);
    with_remote(&scratch);
    let ran = git(&scratch, with_stub(&scratch, 1), &["push", "--quiet", "origin", "main"]);
    assert_ne!(ran.exit, Some(0));
    assert_eq!(scratch.git(["-C", "../remote.git", "for-each-ref"]), "");
}

#[test]
fn failure_after_a_commit_does_not_matter_even_to_a_strict_shell() {
    let scratch = Scratch::new();
    for name in ["post-commit", "post-rewrite"] {
        script(&hook(&scratch, name), "#!/bin/sh -eu\necho theirs >>../log\n");
    }
    scratch.json(&["init"]);
    std::fs::remove_file(hook(&scratch, "commit-msg")).unwrap();
    let path = with_stub(&scratch, 9);
    commit(&scratch, &path).text();
    git(&scratch, &path, &["commit", "--quiet", "--amend", "--allow-empty", "--message=y"]).text();
    let lines: Vec<String> = log(&scratch).into_iter().filter(|line| !line.starts_with('<')).collect();
    let expected = ["hook post-commit", "theirs", "hook post-commit", "theirs", "hook post-rewrite amend", "theirs"];
    assert_eq!(lines, expected);
}

#[test]
fn early_exit_of_the_hook_that_was_there_does_not_skip_ours() {
    for shebang in ["#!/bin/sh", "#!/usr/bin/env bash"] {
        let scratch = Scratch::new();
        script(&hook(&scratch, "commit-msg"), &format!("{shebang}\necho theirs >>../log\nexit 0\n"));
        scratch.json(&["init"]);
        commit(&scratch, with_stub(&scratch, 0)).text();
        assert_eq!(log(&scratch), ["hook commit-msg .git/COMMIT_EDITMSG", "theirs", "hook post-commit"]);
    }
}

#[test]
fn exit_status_of_the_hook_that_was_there_still_counts() {
    let scratch = Scratch::new();
    script(&hook(&scratch, "commit-msg"), "#!/bin/sh\nexit 3\n");
    scratch.json(&["init"]);
    assert_eq!(commit(&scratch, with_stub(&scratch, 0)).exit, Some(1));
}

#[test]
fn hook_that_reads_standard_input_after_ours_reads_all_of_it() {
    for shebang in ["#!/bin/sh", "#!/usr/bin/env bash", "#!/bin/sh -eu"] {
        let scratch = Scratch::new();
        let theirs = format!("{shebang}\nwhile read -r a b c d; do echo \"theirs: $a $c\" >>../log; done\ncat >&2\n");
        script(&hook(&scratch, "pre-push"), &theirs);
        scratch.json(&["init"]);
        with_remote(&scratch);
        let path = with_stub(&scratch, 0);
        commit(&scratch, &path).text();
        scratch.git(["branch", "--quiet", "other"]);
        std::fs::remove_file(scratch.around().join("log")).unwrap_or_default();
        git(&scratch, &path, &["push", "--quiet", "origin", "main", "other"]).text();
        let lines = log(&scratch);
        assert_eq!(lines[0], "hook pre-push origin ../remote.git");
        assert_eq!(lines.iter().filter(|line| line.starts_with("< ")).count(), 2, "{lines:?}");
        let theirs = ["theirs: refs/heads/main refs/heads/main", "theirs: refs/heads/other refs/heads/other"];
        assert_eq!(lines[3..], theirs, "{shebang}");
    }
}

#[test]
fn empty_standard_input_stays_empty() {
    let scratch = Scratch::new();
    script(&hook(&scratch, "pre-push"), "#!/bin/sh\nwhile read -r a; do echo \"theirs: $a\" >>../log; done\n");
    scratch.json(&["init"]);
    let path = with_stub(&scratch, 0);
    let mut ran = scratch.command(hook(&scratch, "pre-push"));
    assert!(ran.env("PATH", path).args(["origin", "url"]).output().unwrap().status.success());
    assert_eq!(log(&scratch), ["hook pre-push origin url"]);
}

#[test]
fn thousands_of_refs_reach_both() {
    let scratch = Scratch::new();
    script(&hook(&scratch, "pre-push"), "#!/bin/sh\nsed 's/^/theirs /' >>../log\n");
    scratch.json(&["init"]);
    let path = with_stub(&scratch, 0);
    let sent: Vec<String> = (0..5000).map(|at| format!("refs/heads/{at} {at:040} `x` \"$y\" \\n")).collect();
    let input = sent.join("\n") + "\n";
    let mut command = scratch.command(hook(&scratch, "pre-push"));
    let ran = crate::common::run_with_input(command.env("PATH", path).args(["origin", "url"]), input.as_bytes());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lines = log(&scratch);
    let part = |mark: &str| lines.iter().filter_map(|line| line.strip_prefix(mark)).collect::<Vec<_>>();
    assert!(part("< ") == sent && part("theirs ") == sent);
}

/// Sets up with a program that is at `path`, and then lets a stub be there.
fn set_up_from(scratch: &Scratch, path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    crate::common::put_program(env!("CARGO_BIN_EXE_git-proof"), path);
    assert!(scratch.command(path).arg("init").output().unwrap().status.success());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn client_without_our_path_runs_the_program_that_set_it_up() {
    for name in ["a b", "it's", "\"q\" $HOME `x` \\n", "d\u{e9}j\u{e0} \u{1f512}"] {
        let scratch = Scratch::new();
        let program = scratch.around().join(name).join("git-proof");
        set_up_from(&scratch, &program);
        stub(&scratch, &program, 0);
        commit(&scratch, tools(&scratch)).text();
        assert_eq!(log(&scratch), ["hook commit-msg .git/COMMIT_EDITMSG", "hook post-commit"], "{name}");
    }
}

#[test]
fn program_on_the_path_comes_first() {
    let scratch = Scratch::new();
    let program = scratch.around().join("elsewhere/git-proof");
    set_up_from(&scratch, &program);
    script(&program, "#!/bin/sh\nexit 1\n");
    commit(&scratch, with_stub(&scratch, 0)).text();
}

#[test]
fn program_that_is_gone_lets_a_commit_through_and_stops_a_push() {
    let scratch = Scratch::new();
    script(&hook(&scratch, "post-commit"), "#!/bin/sh\necho theirs >>../log\n");
    set_up_from(&scratch, &scratch.around().join("gone/git-proof"));
    with_remote(&scratch);
    let ran = commit(&scratch, tools(&scratch));
    ran.text();
    assert_eq!(ran.err.lines().filter(|line| line.starts_with("git-proof is not found")).count(), 2, "{}", ran.err);
    assert_eq!(log(&scratch), ["theirs"]);
    let ran = git(&scratch, tools(&scratch), &["push", "--quiet", "origin", "main"]);
    assert_ne!(ran.exit, Some(0));
    for word in ["git-proof is not found", "Install it again", "take its hook out", "--no-verify"] {
        assert!(ran.err.contains(word), "{}", ran.err);
    }
    assert_eq!(scratch.git(["-C", "../remote.git", "for-each-ref"]), "");
}

#[test]
fn repository_of_any_name_is_wired() {
    for name in ["a b", "it's", "\"q\" $x", "d\u{e9}j\u{e0}"] {
        let scratch = Scratch::without_repository();
        scratch.git(["init", "--quiet", name]);
        scratch.json(&["-C", name, "init"]);
        let path = with_stub(&scratch, 0);
        git(&scratch, &path, &["-C", name, "commit", "--quiet", "--allow-empty", "--message=x"]).text();
        assert_eq!(log(&scratch).len(), 2, "{name}");
    }
}

#[test]
fn linked_worktree_runs_the_hooks() {
    let scratch = Scratch::new();
    commit(&scratch, tools(&scratch)).text();
    scratch.json(&["init"]);
    scratch.git(["worktree", "add", "--quiet", "../linked"]);
    let path = with_stub(&scratch, 0);
    git(&scratch, &path, &["-C", "../linked", "commit", "--quiet", "--allow-empty", "--message=x"]).text();
    let lines = log(&scratch);
    assert!(lines[0].starts_with("hook commit-msg ") && lines[1] == "hook post-commit", "{lines:?}");
}
