//! What a text must be before it is hashed: not empty, not too large, without NUL, without credentials.

use super::secrets;
use crate::error::{Code, Error, Result};
use crate::proof::canonical;
use crate::proof::record::metadata_text;

/// Largest body of an entry, and largest metadata: 1 MiB.
pub(super) const MAX_BODY: usize = 1 << 20;
/// Largest intent.
pub(super) const MAX_INTENT: usize = 64 << 10;
/// Largest name: a task, a caller.
pub(super) const MAX_NAME: usize = 1 << 10;

/// Checks a text that will be hashed for good.
pub(super) fn acceptable(what: &str, text: &str, limit: usize) -> Result<()> {
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

/// Refuses a text that holds a credential.
pub(super) fn without_secrets(what: &str, text: &str, remedy: &str) -> Result<()> {
    match secrets::find_secret(text) {
        None => Ok(()),
        Some(secret) => Err(Error::new(
            Code::SecretDetected,
            format!("{what} holds what looks like {} at byte {}; nothing was recorded", secret.what, secret.at),
        )
        .hint(remedy.to_owned())
        .details(serde_json::json!({ "what": secret.what, "at": secret.at }))),
    }
}

/// The canonical form of metadata given as JSON text; `None` where there is nothing in it.
pub(super) fn metadata(json: &str) -> Result<Option<String>> {
    let wrong = |why: String| {
        Error::new(Code::InvalidParams, "metadata cannot be recorded")
            .because(why)
            .hint("give a JSON object, such as {\"agent_id\":\"a1\"}")
    };
    let value = canonical::parse(json.as_bytes()).map_err(|error| wrong(error.to_string()))?;
    if value.get("observed").is_some() {
        return Err(wrong("\"observed\" is what the tool itself saw, and nobody else may write it".to_owned()));
    }
    let text = metadata_text(&value).map_err(|error| wrong(error.to_string()))?;
    if let Some(text) = &text {
        acceptable("metadata", text, MAX_BODY)?;
    }
    Ok(text)
}

/// A text on one line, without anything that a terminal would act on, cut to a number of characters.
pub(super) fn one_line(text: &str, longest: usize) -> String {
    let words: Vec<&str> = text.split(|letter: char| letter.is_whitespace()).filter(|word| !word.is_empty()).collect();
    let line: String = words.join(" ").chars().filter(|letter| !is_active(*letter)).collect();
    if line.chars().count() <= longest {
        return line;
    }
    let cut: String = line.chars().take(longest.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

/// Whether a character is a control, or turns the direction of the text around it.
fn is_active(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
