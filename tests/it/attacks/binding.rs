//! An anchor where it does not belong: on another commit, branch or repository, for another change, or about another one.

use serde_json::json;

use super::{Proven, STRICT};
use crate::store::scratch::{Ran, Scratch};

#[test]
fn note_copied_to_another_commit_is_refused() {
    let proven = Proven::new();
    proven.write("b.txt", "b\n");
    let other = proven.commit("Add b\n\nProof-Grade: true");
    proven.gate().fails("ANCHOR_MISSING");
    proven.git(&["notes", "--ref=proof", "copy", &proven.head, &other]);
    proven.gate().fails("BINDING_MISMATCH");
}

#[test]
fn note_copied_to_another_branch_is_refused() {
    let proven = Proven::new();
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.base]);
    proven.write("a.txt", "one\ntwo\nthree\nfour\nfive\nSIX\nseven\neight\nnine\n");
    let other = proven.commit("Shout six\n\nProof-Grade: true");
    proven.git(&["notes", "--ref=proof", "copy", &proven.head, &other]);
    proven.gate().fails("BINDING_MISMATCH");
}

#[test]
fn notes_fetched_into_another_repository_prove_nothing_there() {
    let proven = Proven::new();
    let other = Scratch::new();
    std::fs::write(other.place.join("x.txt"), "x\n").unwrap();
    other.git(["add", "--all"]);
    other.git(["commit", "--quiet", "-m", "Add x\n\nProof-Grade: true"]);
    let from = proven.scratch.place.to_str().unwrap();
    other.git([
        "fetch",
        "--quiet",
        from,
        "refs/notes/proof:refs/notes/proof",
        "refs/proof/evidence:refs/proof/evidence",
    ]);
    other.git(["notes", "--ref=proof", "copy", &proven.head, "HEAD"]);
    let ran: Ran = other.run(["--json", "verify"]);
    super::Judged::from(ran).fails("BINDING_MISMATCH");
}

#[test]
fn anchor_that_claims_another_commit_has_another_tree() {
    let proven = Proven::new();
    proven.write("b.txt", "b\n");
    let other = proven.commit("Add b\n\nProof-Grade: true");
    proven.set_note(&other, proven.anchor_with(&[("commit", json!(other))]));
    proven.gate().fails("BINDING_MISMATCH");
}

#[test]
fn root_lent_to_another_change_passes_only_where_policy_does_not_ask_for_rooting() {
    let proven = Proven::with_policy("[proof]\nrooted = false\n");
    proven.write("b.txt", "b\n");
    proven.commit("Add b\n\nProof-Grade: true");
    proven.scratch.json(&["anchor", "--session", "s", "--commit", "HEAD"]);
    proven.gate().passes().warns("NOT_ROOTED");
}

#[test]
fn root_lent_to_another_change_fails_by_default() {
    let proven = Proven::new();
    proven.write("b.txt", "b\n");
    proven.commit("Add b\n\nProof-Grade: true");
    proven.scratch.json(&["anchor", "--session", "s", "--commit", "HEAD"]);
    proven.gate().fails("NOT_ROOTED");
}

#[test]
fn root_lent_to_another_change_is_not_rooted() {
    let proven = Proven::with_policy(STRICT);
    proven.write("b.txt", "b\n");
    proven.commit("Add b");
    proven.scratch.json(&["anchor", "--session", "s", "--commit", "HEAD"]);
    proven.gate().fails("NOT_ROOTED");
}

#[test]
fn empty_commit_does_not_borrow_the_root_of_the_tree_that_it_keeps() {
    let proven = Proven::with_policy(STRICT);
    proven.commit("Nothing");
    proven.scratch.json(&["anchor", "--session", "s", "--commit", "HEAD"]);
    proven.gate().fails("NOT_ROOTED");
}

#[test]
fn anchor_that_lies_about_its_own_change_is_refused_where_its_word_is_all_there_is() {
    let proven = Proven::with_policy("[proof]\nrooted = false\n");
    proven.write("b.txt", "b\n");
    let other = proven.commit("Add b\n\nProof-Grade: true");
    let tree = proven.tip("HEAD^{tree}");
    let fields = [("commit", json!(other)), ("tree", json!(tree)), ("change_id", json!("0".repeat(64)))];
    proven.set_note(&other, proven.anchor_with(&fields));
    proven.gate().fails("BINDING_MISMATCH");
}

