//! Tokens that are known by a mark in the middle or at the end: `1234567890:AA…`, `…Q~…`, `…-us12`.

use memchr::memmem;

use super::Secret;
use super::alphabet::{dotted, hex, url_safe, word};
use super::value::is_random_body;

struct Rule {
    what: &'static str,
    mark: &'static str,
    /// Which characters stand before the mark, and how many at least and at most.
    before: (fn(u8) -> bool, usize, usize),
    /// The same for the characters after it.
    after: (fn(u8) -> bool, usize, usize),
}

#[rustfmt::skip] // a table reads better as one
const RULES: &[Rule] = &[
    Rule { what: "a Telegram bot token",   mark: ":AA",    before: (digit, 8, 11),  after: (url_safe, 32, 34) },
    Rule { what: "an Azure client secret", mark: "Q~",     before: (word, 4, 4),    after: (tilde, 31, 38) },
    Rule { what: "an Azure DevOps token",  mark: "AZDO",   before: (word, 76, 76),  after: (word, 4, 4) },
    Rule { what: "a Mailchimp key",        mark: "-us",    before: (hex, 32, 32),   after: (digit, 1, 2) },
    Rule { what: "a New Relic key",        mark: "NRAL",   before: (word, 36, 36),  after: (word, 0, 0) },
    Rule { what: "a MaxMind key",          mark: "_mmk",   before: (word, 29, 29),  after: (word, 0, 0) },
    Rule { what: "a Salesforce session",   mark: "!AQ",    before: (word, 15, 18),  after: (dotted, 60, 140) },
    Rule { what: "a Firebase key",         mark: ":APA91", before: (url_safe, 8, 40), after: (url_safe, 100, 200) },
    Rule { what: "a Terraform token",      mark: ".atlasv1.", before: (word, 14, 14), after: (url_safe, 60, 72) },
];

/// Finds the first token that is known by a mark.
pub(super) fn find(text: &str) -> Option<Secret> {
    RULES.iter().filter_map(|rule| rule.find(text)).min_by_key(|secret| secret.at)
}

impl Rule {
    fn find(&self, text: &str) -> Option<Secret> {
        let bytes = text.as_bytes();
        memmem::find_iter(bytes, self.mark).find_map(|mark| {
            let end = mark + self.mark.len();
            let (before, least_before, most_before) = self.before;
            let (after, least_after, most_after) = self.after;
            let left = bytes[..mark].iter().rev().take(most_before + 1).take_while(|byte| before(**byte)).count();
            let right = bytes[end..].iter().take(most_after + 1).take_while(|byte| after(**byte)).count();
            let fits = (least_before..=most_before).contains(&left) && (least_after..=most_after).contains(&right);
            (fits && is_random_body(&bytes[mark - left..end + right]))
                .then_some(Secret { what: self.what, at: mark - left })
        })
    }
}

fn digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

fn tilde(byte: u8) -> bool {
    dotted(byte) || byte == b'~'
}
