//! Whoever goes around the program is held by the triggers, and found by `check` where the triggers are gone.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::Value;

use super::scratch::{Ran, Scratch, WithoutTriggers, text};

const SCHEMES: [&str; 4] = ["v1", "v1-sorted", "v1-rfc9162", "ams-v0"];
/// Entries of each session. Seven leaves have complete nodes and an edge.
const COUNT: i64 = 7;

/// A store with an open and a finalized session in every scheme, and nothing left in its write-ahead log.
static TEMPLATE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let scratch = Scratch::new();
    for scheme in SCHEMES {
        for state in ["open", "final"] {
            let id = format!("{scheme}-{state}");
            scratch.start(&id, &["--scheme", scheme, "--not-proof-grade", "--task", "T-1"]);
            scratch.record("plan", "the zeroth");
            scratch.json(&["record", "--type", "analysis", "--content", "the first", "--metadata", r#"{"a":1}"#]);
            scratch.json(&["attest", "two", "three", "four", "five"]);
            scratch.record("reflection", "the last");
            if state == "final" {
                scratch.json(&["finalize"]);
            }
        }
    }
    scratch.database().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    std::fs::read(scratch.store()).unwrap()
});

/// A repository with a copy of that store.
struct Copy(Scratch);

impl Copy {
    fn new() -> Self {
        let scratch = Scratch::new();
        std::fs::create_dir(scratch.place.join(".git/proof")).unwrap();
        Self(scratch)
    }

    /// A fresh copy, with the triggers dropped.
    fn reset(&self) -> WithoutTriggers {
        for end in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", self.0.store().display())); // there may be none
        }
        std::fs::write(self.0.store(), &*TEMPLATE).unwrap();
        let database = self.0.without_triggers();
        database.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        database
    }

    fn check(&self, session: &str) -> Ran {
        self.0.run(["--json", "check", "--session", session])
    }

    /// Changes something with one statement; `check` must name the break. The answer is its details.
    #[track_caller]
    fn found(&self, session: &str, sql: &str) -> Value {
        let database = self.reset();
        let changed = database.execute(sql, []).unwrap();
        assert!(changed > 0, "{sql}");
        drop(database);
        let ran = self.check(session);
        assert_eq!(ran.exit, Some(1), "{session}: {sql}: {ran:?}");
        ran.error("ERR_CHAIN_BROKEN", 1)["details"].clone()
    }
}

#[test]
fn untouched_sessions_verify() {
    let copy = Copy::new();
    copy.reset();
    for scheme in SCHEMES {
        assert_eq!(copy.check(&format!("{scheme}-open")).json()["records"], COUNT);
        assert_eq!(copy.check(&format!("{scheme}-final")).json()["records"], COUNT);
    }
}

#[test]
fn changed_column_of_an_entry_is_found_where_it_is() {
    let copy = Copy::new();
    let changes = [
        ("line", "replace(line, 'the', 'teh')", "content_hash_mismatch", [0, 1, 6].as_slice()),
        ("line", "line || ' '", "content_hash_mismatch", &[3]),
        ("line", "'{}'", "content_hash_mismatch", &[2]),
        ("content_hash", "randomblob(32)", "content_hash_mismatch", &[0, 2, 6]),
        ("chain_hash", "randomblob(32)", "chain_hash_mismatch", &[0, 3, 6]),
        ("prev_hash", "randomblob(32)", "columns_differ", &[0, 3, 6]),
        ("id", "'another'", "columns_differ", &[0, 5, 6]),
        ("timestamp", "'2001-01-01T00:00:00.000Z'", "columns_differ", &[0, 4, 6]),
        ("type", "'decision'", "columns_differ", &[0, 2, 6]),
        ("parent_id", "NULL", "chain_hash_mismatch", &[1, 6]),
        ("parent_id", "id", "chain_hash_mismatch", &[0, 6]),
        ("parent_id", "'nobody'", "chain_hash_mismatch", &[0, 4]),
    ];
    for scheme in SCHEMES {
        for (column, value, reason, positions) in changes {
            for position in positions {
                let session = format!("{scheme}-{}", if position % 2 == 0 { "open" } else { "final" });
                let details = copy.found(
                    &session,
                    &format!(
                        "UPDATE thought_records SET {column} = {value} \
                         WHERE session_id = '{session}' AND position = {position}"
                    ),
                );
                assert_eq!(
                    (&details["index"], text(&details, "reason")),
                    (&Value::from(*position), reason),
                    "{column}"
                );
            }
        }
    }
}

