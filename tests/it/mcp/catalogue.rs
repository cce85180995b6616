//! What the server says of itself: short, complete, and as clients need it.

use rmcp::model::{GetPromptRequestParams, GetPromptResponse, ReadResourceRequestParams};
use serde_json::{Value, json};

use super::{Agent, ERAS, Era, repository};
use crate::report::characters::{assert_inert, hostile};

const CORE: [&str; 8] = [
    "audit_session_start",
    "thought_record",
    "audit_verify_chain",
    "audit_session_end",
    "merkle_finalize",
    "merkle_root",
    "decisions_for",
    "why",
];

fn listed(agent: &Agent) -> Vec<Value> {
    let tools = agent.ask(async |peer| peer.list_all_tools().await.unwrap());
    tools.iter().map(|tool| serde_json::to_value(tool).unwrap()).collect()
}

/// Four characters a token: over what clients show to a model, and over that and the schemas of the answers, which they
/// keep to themselves.
fn tokens(tools: &[Value]) -> (usize, usize) {
    let text = |tool: &Value, key: &str| tool[key].as_str().unwrap().chars().count();
    let schema = |tool: &Value, key: &str| tool[key].to_string().chars().count();
    let shown = |tool: &Value| {
        ["name", "title", "description"].map(|key| text(tool, key)).iter().sum::<usize>() + schema(tool, "inputSchema")
    };
    let shown: usize = tools.iter().map(shown).sum();
    let kept: usize = tools.iter().map(|tool| schema(tool, "outputSchema")).sum();
    (shown.div_ceil(4), (shown + kept).div_ceil(4))
}

#[test]
fn the_tools_fit_into_few_tokens() {
    let home = repository();
    let full = listed(&Agent::new(home.path()));
    let core = listed(&Agent::with(home.path(), Era::Discover, &["--profile", "core"]));
    let ((full_shown, full_all), (core_shown, core_all)) = (tokens(&full), tokens(&core));
    eprintln!("tokens shown: {full_shown} full, {core_shown} core; with the schemas of answers {full_all}, {core_all}");
    assert!(full_shown < 6000, "{full_shown}");
    assert!(core_shown < 2000, "{core_shown}");
    // A client that shows the schemas of answers too pays more: some five hundred a tool.
    assert!(full_all < 500 * full.len(), "{full_all}");
    assert!(core_all < 3400, "{core_all}");
    let names = |tools: &[Value]| tools.iter().map(|tool| tool["name"].clone()).collect::<Vec<_>>();
    assert_eq!(names(&core), CORE);
    assert_eq!(names(&full)[..8], CORE);
    assert_eq!(full.len(), 23);
}

#[test]
fn every_tool_says_what_it_is() {
    let home = repository();
    for tool in listed(&Agent::new(home.path())) {
        let name = tool["name"].as_str().unwrap();
        for key in ["title", "description"] {
            assert!(tool[key].as_str().is_some_and(|text| !text.is_empty()), "{name}: {key}");
        }
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{name}: {hint}");
        }
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name}");
            assert!(!tool[schema].to_string().contains("\"format\""), "{name}");
        }
        let annotations = &tool["annotations"];
        assert_eq!(annotations["destructiveHint"], name == "memory_pack", "{name}: what is taken away");
        assert!(annotations["readOnlyHint"] == false || annotations["idempotentHint"] == true, "{name}");
        let input = &tool["inputSchema"];
        assert_eq!(input["additionalProperties"], false, "{name}");
        for required in input["required"].as_array().unwrap() {
            assert!(input["properties"][required.as_str().unwrap()].is_object(), "{name}: {required}");
        }
    }
}

