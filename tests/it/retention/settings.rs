//! The settings: what is taken, what is refused by name, and that a refusal moves nothing.

use serde_json::json;

use super::{archives, sealed, zone_of};
use crate::store::scratch::{Scratch, text};

#[test]
fn bad_limits_are_refused_by_name_and_nothing_moves() {
    let scratch = sealed(&["one"]);
    scratch.git(["config", "proof.warmRounds", "0"]);
    for key in ["proof.warmRounds", "proof.warmDays", "proof.warnDays"] {
        let before = scratch.git(["config", "--default", "none", key]).trim().to_owned();
        for value in
            ["", "x", "-1", "+3", "3.5", "3 rounds", "0x10", "1000001", "99999999999999999999999", "true", "1k"]
        {
            scratch.git(["config", key, value]);
            let error = scratch.refused(&["retain"], "ERR_CONFIG_INVALID", 2);
            assert!(text(&error, "message").contains(key), "{key}={value}: {error}");
            assert!(text(&error, "message").contains("a whole number from 0 to 1000000"), "{key}={value}: {error}");
            assert!(text(&error, "hint").contains(&format!("git config {key} ")), "{key}={value}: {error}");
        }
        match before.as_str() {
            "none" => scratch.git(["config", "--unset", key]),
            before => scratch.git(["config", key, before]),
        };
    }
    scratch.git(["config", "proof.warnDays", "7"]);
    let error = scratch.refused(&["retain"], "ERR_CONFIG_INVALID", 2);
    assert!(text(&error, "message").contains("less than proof.warmDays"), "{error}");
    assert_eq!((zone_of(&scratch, "one"), archives(&scratch)), (String::new(), vec![]));
}

#[test]
fn limits_are_said_as_they_are_set() {
    let scratch = Scratch::with_session();
    let limits = |scratch: &Scratch| scratch.json(&["retain", "--dry-run"])["limits"].clone();
    assert_eq!(limits(&scratch), json!({ "warm_rounds": 3, "warm_days": 30, "warn_days": 365 }));
    for (key, value) in [("proof.warmRounds", "1000000"), ("proof.warmDays", "0"), ("proof.warnDays", "007")] {
        scratch.git(["config", key, value]);
    }
    assert_eq!(limits(&scratch), json!({ "warm_rounds": 1_000_000, "warm_days": 0, "warn_days": 7 }));
}

#[test]
fn archive_goes_where_the_setting_says_and_older_ones_are_still_found() {
    let scratch = sealed(&["one", "two", "three"]);
    scratch.git(["config", "proof.warmRounds", "2"]);
    scratch.json(&["retain"]);
    let elsewhere = scratch.around().join("deep/elsewhere");
    scratch.git(["config", "proof.archive", elsewhere.to_str().unwrap()]);
    scratch.git(["config", "proof.warmRounds", "1"]);
    assert_eq!(scratch.json(&["retain"])["moved"], 1);
    assert!(elsewhere.is_dir());
    assert_eq!(archives(&scratch).len(), 1);
    scratch.git(["config", "proof.warmRounds", "0"]);
    scratch.git(["config", "proof.archive", "below"]);
    scratch.json(&["log", "--session", "one"]);
    assert_eq!(zone_of(&scratch, "one"), "warm");
    // Two directories are looked into: the one that is set, and the one beside the store.
    scratch.refused(&["log", "--session", "two"], "ERR_ARCHIVE_DAMAGED", 4);
    scratch.git(["config", "proof.archive", elsewhere.to_str().unwrap()]);
    scratch.json(&["log", "--session", "two"]);
    scratch.git(["config", "proof.archive", "below"]);
    scratch.json(&["retain"]);
    assert!(scratch.place.join(".git/below").is_dir());
}

#[test]
fn archive_may_be_below_the_home_directory() {
    let scratch = Scratch::with_session();
    scratch.git(["config", "proof.archive", "~/kept"]);
    let home = scratch.around().join("home/kept");
    assert_eq!(text(&scratch.json(&["retain", "--dry-run"]), "archive"), home.to_str().unwrap());
}

#[test]
fn archive_that_is_no_directory_is_refused_by_name() {
    let scratch = sealed(&["one"]);
    scratch.git(["config", "proof.warmRounds", "0"]);
    for value in ["", "HEAD"] {
        scratch.git(["config", "proof.archive", value]);
        let error = scratch.refused(&["retain"], "ERR_CONFIG_INVALID", 2);
        assert!(text(&error, "message").contains("proof.archive"), "{error}");
    }
    // One that cannot be made fails before anything is blanked.
    scratch.git(["config", "proof.archive", "HEAD/below"]);
    scratch.refused(&["retain"], "ERR_STORE_FAILED", 4);
    assert_eq!((zone_of(&scratch, "one"), super::bodies(&scratch, "one")), (String::new(), 5));
}