#[test]
fn anchor_that_lies_about_a_change_that_nobody_asks_for_changes_nothing() {
    // The evidence names the commit by its id, so the change id of the line decides nothing.
    let proven = Proven::new();
    proven.set_note(&proven.head, proven.anchor_with(&[("change_id", json!("0".repeat(64)))]));
    proven.gate().passes();
}

#[test]
fn anchor_that_lies_about_its_own_tree_is_refused() {
    let proven = Proven::new();
    let tree = proven.tip(&format!("{}^{{tree}}", proven.base));
    proven.set_note(&proven.head, proven.anchor_with(&[("tree", json!(tree))]));
    proven.gate().fails("BINDING_MISMATCH");
}

#[test]
fn anchor_that_names_another_session_or_task_is_refused() {
    let proven = Proven::new();
    for (field, value) in [("session_id", json!("t")), ("task_id", json!("task")), ("head", json!("0".repeat(64)))] {
        proven.set_note(&proven.head, proven.anchor_with(&[(field, value)]));
        proven.gate().fails("CHAIN_BROKEN");
    }
}

#[test]
fn anchor_of_another_scheme_is_refused() {
    let proven = Proven::new();
    proven.set_note(&proven.head, proven.anchor_with(&[("scheme", json!("ams-v0"))]));
    proven.gate().fails("SCHEME_NOT_ALLOWED").fails("CHAIN_BROKEN");
}

#[test]
fn same_words_at_another_indentation_are_another_change() {
    let proven = Proven::new();
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.base]);
    proven.write("a.txt", "one\ntwo\nthree\nfour\n FIVE\nsix\nseven\neight\nnine\n");
    let other = proven.commit("Shout five\n\nProof-Grade: true");
    proven.git(&["notes", "--ref=proof", "copy", &proven.head, &other]);
    proven.gate().fails("BINDING_MISMATCH");
}

#[test]
fn cherry_picked_change_keeps_its_proof_and_is_rooted() {
    let proven = Proven::with_policy(STRICT);
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.base]);
    proven.write("b.txt", "b\n");
    proven.prove("t", "Add b");
    proven.git(&["cherry-pick", &proven.head]);
    let judged = proven.gate();
    judged.passes();
    assert_eq!(judged.said["commits"][0]["binding"], "moved", "{judged:?}");
}

#[test]
fn policy_says_the_weakest_binding_that_counts() {
    let proven = Proven::with_policy("[proof_grade]\nrequire = \"all\"\n[proof]\nbinding = \"reworded\"\n");
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.base]);
    proven.write("b.txt", "b\n");
    proven.prove("t", "Add b");
    proven.git(&["cherry-pick", &proven.head]);
    proven.gate().fails("BINDING_TOO_WEAK");
}

#[test]
fn range_in_the_index_proves_no_commit_of_another_change() {
    let proven = Proven::new();
    proven.write("b.txt", "b\n");
    let other = proven.commit("Add b\n\nProof-Grade: true");
    // The index says of this change what is true of another.
    proven.write("change.diff", proven.git(&["rev-parse", "HEAD"]));
    let anchored = proven.scratch.json(&["anchor", "--session", "s", "--commit", &other]);
    assert_eq!(anchored["anchors"][0]["rooted"], false);
    let note: serde_json::Value = serde_json::from_str(&proven.note(&other)).unwrap();
    let change = note["anchor"]["change_id"].as_str().unwrap().to_owned();
    proven.git(&["notes", "--ref=proof", "remove", &other]);
    std::fs::remove_dir_all(proven.scratch.place.join(".git/proof")).unwrap();
    let lines = format!("{{\"base\":\"{0}\",\"head\":\"{1}\"}}\n{{\"commit\":\"{1}\"}}\n", proven.base, proven.head);
    proven.put("refs/proof/changes", &format!("{}/{change}", &change[..2]), "100644", &proven.blob(lines));
    proven.gate().fails("ANCHOR_MISSING");
}
