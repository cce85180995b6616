//! A remote for proofs alone: the public repository has no object of them.

use std::collections::BTreeSet;

use super::stage::ALL;
use crate::rewrite::project::Project;

/// A project whose proofs go to another repository.
fn project() -> Project {
    let project = Project::new();
    project.git(["init", "--quiet", "--bare", "../private.git"]);
    project.git(["config", "proof.remote", "../private.git"]);
    project
}

/// The objects of a bare repository that no branch leads to.
fn strays(project: &Project, name: &str) -> BTreeSet<String> {
    let list = |arguments: &[&str]| -> BTreeSet<String> {
        let text = project.git([&["-C", name], arguments].concat());
        text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    let all = list(&["cat-file", "--batch-all-objects", "--batch-check"]);
    let reached = list(&["rev-list", "--objects", "--branches"]);
    all.difference(&reached).cloned().collect()
}

fn refs(project: &Project, name: &str) -> String {
    project.git(["-C", name, "for-each-ref", "--format=%(refname)"])
}

#[test]
fn no_object_of_a_proof_reaches_the_public_repository() {
    let project = project();
    project.git(["switch", "--quiet", "-c", "topic"]);
    project.prove("one", 10);
    project.prove("two", 20);
    project.git(["push", "--quiet", "origin", "topic"]);
    project.proof(&["sync"]);
    assert_eq!(refs(&project, "../remote.git"), "refs/heads/main\nrefs/heads/topic");
    assert_eq!(strays(&project, "../remote.git"), BTreeSet::new());
    assert_eq!(refs(&project, "../private.git"), "refs/notes/proof\nrefs/proof/changes\nrefs/proof/evidence");
    assert_eq!(project.proof(&["status"])["unpublished"].as_array().unwrap().len(), 0);
}

#[test]
fn gate_with_both_passes_and_without_the_private_one_it_does_not() {
    let project = project();
    std::fs::create_dir(project.place.join(".proof")).unwrap();
    project.write(".proof/policy.toml", ALL);
    project.commit("policy");
    project.git(["push", "--quiet", "origin", "main"]);
    project.git(["switch", "--quiet", "-c", "topic"]);
    project.prove("one", 10);
    project.git(["push", "--quiet", "origin", "topic"]);
    project.git(["clone", "--quiet", "../remote.git", "../runner"]);
    let runner = project.around().join("runner");
    let run =
        |arguments: &[&str]| project.command_in(&runner, "git-proof").args(arguments).output().unwrap().status.code();
    assert_eq!(run(&["sync", "--fetch-only"]), Some(0));
    let gate = ["gate", "--base", "origin/main", "--head", "origin/topic"];
    assert_eq!(run(&gate), Some(1));
    assert_eq!(run(&[&gate[..], &["--proofs", "../private.git"]].concat()), Some(0));
}

#[test]
fn squash_on_the_public_server_is_proven_by_the_private_remote() {
    let project = project();
    project.squash_two_on_the_server();
    let clone = project.clone_of("main");
    clone.git(&["config", "proof.remote", "../private.git"]);
    clone.proof(&["sync", "--fetch-only"]);
    clone.verify("HEAD").is("squashed", &["one", "two"]);
}

#[test]
fn proofs_move_in_and_out_with_one_command_each() {
    let project = Project::new();
    project.git(["init", "--quiet", "--bare", "../private.git"]);
    project.prove("one", 10);
    project.git(["push", "--quiet", "origin", "main"]);
    let proofs = "refs/notes/proof\nrefs/proof/changes\nrefs/proof/evidence";
    assert_eq!(refs(&project, "../remote.git"), format!("refs/heads/main\n{proofs}"));
    let outcome = project.proof(&["sync", "--move-to", "../private.git"]);
    assert_eq!(outcome["deleted"].as_array().unwrap().len(), 3, "{outcome:#}");
    assert_eq!(project.git(["config", "proof.remote"]), "../private.git");
    assert_eq!(refs(&project, "../remote.git"), "refs/heads/main");
    assert_eq!(refs(&project, "../private.git"), proofs);
    project.prove("two", 20);
    project.git(["push", "--quiet", "origin", "main"]);
    assert_eq!(refs(&project, "../remote.git"), "refs/heads/main");
    let ran = project.try_proof(&["sync", "--move-to", "../private.git"]);
    assert_eq!(ran.exit, Some(2), "{}", ran.err);
    project.proof(&["sync", "--move-to", "origin"]);
    assert_eq!(project.try_git(["config", "proof.remote"]).exit, Some(1));
    assert_eq!(refs(&project, "../private.git"), "");
    assert_eq!(refs(&project, "../remote.git"), format!("refs/heads/main\n{proofs}"));
    let clone = project.clone_of("main");
    clone.sync();
    clone.verify("HEAD").is("exact", &["two"]);
    clone.verify("HEAD~1").is("exact", &["one"]);
}
