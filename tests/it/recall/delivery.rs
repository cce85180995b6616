//! When an agent is told of earlier decisions: reading a file, at a prompt that names it, else with the first edit; once.

use serde_json::{Value, json};

use super::{OURS, Team};

fn decided() -> Team {
    let team = Team::new();
    team.decide(OURS, "s1", &["Keep six lines; rejected: seven"], "a.txt", "1\n2\n3\n4\n5\n6\n");
    team.push(OURS, "main");
    team
}

fn call(team: &Team, tool: &str, key: &str, path: &str) -> Value {
    json!({ "tool_name": tool, "tool_input": { key: team.scratch.place.join(path) }, "tool_response": {} })
}

#[test]
fn reading_a_file_brings_its_decisions_once() {
    let team = decided();
    let told = team.told_reading("c1", "a.txt").unwrap();
    assert!(told.contains("\"Keep six lines; rejected: seven\""), "{told}");
    assert!(told.find("not instructions").unwrap() < told.find("Keep six").unwrap(), "{told}");
    assert!(told.contains(&team.git(OURS, &["rev-parse", "HEAD"])[..12]), "{told}");
    assert_eq!(team.told_reading("c1", "a.txt"), None);
    assert!(team.told_reading("c2", "a.txt").is_some());
}

#[test]
fn a_prompt_that_names_a_file_brings_them_and_reading_it_then_does_not() {
    let team = decided();
    let told = team.told("c1", "UserPromptSubmit", &json!({ "prompt": "Please shorten `a.txt`." }));
    assert!(told.unwrap().contains("Keep six lines"));
    assert_eq!(team.told_reading("c1", "a.txt"), None);
    assert_eq!(team.told("c2", "UserPromptSubmit", &json!({ "prompt": "Please shorten something" })), None);
}

#[test]
fn an_edit_without_reading_brings_them_with_its_result() {
    let team = decided();
    assert_eq!(team.told("c1", "PreToolUse", &call(&team, "Write", "file_path", "a.txt")), None);
    let told = team.told("c1", "PostToolUse", &call(&team, "Write", "file_path", "a.txt"));
    assert!(told.unwrap().contains("Keep six lines"));
    assert_eq!(team.told("c1", "PostToolUse", &call(&team, "Write", "file_path", "a.txt")), None);
}

#[test]
fn a_command_that_prints_the_file_reads_it() {
    let team = decided();
    let shell =
        |command: &str| json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_response": {} });
    assert_eq!(team.told("c1", "PostToolUse", &shell("ls a.txt")), None);
    assert!(team.told("c1", "PostToolUse", &shell("sed -n 1,80p a.txt")).unwrap().contains("Keep six lines"));
}

#[test]
fn an_agent_that_touches_nothing_or_something_else_is_not_disturbed() {
    let team = decided();
    team.write(OURS, "new.txt", "x\n");
    for path in ["new.txt", "nothing.txt", "../elsewhere.txt", ".git/config"] {
        assert_eq!(team.told_reading("c1", path), None, "{path}");
    }
    for event in ["Stop", "SessionEnd", "Notification"] {
        assert_eq!(team.told("c1", event, &json!({})), None, "{event}");
    }
    let failed = team.told("c1", "PostToolUseFailure", &call(&team, "Read", "file_path", "a.txt"));
    assert_eq!(failed, None);
}

#[test]
fn no_more_than_three_decisions_and_150_words_are_told() {
    let team = Team::new();
    let long = "word ".repeat(400);
    for number in 0..5 {
        team.decide(
            OURS,
            &format!("s{number}"),
            &[&format!("Decision{number} {long}")],
            "a.txt",
            &format!("{number}\n"),
        );
    }
    team.push(OURS, "main");
    let told = team.told_anew("a.txt").unwrap();
    assert!(told.split_whitespace().count() <= 150, "{}: {told}", told.split_whitespace().count());
    for (number, expected) in [(4, true), (3, true), (2, true), (1, false), (0, false)] {
        assert_eq!(told.contains(&format!("Decision{number}")), expected, "{number}: {told}");
    }
    // One word without end is cut as well.
    team.decide(OURS, "endless", &[&"x".repeat(9000)], "b.txt", "b\n");
    team.push(OURS, "main");
    assert!(team.told_anew("b.txt").unwrap().len() < 2500);
}

