//! A record names what it corrects, and until when it holds.

use super::{OURS, Team};
use crate::store::scratch::{Scratch, text};

#[test]
fn a_correction_names_the_content_hash_of_what_it_corrects() {
    let scratch = Scratch::with_session();
    let first = scratch.record("decision", "a list");
    let id = text(&first, "id");
    let second = scratch.json(&["record", "decision", "a set", "--supersedes", id, "--until", "2027-03-31"]);
    assert_eq!(second["metadata"]["supersedes"], first["content_hash"]);
    assert_eq!(second["metadata"]["until"], "2027-03-31T23:59:59.999Z");
    let third =
        scratch.json(&["decide", "a map", "--supersedes", text(&second, "content_hash"), "--until", "2020-01-01"]);
    let log = scratch.json(&["log"]);
    assert_eq!(log["entries"][0]["superseded_by"][0], second["id"]);
    assert_eq!(log["entries"][1]["superseded_by"][0], third["id"]);
    assert!(log["entries"][2].get("superseded_by").is_none(), "{log}");
    let shown = scratch.run(["log"]).text().to_owned();
    for expected in [
        &format!("superseded by {}", text(&second, "id")),
        "holds until 2027-03-31",
        "expired: held until 2020-01-01",
        &format!("supersedes {}", &text(&first, "content_hash")[..12]),
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(scratch.run(["show", id]).text().contains("superseded by"), "{shown}");
    scratch.json(&["check"]);
}

#[test]
fn metadata_of_a_user_stays_beside_the_correction() {
    let scratch = Scratch::with_session();
    let first = scratch.record("decision", "a list");
    let second = scratch.json(&[
        "record",
        "--type",
        "decision",
        "--content",
        "a set",
        "--metadata",
        r#"{"z":1,"agent":"x"}"#,
        "--supersedes",
        text(&first, "id"),
    ]);
    assert_eq!((&second["metadata"]["agent"], &second["metadata"]["z"]), (&"x".into(), &1.into()));
    assert_eq!(second["metadata"]["supersedes"], first["content_hash"]);
}

#[test]
fn only_the_options_write_these_keys() {
    let scratch = Scratch::with_session();
    let hash = "ab".repeat(32);
    for metadata in [format!(r#"{{"supersedes":"{hash}"}}"#), r#"{"until":"2027-03-31T23:59:59.999Z"}"#.to_owned()] {
        let record = ["record", "--type", "decision", "--content", "x", "--metadata", &metadata];
        scratch.refused(&record, "INVALID_PARAMS", 2);
    }
}

#[test]
fn a_correction_of_nothing_and_a_day_that_is_none_are_refused() {
    let scratch = Scratch::with_session();
    let attested = scratch.json(&["attest", "ran it"]);
    for (option, value, code) in [
        ("--supersedes", "nobody", "ERR_RECORD_NOT_FOUND"),
        ("--supersedes", "../x", "INVALID_PARAMS"),
        ("--supersedes", text(&attested[0], "id"), "INVALID_PARAMS"),
        ("--until", "2027-02-30", "INVALID_PARAMS"),
        ("--until", "tomorrow", "INVALID_PARAMS"),
        ("--until", "", "INVALID_PARAMS"),
    ] {
        scratch.refused(&["decide", "x", option, value], code, 2);
    }
    assert_eq!(scratch.json(&["log"])["entries"].as_array().unwrap().len(), 1);
    scratch.start("old", &["--scheme", "ams-v0"]);
    scratch.refused(&["decide", "x", "--until", "2027-03-31"], "INVALID_PARAMS", 2);
}

#[test]
fn show_and_why_mark_a_decision_that_a_later_session_corrects() {
    let team = Team::new();
    let first = team.decide(OURS, "s1", &["a list"], "a.txt", "ONE\ntwo\nthree\nfour\nfive\nsix\n");
    team.decide(OURS, "s2", &["a set", "--supersedes", &first], "a.txt", "ONE\ntwo\nthree\nfour\nfive\nSIX\n");
    let why = team.why(&["a.txt:1"]);
    let decision = &why["decisions"][0];
    assert_eq!((text(decision, "content"), &decision["in_force"]), ("a list", &false.into()));
    assert_eq!(decision["superseded_by"].as_array().unwrap().len(), 1);
    assert!(team.scratch.run(["why", "a.txt:1"]).text().contains("superseded by"));
    assert!(team.scratch.run(["show", "HEAD~1"]).text().contains("superseded by"));
    assert!(!team.scratch.run(["show", "HEAD"]).text().contains("superseded by"));
}

#[test]
fn a_correction_of_something_that_is_not_there_is_reported() {
    let team = Team::new();
    let decision = ["a set", "--supersedes", &"ab".repeat(32)];
    team.decide(OURS, "s1", &decision, "a.txt", "ONE\ntwo\nthree\nfour\nfive\nsix\n");
    let why = team.why(&["a.txt:1"]);
    assert!(why["warnings"][0].as_str().unwrap().contains("abababababab"), "{why}");
}
