//! Whatever comes in and whatever state the store is in: exit code 0, one line on standard error, nothing on standard
//! output. An agent is never blocked.

use serde_json::{Value, json};

use super::stage::Stage;
use super::{AGENTS, input, send};
use crate::store::scratch::{Ran, Scratch};

#[track_caller]
fn assert_said(ran: &Ran, part: &str) {
    assert_eq!((ran.exit, ran.out.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.starts_with("git proof hook ") && ran.err.contains(part), "no {part:?} in {}", ran.err);
}

#[test]
fn garbage_is_said_and_let_pass() {
    let scratch = Scratch::new();
    let deep = "[".repeat(100_000);
    for bytes in
        [&b""[..], b"{", b"null", b"[]", b"42", b"\"\"", b"{}", b"\xff\xfe", b"\0", b"{\"a\":1e999}", deep.as_bytes()]
    {
        for agent in AGENTS {
            let ran = scratch.run_with(&["hook", agent], bytes);
            assert_said(&ran, "the input ");
        }
    }
    assert!(!scratch.store().exists());
}

#[test]
fn unknown_event_is_said_and_let_pass() {
    let scratch = Scratch::new();
    for agent in AGENTS {
        let mut event = input(&format!("{agent}-start"));
        let field = if agent == "vscode" { "hookEventName" } else { "hook_event_name" };
        event[field] = json!("TomorrowsEvent\u{1b}[31m\n");
        assert_said(&send(&scratch, agent, &event), "TomorrowsEvent");
    }
}

#[test]
fn any_field_that_is_missing_or_of_another_type_is_let_pass() {
    let scratch = Scratch::new();
    for agent in AGENTS {
        for event in ["start", "tool", "stop"] {
            let whole = input(&format!("{agent}-{event}"));
            for field in whole.as_object().unwrap().keys() {
                for replacement in
                    [None, Some(Value::Null), Some(json!([1])), Some(json!({ "a": {} })), Some(json!(""))]
                {
                    let mut event = whole.clone();
                    match replacement {
                        None => drop(event.as_object_mut().unwrap().remove(field)),
                        Some(value) => event[field] = value,
                    }
                    let ran = send(&scratch, agent, &event);
                    assert_eq!(ran.exit, Some(0), "{agent} {field}");
                    assert!(ran.err.lines().count() <= 1, "{}", ran.err);
                }
            }
        }
    }
}

#[test]
fn missing_session_or_tool_name_is_said() {
    let scratch = Scratch::new();
    for (field, event) in [("session_id", "start"), ("tool_name", "tool"), ("hook_event_name", "stop")] {
        let mut event = input(&format!("claude-code-{event}"));
        event.as_object_mut().unwrap().remove(field);
        assert_said(&send(&scratch, "claude-code", &event), field);
    }
}

#[test]
fn names_that_are_no_names_are_said_and_not_kept() {
    let scratch = Scratch::new();
    let token = ["gh", "p_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    for name in ["x".repeat(300), "a\0b".to_owned(), token] {
        let mut event = input("claude-code-tool");
        event["tool_name"] = json!(name);
        assert_said(&send(&scratch, "claude-code", &event), "the tool's name");
        let mut event = input("claude-code-start");
        event["session_id"] = json!(name);
        assert_said(&send(&scratch, "claude-code", &event), "the agent's session");
    }
    assert_eq!((scratch.rows("audit_events"), scratch.rows("agents")), (0, 0));
}

#[test]
fn numbers_without_a_canonical_form_are_noted_all_the_same() {
    let scratch = Scratch::new();
    let mut event = input("claude-code-tool");
    event["tool_input"] = json!({ "at": u64::MAX });
    let ran = send(&scratch, "claude-code", &event);
    assert_eq!((ran.exit, ran.err.as_str()), (Some(0), ""));
}

#[test]
fn path_with_a_nul_is_no_path() {
    let scratch = Scratch::new();
    for agent in AGENTS {
        for tool in ["Write", "Read"] {
            let mut event = input("claude-code-tool");
            event["tool_name"] = json!(tool);
            event["tool_input"] = json!({ "file_path": "a\0b", "path": "a\0b" });
            let ran = send(&scratch, agent, &event);
            assert_eq!(ran.exit, Some(0), "{agent}: {ran:?}");
            assert!(ran.err.lines().count() <= 1, "{agent}: {}", ran.err);
        }
    }
}

#[test]
fn event_with_half_a_letter_is_recorded() {
    for cut in [&b"\\ud83d"[..], b"\\\\ \\udc00x", b"\\ud83d\\ud83d\\ude00", b"\xf0\x9f\x98"] {
        let stage = Stage::new();
        stage.write("b.txt", "b\n");
        let place = &stage.scratch.place;
        let event = json!({
            "hook_event_name": "PostToolUse", "session_id": "x", "tool_name": "Write", "cwd": place,
            "tool_input": { "file_path": place.join("b.txt"), "content": "CUT" }, "tool_response": {},
        });
        let (before, after) = event.to_string().split_once("CUT").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        let bytes = [b"\xef\xbb\xbf", before.as_bytes(), cut, after.as_bytes()].concat();
        let ran = stage.scratch.run_with(&["hook", "claude-code"], &bytes);
        assert_eq!((ran.exit, ran.err.as_str()), (Some(0), ""), "{cut:?}");
        assert_eq!(stage.open().len(), 1, "{cut:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn answer_that_cannot_be_written_does_not_stop_the_agent() {
    let scratch = Scratch::new();
    let file = scratch.around().join("event.json");
    std::fs::write(&file, input("claude-code-start").to_string()).unwrap();
    let mut command = scratch.proof(["hook", "claude-code"]);
    command.stdin(std::fs::File::open(&file).unwrap());
    command.stdout(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    assert_said(&command.output().unwrap().into(), "could not be written");
}

#[test]
fn place_without_a_repository_is_said_and_let_pass() {
    let scratch = Scratch::without_repository();
    for agent in AGENTS {
        for event in ["start", "tool", "stop"] {
            let ran = send(&scratch, agent, &input(&format!("{agent}-{event}")));
            assert_eq!((ran.exit, ran.out.as_str(), ran.err.lines().count()), (Some(0), "", 1), "{ran:?}");
        }
    }
}

#[test]
fn busy_store_is_said_and_let_pass() {
    let scratch = Scratch::with_session();
    let other = scratch.database();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let file = scratch.around().join("event.json");
    for event in ["start", "tool", "stop"] {
        std::fs::write(&file, input(&format!("gemini-{event}")).to_string()).unwrap();
        let mut command = scratch.proof(["hook", "gemini"]);
        command.env("GIT_PROOF_PATIENCE", "10").stdin(std::fs::File::open(&file).unwrap());
        assert_said(&command.output().unwrap().into(), "for too long");
    }
}

#[test]
fn store_that_is_too_new_or_damaged_is_said_and_let_pass() {
    let scratch = Scratch::with_session();
    scratch.database().pragma_update(None, "user_version", 99).unwrap();
    for event in ["start", "tool", "stop"] {
        assert_said(&send(&scratch, "codex", &input(&format!("codex-{event}"))), "later git-proof");
    }
    let damaged = Scratch::new();
    std::fs::create_dir(damaged.place.join(".git/proof")).unwrap();
    std::fs::write(damaged.store(), "no store at all, whatever its name may say".repeat(9)).unwrap();
    for event in ["start", "tool", "stop"] {
        assert_said(&send(&damaged, "codex", &input(&format!("codex-{event}"))), "damaged");
    }
}

#[test]
fn wrong_agent_is_a_wrong_usage() {
    let scratch = Scratch::new();
    for arguments in [&["hook", "emacs"][..], &["hook"], &["hook", "codex", "more"]] {
        let ran = scratch.run(arguments);
        assert_eq!((ran.exit, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
    }
}

#[test]
fn event_that_is_too_large_can_be_written_to_its_end() {
    let scratch = Scratch::new();
    let mut event = b"{\"hook_event_name\":\"PostToolUse\",\"session_id\":\"s\",\"tool_response\":\"".to_vec();
    event.resize(66 << 20, b'x');
    event.extend_from_slice(b"\"}");
    let ran = scratch.run_with(&["hook", "claude-code"], &event);
    assert_eq!((ran.exit, ran.err.lines().count()), (Some(0), 1), "{}", ran.err);
    assert!(ran.err.contains("too large"), "{}", ran.err);
}
