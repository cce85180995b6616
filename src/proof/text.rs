//! Text of others, made safe to show. One table lists the characters that act on a reader instead of being read; the
//! terminal, the reports, the page's script, the note for `git log` and the hooks all use this table.

/// Characters that are never shown as they are, as ranges of code points in ascending order.
///
/// These are the control characters, the separators that end a line, all that Unicode calls ignorable by default (joiners,
/// marks of direction, variation selectors, fillers, tags), the noncharacters, and the few letters that are drawn as
/// nothing. An emoji that is made with a joiner or a variation selector is spelled out, too: a selector after every letter
/// can carry a whole hidden text. Surrogates are listed for the page's script; a Rust text never has one.
pub const ACTIVE: [(u32, u32); 42] = [
    (0x0000, 0x001f),   // C0 controls
    (0x007f, 0x009f),   // delete, and the C1 controls
    (0x00ad, 0x00ad),   // soft hyphen
    (0x034f, 0x034f),   // combining grapheme joiner
    (0x061c, 0x061c),   // Arabic letter mark
    (0x115f, 0x1160),   // Hangul fillers
    (0x17b4, 0x17b5),   // Khmer vowels without a shape
    (0x180b, 0x180f),   // Mongolian variation selectors and vowel separator
    (0x200b, 0x200f),   // zero-width space, joiners, left-to-right and right-to-left mark
    (0x2028, 0x202e),   // line and paragraph separator, embeddings and overrides
    (0x2060, 0x206f),   // word joiner, invisible operators, isolates
    (0x2800, 0x2800),   // blank Braille pattern
    (0x3164, 0x3164),   // Hangul filler
    (0xd800, 0xdfff),   // surrogates
    (0xfdd0, 0xfdef),   // noncharacters
    (0xfe00, 0xfe0f),   // variation selectors
    (0xfeff, 0xfeff),   // byte order mark
    (0xffa0, 0xffa0),   // half-width Hangul filler
    (0xfff0, 0xfffb),   // interlinear annotations, and what is reserved beside them
    (0xfffe, 0xffff),   // noncharacters
    (0x13430, 0x1343f), // joiners of hieroglyphs
    (0x13441, 0x13442), // blank hieroglyphs
    (0x16fe4, 0x16fe4), // Khitan filler
    (0x1bca0, 0x1bca3), // shorthand controls
    (0x1d159, 0x1d159), // null notehead
    (0x1d173, 0x1d17a), // beams and slurs
    (0x1fffe, 0x1ffff), // noncharacters: the last two of this plane and of every one after it
    (0x2fffe, 0x2ffff),
    (0x3fffe, 0x3ffff),
    (0x4fffe, 0x4ffff),
    (0x5fffe, 0x5ffff),
    (0x6fffe, 0x6ffff),
    (0x7fffe, 0x7ffff),
    (0x8fffe, 0x8ffff),
    (0x9fffe, 0x9ffff),
    (0xafffe, 0xaffff),
    (0xbfffe, 0xbffff),
    (0xcfffe, 0xcffff),
    (0xdfffe, 0xe0fff), // noncharacters, then tags and more variation selectors
    (0xefffe, 0xeffff),
    (0xffffe, 0xfffff),
    (0x0010_fffe, 0x0010_ffff),
];

/// Whether a character is in the table.
pub fn is_active(character: char) -> bool {
    let number = u32::from(character);
    let after = ACTIVE.partition_point(|(first, _)| *first <= number);
    after > 0 && number <= ACTIVE[after - 1].1
}

/// Text that a terminal or the log of a CI run only shows: every character of the table is spelled out as `\u{…}`, and so
/// is the bracket of what a runner takes for a command wherever it stands in a line (`##[…]`, `##vso[…]`).
pub fn inert(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    // How many `#` came before, with nothing but letters since: a command begins with `##` and then letters.
    let mut hashes = 0_usize;
    for character in text.chars() {
        let opens = character == '[' && hashes >= 2;
        hashes = match character {
            '#' => hashes + 1,
            letter if hashes >= 2 && letter.is_ascii_alphabetic() => hashes,
            _ => 0,
        };
        if opens || is_active(character) {
            safe.extend(character.escape_unicode());
        } else {
            safe.push(character);
        }
    }
    safe
}

