//! What packing does to a session, and what is published of it.

use git_proof::proof::memory::MemoryAttestation;
use serde_json::{Value, json};

use super::{entries, unhex, waiting};
use crate::store::independent::{hex, sha256};
use crate::store::scratch::{Ran, Scratch, has, text};

#[test]
fn notes_are_listed_in_the_order_in_which_they_were_put() {
    let scratch = Scratch::with_session();
    let first = scratch.json(&["memory", "put", "--text", "one"]);
    assert_eq!(text(&first, "text_hash"), hex(&sha256(b"one")));
    assert_eq!((&first["session_id"], &first["key"]), (&json!("s"), &json!(null)));
    scratch.json(&["memory", "put", "--key", "k", "--text", "two"]);
    scratch.json(&["memory", "put", "--key", "k", "--text", "one"]);
    assert_eq!(waiting(&scratch, "s"), ["one", "two", "one"]);
    assert_eq!(scratch.json(&["memory", "list"])["notes"][1]["key"], "k");
    assert_eq!(scratch.rows("thought_records"), 0, "a note is no entry");
    assert_eq!(scratch.json(&["check"])["records"], 0);
}

#[test]
fn note_of_a_file_is_the_file_to_its_last_byte() {
    let scratch = Scratch::with_session();
    std::fs::write(scratch.place.join("note"), "with a newline\n").unwrap();
    let from_file = scratch.json(&["memory", "put", "--text-file", "note"]);
    let from_stdin = scratch.run_with(&["memory", "put", "--text-file", "-"], b"with a newline\n").json();
    assert_eq!(text(&from_file, "text_hash"), hex(&sha256(b"with a newline\n")));
    assert_eq!(from_stdin["text_hash"], from_file["text_hash"]);
}

#[test]
fn each_note_becomes_a_leaf_and_its_text_goes() {
    let scratch = Scratch::with_session();
    scratch.record("plan", "before");
    for note in ["first", "second", "third"] {
        scratch.json(&["memory", "put", "--text", note, "--key", "name"]);
    }
    let packed = scratch.json(&["memory", "pack"]);
    assert_eq!(waiting(&scratch, "s"), [""; 0]);
    assert_eq!((scratch.rows("memory_short_term"), scratch.rows("memory_long_term")), (0, 3));
    let found = entries(&scratch, "s");
    assert_eq!((found.len(), found[0].as_str(), found[4].as_str()), (5, "plan", "analysis"));
    let mut salts = std::collections::BTreeSet::new();
    for ((note, entry), left) in
        ["first", "second", "third"].iter().zip(&found[1..4]).zip(packed["packed"].as_array().unwrap())
    {
        let said: Value = serde_json::from_str(entry).unwrap();
        let salt = unhex(text(left, "salt"));
        assert_eq!(text(&said["note"], "commitment"), hex(&sha256(&[&salt[..], note.as_bytes()].concat())));
        assert_eq!(said, json!({ "note": { "commitment": left["commitment"], "put_at": left["put_at"] } }));
        assert!(MemoryAttestation::parse(entry.as_bytes()).is_ok());
        assert_eq!((salt.len(), salts.insert(salt)), (32, true), "a salt is used once");
    }
    assert_eq!(packed["count"], 3);
    let analysis = &packed["analysis"];
    assert_eq!(
        (text(analysis, "content"), &analysis["metadata"]),
        ("Packed 3 notes of working memory.", &json!({ "packed": 3 }))
    );
    assert_eq!(scratch.json(&["check"])["records"], 5);
    assert_eq!(scratch.json(&["memory", "list"])["packed"], packed["packed"]);
}

