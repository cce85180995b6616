//! What events do: sessions are opened and found again, tools are noted by digest.

use serde_json::{Value, json};

use super::{AGENTS, MARKERS, current, input, inputs, observed, quiet, send};
use crate::store::independent::{hex, sha256};
use crate::store::scratch::{Scratch, text};

#[test]
fn session_start_opens_a_session_that_names_agent_and_person() {
    for agent in AGENTS {
        let scratch = Scratch::new();
        quiet(&scratch, agent, "start");
        let log = scratch.json(&["log", "--all"]);
        let session = &log["sessions"][0];
        let start = input(&format!("{agent}-start"));
        assert_eq!(text(session, "intent"), format!("{agent} session {}", text(&start, "session_id")));
        assert_eq!(text(session, "caller"), format!("{agent} (Ada Tester <ada@example.org>)"));
        assert_eq!(session["proof_grade"], true);
        assert_eq!(text(session, "session_id"), current(&scratch));
    }
}

#[test]
fn session_that_is_resumed_is_found_again() {
    for agent in AGENTS {
        let scratch = Scratch::new();
        quiet(&scratch, agent, "start");
        quiet(&scratch, agent, "start");
        assert_eq!(scratch.rows("audit_sessions"), 1, "{agent}");
    }
}

#[test]
fn session_that_was_closed_is_not_found_again() {
    let scratch = Scratch::new();
    quiet(&scratch, "codex", "start");
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
    let first = current(&scratch);
    quiet(&scratch, "codex", "start");
    assert_ne!(current(&scratch), first);
    scratch.record("plan", "the next task");
}

#[test]
fn tool_is_noted_by_name_and_digests_without_a_record() {
    for agent in AGENTS {
        let scratch = Scratch::new();
        quiet(&scratch, agent, "start");
        quiet(&scratch, agent, "tool");
        let seen = observed(&scratch, &current(&scratch));
        assert_eq!(seen.len(), 1, "{agent}");
        let (tool, outcome, detail, _) = &seen[0];
        let shown = input(&format!("{agent}-tool"));
        assert_eq!(tool, &format!("observed:{}", shown["tool_name"].as_str().unwrap_or("shell")));
        assert_eq!(outcome, "ok");
        assert!(detail.as_ref().unwrap().starts_with("outcome "), "{detail:?}");
        assert_eq!(scratch.rows("thought_records"), 0);
    }
}