#[test]
fn entry_taken_out_of_the_middle_is_found() {
    let copy = Copy::new();
    for scheme in SCHEMES {
        for position in 0..COUNT - 1 {
            let session = format!("{scheme}-open");
            let sql = format!("DELETE FROM thought_records WHERE session_id = '{session}' AND position = {position}");
            let details = copy.found(&session, &sql);
            assert_eq!(
                (text(&details, "reason"), text(&details, "expected")),
                ("position_missing", &*position.to_string())
            );
        }
    }
}

#[test]
fn entries_cut_off_at_the_end_are_found() {
    let copy = Copy::new();
    for scheme in SCHEMES {
        for first in 0..COUNT {
            for state in ["open", "final"] {
                let session = format!("{scheme}-{state}");
                let sql = format!("DELETE FROM thought_records WHERE session_id = '{session}' AND position >= {first}");
                let details = copy.found(&session, &sql);
                assert_eq!((&details["index"], text(&details, "reason")), (&Value::from(first), "entries_missing"));
            }
        }
    }
}

#[test]
fn entries_that_changed_places_are_found() {
    let copy = Copy::new();
    for scheme in SCHEMES {
        for (one, other) in [(0, 1), (2, 3), (0, 6), (5, 6)] {
            let session = format!("{scheme}-final");
            let database = copy.reset();
            let exchange = format!(
                "UPDATE thought_records SET position = -1 WHERE session_id = '{session}' AND position = {one};
                 UPDATE thought_records SET position = {one} WHERE session_id = '{session}' AND position = {other};
                 UPDATE thought_records SET position = {other} WHERE session_id = '{session}' AND position = -1;"
            );
            database.execute_batch(&exchange).unwrap();
            drop(database);
            let details = copy.check(&session).error("ERR_CHAIN_BROKEN", 1)["details"].clone();
            assert_eq!((&details["index"], text(&details, "reason")), (&Value::from(one), "chain_hash_mismatch"));
        }
    }
}

#[test]
fn changed_session_is_found() {
    let copy = Copy::new();
    let changes = [
        "intent = 'something else'",
        "caller = 'someone else'",
        "task_id = NULL",
        "task_id = 'T-2'",
        "started_at = '2001-01-01T00:00:00.000Z'",
        "proof_grade = 1",
        "genesis = randomblob(32)",
        "scheme = CASE scheme WHEN 'v1' THEN 'v1-rfc9162' ELSE 'v1' END",
        "opening = replace(opening, 'try it', 'try that')",
    ];
    for scheme in SCHEMES {
        for change in changes {
            let session = format!("{scheme}-final");
            let sql = format!("UPDATE audit_sessions SET {change} WHERE session_id = '{session}'");
            assert_eq!(text(&copy.found(&session, &sql), "reason"), "genesis_mismatch", "{change}");
        }
    }
}

#[test]
fn opening_rewritten_with_all_its_columns_is_found_in_the_first_entry() {
    let copy = Copy::new();
    for scheme in ["v1", "v1-sorted", "v1-rfc9162"] {
        let session = format!("{scheme}-open");
        let database = copy.reset();
        let opening: String = database
            .query_row("SELECT opening FROM audit_sessions WHERE session_id = ?1", [&session], |row| row.get(0))
            .unwrap();
        let forged = opening.replace("try it", "try that");
        let genesis = super::independent::sha256(forged.as_bytes());
        database
            .execute(
                "UPDATE audit_sessions SET intent = 'try that', opening = ?2, genesis = ?3 WHERE session_id = ?1",
                (&session, &forged, genesis),
            )
            .unwrap();
        drop(database);
        let details = copy.check(&session).error("ERR_CHAIN_BROKEN", 1)["details"].clone();
        assert_eq!((&details["index"], text(&details, "reason")), (&Value::from(0), "chain_hash_mismatch"));
    }
}

#[test]
fn opening_that_is_no_opening_is_found() {
    let copy = Copy::new();
    let database = copy.reset();
    database.execute("UPDATE audit_sessions SET opening = '{}' WHERE session_id = 'v1-open'", []).unwrap();
    drop(database);
    let error = copy.check("v1-open").error("ERR_STORE_FAILED", 4);
    assert!(text(&error, "message").contains("opening"), "{error}");
}

