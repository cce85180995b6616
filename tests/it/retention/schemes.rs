//! Sessions of every scheme, with branches and odd counts, go into an archive and come back byte for byte.

use std::time::Duration;

use git_proof::proof::record::Id;
use git_proof::proof::timestamp::Timestamp;
use git_proof::store::{Archive, NewEvent, Store, StoredZone};

use super::lines;
use crate::store::scratch::{Scratch, text};

const SCHEMES: [&str; 4] = ["v1", "v1-sorted", "v1-rfc9162", "ams-v0"];

/// A finalized session of so many entries, some of which branch off.
fn session(scratch: &Scratch, name: &str, scheme: &str, entries: usize) {
    scratch.start(name, &["--scheme", scheme, "--not-proof-grade"]);
    let first = scratch.json(&["record", "--type", "plan", "--content", "the first \u{1f600} \\ \" \n line"]);
    for number in 1..entries {
        let content = format!("number {number}");
        let mut record = vec!["record", "--type", "analysis", "--content", &content, "--metadata", "{\"z\":[1,2]}"];
        if number % 3 == 2 {
            record.extend(["--parent", text(&first, "id")]);
        }
        scratch.json(&record);
    }
    scratch.json(&["finalize"]);
}

#[test]
fn archived_and_restored_a_session_of_any_scheme_is_the_same() {
    let scratch = Scratch::new();
    let archive = Archive::new(scratch.around().join("archive"), None);
    let event = NewEvent { tool: "test", arguments: b"", at: Timestamp::parse("2026-03-01T00:00:00.000Z").unwrap() };
    for scheme in SCHEMES {
        for entries in [1, 2, 7] {
            let name = format!("{scheme}-{entries}");
            session(&scratch, &name, scheme, entries);
            let before = lines(&scratch, &name);
            let id = Id::parse(&name).unwrap();
            let mut store = Store::open(&scratch.store(), Duration::from_secs(5)).unwrap();
            let checked = store.check(&id).unwrap();
            let held = store.archive(&id, &archive, "unfinished").unwrap();
            archive.verify(&held.hash, &store.root(&id).unwrap().unwrap()).unwrap();
            store.to_cold(&id, &held, &event).unwrap();
            assert_eq!(store.blank(&id).unwrap(), entries as u64, "{name}");
            assert_eq!(store.blank(&id).unwrap(), 0, "{name}");
            let cold = store.check(&id).unwrap();
            assert_eq!(
                (cold.root, cold.head, cold.blanked, cold.broken),
                (checked.root, checked.head, entries as u64, None)
            );
            assert!(store.restore(&id, &archive, &event).unwrap(), "{name}");
            assert!(!store.restore(&id, &archive, &event).unwrap(), "{name}");
            assert_eq!(store.zone(&id).unwrap().unwrap().zone, StoredZone::Warm, "{name}");
            assert_eq!(lines(&scratch, &name), before, "{name}");
            assert_eq!(store.check(&id).unwrap(), checked, "{name}");
        }
    }
}
