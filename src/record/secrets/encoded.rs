//! Texts that are in another text as base64 or in hexadecimal digits.

use super::alphabet::{CODE, is};

/// Shorter runs hide no credential.
const LEAST: usize = 16;

/// Calls `visit` with every text that is encoded in this one, and with the place where it begins.
pub(super) fn each(text: &str, mut visit: impl FnMut(usize, &str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|byte| is(**byte, CODE)).count();
        if length >= LEAST {
            let run = &bytes[at..at + length];
            match decoded(run) {
                Some(inner) => visit(at, &inner),
                // A name before it, as in `TOKEN_…`, or a path.
                None => {
                    let mut start = at;
                    for piece in run.split(|byte| matches!(byte, b'_' | b'-' | b'/')) {
                        if piece.len() >= LEAST
                            && piece.len() < length
                            && let Some(inner) = decoded(piece)
                        {
                            visit(start, &inner);
                        }
                        start += piece.len() + 1;
                    }
                }
            }
        }
        at += length + 1;
    }
}

/// The text that is encoded here, if there is one.
fn decoded(run: &[u8]) -> Option<String> {
    // Most runs are words or binary: their first bytes show it.
    let head = &run[..run.len().min(24)];
    let is_hex = run.len().is_multiple_of(2) && run.len() >= 32 && run.iter().all(u8::is_ascii_hexdigit);
    let decode = if is_hex { from_hex } else { from_base64 };
    text_of(decode(head))?;
    text_of(decode(run))
}

/// Whether a value is a text in base64, from its begin to its end.
pub(super) fn is_encoded_text(value: &[u8]) -> bool {
    let code: Vec<u8> = value.iter().copied().filter(|byte| *byte != b'=').collect();
    code.iter().all(|byte| is(*byte, CODE))
        && String::from_utf8(from_base64(&code)).is_ok_and(|text| !text.contains(char::is_control))
}

/// The bytes as text, up to the first that is none.
fn text_of(mut bytes: Vec<u8>) -> Option<String> {
    let is_wide = bytes.len() >= 8 && bytes.iter().take(8).skip(1).step_by(2).all(|byte| *byte == 0);
    if is_wide {
        bytes.retain(|byte| *byte != 0); // UTF-16, as PowerShell encodes commands
    }
    let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t' | 0x80..);
    let end = bytes.iter().position(|byte| !is_text(byte)).unwrap_or(bytes.len());
    bytes.truncate(end);
    let valid = std::str::from_utf8(&bytes).map_or_else(|error| error.valid_up_to(), str::len);
    bytes.truncate(valid);
    String::from_utf8(bytes).ok().filter(|text| text.len() >= 8)
}

fn from_hex(run: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()).unwrap_or_default();
    run.chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// Decodes either alphabet of base64; what is left over at the end is dropped.
pub(super) fn from_base64(run: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(run.len() / 4 * 3 + 3);
    let (mut bits, mut held) = (0_u32, 0);
    for byte in run {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).unwrap_or_default());
        }
    }
    bytes
}
