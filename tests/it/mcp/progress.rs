//! Long work: who asked for it is told how far it is, until the answer; who did not is not. And calls that are
//! cancelled.

use std::path::Path;
use std::time::Duration;

use git_proof::proof::record::{Id, Opening, RecordType};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::timestamp::Timestamp;
use git_proof::store::{NewEntry, NewEvent, NewSession, NewThought, Store};
use serde_json::{Value, json};

use super::wire::{Wire, call, plan, start};
use super::{check, database, ledger, repository};

/// Long enough that going over it takes a while, in a build that is not optimized.
const ENTRIES: u32 = 30_000;

/// A session that is open, and ends in a reflection.
fn long_session(directory: &Path) {
    let now = Timestamp::parse("2026-03-01T00:00:00.000Z").unwrap();
    let event = NewEvent { tool: "test", arguments: b"", at: now };
    let mut store = Store::open_or_create(&directory.join(".git/proof/store.db"), Duration::from_mins(1)).unwrap();
    let opening = Opening {
        caller: "test".into(),
        intent: "long".into(),
        proof_grade: true,
        scheme: Scheme::V1,
        session_id: Id::parse("long").unwrap(),
        started_at: now,
        task_id: None,
    };
    store.start(&NewSession { opening: &opening, worktree: None }, &event).unwrap();
    let content = "x".repeat(2000);
    let thought = |number: u32| {
        let kind = if number + 1 == ENTRIES { RecordType::Reflection } else { RecordType::Analysis };
        let id = Id::parse(&format!("r{number}")).unwrap();
        let (metadata, parent, private, timestamp) = (None, None, false, now);
        NewEntry::Thought(NewThought { id, kind, content: &content, metadata, parent, private, timestamp })
    };
    let entries: Vec<NewEntry<'_>> = (0..ENTRIES).map(thought).collect();
    store.append(&opening.session_id, &entries, &event).unwrap();
}

/// A call that says who makes it, as the later protocol wants, and which token its progress is to carry.
fn long_call(id: u64, tool: &str, modern: bool, token: Option<&Value>) -> Value {
    let mut call = call(id, tool, &json!({ "session_id": "long" }));
    let mut meta = if modern { who() } else { json!({}) };
    if let Some(token) = token {
        meta["progressToken"] = token.clone();
    }
    call["params"]["_meta"] = meta;
    call
}

fn who() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "wire", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn server(directory: &Path, modern: bool) -> Wire {
    if !modern {
        return Wire::new(directory);
    }
    let mut wire = Wire::silent(directory);
    wire.send(&json!({ "jsonrpc": "2.0", "id": "hello", "method": "server/discover", "params": { "_meta": who() } }));
    assert_eq!(wire.answer()["result"]["supportedVersions"].as_array().unwrap().last().unwrap(), "2026-07-28");
    wire
}

/// What is said up to the answer of a call, and the answer.
fn until_answered(wire: &mut Wire, id: u64) -> (Vec<Value>, Value) {
    let mut said = Vec::new();
    loop {
        let message = wire.answer();
        if message["id"] == id {
            assert_eq!(message["result"]["structuredContent"]["ok"], true, "{message}");
            return (said, message);
        }
        said.push(message);
    }
}

