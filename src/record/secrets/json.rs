//! Credentials in a line of JSON, such as one of an evidence file.

use super::{Secret, find_secret};

/// Finds a credential in a text that is JSON, such as a line that is about to be published. It looks at the line and at
/// every string in it, decoded, whether that is a name or a value and however deep it is. `at` is a place in the line.
pub fn find_in_json(line: &str) -> Option<Secret> {
    let in_strings = strings(line).filter_map(|(at, literal)| {
        let decoded: String = serde_json::from_str(literal).ok()?;
        Some(Secret { at, ..find_secret(&decoded)? })
    });
    in_strings.chain(find_secret(line)).min_by_key(Secret::order)
}

/// The strings of a JSON text that have escapes, with their quotation marks and places. Those without are in the text as
/// they are.
fn strings(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = line.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + memchr::memchr(b'"', &bytes[at..])?;
            let mut end = start + 1;
            let mut has_escapes = false;
            loop {
                let next = end + memchr::memchr2(b'"', b'\\', &bytes[end..])?;
                if bytes[next] == b'"' {
                    end = next + 1;
                    break;
                }
                has_escapes = true;
                end = (next + 2).min(bytes.len());
            }
            at = end;
            if has_escapes {
                return Some((start, line.get(start..end)?));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::find_in_json;

    /// A token of the form that GitHub issues, which is nobody's.
    fn token() -> String {
        ["gh", "p_", "kJ8Lm2xQpZ0vTnR7", "wYcB3dF6hG9sA1eU5iO4"].concat()
    }

    fn kind(line: &serde_json::Value) -> Option<&'static str> {
        find_in_json(&line.to_string()).map(|secret| secret.what)
    }

    #[test]
    fn credential_is_found_in_every_text_of_an_opening_and_of_an_entry() {
        for name in ["caller", "intent", "task_id", "content", "attest"] {
            let line = serde_json::json!({ "id": "e1", name: format!("first\nthen \"{}\"", token()), "type": "plan" });
            assert_eq!(kind(&line), Some("a GitHub token"), "{name}");
        }
    }

    #[test]
    fn credential_is_found_deep_in_metadata() {
        let line = serde_json::json!({ "metadata": { "runs": [1, { "log": [null, format!("\t{}", token())] }] } });
        assert_eq!(kind(&line), Some("a GitHub token"));
    }

    #[test]
    fn name_of_a_member_tells_what_its_value_is() {
        let line = serde_json::json!({ "metadata": { "env": { "DB_PASSWORD": "vX3!pq\\Lz90" } } });
        assert_eq!(kind(&line), Some("a password"));
    }

    #[test]
    fn name_of_a_member_may_be_the_credential() {
        assert_eq!(kind(&serde_json::json!({ "metadata": { (token()): true } })), Some("a GitHub token"));
    }

    #[test]
    fn credential_is_found_through_escapes_of_every_letter() {
        let escaped: String = token().bytes().map(|byte| format!("\\u{byte:04x}")).collect();
        let line = format!("{{\"content\":\"{escaped}\"}}");
        assert_eq!(find_in_json(&line).map(|secret| secret.what), Some("a GitHub token"));
    }

    #[test]
    fn credential_is_found_in_json_within_json() {
        let inner = serde_json::json!({ "log": format!("a\n{}", token()) }).to_string();
        assert_eq!(kind(&serde_json::json!({ "content": inner })), Some("a GitHub token"));
    }

    #[test]
    fn place_is_within_the_line() {
        let line = serde_json::json!({ "content": format!("é\n{}", token()), "id": "e1" }).to_string();
        let at = find_in_json(&line).map(|secret| secret.at);
        assert!(at.is_some_and(|at| line.is_char_boundary(at)) && at <= line.find("gh"), "{at:?}");
    }

    #[test]
    fn lines_of_an_evidence_file_are_let_through() {
        let hash = "64236ffacd1919c3ce09d6ee54683041f9f56053b65edbb886f32883d057b0c9";
        for line in [
            serde_json::json!({
                "caller": "agent 1.0 for Ada <ada@example.com>", "intent": "Rotate the API key", "proof_grade": true,
                "scheme": "v1", "session_id": "8bfea854-fd8c-44dc-a9ce-c13027ce08d6",
                "started_at": "2026-03-01T09:00:00.000Z", "task_id": "T-1",
            }),
            serde_json::json!({
                "content": "Read the password from $DB_PASSWORD.\nRejected: a token in the URL, \"?token=…\".", "id": "e1",
                "metadata": { "confidence": 0.9, "tokens": { "input_tokens": 4096 }, "cache_key": hash },
                "prev_hash": hash, "timestamp": "2026-03-01T09:00:01.000Z", "type": "decision",
            }),
        ] {
            assert_eq!(kind(&line), None, "{line}");
        }
    }

    #[test]
    fn text_that_is_no_json_is_searched_as_it_stands() {
        assert!(find_in_json(&format!("{{\"content\": \"{}", token())).is_some());
        assert_eq!(find_in_json("\"\\"), None);
    }
}
