//! Hashes recomputed from the written formats alone: nothing here calls the library.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

pub(crate) fn unhex(text: &str) -> [u8; 32] {
    let bytes: Vec<u8> = (0..32).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect();
    bytes.try_into().unwrap()
}

/// RFC 8785 for what the tests record: objects, strings, null, booleans and integers.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut keys: Vec<&String> = members.keys().collect();
            keys.sort_by_key(|key| key.encode_utf16().collect::<Vec<_>>());
            let members: Vec<String> = keys
                .into_iter()
                .map(|key| format!("{}:{}", canonical(&Value::String(key.clone())), canonical(&members[key])))
                .collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::String(text) => {
            let mut out = String::from("\"");
            for character in text.chars() {
                match character {
                    '"' => out += "\\\"",
                    '\\' => out += "\\\\",
                    '\u{8}' => out += "\\b",
                    '\t' => out += "\\t",
                    '\n' => out += "\\n",
                    '\u{c}' => out += "\\f",
                    '\r' => out += "\\r",
                    '\0'..='\u{1f}' => out += &format!("\\u{:04x}", u32::from(character)),
                    _ => out.push(character),
                }
            }
            out + "\""
        }
        other => other.to_string(),
    }
}

/// The genesis of a session, from the answer of `start`.
pub(crate) fn genesis(session: &Value) -> [u8; 32] {
    if session["scheme"] == "ams-v0" {
        return [0; 32];
    }
    let fields = ["caller", "intent", "proof_grade", "scheme", "session_id", "started_at", "task_id"];
    sha256(canonical(&pick(session, &fields)).as_bytes())
}

/// The content hash of an entry, from the answer of `record` or `attest`.
pub(crate) fn content_hash(scheme: &str, entry: &Value) -> [u8; 32] {
    let body = if entry.get("attest").is_some() { "attest" } else { "content" };
    if scheme == "ams-v0" {
        return sha256(entry[body].as_str().unwrap().as_bytes());
    }
    let mut fields = vec![body, "id", "prev_hash", "timestamp"];
    if body == "content" {
        fields.extend(["task_id", "type"]);
    }
    if entry.get("metadata").is_some_and(|metadata| !metadata.is_null()) {
        fields.push("metadata");
    }
    sha256(canonical(&pick(entry, &fields)).as_bytes())
}

fn pick(value: &Value, fields: &[&str]) -> Value {
    fields.iter().map(|field| ((*field).to_owned(), value[field].clone())).collect::<serde_json::Map<_, _>>().into()
}

fn pair(scheme: &str, left: &[u8], right: &[u8]) -> [u8; 32] {
    match scheme {
        "ams-v0" => sha256((hex(left) + &hex(right)).as_bytes()),
        "v1-rfc9162" => sha256(&[&[1], left, right].concat()),
        "v1-sorted" => sha256(&[left.min(right), left.max(right)].concat()),
        _ => sha256(&[left, right].concat()),
    }
}

pub(crate) fn chain_hash(scheme: &str, content: &[u8; 32], prev: &[u8; 32]) -> [u8; 32] {
    if scheme == "ams-v0" { pair(scheme, content, prev) } else { sha256(&[&content[..], prev].concat()) }
}

/// The root over content hashes in order of recording, level by level.
pub(crate) fn root(scheme: &str, contents: &[[u8; 32]]) -> [u8; 32] {
    let mut level: Vec<[u8; 32]> = match scheme {
        "v1-rfc9162" => contents.iter().map(|content| sha256(&[&[0], &content[..]].concat())).collect(),
        _ => contents.to_vec(),
    };
    if scheme == "v1-sorted" {
        level.sort_unstable();
    }
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|nodes| match nodes {
                [left, right] => pair(scheme, left, right),
                [lone] if scheme == "v1-rfc9162" => *lone,
                [lone] => pair(scheme, lone, lone),
                _ => unreachable!(),
            })
            .collect();
    }
    level[0]
}
