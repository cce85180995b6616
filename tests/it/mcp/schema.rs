//! A JSON Schema validator for the keywords that our schemas use; any other keyword is a failure of the test. The
//! official Python client judges the same answers with one that is not ours (`tests/mcp/client.py`).

use git_proof::proof::digest::{CommitId, RootHash};
use git_proof::proof::record::Id;
use git_proof::proof::timestamp::Timestamp;
use serde_json::{Value, json};

use super::{Agent, ERAS, commit, database, repository, stage};
use crate::store::scratch::WithoutTriggers;

/// What is wrong with a value; `None` if it is as the schema says.
pub(super) fn flaw(root: &Value, schema: &Value, value: &Value) -> Option<String> {
    let fault = |what: &str| Some(format!("{what}: {value} against {schema}"));
    let fits = |schema: &Value| flaw(root, schema, value).is_none();
    for (keyword, rule) in schema.as_object().unwrap() {
        let rules = || rule.as_array().unwrap().iter();
        let found = match keyword.as_str() {
            "$defs" => None,
            "$ref" => {
                let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                flaw(root, &root["$defs"][name], value)
            }
            "type" if rule.is_array() => (!rules().any(|rule| is(rule, value))).then(|| fault("type")).flatten(),
            "type" => (!is(rule, value)).then(|| fault("type")).flatten(),
            "const" => (rule != value).then(|| fault("const")).flatten(),
            "enum" => (!rules().any(|name| name == value)).then(|| fault("enum")).flatten(),
            "pattern" => value.as_str().filter(|text| !matches(rule.as_str().unwrap(), text)).and(fault("pattern")),
            "required" => {
                let missing = |name: &&Value| value.get(name.as_str().unwrap()).is_none();
                rules().find(missing).and_then(|name| fault(&format!("{name} is missing")))
            }
            "properties" => rule
                .as_object()
                .unwrap()
                .iter()
                .find_map(|(name, rule)| value.get(name).and_then(|value| flaw(root, rule, value))),
            "items" => value.as_array().into_iter().flatten().find_map(|item| flaw(root, rule, item)),
            "allOf" => rules().find_map(|rule| flaw(root, rule, value)),
            "anyOf" => (!rules().any(fits)).then(|| fault("anyOf")).flatten(),
            "oneOf" => (rules().filter(|rule| fits(rule)).count() != 1).then(|| fault("oneOf")).flatten(),
            other => panic!("the keyword {other} in {schema}"),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn is(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("the type {other}"),
    }
}

/// Each pattern by what it stands for.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern {
        "^[0-9a-f]{64}$" => RootHash::parse(text).is_some(),
        "^([0-9a-f]{40}|[0-9a-f]{64})$" => CommitId::parse(text).is_some(),
        r"^[A-Za-z0-9][\w.-]{0,127}$" => Id::parse(text).is_some(),
        r"^\d{4}(-\d\d){2}T\d\d(:\d\d){2}\.\d{3}Z$" => Timestamp::parse(text).is_some(),
        other => panic!("the pattern {other}"),
    }
}