#[test]
fn digests_are_those_of_the_canonical_input_and_response() {
    let scratch = Scratch::new();
    let mut event = input("claude-code-tool");
    event["tool_input"] = json!({ "z": 1, "a": "é" });
    event["tool_response"] = json!("done");
    assert_eq!(send(&scratch, "claude-code", &event).exit, Some(0));
    let (_, _, detail, arguments) = observed(&scratch, &current(&scratch)).remove(0);
    assert_eq!(arguments, sha256(r#"{"a":"é","z":1}"#.as_bytes()));
    assert_eq!(detail.unwrap(), format!("outcome {}", hex(&sha256(b"\"done\""))));
}

#[test]
fn tool_that_failed_is_noted_as_an_error() {
    for agent in AGENTS {
        let scratch = Scratch::new();
        quiet(&scratch, agent, "tool-failed");
        let (_, outcome, _, _) = observed(&scratch, &current(&scratch)).remove(0);
        assert_eq!(outcome, "error", "{agent}");
    }
}

#[test]
fn tool_without_a_session_start_opens_the_session_itself() {
    for agent in AGENTS {
        let scratch = Scratch::new();
        quiet(&scratch, agent, "tool");
        quiet(&scratch, agent, "start");
        assert_eq!(scratch.rows("audit_sessions"), 1, "{agent}");
        assert_eq!(observed(&scratch, &current(&scratch)).len(), 1);
    }
}

#[test]
fn edits_of_cursor_are_noted_without_an_answer() {
    let scratch = Scratch::new();
    quiet(&scratch, "cursor", "tool-edit");
    let (tool, outcome, detail, _) = observed(&scratch, &current(&scratch)).remove(0);
    assert_eq!((tool.as_str(), outcome.as_str(), detail), ("observed:edit", "ok", None));
}

#[test]
fn raw_input_and_output_are_never_stored() {
    let scratch = Scratch::new();
    let mut sent = 0;
    for file in std::fs::read_dir(inputs()).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let agent = AGENTS.into_iter().find(|agent| name.starts_with(agent)).unwrap();
        let ran = send(&scratch, agent, &input(name.trim_end_matches(".json")));
        assert!(MARKERS.iter().all(|marker| !ran.out.contains(marker) && !ran.err.contains(marker)), "{name}");
        sent += 1;
    }
    assert!(sent > 20);
    for file in std::fs::read_dir(scratch.store().parent().unwrap()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        for marker in MARKERS {
            let found = bytes.windows(marker.len()).any(|window| window == marker.as_bytes());
            assert!(!found, "{marker} in {}", path.display());
        }
    }
}

#[test]
fn two_sessions_of_one_agent_do_not_mix() {
    for agent in AGENTS {
        let scratch = Scratch::new();
        let of = |event: &str, id: &str| {
            let mut value = input(&format!("{agent}-{event}"));
            for field in ["session_id", "conversation_id"] {
                if value.get(field).is_some() {
                    value[field] = Value::from(id);
                }
            }
            assert_eq!(send(&scratch, agent, &value).err, "");
        };
        of("start", "one");
        let one = current(&scratch);
        of("start", "two");
        let two = current(&scratch);
        assert_ne!(one, two);
        of("tool", "one");
        of("tool", "one");
        of("tool", "two");
        assert_eq!((observed(&scratch, &one).len(), observed(&scratch, &two).len()), (2, 1), "{agent}");
    }
}

#[test]
fn same_id_of_two_agents_is_two_sessions() {
    let scratch = Scratch::new();
    let mut start = input("claude-code-start");
    start["session_id"] = Value::from("same");
    send(&scratch, "claude-code", &start);
    send(&scratch, "codex", &start);
    assert_eq!(scratch.rows("audit_sessions"), 2);
}

#[test]
fn open_session_of_a_person_is_worked_in() {
    let scratch = Scratch::with_session();
    quiet(&scratch, "claude-code", "start");
    quiet(&scratch, "claude-code", "tool");
    assert_eq!(scratch.rows("audit_sessions"), 1);
    assert_eq!((current(&scratch).as_str(), observed(&scratch, "s").len()), ("s", 1));
}

#[test]
fn session_that_is_opened_by_hand_later_is_moved_to() {
    let scratch = Scratch::new();
    quiet(&scratch, "claude-code", "start");
    scratch.start("s", &[]);
    quiet(&scratch, "claude-code", "tool");
    assert_eq!(observed(&scratch, "s").len(), 1);
}

#[test]
fn closed_session_of_a_person_is_not_worked_in() {
    let scratch = Scratch::with_session();
    scratch.json(&["end"]);
    quiet(&scratch, "claude-code", "start");
    assert_ne!(current(&scratch), "s");
}

#[test]
fn tools_after_finalizing_are_noted_in_the_session_that_was_finalized() {
    let scratch = Scratch::new();
    quiet(&scratch, "claude-code", "start");
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
    quiet(&scratch, "claude-code", "tool");
    assert_eq!(scratch.rows("audit_sessions"), 1);
    assert_eq!(scratch.json(&["check"])["records"], 1);
}

#[test]
fn session_named_by_the_environment_goes_first() {
    let scratch = Scratch::with_session();
    scratch.start("other", &[]);
    let event = scratch.around().join("event.json");
    std::fs::write(&event, input("claude-code-tool").to_string()).unwrap();
    let mut command = scratch.proof(["hook", "claude-code"]);
    let command = command.env("GIT_PROOF_SESSION", "s").stdin(std::fs::File::open(event).unwrap());
    assert!(command.status().unwrap().success());
    assert_eq!((current(&scratch).as_str(), observed(&scratch, "s").len()), ("other", 1));
}

/// Has an agent's MCP server open a session, in the environment that Claude Code gives to its servers.
fn start_through_server(scratch: &Scratch, agents_session: &str, session: &str) {
    let client = json!({ "name": "claude-code", "version": "2" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let start =
        json!({ "name": "audit_session_start", "arguments": { "intent": "through MCP", "session_id": session } });
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": start }),
    ];
    let input = scratch.around().join("calls.jsonl");
    std::fs::write(&input, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    let mut command = scratch.proof(["mcp"]);
    command.env("CLAUDE_CODE_SESSION_ID", agents_session).stdin(std::fs::File::open(input).unwrap());
    let output = command.output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("\"isError\":false"));
}

#[test]
fn two_agents_with_servers_in_one_worktree_are_noted_each_in_its_own_session() {
    let scratch = Scratch::new();
    start_through_server(&scratch, "one", "s1");
    start_through_server(&scratch, "two", "s2");
    let tool = |id: &str| {
        let mut event = input("claude-code-tool");
        event["session_id"] = json!(id);
        assert_eq!(send(&scratch, "claude-code", &event).err, "");
    };
    for id in ["one", "two", "one"] {
        tool(id);
    }
    assert_eq!((observed(&scratch, "s1").len(), observed(&scratch, "s2").len()), (2, 1));
    assert_eq!((current(&scratch).as_str(), scratch.rows("audit_sessions")), ("s2", 2));
    // Once it is closed, what is current counts again; and an id that is none is not in the way.
    scratch.json(&["end", "--session", "s1"]);
    tool("one");
    assert_eq!(observed(&scratch, "s2").len(), 2);
    start_through_server(&scratch, &"x".repeat(1000), "s3");
}

#[test]
fn known_session_is_noted_without_asking_git() {
    let scratch = Scratch::new();
    quiet(&scratch, "claude-code", "start");
    let event = scratch.around().join("event.json");
    std::fs::write(&event, input("claude-code-tool").to_string()).unwrap();
    // A git that leaves a trace whenever it runs.
    let trace = scratch.around().join("trace");
    let mut command = scratch.proof(["hook", "claude-code"]);
    let bin = scratch.around().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("git"), format!("#!/bin/sh\ntouch '{}'\nexit 1\n", trace.display())).unwrap();
    std::fs::set_permissions(bin.join("git"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let command = command.env("PATH", &bin).stdin(std::fs::File::open(event).unwrap());
    assert!(command.status().unwrap().success());
    assert!(!trace.exists());
    assert_eq!(observed(&scratch, &current(&scratch)).len(), 1);
}

#[test]
fn hooks_at_the_same_time_open_one_session() {
    let scratch = Scratch::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| quiet(&scratch, "claude-code", "tool"));
        }
    });
    assert_eq!(scratch.rows("audit_sessions"), 1);
    assert_eq!(observed(&scratch, &current(&scratch)).len(), 4);
}

#[test]
fn agent_that_starts_its_hook_elsewhere_says_where_it_works() {
    let scratch = Scratch::new();
    let elsewhere = scratch.around().join("home");
    for (agent, mut event) in [("claude-code", input("claude-code-start")), ("cursor", input("cursor-start"))] {
        if event.get("cwd").is_some() {
            event["cwd"] = json!(scratch.place);
        }
        event["workspace_roots"] = json!([scratch.place]);
        let file = scratch.around().join("event.json");
        std::fs::write(&file, event.to_string()).unwrap();
        let mut command = scratch.proof(["hook", agent]);
        command.current_dir(&elsewhere).stdin(std::fs::File::open(&file).unwrap());
        assert!(command.status().unwrap().success());
    }
    assert_eq!(scratch.rows("agent_sessions"), 2);
}
