//! What a session keeps to itself: how much is said, what may never be withheld, and evidence that someone blanks or plants.

use serde_json::json;

use super::records::rechained;
use super::{Proven, STRICT};
use crate::naive;

/// The line with its text kept back.
fn kept_back(line: &str) -> String {
    let entry: serde_json::Value = serde_json::from_str(line).unwrap();
    json!({"prev_hash": entry["prev_hash"], "withheld": naive::hex(&naive::sha256(&[line.as_bytes()]))}).to_string()
}

#[test]
fn withheld_lines_are_counted_in_the_verdict() {
    let proven = Proven::new();
    let mut lines = proven.evidence();
    for line in &mut lines[1..3] {
        *line = kept_back(line);
    }
    proven.set_evidence(&lines);
    let judged = proven.gate();
    judged.passes().warns("EVIDENCE_WITHHELD");
    assert!(judged.said.to_string().contains("2 of 5 entries"), "{judged:?}");
}

#[test]
fn everything_withheld_is_no_reflection() {
    let proven = Proven::new();
    let mut lines = proven.evidence();
    for line in &mut lines[1..] {
        *line = kept_back(line);
    }
    proven.set_evidence(&lines);
    proven.gate().fails("REFLECTION_MISSING");
}

#[test]
fn attested_change_that_is_withheld_roots_nothing() {
    let proven = Proven::with_policy(STRICT);
    let mut lines = proven.evidence();
    lines[4] = kept_back(&lines[4]);
    proven.set_evidence(&lines);
    proven.gate().fails("NOT_ROOTED");
}

#[test]
fn decision_after_the_reflection_is_refused() {
    let proven = Proven::new();
    let mut lines = proven.evidence();
    lines.push(lines[3].replace("nothing else", "everything after all"));
    let fields = proven.fabricate(&rechained(&lines, |_| ()));
    proven.set_note(&proven.head, proven.anchor_with(&fields));
    proven.gate().fails("REFLECTION_MISSING");
}

#[test]
fn session_that_says_it_is_not_proof_grade_proves_no_proof_grade_commit_without_a_reflection() {
    let proven = Proven::new();
    let mut lines = proven.evidence();
    lines.pop();
    let lines = rechained(&lines, |lines| lines[0]["proof_grade"] = false.into());
    proven.set_note(&proven.head, proven.anchor_with(&proven.fabricate(&lines)));
    proven.gate().fails("REFLECTION_MISSING");
}

/// A remote, a clone of it with the proofs, and evidence with two lines withheld in both.
fn shared() -> (Proven, Vec<String>) {
    let proven = Proven::new();
    let mut lines = proven.evidence();
    for line in &mut lines[1..3] {
        *line = kept_back(line);
    }
    proven.set_evidence(&lines);
    let remote = proven.scratch.around().join("remote.git");
    proven.git(&["init", "--quiet", "--bare", remote.to_str().unwrap()]);
    proven.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    proven.git(&["push", "--quiet", "origin", "main"]);
    proven.scratch.json(&["sync"]);
    (proven, lines)
}

/// Publishes other lines on the remote, beside what the clone has meanwhile, and syncs.
fn plant(proven: &Proven, lines: &[String]) {
    let ours = proven.tip("refs/proof/evidence");
    proven.set_evidence(lines);
    proven.git(&["push", "--quiet", "origin", "refs/proof/evidence"]);
    proven.git(&["update-ref", "refs/proof/evidence", &ours]);
    proven.put("refs/proof/evidence", "zz/aside", "100644", &proven.blob("something of ours"));
    proven.scratch.json(&["sync"]);
}

#[test]
fn blanked_evidence_does_not_replace_what_says_more() {
    let (proven, mut lines) = shared();
    lines[3] = kept_back(&lines[3]);
    plant(&proven, &lines);
    assert_ne!(proven.evidence(), lines);
    proven.gate().passes();
}

#[test]
fn broken_evidence_does_not_replace_what_verifies() {
    let (proven, lines) = shared();
    plant(&proven, &lines[..3]);
    assert_eq!(proven.evidence(), lines);
    proven.gate().passes();
}

#[test]
fn repeated_last_line_does_not_replace_the_session() {
    let (proven, lines) = shared();
    let repeated = [&lines[..], &lines[5..]].concat();
    plant(&proven, &repeated);
    assert_eq!(proven.evidence(), lines);
    proven.gate().passes();
}

#[test]
fn nodes_of_the_tree_do_not_replace_the_session_though_they_withhold_less() {
    use git_proof::proof::scheme::Scheme;
    let (proven, lines) = shared();
    let mut more = lines.clone();
    for line in &mut more[3..5] {
        *line = kept_back(line);
    }
    proven.set_evidence(&more);
    let whole: Vec<naive::Hash> = more[1..]
        .iter()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            match value["withheld"].as_str() {
                Some(hash) => std::array::from_fn(|at| u8::from_str_radix(&hash[2 * at..2 * at + 2], 16).unwrap()),
                None => naive::sha256(&[line.as_bytes()]),
            }
        })
        .collect();
    let levels = naive::levels(Scheme::V1, &whole);
    let genesis = naive::hex(&naive::sha256(&[lines[0].as_bytes()]));
    let nodes = levels[1].iter().map(|node| json!({"prev_hash": genesis, "withheld": naive::hex(node)}).to_string());
    let forged: Vec<String> = [lines[0].clone()].into_iter().chain(nodes).collect();
    plant(&proven, &forged);
    assert_eq!(proven.evidence(), more);
    // One of the lines that are withheld is the attestation of the commit, so the session no longer covers it.
    proven.gate().fails("NOT_ROOTED");
}

#[test]
fn evidence_planted_before_the_session_is_anchored_gives_way_to_it() {
    let proven = Proven::new();
    let lines = proven.evidence();
    let repeated = [&lines[..], &lines[5..]].concat();
    proven.set_evidence(&repeated);
    proven.scratch.json(&["anchor", "--session", "s"]);
    assert_eq!(proven.evidence(), lines);
    proven.gate().passes();
}