/// Every tool once where it succeeds and once where it is refused. `Agent::call` holds each answer against its schema.
#[test]
fn every_answer_is_as_its_schema_says_in_every_version() {
    for era in ERAS {
        let home = repository();
        let agent = Agent::with(home.path(), era, &[]);
        let s1 = || json!({ "session_id": "s1" });
        agent.ok("audit_session_start", json!({ "intent": "schemas", "session_id": "s1", "task_id": "T" }));
        let record = |kind: &str| {
            agent.ok(
                "thought_record",
                json!({ "session_id": "s1", "type": kind, "content": kind, "metadata": {"n": 1} }),
            )
        };
        agent.ok("merkle_audit", s1());
        let plan = record("plan");
        agent.ok("merkle_attest", json!({ "session_id": "s1", "operations": ["built it", "ran it"] }));
        for tool in ["audit_verify_chain", "thought_verify", "thought_tree", "merkle_audit"] {
            agent.ok(tool, s1());
        }
        agent.refused("ERR_NOTHING_TO_PACK", "memory_pack", s1());
        agent.ok("memory_put", json!({ "session_id": "s1", "text": "a note" }));
        agent.ok("memory_put", json!({ "session_id": "s1", "text": "another", "key": "k" }));
        agent.ok("memory_pack", s1());
        stage(home.path(), "a commit");
        record("reflection");
        agent.refused("ERR_OPEN_SESSIONS", "round_seal", json!({}));
        agent.ok("thought_get", json!({ "id": plan["id"] }));
        agent.ok("thought_trail", json!({ "record_id": plan["id"] }));
        agent.ok("thought_search", json!({ "query": "plan OR reflection" }));
        for tool in ["merkle_finalize", "merkle_root", "merkle_audit", "audit_session_end"] {
            agent.ok(tool, s1());
        }
        commit(home.path(), "a commit");
        agent.ok("anchor_commit", json!({ "session_id": "s1", "commits": ["HEAD"] }));
        assert_eq!(agent.ok("verify_commits", json!({}))["verdict"], "pass");
        assert_eq!(agent.ok("round_seal", json!({}))["round"], 1);
        agent.refused("ERR_NOTHING_TO_SEAL", "round_seal", json!({}));
        assert_eq!(agent.ok("retention_run", json!({ "dry_run": true }))["rounds"], 1);
        agent.refused("ERR_COMMIT_NOT_FOUND", "verify_commits", json!({ "commits": ["nowhere"] }));
        let proof = agent.ok("merkle_proof", json!({ "record_id": plan["id"] }));
        agent.ok("merkle_verify", json!({ "proof": proof, "session_id": "s1" }));
        agent.ok("merkle_verify", json!({ "proof": proof, "root": "00".repeat(32), "count": 4 }));
        let path = json!({ "leaf_hash": proof["leaf_hash"], "proof": proof["proof"], "root": proof["root"] });
        assert_eq!(agent.ok("merkle_verify", path)["count_checked"], false);
        let forge = "UPDATE thought_records SET line = replace(line, 'plan', 'PLAN')";
        WithoutTriggers::new(database(home.path())).execute_batch(forge).unwrap();
        assert_eq!(agent.ok("audit_verify_chain", s1())["valid"], false);
        let tools = agent.ask(async |peer| peer.list_all_tools().await.unwrap());
        for tool in &tools {
            if !matches!(&*tool.name, "verify_commits" | "round_seal" | "retention_run") {
                agent.refused("INVALID_PARAMS", &tool.name, json!({}));
            }
            agent.refused("INVALID_PARAMS", &tool.name, json!({ "nobody": "asked" }));
        }
        agent.refused("ERR_ALREADY_FINALIZED", "merkle_finalize", s1());
        agent.refused("ERR_SESSION_NOT_FOUND", "merkle_root", json!({ "session_id": "s2" }));
    }
}

/// The control: a schema that took anything would make the test above worthless.
#[test]
fn another_answer_is_not_as_the_schema_says() {
    let home = repository();
    let agent = Agent::new(home.path());
    agent.ok("audit_session_start", json!({ "intent": "control", "session_id": "s1" }));
    for (tool, arguments) in [
        ("thought_record", json!({ "session_id": "s1", "type": "reflection", "content": "x" })),
        ("audit_verify_chain", json!({ "session_id": "s1" })),
        ("thought_tree", json!({ "session_id": "s1" })),
        ("merkle_finalize", json!({ "session_id": "s1" })),
        ("audit_session_end", json!({ "session_id": "s1" })),
    ] {
        let answer = agent.call(tool, arguments);
        let schema = agent.schema(tool);
        assert_eq!(flaw(&schema, &schema, &answer), None);
        let refuses = |wrong: &Value| assert!(flaw(&schema, &schema, wrong).is_some(), "{tool}: {wrong}");
        // The older name of count is still in the answer, and no longer in the schema.
        let is_older = |field: &str| tool == "audit_session_end" && field == "records";
        let fields: Vec<&String> =
            answer["data"].as_object().unwrap().keys().filter(|field| !is_older(field)).collect();
        for field in &fields {
            let mut wrong = answer.clone();
            wrong["data"].as_object_mut().unwrap().remove(*field);
            refuses(&wrong);
            if *field != "metadata" {
                wrong["data"][*field] = json!({ "of": "another kind" });
                refuses(&wrong);
            }
        }
        for wrong in [json!({}), json!({ "ok": true }), json!({ "ok": false }), json!({ "ok": true, "data": {} })] {
            refuses(&wrong);
        }
        let mut wrong = answer.clone();
        wrong["ok"] = json!(false);
        refuses(&wrong);
        refuses(&json!({ "ok": false, "error": { "code": "X", "message": "no hint" } }));
    }
}
