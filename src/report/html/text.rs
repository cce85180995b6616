//! Text in HTML. Whatever is not ours passes through here: markup is escaped, and what would act invisibly is shown.

use crate::report::escape::is_active;

/// Text on one line, in an element or a quoted attribute.
pub(super) fn inline(text: &str) -> String {
    write(text, false)
}

/// Text over several lines, in an element that keeps them.
pub(super) fn block(text: &str) -> String {
    write(text, true)
}

fn write(text: &str, lines: bool) -> String {
    let mut safe = String::with_capacity(text.len() + text.len() / 8);
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' if lines => safe.push(character),
            active if is_active(active) => safe.push_str(&shown(active)),
            other => safe.push(other),
        }
    }
    safe
}

/// A character that cannot be seen, by its number. The page has the same, in `trail.js`.
fn shown(character: char) -> String {
    format!("⟨U+{:04X}⟩", u32::from(character))
}

/// JSON inside of an element `script`: nothing in it can end the element or begin a comment, and nothing is invisible.
pub(super) fn json(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + text.len() / 8);
    let mut units = [0; 2];
    for character in text.chars() {
        // Outside of strings JSON has none of these, and inside any character may be written so.
        if matches!(character, '<' | '>' | '&') || (is_active(character) && !matches!(character, '\n' | '\t')) {
            for unit in character.encode_utf16(&mut units) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            safe.push(character);
        }
    }
    safe
}

/// A hash in short, with all of it at hand.
pub(super) fn hash(full: &str) -> String {
    let full = inline(full);
    format!("<code class=\"hash\" title=\"{full}\">{full:.12}</code>")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use super::*;

    #[test]
    fn markup_and_invisible_characters_are_only_shown() {
        assert_eq!(
            inline("<b a='\"'>&\u{202e}\u{1b}[0m\n"),
            "&lt;b a=&#39;&quot;&#39;&gt;&amp;⟨U+202E⟩⟨U+001B⟩[0m⟨U+000A⟩"
        );
        assert_eq!(block("a\n\tb\r\u{e0041}"), "a\n\tb⟨U+000D⟩⟨U+E0041⟩");
    }

    #[test]
    fn json_in_a_script_is_the_same_json() {
        let text =
            serde_json::to_string("</script><!-- ]]> & \u{2028}\u{202e}\u{e0041}\u{7f}\u{1b} 𝕏 \\u003c").unwrap();
        let safe = json(&text);
        assert!(!safe.contains(['<', '>', '&', '\u{2028}', '\u{202e}', '\u{7f}']));
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), serde_json::from_str::<String>(&text).unwrap());
    }
}
