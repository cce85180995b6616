//! What a decision turned down: the part of its text that says so, for reports to bring out.

use std::ops::Range;
use std::sync::LazyLock;

use regex_lite::Regex;

/// How people begin to say it, at the start of a line or of a sentence. The page has the same pattern, in `trail.js`.
const OPENINGS: &str = r"(?m)(^[ \t]*(?:[-*+•] )?|[.;!?] )((?:[Rr]ejected|[Rr]uled out|[Dd]iscarded|[Dd]ismissed|[Nn]ot chosen|[Aa]lternatives? rejected)\b|(?:[Aa]lternatives?(?: considered)?|[Cc]onsidered(?: and rejected)?|[Oo]ptions? rejected)[ \t]*:)";

static OPENING: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(OPENINGS).ok());

/// A text in pieces that add up to it, each with whether it tells of what was rejected.
pub(super) fn pieces(text: &str) -> Vec<(&str, bool)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for found in rejected(text) {
        if at < found.start {
            pieces.push((&text[at..found.start], false));
        }
        pieces.push((&text[found.clone()], true));
        at = found.end;
    }
    if at < text.len() {
        pieces.push((&text[at..], false));
    }
    pieces
}

fn rejected(text: &str) -> Vec<Range<usize>> {
    let Some(opening) = &*OPENING else { return Vec::new() };
    let mut found: Vec<Range<usize>> = Vec::new();
    for captures in opening.captures_iter(text) {
        let Some(keyword) = captures.get(2) else { continue };
        if found.last().is_some_and(|last| keyword.start() < last.end) {
            continue;
        }
        found.push(keyword.start()..end(text, keyword.start()));
    }
    found
}

/// To the end of the line; and where that ends in a colon, to the end of the list below it.
fn end(text: &str, start: usize) -> usize {
    let mut end = line_end(text, start);
    if text[start..end].trim_end().ends_with(':') {
        while end < text.len() {
            let next = &text[end..line_end(text, end)];
            if !next.trim_start().starts_with(['-', '*', '+', '•']) {
                break;
            }
            end += next.len();
        }
    }
    end
}

/// Behind the newline of the line that this is in.
fn line_end(text: &str, from: usize) -> usize {
    text[from..].find('\n').map_or(text.len(), |at| from + at + 1)
}

/// What metadata says was rejected: `rejected` or `alternatives`, a text or a list of texts or of objects with an
/// `option` and a `reason`.
pub(super) fn listed(metadata: Option<&str>) -> Vec<String> {
    let Some(value) = metadata.and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok()) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for key in ["rejected", "alternatives"] {
        match value.get(key) {
            Some(serde_json::Value::Array(items)) => all.extend(items.iter().filter_map(item)),
            Some(other) => all.extend(item(other)),
            None => {}
        }
    }
    all
}

fn item(value: &serde_json::Value) -> Option<String> {
    if let Some(text) = value.as_str() {
        return Some(text.to_owned());
    }
    let option = ["option", "name", "alternative"].into_iter().find_map(|key| value.get(key)?.as_str())?;
    let reason = ["reason", "why"].into_iter().find_map(|key| value.get(key)?.as_str());
    Some(reason.map_or_else(|| option.to_owned(), |reason| format!("{option}: {reason}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        assert_eq!(pieces(text).iter().map(|(piece, _)| *piece).collect::<String>(), text);
        pieces(text).into_iter().filter(|(_, rejected)| *rejected).map(|(piece, _)| piece).collect()
    }

    #[test]
    fn what_was_rejected_is_found_at_the_start_of_a_line_or_sentence() {
        assert_eq!(found("Quote it.\nRejected: $*, which splits.\nDone."), ["Rejected: $*, which splits.\n"]);
        assert_eq!(found("Use a map. Rejected a list because it is slow."), ["Rejected a list because it is slow."]);
        assert_eq!(
            found("A.\nAlternatives considered:\n- b: slow\n* c\nThen d."),
            ["Alternatives considered:\n- b: slow\n* c\n"]
        );
        assert_eq!(found("- chosen: a\n- rejected: b\n- ruled out: ö"), ["rejected: b\n", "ruled out: ö"]);
    }

    #[test]
    fn the_word_alone_is_not_enough() {
        assert!(found("The server rejected it; we considered the cost. Alternatives are few.").is_empty());
        assert!(found("").is_empty());
    }

    #[test]
    fn metadata_may_list_it() {
        assert_eq!(listed(Some(r#"{"rejected":["a",{"option":"b","reason":"slow"},7]}"#)), ["a", "b: slow"]);
        assert_eq!(listed(Some(r#"{"alternatives":"c"}"#)), ["c"]);
        assert!(listed(Some("{}")).is_empty() && listed(None).is_empty());
    }
}
