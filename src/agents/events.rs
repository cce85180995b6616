//! Which agent an event comes from, and what each of them calls the things that happen. An agent is recognised by what it
//! sends: Copilot also runs the hooks of Claude Code's configuration, for one.

use serde_json::{Value, json};

use super::event::{Call, Event, Seen, directory, is_true, text, text_or_none, unclear};
use super::input::{answer_text, call, code, exit_line, inner, says_failed};
use super::transcript;
use crate::error::Result;
use crate::proof::digest::sha256;
use crate::record::Agent;

/// The agent that an event comes from.
pub(super) fn recognise(called: Agent, input: &Value) -> Agent {
    let has = |field: &str| input.get(field).is_some();
    let transcript = input["transcript_path"].as_str().unwrap_or_default();
    let event = input["hook_event_name"].as_str().unwrap_or_default();
    if has("cursor_version") {
        return Agent::Cursor;
    }
    if has("hookEventName") && has("sessionId") {
        return Agent::Vscode;
    }
    if matches!(event, "BeforeAgent" | "AfterAgent" | "BeforeTool" | "AfterTool") {
        return Agent::Gemini;
    }
    if transcript.contains("/.qwen/") {
        return Agent::Qwen;
    }
    // Copilot sends what Claude Code sends and says when; its transcript has this place, and at the beginning none.
    let of_copilot = transcript.is_empty() || transcript.contains("/session-state/");
    if has("timestamp") && of_copilot && matches!(called, Agent::ClaudeCode | Agent::Codex) {
        return Agent::Copilot;
    }
    if has("turn_id") || transcript.contains("/rollout-") {
        return Agent::Codex;
    }
    called
}

/// Reads an event. One of which nothing is known is an error.
pub(super) fn read(agent: Agent, input: &Value) -> Result<Seen> {
    let other = || text(input, "hookEventName").ok();
    let name = text(input, "hook_event_name").or_else(|error| other().ok_or(error))?.to_owned();
    let Some(event) = event(agent, &name, input)? else {
        return Err(unclear(&format!("nothing is known of the event {name:?}")));
    };
    let session = text(input, "session_id")
        .or_else(|error| text(input, "conversation_id").or_else(|_| text(input, "sessionId")).map_err(|_| error))?;
    let subagent = text_or_none(input, "agent_id").map(|id| format!("/{id}")).unwrap_or_default();
    let own = text_or_none(input, "agent_transcript_path");
    Ok(Seen {
        session: format!("{session}{subagent}"),
        model: text_or_none(input, "model"),
        transcript: own.or_else(|| text_or_none(input, "transcript_path").filter(|_| subagent.is_empty())),
        directory: directory(input),
        once: once(&name, input),
        event,
        name,
    })
}

/// By what an event is known: its id or its time, with what it says. Two files that name our hook fire it twice. An id that a
/// whole turn shares tells events apart only together with all that they say: a file may be edited twice in a turn.
fn once(name: &str, input: &Value) -> Option<[u8; 8]> {
    const OF_AN_EVENT: [&str; 4] = ["tool_use_id", "timestamp", "prompt_id", "event_id"];
    const OF_A_TURN: [&str; 2] = ["turn_id", "generation_id"];
    const SAID: [&str; 6] =
        ["tool_name", "tool_input", "prompt", "last_assistant_message", "prompt_response", "agent_id"];
    let has = |fields: &[&str]| fields.iter().any(|field| input.get(field).is_some());
    let known_by = if has(&OF_AN_EVENT) {
        let fields = OF_AN_EVENT.iter().chain(&OF_A_TURN).chain(&SAID);
        serde_json::to_vec(&(name, fields.map(|field| &input[*field]).collect::<Vec<_>>()))
    } else if has(&OF_A_TURN) {
        serde_json::to_vec(&(name, input))
    } else {
        return None;
    };
    sha256(&known_by.ok()?).first_chunk().copied()
}

fn event(agent: Agent, name: &str, input: &Value) -> Result<Option<Event>> {
    Ok(Some(match (agent, name) {
        (Agent::Cursor, _) => return cursor(name, input),
        (_, "SessionStart") => Event::Start,
        (_, "UserPromptSubmit" | "BeforeAgent") => {
            Event::Prompt(input["prompt"].as_str().unwrap_or_default().to_owned())
        }
        (_, "PreToolUse" | "BeforeTool") => Event::Before(call(input)?),
        (_, "PostToolUse" | "AfterTool" | "PostToolUseFailure") => {
            let call = call(input)?;
            let failed = call.failed || name == "PostToolUseFailure";
            let exit = exit(agent, input, &call, name == "PostToolUseFailure");
            Event::After(Call { failed, exit, ..call })
        }
        (_, "Stop" | "AfterAgent") => Event::TurnEnd {
            message: text_or_none(input, "last_assistant_message").or_else(|| text_or_none(input, "prompt_response")),
            may_remind: !is_true(&input["stop_hook_active"]) && is_idle(&input["background_tasks"]),
        },
        (_, "SessionEnd") => Event::End { message: None },
        // The event names the subagent.
        (_, "SubagentStop") if input.get("agent_id").is_some() => {
            Event::End { message: text_or_none(input, "last_assistant_message") }
        }
        (_, "SubagentStart" | "SubagentStop" | "Notification" | "PreCompact") => Event::Other,
        _ => return Ok(None),
    }))
}

