//! The gate of a base, and pull requests from a fork.

use super::stage::{Stage, answer, codes};

#[test]
fn pull_request_of_a_fork_passes_with_the_proofs_of_the_fork() {
    let stage = Stage::proven(&["one", "two"]);
    let runner = stage.runner();
    let before = runner.everything();
    let ran = runner.gate(&[&stage.fork()]);
    assert_eq!(ran.exit, Some(0), "{}{}", ran.out, ran.err);
    let outcome = answer(&ran);
    assert_eq!(outcome["summary"]["pass"], 2);
    assert_eq!(outcome["proofs_digest"].as_str().unwrap().len(), 64);
    // Nothing of the fork is left: neither a ref nor an object.
    assert_eq!(runner.everything(), before);
    assert_eq!(runner.left(), 0);
    assert_eq!(answer(&runner.gate(&[&stage.fork()]))["proofs_digest"], outcome["proofs_digest"]);
}

#[test]
fn pull_request_of_a_fork_is_refused_without_proofs() {
    let stage = Stage::proven(&["one"]);
    let runner = stage.runner();
    let ran = runner.gate(&[]);
    assert_eq!(ran.exit, Some(1), "{}", ran.err);
    assert_eq!(answer(&ran)["summary"]["missing"], 1);
    // Nor with those of a repository that has none.
    let ran = runner.gate(&[&stage.server.url("base.git")]);
    assert_eq!(ran.exit, Some(1), "{}", ran.err);
}

#[test]
fn fork_can_be_a_path_or_a_remote() {
    let stage = Stage::proven(&["one"]);
    let runner = stage.runner();
    assert_eq!(runner.gate(&["../remote.git"]).exit, Some(0));
    runner.git(&["remote", "add", "fork", &stage.fork()]);
    assert_eq!(runner.gate(&["fork"]).exit, Some(0));
}

#[test]
fn proofs_of_several_repositories_are_judged_together() {
    let stage = Stage::proven(&["one"]);
    // The second commit's proofs are in another fork alone.
    stage.work.git(["clone", "--quiet", "--bare", "../remote.git", "../other.git"]);
    stage.work.prove("two", 20);
    stage.work.git(["push", "--quiet", "--no-verify", "origin", "topic"]);
    stage.work.proof(&["sync", "../other.git"]);
    stage.work.git(["-C", "../base.git", "fetch", "--quiet", "../remote.git", "+topic:refs/pull/7/head"]);
    let runner = stage.runner();
    assert_eq!(runner.gate(&[&stage.fork()]).exit, Some(1));
    let ran = runner.gate(&[&stage.fork(), &stage.server.url("other.git")]);
    assert_eq!(ran.exit, Some(0), "{}{}", ran.out, ran.err);
}

#[test]
fn rounds_of_a_fork_are_never_read() {
    let stage = Stage::proven(&["one"]);
    stage.work.proof(&["seal"]);
    stage.work.proof(&["sync"]);
    let runner = stage.runner();
    let outcome = answer(&runner.gate(&[&stage.fork()]));
    assert_eq!(outcome["commits"][0]["sessions"][0]["round"], serde_json::Value::Null);
}

#[test]
fn note_of_another_commit_in_a_fork_is_refused() {
    let stage = Stage::proven(&["one"]);
    stage.work.edit(30, "not what was proven");
    let forged = stage.work.commit("forged");
    let anchor = stage.work.note("HEAD~1").join("\n");
    stage.work.git(["notes", "--ref=proof", "add", "-m", &anchor, &forged]);
    stage.work.git(["push", "--quiet", "--no-verify", "origin", "topic", "refs/notes/proof"]);
    stage.work.git(["-C", "../base.git", "fetch", "--quiet", "../remote.git", "+topic:refs/pull/7/head"]);
    let ran = stage.runner().gate(&[&stage.fork()]);
    assert_eq!(ran.exit, Some(1), "{}", ran.err);
    let outcome = answer(&ran);
    assert_eq!(outcome["summary"]["fail"], 1);
    assert!(codes(&outcome).contains(&"BINDING_MISMATCH".to_owned()), "{outcome:#}");
}

#[test]
fn evidence_that_was_changed_in_a_fork_is_refused() {
    let stage = Stage::proven(&["one"]);
    let root = stage.work.proof(&["root", "--session", "one"])["root"].as_str().unwrap().to_owned();
    let path = format!("{}/{root}.jsonl", &root[..2]);
    let text = stage.work.git(["cat-file", "blob", &format!("refs/proof/evidence:{path}")]);
    stage.work.write("forged", &(text.replace("It works", "All is lost") + "\n"));
    let script = format!(
        "GIT_INDEX_FILE=index git update-index --add --cacheinfo 100644,$(git hash-object -w forged),{path} && \
         git update-ref refs/proof/evidence $(git commit-tree -m x $(GIT_INDEX_FILE=index git write-tree)) && \
         git push --quiet --force origin refs/proof/evidence"
    );
    let ran = stage.work.command("sh").args(["-c", &script]).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let ran = stage.runner().gate(&[&stage.fork()]);
    assert_eq!(ran.exit, Some(1), "{}{}", ran.out, ran.err);
    assert_eq!(answer(&ran)["summary"]["fail"], 1);
}

#[test]
fn what_a_killed_gate_left_behind_is_removed_by_the_next() {
    let stage = Stage::proven(&["one"]);
    let runner = stage.runner();
    let left = runner.path.join(".git/proof/offered/left/objects/pack");
    std::fs::create_dir_all(&left).unwrap();
    std::fs::write(left.join("tmp_pack_x"), "half a pack").unwrap();
    assert_eq!(runner.gate(&[&stage.fork()]).exit, Some(0));
    assert_eq!(runner.left(), 0);
}
