//! Gemini CLI: `SessionStart`, `AfterTool`, `AfterAgent`. An `AfterAgent` that is answered with
//! `{"decision":"deny","reason":…}` gives the reason to the model as a new prompt; the next one then says
//! `stop_hook_active`.

use serde_json::{Value, json};

use super::{Event, is_true, tool_use};
use crate::error::Result;

pub(super) fn event(name: &str, input: &Value) -> Result<Option<Event>> {
    Ok(Some(match name {
        "SessionStart" => Event::Start,
        "AfterTool" => Event::Tool(tool_use(input)?),
        "AfterAgent" if is_true(&input["stop_hook_active"]) => Event::Other,
        "AfterAgent" => Event::Stop,
        "SessionEnd" => Event::Other, // nobody is left to be told
        _ => return Ok(None),
    }))
}

pub(super) fn reminder(reason: &str) -> Value {
    json!({ "decision": "deny", "reason": reason })
}
