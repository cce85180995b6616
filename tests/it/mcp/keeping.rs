//! The tools that put away: working memory, rounds; and that the ledger has every call that changed git alone.

use serde_json::{Value, json};

use super::{Agent, check, commit, ledger, repository, stage};
use crate::common;

#[test]
fn notes_are_put_and_packed_and_proven_on_the_command_line() {
    let home = repository();
    let agent = Agent::new(home.path());
    agent.ok("audit_session_start", json!({ "intent": "remember", "session_id": "s1" }));
    let put = agent.ok("memory_put", json!({ "session_id": "s1", "text": "a note", "key": "k" }));
    agent.ok("memory_put", json!({ "session_id": "s1", "text": "another" }));
    let packed = agent.ok("memory_pack", json!({ "session_id": "s1", "content": "what remains" }));
    assert_eq!(packed["packed"][0]["text_hash"], put["text_hash"]);
    let analysis = &packed["analysis"];
    assert_eq!((&analysis["type"], &analysis["content"]), (&json!("analysis"), &json!("what remains")));
    agent.refused("ERR_REFLECTION_REQUIRED", "merkle_finalize", json!({ "session_id": "s1" }));
    agent.ok("thought_record", json!({ "session_id": "s1", "type": "reflection", "content": "done" }));
    let root = agent.ok("merkle_finalize", json!({ "session_id": "s1" }));
    let leaf = agent.ok("merkle_proof", json!({ "record_id": packed["packed"][0]["record_id"] }));
    let run = common::run(common::git_proof(home.path()).args(["memory", "prove", "--text", "a note", "--json"]));
    let proven: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(proven["proof"], leaf);
    let trusted = json!({ "proof": leaf, "root": root["root"], "count": root["record_count"] });
    assert_eq!(agent.ok("merkle_verify", trusted)["valid"], true);
    assert_eq!(check(home.path(), "s1")["records"], 4);
    let calls = ledger(home.path());
    for (at, tool) in ["memory_put", "memory_put", "memory_pack"].iter().enumerate() {
        assert_eq!(calls[at + 1], ((*tool).to_owned(), Some("s1".to_owned()), "ok".to_owned()));
    }
}

#[test]
fn a_record_names_the_notes_before_it() {
    let home = repository();
    let agent = Agent::new(home.path());
    agent.ok("audit_session_start", json!({ "intent": "remember", "session_id": "s1" }));
    agent.ok("thought_record", json!({ "session_id": "s1", "type": "plan", "content": "x" }));
    agent.ok("memory_put", json!({ "session_id": "s1", "text": "a note" }));
    let record = agent.ok("thought_record", json!({ "session_id": "s1", "type": "analysis", "content": "x" }));
    let provenance = agent.ok("thought_get", json!({ "id": record["id"] }))["provenance"].clone();
    assert_eq!(provenance["tools"], json!(["memory_put", "thought_record"]));
}

#[test]
fn a_round_is_sealed_once_its_sessions_are_anchored() {
    let home = repository();
    commit(home.path(), "first");
    let agent = Agent::new(home.path());
    agent.ok("audit_session_start", json!({ "intent": "seal", "session_id": "s1" }));
    let open = agent.refused("ERR_OPEN_SESSIONS", "round_seal", json!({}));
    assert_eq!(open["details"]["open"], json!(["s1"]));
    stage(home.path(), "second");
    agent.ok("thought_record", json!({ "session_id": "s1", "type": "reflection", "content": "done" }));
    let root = agent.ok("merkle_finalize", json!({ "session_id": "s1" }));
    agent.refused("ERR_NOTHING_TO_SEAL", "round_seal", json!({}));
    commit(home.path(), "second");
    agent.ok("anchor_commit", json!({ "session_id": "s1", "commits": ["HEAD"] }));
    agent.ok("audit_session_start", json!({ "intent": "goes on", "session_id": "s2" }));
    let sealed = agent.ok("round_seal", json!({ "defer": true, "sign": false }));
    assert_eq!((&sealed["round"], &sealed["signed"], &sealed["deferred"]), (&json!(1), &json!(false), &json!(["s2"])));
    assert_eq!(sealed["sessions"][0]["root"], root["root"]);
    agent.refused("ERR_NOTHING_TO_SEAL", "round_seal", json!({ "defer": true }));
    let verified = agent.ok("verify_commits", json!({}));
    assert_eq!(verified["commits"][0]["sessions"][0]["round"], 1, "{verified}");
}

