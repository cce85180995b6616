//! Private keys in PEM and in the format of PuTTY.

use memchr::memmem;

use super::Secret;
use super::alphabet::base64;

/// A block of a private key: the header, and a line of base64 below it. The header alone is talk.
pub(super) fn find(text: &str) -> Option<Secret> {
    let block = memmem::find_iter(text.as_bytes(), "-----BEGIN ").find_map(|at| {
        let (label, rest) = text[at + 11..].split_once("-----")?;
        let is_private = label.len() < 40 && label.ends_with("PRIVATE KEY") || label == "PGP PRIVATE KEY BLOCK";
        (is_private && is_body(rest)).then_some(at)
    });
    let putty = memmem::find_iter(text.as_bytes(), "Private-Lines: ").find(|at| {
        let lines = text[at + 15..].trim_start_matches(|letter: char| letter.is_ascii_digit());
        is_body(lines)
    });
    block.into_iter().chain(putty).min().map(|at| Secret { what: "a private key", at })
}

/// Whether the text behind the header goes on with the lines of a key.
fn is_body(rest: &str) -> bool {
    // Inside JSON or source code the line breaks may be spelled out, and each line quoted or indented.
    let below = rest.trim_start_matches(|letter: char| !letter.is_alphanumeric() && letter != '\n');
    let spelled_out = below.starts_with(['n', 'r']) && rest[..rest.len() - below.len()].ends_with('\\');
    if !(below.starts_with('\n') || spelled_out) {
        return false; // a sentence goes on after the header
    }
    let body: String = rest.chars().take(1024).collect::<String>().replace("\\n", "\n").replace("\\r", "");
    let mut lines = body.lines().map(|line| line.trim_matches(|letter: char| !letter.is_ascii_alphanumeric()));
    let is_key = |line: &str| line.bytes().take_while(|byte| base64(*byte)).count() >= 40;
    // There may be lines such as `Proc-Type: 4,ENCRYPTED` before the key.
    lines.find(|line| !line.is_empty() && (is_key(line) || !line.contains(": "))).is_some_and(is_key)
}
