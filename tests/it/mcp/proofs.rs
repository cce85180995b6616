//! `merkle_verify` in the form of a leaf, a list of steps and a root, with and without a count.

use serde_json::{Value, json};

use super::{Agent, repository};
use crate::store::independent::{hex, sha256, unhex};
use crate::store::scratch::text;

#[test]
fn a_proof_is_also_taken_as_a_leaf_a_list_of_steps_and_a_root() {
    for scheme in ["v1", "v1-sorted", "v1-rfc9162", "ams-v0"] {
        let home = repository();
        let agent = Agent::new(home.path());
        agent.ok("audit_session_start", json!({ "intent": "prove", "session_id": "s1", "scheme": scheme }));
        let operations: Vec<String> = (0..5).map(|number| format!("operation {number}")).collect();
        let attested = agent.ok("merkle_attest", json!({ "session_id": "s1", "operations": operations }));
        agent.ok("thought_record", json!({ "session_id": "s1", "type": "reflection", "content": "done" }));
        let root = agent.ok("merkle_finalize", json!({ "session_id": "s1" }))["root"].clone();
        for entry in attested.as_array().unwrap() {
            let proof = agent.ok("merkle_proof", json!({ "record_id": entry["id"] }));
            let verify = |more: Value| {
                let mut path = json!({
                    "leaf_hash": proof["leaf_hash"], "proof": proof["proof"], "root": root, "scheme": scheme,
                });
                path.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                agent.ok("merkle_verify", path)
            };
            let led = verify(json!({}));
            assert_eq!((&led["valid"], &led["count_checked"]), (&json!(true), &json!(false)), "{led}");
            assert!(led["not_checked"].as_str().unwrap().contains("does not show that leaf_hash is an entry"), "{led}");
            let index = &proof["index"];
            for counted in [json!({ "count": 6, "index": index }), json!({ "session_id": "s1", "index": index })] {
                let held = verify(counted);
                assert_eq!((&held["valid"], &held["count_checked"]), (&json!(true), &json!(true)), "{held}");
                assert_eq!((&held["index"], &held["count"]), (index, &json!(6)));
            }
            // The index follows from the steps, except where a lone node moves up without a step.
            if scheme == "v1-rfc9162" {
                let path =
                    json!({ "leaf_hash": proof["leaf_hash"], "proof": [], "root": root, "count": 6, "scheme": scheme });
                agent.refused("INVALID_PARAMS", "merkle_verify", path);
            } else {
                assert_eq!(verify(json!({ "count": 6 }))["index"], *index, "{scheme}");
            }
            for wrong in [
                json!({ "leaf_hash": "00".repeat(32) }),
                json!({ "leaf_hash": "not a hash" }),
                json!({ "root": "00".repeat(32) }),
                json!({ "root": "00".repeat(32), "session_id": "s1", "index": index }),
                json!({ "count": 20, "index": index }),
                json!({ "count": 6, "index": (index.as_u64().unwrap() + 1) % 6 }),
                json!({ "proof": [{ "hash": "00".repeat(32), "position": "middle" }] }),
            ] {
                assert_eq!(verify(wrong.clone())["valid"], false, "{scheme}: {wrong}");
            }
        }
    }
}

/// What a count is for: the node above two leaves passes for a leaf of a smaller tree.
#[test]
fn an_inner_node_passes_without_a_count_and_is_refused_with_it() {
    let home = repository();
    let agent = Agent::new(home.path());
    agent.ok("audit_session_start", json!({ "intent": "prove", "session_id": "s1" }));
    agent.ok("merkle_attest", json!({ "session_id": "s1", "operations": ["one", "two", "three"] }));
    let last = agent.ok("thought_record", json!({ "session_id": "s1", "type": "reflection", "content": "done" }));
    let root = agent.ok("merkle_finalize", json!({ "session_id": "s1" }))["root"].clone();
    let steps = agent.ok("merkle_proof", json!({ "record_id": last["id"] }))["proof"].clone();
    let node = &steps[1]["hash"];
    // Above the first two leaves: its neighbour is the node above the other two.
    let other = hex(&sha256(&[unhex(text(&steps[0], "hash")), unhex(text(&last, "content_hash"))].concat()));
    let path = json!({ "leaf_hash": node, "proof": [{ "hash": other, "position": "right" }], "root": root });
    let led = agent.ok("merkle_verify", path.clone());
    assert_eq!((&led["valid"], &led["count_checked"]), (&json!(true), &json!(false)), "{led}");
    let mut counted = path;
    counted["count"] = json!(4);
    assert_eq!(agent.ok("merkle_verify", counted)["valid"], false);
}
