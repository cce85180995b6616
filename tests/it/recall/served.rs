//! `decisions_for` and `why` over the protocol, and the resource of a path.

use serde_json::json;

use super::{OTHER, OURS, Team, contents};
use crate::mcp::Agent;

#[test]
fn an_agent_asks_which_decisions_are_in_force_for_files() {
    let team = Team::new();
    let first = team.decide(OURS, "s1", &["Use a list"], "a.txt", "1\n");
    team.decide(OURS, "s2", &["Use a set", "--supersedes", &first], "a.txt", "2\n");
    team.decide(OURS, "s3", &["Another file"], "b.txt", "b\n");
    team.push(OURS, "main");
    let agent = Agent::new(&team.scratch.place);
    let answer = agent.ok("decisions_for", json!({ "paths": ["a.txt"] }));
    assert_eq!(contents(&answer), ["Use a set"]);
    let decision = &answer["decisions"][0];
    assert_eq!((&decision["verdict"], &decision["in_force"]), (&json!("pass"), &json!(true)));
    assert_eq!(decision["commit"].as_str().unwrap().len(), 40);
    let both = json!({ "paths": ["a.txt", "b.txt"], "include_superseded": true });
    assert_eq!(contents(&agent.ok("decisions_for", both)), ["Another file", "Use a set", "Use a list"]);
    let limited = agent.ok("decisions_for", json!({ "paths": ["a.txt", "b.txt"], "limit": 1 }));
    assert_eq!((contents(&limited), &limited["more"]), (vec!["Another file"], &json!(1)));
    let searched = agent.ok("decisions_for", json!({ "paths": ["a.txt", "b.txt"], "query": "SET" }));
    assert_eq!(contents(&searched), ["Use a set"]);
    for wrong in [
        json!({}),
        json!({ "paths": [] }),
        json!({ "paths": ["../x"] }),
        json!({ "paths": ["a\0b"] }),
        json!({ "paths": ["a"], "limit": 0 }),
    ] {
        agent.refused("INVALID_PARAMS", "decisions_for", wrong);
    }
    let read = agent.read("proof://path/a.txt").unwrap();
    assert_eq!(contents(&read), ["Use a set"]);
    assert!(agent.read("proof://path/").is_none() && agent.read("proof://path/%zz").is_none());
}

#[test]
fn an_agent_asks_why_a_line_is_there_and_gets_only_what_it_may_be_told() {
    let team = Team::with_other();
    team.decide(OTHER, "theirs", &["Not for agents"], "a.txt", "one\ntwo\nthree\nfour\nfive\nSIX\n");
    team.push(OTHER, "main");
    team.pull();
    team.decide(OURS, "ours", &["Ours"], "a.txt", "ONE\ntwo\nthree\nfour\nfive\nSIX\n");
    team.push(OURS, "main");
    let agent = Agent::new(&team.scratch.place);
    let line = |number: u64| agent.ok("why", json!({ "path": "a.txt", "line": number }));
    assert_eq!(contents(&line(1)), ["Ours"]);
    assert_eq!(contents(&line(6)), Vec::<&str>::new());
    assert!(!line(6).to_string().contains("Not for agents"));
    assert_eq!(contents(&agent.ok("why", json!({ "path": "a.txt" }))), ["Ours"]);
    agent.refused("INVALID_PARAMS", "why", json!({ "path": "a.txt", "line": 3, "last_line": 2 }));
    agent.refused("INVALID_PARAMS", "why", json!({ "path": "a.txt", "line": 99 }));
}

#[test]
fn a_record_over_the_protocol_supersedes_another() {
    let team = Team::new();
    let agent = Agent::new(&team.scratch.place);
    agent.ok("audit_session_start", json!({ "intent": "x", "session_id": "s1" }));
    let record = |more: serde_json::Value| {
        let mut given = json!({ "session_id": "s1", "type": "decision", "content": "x" });
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        given
    };
    let first = agent.ok("thought_record", record(json!({})));
    let second = agent.ok("thought_record", record(json!({ "supersedes": first["id"], "until": "2027-03-31" })));
    assert_eq!(second["metadata"]["supersedes"], first["content_hash"]);
    assert_eq!(second["metadata"]["until"], "2027-03-31T23:59:59.999Z");
    agent.refused("INVALID_PARAMS", "thought_record", record(json!({ "metadata": { "until": "x" } })));
    agent.refused("ERR_RECORD_NOT_FOUND", "thought_record", record(json!({ "supersedes": "nobody" })));
}
