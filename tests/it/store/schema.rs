//! A store is opened only if everything in it is what the migrations make: a trigger, a view or a table that someone
//! added could change what is recorded, what is private and what is published.

use std::time::Duration;

use git_proof::proof::record::{Id, RecordType};
use git_proof::proof::timestamp::Timestamp;
use git_proof::store::{NewEntry, NewEvent, NewThought, Store};

use super::scratch::{Scratch, text};

/// Makes every private record public as it is recorded.
const EXPOSE: &str = "CREATE TRIGGER made_public AFTER INSERT ON audit_events BEGIN \
                      UPDATE thought_records SET private = 0 WHERE private = 1; END";

/// The rows of the store that a command could have changed.
fn rows(scratch: &Scratch) -> (i64, i64, i64) {
    (scratch.rows("audit_sessions"), scratch.rows("thought_records"), scratch.rows("audit_events"))
}

#[test]
fn store_with_anything_added_changed_or_missing_is_refused() {
    for (sql, named) in [
        (EXPOSE, "made_public"),
        ("CREATE TRIGGER other_root AFTER INSERT ON merkle_roots BEGIN SELECT 1; END", "other_root"),
        ("CREATE VIEW seen AS SELECT * FROM thought_records", "seen"),
        ("CREATE TABLE more (x)", "more"),
        ("CREATE INDEX more ON thought_records (type)", "more"),
        ("CREATE UNIQUE INDEX once ON audit_events (tool)", "once"),
        ("CREATE VIRTUAL TABLE words USING fts5 (x)", "words"),
        ("ANALYZE", "sqlite_stat1"),
        ("DROP TRIGGER thought_records_kept", "thought_records_kept"),
        ("DROP INDEX thought_records_by_id", "thought_records_by_id"),
        ("DROP TABLE zones", "zones"),
        ("ALTER TABLE thought_records ADD COLUMN more TEXT", "thought_records"),
        ("ALTER TABLE anchors RENAME COLUMN written_at TO at", "anchors"),
        ("DROP TABLE thought_records_fts", "thought_records_fts"),
        (
            "DROP TRIGGER thought_records_kept; \
             CREATE TRIGGER thought_records_kept BEFORE DELETE ON thought_records BEGIN SELECT 1; END",
            "thought_records_kept",
        ),
        (
            "DROP TRIGGER thought_records_kept; \
             CREATE TRIGGER thought_records_kept BEFORE DELETE ON anchors BEGIN SELECT raise(ABORT, 'an entry cannot be deleted'); END",
            "thought_records_kept",
        ),
        (
            "PRAGMA writable_schema = ON; \
             UPDATE sqlite_schema SET sql = replace(sql, 'block BLOB', 'block BLOB, more') WHERE name = 'thought_records_fts_data'",
            "thought_records_fts_data",
        ),
    ] {
        let scratch = Scratch::with_session();
        scratch.json(&["record", "--type", "plan", "--content", "a whisper", "--private"]);
        scratch.database().execute_batch(sql).unwrap();
        let before = rows(&scratch);
        for arguments in [
            &["log"][..],
            &["check"],
            &["start", "--intent", "x"],
            &["record", "--type", "reflection", "--content", "x"],
            &["finalize"],
            &["anchor"],
            &["sync"],
            &["init"],
        ] {
            let error = scratch.refused(arguments, "ERR_STORE_FAILED", 4);
            assert!(text(&error, "message").contains(named), "{sql}: {error}");
            let hint = text(&error, "hint");
            assert!(hint.contains("backup") && hint.contains("move"), "{error}");
        }
        assert_eq!(rows(&scratch), before, "{sql}");
    }
}

#[test]
fn doctor_names_what_was_added_to_a_store() {
    let scratch = Scratch::with_session();
    scratch.database().execute_batch(EXPOSE).unwrap();
    let ran = scratch.run(["--json", "doctor"]);
    let outcome: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let store = outcome["checks"].as_array().unwrap().iter().find(|check| check["name"] == "store").unwrap();
    assert_eq!(store["state"], "wrong");
    assert!(text(store, "message").contains("made_public"), "{store}");
}

#[test]
fn hooks_do_not_work_on_a_store_that_was_changed() {
    let scratch = Scratch::with_session();
    scratch.database().execute_batch(EXPOSE).unwrap();
    let before = rows(&scratch);
    let event = br#"{"hook_event_name":"SessionStart","session_id":"a-session"}"#;
    let ran = scratch.run_with(&["hook", "claude-code"], event);
    assert!(ran.err.contains("made_public"), "{ran:?}");
    assert!(scratch.run(["hook", "post-commit"]).err.contains("made_public"));
    assert_eq!(rows(&scratch), before);
}

#[test]
fn store_that_was_vacuumed_is_opened() {
    let scratch = Scratch::with_session();
    scratch.record("plan", "x");
    scratch.database().execute_batch("VACUUM").unwrap();
    scratch.json(&["check"]);
}

