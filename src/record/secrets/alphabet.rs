//! The alphabets that tokens are written in.

/// A character of a name of a setting.
pub(super) const NAME: u8 = 1;
/// A character of a token that is written without spaces.
pub(super) const RUN: u8 = 2;
/// A character of either alphabet of base64, without the padding.
pub(super) const CODE: u8 = 4;

/// The classes of each byte: every byte of a text is looked up several times.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => NAME | RUN | CODE,
            b'.' => NAME | RUN,
            b'~' => RUN,
            b'+' | b'/' => CODE,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// Whether a byte is of a class.
pub(super) fn is(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// Letters and digits.
pub(super) fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

pub(super) fn letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic()
}

/// Capital letters and digits.
pub(super) fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

/// Small letters and digits.
pub(super) fn lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// Hexadecimal digits, with small letters.
pub(super) fn hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// Letters, digits and `_`.
pub(super) fn word_(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Letters, digits and `-`.
pub(super) fn dashed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// The alphabet of base64 for URLs.
pub(super) fn url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// The same, and dots.
pub(super) fn dotted(byte: u8) -> bool {
    url_safe(byte) || byte == b'.'
}

/// The same, and slashes.
pub(super) fn path(byte: u8) -> bool {
    dotted(byte) || byte == b'/'
}

/// The alphabet of base64, and its padding.
pub(super) fn base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Either alphabet of base64.
pub(super) fn any_base64(byte: u8) -> bool {
    base64(byte) || matches!(byte, b'-' | b'_')
}

/// A character of a token that may be split over lines.
pub(super) fn token(byte: u8) -> bool {
    any_base64(byte) || matches!(byte, b'.' | b'~')
}

/// Marks that people put into passwords, and that names do not have.
pub(super) fn is_symbol(byte: u8) -> bool {
    byte.is_ascii_punctuation()
        && !matches!(byte, b'.' | b'-' | b'_' | b'/' | b':' | b',' | b'"' | b'\'' | b'`' | b'\\' | b'(' | b')')
}
