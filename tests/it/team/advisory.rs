//! A team tries it first: everything is judged and shown, and nothing is refused.

use super::stage::{ALL, Stage, answer};
use crate::rewrite::project::Project;

const ADVISORY: &str = "[proof_grade]\nrequire = \"all\"\n\n[gate] # how strict\nmode = \"advisory\" # for now\n";

#[test]
fn advisory_gate_shows_everything_and_ends_with_0() {
    let stage = Stage::new(ADVISORY);
    stage.work.edit(10, "unproven");
    stage.work.commit("unproven");
    stage.open();
    let runner = stage.runner();
    let ran = runner.gate(&[]);
    assert_eq!(ran.exit, Some(0), "{}", ran.err);
    let outcome = answer(&ran);
    assert_eq!((&outcome["verdict"], &outcome["enforced"]), (&"missing".into(), &false.into()));
    assert!(ran.err.contains("the policy is advisory: nothing is refused"), "{}", ran.err);
    // Also where a fork could not be read.
    let gone = runner.gate(&["../gone.git"]);
    assert_eq!(gone.exit, Some(0));
    assert!(gone.out.contains("check the address") && !gone.out.contains("git remote"), "{}", gone.out);
    // What was asked is answered as ever.
    assert_eq!(runner.try_proof(&["verify", "FETCH_HEAD"]).exit, Some(1));
}

#[test]
fn advisory_option_counts_more_than_the_policy() {
    let stage = Stage::new(ALL);
    stage.work.edit(10, "unproven");
    stage.work.commit("unproven");
    stage.work.git(["push", "--quiet", "--no-verify", "origin", "topic"]);
    stage.work.git(["-C", "../base.git", "fetch", "--quiet", "../remote.git", "+topic:refs/pull/7/head"]);
    let runner = stage.runner();
    let head = stage.work.git(["rev-parse", "topic"]);
    let judge = |more: &[&str]| {
        runner.try_proof(&[&["--json", "gate", "--base", "origin/main", "--head", &head], more].concat())
    };
    assert_eq!(judge(&[]).exit, Some(1));
    let ran = judge(&["--advisory"]);
    assert_eq!((ran.exit, &answer(&ran)["enforced"]), (Some(0), &false.into()));
    assert!(ran.err.contains("--advisory was given: nothing is refused"), "{}", ran.err);
}

#[test]
fn advisory_policy_stops_no_push_not_even_one_that_cannot_be_judged() {
    let stage = Stage::new(ADVISORY);
    let work = &stage.work;
    work.edit(10, "unproven");
    work.commit("unproven");
    let ran = work.try_git(["push", "--quiet", "origin", "topic"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.err);
    assert!(ran.err.contains("ANCHOR_MISSING"), "{}", ran.err);
    assert!(ran.err.contains("the push goes on, because the policy is advisory on origin"), "{}", ran.err);
    // A store that cannot be read keeps the hook from judging.
    work.edit(11, "unproven");
    work.commit("again");
    std::fs::write(work.place.join(".git/proof/store.db"), "not a database, and long enough to be looked at as one")
        .unwrap();
    let ran = work.try_git(["push", "--quiet", "origin", "topic"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.err);
}

#[test]
fn enforcing_shows_what_it_would_have_refused_and_changes_the_mode_alone() {
    let project = Project::new();
    std::fs::create_dir(project.place.join(".proof")).unwrap();
    project.write(".proof/policy.toml", ADVISORY);
    project.commit("policy");
    project.prove("one", 10);
    let ran = project.try_proof(&["policy", "enforce", "--dry-run"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.err);
    assert!(ran.out.starts_with("Of the newest 3 commits it would have refused 2:\n"), "{}", ran.out);
    assert!(ran.out.contains("missing  policy\n") && ran.out.ends_with("Nothing was changed.\n"), "{}", ran.out);
    assert_eq!(project.read(".proof/policy.toml"), ADVISORY);
    let outcome = project.proof(&["policy", "enforce"]);
    assert_eq!((&outcome["changed"], outcome["refused"].as_array().unwrap().len()), (&true.into(), 2));
    let expected = ADVISORY.replace("\"advisory\" # for now", "\"enforce\" # for now");
    assert_eq!(project.read(".proof/policy.toml"), expected);
    assert_eq!(project.proof(&["policy", "enforce"])["changed"], false);
}

#[test]
fn offered_policy_only_advises_until_it_is_enforced() {
    let project = Project::new();
    project.proof(&["init", "--policy"]);
    assert!(project.read(".proof/policy.toml").contains("\nmode = \"advisory\" "));
    project.proof(&["policy", "enforce"]);
    assert!(project.read(".proof/policy.toml").contains("\nmode = \"enforce\" "));
    assert_eq!(project.try_proof(&["policy", "check"]).exit, Some(0));
}

#[test]
fn mode_that_is_not_on_a_line_of_its_own_is_left_to_a_person() {
    let project = Project::new();
    std::fs::create_dir(project.place.join(".proof")).unwrap();
    project.write(".proof/policy.toml", "gate = { mode = \"advisory\" }\n");
    let ran = project.try_proof(&["policy", "enforce"]);
    assert_eq!(ran.exit, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("by hand"), "{}", ran.err);
    assert_eq!(project.read(".proof/policy.toml"), "gate = { mode = \"advisory\" }\n");
}