#[test]
fn the_server_introduces_itself_in_every_version() {
    let home = repository();
    for era in ERAS {
        let agent = Agent::with(home.path(), era, &[]);
        let info = agent.ask(async |peer| peer.peer_info().unwrap());
        let said = serde_json::to_value(&*info).unwrap();
        if let Era::Initialize(version) = era {
            assert_eq!(said["protocolVersion"], version);
        }
        assert_eq!(said["serverInfo"]["name"], "git-proof", "{said}");
        assert_eq!(said["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert!(said["serverInfo"]["title"].is_string());
        let instructions = said["instructions"].as_str().unwrap();
        assert!(instructions.split_whitespace().count() < 150, "{}", instructions.split_whitespace().count());
        let order = [
            "audit_session_start",
            "thought_record",
            "audit_verify_chain",
            "type=reflection",
            "merkle_finalize",
            "merkle_root",
            "audit_session_end",
        ];
        let places: Vec<_> = order.iter().map(|call| instructions.find(call).unwrap()).collect();
        assert!(places.is_sorted(), "{places:?}");
        agent.leave();
    }
}

#[test]
fn a_session_is_a_resource() {
    let home = repository();
    let agent = Agent::new(home.path());
    assert_eq!(agent.ask(async |peer| peer.list_all_resources().await.unwrap()).len(), 0);
    agent.ok("audit_session_start", json!({ "intent": "look at it", "session_id": "s1" }));
    agent.ok("thought_record", json!({ "session_id": "s1", "type": "plan", "content": "look" }));
    let templates = agent.ask(async |peer| peer.list_all_resource_templates().await.unwrap());
    assert_eq!(templates[0].uri_template, "proof://session/{id}");
    let listed = agent.ask(async |peer| peer.list_all_resources().await.unwrap());
    assert_eq!(listed[0].uri, "proof://session/s1");
    let read = |uri: &str| {
        let request = ReadResourceRequestParams::new(uri);
        agent.ask(async |peer| peer.read_resource(request).await)
    };
    let read_it = serde_json::to_value(read("proof://session/s1").unwrap()).unwrap();
    let text = read_it["contents"][0]["text"].as_str().unwrap();
    let log: Value = serde_json::from_str(text).unwrap();
    assert_eq!(log["session"]["intent"], "look at it");
    assert_eq!(log["entries"][0]["content"], "look");
    for unknown in ["proof://session/s2", "proof://session/", "proof://session/../x", "proof://x/y", "file:///etc"] {
        assert!(read(unknown).is_err(), "{unknown}");
    }
}

#[test]
fn prompts_name_the_calls() {
    let home = repository();
    let agent = Agent::new(home.path());
    let names: Vec<_> =
        agent.ask(async |peer| peer.list_all_prompts().await.unwrap()).into_iter().map(|prompt| prompt.name).collect();
    assert_eq!(names, ["why", "close-task"]);
    let get = |name: &str, arguments: Value| {
        let mut request = GetPromptRequestParams::new(name);
        request.arguments = Some(serde_json::from_value(arguments).unwrap());
        let result = agent.ask(async |peer| peer.get_prompt_once(request).await);
        result.map(|response| format!("{response:?}"))
    };
    let close = get("close-task", json!({ "session_id": "s1" })).unwrap();
    for call in ["s1", "audit_verify_chain", "reflection", "merkle_finalize", "merkle_root", "audit_session_end"] {
        assert!(close.contains(call), "{close}");
    }
    assert!(get("why", json!({ "record_id": "r1" })).unwrap().contains("thought_trail"));
    assert!(get("why", json!({ "session_id": "s1" })).unwrap().contains("thought_tree"));
    for (name, arguments) in [("why", json!({})), ("close-task", json!({})), ("other", json!({}))] {
        assert!(get(name, arguments).is_err(), "{name}");
    }
}

/// A prompt and the list of sessions show what somebody else may have written.
#[test]
fn text_of_others_is_inert_in_prompts_and_in_the_list_of_sessions() {
    let home = repository();
    let agent = Agent::new(home.path());
    agent.ok("audit_session_start", json!({ "intent": hostile(), "session_id": "s1" }));
    let listed = agent.ask(async |peer| peer.list_all_resources().await.unwrap());
    assert_eq!(listed.len(), 1);
    assert_inert("the title", listed[0].title.as_deref().unwrap());
    let mut request = GetPromptRequestParams::new("why");
    request.arguments = Some(serde_json::from_value(json!({ "session_id": hostile() })).unwrap());
    let result = agent.ask(async |peer| peer.get_prompt_once(request).await).unwrap();
    let GetPromptResponse::Complete(result) = result else { panic!("{result:?}") };
    let result = serde_json::to_value(result).unwrap();
    let said = result["messages"][0]["content"]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
    assert_inert("the prompt", said);
}

#[test]
fn the_registry_gets_the_version_and_name_that_we_have() {
    let read = |name: &str| std::fs::read_to_string(format!("{}/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let entry: Value = serde_json::from_str(&read("server.json")).unwrap();
    assert_eq!(entry["version"], env!("CARGO_PKG_VERSION"));
    let packages = entry["packages"].as_array().unwrap();
    assert_eq!(packages.iter().map(|package| &package["registryType"]).collect::<Vec<_>>(), ["cargo", "npm", "pypi"]);
    for package in packages {
        assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(package["identifier"], env!("CARGO_PKG_NAME"));
        assert_eq!(package["packageArguments"][0]["value"], "mcp");
    }
    assert!(entry["description"].as_str().unwrap().len() <= 100);
    // The registry looks for its name in the README that crates.io and PyPI show, and in the package.json that npm has.
    assert!(read("README.md").contains(&format!("mcp-name: {}`", entry["name"].as_str().unwrap())));
    let launcher: Value = serde_json::from_str(&read("packaging/npm/launcher.json")).unwrap();
    assert_eq!((&launcher["mcpName"], &launcher["name"]), (&entry["name"], &packages[1]["identifier"]));
}
