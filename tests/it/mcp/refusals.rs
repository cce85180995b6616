//! Every code that a tool can answer with, each with a hint that an agent can follow.

use serde_json::{Value, json};

use super::{Agent, database, ledger, repository};
use crate::common;

const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

#[test]
fn arguments_are_taken_strictly() {
    let home = repository();
    let agent = Agent::new(home.path());
    agent.ok("audit_session_start", json!({ "intent": "strict", "session_id": "s1" }));
    let record = |more: Value| {
        let mut arguments = json!({ "session_id": "s1", "type": "plan", "content": "x" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let cases = [
        ("audit_session_start", json!({}), "intent"),
        ("audit_session_start", json!({ "intent": 5 }), "intent"),
        ("audit_session_start", json!({ "intent": "" }), "intent"),
        ("audit_session_start", json!({ "intent": "x", "proof_grade": "yes" }), "proof_grade"),
        ("audit_session_start", json!({ "intent": "x", "session_id": "a b" }), "session id"),
        ("audit_session_start", json!({ "intent": "x", "scheme": "v9" }), "v9"),
        ("audit_session_start", json!({ "intent": "x", "caller": "someone" }), "caller"),
        ("thought_record", json!({ "type": "plan", "content": "x" }), "session_id"),
        ("thought_record", record(json!({ "type": "guess" })), "guess"),
        ("thought_record", record(json!({ "content": null })), "content"),
        ("thought_record", record(json!({ "content": ["x"] })), "content"),
        ("thought_record", record(json!({ "content": "a\u{0}b" })), "content"),
        ("thought_record", record(json!({ "metadata": "{}" })), "metadata"),
        ("thought_record", record(json!({ "metadata": { "n": 9_007_199_254_740_992_u64 } })), "9007199254740992"),
        ("thought_record", record(json!({ "metadata": { "observed": 1 } })), "metadata"),
        ("thought_record", record(json!({ "private": 1 })), "private"),
        ("thought_record", record(json!({ "parent": "x" })), "parent"),
        ("thought_record", record(json!({ "parent_id": "" })), "parent"),
        ("thought_record", record(json!({ "task_id": "T-1" })), "task_id"),
        ("audit_verify_chain", json!({}), "session_id"),
        ("audit_verify_chain", json!({ "session_id": {} }), "session_id"),
        ("thought_verify", json!({ "session_id": "" }), "session"),
        ("audit_session_end", json!({ "session_id": "s1", "force": true }), "force"),
        ("merkle_finalize", json!({ "session_id": "s1", "idempotent": "no" }), "idempotent"),
        ("merkle_root", json!({}), "session_id"),
        ("thought_get", json!({}), "id"),
        ("thought_tree", json!({ "session_id": 1 }), "session_id"),
        ("thought_trail", json!({ "session_id": "s1" }), "record_id"),
        ("thought_search", json!({ "query": " " }), "query"),
        ("thought_search", json!({ "query": "x", "limit": 0 }), "limit"),
        ("thought_search", json!({ "query": "x", "limit": "3" }), "limit"),
        ("thought_search", json!({ "query": "x", "limit": 4_294_967_297_u64 }), "limit"),
        ("merkle_attest", json!({ "session_id": "s1", "operations": "x" }), "operations"),
        ("merkle_attest", json!({ "session_id": "s1", "operations": [1] }), "operations"),
        ("merkle_attest", json!({ "session_id": "s1", "operations": [] }), "attest"),
        ("merkle_proof", json!({ "session_id": "s1" }), "leaf_hash"),
        ("merkle_verify", json!({ "proof": "x" }), "proof"),
        ("merkle_verify", json!({ "proof": {}, "session_id": "s1" }), "proof"),
        ("merkle_verify", json!({ "proof": {}, "root": "x", "count": 1 }), "root"),
        ("merkle_verify", json!({ "proof": {}, "root": "00".repeat(32) }), "count"),
        ("merkle_verify", json!({ "proof": {}, "count": 1 }), "root"),
        ("merkle_verify", json!({ "proof": [], "root": "00".repeat(32) }), "leaf_hash"),
        ("merkle_verify", json!({ "proof": [], "leaf_hash": "00".repeat(32) }), "root"),
        ("merkle_verify", json!({ "proof": [], "leaf_hash": "x", "root": "00".repeat(32), "index": 0 }), "count"),
        ("merkle_verify", json!({ "proof": [{}], "leaf_hash": "x", "root": "00".repeat(32) }), "proof"),
        ("merkle_verify", json!({ "proof": [], "leaf_hash": "x", "root": "00".repeat(32), "scheme": "v9" }), "scheme"),
        ("merkle_verify", json!({ "proof": {}, "leaf_hash": "x", "session_id": "s1" }), "leaf_hash"),
        ("merkle_audit", json!({ "session_id": "s1", "x": 1 }), "x"),
        ("memory_put", json!({ "text": "x" }), "session_id"),
        ("memory_put", json!({ "session_id": "s1" }), "text"),
        ("memory_put", json!({ "session_id": "s1", "text": "" }), "text"),
        ("memory_put", json!({ "session_id": "s1", "text": "x", "key": 1 }), "key"),
        ("memory_put", json!({ "session_id": "s1", "text": "x", "kind": "y" }), "kind"),
        ("memory_pack", json!({}), "session_id"),
        ("memory_pack", json!({ "session_id": "s1", "content": 1 }), "content"),
        ("round_seal", json!({ "defer": "yes" }), "defer"),
        ("round_seal", json!({ "sign": 1 }), "sign"),
        ("round_seal", json!({ "session_id": "s1" }), "session_id"),
    ];
    let before = ledger(home.path()).len();
    for (tool, arguments, named) in &cases {
        let error = agent.refused("INVALID_PARAMS", tool, arguments.clone());
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(named), "{tool} {arguments}: {message:?} does not name {named}");
        assert!(error["hint"].is_string(), "{tool} {arguments}");
    }
    let noted = ledger(home.path());
    assert_eq!(noted.len() - before, cases.len());
    assert!(noted[before..].iter().all(|(_, _, outcome)| outcome == "INVALID_PARAMS"));
    assert_eq!(agent.ok("audit_verify_chain", json!({ "session_id": "s1" }))["records"], 0);
}

#[test]
fn every_code_of_a_session() {
    let home = repository();
    let agent = Agent::new(home.path());
    agent.refused("ERR_NO_STORE", "audit_verify_chain", json!({ "session_id": "s1" }));
    agent.ok("audit_session_start", json!({ "intent": "codes", "session_id": "s1", "task_id": "T-1" }));
    let s1 = || json!({ "session_id": "s1" });
    let record = |more: Value| {
        let mut arguments = json!({ "session_id": "s1", "type": "plan", "content": "x" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let refused = |code: &str, tool: &str, arguments: Value, next: &str| {
        let error = agent.refused(code, tool, arguments);
        let hint = error["hint"].as_str().unwrap();
        assert!(hint.contains(next), "{tool} {code}: {hint}");
        assert_eq!(ledger(home.path()).last().unwrap().2, code);
    };
    refused("ERR_SESSION_EXISTS", "audit_session_start", json!({ "intent": "x", "session_id": "s1" }), "session_id");
    refused("ERR_NO_RECORDS", "merkle_finalize", s1(), "thought_record(type=reflection)");
    refused("ERR_NOT_FINALIZED", "merkle_root", s1(), "merkle_finalize");
    let none = || json!({ "session_id": "s2" });
    for tool in ["audit_verify_chain", "thought_verify", "audit_session_end", "merkle_finalize", "merkle_root"] {
        refused("ERR_SESSION_NOT_FOUND", tool, none(), "audit_session_start");
        assert_eq!(ledger(home.path()).last().unwrap().1, None, "a session that is not there is not named");
    }
    for tool in ["thought_tree", "merkle_audit"] {
        refused("ERR_SESSION_NOT_FOUND", tool, none(), "audit_session_start");
    }
    refused("ERR_SESSION_NOT_FOUND", "thought_record", record(none()), "audit_session_start");
    refused("ERR_SESSION_NOT_FOUND", "thought_search", json!({ "query": "x", "session_id": "s2" }), "session");
    let attest = json!({ "session_id": "s2", "operations": ["x"] });
    refused("ERR_SESSION_NOT_FOUND", "merkle_attest", attest, "audit_session_start");
    refused("ERR_PARENT_NOT_FOUND", "thought_record", record(json!({ "parent_id": "nobody" })), "parent_id");
    refused("ERR_RECORD_NOT_FOUND", "thought_get", json!({ "id": "nobody" }), "thought_search");
    refused("ERR_RECORD_NOT_FOUND", "thought_trail", json!({ "record_id": "nobody" }), "thought_tree");
    refused("ERR_RECORD_NOT_FOUND", "merkle_proof", json!({ "record_id": "nobody" }), "thought_tree");
    let leaf = json!({ "session_id": "s1", "leaf_hash": "00" });
    refused("ERR_RECORD_NOT_FOUND", "merkle_proof", leaf, "thought_tree");
    refused("ERR_TOO_LARGE", "thought_record", record(json!({ "content": "x".repeat((1 << 20) + 1) })), "summary");
    refused("ERR_TOO_LARGE", "audit_session_start", json!({ "intent": "x".repeat(70_000) }), "summary");
    let secret = || json!({ "content": format!("the token is {SECRET}") });
    refused("ERR_SECRET_DETECTED", "thought_record", record(secret()), "private=true");
    let closing = json!({ "type": "reflection", "content": format!("the token is {SECRET}") });
    refused("ERR_SECRET_DETECTED", "thought_record", record(closing), "private analysis");
    let closing = json!({ "type": "reflection", "private": true });
    refused("INVALID_PARAMS", "thought_record", record(closing), "private analysis");
    refused("ERR_SECRET_DETECTED", "audit_session_start", json!({ "intent": SECRET }), "without");
    let attest = json!({ "session_id": "s1", "operations": [SECRET] });
    refused("ERR_SECRET_DETECTED", "merkle_attest", attest, "digest");
    let mut private = record(secret());
    private["private"] = json!(true);
    let kept = agent.ok("thought_record", private);
    refused("ERR_REFLECTION_REQUIRED", "merkle_finalize", s1(), "thought_record(type=reflection)");
    let proof = agent.ok("merkle_proof", json!({ "record_id": kept["id"] }));
    refused("ERR_NO_TRUSTED_ROOT", "merkle_verify", json!({ "proof": proof }), "merkle_root");
    refused("ERR_NOT_FINALIZED", "merkle_verify", json!({ "proof": proof, "session_id": "s1" }), "merkle_finalize");
    let elsewhere = json!({ "session_id": "s9", "record_id": kept["id"] });
    refused("ERR_RECORD_NOT_FOUND", "thought_trail", elsewhere, "thought_tree");
    refused("ERR_NOTHING_TO_PACK", "memory_pack", s1(), "memory_put");
    refused("ERR_SESSION_NOT_FOUND", "memory_pack", none(), "audit_session_start");
    let put = |session: &str, text: &str| json!({ "session_id": session, "text": text });
    refused("ERR_SESSION_NOT_FOUND", "memory_put", put("s2", "x"), "audit_session_start");
    refused("ERR_SECRET_DETECTED", "memory_put", put("s1", SECRET), "without");
    refused("ERR_TOO_LARGE", "memory_put", put("s1", &"x".repeat((1 << 20) + 1)), "summary");
    refused("ERR_OPEN_SESSIONS", "round_seal", json!({}), "defer=true");
    refused("ERR_NOTHING_TO_SEAL", "round_seal", json!({ "defer": true }), "anchor_commit");
    agent.ok("audit_session_end", s1());
    refused("ERR_SESSION_ENDED", "memory_put", put("s1", "x"), "audit_session_start");
    refused("ERR_SESSION_ENDED", "memory_pack", s1(), "audit_session_start");
    refused("ERR_SESSION_ENDED", "thought_record", record(json!({})), "audit_session_start");
    agent.ok("audit_session_start", json!({ "intent": "codes", "session_id": "s2" }));
    agent.ok("thought_record", json!({ "session_id": "s2", "type": "reflection", "content": "x" }));
    agent.ok("merkle_finalize", json!({ "session_id": "s2" }));
    refused("ERR_ALREADY_FINALIZED", "merkle_finalize", json!({ "session_id": "s2" }), "merkle_root");
    refused("ERR_ALREADY_FINALIZED", "thought_record", record(json!({ "session_id": "s2" })), "audit_session_start");
    refused("ERR_ALREADY_FINALIZED", "memory_put", put("s2", "x"), "audit_session_start");
    refused("ERR_ALREADY_FINALIZED", "memory_pack", none(), "audit_session_start");
}

#[test]
fn an_answer_that_no_client_could_read() {
    let home = repository();
    let agent = Agent::new(home.path());
    agent.ok("audit_session_start", json!({ "intent": "large", "session_id": "s1" }));
    let large = "word ".repeat(200_000);
    let records: Vec<_> = (0..7)
        .map(|_| agent.ok("thought_record", json!({ "session_id": "s1", "type": "plan", "content": large })))
        .collect();
    for (tool, arguments) in [
        ("thought_tree", json!({ "session_id": "s1" })),
        ("thought_trail", json!({ "record_id": records[6]["id"] })),
        ("thought_search", json!({ "query": "word" })),
    ] {
        let error = agent.refused("ERR_TOO_LARGE", tool, arguments);
        assert!(error["hint"].as_str().unwrap().contains("thought_get"));
    }
    agent.ok("thought_get", json!({ "id": records[6]["id"] }));
    assert_eq!(agent.ok("thought_search", json!({ "query": "word", "limit": 2 }))["hits"].as_array().unwrap().len(), 2);
    assert_eq!(agent.ok("audit_verify_chain", json!({ "session_id": "s1" }))["valid"], true);
}

#[test]
fn every_code_of_a_store() {
    let nowhere = tempfile::tempdir().unwrap();
    let error =
        Agent::new(nowhere.path()).refused("ERR_NO_REPOSITORY", "audit_session_start", json!({ "intent": "x" }));
    assert!(error["hint"].as_str().unwrap().contains("repository"));

    let home = repository();
    let agent = Agent::new(home.path());
    agent.ok("audit_session_start", json!({ "intent": "store", "session_id": "s1" }));
    let s1 = || json!({ "session_id": "s1" });
    let plan = || json!({ "session_id": "s1", "type": "plan", "content": "x" });
    {
        let other = database(home.path());
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        agent.refused("ERR_STORE_BUSY", "thought_record", plan());
        agent.refused("ERR_STORE_BUSY", "audit_verify_chain", s1()); // it could not be written down
    }
    agent.ok("thought_record", plan());
    agent.leave();

    database(home.path()).pragma_update(None, "user_version", 99).unwrap();
    let error = Agent::new(home.path()).refused("ERR_STORE_TOO_NEW", "audit_verify_chain", s1());
    assert!(error["hint"].as_str().unwrap().contains("upgrade"));
    for name in ["store.db-wal", "store.db-shm"] {
        let _ = std::fs::remove_file(home.path().join(".git/proof").join(name));
    }
    std::fs::write(home.path().join(".git/proof/store.db"), "not a database at all, and long enough to be read")
        .unwrap();
    Agent::new(home.path()).refused("ERR_STORE_FAILED", "audit_verify_chain", s1());
}

#[test]
fn a_tool_that_is_not_there_is_an_error_of_the_protocol() {
    let home = repository();
    let agent = Agent::with(home.path(), super::Era::Discover, &["--profile", "core"]);
    for tool in ["nothing", "memory_put", "thought_get", "resources/read", ""] {
        let error = agent.try_call(tool, json!({})).unwrap_err().to_string();
        assert!(error.contains("-32602") || error.contains("no tool"), "{error}");
    }
}

#[test]
fn session_that_a_lock_keeps_from_being_anchored_is_finalized_and_says_what_to_do() {
    let home = repository();
    let agent = Agent::new(home.path());
    agent.ok("audit_session_start", json!({ "intent": "locked", "session_id": "s1" }));
    std::fs::write(home.path().join("file"), "text").unwrap();
    super::commit(home.path(), "first");
    let hook = common::run(common::git_proof(home.path()).args(["hook", "post-commit"]));
    assert_eq!((hook.code, hook.stderr.as_str()), (Some(0), ""));
    agent.ok("thought_record", json!({ "session_id": "s1", "type": "reflection", "content": "done" }));
    let lock = home.path().join(".git/refs/notes/proof.lock");
    std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
    std::fs::write(&lock, "").unwrap();
    let error = agent.refused("ERR_REPOSITORY_FAILED", "merkle_finalize", json!({ "session_id": "s1" }));
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains(lock.to_str().unwrap()) && hint.ends_with("; then anchor_commit(session_id=s1)"), "{hint}");
    let root = agent.ok("merkle_root", json!({ "session_id": "s1" }));
    assert_eq!(error["details"]["root"], root["root"]);
    std::fs::remove_file(&lock).unwrap();
    let anchored = agent.ok("anchor_commit", json!({ "session_id": "s1" }));
    assert_eq!(anchored["anchors"].as_array().unwrap().len(), 1, "{anchored}");
    agent.leave();
}
