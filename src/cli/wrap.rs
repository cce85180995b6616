//! Text broken into lines by how wide it is on a terminal. Recorded text comes in as it is and leaves inert.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::ui::inert;
pub(super) use crate::proof::text::one_line;

/// Columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// The lines of a text, each at most so many columns wide, unless a single word is wider: cut apart, an address or a
/// hash could not be copied. The author's own lines stay, and what continues one of them is set in below its text.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.trim_end().lines() {
        let line = inert(&line.trim_end().replace('\t', "    "));
        fold(&line, columns.max(1), &mut lines);
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// A text in one paragraph, whatever its lines, and of that the first so many lines.
pub(super) fn brief(text: &str, columns: usize, most: usize, more: &str) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut lines = wrap(&text, columns);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            while width(last) + width(more) + 1 > columns && last.contains(' ') {
                last.truncate(last.rfind(' ').unwrap_or(0));
            }
            last.push_str(more);
        }
    }
    lines
}

fn fold(line: &str, columns: usize, lines: &mut Vec<String>) {
    let hang = hanging(line).min(columns / 3);
    let text = line.trim_start_matches(' ');
    let mut current = " ".repeat((line.len() - text.len()).min(columns / 3));
    let mut used = current.len();
    let mut empty = true;
    for (gap, word) in words(text) {
        let wide = width(word);
        if !empty && used + gap + wide > columns {
            lines.push(std::mem::take(&mut current));
            current = " ".repeat(hang);
            (used, empty) = (hang, true);
        }
        if !empty {
            current.push_str(&" ".repeat(gap));
            used += gap;
        }
        // A runner of CI takes what begins a line like this for a command to itself, however far it is set in.
        if let Some(rest) = word.strip_prefix(':').filter(|rest| empty && rest.starts_with(':')) {
            current.push_str("\\u{3a}");
            current.push_str(rest);
            used += wide + 5;
        } else {
            current.push_str(word);
            used += wide;
        }
        empty = false;
    }
    lines.push(if empty { String::new() } else { current });
}

/// How far the text of a line is set in: past its leading spaces, and past the sign of a list.
fn hanging(line: &str) -> usize {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let digits = text.len() - text.trim_start_matches(|character: char| character.is_ascii_digit()).len();
    let sign = if text.starts_with("- ") || text.starts_with("* ") || text.starts_with("+ ") {
        2
    } else if (1..4).contains(&digits) && (text[digits..].starts_with(". ") || text[digits..].starts_with(") ")) {
        digits + 2
    } else {
        0
    };
    indent + sign
}

/// The pieces between which a line may end, each with the spaces before it. Wide characters need no space to end at, but
/// what closes a sentence or a bracket stays with what it closes.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut gap = 0;
    for piece in text.split(' ') {
        if piece.is_empty() {
            gap += 1;
            continue;
        }
        let mut start = 0;
        let mut before: Option<char> = None;
        for (at, character) in piece.char_indices() {
            // A mark without a width belongs to what it marks.
            if character.width() == Some(0) {
                continue;
            }
            if at > start && before.is_some_and(|before| may_part(before, character)) {
                words.push((std::mem::take(&mut gap), &piece[start..at]));
                start = at;
            }
            before = Some(character);
        }
        words.push((gap, &piece[start..]));
        gap = 1;
    }
    words
}

fn may_part(before: char, after: char) -> bool {
    let wide = |character: char| character.width() == Some(2);
    wide(before)
        && wide(after)
        && !"、。，．：；？！）」』】〉》〕］｝・ー々".contains(after)
        && !"（「『【〈《〔［｛".contains(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_wide_as_there_is_room_and_no_wider() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("one  two", 8), ["one  two"]);
        assert_eq!(wrap("", 10), [""]);
        assert_eq!(wrap("a\n\nb\n\n", 10), ["a", "", "b"]);
        assert_eq!(wrap("a https://example.org/a/b c", 8), ["a", "https://example.org/a/b", "c"]);
    }

    #[test]
    fn width_is_that_of_the_terminal() {
        // Two columns each; combining marks none.
        assert_eq!(wrap("日本語日本語", 8), ["日本語日", "本語"]);
        assert_eq!(wrap("日本。日", 4), ["日", "本。", "日"]);
        assert_eq!(wrap("e\u{301}e\u{301} e\u{301}e\u{301}", 5), ["e\u{301}e\u{301} e\u{301}e\u{301}"]);
        assert_eq!(wrap("🦀🦀🦀", 4), ["🦀🦀", "🦀"]);
    }

    #[test]
    fn what_continues_a_line_is_set_in_below_its_text() {
        assert_eq!(wrap("- one two three", 9), ["- one two", "  three"]);
        assert_eq!(wrap("  10. one two", 9), ["  10. one", "   two"]);
        assert_eq!(wrap("\tx y", 12), ["    x y"]);
    }

    #[test]
    fn text_is_inert_before_it_is_measured() {
        assert_eq!(wrap("a\u{1b}[2Jb c", 11), ["a\\u{1b}[2Jb", "c"]);
    }

    #[test]
    fn no_line_begins_with_a_command_to_a_runner() {
        assert_eq!(wrap("::error::x ::y\n  ::z", 80), ["\\u{3a}:error::x ::y", "  \\u{3a}:z"]);
        assert_eq!(wrap("one ::two", 5), ["one", "\\u{3a}:two"]);
    }

    #[test]
    fn brief_says_that_there_is_more() {
        assert_eq!(brief("one two\nthree four five", 10, 2, "…"), ["one two", "three…"]);
        assert_eq!(brief("one two", 10, 2, "…"), ["one two"]);
    }

    #[test]
    fn no_line_is_wider_than_it_may_be_unless_it_is_one_word() {
        let text = "Ein Wort, 日本語の文章。 combining e\u{301}\u{301}e and - lists\n  - of 🦀 crabs and more, and (more) of them";
        for columns in 1..60 {
            for line in wrap(text, columns) {
                assert!(
                    width(&line) <= columns || words(line.trim()).len() == 1 || line.trim().starts_with('-'),
                    "{columns}: {line}"
                );
            }
        }
    }
}
