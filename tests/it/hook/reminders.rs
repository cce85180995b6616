//! At the end of a turn an agent is reminded of what it left open: once, in its own words, and never in a loop.

use super::{AGENTS, current, input, quiet, send};
use crate::store::scratch::{Scratch, text};

/// A session in which a tool has run.
fn at_work(agent: &str) -> Scratch {
    let scratch = Scratch::new();
    quiet(&scratch, agent, "start");
    quiet(&scratch, agent, "tool");
    scratch
}

/// The reminder, by the agent's own mechanism.
#[track_caller]
fn reminded(scratch: &Scratch, agent: &str) -> String {
    let answer = send(scratch, agent, &input(&format!("{agent}-stop"))).json();
    let reason = match agent {
        "cursor" => text(&answer, "followup_message"),
        "gemini" => {
            assert_eq!(answer["decision"], "deny");
            text(&answer, "reason")
        }
        _ => {
            assert_eq!(answer["decision"], "block");
            text(&answer, "reason")
        }
    };
    reason.to_owned()
}

#[test]
fn reminder_names_the_session_and_the_calls_to_make() {
    for agent in AGENTS {
        let scratch = at_work(agent);
        let reason = reminded(&scratch, agent);
        for part in ["thought_record", "reflection", "merkle_finalize", current(&scratch).as_str()] {
            assert!(reason.contains(part), "{agent}: no {part} in {reason}");
        }
    }
}

#[test]
fn reminder_comes_exactly_once() {
    for agent in AGENTS {
        let scratch = at_work(agent);
        reminded(&scratch, agent);
        quiet(&scratch, agent, "stop");
        quiet(&scratch, agent, "tool");
        quiet(&scratch, agent, "stop");
    }
}

#[test]
fn agent_that_goes_on_because_of_a_hook_is_never_reminded() {
    for agent in AGENTS {
        let scratch = at_work(agent);
        quiet(&scratch, agent, "stop-again");
        reminded(&scratch, agent); // it has not been used up
    }
}

#[test]
fn turn_that_a_person_has_aborted_is_left_alone() {
    let scratch = at_work("cursor");
    quiet(&scratch, "cursor", "stop-aborted");
}

#[test]
fn end_of_a_session_is_left_alone() {
    let scratch = at_work("gemini");
    quiet(&scratch, "gemini", "end");
}

#[test]
fn reflection_leaves_nothing_to_remind_of() {
    for agent in AGENTS {
        let scratch = at_work(agent);
        scratch.record("reflection", "done");
        quiet(&scratch, agent, "stop");
    }
}

#[test]
fn entry_after_the_reflection_is_reminded_of() {
    let scratch = at_work("claude-code");
    scratch.record("reflection", "done");
    scratch.record("decision", "or not");
    reminded(&scratch, "claude-code");
}

#[test]
fn entry_alone_is_reminded_of() {
    let scratch = Scratch::new();
    quiet(&scratch, "claude-code", "start");
    scratch.record("plan", "think");
    reminded(&scratch, "claude-code");
}

#[test]
fn session_in_which_nothing_happened_is_not_reminded_of() {
    for agent in AGENTS {
        let scratch = Scratch::new();
        quiet(&scratch, agent, "start");
        quiet(&scratch, agent, "stop");
    }
}

#[test]
fn session_that_is_finalized_or_ended_is_not_reminded_of() {
    let scratch = at_work("codex");
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
    quiet(&scratch, "codex", "tool");
    quiet(&scratch, "codex", "stop");
    let scratch = at_work("codex");
    scratch.json(&["end"]);
    quiet(&scratch, "codex", "stop");
}

#[test]
fn session_that_needs_no_reflection_is_not_reminded_of() {
    let scratch = Scratch::new();
    scratch.start("s", &["--not-proof-grade"]);
    quiet(&scratch, "gemini", "start");
    quiet(&scratch, "gemini", "tool");
    quiet(&scratch, "gemini", "stop");
}

#[test]
fn next_session_is_reminded_of_by_itself() {
    let scratch = at_work("claude-code");
    reminded(&scratch, "claude-code");
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
    scratch.start("next", &[]);
    scratch.record("plan", "more");
    assert!(reminded(&scratch, "claude-code").contains("next"));
    quiet(&scratch, "claude-code", "stop");
}

#[test]
fn stop_before_anything_else_makes_no_store() {
    for agent in AGENTS {
        let scratch = Scratch::new();
        quiet(&scratch, agent, "stop");
        assert!(!scratch.store().exists());
    }
}
