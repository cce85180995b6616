//! Patterns of OpenSSH: `*` stands for any text, `?` for any character, and a list of them is separated by commas, where
//! `!` before one turns away what it matches.

use crate::proof::glob::matches_bytes;

/// Longest pattern, in bytes: that of OpenSSH.
const MAX_PATTERN: usize = 1023;

/// A list of patterns, at least one of which lets something in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Patterns {
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

impl Patterns {
    /// Reads a list; `None` if an element is empty or too long, or all are exceptions: then it would match nothing.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
        for element in text.split(',') {
            let (into, pattern) = match element.strip_prefix('!') {
                Some(pattern) => (&mut unwanted, pattern),
                None => (&mut wanted, element),
            };
            if pattern.is_empty() || pattern.len() > MAX_PATTERN || pattern.contains([' ', '\t']) {
                return None;
            }
            into.push(pattern.to_owned());
        }
        (!wanted.is_empty()).then_some(Self { wanted, unwanted })
    }

    /// Whether the list lets this text in.
    pub(super) fn matches(&self, text: &str) -> bool {
        // `?` is one byte, as in OpenSSH.
        let fits = |pattern: &String| matches_bytes(pattern.as_bytes(), text.as_bytes());
        let any = |patterns: &[String]| patterns.iter().any(fits);
        any(&self.wanted) && !any(&self.unwanted)
    }

    /// The patterns that the list allows, without its exceptions.
    pub(super) fn wanted(&self) -> &[String] {
        &self.wanted
    }
}

/// Whether a pattern stands for more than itself.
pub(super) fn is_open(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}

/// Whether some text matches both patterns, letters of either case being the same.
pub(super) fn overlap(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    // reached[j]: the first i bytes of one and the first j of the other can stand for one text.
    let mut reached = vec![false; other.len() + 1];
    for i in 0..=one.len() {
        let above = std::mem::replace(&mut reached, vec![false; other.len() + 1]);
        for j in 0..=other.len() {
            let (left, right) = (i.checked_sub(1).map(|i| one[i]), j.checked_sub(1).map(|j| other[j]));
            reached[j] = match (left, right) {
                (None, None) => true,
                (left, right) => {
                    let same = left.zip(right).is_some_and(|(left, right)| {
                        left == b'?' || right == b'?' || left.eq_ignore_ascii_case(&right)
                    });
                    // A `*` stands for nothing, or takes one more byte of the other.
                    (left == Some(b'*') && (above[j] || j > 0 && reached[j - 1]))
                        || (right == Some(b'*') && (reached[j.saturating_sub(1)] && j > 0 || i > 0 && above[j]))
                        || (same && above[j - 1])
                }
            };
        }
    }
    reached[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_turn_away_what_another_pattern_lets_in() {
        let patterns = Patterns::parse("*@example.com,!eve@*,bob");
        for (text, matches) in
            [("ada@example.com", true), ("bob", true), ("eve@example.com", false), ("ada@example.org", false)]
        {
            assert_eq!(patterns.as_ref().map(|patterns| patterns.matches(text)), Some(matches), "{text}");
        }
        for bad in ["", ",", "a,", "!a", "!", "a,!", "a, b"] {
            assert_eq!(Patterns::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn patterns_match_and_overlap_as_every_short_text_says() {
        let texts = |letters: &str| {
            let mut all = vec![String::new()];
            for _ in 0..4 {
                let longer = all.iter().flat_map(|text| letters.chars().map(move |letter| format!("{text}{letter}")));
                all = longer.chain([String::new()]).collect();
            }
            all
        };
        let (patterns, words) = (texts("ab*?"), texts("ab"));
        let matches = |pattern: &str, text: &str| matches_bytes(pattern.as_bytes(), text.as_bytes());
        let by_definition = |pattern: &str, text: &str| {
            fn fits(pattern: &[u8], text: &[u8]) -> bool {
                match (pattern, text) {
                    ([], []) => true,
                    ([b'*', rest @ ..], _) => (0..=text.len()).any(|skipped| fits(rest, &text[skipped..])),
                    ([b'?', rest @ ..], [_, after @ ..]) => fits(rest, after),
                    ([letter, rest @ ..], [first, after @ ..]) => letter == first && fits(rest, after),
                    _ => false,
                }
            }
            fits(pattern.as_bytes(), text.as_bytes())
        };
        for pattern in &patterns {
            for word in &words {
                assert_eq!(matches(pattern, word), by_definition(pattern, word), "{pattern} {word}");
            }
        }
        for one in patterns.iter().filter(|one| one.len() < 4) {
            for other in patterns.iter().filter(|other| other.len() < 3) {
                let common = words.iter().any(|word| matches(one, word) && matches(other, word));
                assert_eq!(overlap(one, other), common, "{one} {other}");
            }
        }
    }
}