#[test]
fn a_chain_of_rounds_that_was_altered_is_reported_in_words_for_an_agent() {
    let home = repository();
    commit(home.path(), "first");
    let agent = Agent::new(home.path());
    let run = |arguments: &[&str]| {
        let run = common::run(common::command("git", home.path()).args(arguments));
        assert_eq!(run.code, Some(0), "{run:?}");
    };
    run(&["update-ref", "refs/proof/rounds", "HEAD"]);
    let error = agent.refused("ERR_SEAL_BROKEN", "round_seal", json!({}));
    assert!(error["hint"].as_str().unwrap().contains("person"), "{error}");
    run(&["update-ref", "-d", "refs/proof/rounds"]);
    run(&["config", "gpg.format", "openpgp"]);
    agent.ok("audit_session_start", json!({ "intent": "seal", "session_id": "s1" }));
    stage(home.path(), "second");
    agent.ok("thought_record", json!({ "session_id": "s1", "type": "reflection", "content": "done" }));
    agent.ok("merkle_finalize", json!({ "session_id": "s1" }));
    commit(home.path(), "second");
    agent.ok("anchor_commit", json!({ "session_id": "s1", "commits": ["HEAD"] }));
    let error = agent.refused("ERR_SIGNING_UNSET", "round_seal", json!({ "sign": true }));
    assert!(error["hint"].as_str().unwrap().contains("sign=false"), "{error}");
    assert_eq!(agent.ok("round_seal", json!({ "sign": false }))["round"], 1);
}

#[test]
fn round_can_be_sealed_where_nothing_was_ever_recorded() {
    let home = repository();
    commit(home.path(), "first");
    let agent = Agent::new(home.path());
    agent.refused("ERR_NOTHING_TO_SEAL", "round_seal", json!({}));
    assert_eq!(ledger(home.path()), [("round_seal".to_owned(), None, "ERR_NOTHING_TO_SEAL".to_owned())]);
}

#[test]
fn calls_that_change_git_are_in_the_ledger_once_each() {
    let home = repository();
    commit(home.path(), "first");
    let agent = Agent::new(home.path());
    agent.ok("audit_session_start", json!({ "intent": "ledger", "session_id": "s1" }));
    std::fs::write(home.path().join("second"), "2").unwrap();
    assert_eq!(common::run(common::command("git", home.path()).args(["add", "second"])).code, Some(0));
    agent.ok("thought_record", json!({ "session_id": "s1", "type": "reflection", "content": "done" }));
    agent.ok("merkle_finalize", json!({ "session_id": "s1" }));
    agent.ok("anchor_commit", json!({ "session_id": "s1", "commits": ["HEAD"] }));
    agent.ok("anchor_commit", json!({ "session_id": "s1", "commits": ["HEAD"] }));
    let run = common::run(common::command("git", home.path()).args(["commit", "-q", "-m", "second"]));
    assert_eq!(run.code, Some(0), "{run:?}");
    agent.ok("anchor_commit", json!({ "session_id": "s1", "commits": ["HEAD"] }));
    agent.ok("merkle_finalize", json!({ "session_id": "s1", "idempotent": true }));
    agent.ok("round_seal", json!({}));
    let calls: Vec<_> = ledger(home.path()).into_iter().map(|(tool, _, _)| tool).skip(3).collect();
    assert_eq!(calls, ["anchor_commit", "anchor_commit", "anchor_commit", "merkle_finalize", "round_seal"]);
}

#[test]
fn old_texts_are_moved_and_proofs_stay() {
    let home = repository();
    let agent = Agent::new(home.path());
    for session in ["s1", "s2"] {
        agent.ok("audit_session_start", json!({ "intent": "keep", "session_id": session }));
        stage(home.path(), session);
        agent.ok("thought_record", json!({ "session_id": session, "type": "reflection", "content": "done" }));
        agent.ok("merkle_finalize", json!({ "session_id": session }));
        commit(home.path(), session);
        agent.ok("anchor_commit", json!({ "session_id": session, "commits": ["HEAD"] }));
        agent.ok("round_seal", json!({ "sign": false }));
    }
    let set = common::run(common::command("git", home.path()).args(["config", "proof.warmRounds", "1"]));
    assert_eq!(set.code, Some(0));
    let listed = agent.ok("retention_run", json!({ "dry_run": true }));
    assert_eq!((&listed["dry_run"], &listed["moves"][0]["session_id"]), (&json!(true), &json!("s1")), "{listed}");
    let moved = agent.ok("retention_run", json!({}));
    assert_eq!((&moved["moved"], &moved["moves"][0]["session_id"]), (&json!(1), &json!("s1")), "{moved}");
    assert_eq!(agent.ok("retention_run", json!({}))["moved"], 0);
    assert_eq!(agent.ok("audit_verify_chain", json!({ "session_id": "s1" }))["valid"], true);
    let calls: Vec<_> = ledger(home.path()).into_iter().map(|(tool, _, _)| tool).collect();
    assert_eq!(calls.iter().filter(|tool| *tool == "retention_run").count(), 3, "{calls:?}");
}
