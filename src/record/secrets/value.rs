//! Judges one value: was it drawn at random, or chosen by a person as a password, or is it a word or a placeholder?
//!
//! The judgement does not look at what stands around the value.

use super::alphabet::is_symbol;
use super::placeholder::{is_common, is_disguised, is_placeholder, is_reference, is_series};

/// What a value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// A word, a name, a placeholder, code.
    Plain,
    /// What a person types as a password: several classes of characters, and words may be in it.
    Chosen,
    /// Drawn at random.
    Random,
}

/// How much of a value is judged.
const LONGEST: usize = 160;

/// Pairs of letters that are common in English words and in identifiers: for each first letter, `a` to `z`, the letters
/// that follow it. These 260 of 676 pairs are 92 % of the pairs in words, and 38 % of those in random letters.
#[rustfmt::skip]
const FOLLOWERS: [&str; 26] = [
    "abcdfgiklmnprstuvy", "abceilorsu", "acehiklorstu", "abcdefilorsu", "abcdefgilmnopqrstuvwxy", "adefilorsu",
    "aehilnorsu", "aeiortu", "abcdefglmnoprstvz", "", "eis", "adeilostuy", "abeimopsu", "acdefgiklnopstuv",
    "abcdfgiklmnoprstuvw", "aehiloprstu", "u", "acdegiklmnoprstuvy", "acehiklmopstuy", "acehiloprstuy",
    "abcdegilmnprst", "aeio", "aeio", "ept", "ps", "e",
];

/// `FOLLOWERS` with one bit for each pair.
const COMMON: [u32; 26] = {
    let mut rows = [0; 26];
    let mut row = 0;
    while row < 26 {
        let letters = FOLLOWERS[row].as_bytes();
        let mut at = 0;
        while at < letters.len() {
            rows[row] |= 1 << (letters[at] - b'a');
            at += 1;
        }
        row += 1;
    }
    rows
};

/// How many characters of each class a value has.
#[derive(Default)]
pub(super) struct Classes {
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digit: usize,
    /// Marks that people put into passwords, and characters that are not ASCII.
    pub(super) symbol: usize,
}

impl Classes {
    pub(super) fn of(value: &[u8]) -> Self {
        let mut classes = Self::default();
        for byte in value {
            match byte {
                b'a'..=b'z' => classes.lower += 1,
                b'A'..=b'Z' => classes.upper += 1,
                b'0'..=b'9' => classes.digit += 1,
                _ if is_symbol(*byte) || !byte.is_ascii() => classes.symbol += 1,
                _ => {}
            }
        }
        classes
    }

    pub(super) fn letters(&self) -> usize {
        self.lower + self.upper
    }

    pub(super) fn count(&self) -> usize {
        [self.lower, self.upper, self.digit, self.symbol].iter().filter(|count| **count > 0).count()
    }
}

/// How many of the pairs of neighbours in a value would be odd in a word, in thousandths. Pairs of digits do not count.
/// Words and identifiers have about 100, random values 600 to 900.
pub(super) fn surprise(value: &[u8]) -> usize {
    let (mut odd, mut pairs) = (0, 0);
    for pair in value.windows(2) {
        if !(pair[0].is_ascii_digit() && pair[1].is_ascii_digit()) {
            pairs += 1;
            odd += usize::from(is_odd(pair[0], pair[1]));
        }
    }
    odd * 1000 / pairs.max(1)
}

/// Whether two neighbours would be odd in a word.
fn is_odd(left: u8, right: u8) -> bool {
    match (left, right) {
        (b'a'..=b'z' | b'A'..=b'Z', b'a'..=b'z') | (b'A'..=b'Z', b'A'..=b'Z') => {
            let (left, right) = (left.to_ascii_lowercase(), right.to_ascii_lowercase());
            COMMON[usize::from(left - b'a')] >> (right - b'a') & 1 == 0
        }
        _ => left.is_ascii_alphanumeric() && right.is_ascii_alphanumeric(),
    }
}

