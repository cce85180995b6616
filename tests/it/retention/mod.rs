//! Retention: texts leave the store by age and come back when they are read, and whatever was proven stays proven.

mod clocks;
mod damaged;
mod freezing;
mod killed;
mod moving;
mod reading;
mod schemes;
mod settings;
mod together;
mod zones;

use std::path::PathBuf;

use serde_json::Value;

use crate::store::scratch::{Scratch, text};

/// A repository with a commit a session, each sealed in a round of its own.
fn sealed(names: &[&str]) -> Scratch {
    let scratch = Scratch::new();
    for name in names {
        anchored(&scratch, name);
        scratch.json(&["seal"]);
    }
    scratch
}

/// Records, commits, finalizes and anchors. One entry is private, one attests a commit, and one something else.
#[track_caller]
fn anchored(scratch: &Scratch, name: &str) -> String {
    scratch.start(name, &[]);
    close(scratch, name)
}

/// The same in a session that is open.
#[track_caller]
fn close(scratch: &Scratch, name: &str) -> String {
    scratch.record("plan", &format!("a needle of {name}"));
    let whisper = format!("a whisper of {name}");
    scratch.json(&["record", "--type", "analysis", "--content", &whisper, "--private", "--metadata", "{\"a\":1}"]);
    scratch.json(&["attest", &format!("the tests of {name} ran")]);
    std::fs::write(scratch.place.join(name), name).unwrap();
    scratch.git(["add", name]);
    scratch.git(["commit", "--quiet", "--message", name]);
    scratch.run(["hook", "post-commit"]).text();
    scratch.record("reflection", &format!("it is done with {name}"));
    let finalized = scratch.json(&["finalize"]);
    assert_eq!(finalized["anchors"].as_array().unwrap().len(), 1, "{finalized}");
    scratch.git(["rev-parse", "HEAD"]).trim().to_owned()
}

/// A repository in which the first of these sessions is cold and the others are warm.
pub(crate) fn with_cold(names: &[&str]) -> Scratch {
    let scratch = sealed(names);
    let rounds = (names.len() - 1).to_string();
    scratch.git(["config", "proof.warmRounds", &rounds]);
    let retained = scratch.json(&["retain"]);
    assert_eq!((retained["moved"].as_u64(), zone_of(&scratch, names[0])), (Some(1), "cold".to_owned()), "{retained}");
    scratch
}

/// The zone that the store has for a session; empty if it has never left the first.
fn zone_of(scratch: &Scratch, session: &str) -> String {
    let sql = "SELECT coalesce((SELECT zone FROM zones WHERE session_id = ?1), '')";
    scratch.database().query_row(sql, [session], |row| row.get(0)).unwrap()
}

/// How many texts of a session are in the store.
fn bodies(scratch: &Scratch, session: &str) -> i64 {
    let sql = "SELECT count(line) FROM thought_records WHERE session_id = ?1";
    scratch.database().query_row(sql, [session], |row| row.get(0)).unwrap()
}

/// The lines of a session as the store has them.
fn lines(scratch: &Scratch, session: &str) -> Vec<Option<String>> {
    let database = scratch.database();
    let mut rows =
        database.prepare("SELECT line FROM thought_records WHERE session_id = ?1 ORDER BY position").unwrap();
    rows.query_map([session], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// The ids of a session's entries, without reading the session by the program.
fn ids(scratch: &Scratch, session: &str) -> Vec<String> {
    let database = scratch.database();
    let mut rows = database.prepare("SELECT id FROM thought_records WHERE session_id = ?1 ORDER BY position").unwrap();
    rows.query_map([session], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// The archives there are.
fn archives(scratch: &Scratch) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![scratch.place.join(".git/proof/archive")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// A row of the summary.
#[track_caller]
fn summary<'a>(outcome: &'a Value, zone: &str) -> &'a Value {
    let zones = outcome["zones"].as_array().unwrap();
    zones.iter().find(|row| text(row, "zone") == zone).unwrap_or_else(|| panic!("no {zone} in {outcome}"))
}