fn is_idle(tasks: &Value) -> bool {
    tasks.as_array().is_none_or(Vec::is_empty)
}

/// Cursor: each kind of tool has an event and fields of its own.
fn cursor(name: &str, input: &Value) -> Result<Option<Event>> {
    let shell = |input: &Value| -> Result<Call> {
        Ok(Call {
            tool: "shell".to_owned(),
            input: json!({ "command": text(input, "command")? }),
            failed: input.get("exit_code").is_some_and(|_| says_failed(input)),
            exit: input["exit_code"].as_i64().and_then(code),
            answer: input.get("output").cloned(),
            id: None,
        })
    };
    let with_answer = |field: &str| -> Result<Call> {
        let seen = call(input)?;
        let answer = input.get(field).cloned().map(inner);
        let failed = answer.as_ref().is_some_and(says_failed);
        Ok(Call { answer, failed, ..seen })
    };
    Ok(Some(match name {
        "sessionStart" => Event::Start,
        "beforeSubmitPrompt" => Event::Prompt(input["prompt"].as_str().unwrap_or_default().to_owned()),
        "beforeShellExecution" => Event::Before(shell(input)?),
        "afterShellExecution" => Event::After(shell(input)?),
        "afterFileEdit" => Event::After(Call {
            tool: "edit".to_owned(),
            input: json!({ "file_path": text(input, "file_path")?, "edits": input["edits"] }),
            ..Call::default()
        }),
        "afterMCPExecution" => Event::After(with_answer("result_json")?),
        "postToolUse" => Event::After(with_answer("tool_output")?),
        "postToolUseFailure" => Event::After(Call { failed: true, ..with_answer("error_message")? }),
        "afterAgentResponse" => Event::TurnEnd { message: text_or_none(input, "text"), may_remind: false },
        "stop" => Event::TurnEnd { message: None, may_remind: may_be_told(input) },
        "sessionEnd" => Event::End { message: None },
        _ => return Ok(None),
    }))
}

/// Whoever was stopped by a person or by an error is left alone, and so is who goes on because of a hook already.
fn may_be_told(input: &Value) -> bool {
    let completed = input["status"].as_str().is_none_or(|status| status == "completed");
    completed && input["loop_count"].as_i64().is_none_or(|count| count == 0)
}

/// The exit code of a shell's command, where the agent tells it.
fn exit(agent: Agent, input: &Value, call: &Call, failed: bool) -> Option<u8> {
    call.command()?;
    if call.is_background() || is_true(&input["is_interrupt"]) {
        return None;
    }
    let answer = call.answer.as_ref()?;
    match agent {
        // Success has no number; a command whose code means something else than failure is marked.
        Agent::ClaudeCode if failed => {
            let number = answer.as_str()?.strip_prefix("Exit code ")?;
            number.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
        }
        Agent::ClaudeCode => {
            let plain = answer["interrupted"].as_bool() == Some(false)
                && answer.get("returnCodeInterpretation").is_none_or(Value::is_null);
            plain.then_some(0)
        }
        Agent::Codex => transcript::codex_exit(input["transcript_path"].as_str()?, call.id.as_deref()?),
        // Absent on success.
        Agent::Gemini => match exit_line(answer_text(answer)?) {
            Some(number) => code(number),
            None => answer.get("error").is_none_or(Value::is_null).then_some(0),
        },
        Agent::Qwen => exit_line(answer_text(answer)?).and_then(code),
        Agent::Copilot => {
            let last = answer_text(answer)?.trim_end().lines().next_back()?;
            let number = last.rsplit_once("exit code ")?.1.trim_end_matches('>');
            number.parse().ok()
        }
        Agent::Opencode => answer["metadata"]["exit"].as_i64().and_then(code),
        Agent::Cursor | Agent::Vscode | Agent::Zed => {
            answer["exit_code"].as_i64().or_else(|| answer["exitCode"].as_i64()).and_then(code)
        }
    }
}

/// What an agent is told.
#[derive(Debug, Clone)]
pub(super) enum Told {
    /// Something to know, at the beginning of its session.
    Context(String),
    /// Something to do before it stops.
    Reminder(String),
}

/// The answer in the words of the agent. Codex throws an answer away that has a field it does not know.
pub(super) fn answer(agent: Agent, event: &str, told: &Told) -> Value {
    match (told, agent) {
        (Told::Context(text), Agent::Copilot | Agent::Opencode) => json!({ "additionalContext": text }),
        (Told::Context(text), Agent::Cursor) => json!({ "additional_context": text }),
        (Told::Context(text), _) => {
            json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } })
        }
        (Told::Reminder(text), Agent::Cursor) => json!({ "followup_message": text }),
        (Told::Reminder(text), Agent::Gemini) => json!({ "decision": "deny", "reason": text }),
        (Told::Reminder(text), _) => json!({ "decision": "block", "reason": text }),
    }
}