#[test]
fn changed_root_is_found() {
    let copy = Copy::new();
    let changes = ["root = randomblob(32)", "record_count = 8", "head = randomblob(32)", "genesis = randomblob(32)"];
    for scheme in SCHEMES {
        for change in changes {
            let session = format!("{scheme}-final");
            let sql = format!("UPDATE merkle_roots SET {change} WHERE session_id = '{session}'");
            assert_eq!(text(&copy.found(&session, &sql), "reason"), "root_mismatch", "{change}");
        }
    }
}

#[test]
fn root_taken_away_is_found() {
    let copy = Copy::new();
    for scheme in SCHEMES {
        let session = format!("{scheme}-final");
        let details = copy.found(&session, &format!("DELETE FROM merkle_roots WHERE session_id = '{session}'"));
        assert_eq!(text(&details, "reason"), "root_mismatch");
    }
}

#[test]
fn every_changed_or_missing_tree_node_is_found() {
    let copy = Copy::new();
    for scheme in SCHEMES {
        for state in ["open", "final"] {
            let session = format!("{scheme}-{state}");
            let nodes: Vec<(i64, i64)> = copy
                .reset()
                .prepare("SELECT level, node_index FROM merkle_nodes WHERE session_id = ?1")
                .unwrap()
                .query_map([&session], |row| Ok((row.get(0)?, row.get(1)?)))
                .unwrap()
                .map(Result::unwrap)
                .collect();
            assert_eq!(nodes.is_empty(), state == "open");
            for (level, index) in nodes {
                let which = format!("WHERE session_id = '{session}' AND level = {level} AND node_index = {index}");
                for sql in [
                    format!("UPDATE merkle_nodes SET hash = randomblob(32) {which}"),
                    format!("DELETE FROM merkle_nodes {which}"),
                ] {
                    let reason = copy.found(&session, &sql)["reason"].clone();
                    assert!(reason == "node_mismatch" || reason == "root_mismatch", "{session} {sql}: {reason}");
                }
            }
        }
    }
}

#[test]
fn every_changed_missing_or_added_node_of_an_entry_is_found() {
    let copy = Copy::new();
    for scheme in SCHEMES {
        for (position, state) in (0..COUNT).zip(["open", "final"].into_iter().cycle()) {
            let session = format!("{scheme}-{state}");
            let completes = if scheme == "v1-sorted" { 0 } else { (position + 1).trailing_zeros() };
            let mut changes = vec![format!("CAST(coalesce(nodes, x'') || randomblob(32) AS BLOB)")];
            if completes > 0 {
                changes.extend(["NULL".to_owned(), "randomblob(length(nodes))".to_owned()]);
            }
            if completes > 1 {
                changes.extend(["substr(nodes, 1, 32)".to_owned(), "substr(nodes, 33)".to_owned()]);
            }
            for change in changes {
                let details = copy.found(
                    &session,
                    &format!(
                        "UPDATE thought_records SET nodes = {change} \
                         WHERE session_id = '{session}' AND position = {position}"
                    ),
                );
                let found = (&details["index"], text(&details, "reason"));
                assert_eq!(found, (&Value::from(position), "node_mismatch"), "{session} {change}");
            }
        }
    }
}

