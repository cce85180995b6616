//! What forges do to a branch when they merge it, seen from a fresh clone of main that never had the branch.

use super::joined::{main_goes_on, topic};
use super::project::{Clone, Project};
use crate::store::scratch::Ran;

/// Main goes on at the server, by someone else, in another hunk of the same file.
fn main_moves(forge: &Clone<'_>) {
    forge.git(&["switch", "--quiet", "main"]);
    let file = forge.place.join("file");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("line 38", "meanwhile on main")).unwrap();
    forge.git(&["commit", "--quiet", "--all", "-m", "meanwhile"]);
    forge.git(&["push", "--quiet", "origin", "main"]);
}

/// The branch is merged by some commands in the forge, pushed, and deleted.
fn merged(project: &Project, branch: &str, commands: &[&[&str]]) {
    let forge = project.forge();
    main_moves(&forge);
    for command in commands {
        forge.git(command);
    }
    forge.git(&["push", "--quiet", "origin", "HEAD:main"]);
    forge.git(&["push", "--quiet", "origin", "--delete", branch]);
}

const SQUASH: [&[&str]; 2] =
    [&["merge", "--quiet", "--squash", "origin/topic"], &["commit", "--quiet", "-m", "topic (#7)\n\nAll of it."]];

/// A fresh clone of main alone, in step with the proofs.
fn fresh(project: &Project) -> Clone<'_> {
    let clone = project.clone_of("main");
    clone.sync();
    clone
}

#[test]
fn squash_merge_after_main_has_moved_has_every_session() {
    let project = Project::new();
    topic(&project, &["one", "two", "three"]);
    project.git(["push", "--quiet", "origin", "topic"]);
    merged(&project, "topic", &SQUASH);
    fresh(&project).verify("HEAD").is("squashed", &["one", "three", "two"]);
}

#[test]
fn squash_merge_with_the_messages_of_all_commits_passes_without_a_remark() {
    let project = Project::new();
    topic(&project, &["one", "two", "three"]);
    project.git(["push", "--quiet", "origin", "topic"]);
    let all = project.git(["log", "--reverse", "--format=* %B", "main..topic"]);
    assert!(all.contains("Proof-Session: one") && all.contains("Proof-Session: two"), "{all}");
    let message = format!("topic (#7)\n\n{all}\n\nSigned-off-by: Forge <forge@example.org>");
    merged(&project, "topic", &[SQUASH[0], &["commit", "--quiet", "-m", &message]]);
    let clone = fresh(&project);
    clone.verify("HEAD").is("squashed", &["one", "three", "two"]);
    let mut gate = project.command_in(&clone.place, "git-proof");
    let ran: Ran = gate.args(["gate", "--base", "HEAD~1", "--format", "github"]).output().unwrap().into();
    assert_eq!(ran.text(), "git proof gate: proven. 1 commit: 1 proven.\n");
}

#[test]
fn squash_merge_of_one_commit_is_moved() {
    let project = Project::new();
    topic(&project, &["s"]);
    project.git(["push", "--quiet", "origin", "topic"]);
    merged(&project, "topic", &SQUASH);
    fresh(&project).verify("HEAD").is("moved", &["s"]);
}

#[test]
fn squash_merge_of_a_branch_pushed_several_times_has_every_session() {
    let project = Project::new();
    topic(&project, &["one"]);
    project.git(["push", "--quiet", "origin", "topic"]);
    project.prove("two", 20);
    project.git(["push", "--quiet", "origin", "topic"]);
    project.prove("three", 30);
    project.git(["push", "--quiet", "origin", "topic"]);
    merged(&project, "topic", &SQUASH);
    fresh(&project).verify("HEAD").is("squashed", &["one", "three", "two"]);
}

