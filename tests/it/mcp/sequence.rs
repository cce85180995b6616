//! The sequence that a proof-grade task follows, in every version of the protocol.

use git_proof::proof::digest::RootHash;
use serde_json::json;

use super::{Agent, ERAS, check, ledger, repository};
use crate::naive;

#[test]
fn the_whole_sequence_in_every_version() {
    for era in ERAS {
        let home = repository();
        let agent = Agent::with(home.path(), era, &["--profile", "core"]);
        let started = agent.ok("audit_session_start", json!({ "intent": "try it", "task_id": "T-1" }));
        assert_eq!(started["caller"], "tester/1.2 (A U Thor <a@example.com>)", "{era:?}");
        assert_eq!((&started["intent"], &started["task_id"]), (&json!("try it"), &json!("T-1")));
        let session = started["session_id"].as_str().unwrap().to_owned();
        // The caller is part of the genesis.
        let opening = format!(
            r#"{{"caller":"tester/1.2 (A U Thor <a@example.com>)","intent":"try it","proof_grade":true,"scheme":"v1","session_id":"{session}","started_at":{},"task_id":"T-1"}}"#,
            started["started_at"]
        );
        assert_eq!(started["genesis"], hex(&naive::sha256(&[opening.as_bytes()])));

        let mut leaves = Vec::new();
        let mut before = started["genesis"].clone();
        for kind in ["plan", "analysis", "decision"] {
            let record = agent.ok(
                "thought_record",
                json!({ "session_id": session, "type": kind, "content": format!("a {kind}"), "metadata": { "n": 1 } }),
            );
            assert_eq!(record["prev_hash"], before);
            assert_eq!((&record["task_id"], &record["metadata"]), (&json!("T-1"), &json!({ "n": 1 })));
            before = record["chain_hash"].clone();
            leaves.push(record["content_hash"].clone());
        }
        let verified = agent.ok("audit_verify_chain", json!({ "session_id": session }));
        assert_eq!((&verified["valid"], &verified["chain_length"]), (&json!(true), &json!(3)));
        let last = agent
            .ok("thought_record", json!({ "session_id": session, "type": "reflection", "content": "it went well" }));
        leaves.push(last["content_hash"].clone());
        let finalized = agent.ok("merkle_finalize", json!({ "session_id": session }));
        assert_eq!(finalized["root"], root(&leaves));
        assert_eq!(finalized["record_count"], 4);
        assert_eq!(agent.ok("merkle_root", json!({ "session_id": session })), finalized);
        let ended = agent.ok("audit_session_end", json!({ "session_id": session }));
        assert_eq!((&ended["finalized"], &ended["root"]), (&json!(true), &finalized["root"]));
        assert!(ended["ended_at"].is_string());
        agent.leave();

        assert_eq!(check(home.path(), &session)["root"], finalized["root"]);
        let calls: Vec<_> = ledger(home.path()).into_iter().map(|(tool, _, _)| tool).collect();
        let expected = [
            "audit_session_start",
            "thought_record",
            "thought_record",
            "thought_record",
            "audit_verify_chain",
            "thought_record",
            "merkle_finalize",
            "merkle_root",
            "audit_session_end",
        ];
        assert_eq!(calls, expected);
        assert!(ledger(home.path()).iter().all(|(_, of, outcome)| of.as_ref() == Some(&session) && outcome == "ok"));
    }
}

/// Raw pairs, level by level, the last node of an odd level with itself.
fn root(leaves: &[serde_json::Value]) -> String {
    let mut level: Vec<naive::Hash> = leaves.iter().map(|leaf| unhex(leaf.as_str().unwrap())).collect();
    while level.len() > 1 {
        level = level.chunks(2).map(|pair| naive::sha256(&[&pair[0], pair.last().unwrap()])).collect();
    }
    hex(&level[0])
}

fn hex(hash: &naive::Hash) -> String {
    RootHash::new(*hash).to_string()
}

fn unhex(text: &str) -> naive::Hash {
    std::array::from_fn(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
}
