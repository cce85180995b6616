//! A server that has been at work for long is as small as one that has just begun.

use serde_json::json;

use super::wire::{Wire, call, plan, start};
use super::{check, ledger, repository};

/// Resident memory in KiB, and the number of open files.
fn size(process: u32) -> (u64, usize) {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let resident =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok());
    (resident.unwrap(), std::fs::read_dir(format!("/proc/{process}/fd")).unwrap().count())
}

#[test]
fn two_thousand_calls_leave_memory_and_files_as_they_were() {
    let home = repository();
    let mut wire = Wire::new(home.path());
    start(&mut wire);
    let mut id = 0;
    let mut five_calls = |wire: &mut Wire| {
        let s1 = json!({ "session_id": "s1" });
        for (tool, arguments) in [
            ("thought_record", plan("one of many")),
            ("merkle_audit", s1.clone()),
            ("thought_search", json!({ "query": "many", "limit": 1 })),
            ("merkle_root", s1.clone()), // refused: it is not finalized
            ("thought_record", json!({ "session_id": "s1", "type": 5 })),
        ] {
            id += 1;
            wire.send(&call(id, tool, &arguments));
            assert_eq!(wire.answer()["id"], id);
        }
    };
    for _ in 0..100 {
        five_calls(&mut wire);
    }
    let (memory, files) = size(wire.server.id());
    for _ in 0..300 {
        five_calls(&mut wire);
    }
    let (memory_after, files_after) = size(wire.server.id());
    assert_eq!(files_after, files);
    // The cache of the store's pages grows with the store, up to its limit of 2 MiB.
    assert!(memory_after <= memory + 3 * 1024, "{memory} KiB became {memory_after} KiB");
    assert_eq!(wire.end().1.code, Some(0));
    assert_eq!(check(home.path(), "s1")["records"], 400);
    assert_eq!(ledger(home.path()).len(), 2001);
}
