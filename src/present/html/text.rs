//! Text in HTML. Whatever is not ours passes through here: markup is escaped, and what would act invisibly is shown.

use crate::proof::text::{ACTIVE, inert_json, is_active};

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
    inert_json(text, &['<', '>', '&'])
}

/// The table of active characters for the page's script: the regular expression `ACTIVE`. Line ends and tabs are left out,
/// since the script sets text into elements that keep them.
pub(super) fn active_script() -> String {
    let kept = |number: u32| matches!(number, 0x09 | 0x0a);
    let mut ranges = String::new();
    for (first, last) in ACTIVE {
        let mut from = first;
        for number in (first..=last).filter(|number| kept(*number)).chain([last + 1]) {
            if from < number {
                ranges.push_str(&format!("\\u{{{from:x}}}-\\u{{{:x}}}", number - 1));
            }
            from = number + 1;
        }
    }
    format!("const ACTIVE = /[{ranges}]/gu;\n")
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