#[test]
fn a_decision_that_was_corrected_or_has_expired_is_not_told() {
    let team = Team::new();
    let first = team.decide(OURS, "s1", &["The first"], "a.txt", "1\n");
    team.decide(OURS, "s2", &["The second", "--supersedes", &first], "a.txt", "2\n");
    team.decide(OURS, "s3", &["The third", "--until", "2020-01-01"], "a.txt", "3\n");
    team.push(OURS, "main");
    let told = team.told_anew("a.txt").unwrap();
    assert!(told.contains("The second") && !told.contains("The first") && !told.contains("The third"), "{told}");
}

#[test]
fn the_setting_switches_it_off() {
    let team = decided();
    for value in ["off", "nonsense"] {
        team.git(OURS, &["config", "proof.recall", value]);
        assert_eq!(team.told_anew("a.txt"), None, "{value}");
    }
    for value in ["trusted", "all"] {
        team.git(OURS, &["config", "proof.recall", value]);
        assert!(team.told_anew("a.txt").is_some(), "{value}");
    }
}

#[test]
fn agents_get_it_in_the_form_that_they_read() {
    let team = decided();
    let event = |agent: &str, more: Value| {
        let mut input = json!({ "session_id": format!("of-{agent}"), "cwd": team.scratch.place, "tool_response": {} });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let ran = team.scratch.run_with(&["hook", agent], input.to_string().as_bytes());
        serde_json::from_str::<Value>(&ran.out).unwrap_or_else(|error| panic!("{agent}: {error}: {ran:?}"))
    };
    let path = team.scratch.place.join("a.txt");
    let nested = |answer: Value| answer["hookSpecificOutput"]["additionalContext"].to_string();
    let read = json!({ "hook_event_name": "AfterTool", "tool_name": "read_file", "tool_input": { "file_path": path } });
    assert!(nested(event("gemini", read)).contains("Keep six lines"));
    let patch = "*** Begin Patch\n*** Update File: a.txt\n*** End Patch\n";
    let patched = json!({
        "hook_event_name": "PostToolUse", "tool_name": "apply_patch", "tool_input": { "command": patch }, "turn_id": "t",
    });
    let answer = event("codex", patched);
    assert_eq!(answer.as_object().unwrap().len(), 1, "Codex throws away what it does not know: {answer}");
    assert!(nested(answer).contains("Keep six lines"));
    let view = json!({ "hook_event_name": "PostToolUse", "tool_name": "view", "tool_input": { "path": path } });
    assert!(event("opencode", view)["additionalContext"].as_str().unwrap().contains("Keep six lines"));
    let tool = json!({
        "hook_event_name": "postToolUse", "cursor_version": "1", "conversation_id": "of-cursor", "tool_name": "read_file",
        "tool_input": { "target_file": path }, "tool_output": "{}",
    });
    assert!(event("cursor", tool)["additional_context"].as_str().unwrap().contains("Keep six lines"));
}

#[test]
fn a_path_of_many_words_leaves_room_for_the_decision() {
    let team = Team::new();
    let path = [vec!["w"; 120].join(" "), vec!["v"; 120].join(" "), "x".repeat(250)].join("/");
    team.decide(OURS, "s1", &[&"many words ".repeat(200)], &path, "1\n");
    team.push(OURS, "main");
    let told = team.told_anew(&path).unwrap();
    assert!(told.contains("many words") && told.split_whitespace().count() <= 150, "{told}");
    assert!(told.len() < 2000, "{told}");
}
