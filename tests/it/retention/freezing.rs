//! Freezing: only by name or by an explicit command, only what is sealed, and nothing but hashes is left.

use serde_json::{Value, json};

use super::{anchored, archives, sealed, summary, with_cold, zone_of};
use crate::store::scratch::{Scratch, text};

#[test]
fn retain_never_freezes_by_itself() {
    let scratch = sealed(&["one"]);
    for (key, value) in [("proof.warmRounds", "0"), ("proof.warmDays", "0"), ("proof.warnDays", "0")] {
        scratch.git(["config", key, value]);
    }
    for _ in 0..2 {
        let said = scratch.run(["retain"]);
        assert!(said.err.contains("decide whether the texts are still wanted"), "{said:?}");
        assert!(said.err.contains("hint: git proof retain --freeze"), "{said:?}");
        assert_eq!((said.exit, zone_of(&scratch, "one").as_str()), (Some(0), "cold"));
    }
    let retained = scratch.json(&["retain"]);
    assert_eq!((&retained["undecided"], text(&retained["to_decide"][0], "session_id")), (&json!(1), "one"));
}

#[test]
fn freeze_without_a_name_takes_only_what_is_old_enough() {
    let scratch = with_cold(&["one", "two"]);
    assert_eq!(scratch.json(&["retain", "--yes", "--freeze"])["moved"], 0);
    assert_eq!(zone_of(&scratch, "one"), "cold");
    for key in ["proof.warmDays", "proof.warnDays"] {
        scratch.git(["config", key, "0"]);
    }
    let frozen = scratch.json(&["retain", "--yes", "--freeze"]);
    // What goes cold now has had nobody decide about it.
    let moves: Vec<(&str, &str)> = frozen["moves"]
        .as_array()
        .unwrap()
        .iter()
        .map(|moved| (text(moved, "session_id"), text(moved, "to")))
        .collect();
    assert_eq!(moves, [("one", "frozen"), ("two", "cold")]);
    assert_eq!(summary(&frozen, "frozen")["records"], 5);
}

#[test]
fn frozen_session_has_only_hashes_and_says_so() {
    let scratch = with_cold(&["one", "two"]);
    scratch.json(&["search", "needle"]);
    let file = archives(&scratch).remove(0);
    let frozen = scratch.json(&["retain", "--yes", "--freeze", "one"]);
    assert_eq!((text(&frozen["moves"][0], "from"), text(&frozen["moves"][0], "to")), ("cold", "frozen"));
    assert!(!file.exists());
    let log = scratch.json(&["log", "--session", "one"]);
    let contents: Vec<&Value> = log["entries"].as_array().unwrap().iter().map(|entry| &entry["content"]).collect();
    assert!(contents.iter().all(|content| content.is_null()), "{log}");
    let check = scratch.json(&["check", "--session", "one"]);
    assert_eq!((&check["blanked"], &check["archived"]), (&json!(4), &json!(0)));
    assert!(scratch.run(["check", "--session", "one"]).text().contains("The texts of 4 are gone"));
    assert_eq!(scratch.json(&["retain", "--yes", "--freeze", "one"])["moved"], 0);
}

/// That no file of the store has these words.
fn assert_gone(scratch: &Scratch, words: &str) {
    // What is still in the log of the store is folded by whoever opens it next.
    drop(scratch.database().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
    for entry in std::fs::read_dir(scratch.place.join(".git/proof")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(words.len()).any(|window| window == words.as_bytes()), "{}", path.display());
        }
    }
}

#[test]
fn frozen_text_is_in_no_file_of_the_store() {
    let scratch = sealed(&["alpha", "beta"]);
    scratch.json(&["search", "needle"]);
    scratch.json(&["retain", "--yes", "--freeze", "alpha"]);
    assert_gone(&scratch, "a whisper of alpha");
    assert_gone(&scratch, "the tests of alpha ran");
}

#[test]
fn what_is_not_sealed_is_not_frozen_and_then_nothing_is() {
    let scratch = with_cold(&["one", "two"]);
    anchored(&scratch, "three");
    let error = scratch.refused(&["retain", "--yes", "--freeze", "one", "three"], "INVALID_PARAMS", 2);
    assert!(text(&error, "hint").contains("git proof seal"), "{error}");
    scratch.refused(&["retain", "--yes", "--freeze", "one", "nobody"], "ERR_SESSION_NOT_FOUND", 2);
    scratch.refused(&["retain", "--yes", "--freeze", "one", "no id"], "INVALID_PARAMS", 2);
    assert_eq!(zone_of(&scratch, "one"), "cold");
}

#[test]
fn frozen_session_is_anchored_by_what_it_published() {
    let scratch = with_cold(&["one", "two"]);
    scratch.json(&["retain", "--yes", "--freeze", "one"]);
    let again = scratch.json(&["anchor", "--session", "one"]);
    assert_eq!(again["anchors"][0]["created"], false, "{again}");
    let elsewhere = scratch.json(&["anchor", "--session", "one", "--commit", "HEAD"]);
    assert_eq!(elsewhere["anchors"][0]["created"], true, "{elsewhere}");
    scratch.git(["update-ref", "-d", "refs/proof/evidence"]);
    scratch.refused(&["anchor", "--session", "one"], "ERR_RECORD_NOT_FOUND", 2);
}
