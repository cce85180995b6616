//! What was not fetched could not be checked, and what a remote does not have is missing: the two are told apart.

use serde_json::Value;

use crate::anchoring::clones::{Clone, two_clones};
use crate::rewrite::project::Project;
use crate::store::scratch::{Scratch, text};

/// The exit code and the verdict of every command that judges HEAD, which must be the same, and its codes.
#[track_caller]
fn judged(clone: &Clone<'_>, revision: &str) -> (i32, String, Vec<String>) {
    let base = clone.tip(&format!("{revision}~1")).unwrap();
    let mut answers = Vec::new();
    for arguments in [
        &["verify", revision, "--rules", &base][..],
        &["show", revision, "--rules", &base],
        &["report", revision, "--rules", &base],
        &["log", &format!("{base}..{revision}"), "--rules", &base],
        &["gate", "--base", &base, "--head", revision],
    ] {
        let ran = clone.run(&[&["--json"], arguments].concat());
        let said: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        let commit = if arguments[0] == "show" { &said } else { &said["commits"][0] };
        let codes = commit["findings"].as_array().unwrap().iter().map(|finding| text(finding, "code").to_owned());
        answers.push((ran.exit.unwrap(), text(commit, "verdict").to_owned(), codes.collect::<Vec<_>>()));
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    answers.swap_remove(0)
}

fn commit(clone: &Clone<'_>, message: &str) -> String {
    clone.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    clone.tip("HEAD").unwrap()
}

fn said(exit: i32, verdict: &str, codes: &[&str]) -> (i32, String, Vec<String>) {
    (exit, verdict.to_owned(), codes.iter().map(|code| (*code).to_owned()).collect())
}

#[test]
fn clone_that_never_synced_could_not_check_what_needs_a_proof() {
    let scratch = Scratch::new();
    let (remote, one, _) = two_clones(&scratch);
    let needs = commit(&one, "Marked\n\nProof-Grade: true");
    let free = commit(&one, "By hand");
    assert_eq!(judged(&one, &needs), said(3, "unchecked", &["REF_NOT_FETCHED"]));
    assert_eq!(judged(&one, &free), said(0, "exempt", &[]));
    // Its own notes are not those that others may have pushed.
    one.explain("own");
    assert_eq!(judged(&one, &needs), said(3, "unchecked", &["REF_NOT_FETCHED"]));
    assert_eq!(judged(&one, "HEAD").1, "pass");
    let before = remote.git(&["for-each-ref"]);
    let fetched = one.json(&["sync", "--fetch-only"]);
    assert_eq!((&fetched["pushed"], &fetched["fetched"]), (&serde_json::json!([]), &serde_json::json!([])));
    assert_eq!(remote.git(&["for-each-ref"]), before, "nothing is pushed");
    assert_eq!(judged(&one, &needs), said(1, "missing", &["ANCHOR_MISSING"]));
    assert_eq!(judged(&one, &free), said(0, "exempt", &[]));
}

#[test]
fn remote_without_proofs_is_remembered_until_its_address_changes() {
    let scratch = Scratch::new();
    let (_, one, two) = two_clones(&scratch);
    let needs = commit(&one, "Marked\n\nProof-Session: elsewhere");
    for (clone, sync) in [(&one, &["sync"][..]), (&two, &["sync", "--fetch-only"])] {
        clone.git(&["fetch", "--quiet", one.path.to_str().unwrap(), "HEAD:refs/heads/judged"]);
        assert_eq!(judged(clone, &needs), said(3, "unchecked", &["REF_NOT_FETCHED"]));
        clone.json(sync);
        assert_eq!(judged(clone, &needs), said(1, "missing", &["ANCHOR_MISSING"]));
    }
    one.git(&["remote", "set-url", "origin", "../elsewhere.git"]);
    assert_eq!(judged(&one, &needs), said(3, "unchecked", &["REF_NOT_FETCHED"]));
    one.git(&["remote", "remove", "origin"]);
    assert_eq!(judged(&one, &needs), said(1, "missing", &["ANCHOR_MISSING"]));
}

#[test]
fn notes_of_others_are_found_by_a_sync_that_only_fetches() {
    let scratch = Scratch::new();
    let (_, one, two) = two_clones(&scratch);
    let proven = one.explain("s");
    one.json(&["sync"]);
    two.git(&["fetch", "--quiet", one.path.to_str().unwrap(), "HEAD:refs/heads/judged"]);
    two.json(&["sync", "--fetch-only"]);
    assert_eq!(judged(&two, &proven), said(0, "pass", &[]));
    // A note that somebody took away is missing.
    two.git(&["notes", "--ref=proof", "remove", &proven]);
    let marked = commit(&two, "Marked\n\nProof-Session: s");
    assert_eq!(judged(&two, &marked), said(1, "missing", &["ANCHOR_MISSING"]));
}

#[test]
fn root_that_the_message_names_could_not_be_checked_without_its_evidence() {
    let project = Project::new();
    project.start("s");
    project.edit(10, "changed");
    project.git(["add", "--all"]);
    project.close();
    project.commit("Closed before");
    project.proof(&["sync"]);
    assert!(project.git(["log", "-1", "--format=%B"]).contains("Proof-Root: s:"));
    let note = |project: &Project| {
        let ran = project.command("git-proof").args(["--json", "verify", "HEAD"]).output().unwrap();
        let said: Value = serde_json::from_slice(&ran.stdout).unwrap();
        let codes = said["commits"][0]["findings"].as_array().unwrap().iter().map(|found| text(found, "code"));
        (ran.status.code().unwrap(), text(&said, "verdict").to_owned(), codes.map(str::to_owned).collect::<Vec<_>>())
    };
    assert_eq!(note(&project).1, "pass");
    project.git(["update-ref", "-d", "refs/proof/evidence"]);
    assert_eq!(note(&project), said(3, "unchecked", &["REF_NOT_FETCHED"]));
    // Neither by its own note nor by that of another commit.
    let before = project.head();
    project.git([
        "-c",
        "core.hooksPath=/dev/null",
        "commit",
        "--quiet",
        "--amend",
        "--date=@1700000000 +0000",
        "-C",
        "HEAD",
    ]);
    assert_ne!(project.head(), before);
    assert_eq!(note(&project).1, "unchecked");
}

#[test]
fn push_while_the_session_is_open_names_it_and_how_to_close_it() {
    let project = Project::new();
    project.write("policy", "x");
    std::fs::create_dir(project.place.join(".proof")).unwrap();
    project.write(".proof/policy.toml", "[proof]\nrooted = true\n");
    project.commit("policy");
    project.git(["push", "--quiet", "--no-verify", "origin", "main"]);
    project.start("open");
    project.edit(10, "not closed yet");
    project.commit("not closed yet");
    let ran = project.try_git(["push", "--quiet", "origin", "main"]);
    assert_ne!(ran.exit, Some(0));
    assert!(ran.err.contains("ANCHOR_MISSING") && ran.err.contains("session open is still open here"), "{}", ran.err);
    assert!(ran.err.contains("git proof done --session open"), "{}", ran.err);
    project.close();
    project.git(["push", "--quiet", "origin", "main"]);
}