#[test]
fn packing_does_not_close_a_session_whatever_its_text_and_whatever_came_before() {
    let scratch = Scratch::with_session();
    scratch.record("reflection", "done too early");
    scratch.json(&["memory", "put", "--text", "a note"]);
    let packed = scratch.json(&["memory", "pack", "--content", "what remains uncertain"]);
    assert_eq!((&packed["analysis"]["type"], &packed["analysis"]["index"]), (&json!("analysis"), &json!(2)));
    assert_eq!(packed["analysis"]["content"], "what remains uncertain");
    assert_eq!(packed["analysis"]["metadata"], json!({ "packed": 1 }));
    scratch.refused(&["finalize"], "ERR_REFLECTION_REQUIRED", 1);
    scratch.record("reflection", "done");
    assert_eq!(scratch.json(&["finalize"])["record_count"], 4);
}

#[test]
fn session_can_be_packed_again_with_what_came_since() {
    let scratch = Scratch::with_session();
    scratch.json(&["memory", "put", "--text", "one"]);
    scratch.json(&["memory", "pack"]);
    scratch.json(&["memory", "put", "--text", "two"]);
    let again = scratch.json(&["memory", "pack"]);
    assert_eq!(again["packed"].as_array().unwrap().len(), 1);
    assert_eq!(again["analysis"]["index"], 3);
    let texts: Vec<i64> =
        again["packed"].as_array().unwrap().iter().map(|note| note["note_id"].as_i64().unwrap()).collect();
    assert_eq!(texts, [2], "a number is not given twice");
}

#[test]
fn memory_of_another_session_is_left_alone() {
    let scratch = Scratch::with_session();
    scratch.json(&["memory", "put", "--text", "of s"]);
    scratch.start("other", &[]);
    scratch.json(&["memory", "put", "--text", "of the other"]);
    scratch.json(&["memory", "pack"]);
    assert_eq!(waiting(&scratch, "s"), ["of s"]);
    assert_eq!(entries(&scratch, "s"), [""; 0]);
    scratch.json(&["memory", "pack", "--session", "s"]);
    assert_eq!(entries(&scratch, "s").len(), 2);
}

#[test]
fn what_is_staged_is_attested_by_the_reflection_and_not_by_packing() {
    let scratch = Scratch::with_session();
    std::fs::write(scratch.place.join("file"), "x").unwrap();
    scratch.git(["add", "file"]);
    scratch.json(&["memory", "put", "--text", "a note"]);
    scratch.json(&["memory", "pack"]);
    scratch.record("reflection", "done");
    let found = entries(&scratch, "s");
    assert!(found[0].starts_with("{\"note\""), "{found:?}");
    assert!(found[2].starts_with("{\"git\""), "{found:?}");
    assert_eq!((found.len(), found[1].as_str(), found[3].as_str()), (4, "analysis", "reflection"));
    scratch.json(&["finalize"]);
    scratch.git(["commit", "-qm", "first"]);
    scratch.json(&["anchor"]);
    let verdict = scratch.json(&["verify"]);
    assert_eq!((&verdict["verdict"], &verdict["commits"][0]["sessions"][0]["rooted"]), (&json!("pass"), &json!(true)));
}

#[test]
fn memory_alone_roots_no_change() {
    let scratch = Scratch::with_session();
    scratch.json(&["memory", "put", "--text", "a note"]);
    scratch.json(&["memory", "pack"]);
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
    scratch.git(["commit", "-q", "--allow-empty", "-m", "first"]);
    scratch.json(&["anchor"]);
    assert_eq!(scratch.json(&["verify"])["commits"][0]["sessions"][0]["rooted"], false);
}

