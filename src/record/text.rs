//! Checks of a text before it is hashed: it is not empty, not too large, and has no NUL and no credential.

use super::secrets::find_in_json;
use super::secrets::{Secret, find_secret};
use crate::error::{Code, Error, Result};
use crate::hint::Hint;
use crate::proof::canonical;
use crate::proof::observed::Marks;
use crate::proof::record::{Entry, Opening, metadata_text};

/// Largest body of an entry, and largest metadata: 1 MiB.
pub(crate) const MAX_BODY: usize = 1 << 20;
/// Largest intent.
pub(super) const MAX_INTENT: usize = 64 << 10;
/// Largest name: a task, a caller.
pub(crate) const MAX_NAME: usize = 1 << 10;

/// Checks a text that will be hashed for good.
pub(crate) fn acceptable(what: &str, text: &str, limit: usize) -> Result<()> {
    if text.is_empty() {
        return Err(Error::new(Code::InvalidParams, format!("{what} must not be empty"))
            .hint("say in a sentence what is to be done, or what was done and why"));
    }
    if text.len() > limit {
        return Err(Error::new(Code::TooLarge, format!("{what} has {} bytes; the limit is {limit}", text.len()))
            .hint("record a summary, and attest the digest of the rest")
            .details(serde_json::json!({ "bytes": text.len(), "limit": limit })));
    }
    if text.contains('\0') {
        return Err(Error::new(Code::InvalidParams, format!("{what} contains a NUL character"))
            .hint("record text; attest the digest of what is binary"));
    }
    Ok(())
}

/// A text that an agent sent, fit to be hashed: without NUL, and cut where it is too long. `None` if nothing is left.
pub(crate) fn cut_to_body(text: &str) -> Option<String> {
    let mut text = text.replace('\0', "");
    let mut end = text.len().min(MAX_BODY);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    (!text.trim().is_empty()).then_some(text)
}

/// Whether an opening holds a credential.
pub(crate) fn opening_holds_secret(opening: &Opening) -> bool {
    credential_in_opening(opening).is_some()
}

/// The first credential in a text. Every check for credentials goes through this function.
pub(super) fn credential(text: &str) -> Option<Secret> {
    find_secret(text)
}

/// The first credential in an opening, and which part of it holds it.
pub(crate) fn credential_in_opening(opening: &Opening) -> Option<(&'static str, Secret)> {
    let parts = [
        ("the intent", Some(opening.intent.as_str())),
        ("the task", opening.task_id.as_deref()),
        ("the caller", Some(opening.caller.as_str())),
        ("the session id", Some(opening.session_id.as_str())),
    ];
    parts.into_iter().find_map(|(what, text)| Some((what, credential(text?)?)))
}

/// The first credential in an entry.
pub(crate) fn credential_in_entry(entry: &Entry<'_>) -> Option<Secret> {
    credential(entry.body.text()).or_else(|| find_in_json(entry.metadata.as_deref()?))
}

/// Refuses an opening that holds a credential: it is the first line of what is published.
pub(crate) fn opening_without_secrets(opening: &Opening) -> Result<()> {
    let found = credential_in_opening(opening);
    found.map_or(Ok(()), |(what, secret)| Err(detected(what, &secret).hint("say it without the credential")))
}

/// Refuses a text that holds a credential.
pub(crate) fn without_secrets(what: &str, text: &str, remedy: impl Into<Hint>) -> Result<()> {
    let found = credential(text);
    found.map_or(Ok(()), |secret| Err(detected(what, &secret).hint(remedy)))
}

/// Refuses JSON in which the guard finds a credential, in any string of it.
pub(super) fn json_without_secrets(what: &str, json: &str, remedy: impl Into<Hint>) -> Result<()> {
    find_in_json(json).map_or(Ok(()), |secret| Err(detected(what, &secret).hint(remedy)))
}

/// The error for a credential that was found. It says which kind and where, and never what it is.
fn detected(what: &str, secret: &Secret) -> Error {
    let Secret { what: kind, at } = secret;
    let message = format!("{what} holds what looks like {kind} at byte {at}; nothing was recorded");
    Error::new(Code::SecretDetected, message).details(serde_json::json!({ "what": kind, "at": at }))
}

/// The canonical form of metadata given as JSON text; `None` where there is nothing in it.
pub(super) fn metadata(json: &str) -> Result<Option<String>> {
    let wrong = |why: String| {
        Error::new(Code::InvalidParams, "metadata cannot be recorded")
            .because(why)
            .hint("give a JSON object, such as {\"agent_id\":\"a1\"}")
    };
    let value = canonical::parse(json.as_bytes()).map_err(|error| wrong(error.to_string()))?;
    if let Some(key) = Marks::claimed_by(&value) {
        return Err(wrong(format!("the tool alone writes {key:?}, through a command or an option of its own")));
    }
    let text = metadata_text(&value).map_err(|error| wrong(error.to_string()))?;
    if let Some(text) = &text {
        acceptable("metadata", text, MAX_BODY)?;
    }
    Ok(text)
}

/// Metadata with what only the tool writes, in canonical form.
pub(super) fn with_marks(
    metadata: Option<String>,
    marks: serde_json::Map<String, serde_json::Value>,
) -> Result<Option<String>> {
    if marks.is_empty() {
        return Ok(metadata);
    }
    let wrong = |why: String| Error::new(Code::InvalidParams, "metadata cannot be recorded").because(why);
    let given = metadata.as_deref().map(|text| canonical::parse(text.as_bytes())).transpose();
    let mut all = match given.map_err(|error| wrong(error.to_string()))? {
        Some(serde_json::Value::Object(given)) => given,
        _ => serde_json::Map::new(),
    };
    all.extend(marks);
    metadata_text(&serde_json::Value::Object(all)).map_err(|error| wrong(error.to_string()))
}