/// Whether what follows the prefix of a token was drawn at random, and not typed as a placeholder.
pub(super) fn is_random_body(body: &[u8]) -> bool {
    different(body) >= 9.min(body.len() / 2) && surprise(body) >= 300 && !is_placeholder(body) && !is_series(body)
}

/// What a value looks like.
pub(super) fn strength(value: &[u8]) -> Strength {
    // The first characters tell, and a text may be full of names with long values.
    let value = &value[..value.len().min(LONGEST)];
    if value.len() < 8 || different(value) < 6 || is_reference(value) || is_placeholder(value) || is_series(value) {
        return Strength::Plain;
    }
    if is_random(value) {
        return Strength::Random;
    }
    let classes = Classes::of(value);
    let surprise = surprise(value);
    let is_mixed = classes.count() >= 3
        || classes.letters() > 0 && classes.digit > 0 && surprise >= 300
        || value.len() >= 12 && surprise >= 550;
    // Common words are a password of documentation if they are short, and of a person if more was made of them.
    let is_long = value.len() >= 10 && classes.count() == 4 || value.len() >= 14 && classes.count() >= 3;
    let is_known = is_common(value) && !is_long || is_disguised(value) && !is_long && value.len() < 12;
    let is_chosen = is_mixed && !is_name(value) && !is_known;
    if is_chosen { Strength::Chosen } else { Strength::Plain }
}

/// Whether a value of at least 16 characters was drawn at random.
pub(super) fn is_random(value: &[u8]) -> bool {
    if value.len() < 16 || value.contains(&b' ') {
        return false;
    }
    let classes = Classes::of(value);
    if is_grouped_hex(value) {
        return value.len() >= 20 && different(value) >= 8 && classes.letters() > 0 && classes.digit > 0;
    }
    // A name in code has many dots, dashes and the like, and a random value few.
    let joints = value.iter().filter(|byte| !byte.is_ascii_alphanumeric()).count();
    let least = if value.len() >= 24 { 450 } else { 520 };
    classes.letters() > 0
        && classes.count() >= 2
        && different(value) >= 10
        && joints * 4 <= value.len()
        && surprise(value) >= least
}

/// Whether a value is of hexadecimal digits, perhaps in groups as in a UUID.
pub(super) fn is_grouped_hex(value: &[u8]) -> bool {
    let is_joint = |byte: &u8| matches!(byte, b'-' | b'.' | b':' | b'_');
    value.iter().all(|byte| byte.is_ascii_hexdigit() || is_joint(byte))
        && value.iter().filter(|byte| is_joint(byte)).count() <= 6
}

/// Whether a value is 32 hexadecimal digits in five groups.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Whether a short value is a password, where nothing but a password is expected.
pub(super) fn is_short_password(value: &[u8]) -> bool {
    let classes = Classes::of(value);
    let is_mixed = classes.digit > 0 || classes.symbol > 0 || value.len() >= 10 && surprise(value) >= 450;
    value.len() >= 6 && classes.letters() > 0 && is_mixed && is_uncommon(value)
}

/// Whether a value is no placeholder, no reference and none of the passwords that documentation uses.
pub(super) fn is_uncommon(value: &[u8]) -> bool {
    !(is_reference(value) || is_placeholder(value) || is_series(value) || is_common(value))
}

/// How many different characters a value has.
pub(super) fn different(value: &[u8]) -> usize {
    let mut seen = [false; 256];
    for byte in value {
        seen[usize::from(*byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count()
}

/// Whether a value is a name in code: words with dots, dashes or underscores between them, and perhaps a number.
fn is_name(value: &[u8]) -> bool {
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b':' | b'@');
    // A word with a number at its end is what people choose: `Summer2024`.
    let letters = value.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let is_word = value[0].is_ascii_uppercase() && value[1..letters.max(1)].iter().all(u8::is_ascii_lowercase);
    let is_chosen = is_word && value.len() >= letters + 2 && value[letters..].iter().all(u8::is_ascii_digit);
    value.iter().all(in_name) && surprise(value) < 300 && !is_chosen
}
