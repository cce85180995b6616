//! Canonical JSON (RFC 8785), guarded.
//!
//! The RFC rounds every number to a double and says nothing of repeated keys, so two different texts could get one
//! hash. Here such input is refused and never rounded: a repeated key, a number that overflows, an integer beyond
//! ±(2^53−1) or a number whose canonical form is one, a lone surrogate.
//!
//! [`parse`] takes any JSON from outside and [`to_text`] prints its canonical form. What is stored is read back
//! with [`Reader`], which accepts canonical bytes and nothing else.

mod object;
mod reader;

use std::fmt;

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

pub use object::{Field, Object, member, table};
pub(super) use object::{forms, object};
pub use reader::{Malformed, Problem, Reader};

/// Arrays and objects inside one another: more are refused, in both directions.
pub const MAX_DEPTH: usize = 64;

/// The largest integer that a double holds with all its neighbours.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// Why a JSON text has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCanonicalizable(String);

impl fmt::Display for NotCanonicalizable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotCanonicalizable {}

/// Reads any JSON text, white space and key order free, refusing what has no exact canonical form.
pub fn parse(text: &[u8]) -> Result<Value, NotCanonicalizable> {
    let value = Strict { exact: true, depth: 0 }.read(text).map_err(|error| NotCanonicalizable(error.to_string()))?;
    match integer_beyond_limit(text) {
        None => Ok(value),
        Some(integer) => Err(NotCanonicalizable(format!("the number {integer} cannot be held exactly"))),
    }
}

/// Reads any JSON text, refusing only what repeats a key.
pub(crate) fn parse_distinct(text: &[u8]) -> serde_json::Result<Value> {
    Strict { exact: false, depth: 0 }.read(text)
}

/// Whether a text has one of these keys at its top, or is no JSON and begins as if it had.
pub(super) fn has_key(text: &str, keys: &[&str]) -> bool {
    let object = serde_json::from_str::<Map<String, Value>>(text).unwrap_or_default();
    let begins = |key: &str| text.trim_start().strip_prefix("{\"").is_some_and(|rest| rest.starts_with(key));
    keys.iter().any(|key| object.contains_key(*key) || begins(&format!("{key}\"")))
}

/// An integer spelled out beyond the limit, in a text that is JSON. From 20 digits on serde_json hands over a double,
/// and from 10^21 on a double says nothing of the digits that were lost.
fn integer_beyond_limit(text: &[u8]) -> Option<String> {
    let mut rest = text;
    while let Some(&byte) = rest.first() {
        let length = match byte {
            b'"' => string_length(rest),
            b'0'..=b'9' => {
                rest.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')).count()
            }
            _ => 1,
        };
        let (token, after) = rest.split_at(length);
        let integer = byte.is_ascii_digit() && token.iter().all(u8::is_ascii_digit);
        if integer && token.len() > 19 {
            return Some(String::from_utf8_lossy(token).into_owned());
        }
        rest = after;
    }
    None
}

/// Length of the string that a text begins with, quotes included.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// The canonical form of a value.
pub fn to_text(value: &Value) -> Result<String, NotCanonicalizable> {
    exact(value, 0)?;
    serde_json_canonicalizer::to_string(value).map_err(|error| NotCanonicalizable(error.to_string()))
}

/// Values made in memory pass the same gate as parsed ones.
fn exact(value: &Value, depth: usize) -> Result<(), NotCanonicalizable> {
    match value {
        Value::Number(number) => exact_number(number),
        Value::Array(_) | Value::Object(_) if depth == MAX_DEPTH => Err(too_deep()),
        Value::Array(items) => items.iter().try_for_each(|item| exact(item, depth + 1)),
        Value::Object(members) => members.values().try_for_each(|item| exact(item, depth + 1)),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

fn exact_number(number: &Number) -> Result<(), NotCanonicalizable> {
    let fits = match (number.as_u64(), number.as_i64(), number.as_f64()) {
        (Some(unsigned), _, _) => unsigned <= MAX_INTEGER,
        (None, Some(signed), _) => signed.unsigned_abs() <= MAX_INTEGER,
        (None, None, Some(double)) => double_is_exact(double),
        (None, None, None) => false,
    };
    if fits { Ok(()) } else { Err(NotCanonicalizable(format!("the number {number} cannot be held exactly"))) }
}

/// False for a double that would be printed as an integer beyond ±(2^53−1). From 10^21 on the exponent is printed.
fn double_is_exact(double: f64) -> bool {
    #[allow(clippy::cast_precision_loss)] // 2^53-1 is exact
    let limit = MAX_INTEGER as f64;
    double.is_finite() && (double.abs() <= limit || double.abs() >= 1e21)
}

fn too_deep() -> NotCanonicalizable {
    NotCanonicalizable(format!("arrays and objects are nested more than {MAX_DEPTH} deep"))
}

/// Builds a [`Value`], refusing a repeated key where serde_json would take it, and if it is to be exact, also an inexact
/// number and what is nested too deep.
#[derive(Clone, Copy)]
struct Strict {
    exact: bool,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Strict {
    fn read(self, text: &[u8]) -> serde_json::Result<Value> {
        let mut json = serde_json::Deserializer::from_slice(text);
        let value = self.deserialize(&mut json)?;
        json.end()?;
        Ok(value)
    }

    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        if self.exact && self.depth == MAX_DEPTH {
            return Err(E::custom(too_deep()));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }

    fn number<E: de::Error>(self, number: Number) -> Result<Value, E> {
        if self.exact {
            exact_number(&number).map_err(E::custom)?;
        }
        Ok(Value::Number(number))
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        self.number(value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        self.number(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        self.number(Number::from_f64(value).ok_or_else(|| E::custom("a number overflows"))?)
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let deeper = self.deeper()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(deeper)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let deeper = self.deeper()?;
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(de::Error::custom(format_args!("the key {key:?} appears twice")));
            }
            object.insert(key, members.next_value_seed(deeper)?);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_zero_is_zero_and_exponents_are_spelled_out_below_1e21() {
        for (text, canonical) in [("-0.0", "0"), ("-0", "0"), ("1E2", "100"), ("1e21", "1e+21"), ("0.0000001", "1e-7")]
        {
            assert_eq!(parse(text.as_bytes()).and_then(|value| to_text(&value)), Ok(canonical.into()), "{text}");
        }
    }

    #[test]
    fn integers_are_exact_up_to_the_limit_and_refused_beyond() {
        for text in ["9007199254740991", "-9007199254740991", "9007199254740991.0"] {
            assert!(parse(text.as_bytes()).is_ok(), "{text}");
        }
        for text in [
            "9007199254740992",
            "-9007199254740992",
            "9.007199254740992e15",
            "1e20",
            "18446744073709551616",
            "1000000000000000000000",
            "-1000000000000000000001",
            "[\"\\\"\",1000000000000000000001]",
            "1e400",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn nesting_is_limited_alike_in_parser_and_reader() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for (depth, fine) in [(MAX_DEPTH, true), (MAX_DEPTH + 1, false), (100_000, false)] {
            let text = nested(depth);
            assert_eq!(parse(text.as_bytes()).is_ok(), fine, "{depth}");
            let mut reader = Reader::new(text.as_bytes());
            assert_eq!(reader.as_mut().is_ok_and(|reader| reader.value("x").is_ok()), fine, "{depth}");
        }
    }
}
