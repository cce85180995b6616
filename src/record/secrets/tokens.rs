//! Tokens that are known by their form alone: tokens of several parts, and tokens of services that the table of prefixes
//! does not know.

use super::alphabet::{RUN, is};
use super::{Secret, dotted, unknown};

/// Shorter runs of characters are no such token.
const LEAST: usize = 20;

/// Finds the first token in a text.
pub(super) fn find(text: &str) -> Option<Secret> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|byte| is(**byte, RUN)).count();
        if length >= LEAST {
            // The letter of an escape is no part of the token behind it.
            let start = at + usize::from(bytes[..at].ends_with(b"\\"));
            let run = &text[start..at + length];
            let found = dotted::find(run).or_else(|| unknown::find(run));
            if let Some(secret) = found {
                return Some(secret.moved_to(start + secret.at));
            }
        }
        at += length + 1;
    }
    None
}
