//! Claude Code: `SessionStart`, `PostToolUse`, `PostToolUseFailure`, `Stop`. A `Stop` that is answered with
//! `{"decision":"block","reason":…}` hands the reason to the model and lets it go on; the next `Stop` then says
//! `stop_hook_active`.

use serde_json::{Value, json};

use super::{Event, is_true, tool_use};
use crate::agents::ToolUse;
use crate::error::Result;

pub(super) fn event(name: &str, input: &Value) -> Result<Option<Event>> {
    Ok(Some(match name {
        "SessionStart" => Event::Start,
        "PostToolUse" => Event::Tool(tool_use(input)?),
        "PostToolUseFailure" => {
            Event::Tool(ToolUse { answer: input.get("error").cloned(), failed: true, ..tool_use(input)? })
        }
        "Stop" if is_true(&input["stop_hook_active"]) => Event::Other,
        "Stop" => Event::Stop,
        "SessionEnd" => Event::Other,
        _ => return Ok(None),
    }))
}

pub(super) fn reminder(reason: &str) -> Value {
    json!({ "decision": "block", "reason": reason })
}
