//! Prompts: what a person may ask an agent to do with the tools.

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::{Map, Value};

use crate::proof::text::inert_json;

pub(super) fn list() -> Vec<Prompt> {
    let argument = |name: &str, description: &str, required: bool| {
        PromptArgument::new(name).with_description(description).with_required(required)
    };
    vec![
        Prompt::new(
            "why",
            Some("Explain a session or a record from its trail"),
            Some(vec![
                argument("session_id", "The session to explain", false),
                argument("record_id", "The record to explain", false),
            ]),
        )
        .with_title("Why was this done?"),
        Prompt::new(
            "close-task",
            Some("Close a proof-grade task in the right order"),
            Some(vec![argument("session_id", "The session to close", true)]),
        )
        .with_title("Close the task"),
    ]
}

pub(super) fn get(name: &str, arguments: Option<&Map<String, Value>>) -> Result<GetPromptResult, ErrorData> {
    // An id is quoted as JSON: whatever is in it stays a value and does not read as an instruction.
    let quoted = |name: &str| {
        let value = arguments.and_then(|given| given.get(name)).and_then(Value::as_str).filter(|id| !id.is_empty());
        value.map(|id| inert_json(&Value::from(id).to_string(), &[]))
    };
    let text = match (name, quoted("session_id"), quoted("record_id")) {
        ("why", _, Some(record)) => format!(
            "Call thought_trail with record_id {record}. From the records it returns, and from nothing else, explain \
             why this was done: what was intended, what was learned on the way, what was decided and what was rejected. \
             Quote the record id behind each claim, and say what the records leave open."
        ),
        ("why", Some(session), None) => format!(
            "Call audit_verify_chain and then thought_tree with session_id {session}. If the chain does not hold, say \
             so first. From the records, and from nothing else, explain why the work was done as it was: the plan, what \
             was learned, each decision with what was rejected, and what the reflection leaves uncertain. Quote the \
             record id behind each claim."
        ),
        ("why", None, None) => return Err(invalid("why takes a session_id or a record_id")),
        ("close-task", Some(session), _) => format!(
            "Close session {session}, one call after the other, and stop at the first error to follow its hint:\n\
             1. audit_verify_chain: valid must be true.\n\
             2. memory_pack, if memory_put was used; then thought_record with type reflection: what happened, what was \
             proved, what remains uncertain.\n\
             3. merkle_finalize.\n\
             4. merkle_root: report root and record_count.\n\
             5. audit_session_end."
        ),
        ("close-task", None, _) => return Err(invalid("close-task takes a session_id")),
        _ => return Err(invalid(&format!("there is no prompt {name:?}"))),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

fn invalid(message: &str) -> ErrorData {
    ErrorData::invalid_params(message.to_owned(), None)
}
