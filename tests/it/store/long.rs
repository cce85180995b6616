//! A session that is long enough to be checked in blocks, on two threads: wherever something was changed, it is found as
//! in a short one, and the first of two changes is the one that is named.

use serde_json::Value;

use super::scratch::{Scratch, text};

/// Some blocks of 1,024 entries, and a part of one.
const COUNT: u64 = 5 * 1024 + 7;

struct Long {
    scratch: Scratch,
    store: Vec<u8>,
}

impl Long {
    fn new(scheme: &str) -> Self {
        let scratch = Scratch::new();
        scratch.start("long", &["--not-proof-grade", "--scheme", scheme]);
        let first = scratch.record("plan", "the first");
        let numbers: Vec<String> = (0..COUNT - 2).map(|number| format!("step {number}")).collect();
        let attest: Vec<&str> = ["attest"].into_iter().chain(numbers.iter().map(String::as_str)).collect();
        scratch.json(&attest);
        let branch = ["record", "--type", "decision", "--content", "back to it", "--parent", text(&first, "id")];
        assert_eq!(scratch.json(&branch)["index"], COUNT - 1);
        scratch.database().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let store = std::fs::read(scratch.store()).unwrap();
        Self { scratch, store }
    }

    /// The break that `check` names after these statements on a fresh copy, triggers dropped.
    #[track_caller]
    fn found(&self, sql: &str) -> (u64, String) {
        for end in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", self.scratch.store().display())); // there may be none
        }
        std::fs::write(self.scratch.store(), &self.store).unwrap();
        self.scratch.without_triggers().execute_batch(sql).unwrap();
        let error = self.scratch.refused(&["check", "--session", "long"], "ERR_CHAIN_BROKEN", 1);
        let details: &Value = &error["details"];
        (details["index"].as_u64().unwrap(), text(details, "reason").to_owned())
    }
}

#[test]
fn long_session_verifies_and_finalizes_to_the_same_root_in_every_scheme() {
    for scheme in ["v1", "v1-sorted", "v1-rfc9162", "ams-v0"] {
        let Long { scratch, .. } = Long::new(scheme);
        let check = scratch.json(&["check", "--session", "long"]);
        assert_eq!(check["records"], COUNT, "{scheme}");
        let root = scratch.json(&["finalize", "--session", "long"]);
        assert_eq!((&root["root"], &root["record_count"]), (&check["root"], &check["records"]), "{scheme}");
        assert_eq!(scratch.json(&["check", "--session", "long"])["root"], check["root"], "{scheme}");
    }
}

#[test]
fn change_in_any_block_is_found_where_it_is() {
    let long = Long::new("v1");
    for position in [0, 1023, 1024, 1025, 2047, 3000, 4096, 5119, 5120, COUNT - 1] {
        for (change, reason) in [
            ("line = replace(line, 'e', 'f')", "content_hash_mismatch"),
            ("chain_hash = randomblob(32)", "chain_hash_mismatch"),
            ("id = 'another'", "columns_differ"),
        ] {
            let sql = format!("UPDATE thought_records SET {change} WHERE position = {position}");
            assert_eq!(long.found(&sql), (position, reason.to_owned()), "{sql}");
        }
    }
}

#[test]
fn first_of_two_changes_is_named() {
    let long = Long::new("v1-rfc9162");
    for (first, second) in [(10, 5000), (1024, 2048), (4095, 4096), (3000, 3001)] {
        let sql = format!("UPDATE thought_records SET line = line || ' ' WHERE position IN ({first}, {second})");
        assert_eq!(long.found(&sql), (first, "content_hash_mismatch".to_owned()));
    }
}

#[test]
fn entry_missing_anywhere_is_found() {
    let long = Long::new("v1");
    for position in [0, 1, 1022, 1023, 1024, 2047, 4096, COUNT - 2] {
        let sql = format!("DELETE FROM thought_records WHERE position = {position}");
        assert_eq!(long.found(&sql), (position + 1, "position_missing".to_owned()), "{position}");
    }
    for (from, to) in [(0, 2048), (1024, 3072), (1000, 5000)] {
        let sql = format!("DELETE FROM thought_records WHERE position >= {from} AND position < {to}");
        assert_eq!(long.found(&sql), (to, "position_missing".to_owned()), "{from}..{to}");
    }
    let (_, reason) = long.found("DELETE FROM thought_records WHERE position >= 2048");
    assert_eq!(reason, "entries_missing");
}

#[test]
fn entry_moved_far_away_or_before_all_others_is_found() {
    let long = Long::new("v1");
    let far = "UPDATE thought_records SET position = 1000000000000 WHERE position = 5126";
    assert_eq!(long.found(far), (1_000_000_000_000, "position_missing".to_owned()));
    let (index, reason) = long.found("UPDATE thought_records SET position = -5 WHERE position = 100");
    assert_eq!((index, reason.as_str()), (u64::MAX - 4, "position_missing"));
}

#[test]
fn node_of_any_height_is_found() {
    let long = Long::new("v1");
    for position in [1, 1023, 2047, 4095, 5119] {
        let nodes = (position + 1_u64).trailing_zeros();
        for node in 0..nodes {
            let sql = format!(
                "UPDATE thought_records SET nodes = CAST(substr(nodes, 1, {node} * 32) || randomblob(32) || \
                 substr(nodes, {node} * 32 + 33) AS BLOB) WHERE position = {position}"
            );
            assert_eq!(long.found(&sql), (position, "node_mismatch".to_owned()), "node {node} at {position}");
        }
    }
    for (position, nodes) in [(1023, "CAST(nodes || randomblob(32) AS BLOB)"), (2047, "substr(nodes, 1, 320)")] {
        let sql = format!("UPDATE thought_records SET nodes = {nodes} WHERE position = {position}");
        assert_eq!(long.found(&sql), (position, "node_mismatch".to_owned()), "{position}");
    }
}

#[test]
fn long_session_holds_whenever_it_is_checked_while_someone_records() {
    let Long { scratch, .. } = Long::new("v1");
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (0..60).for_each(|number| drop(scratch.record("analysis", &number.to_string()))));
        let mut before = COUNT;
        while !writer.is_finished() {
            let records = scratch.json(&["check", "--session", "long"])["records"].as_u64().unwrap();
            assert!(records >= before, "{records} after {before}");
            before = records;
        }
    });
    assert_eq!(scratch.json(&["check", "--session", "long"])["records"], COUNT + 60);
}
