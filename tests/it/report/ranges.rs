//! Every shape of history that a gate is asked about.

use std::process::Command;

use super::Project;
use crate::store::scratch::Ran;

fn codes(codes: &[&str]) -> Vec<String> {
    codes.iter().map(|code| (*code).to_owned()).collect()
}

fn on_topic() -> Project {
    let project = Project::new();
    project.git(&["checkout", "--quiet", "-b", "topic"]);
    project
}

#[test]
fn an_empty_range_passes_and_says_so() {
    let project = on_topic();
    let ran = project.gate("main", &[]);
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert!(ran.out.ends_with("Nothing to judge: no commits.\n"), "{ran:?}");
    // Also where the base is ahead.
    project.git(&["checkout", "--quiet", "main"]);
    project.unproven("x");
    project.git(&["checkout", "--quiet", "topic"]);
    assert_eq!(project.verdict("main"), (0, vec![]));
}

#[test]
fn a_bad_commit_below_a_good_tip_fails() {
    let project = on_topic();
    project.proven("s1", "a");
    assert_eq!(project.verdict("main"), (0, vec![]));
    project.unproven("b");
    project.proven("s2", "c");
    assert_eq!(project.verdict("main"), (1, codes(&["ANCHOR_MISSING"])));
    assert_eq!(project.verdict("HEAD~1"), (0, vec![]));
}

#[test]
fn a_merge_that_git_would_have_made_is_exempt_and_what_it_merges_is_not() {
    let project = on_topic();
    project.proven("s1", "a");
    project.git(&["checkout", "--quiet", "-b", "side", "main"]);
    project.commit("b", "b\n", "by hand");
    project.git(&["checkout", "--quiet", "topic"]);
    project.git(&["merge", "--quiet", "--no-ff", "-m", "merge\n\nAssisted-by: x", "side"]);
    assert_eq!(project.verdict("main"), (0, vec![]));
    project.git(&["checkout", "--quiet", "side"]);
    project.unproven("c");
    project.git(&["checkout", "--quiet", "topic"]);
    project.git(&["merge", "--quiet", "--no-ff", "-m", "merge again", "side"]);
    assert_eq!(project.verdict("main"), (1, codes(&["ANCHOR_MISSING"])));
}

#[test]
fn a_merge_with_content_of_its_own_is_judged() {
    let project = on_topic();
    project.commit("a", "a\n", "by hand");
    project.git(&["checkout", "--quiet", "-b", "side", "main"]);
    project.commit("b", "b\n", "by hand");
    project.git(&["merge", "--quiet", "--no-ff", "--no-commit", "topic"]);
    project.write("slipped-in", "x\n");
    project.git(&["commit", "--quiet", "-m", "merge\n\nAssisted-by: x"]);
    assert_eq!(project.verdict("main"), (1, codes(&["ANCHOR_MISSING"])));
}

#[test]
fn merging_the_base_does_not_judge_the_base_again() {
    let project = on_topic();
    project.proven("s1", "a");
    project.git(&["checkout", "--quiet", "main"]);
    project.unproven("old");
    project.git(&["checkout", "--quiet", "topic"]);
    project.git(&["merge", "--quiet", "--no-ff", "-m", "update", "main"]);
    assert_eq!(project.verdict("main"), (0, vec![]));
}

#[test]
fn every_side_of_an_octopus_is_judged() {
    let project = on_topic();
    for side in ["one", "two", "three"] {
        project.git(&["checkout", "--quiet", "-b", side, "main"]);
        project.commit(side, side, "by hand");
    }
    project.git(&["checkout", "--quiet", "topic"]);
    project.git(&["merge", "--quiet", "--no-ff", "-m", "octopus", "one", "two", "three"]);
    assert_eq!(project.git(&["rev-list", "--parents", "-1", "HEAD"]).split(' ').count(), 5);
    assert_eq!(project.verdict("main"), (0, vec![]));
    project.git(&["checkout", "--quiet", "three"]);
    project.unproven("bad");
    project.git(&["checkout", "--quiet", "-B", "topic", "main"]);
    project.git(&["merge", "--quiet", "--no-ff", "-m", "octopus", "one", "two", "three"]);
    assert_eq!(project.verdict("main"), (1, codes(&["ANCHOR_MISSING"])));
}

