//! Escaping: what a text may not do to its reader. First every text is made [`inert`]; then each form escapes what means
//! something there.

pub(super) use crate::proof::text::{brief, inert};

/// The message of a workflow command, escaped as GitHub's toolkit does.
pub(super) fn command_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a workflow command.
pub(super) fn command_property(text: &str) -> String {
    command_data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Text as a code span, where Markdown knows no links, mentions, HTML or emphasis, and that breaks no table. (Entities
/// would do for the HTML, but forges look for mentions and addresses after they have decoded them.)
pub(super) fn code_span(text: &str, longest: usize) -> String {
    let text = brief(text, longest).replace('|', "\\u{7c}");
    let runs = text.split(|character| character != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0) + 1);
    // One space at each end is taken off again where both are there.
    let padding = if text.contains('`') || text.trim().is_empty() || text.starts_with(' ') { " " } else { "" };
    format!("{fence}{padding}{text}{padding}{fence}")
}

/// The same of a text over several lines: every run of white space becomes one space.
pub(super) fn line_span(text: &str, longest: usize) -> String {
    code_span(&text.split_whitespace().collect::<Vec<_>>().join(" "), longest)
}

/// Text in an element or attribute of XML. What XML cannot hold at all is spelled out already in inert text.
pub fn xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in inert(text).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&apos;"),
            other => safe.push(other),
        }
    }
    safe
}

/// Plain text of a SARIF message, in which brackets would be links.
pub(super) fn sarif_text(text: &str) -> String {
    inert(text).replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

/// A path as a relative reference of RFC 3986.
pub(super) fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_escaped_as_the_toolkit_does() {
        assert_eq!(command_data("50%\r\n::error::x"), "50%25%0D%0A::error::x");
        assert_eq!(command_property("a:b,c%\n"), "a%3Ab%2Cc%25%0A");
    }

    #[test]
    fn a_code_span_holds_any_text() {
        for (text, expected) in [
            ("plain", "`plain`"),
            ("a `b` c", "`` a `b` c ``"),
            ("``", "``` `` ```"),
            ("a|b\\|c", "`a\\u{7c}b\\\\u{7c}c`"),
            ("<b>@x</b>\n", "`<b>@x</b>\\u{a}`"),
            ("", "`  `"),
            ("end\\", "`end\\`"),
        ] {
            assert_eq!(code_span(text, 100), expected);
        }
        assert_eq!(code_span("abcdef", 4), "`abc…`");
    }

    #[test]
    fn a_path_becomes_a_relative_uri() {
        assert_eq!(uri("src/a b:c.rs"), "src/a%20b%3Ac.rs");
        assert_eq!(uri("ä?#%"), "%C3%A4%3F%23%25");
    }

    #[test]
    fn brackets_and_backslashes_of_a_message_are_no_links() {
        assert_eq!(sarif_text(r"[x](http://y) \[z"), r"\[x\](http://y) \\\[z");
    }
}