#[test]
fn evidence_publishes_a_commitment_and_neither_text_nor_key_nor_salt() {
    let scratch = Scratch::with_session();
    scratch.json(&["memory", "put", "--text", "the-very-text", "--key", "the-very-key"]);
    let packed = scratch.json(&["memory", "pack"])["packed"][0].clone();
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
    scratch.git(["commit", "-q", "--allow-empty", "-m", "first"]);
    scratch.json(&["anchor"]);
    let mut published = String::new();
    for name in scratch.git(["ls-tree", "-r", "--name-only", "refs/proof/evidence"]).lines() {
        published += &scratch.git(["show", &format!("refs/proof/evidence:{name}")]);
    }
    assert!(published.contains(text(&packed, "commitment")), "{published}");
    assert!(!published.contains("the-very-") && !published.contains(text(&packed, "salt")), "{published}");
    // Nor what could be guessed from it.
    assert!(!published.contains(&hex(&sha256(b"the-very-text"))), "{published}");
    // No table holds the text either.
    let kept: i64 = scratch
        .database()
        .query_row("SELECT count(*) FROM thought_records WHERE line LIKE '%the-very-%'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(kept, 0);
}

#[test]
fn every_call_is_in_the_ledger() {
    let scratch = Scratch::with_session();
    scratch.json(&["memory", "put", "--text", "one"]);
    scratch.json(&["memory", "put", "--text", "two"]);
    scratch.json(&["memory", "drop", "1"]);
    scratch.json(&["memory", "pack"]);
    let database = scratch.database();
    let mut statement = database.prepare("SELECT tool, detail FROM audit_events ORDER BY event_id").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let rows: Vec<(String, Option<String>)> = rows.map(Result::unwrap).skip(1).collect();
    let tools: Vec<&str> = rows.iter().map(|(tool, _)| tool.as_str()).collect();
    assert_eq!(tools, ["memory_put", "memory_put", "memory_drop", "memory_pack"]);
    assert_eq!(rows[3].1.as_deref(), Some("count 2"));
}

#[test]
fn dropped_note_is_gone_and_leaves_no_leaf() {
    let scratch = Scratch::with_session();
    scratch.json(&["memory", "put", "--text", "one"]);
    scratch.json(&["memory", "put", "--text", "two"]);
    assert_eq!(scratch.json(&["memory", "drop", "1"])["dropped"], 1);
    assert_eq!(waiting(&scratch, "s"), ["two"]);
    scratch.refused(&["memory", "drop", "2", "1"], "ERR_RECORD_NOT_FOUND", 2);
    assert_eq!(waiting(&scratch, "s"), ["two"], "all or none");
}

#[test]
fn finalizing_says_that_notes_are_left_behind() {
    let scratch = Scratch::with_session();
    scratch.record("reflection", "done");
    scratch.json(&["memory", "put", "--text", "forgotten"]);
    let ran = scratch.run(["--json", "finalize"]);
    assert_eq!(ran.json()["unpacked"], 1);
    assert!(ran.err.contains("1 note was not packed"), "{}", ran.err);
    assert_eq!(waiting(&scratch, "s"), ["forgotten"]);
    scratch.json(&["memory", "drop", "1"]);
    assert_eq!(waiting(&scratch, "s"), [""; 0]);
}

#[test]
fn text_of_a_note_does_not_reach_the_terminal_as_it_is() {
    let scratch = Scratch::with_session();
    scratch.json(&["memory", "put", "--text", "\u{1b}[31mred\n\u{202e}turned", "--key", "\u{1b}]0;title"]);
    let shown = scratch.run(["memory", "list"]);
    assert!(shown.text().contains("red"));
    assert!(!shown.out.contains('\u{1b}') && !shown.out.contains('\u{202e}'), "{:?}", shown.out);
}

#[test]
fn packing_prints_how_a_text_is_checked() {
    let scratch = Scratch::with_session();
    std::fs::write(scratch.place.join("FILE"), "the text\n").unwrap();
    scratch.json(&["memory", "put", "--text-file", "FILE"]);
    let ran = scratch.run(["memory", "pack"]);
    let packed = scratch.json(&["memory", "list"])["packed"][0].clone();
    for field in ["commitment", "salt"] {
        assert!(ran.text().contains(&format!("{field} {}", text(&packed, field))), "{}", ran.out);
        assert!(scratch.run(["memory", "list"]).text().contains(text(&packed, field)));
    }
    if !has("xxd") || !has("sha256sum") {
        return eprintln!("left out: xxd or sha256sum is not here");
    }
    let command = ran.out.lines().find(|line| line.contains("xxd")).unwrap().replace("SALT", text(&packed, "salt"));
    let printed: Ran = scratch.command("sh").args(["-c", &command]).output().unwrap().into();
    assert_eq!(&printed.text()[..64], text(&packed, "commitment"));
}
