//! What a forge does with the pull request of a fork, and `accept` after it: a fresh clone of the base verifies.

use super::stage::{Place, Stage, answer};
use crate::rewrite::judged::judged;

/// The forge merges the pull request while main goes on, as its button says.
fn land(stage: &Stage, commands: &[&[&str]]) {
    let forge = stage.clone_of_base("forge");
    forge.git(&["fetch", "--quiet", "origin", "refs/pull/7/head:pull"]);
    let file = forge.path.join("file");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("line 38", "meanwhile on main")).unwrap();
    forge.git(&["commit", "--quiet", "--all", "-m", "meanwhile"]);
    for command in commands {
        forge.git(command);
    }
    forge.git(&["push", "--quiet", "origin", "main"]);
}

const SQUASH: [&[&str]; 2] = [&["merge", "--quiet", "--squash", "pull"], &["commit", "--quiet", "-m", "topic (#7)"]];

/// The maintainer accepts what the fork offers and shares it.
fn accept<'a>(stage: &'a Stage, range: &str) -> (Place<'a>, serde_json::Value) {
    let maintainer = stage.clone_of_base("maintainer");
    let ran = maintainer.try_proof(&["--json", "accept", &stage.fork(), range]);
    assert_eq!(ran.exit, Some(0), "{}{}", ran.out, ran.err);
    maintainer.proof(&["sync"]);
    (maintainer, answer(&ran))
}

/// A fresh clone of the base alone.
fn fresh(stage: &Stage) -> Place<'_> {
    let fresh = stage.clone_of_base("fresh");
    fresh.proof(&["sync", "--fetch-only"]);
    fresh
}

fn verify(place: &Place<'_>, revision: &str) -> crate::rewrite::judged::Judged {
    judged(&place.try_proof(&["--json", "verify", revision]))
}

#[test]
fn squash_of_a_fork_is_proven_after_accept() {
    let stage = Stage::proven(&["one", "two"]);
    let digest = answer(&stage.runner().gate(&[&stage.fork()]))["proofs_digest"].clone();
    land(&stage, &SQUASH);
    let (_, outcome) = accept(&stage, "origin/main");
    assert_eq!(outcome["proofs_digest"], digest, "the digest is that of what the gate judged");
    verify(&fresh(&stage), "HEAD").is("squashed", &["one", "two"]);
}

#[test]
fn squash_of_one_commit_of_a_fork_is_proven_after_accept() {
    let stage = Stage::proven(&["one"]);
    let digest = answer(&stage.runner().gate(&[&stage.fork()]))["proofs_digest"].clone();
    land(&stage, &SQUASH);
    let (_, outcome) = accept(&stage, "origin/main");
    assert_eq!(outcome["proofs_digest"], digest);
    verify(&fresh(&stage), "HEAD").is("moved", &["one"]);
}

#[test]
fn rebase_of_a_fork_is_proven_after_accept() {
    let stage = Stage::proven(&["one", "two"]);
    let digest = answer(&stage.runner().gate(&[&stage.fork()]))["proofs_digest"].clone();
    land(&stage, &[&["cherry-pick", "origin/main..pull"]]);
    let (_, outcome) = accept(&stage, "origin/main~2..origin/main");
    assert_eq!(outcome["proofs_digest"], digest);
    assert_eq!(outcome["accepted"].as_array().unwrap().len(), 2);
    let fresh = fresh(&stage);
    verify(&fresh, "HEAD").is("moved", &["two"]);
    verify(&fresh, "HEAD~1").is("moved", &["one"]);
}

#[test]
fn merge_of_a_fork_is_proven_after_accept() {
    let stage = Stage::proven(&["one", "two"]);
    let digest = answer(&stage.runner().gate(&[&stage.fork()]))["proofs_digest"].clone();
    land(&stage, &[&["merge", "--quiet", "--no-ff", "-m", "Merge #7", "pull"]]);
    let (maintainer, outcome) = accept(&stage, "origin/main^1..origin/main");
    assert_eq!(outcome["proofs_digest"], digest);
    let fresh = fresh(&stage);
    verify(&fresh, "HEAD^2").is("exact", &["two"]);
    verify(&fresh, "HEAD^2~1").is("exact", &["one"]);
    // A second time there is nothing left to do.
    let again = maintainer.proof(&["accept", &stage.fork(), "origin/main^1..origin/main"]);
    assert_eq!((again["accepted"].as_array().unwrap().len(), &again["proven_before"]), (0, &2.into()));
}

#[test]
fn nothing_is_taken_over_but_what_landed() {
    let stage = Stage::proven(&["one"]);
    // The fork offers the proofs of another branch, and words and rounds of its own.
    stage.work.git(["switch", "--quiet", "-c", "elsewhere", "main"]);
    let elsewhere = stage.work.prove("elsewhere", 30);
    stage.work.git(["push", "--quiet", "origin", "elsewhere"]);
    stage.work.proof(&["seal"]);
    stage.work.proof(&["sync"]);
    land(&stage, &SQUASH);
    let (maintainer, outcome) = accept(&stage, "origin/main");
    assert_eq!(outcome["taken"]["anchors"], 1, "{outcome:#}");
    assert_eq!(outcome["taken"]["evidence"], 1, "{outcome:#}");
    let all = maintainer.everything();
    assert!(!all.contains(&elsewhere) && !all.contains("refs/proof/rounds"), "{all}");
    let evidence = maintainer.git(&["ls-tree", "-r", "--name-only", "refs/proof/evidence"]);
    assert_eq!(evidence.lines().count(), 1, "{evidence}");
    assert_eq!(maintainer.left(), 0);
}

#[test]
fn commit_that_has_not_landed_is_not_accepted() {
    let stage = Stage::proven(&["one"]);
    let runner = stage.runner();
    let ran = runner.try_proof(&["accept", &stage.fork(), "FETCH_HEAD"]);
    assert_eq!(ran.exit, Some(2), "{}", ran.err);
    assert!(ran.err.contains("has not landed"), "{}", ran.err);
    assert!(!runner.git(&["for-each-ref"]).contains("refs/notes/proof"));
}

#[test]
fn another_digest_than_that_of_the_gate_is_refused() {
    let stage = Stage::proven(&["one"]);
    let digest = answer(&stage.runner().gate(&[&stage.fork()]))["proofs_digest"].as_str().unwrap().to_owned();
    land(&stage, &SQUASH);
    let maintainer = stage.clone_of_base("maintainer");
    let with = |digest: &str| maintainer.try_proof(&["accept", &stage.fork(), "origin/main", "--digest", digest]);
    let ran = with(&"ab".repeat(32));
    assert_eq!(ran.exit, Some(1), "{}", ran.err);
    assert!(ran.err.contains("is not what was judged"), "{}", ran.err);
    assert!(!maintainer.git(&["for-each-ref"]).contains("refs/notes/proof"));
    assert_eq!(with("ab").exit, Some(2));
    assert_eq!(with(&digest).exit, Some(0));
}

#[test]
fn range_with_a_commit_that_nobody_proved_ends_with_1() {
    let stage = Stage::proven(&["one"]);
    land(&stage, &SQUASH);
    let maintainer = stage.clone_of_base("maintainer");
    let ran = maintainer.try_proof(&["accept", &stage.fork(), "origin/main~2..origin/main"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.err);
    assert!(ran.out.contains("missing  meanwhile"), "{}", ran.out);
    // What holds was taken over all the same, and without a range nobody asked about the others.
    assert_eq!(maintainer.proof(&["verify", "origin/main"])["verdict"], "pass");
    assert_eq!(maintainer.try_proof(&["accept", &stage.fork()]).exit, Some(0));
}
