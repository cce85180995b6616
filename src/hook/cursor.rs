//! Cursor: each kind of tool has an event and fields of its own. `stop` says how the turn ended and how often a hook has
//! kept it going (`loop_count`); a `followup_message` is sent as the next message of the user.

use serde_json::{Value, json};

use super::{Event, says_failed, text, tool_use};
use crate::agents::ToolUse;
use crate::error::Result;

pub(super) fn event(name: &str, input: &Value) -> Result<Option<Event>> {
    Ok(Some(match name {
        "sessionStart" => Event::Start,
        "afterShellExecution" => Event::Tool(ToolUse {
            tool: "shell".to_owned(),
            input: json!({ "command": text(input, "command")? }),
            failed: input.get("exit_code").is_some_and(|_| says_failed(input)),
            answer: input.get("output").cloned(),
        }),
        "afterFileEdit" => Event::Tool(ToolUse {
            tool: "edit".to_owned(),
            input: json!({ "file_path": text(input, "file_path")?, "edits": input["edits"] }),
            answer: None,
            failed: false,
        }),
        "afterMCPExecution" => Event::Tool(with_answer(input, "result_json")?),
        "postToolUse" => Event::Tool(with_answer(input, "tool_output")?),
        "postToolUseFailure" => Event::Tool(ToolUse { failed: true, ..with_answer(input, "error_message")? }),
        "stop" if may_be_told(input) => Event::Stop,
        "stop" | "sessionEnd" => Event::Other,
        _ => return Ok(None),
    }))
}

/// Whoever was stopped by a person or by an error is left alone, and so is who goes on because of a hook already.
fn may_be_told(input: &Value) -> bool {
    let completed = input["status"].as_str().is_none_or(|status| status == "completed");
    completed && input["loop_count"].as_i64().is_none_or(|count| count == 0)
}

/// What these events hold as JSON text is taken for the JSON that it is.
fn with_answer(input: &Value, field: &str) -> Result<ToolUse> {
    let seen = tool_use(input)?;
    let answer = input.get(field).cloned().map(inner);
    let failed = answer.as_ref().is_some_and(says_failed);
    Ok(ToolUse { input: inner(seen.input), answer, failed, ..seen })
}

fn inner(value: Value) -> Value {
    value.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or(value)
}

pub(super) fn reminder(reason: &str) -> Value {
    json!({ "followup_message": reason })
}