#[test]
fn trigger_that_is_added_while_the_store_is_open_is_found_before_the_next_entry() {
    let scratch = Scratch::with_session();
    let mut store = Store::open(&scratch.store(), Duration::from_secs(5)).unwrap();
    let session = Id::parse("s").unwrap();
    let timestamp = Timestamp::parse("2026-03-01T09:00:00.000Z").unwrap();
    let thought = |id: &str| {
        NewEntry::Thought(NewThought {
            id: Id::parse(id).unwrap(),
            kind: RecordType::Plan,
            content: "a whisper",
            metadata: None,
            parent: None,
            private: true,
            timestamp,
        })
    };
    let event = NewEvent { tool: "thought_record", arguments: b"", at: timestamp };
    store.append(&session, &[thought("a")], &event).unwrap();
    scratch.database().execute_batch(EXPOSE).unwrap();
    let error = store.append(&session, &[thought("b")], &event).unwrap_err();
    assert!(error.message.contains("made_public"), "{error}");
    assert!(store.log(&session, None).is_err());
    assert_eq!(scratch.rows("thought_records"), 1);
    scratch.database().execute_batch("DROP TRIGGER made_public").unwrap();
    store.append(&session, &[thought("b")], &event).unwrap();
}

#[test]
fn older_store_with_something_added_is_left_as_it_was() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.place.join(".git/proof")).unwrap();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/store-v5.db");
    std::fs::write(scratch.store(), std::fs::read(fixture).unwrap()).unwrap();
    let sql = "CREATE TRIGGER made_public AFTER UPDATE ON thought_records BEGIN SELECT 1; END";
    scratch.database().execute_batch(sql).unwrap();
    let error = scratch.refused(&["check", "--session", "done"], "ERR_STORE_FAILED", 4);
    assert!(text(&error, "message").contains("made_public"), "{error}");
    let level: i64 = scratch.database().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(level, 5);
}

#[test]
fn database_of_another_program_is_left_as_it_was() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.place.join(".git/proof")).unwrap();
    scratch.database().execute_batch("CREATE TABLE of_someone_else (x)").unwrap();
    let error = scratch.refused(&["start", "--intent", "x"], "ERR_STORE_FAILED", 4);
    assert!(text(&error, "message").contains("of_someone_else"), "{error}");
    assert_eq!(scratch.rows("sqlite_schema"), 1);
}

#[test]
fn store_behind_a_link_is_refused() {
    let link = |from: &std::path::Path, to: &std::path::Path| {
        std::fs::rename(from, to).unwrap();
        std::os::unix::fs::symlink(to, from).unwrap();
    };
    for name in ["", "/store.db", "/store.db-wal", "/store.db-shm"] {
        let scratch = Scratch::with_session();
        let path = scratch.place.join(format!(".git/proof{name}"));
        let outside = scratch.around().join("outside");
        link(&path, &outside);
        for arguments in
            [&["log"][..], &["start", "--intent", "x"], &["init"], &["record", "--type", "plan", "--content", "x"]]
        {
            let error = scratch.refused(arguments, "ERR_STORE_FAILED", 4);
            assert!(text(&error, "message").contains("link"), "{name}: {error}");
        }
        // What the hint says to type works.
        let hint = scratch.refused(&["log"], "ERR_STORE_FAILED", 4)["hint"].as_str().unwrap().to_owned();
        let command = hint.split_once(": ").unwrap().1;
        assert!(scratch.command("sh").args(["-c", command]).status().unwrap().success(), "{hint}");
        scratch.json(&["log"]);
    }
}

#[test]
fn hook_that_needs_no_store_writes_nothing_behind_a_link() {
    let scratch = Scratch::new();
    std::fs::write(scratch.place.join("file"), "x").unwrap();
    scratch.git(["add", "file"]);
    scratch.start("s", &[]);
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
    let (proof, outside) = (scratch.place.join(".git/proof"), scratch.around().join("outside"));
    assert!(proof.join("next").exists());
    std::fs::rename(&proof, &outside).unwrap();
    std::os::unix::fs::symlink(&outside, &proof).unwrap();
    let message = scratch.place.join("message");
    std::fs::write(&message, "a message\n").unwrap();
    let mut hook = scratch.proof(["hook", "commit-msg", message.to_str().unwrap()]);
    let ran = hook.env("GIT_AUTHOR_DATE", "1700000000 +0000").output().unwrap();
    assert!(String::from_utf8_lossy(&ran.stderr).contains("is a link"), "{ran:?}");
    assert!(!outside.join("pending").exists());
    assert_eq!(std::fs::read_to_string(&message).unwrap(), "a message\n");
}

#[test]
fn mark_behind_a_link_is_not_written() {
    let scratch = Scratch::new();
    scratch.json(&["init"]);
    let (mark, outside) = (scratch.place.join(".git/proof/active"), scratch.around().join("outside"));
    std::fs::remove_file(&mark).unwrap();
    std::os::unix::fs::symlink(&outside, &mark).unwrap();
    scratch.refused(&["start", "--intent", "x"], "ERR_STORE_FAILED", 4);
    assert!(!outside.exists());
}

#[test]
fn store_is_not_made_behind_a_link_to_nowhere() {
    for name in ["", "/store.db"] {
        let scratch = Scratch::new();
        if !name.is_empty() {
            std::fs::create_dir(scratch.place.join(".git/proof")).unwrap();
        }
        let outside = scratch.around().join("outside");
        std::os::unix::fs::symlink(&outside, scratch.place.join(format!(".git/proof{name}"))).unwrap();
        scratch.refused(&["start", "--intent", "x"], "ERR_STORE_FAILED", 4);
        assert!(!outside.exists());
    }
}
