//! Codex CLI: `SessionStart`, `PostToolUse`, `Stop`, in the shape of Claude Code with a `turn_id`. `Stop` takes
//! `{"decision":"block","reason":…}`, and refuses any field that it does not know.

use serde_json::{Value, json};

use super::{Event, is_true, tool_use};
use crate::error::Result;

pub(super) fn event(name: &str, input: &Value) -> Result<Option<Event>> {
    Ok(Some(match name {
        "SessionStart" => Event::Start,
        "PostToolUse" => Event::Tool(tool_use(input)?),
        "Stop" if is_true(&input["stop_hook_active"]) => Event::Other,
        "Stop" => Event::Stop,
        _ => return Ok(None),
    }))
}

pub(super) fn reminder(reason: &str) -> Value {
    json!({ "decision": "block", "reason": reason })
}
