//! The write-ahead log, where each record is a process of its own: it is emptied before it gets long.

use std::time::Duration;

use git_proof::proof::record::{Id, Opening};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::timestamp::Timestamp;
use git_proof::store::{NewAttestation, NewEntry, NewEvent, NewSession, Store};

fn now() -> Timestamp {
    Timestamp::parse("2026-03-01T00:00:00.000Z").unwrap()
}

#[test]
fn the_log_stays_short_however_many_come_and_go() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("store.db");
    let open = || Store::open_or_create(&file, Duration::from_secs(5)).unwrap();
    let event = NewEvent { tool: "test", arguments: b"", at: now() };
    let session = Id::parse("s1").unwrap();
    let opening = Opening {
        caller: "test".into(),
        intent: "come and go".into(),
        proof_grade: false,
        scheme: Scheme::V1,
        session_id: session.clone(),
        started_at: now(),
        task_id: None,
    };
    open().start(&NewSession { opening: &opening, worktree: None }, &event).unwrap();
    let mut longest = 0;
    for number in 0..200 {
        let id = Id::parse(&format!("r{number}")).unwrap();
        let entry = NewEntry::Attestation(NewAttestation { id, operation: "ran it", metadata: None, timestamp: now() });
        open().append(&session, &[entry], &event).unwrap();
        longest = longest.max(std::fs::metadata(directory.path().join("store.db-wal")).unwrap().len());
    }
    assert!(longest < 400 << 10, "{longest} bytes");
    assert_eq!(open().check(&session).unwrap().records, 200);
}

#[test]
fn a_reader_is_not_disturbed_and_does_not_disturb() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("store.db");
    drop(Store::open_or_create(&file, Duration::from_secs(5)).unwrap());
    let reader = rusqlite::Connection::open(&file).unwrap();
    let count = || reader.query_row("SELECT count(*) FROM audit_events", [], |row| row.get::<_, i64>(0)).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    assert_eq!(count(), 0);
    // A log that is in use stays, and leaving does not wait for it: that would take the hour.
    let (left, has_left) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut store = Store::open_or_create(&file, Duration::from_hours(1)).unwrap();
        let event = NewEvent { tool: "test", arguments: b"", at: now() };
        for _ in 0..200 {
            store.note(None, &event, "ok").unwrap();
        }
        drop(store);
        left.send(()).unwrap();
    });
    has_left.recv_timeout(Duration::from_mins(10)).expect("leaving does not wait for readers");
    assert_eq!(count(), 0);
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(count(), 200);
}