#[test]
fn a_forced_push_is_judged_by_what_it_brings() {
    let project = on_topic();
    project.unproven("gone");
    let old = project.head();
    project.git(&["reset", "--quiet", "--hard", "main"]);
    project.proven("s1", "a");
    // The old tip is no ancestor: what only it had is not part of the new one.
    assert_eq!(project.verdict(&old), (0, vec![]));
    project.unproven("b");
    assert_eq!(project.verdict(&old), (1, codes(&["ANCHOR_MISSING"])));
}

#[test]
fn an_unrelated_history_is_judged_from_its_first_commit_on() {
    let project = on_topic();
    project.git(&["checkout", "--quiet", "--orphan", "other"]);
    project.commit("x", "x\n", "root by hand");
    assert_eq!(project.verdict("main"), (0, vec![]));
    project.git(&["checkout", "--quiet", "--orphan", "another"]);
    project.unproven("y");
    assert_eq!(project.verdict("main"), (1, codes(&["ANCHOR_MISSING"])));
    project.git(&["checkout", "--quiet", "--orphan", "third"]);
    project.proven("s1", "z");
    assert_eq!(project.verdict("main"), (0, vec![]));
}

#[test]
fn a_base_of_zeros_is_an_empty_one() {
    let project = Project::new();
    let zeros = "0".repeat(40);
    assert_eq!(project.verdict(&zeros), (0, vec![]));
    project.unproven("x");
    assert_eq!(project.verdict(&zeros), (1, codes(&["ANCHOR_MISSING"])));
    let ran = project.gate(&zeros, &["--json", "--require-policy"]);
    ran.error("POLICY_UNREADABLE", 3);
}

#[test]
fn a_shallow_clone_never_passes_for_what_it_cannot_see() {
    let project = on_topic();
    project.unproven("bad");
    project.proven("s1", "good");
    project.git(&["tag", "tip"]);
    let clone = project.scratch.around().join("clone");
    let url = format!("file://{}", project.scratch.place.display());
    project.git(&["clone", "--quiet", "--no-checkout", "--depth=1", "--branch=topic", &url, clone.to_str().unwrap()]);
    let git = |arguments: &[&str]| {
        let status: Command = project.command(&[&["-C", clone.to_str().unwrap()], arguments].concat());
        let ran: Ran = { status }.output().unwrap().into();
        assert_eq!(ran.exit, Some(0), "{}", ran.err);
    };
    git(&["fetch", "--quiet", "--depth=1", "origin", "refs/heads/main:refs/remotes/origin/main"]);
    git(&["fetch", "--quiet", "origin", "refs/notes/proof:refs/notes/proof", "refs/proof/*:refs/proof/*"]);
    let gate = || -> Ran {
        let mut command = project.scratch.proof(["-C", clone.to_str().unwrap(), "gate", "--json"]);
        command.args(["--base", "origin/main", "--head", "HEAD"]).output().unwrap().into()
    };
    let ran = gate();
    assert_eq!(ran.exit, Some(3), "{}", ran.out);
    // The bad commit itself comes in by another way, and git still does not list it.
    project.git(&["branch", "lure", "HEAD~1"]);
    git(&["fetch", "--quiet", "origin", "refs/heads/lure:refs/remotes/origin/lure"]);
    let ran = gate();
    assert_eq!(ran.exit, Some(3), "{}", ran.out);
    assert!(ran.out.contains("OBJECT_MISSING"), "{}", ran.out);
    git(&["fetch", "--quiet", "--unshallow", "origin"]);
    project.scratch.json(&["-C", clone.to_str().unwrap(), "sync", "--fetch-only"]);
    assert_eq!(gate().exit, Some(1));
}
