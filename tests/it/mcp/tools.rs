//! What each tool answers when all is well.

use serde_json::{Value, json};

use super::{Agent, check, commit, database, ledger, repository};
use crate::store::scratch::WithoutTriggers;
use crate::{common, naive};

/// A session with a branch: plan ← analysis ← decision, and a second decision on the plan.
fn branched(agent: &Agent) -> Vec<Value> {
    agent.ok("audit_session_start", json!({ "intent": "branch", "session_id": "s1" }));
    let record = |kind: &str, content: &str, parent: Option<&Value>| {
        let parent = parent.map_or(Value::Null, |parent| parent["id"].clone());
        let arguments = json!({ "session_id": "s1", "type": kind, "content": content, "parent_id": parent });
        agent.ok("thought_record", arguments)
    };
    let plan = record("plan", "durability first", None);
    let analysis = record("analysis", "the journal is slow", None);
    let decision = record("decision", "a write-ahead log", None);
    let other = record("decision", "no journal at all", Some(&plan));
    vec![plan, analysis, decision, other]
}

#[test]
fn records_are_read_back() {
    let home = repository();
    let agent = Agent::new(home.path());
    let records = branched(&agent);
    for record in &records {
        let mut got = agent.ok("thought_get", json!({ "id": record["id"] }));
        got.as_object_mut().unwrap().remove("provenance").unwrap();
        assert_eq!(&got, record);
    }
    let tree = agent.ok("thought_tree", json!({ "session_id": "s1" }));
    assert_eq!(tree["session"]["session_id"], "s1");
    let plan = &tree["children"][0];
    assert_eq!(plan["id"], records[0]["id"]);
    assert_eq!(plan["children"][0]["children"][0]["content"], "a write-ahead log");
    assert_eq!(plan["children"][1]["content"], "no journal at all");

    let trail = |arguments| agent.ok("thought_trail", arguments);
    let ids: Vec<_> = trail(json!({ "session_id": "s1", "record_id": records[3]["id"] }))
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["id"].clone())
        .collect();
    assert_eq!(ids, [records[0]["id"].clone(), records[3]["id"].clone()]);
    assert_eq!(trail(json!({ "record_id": records[2]["id"] })).as_array().unwrap().len(), 3);

    let found = agent.ok("thought_search", json!({ "query": "journal", "session_id": "s1" }));
    assert_eq!(found["hits"].as_array().unwrap().len(), 2);
    assert!(found["hits"][0]["rank"].is_f64());
    assert_eq!(
        agent.ok("thought_search", json!({ "query": "journal", "limit": 1 }))["hits"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn a_deep_tree_is_a_list() {
    let home = repository();
    let agent = Agent::new(home.path());
    agent.ok("audit_session_start", json!({ "intent": "deep", "session_id": "s1" }));
    for n in 0..90 {
        agent.ok("thought_record", json!({ "session_id": "s1", "type": "plan", "content": format!("{n}") }));
        if n == 39 {
            assert!(agent.ok("thought_tree", json!({ "session_id": "s1" }))["children"].is_array());
        }
    }
    let tree = agent.ok("thought_tree", json!({ "session_id": "s1" }));
    assert_eq!(tree["entries"].as_array().unwrap().len(), 90);
    assert_eq!(tree["entries"][89]["parent_id"], tree["entries"][88]["id"]);
}

#[test]
fn a_record_names_the_calls_since_the_record_before() {
    let home = repository();
    let agent = Agent::new(home.path());
    agent.ok("audit_session_start", json!({ "intent": "other", "session_id": "other" }));
    let records = branched(&agent);
    agent.ok("audit_verify_chain", json!({ "session_id": "s1" }));
    agent.ok("thought_search", json!({ "query": "x", "session_id": "other" }));
    agent.ok("thought_get", json!({ "id": records[0]["id"] }));
    agent.refused("ERR_REFLECTION_REQUIRED", "merkle_finalize", json!({ "session_id": "s1" }));
    let last = agent.ok("thought_record", json!({ "session_id": "s1", "type": "reflection", "content": "done" }));
    let provenance = |record: &Value| agent.ok("thought_get", json!({ "id": record["id"] }))["provenance"].clone();
    assert_eq!(
        provenance(&records[0]),
        json!({ "from": 2, "to": 3, "tools": ["audit_session_start", "thought_record"] })
    );
    assert_eq!(provenance(&records[1]), json!({ "from": 4, "to": 4, "tools": ["thought_record"] }));
    let tools = ["audit_verify_chain", "thought_get", "merkle_finalize", "thought_record"];
    assert_eq!(provenance(&last), json!({ "from": 7, "to": 11, "tools": tools }));
}

#[test]
fn leaves_are_attested_and_proved() {
    for scheme in ["v1", "v1-sorted", "v1-rfc9162", "ams-v0"] {
        let home = repository();
        let agent = Agent::new(home.path());
        agent.ok("audit_session_start", json!({ "intent": "prove", "session_id": "s1", "scheme": scheme }));
        let audit = || agent.ok("merkle_audit", json!({ "session_id": "s1" }));
        assert_eq!((&audit()["leaf_count"], &audit()["root"]), (&json!(0), &Value::Null));
        let attested =
            agent.ok("merkle_attest", json!({ "session_id": "s1", "operations": ["cargo test: 212 passed", "sent"] }));
        assert_eq!(attested.as_array().unwrap().len(), 2);
        assert_eq!((&audit()["leaf_count"], &audit()["finalized"]), (&json!(2), &json!(false)));
        let running = audit()["root"].clone();
        let last = agent.ok("thought_record", json!({ "session_id": "s1", "type": "reflection", "content": "done" }));
        assert_ne!(audit()["root"], running);
        let root = agent.ok("merkle_finalize", json!({ "session_id": "s1" }));
        assert_eq!((&audit()["root"], &audit()["finalized"]), (&root["root"], &json!(true)));

        let proof = agent.ok("merkle_proof", json!({ "record_id": last["id"] }));
        let by_leaf = json!({ "session_id": "s1", "leaf_hash": last["content_hash"] });
        assert_eq!(agent.ok("merkle_proof", by_leaf), proof);
        let pinned = json!({ "proof": proof, "root": root["root"], "count": 3 });
        assert_eq!(agent.ok("merkle_verify", pinned)["valid"], true);
        assert_eq!(agent.ok("merkle_verify", json!({ "proof": proof, "session_id": "s1" }))["valid"], true);
        let wrong = agent.ok("merkle_verify", json!({ "proof": proof, "root": "00".repeat(32), "count": 3 }));
        assert_eq!((&wrong["valid"], &wrong["field"]), (&json!(false), &json!("root")), "{wrong}");
        let mut forged = proof.clone();
        forged["leaf_hash"] = json!("00".repeat(32));
        assert_eq!(agent.ok("merkle_verify", json!({ "proof": forged, "session_id": "s1" }))["valid"], false);
        forged["leaf_hash"] = json!("not a hash");
        assert_eq!(agent.ok("merkle_verify", json!({ "proof": forged, "session_id": "s1" }))["valid"], false);
    }
}

#[test]
fn a_task_that_nobody_has_to_prove() {
    let home = repository();
    let agent = Agent::new(home.path());
    let record = |kind: &str| agent.ok("thought_record", json!({ "task_id": "T-9", "type": kind, "content": "x" }));
    // The first call of all: the store is made by it.
    let (first, second) = (record("plan"), record("reflection"));
    let session = first["session_id"].as_str().unwrap();
    assert_eq!(
        (&second["session_id"], &second["index"], &second["task_id"]),
        (&json!(session), &json!(1), &json!("T-9"))
    );
    let audit = agent.ok("merkle_audit", json!({ "session_id": session }));
    assert_eq!(audit["proof_grade"], false);
    agent.ok("merkle_finalize", json!({ "session_id": session }));
    assert_ne!(record("plan")["session_id"], session, "a finalized session takes no more");
    // It is not the worktree's current session, and no session of another task.
    let current = common::run(common::git_proof(home.path()).args(["log", "--json"]));
    assert_eq!(current.code, Some(2), "{current:?}");
    agent.ok("audit_session_start", json!({ "intent": "proof", "task_id": "T-9", "session_id": "graded" }));
    assert_ne!(record("plan")["session_id"], "graded");
    let starts = ledger(home.path()).iter().filter(|(tool, _, _)| tool == "audit_session_start").count();
    assert_eq!(starts, 3, "no session begins silently");
    let log = agent.ok("thought_tree", json!({ "session_id": session }));
    assert_eq!(log["session"]["caller"], "tester/1.2 (A U Thor <a@example.com>)");
}

#[test]
fn finalizing_and_ending_again() {
    let home = repository();
    let agent = Agent::new(home.path());
    agent.ok("audit_session_start", json!({ "intent": "twice", "session_id": "s1" }));
    agent.ok("thought_record", json!({ "session_id": "s1", "type": "reflection", "content": "done" }));
    let row = agent.ok("merkle_finalize", json!({ "session_id": "s1" }));
    let again = agent.refused("ERR_ALREADY_FINALIZED", "merkle_finalize", json!({ "session_id": "s1" }));
    assert_eq!(again["details"], row);
    assert_eq!(agent.ok("merkle_finalize", json!({ "session_id": "s1", "idempotent": true })), row);
    let ended = agent.ok("audit_session_end", json!({ "session_id": "s1" }));
    assert_eq!(agent.ok("audit_session_end", json!({ "session_id": "s1" })), ended);
    // Each of these calls is in the ledger, once.
    let calls: Vec<_> = ledger(home.path()).into_iter().map(|(tool, _, outcome)| (tool, outcome)).collect();
    let calls: Vec<_> = calls.iter().map(|(tool, outcome)| (tool.as_str(), outcome.as_str())).collect();
    assert_eq!(
        calls[2..],
        [
            ("merkle_finalize", "ok"),
            ("merkle_finalize", "ERR_ALREADY_FINALIZED"),
            ("merkle_finalize", "ok"),
            ("audit_session_end", "ok"),
            ("audit_session_end", "ok"),
        ]
    );
}

#[test]
fn a_broken_chain_is_an_answer() {
    let home = repository();
    let agent = Agent::new(home.path());
    let records = branched(&agent);
    let forge = "UPDATE thought_records SET line = replace(line, 'slow', 'fast') WHERE position = 1";
    WithoutTriggers::new(database(home.path())).execute_batch(forge).unwrap();
    for tool in ["audit_verify_chain", "thought_verify"] {
        let broken = agent.ok(tool, json!({ "session_id": "s1" }));
        assert_eq!((&broken["valid"], &broken["index"]), (&json!(false), &json!(1)));
        assert_eq!(broken["broken_at"], records[1]["id"]);
        assert_eq!(broken["reason"], "content_hash_mismatch");
        assert_eq!(broken["actual"], records[1]["content_hash"]);
        assert_ne!(broken["expected"], broken["actual"]);
    }
    assert_eq!(ledger(home.path()).last().unwrap().2, "ERR_CHAIN_BROKEN");
    agent.refused("ERR_CHAIN_BROKEN", "merkle_finalize", json!({ "session_id": "s1" }));
}

#[test]
fn the_store_may_come_and_go_while_the_server_runs() {
    let home = repository();
    let agent = Agent::new(home.path());
    agent.refused("ERR_NO_STORE", "merkle_root", json!({ "session_id": "s1" }));
    let run = common::run(common::git_proof(home.path()).args(["start", "--intent", "cli", "--session-id", "s1"]));
    assert_eq!(run.code, Some(0));
    agent.ok("thought_record", json!({ "session_id": "s1", "type": "plan", "content": "after the command line" }));
    std::fs::remove_dir_all(home.path().join(".git/proof")).unwrap();
    agent.refused("ERR_NO_STORE", "audit_verify_chain", json!({ "session_id": "s1" }));
    agent.ok("audit_session_start", json!({ "intent": "again", "session_id": "s1" }));
    agent.ok("thought_record", json!({ "session_id": "s1", "type": "plan", "content": "anew" }));
    assert_eq!(check(home.path(), "s1")["records"], 1);
    // Someone else makes a new one in its place: what is acknowledged must be in that one.
    std::fs::remove_dir_all(home.path().join(".git/proof")).unwrap();
    let run = common::run(common::git_proof(home.path()).args(["start", "--intent", "cli", "--session-id", "s1"]));
    assert_eq!(run.code, Some(0));
    agent.ok("thought_record", json!({ "session_id": "s1", "type": "plan", "content": "once more" }));
    assert_eq!(check(home.path(), "s1")["records"], 1);
}

#[test]
fn the_ledger_keeps_the_digest_of_the_canonical_arguments() {
    let home = repository();
    let agent = Agent::new(home.path());
    let calls = [
        (
            "audit_session_start",
            json!({ "session_id": "s1", "intent": "digest" }),
            r#"{"intent":"digest","session_id":"s1"}"#,
        ),
        (
            "thought_record",
            json!({ "type": "reflection", "session_id": "s1", "content": "ü" }),
            r#"{"content":"ü","session_id":"s1","type":"reflection"}"#,
        ),
        ("audit_verify_chain", json!({ "session_id": "s1" }), r#"{"session_id":"s1"}"#),
        ("merkle_finalize", json!({ "session_id": "s1" }), r#"{"session_id":"s1"}"#),
        ("merkle_root", json!({ "session_id": "s1" }), r#"{"session_id":"s1"}"#),
        ("audit_session_end", json!({ "session_id": "s1" }), r#"{"session_id":"s1"}"#),
    ];
    for (tool, arguments, canonical) in calls {
        agent.ok(tool, arguments);
        let newest = "SELECT arguments FROM audit_events ORDER BY event_id DESC LIMIT 1";
        let kept: [u8; 32] = database(home.path()).query_row(newest, [], |row| row.get(0)).unwrap();
        assert_eq!(kept, naive::sha256(&[canonical.as_bytes()]), "{tool}");
    }
}

#[test]
fn a_change_that_was_staged_before_the_reflection_is_rooted_in_its_commit() {
    let home = repository();
    commit(home.path(), "first");
    let agent = Agent::new(home.path());
    agent.ok("audit_session_start", json!({ "intent": "through MCP alone", "session_id": "s1" }));
    std::fs::write(home.path().join("second"), "2").unwrap();
    assert_eq!(common::run(common::command("git", home.path()).args(["add", "second"])).code, Some(0));
    agent.ok("thought_record", json!({ "session_id": "s1", "type": "reflection", "content": "done" }));
    let finalized = agent.ok("merkle_finalize", json!({ "session_id": "s1" }));
    assert_eq!(finalized["record_count"], 2, "the staged change is attested before the reflection: {finalized}");
    agent.refused("INVALID_PARAMS", "anchor_commit", json!({ "session_id": "s1", "commits": "HEAD" }));
    let run = common::run(common::command("git", home.path()).args(["commit", "-q", "-m", "second"]));
    assert_eq!(run.code, Some(0), "{run:?}");
    let anchored = agent.ok("anchor_commit", json!({ "session_id": "s1" }));
    assert_eq!((&anchored["anchors"][0]["rooted"], &anchored["anchors"][0]["created"]), (&json!(true), &json!(true)));
    let verified = agent.ok("verify_commits", json!({ "commits": ["HEAD", "HEAD~1"] }));
    assert_eq!(
        verified["summary"],
        json!({ "pass": 1, "vouched": 0, "missing": 0, "fail": 0, "exempt": 1, "unchecked": 0 })
    );
    assert_eq!(verified["commits"][0]["binding"], "exact");
    let oid = verified["commits"][0]["commit"].as_str().unwrap().to_owned();
    let uri = format!("proof://commit/{oid}");
    let request = rmcp::model::ReadResourceRequestParams::new(uri);
    let read = agent.ask(async |peer| peer.read_resource(request).await.unwrap());
    assert!(serde_json::to_string(&read).unwrap().contains("through MCP alone"));
}
