//! A packed note is proven from its text alone, and from nothing that is nearly its text.

use serde_json::Value;

use super::unhex;
use crate::store::independent::{hex, sha256};
use crate::store::scratch::{Scratch, text};

const SCHEMES: [&str; 4] = ["v1", "v1-sorted", "v1-rfc9162", "ams-v0"];

fn packed(scheme: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.start("s", &["--scheme", scheme]);
    for number in 0..7 {
        scratch.json(&["memory", "put", "--text", &format!("note {number}")]);
    }
    scratch.json(&["memory", "pack"]);
    scratch.record("reflection", "done");
    scratch
}

#[test]
fn every_packed_note_is_proven_from_its_text() {
    for scheme in SCHEMES {
        let scratch = packed(scheme);
        let root = scratch.json(&["finalize"]);
        let count = root["record_count"].to_string();
        for number in 0..7 {
            let note = format!("note {number}");
            let line = scratch.run(["memory", "prove", "--text", &note]);
            let trusted = ["check-proof", "-", "--root", text(&root, "root"), "--count", &count];
            let held = scratch.run_with(&trusted, line.text().as_bytes()).json();
            assert_eq!(held["valid"], true, "{scheme}");
            let proof = scratch.json(&["memory", "prove", "--text", &note]);
            assert_eq!(serde_json::from_str::<Value>(&line.out).unwrap(), proof["proof"]);
            // From text to leaf with nothing of ours: the line commits to the text, and the line's hash is the leaf.
            let attested = text(&proof, "line");
            let committed = hex(&sha256(&[unhex(text(&proof, "salt")), note.into_bytes()].concat()));
            assert!(attested.contains(&committed) && proof["commitment"] == committed.as_str(), "{attested}");
            let parsed: Value = serde_json::from_str(attested).unwrap();
            let hashed = if scheme == "ams-v0" { text(&parsed, "attest") } else { attested };
            assert_eq!(hex(&sha256(hashed.as_bytes())), text(&held, "leaf_hash"), "{scheme}");
        }
    }
}

#[test]
fn proof_can_be_had_before_the_session_is_finalized() {
    let scratch = packed("v1");
    let proof = scratch.json(&["memory", "prove", "--text", "note 3"])["proof"].clone();
    assert_eq!((&proof["index"], &proof["count"]), (&3.into(), &9.into()));
}

#[test]
fn text_that_differs_in_a_byte_is_not_proven() {
    let scratch = packed("v1");
    for other in ["note 33", "note  3", "note 3\n", "Note 3", "note"] {
        let error = scratch.refused(&["memory", "prove", "--text", other], "ERR_RECORD_NOT_FOUND", 2);
        assert_eq!(error["details"]["text_hash"], hex(&sha256(other.as_bytes())));
    }
}

#[test]
fn note_that_still_waits_is_told_how_to_be_packed() {
    let scratch = Scratch::with_session();
    scratch.json(&["memory", "put", "--text", "not yet"]);
    let error = scratch.refused(&["memory", "prove", "--text", "not yet"], "ERR_RECORD_NOT_FOUND", 2);
    assert!(text(&error, "hint").contains("git proof memory pack --session s"), "{error}");
}

#[test]
fn same_text_in_several_sessions_is_proven_in_the_finalized_one_or_the_one_that_is_named() {
    let scratch = Scratch::new();
    for session in ["first", "second", "third"] {
        scratch.start(session, &[]);
        scratch.json(&["memory", "put", "--text", "the same"]);
        scratch.json(&["memory", "pack"]);
        scratch.record("reflection", "done");
    }
    let proven = |more: &[&str]| {
        let proof = scratch.json(&[&["memory", "prove", "--text", "the same"], more].concat());
        text(&proof, "session_id").to_owned()
    };
    assert_eq!(proven(&[]), "first");
    scratch.json(&["finalize", "--session", "second"]);
    assert_eq!(proven(&[]), "second");
    assert_eq!(proven(&["--session", "third"]), "third");
    scratch.refused(&["memory", "prove", "--text", "the same", "--session", "none"], "ERR_SESSION_NOT_FOUND", 2);
}

#[test]
fn anyone_with_a_clone_finds_the_leaf_with_git_and_sha256sum() {
    let scratch = packed("v1");
    scratch.json(&["finalize"]);
    scratch.git(["commit", "-q", "--allow-empty", "-m", "first"]);
    scratch.json(&["anchor"]);
    let clone = scratch.around().join("clone");
    scratch.git(["clone", "-q", ".", clone.to_str().unwrap()]);
    let refs = "refs/proof/evidence:refs/proof/evidence";
    scratch.git(["-C", clone.to_str().unwrap(), "fetch", "-q", "origin", refs]);
    let salt = unhex(text(&scratch.json(&["memory", "prove", "--text", "note 5"]), "salt"));
    let hash = hex(&sha256(&[&salt[..], b"note 5"].concat()));
    let line = scratch.git(["-C", clone.to_str().unwrap(), "grep", "-h", &hash, "refs/proof/evidence"]);
    let leaf = hex(&sha256(line.trim_end_matches('\n').as_bytes()));
    assert_eq!(scratch.json(&["memory", "prove", "--text", "note 5"])["leaf_hash"], leaf.as_str());
}

#[test]
fn row_that_points_to_another_leaf_proves_nothing() {
    let scratch = packed("v1");
    let forge = "UPDATE memory_long_term SET record_id = (SELECT record_id FROM memory_long_term WHERE note_id = 1)";
    scratch.without_triggers().execute(forge, []).unwrap();
    scratch.json(&["memory", "prove", "--text", "note 0"]);
    scratch.refused(&["memory", "prove", "--text", "note 1"], "ERR_CHAIN_BROKEN", 1);
    let forge = "UPDATE memory_long_term SET record_id = (SELECT id FROM thought_records WHERE type = 'reflection')";
    scratch.without_triggers().execute(forge, []).unwrap();
    scratch.refused(&["memory", "prove", "--text", "note 1"], "ERR_CHAIN_BROKEN", 1);
}

#[test]
fn note_whose_leaf_was_blanked_is_still_proven() {
    let scratch = packed("v1");
    scratch.without_triggers().execute("UPDATE thought_records SET line = NULL", []).unwrap();
    let proof = scratch.json(&["memory", "prove", "--text", "note 2"]);
    assert_eq!((&proof["line"], &proof["proof"]["index"]), (&Value::Null, &2.into()));
}
