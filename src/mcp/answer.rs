//! The envelope of every answer, and hints that name the next call instead of a command.

use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use crate::error::{Code, Error, Result};
use crate::hint::Hint;

/// `{ok:true,data}`, or `{ok:false,error}` marked as an error; as structured content and as the same JSON in text.
pub(super) fn envelope(tool: &str, result: Result<Value>) -> CallToolResult {
    match result {
        Ok(data) => CallToolResult::structured(json!({ "ok": true, "data": data })),
        Err(error) => CallToolResult::structured_error(json!({ "ok": false, "error": for_agents(tool, error) })),
    }
}

/// The same error with a hint that an agent can follow.
pub(super) fn for_agents(tool: &str, error: Error) -> Error {
    let hint = next_call(&error).map(str::to_owned).or_else(|| error.hint.as_ref().and_then(Hint::as_calls));
    let schema = || format!("tools/list has the input schema of {tool}");
    let hint = hint.or_else(|| (error.code == Code::InvalidParams).then(schema));
    Error { hint: hint.map(Hint::from), ..error }
}

/// The hint for an agent, for errors whose usual hint names commands and options that an agent does not have.
fn next_call(error: &Error) -> Option<&'static str> {
    Some(match error.code {
        Code::SessionExists => "leave session_id away to get a new one, or go on in that session with thought_record",
        Code::SessionNotFound => "audit_session_start opens a session and answers with its session_id",
        Code::RecordNotFound => "thought_tree or thought_search answer with the ids of records",
        Code::ParentNotFound => "leave parent_id away to follow the last record; thought_tree lists the others",
        Code::NothingToSeal => "merkle_finalize a session, anchor_commit it, then round_seal again",
        Code::NoRepository => "start the server inside a git repository",
        Code::CommitNotFound => "name commits by their ids, or by names that git knows, such as HEAD",
        Code::NoTrustedRoot => "pass root and count as merkle_root gave them, or session_id of a finalized session",
        Code::SigningFailed | Code::SigningUnset => "pass sign=false, or ask a person to set up how git signs",
        // Nothing that an agent could call mends these.
        Code::SealBroken | Code::RoundsRolledBack => {
            "report it to a person, word for word: refs/proof/rounds must be compared with another clone"
        }
        Code::ObjectMissing => "report it to a person: this clone lacks an object, and must be fetched in full",
        Code::PolicyUnreadable => "report it to a person: the policy must be corrected on the branch that decides",
        Code::RepositoryRefused => "report it to a person: the repository may not be used here as it is",
        Code::RemoteFailed => "report it to a person: the remote does not answer or does not take it",
        _ => return None,
    })
}
