//! Reads canonical JSON and nothing else: one pass, no copies where nothing was escaped.
//!
//! Parsing leniently and comparing with a second printing would do as well, at five times the cost, and would leave
//! two places that must agree. Here a byte that the printer would not have printed has no branch that takes it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use super::{Field, MAX_DEPTH, MAX_INTEGER};

/// What is wrong with a text that should be canonical, and in which field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// The field that was being read; empty for the text as a whole.
    pub field: &'static str,
    /// What is wrong with it.
    pub problem: Problem,
    /// Offset of the first byte that does not fit.
    pub at: usize,
}

impl Malformed {
    /// A malformed field, where the offset says nothing.
    pub(crate) fn new(field: &'static str, problem: Problem) -> Self {
        Self { field, problem, at: 0 }
    }

    /// A field that should be something else.
    pub(crate) fn expected(field: &'static str, what: &'static str) -> Self {
        Self::new(field, Problem::Expected(what))
    }

    /// The same for a field that may be `null` as well.
    pub(super) fn or_null(self) -> Self {
        match self.problem {
            Problem::Expected(what) => Self { problem: Problem::ExpectedOrNull(what), ..self },
            _ => self,
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.field.is_empty() {
            write!(f, "field \"{}\": ", self.field)?;
        }
        write!(f, "{}", self.problem)?;
        if self.at > 0 { write!(f, " (byte {})", self.at) } else { Ok(()) }
    }
}

impl std::error::Error for Malformed {}

/// The ways in which bytes fail to be canonical, or a field to be what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// Not UTF-8.
    NotUtf8,
    /// The field is not where canonical order puts it: missing, misplaced, or preceded by one that is not known.
    NotHere,
    /// Something else was expected.
    Expected(&'static str),
    /// Something else was expected, or `null`.
    ExpectedOrNull(&'static str),
    /// A string with a raw control character, or an escape that the canonical form does not use.
    Escape,
    /// A number in another spelling than the canonical one, or one that cannot be held exactly.
    Number,
    /// Keys out of order, or one that appears twice.
    KeyOrder,
    /// More than [`MAX_DEPTH`] levels.
    TooDeep,
    /// Bytes after the end.
    Trailing,
    /// A text that must not be empty.
    Empty,
    /// A text with a NUL character.
    Nul,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 => f.write_str("not UTF-8"),
            Self::NotHere => {
                f.write_str("expected here; a field is missing, unknown or out of order, or there is white space")
            }
            Self::Expected(what) => write!(f, "expected {what}"),
            Self::ExpectedOrNull(what) => write!(f, "expected {what}, or null"),
            Self::Escape => f.write_str("the string is not escaped canonically"),
            Self::Number => f.write_str("the number is not in its canonical spelling, or cannot be held exactly"),
            Self::KeyOrder => f.write_str("a key is out of order or appears twice"),
            Self::TooDeep => write!(f, "nested more than {MAX_DEPTH} deep"),
            Self::Trailing => f.write_str("bytes after the end"),
            Self::Empty => f.write_str("must not be empty"),
            Self::Nul => f.write_str("must not contain NUL"),
        }
    }
}