#[test]
fn broken_session_is_not_finalized() {
    let copy = Copy::new();
    let database = copy.reset();
    let sql = "UPDATE thought_records SET line = replace(line, 'the', 'teh') WHERE position = 1";
    assert!(database.execute(sql, []).unwrap() > 0);
    drop(database);
    let error = copy.0.refused(&["finalize", "--session", "v1-open"], "ERR_CHAIN_BROKEN", 1);
    assert_eq!(error["details"]["index"], 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any one character of any line of any session whose scheme hashes the line.
    #[test]
    fn any_changed_character_of_a_line_is_found(
        scheme in prop::sample::select(&SCHEMES[..3]),
        state in prop::sample::select(&["open", "final"][..]),
        position in 0..COUNT,
        at in any::<prop::sample::Index>(),
        instead in prop::sample::select(&['0', 'x', ' ', '"', '}', '\\', 'é', '\u{1}'][..]),
    ) {
        let copy = Copy::new();
        let session = format!("{scheme}-{state}");
        let database = copy.reset();
        let which = "WHERE session_id = ?1 AND position = ?2";
        let line: String = database
            .query_row(&format!("SELECT line FROM thought_records {which}"), (&session, position), |row| row.get(0))
            .unwrap();
        let mut changed: Vec<char> = line.chars().collect();
        let at = at.index(changed.len());
        prop_assume!(changed[at] != instead);
        changed[at] = instead;
        let changed: String = changed.into_iter().collect();
        let sql = format!("UPDATE thought_records SET line = ?3 {which}");
        // The computed columns read the line as JSON: what is no JSON, SQLite does not even store.
        if database.execute(&sql, (&session, position, &changed)).is_ok() {
            drop(database);
            let error = copy.check(&session).error("ERR_CHAIN_BROKEN", 1);
            prop_assert_eq!(error["details"]["index"].as_i64(), Some(position));
            prop_assert_eq!(text(&error["details"], "reason"), "content_hash_mismatch");
        }
    }

    /// Any one bit of any digest of an entry.
    #[test]
    fn any_flipped_bit_of_a_digest_is_found(
        scheme in prop::sample::select(&SCHEMES[..]),
        position in 0..COUNT,
        column in prop::sample::select(&["content_hash", "chain_hash", "prev_hash"][..]),
        bit in 0..256_usize,
    ) {
        let copy = Copy::new();
        let session = format!("{scheme}-final");
        let database = copy.reset();
        let which = "WHERE session_id = ?1 AND position = ?2";
        let sql = format!("SELECT {column} FROM thought_records {which}");
        let mut digest: [u8; 32] = database.query_row(&sql, (&session, position), |row| row.get(0)).unwrap();
        digest[bit / 8] ^= 1 << (bit % 8);
        let sql = format!("UPDATE thought_records SET {column} = ?3 {which}");
        database.execute(&sql, (&session, position, digest)).unwrap();
        drop(database);
        let error = copy.check(&session).error("ERR_CHAIN_BROKEN", 1);
        prop_assert_eq!(error["details"]["index"].as_i64(), Some(position));
    }
}

/// A finalized session `done`, an ended one `over` and an open one `s`, triggers in place.
fn guarded() -> Scratch {
    let scratch = Scratch::new();
    for id in ["done", "over", "s"] {
        scratch.start(id, &[]);
        scratch.record("plan", "needle one");
        scratch.record("analysis", "needle two");
        scratch.record("reflection", "needle three");
    }
    scratch.json(&["finalize", "--session", "done"]);
    scratch.json(&["end", "--session", "over"]);
    scratch
}

#[test]
fn triggers_refuse_every_change_of_what_is_hashed() {
    let scratch = guarded();
    let database = scratch.database();
    let statements = [
        "UPDATE thought_records SET line = replace(line, 'e', 'f')",
        "UPDATE thought_records SET content_hash = randomblob(32)",
        "UPDATE thought_records SET chain_hash = randomblob(32)",
        "UPDATE thought_records SET prev_hash = randomblob(32)",
        "UPDATE thought_records SET parent_id = NULL WHERE position = 1",
        "UPDATE thought_records SET id = 'x' WHERE seq = 1",
        "UPDATE thought_records SET timestamp = '2001-01-01T00:00:00.000Z'",
        "UPDATE thought_records SET type = 'decision'",
        "UPDATE thought_records SET position = position + 10",
        "UPDATE thought_records SET session_id = 'over' WHERE session_id = 's'",
        "UPDATE thought_records SET private = 1",
        "UPDATE thought_records SET nodes = zeroblob(32)",
        "UPDATE thought_records SET line = NULL, type = 'decision'",
        "DELETE FROM thought_records WHERE position = 2",
        "UPDATE audit_sessions SET intent = 'x'",
        "UPDATE audit_sessions SET caller = 'x'",
        "UPDATE audit_sessions SET task_id = 'x'",
        "UPDATE audit_sessions SET started_at = '2001-01-01T00:00:00.000Z'",
        "UPDATE audit_sessions SET proof_grade = 0",
        "UPDATE audit_sessions SET scheme = 'ams-v0'",
        "UPDATE audit_sessions SET opening = '{}'",
        "UPDATE audit_sessions SET genesis = randomblob(32)",
        "UPDATE audit_sessions SET ended_at = NULL WHERE session_id = 'over'",
        "DELETE FROM audit_sessions",
        "UPDATE merkle_nodes SET hash = randomblob(32)",
        "DELETE FROM merkle_nodes",
        "UPDATE merkle_roots SET root = randomblob(32)",
        "UPDATE merkle_roots SET record_count = 2",
        "UPDATE merkle_roots SET head = randomblob(32)",
        "UPDATE merkle_roots SET genesis = randomblob(32)",
        "UPDATE merkle_roots SET finalized_at = '2001-01-01T00:00:00.000Z'",
        "DELETE FROM merkle_roots",
        "UPDATE audit_events SET detail = NULL",
        "DELETE FROM audit_events",
    ];
    for statement in statements {
        let error = database.execute(statement, []).expect_err(statement).to_string();
        assert!(error.contains("cannot be") || error.contains("can only be"), "{statement}: {error}");
    }
    for session in ["done", "over", "s"] {
        scratch.json(&["check", "--session", session]);
    }
}

#[test]
fn triggers_refuse_an_entry_in_a_finalized_or_ended_session() {
    let scratch = guarded();
    let database = scratch.database();
    for (session, taken) in [("done", false), ("over", false), ("s", true)] {
        let inserted = database.execute(
            "INSERT INTO thought_records (session_id, position, id, parent_id, type, timestamp, prev_hash, content_hash, \
             chain_hash, private, last_event, line) SELECT session_id, 3, 'new-' || session_id, id, type, timestamp, \
             chain_hash, content_hash, chain_hash, 0, last_event, line FROM thought_records \
             WHERE session_id = ?1 AND position = 2",
            [session],
        );
        assert_eq!(inserted.is_ok(), taken, "{session}: {inserted:?}");
    }
}

#[test]
fn record_on_a_finalized_session_is_refused() {
    let scratch = guarded();
    let record = ["record", "--type", "plan", "--content", "late", "--session"];
    scratch.refused(&[&record[..], &["done"]].concat(), "ERR_ALREADY_FINALIZED", 1);
    scratch.refused(&["attest", "late", "--session", "done"], "ERR_ALREADY_FINALIZED", 1);
}

#[test]
fn record_on_an_ended_session_is_refused() {
    let scratch = guarded();
    let record = ["record", "--type", "plan", "--content", "late", "--session", "over"];
    scratch.refused(&record, "ERR_SESSION_ENDED", 1);
    scratch.refused(&["attest", "late", "--session", "over"], "ERR_SESSION_ENDED", 1);
}

/// Blanks a body of a session that is frozen.
fn blank(scratch: &Scratch) {
    let zone = "INSERT INTO zones VALUES ('done', 'frozen', '2026-03-01T00:00:00.000Z', NULL, NULL, 0, 0)";
    scratch.database().execute(zone, []).unwrap();
    let sql = "UPDATE thought_records SET line = NULL WHERE session_id = 'done' AND position = 1";
    assert_eq!(scratch.database().execute(sql, []).unwrap(), 1);
}

#[test]
fn blanked_body_leaves_hashes_and_proofs_whole() {
    let scratch = guarded();
    let log = scratch.json(&["log", "--session", "done"]);
    let root = scratch.json(&["root", "--session", "done"]);
    let prove = |index: usize| scratch.run(["prove", "--record", text(&log["entries"][index], "id")]).text().to_owned();
    let before: Vec<String> = (0..3).map(prove).collect();

    blank(&scratch);

    let check = scratch.json(&["check", "--session", "done"]);
    assert_eq!((check["records"].as_i64(), check["blanked"].as_i64()), (Some(3), Some(1)));
    assert_eq!(scratch.json(&["root", "--session", "done"]), root);
    for (index, proof) in before.iter().enumerate() {
        assert_eq!(&prove(index), proof);
        let trusted = ["check-proof", "-", "--root", text(&root, "root"), "--count", "3"];
        assert_eq!(scratch.run_with(&trusted, proof.as_bytes()).json()["valid"], true);
    }
}

#[test]
fn blanked_body_is_shown_as_blanked_and_not_found_any_more() {
    let scratch = guarded();
    blank(&scratch);
    let log = scratch.json(&["log", "--session", "done"]);
    assert_eq!((&log["entries"][1]["blanked"], &log["entries"][1]["content"]), (&Value::from(true), &Value::Null));
    assert!(scratch.run(["log", "--session", "done"]).text().contains("(blanked"));
    let hits = scratch.json(&["search", "needle two", "--session", "done"]);
    assert_eq!(hits["hits"].as_array().unwrap().len(), 0);
}