#[test]
fn squash_merge_of_a_branch_rebased_and_pushed_by_force_has_every_session() {
    let project = Project::new();
    topic(&project, &["one", "two"]);
    project.git(["push", "--quiet", "origin", "topic"]);
    main_goes_on(&project);
    project.git(["push", "--quiet", "origin", "main"]);
    project.rewrite(&["rebase", "--quiet", "main", "topic"]);
    project.prove("three", 30);
    project.git(["push", "--quiet", "--force", "origin", "topic"]);
    let forge = project.forge();
    for command in SQUASH {
        forge.git(command);
    }
    forge.git(&["push", "--quiet", "origin", "HEAD:main"]);
    forge.git(&["push", "--quiet", "origin", "--delete", "topic"]);
    fresh(&project).verify("HEAD").is("squashed", &["one", "three", "two"]);
}

#[test]
fn squash_merge_of_a_branch_squashed_before_its_first_push_has_every_session() {
    let project = Project::new();
    topic(&project, &["one", "two", "three"]);
    project.replan("main", "2s/^pick/fixup/", "");
    project.git(["push", "--quiet", "origin", "topic"]);
    merged(&project, "topic", &SQUASH);
    fresh(&project).verify("HEAD").is("squashed", &["one", "three", "two"]);
}

#[test]
fn squash_merge_of_a_branch_that_merged_main_has_every_session() {
    let project = Project::new();
    topic(&project, &["one"]);
    main_goes_on(&project);
    project.git(["push", "--quiet", "origin", "main"]);
    project.git(["switch", "--quiet", "topic"]);
    project.git(["merge", "--quiet", "--no-edit", "main"]);
    project.prove("two", 20);
    project.git(["push", "--quiet", "origin", "topic"]);
    let forge = project.forge();
    for command in SQUASH {
        forge.git(command);
    }
    forge.git(&["push", "--quiet", "origin", "HEAD:main"]);
    fresh(&project).verify("HEAD").is("squashed", &["one", "two"]);
}

#[test]
fn squash_merge_of_a_branch_pushed_without_hooks_is_found_after_sync() {
    let project = Project::new();
    topic(&project, &["one", "two"]);
    project.git(["push", "--quiet", "--no-verify", "origin", "topic"]);
    project.proof(&["sync"]);
    merged(&project, "topic", &SQUASH);
    fresh(&project).verify("HEAD").is("squashed", &["one", "two"]);
}

#[test]
fn squash_merge_of_a_branch_pushed_before_its_session_was_closed_is_found_after_sync() {
    let project = Project::new();
    project.git(["switch", "--quiet", "-c", "topic"]);
    project.start("s");
    project.edit(10, "one");
    project.commit("one");
    project.edit(20, "two");
    project.commit("two");
    project.git(["push", "--quiet", "origin", "topic"]);
    project.close();
    merged(&project, "topic", &SQUASH);
    project.proof(&["sync"]);
    fresh(&project).verify("HEAD").is("squashed", &["s"]);
}

#[test]
fn squash_merge_of_a_branch_squashed_twice_before_its_first_push_has_every_session() {
    let project = Project::new();
    topic(&project, &["one", "two", "three"]);
    project.replan("main", "2s/^pick/fixup/", "");
    project.replan("main", "2s/^pick/fixup/", "");
    project.git(["push", "--quiet", "origin", "topic"]);
    merged(&project, "topic", &SQUASH);
    fresh(&project).verify("HEAD").is("squashed", &["one", "three", "two"]);
}

#[test]
fn squashed_commits_without_a_proof_stay_at_home() {
    let project = Project::new();
    project.prove("s", 35);
    project.git(["switch", "--quiet", "-c", "topic"]);
    for line in [10, 20] {
        project.edit(line, "nobody's");
        project.commit("nobody's");
    }
    let unpublished = project.head();
    project.replan("main", "2s/^pick/fixup/", "");
    project.git(["push", "--quiet", "origin", "topic", "main"]);
    let clone = fresh(&project);
    assert_ne!(clone.try_git(&["cat-file", "-e", &unpublished]), Some(0));
}