/// A position in a canonical text.
#[derive(Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Starts at the first byte. The text must be UTF-8.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Malformed> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self { text, at: 0 }),
            Err(error) => Err(Malformed { field: "", problem: Problem::NotUtf8, at: error.valid_up_to() }),
        }
    }

    /// Reads a whole text as one value.
    pub fn whole<T: Field<'a>>(bytes: &'a [u8]) -> Result<T, Malformed> {
        let mut reader = Self::new(bytes)?;
        let value = T::read(&mut reader, "")?;
        reader.finish()?;
        Ok(value)
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    fn peek(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    fn take(&mut self, literal: &[u8]) -> bool {
        let found = self.bytes()[self.at..].starts_with(literal);
        if found {
            self.at += literal.len();
        }
        found
    }

    fn fail<T>(&self, field: &'static str, problem: Problem) -> Result<T, Malformed> {
        Err(Malformed { field, problem, at: self.at })
    }

    /// The opening brace.
    pub fn begin(&mut self) -> Result<(), Malformed> {
        if self.take(b"{") { Ok(()) } else { self.fail("", Problem::Expected("an object")) }
    }

    /// The closing brace.
    pub fn end(&mut self) -> Result<(), Malformed> {
        if self.take(b"}") {
            Ok(())
        } else {
            self.fail(
                "",
                Problem::Expected("the end of the object; a field is unknown or out of order, or there is white space"),
            )
        }
    }

    /// Nothing may follow.
    pub fn finish(self) -> Result<(), Malformed> {
        if self.at == self.text.len() { Ok(()) } else { self.fail("", Problem::Trailing) }
    }

    /// True, and past it, if the next member has this key. A comma is due for all but the first.
    pub fn try_key(&mut self, key: &'static str) -> bool {
        let start = self.at;
        let first = start > 0 && self.bytes()[start - 1] == b'{';
        let found = (first || self.take(b",")) && self.take(b"\"") && self.take(key.as_bytes()) && self.take(b"\":");
        if !found {
            self.at = start;
        }
        found
    }

    /// The next member must have this key.
    pub fn key(&mut self, key: &'static str) -> Result<(), Malformed> {
        if self.try_key(key) { Ok(()) } else { self.fail(key, Problem::NotHere) }
    }

    /// The next member must have this key; the answer is its value.
    pub fn member<T: Field<'a>>(&mut self, key: &'static str) -> Result<T, Malformed> {
        self.key(key)?;
        T::read(self, key)
    }

    /// A string.
    pub fn string(&mut self, field: &'static str) -> Result<Cow<'a, str>, Malformed> {
        if !self.take(b"\"") {
            return self.fail(field, Problem::Expected("a string"));
        }
        let start = self.at;
        let mut unescaped = String::new();
        let mut plain = start;
        loop {
            let rest = &self.bytes()[self.at..];
            let Some(length) = plain_length(rest) else {
                self.at = self.text.len();
                return self.fail(field, Problem::Expected("the end of the string"));
            };
            self.at += length;
            match rest[length] {
                b'"' => break,
                b'\\' => {
                    if plain == start {
                        // Room for most texts at once; growing by doubling would copy one four times.
                        unescaped.reserve(rest.len().min(256));
                    }
                    unescaped.push_str(&self.text[plain..self.at]);
                    unescaped.push(self.escape(field)?);
                    plain = self.at;
                }
                _ => return self.fail(field, Problem::Escape),
            }
        }
        let tail = &self.text[plain..self.at];
        self.at += 1;
        if plain == start {
            Ok(Cow::Borrowed(tail))
        } else {
            unescaped.push_str(tail);
            Ok(Cow::Owned(unescaped))
        }
    }

    /// One of the escapes that the canonical form uses.
    fn escape(&mut self, field: &'static str) -> Result<char, Malformed> {
        let rest = &self.bytes()[self.at + 1..];
        let (character, length) = match rest {
            [b'b', ..] => ('\u{8}', 2),
            [b't', ..] => ('\t', 2),
            [b'n', ..] => ('\n', 2),
            [b'f', ..] => ('\u{c}', 2),
            [b'r', ..] => ('\r', 2),
            [b'"', ..] => ('"', 2),
            [b'\\', ..] => ('\\', 2),
            [b'u', b'0', b'0', high @ (b'0' | b'1'), low @ (b'0'..=b'9' | b'a'..=b'f'), ..] => {
                let low = if low.is_ascii_digit() { low - b'0' } else { low - b'a' + 10 };
                let code = (high - b'0') * 16 + low;
                if matches!(code, 0x08 | 0x09 | 0x0a | 0x0c | 0x0d) {
                    return self.fail(field, Problem::Escape);
                }
                (char::from(code), 6)
            }
            _ => return self.fail(field, Problem::Escape),
        };
        self.at += length;
        Ok(character)
    }

    /// A text that people wrote: a string, not empty, without NUL.
    pub fn text(&mut self, field: &'static str) -> Result<Cow<'a, str>, Malformed> {
        let text = self.string(field)?;
        match text.as_bytes() {
            [] => self.fail(field, Problem::Empty),
            bytes if memchr::memchr(0, bytes).is_some() => self.fail(field, Problem::Nul),
            _ => Ok(text),
        }
    }

    /// True, and past it, at `null`.
    pub fn null(&mut self) -> bool {
        self.take(b"null")
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, field: &'static str) -> Result<bool, Malformed> {
        if self.take(b"true") {
            Ok(true)
        } else if self.take(b"false") {
            Ok(false)
        } else {
            self.fail(field, Problem::Expected("true or false"))
        }
    }

    /// A string that `parse` takes, such as a digest, a time or a name out of a list.
    pub fn parsed<T>(
        &mut self,
        field: &'static str,
        expected: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Malformed> {
        let start = self.at;
        let parsed = match self.string(field) {
            Ok(text) => parse(&text),
            Err(_) => None,
        };
        parsed.ok_or(Malformed { field, problem: Problem::Expected(expected), at: start })
    }

    /// An integer from 0 to 2^53−1.
    pub fn unsigned(&mut self, field: &'static str) -> Result<u64, Malformed> {
        let start = self.at;
        let wrong = Malformed { field, problem: Problem::Expected("an integer from 0 to 2^53-1"), at: start };
        match self.number_token() {
            token if is_plain_integer(token) && !token.starts_with('-') => token.parse().map_err(|_| wrong),
            _ => Err(wrong),
        }
    }

    /// An array; `item` reads one element.
    pub fn array<T>(
        &mut self,
        field: &'static str,
        mut item: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        if !self.take(b"[") {
            return self.fail(field, Problem::Expected("an array"));
        }
        let mut items = Vec::new();
        if self.take(b"]") {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.take(b"]") {
                return Ok(items);
            }
            if !self.take(b",") {
                return self.fail(field, Problem::Expected("a comma or the end of the array"));
            }
        }
    }

    /// Any canonical value; the answer is its text.
    pub fn value(&mut self, field: &'static str) -> Result<&'a str, Malformed> {
        let start = self.at;
        self.skip(field, 0)?;
        Ok(&self.text[start..self.at])
    }

    /// A canonical object with at least one member; the answer is its text.
    pub fn object(&mut self, field: &'static str) -> Result<&'a str, Malformed> {
        match self.bytes()[self.at..] {
            [b'{', b'}', ..] => self.fail(field, Problem::Empty),
            [b'{', ..] => self.value(field),
            _ => self.fail(field, Problem::Expected("an object")),
        }
    }

    fn skip(&mut self, field: &'static str, depth: usize) -> Result<(), Malformed> {
        match self.peek() {
            Some(b'"') => self.string(field).map(drop),
            Some(b'{' | b'[') if depth == MAX_DEPTH => self.fail(field, Problem::TooDeep),
            Some(b'{') => self.skip_object(field, depth + 1),
            Some(b'[') => self.array(field, |reader| reader.skip(field, depth + 1)).map(drop),
            Some(b'-' | b'0'..=b'9') => self.skip_number(field),
            _ if self.take(b"null") || self.take(b"true") || self.take(b"false") => Ok(()),
            _ => self.fail(field, Problem::Expected("a value, without white space before it")),
        }
    }

    fn skip_object(&mut self, field: &'static str, depth: usize) -> Result<(), Malformed> {
        self.at += 1;
        if self.take(b"}") {
            return Ok(());
        }
        let mut before: Option<Cow<'a, str>> = None;
        loop {
            let start = self.at;
            let key = self.string(field)?;
            if before.is_some_and(|before| utf16_order(&before, &key) != Ordering::Less) {
                return Err(Malformed { field, problem: Problem::KeyOrder, at: start });
            }
            before = Some(key);
            if !self.take(b":") {
                return self.fail(field, Problem::Expected("a colon"));
            }
            self.skip(field, depth)?;
            if self.take(b"}") {
                return Ok(());
            }
            if !self.take(b",") {
                return self.fail(field, Problem::Expected("a comma or the end of the object"));
            }
        }
    }

    fn number_token(&mut self) -> &'a str {
        let length = self.bytes()[self.at..]
            .iter()
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
            .count();
        let token = &self.text[self.at..self.at + length];
        self.at += length;
        token
    }

    fn skip_number(&mut self, field: &'static str) -> Result<(), Malformed> {
        let start = self.at;
        let token = self.number_token();
        let canonical = is_plain_integer(token)
            || super::parse(token.as_bytes()).and_then(|value| super::to_text(&value)).is_ok_and(|text| text == token);
        if canonical { Ok(()) } else { Err(Malformed { field, problem: Problem::Number, at: start }) }
    }
}

/// How many bytes come before the first that ends a string or has no place in it; `None` if there is no such byte.
///
/// Looks at eight bytes at a time, which makes the check of an evidence file a tenth faster: a byte below `limit` gets its
/// high bit set by the subtraction. The borrow may flag a byte after it too, but the first flag is right.
fn plain_length(bytes: &[u8]) -> Option<usize> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let below = |word: u64, limit: u64| word.wrapping_sub(EACH * limit) & !word & (EACH * 0x80);
    let equal = |word: u64, byte: u8| below(word ^ (EACH * u64::from(byte)), 1);
    let (words, rest) = bytes.as_chunks();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let special = below(word, 0x20) | equal(word, b'"') | equal(word, b'\\');
        if special != 0 {
            return Some(at * 8 + special.trailing_zeros() as usize / 8);
        }
    }
    let special = |&byte: &u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    rest.iter().position(special).map(|length| words.len() * 8 + length)
}

/// An integer as the canonical form prints it, within ±(2^53−1): no sign on zero, no leading zero.
fn is_plain_integer(token: &str) -> bool {
    let digits = token.strip_prefix('-').unwrap_or(token);
    let plain = match digits.as_bytes() {
        [b'0'] => !token.starts_with('-'),
        [b'1'..=b'9', rest @ ..] => rest.len() < 16 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    plain && digits.parse::<u64>().is_ok_and(|value| value <= MAX_INTEGER)
}

/// RFC 8785 orders keys by their UTF-16 code units, which is not the order of their UTF-8 bytes beyond U+FFFF.
fn utf16_order(left: &str, right: &str) -> Ordering {
    left.encode_utf16().cmp(right.encode_utf16())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_bytes_are_counted_wherever_the_first_other_one_stands() {
        let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
        for first in 0..=u8::MAX {
            for second in [first, 0x1f, b' ', b'!', b'"', b'#', b'\\', 0x7f, 0x80, 0xff] {
                for at in 0..20 {
                    let mut bytes = [b'x'; 21];
                    (bytes[at], bytes[at + 1]) = (first, second);
                    assert_eq!(plain_length(&bytes), bytes.iter().position(|&byte| special(byte)), "{bytes:?}");
                }
            }
        }
    }
}
