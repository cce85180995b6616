//! Two agents, each with a server of its own, in one repository.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Agent, check, ledger, repository};

#[test]
fn two_agents_in_one_session_make_one_chain() {
    const EACH: usize = 40;
    let home = repository();
    Agent::new(home.path()).ok("audit_session_start", json!({ "intent": "together", "session_id": "s1" }));
    std::thread::scope(|scope| {
        for name in ["ann", "ben"] {
            let path = home.path();
            scope.spawn(move || {
                let agent = Agent::new(path);
                for n in 0..EACH {
                    let content = format!("{name} {n}");
                    agent.ok("thought_record", json!({ "session_id": "s1", "type": "plan", "content": content }));
                    if n % 10 == 0 {
                        assert_eq!(agent.ok("audit_verify_chain", json!({ "session_id": "s1" }))["valid"], true);
                    }
                }
                agent.leave();
            });
        }
    });
    let agent = Agent::new(home.path());
    let tree = agent.ok("thought_tree", json!({ "session_id": "s1" }));
    let entries = tree["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 2 * EACH);
    let mut before = (Value::Null, tree["session"]["genesis"].clone());
    for entry in entries {
        assert_eq!((&entry["parent_id"], &entry["prev_hash"]), (&before.0, &before.1));
        before = (entry["id"].clone(), entry["chain_hash"].clone());
    }
    let said: HashSet<_> = entries.iter().map(|entry| entry["content"].to_string()).collect();
    assert_eq!(said.len(), 2 * EACH);
    assert_eq!(check(home.path(), "s1")["records"], 2 * EACH);
    // One start, all records, four checks each, one tree: no call is missing.
    assert_eq!(ledger(home.path()).len(), 1 + 2 * EACH + 8 + 1);
}

#[test]
fn two_agents_of_one_task_share_its_session() {
    let home = repository();
    let sessions: Vec<Value> = std::thread::scope(|scope| {
        let agents: Vec<_> = (0..2)
            .map(|_| {
                let path = home.path();
                scope.spawn(move || {
                    let agent = Agent::new(path);
                    agent.ok("thought_record", json!({ "task_id": "T-1", "type": "plan", "content": "x" }))
                })
            })
            .collect();
        agents.into_iter().map(|agent| agent.join().unwrap()["session_id"].clone()).collect()
    });
    assert_eq!(sessions[0], sessions[1]);
    assert_eq!(check(home.path(), sessions[0].as_str().unwrap())["records"], 2);
}