#[test]
fn squashed_commits_stay_at_home_where_the_setting_says_so() {
    let project = Project::new();
    project.git(["config", "proof.publishSquashed", "false"]);
    topic(&project, &["one", "two"]);
    let unpublished = project.head();
    project.replan("main", "2s/^pick/fixup/", "");
    project.git(["push", "--quiet", "origin", "topic"]);
    project.proof(&["sync"]);
    let clone = project.clone_of("topic");
    clone.sync();
    assert_ne!(clone.try_git(&["cat-file", "-e", &unpublished]), Some(0));
    clone.verify("HEAD").is_another_change("ANCHOR_MISSING");
}

#[test]
fn squash_merge_into_another_branch_than_main_has_every_session() {
    let project = Project::new();
    project.git(["switch", "--quiet", "-c", "release"]);
    project.edit(3, "only in the release");
    project.commit("release");
    project.git(["push", "--quiet", "origin", "release"]);
    topic(&project, &["one", "two"]);
    project.git(["push", "--quiet", "origin", "topic"]);
    let forge = project.forge();
    forge.git(&["switch", "--quiet", "release"]);
    for command in SQUASH {
        forge.git(command);
    }
    forge.git(&["push", "--quiet", "origin", "HEAD:release"]);
    let clone = project.clone_of("release");
    clone.sync();
    clone.verify("HEAD").is("squashed", &["one", "two"]);
}

#[test]
fn squash_merge_where_main_changed_nearby_has_every_session() {
    let project = Project::new();
    topic(&project, &["one", "two"]);
    project.git(["push", "--quiet", "origin", "topic"]);
    let forge = project.forge();
    let file = forge.place.join("file");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("line 13\n", "near line 10\n")).unwrap();
    forge.git(&["commit", "--quiet", "--all", "-m", "meanwhile"]);
    forge.git(&["merge", "--quiet", "--squash", "origin/topic"]);
    forge.git(&["commit", "--quiet", "-m", "topic (#7)\n\nProof-Grade: true"]);
    forge.git(&["push", "--quiet", "origin", "HEAD:main"]);
    fresh(&project).verify("HEAD").is("squashed", &["one", "two"]);
}

#[test]
fn rebase_merge_is_moved() {
    let project = Project::new();
    topic(&project, &["one", "two"]);
    project.git(["push", "--quiet", "origin", "topic"]);
    merged(&project, "topic", &[&["rebase", "--quiet", "--no-ff", "main", "origin/topic"]]);
    let clone = fresh(&project);
    clone.verify("HEAD~1").is("moved", &["one"]);
    clone.verify("HEAD").is("moved", &["two"]);
}

#[test]
fn rebase_merge_of_a_branch_pushed_without_hooks_is_moved_after_sync() {
    let project = Project::new();
    topic(&project, &["one", "two"]);
    project.git(["push", "--quiet", "--no-verify", "origin", "topic"]);
    merged(&project, "topic", &[&["rebase", "--quiet", "--no-ff", "main", "origin/topic"]]);
    project.proof(&["sync"]);
    let clone = fresh(&project);
    clone.verify("HEAD~1").is("moved", &["one"]);
    clone.verify("HEAD").is("moved", &["two"]);
}

#[test]
fn merge_queue_that_merges_keeps_what_was_pushed() {
    let project = Project::new();
    topic(&project, &["one", "two"]);
    project.git(["push", "--quiet", "origin", "topic"]);
    merged(&project, "topic", &[&["merge", "--quiet", "--no-ff", "-m", "Merge pull request #7", "origin/topic"]]);
    let clone = fresh(&project);
    clone.verify("HEAD").is_nobodys();
    clone.verify("HEAD^2").is("exact", &["two"]);
    clone.verify("HEAD^2~1").is("exact", &["one"]);
}

#[test]
fn merge_queue_that_makes_its_commits_twice_is_squashed_the_second_time_too() {
    let project = Project::new();
    topic(&project, &["one", "two"]);
    project.git(["push", "--quiet", "origin", "topic"]);
    let again: Vec<&[&str]> =
        [SQUASH.to_vec(), vec![&["reset", "--quiet", "--hard", "HEAD~1"]], SQUASH.to_vec()].concat();
    merged(&project, "topic", &again);
    fresh(&project).verify("HEAD").is("squashed", &["one", "two"]);
}
