//! Commits that were squashed here before anybody else had them: they are kept until they are published with the squash,
//! whatever the remote had before, and a verdict says where only this clone can find them.

use super::joined::{main_goes_on, topic};
use super::project::Project;

const KEPT: &str = "refs/proof/local/originals";

/// A squash of two sessions on main, made by `git merge --squash` or by `git reset --soft`. The branch is gone.
fn squashed(project: &Project, by_reset: bool) {
    topic(project, &["one", "two"]);
    if by_reset {
        project.git(["switch", "--quiet", "-c", "reset"]);
        project.git(["reset", "--quiet", "--soft", "main"]);
        project.commit_staged(&["-m", "both"]);
        project.git(["switch", "--quiet", "main"]);
        project.git(["merge", "--quiet", "--ff-only", "reset"]);
        project.git(["branch", "--quiet", "-D", "reset"]);
    } else {
        main_goes_on(project);
        project.git(["merge", "--quiet", "--squash", "topic"]);
        project.commit_staged(&["-m", "both"]);
    }
    project.git(["branch", "--quiet", "-D", "topic"]);
}

/// Removes every object that nothing leads to, as `git gc` does some weeks later.
fn prune(project: &Project) {
    let _ = std::fs::remove_file(project.place.join(".git/ORIG_HEAD")); // where there is one
    project.git(["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"]);
    project.git(["gc", "--quiet", "--prune=now"]);
}

fn kept(project: &Project) -> String {
    project.git(["for-each-ref", KEPT])
}

/// What a verdict on HEAD says of who can check it.
fn is_known_only_here(project: &Project) -> bool {
    let judged = project.verify("HEAD");
    judged.is("squashed", &["one", "two"]);
    judged.findings.iter().any(|finding| finding["code"] == "KNOWN_ONLY_HERE")
}

#[test]
fn squash_that_was_made_here_outlives_gc_and_is_proven_for_others_once_it_is_pushed() {
    for by_reset in [false, true] {
        let project = Project::new();
        squashed(&project, by_reset);
        prune(&project);
        assert!(is_known_only_here(&project));
        project.git(["push", "--quiet", "origin", "main"]);
        assert!(!is_known_only_here(&project));
        let clone = project.clone_of("main");
        clone.sync();
        clone.verify("HEAD").is("squashed", &["one", "two"]);
        project.proof(&["sync"]);
        assert_eq!(kept(&project), "", "they are on the remote");
        prune(&project);
        project.verify("HEAD").is("squashed", &["one", "two"]);
    }
}

#[test]
fn squash_that_is_pushed_to_an_empty_repository_is_proven_there() {
    for (by_reset, rebased) in [(false, false), (true, false), (false, true)] {
        let project = Project::new();
        squashed(&project, by_reset);
        if rebased {
            project.git(["switch", "--quiet", "-c", "aside", "HEAD~1"]);
            project.edit(34, "in between");
            project.commit("in between");
            project.git(["rebase", "--quiet", "aside", "main"]);
        }
        project.git(["init", "--quiet", "--bare", "--initial-branch=main", "../empty.git"]);
        project.git(["remote", "add", "empty", "../empty.git"]);
        project.git(["push", "--quiet", "empty", "main"]);
        project.git(["clone", "--quiet", "../empty.git", "../other"]);
        let run = |arguments: &[&str]| {
            let mut command = project.command_in(&project.around().join("other"), "git-proof");
            crate::store::scratch::Ran::from(command.args(arguments).output().unwrap())
        };
        run(&["--json", "sync"]).json();
        let verdict = run(&["--json", "verify", "HEAD"]).json();
        assert_eq!(verdict["commits"][0]["binding"], "squashed", "{by_reset} {rebased}: {verdict}");
    }
}

#[test]
fn squash_that_was_pushed_without_the_hook_is_published_by_sync_which_says_so() {
    let project = Project::new();
    topic(&project, &["one", "two"]);
    project.proof(&["sync"]);
    project.git(["reset", "--quiet", "--soft", "main"]);
    project.commit_staged(&["-m", "both"]);
    project.git(["push", "--quiet", "--no-verify", "origin", "HEAD:main"]);
    let ran = project.try_proof(&["sync"]);
    assert!(ran.err.contains("indexed a range of commits, so that a squash of them is found"), "{ran:?}");
    assert!(!project.try_proof(&["sync"]).err.contains("git proof: "));
    let clone = project.clone_of("main");
    clone.sync();
    clone.verify("HEAD").is("squashed", &["one", "two"]);
}

#[test]
fn squash_of_a_range_without_a_proof_is_let_go_once_it_is_pushed() {
    let project = Project::new();
    project.prove("s", 30);
    for line in [10, 20] {
        project.edit(line, "changed");
        project.commit("change");
    }
    project.git(["reset", "--quiet", "--soft", "HEAD~2"]);
    project.commit_staged(&["-m", "both"]);
    assert_ne!(kept(&project), "");
    project.git(["push", "--quiet", "origin", "main"]);
    project.proof(&["sync"]);
    assert_eq!(kept(&project), "");
}

#[test]
fn refs_of_this_clone_are_not_shared() {
    let project = Project::new();
    squashed(&project, false);
    assert_ne!(kept(&project), "");
    project.git(["push", "--quiet", "origin", "main"]);
    assert_eq!(project.git(["-C", "../remote.git", "for-each-ref", "refs/proof/local"]), "");
}
