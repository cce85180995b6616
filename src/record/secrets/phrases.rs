//! The words that restore a wallet: twelve or more, on one line behind their name.

use memchr::memmem;

use super::Secret;

/// Names for such phrases, without the first letter, which may be in either case.
const NAMES: &[&str] = &["nemonic", "eed phrase", "eed_phrase", "eedPhrase", "ecovery phrase", "NEMONIC", "EED_PHRASE"];

/// At least so many words.
const LEAST: usize = 12;

/// Finds the first list of such words.
pub(super) fn find(text: &str) -> Option<Secret> {
    let bytes = text.as_bytes();
    let places = NAMES.iter().flat_map(|name| memmem::find_iter(bytes, name).map(move |at| at + name.len()));
    places
        .filter_map(|end| {
            let skipped = |byte: &&u8| b"\"'`:= ".contains(byte);
            let start = end + bytes[end..].iter().take(8).take_while(skipped).count();
            is_phrase(&bytes[start..]).then_some(Secret { what: "the words of a wallet", at: start })
        })
        .min_by_key(|secret| secret.at)
}

/// Whether these bytes begin with enough words of three to eight small letters. No list has the words of sentences.
fn is_phrase(bytes: &[u8]) -> bool {
    let line = bytes[..bytes.len().min(240)].split(|byte| !byte.is_ascii_lowercase() && *byte != b' ').next();
    let words = line.unwrap_or_default().split(|byte| *byte == b' ').take(LEAST);
    let is_listed =
        |word: &[u8]| (3..=8).contains(&word.len()) && ![&b"the"[..], b"and", b"for", b"are", b"with"].contains(&word);
    words.filter(|word| is_listed(word)).count() == LEAST
}
