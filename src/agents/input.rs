//! How agents write their events, and give the use of a tool: the shapes that several of them share.

use serde_json::Value;

use super::event::{Call, is_true, text, text_or_none};
use crate::error::Result;

/// Reads an event. Agents cut texts by their number of characters or bytes, which may leave half of a letter: that half is
/// replaced, so that the rest of the event is not lost.
pub(super) fn read(bytes: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(bytes).or_else(|error| serde_json::from_str(&mended(bytes)).map_err(|_| error))
}

/// The text without a byte order mark, with U+FFFD for bytes that are no UTF-8 and for escapes of lone surrogates.
fn mended(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut rest = text.trim_start_matches('\u{feff}');
    let mut mended = String::with_capacity(rest.len());
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match (unit(rest), unit(rest.get(6..).unwrap_or_default())) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                mended.push('\u{fffd}');
                rest = &rest[6..];
                continue;
            }
            // An escaped backslash is no beginning of an escape.
            _ => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    mended.push_str(rest);
    mended
}

/// The code unit of an escape such as `\ud83d` at the beginning of a text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

/// A tool's use in the shape that most agents have: `tool_name`, `tool_input`, `tool_response` or `tool_result`.
pub(super) fn call(input: &Value) -> Result<Call> {
    let answer =
        input.get("tool_response").or_else(|| input.get("tool_result")).or_else(|| input.get("error")).cloned();
    let given = input["tool_input"].clone();
    Ok(Call {
        tool: text(input, "tool_name")?.to_owned(),
        id: text_or_none(input, "tool_use_id").or_else(|| text_or_none(input, "tool_call_id")),
        input: inner(given),
        failed: answer.as_ref().is_some_and(says_failed),
        answer,
        exit: None,
    })
}

/// What some events hold as JSON text is taken for the JSON that it is.
pub(super) fn inner(value: Value) -> Value {
    let parsed = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    parsed.filter(Value::is_object).unwrap_or(value)
}

/// Whether a tool's answer says by itself that it failed. Tools differ, so only plain signs count.
pub(super) fn says_failed(answer: &Value) -> bool {
    let exit_code = |value: &Value| value["exit_code"].as_i64().or_else(|| value["exitCode"].as_i64());
    is_true(&answer["is_error"])
        || is_true(&answer["isError"])
        || answer["success"].as_bool() == Some(false)
        || answer["result_type"]
            .as_str()
            .is_some_and(|kind| matches!(kind, "failure" | "error" | "rejected" | "denied"))
        || answer.get("error").is_some_and(|error| !error.is_null())
        || exit_code(answer).or_else(|| exit_code(&answer["metadata"])).is_some_and(|code| code != 0)
}

/// The text of an answer, whatever holds it.
pub(super) fn answer_text(answer: &Value) -> Option<&str> {
    let places = ["llmContent", "text_result_for_llm", "textResultForLlm", "output", "stdout"];
    answer.as_str().or_else(|| places.iter().find_map(|place| answer[*place].as_str()))
}

/// The number after `Exit Code: ` in the last lines of a text, which the shell tool of an agent has added after all output.
/// `None` where there is no such line.
pub(super) fn exit_line(text: &str) -> Option<i64> {
    let own = |line: &&str| {
        ["Signal:", "Process Group PGID:", "Background PIDs:", "</untrusted_context>"]
            .iter()
            .any(|own| line.starts_with(own))
            || line.is_empty()
    };
    let line = text.lines().rev().map(str::trim).find(|line| !own(line))?;
    line.strip_prefix("Exit Code: ")?.trim().parse().ok()
}

/// An exit code as a process can have it.
pub(super) fn code(number: i64) -> Option<u8> {
    u8::try_from(number).ok()
}