/// Inert text of at most so many characters, not counting what spelling out adds.
pub fn brief(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return inert(text);
    }
    let cut: String = text.chars().take(longest.saturating_sub(1)).collect();
    format!("{}…", inert(cut.trim_end()))
}

/// Inert text on one line: every run of white space becomes one space.
pub fn one_line(text: &str) -> String {
    inert(&joined(text))
}

/// The same of at most so many characters.
pub fn brief_line(text: &str, longest: usize) -> String {
    brief(&joined(text), longest)
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A number of things, such as `1 entry` and `2 entries`.
pub(crate) fn counted<N>(count: N, one: &str, many: &str) -> String
where
    N: Copy + From<u8> + PartialEq + std::fmt::Display,
{
    let word = if count == N::from(1) { one } else { many };
    format!("{count} {word}")
}

/// JSON in which no character of the table stands as it is. It is the same JSON: outside of strings there are none but line
/// ends and tabs, which stay, and in a string any character may be written as an escape. Characters in `also` are escaped, too.
pub fn inert_json(json: &str, also: &[char]) -> String {
    let mut safe = String::with_capacity(json.len() + json.len() / 8);
    let mut units = [0; 2];
    for character in json.chars() {
        if also.contains(&character) || (is_active(character) && !matches!(character, '\n' | '\t')) {
            for unit in character.encode_utf16(&mut units) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            safe.push(character);
        }
    }
    safe
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_no_range_touches_the_next() {
        for pair in ACTIVE.windows(2) {
            assert!(pair[0].0 <= pair[0].1 && pair[0].1 + 1 < pair[1].0, "{pair:x?}");
        }
        assert_eq!(ACTIVE[ACTIVE.len() - 1].1, u32::from(char::MAX));
    }

    #[test]
    fn a_character_is_active_if_a_range_has_it() {
        for character in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            let listed = ACTIVE.iter().any(|(first, last)| (*first..=*last).contains(&u32::from(character)));
            assert_eq!(is_active(character), listed, "U+{:04X}", u32::from(character));
            assert!(!character.is_control() || listed, "U+{:04X}", u32::from(character));
        }
    }

    #[test]
    fn letters_marks_and_emoji_are_shown_as_they_are() {
        for character in "aÄß中文日本語한국어عربي עברית हिन्दी ไทย e\u{301} 🦀 🤖 ✔ → “” \u{a0}\u{3000}".chars()
        {
            assert!(!is_active(character), "U+{:04X}", u32::from(character));
        }
    }

    #[test]
    fn commands_of_runners_are_not_left_in_inert_text() {
        assert_eq!(inert("a ##[error]b"), "a ##\\u{5b}error]b");
        assert_eq!(inert("##vso[task.x]"), "##vso\\u{5b}task.x]");
        assert_eq!(inert("###[x] ##teamcity[y"), "###\\u{5b}x] ##teamcity\\u{5b}y");
        assert_eq!(inert("#[derive] ## Title [link]"), "#[derive] ## Title [link]");
        assert_eq!(inert("\u{1b}[31m\0\n\u{202e}"), "\\u{1b}[31m\\u{0}\\u{a}\\u{202e}");
    }

    #[test]
    fn a_text_is_cut_before_it_is_spelled_out() {
        assert_eq!(brief("abcdef", 4), "abc…");
        assert_eq!(brief("a\u{202e}cdef", 3), "a\\u{202e}…");
        assert_eq!(brief_line(" a \n\t b\u{2028}c ", 9), "a b c");
        assert_eq!(one_line("a\u{1b}\n b"), "a\\u{1b} b");
    }

    #[test]
    fn inert_json_is_the_same_json() {
        let text = serde_json::to_string("\u{202e}\u{e0041}\u{7f}\u{1b} 𝕏 \\u003c <&").unwrap();
        let safe = inert_json(&text, &['<']);
        assert!(!safe.contains(['<', '\u{202e}', '\u{e0041}', '\u{7f}']) && safe.contains('&'));
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), serde_json::from_str::<String>(&text).unwrap());
    }
}