#[test]
fn who_asks_for_progress_gets_it_until_the_answer_in_both_eras() {
    let home = repository();
    long_session(home.path());
    for modern in [false, true] {
        let mut wire = server(home.path(), modern);
        let tokens = [json!("a token"), json!(7)];
        for (id, (tool, token)) in (1..).zip(["audit_verify_chain", "thought_verify"].into_iter().zip(&tokens)) {
            wire.send(&long_call(id, tool, modern, Some(token)));
            let (said, _) = until_answered(&mut wire, id);
            assert!(!said.is_empty(), "{tool} is too fast for this test: let ENTRIES be more");
            eprintln!("{tool}: {} words", said.len());
            let mut before = 0.0;
            for message in &said {
                let params = &message["params"];
                assert_eq!((&message["method"], &params["progressToken"]), (&json!("notifications/progress"), token));
                let progress = params["progress"].as_f64().unwrap();
                assert!(progress > before && progress <= f64::from(ENTRIES), "{message}");
                assert_eq!(params["total"].as_f64(), Some(f64::from(ENTRIES)));
                before = progress;
            }
        }
        // Nothing is said without a token, and nothing of a short call.
        wire.send(&long_call(8, "audit_verify_chain", modern, None));
        assert_eq!(until_answered(&mut wire, 8).0, Vec::<Value>::new());
        wire.send(&long_call(9, "merkle_audit", modern, Some(&json!(9))));
        assert_eq!(until_answered(&mut wire, 9).0, Vec::<Value>::new());
        if modern {
            wire.send(&long_call(10, "merkle_finalize", modern, Some(&json!("closing"))));
            let (said, answer) = until_answered(&mut wire, 10);
            assert!(!said.is_empty());
            assert_eq!(answer["result"]["structuredContent"]["data"]["record_count"], ENTRIES);
        }
        let (rest, run) = wire.end();
        assert_eq!((rest.len(), run.code), (0, Some(0)), "{rest:?}");
    }
}

/// What has begun is finished, and is whole; what has not begun is not begun. Neither is answered.
#[test]
fn a_cancelled_call_is_done_whole_or_not_at_all() {
    let home = repository();
    let mut wire = Wire::new(home.path());
    start(&mut wire);
    let other = database(home.path());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for n in 1..=10 {
        wire.send(&call(n, "thought_record", &plan(&format!("thought {n}"))));
    }
    // The first has begun, and waits for the store; these have not.
    for n in [4, 5, 10] {
        let cancelled = json!({ "requestId": n, "reason": "changed my mind" });
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }));
    }
    // An unknown call, one that is long done, and something that is none: nothing to cancel.
    for n in [json!(0), json!(99), json!("x"), json!(null)] {
        let cancelled = json!({ "requestId": n });
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }));
    }
    // This one is answered by rmcp alone: by then it has heard all of the above.
    wire.send(&json!({ "jsonrpc": "2.0", "id": 11, "method": "ping" }));
    assert_eq!(wire.answer()["id"], 11);
    other.execute_batch("COMMIT").unwrap();
    let (said, run) = wire.end();
    let ids: Vec<_> = said.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    assert_eq!((ids, run.code), (vec![1, 2, 3, 6, 7, 8, 9], Some(0)));
    assert_eq!(check(home.path(), "s1")["records"], 7);
    let outcomes: Vec<_> = ledger(home.path()).into_iter().map(|(_, _, outcome)| outcome).collect();
    assert_eq!(outcomes.iter().filter(|outcome| *outcome == "cancelled").count(), 3);
    assert_eq!(outcomes.len(), 11);
}

#[test]
fn a_long_call_that_is_cancelled_leaves_everything_whole() {
    let home = repository();
    long_session(home.path());
    let mut wire = Wire::new(home.path());
    wire.send(&long_call(1, "merkle_finalize", false, Some(&json!("t"))));
    assert_eq!(wire.answer()["params"]["progressToken"], "t"); // it is at work
    let cancelled = json!({ "requestId": 1 });
    wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }));
    wire.send(&call(2, "merkle_root", &json!({ "session_id": "long" })));
    loop {
        // A word that was on its way may still come; the answer to what was cancelled never does.
        let message = wire.answer();
        if message["id"] == 2 {
            assert_eq!(message["result"]["structuredContent"]["data"]["record_count"], ENTRIES);
            break;
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
    }
    let (rest, run) = wire.end();
    assert_eq!((rest.len(), run.code), (0, Some(0)), "{rest:?}");
    assert_eq!(check(home.path(), "long")["records"], ENTRIES);
}
