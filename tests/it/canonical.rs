//! Stored bytes are read by a reader that takes canonical JSON and nothing else. Here it is held against the slow way:
//! parse anything, print it again, compare.

use git_proof::proof::canonical::{Reader, parse, to_text};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Number, Value};

use crate::sessions::json;

/// Whether the reader takes the bytes as one canonical value.
fn read(bytes: &[u8]) -> bool {
    Reader::new(bytes).is_ok_and(|mut reader| reader.value("").is_ok() && reader.finish().is_ok())
}

/// The slow way to the same answer.
fn prints_as_it_is(bytes: &[u8]) -> bool {
    parse(bytes).and_then(|value| to_text(&value)).is_ok_and(|text| text.as_bytes() == bytes)
}

fn assert_agree(bytes: &[u8]) {
    assert_eq!(read(bytes), prints_as_it_is(bytes), "{:?}", String::from_utf8_lossy(bytes));
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

/// Characters on either side of every border in the rules.
fn character() -> impl Strategy<Value = char> {
    prop_oneof![
        any::<char>(),
        (0u8..=0x20).prop_map(char::from),
        select(vec!['"', '\\', '/', '\u{7f}', '\u{80}', '\u{d7ff}', '\u{e000}', '\u{fffd}', '\u{ffff}', '\u{10000}']),
        select(vec!['\u{2028}', '\u{2029}', '\u{feff}', '\u{1f600}', '\u{10ffff}', 'a', 'b']),
    ]
}

fn string() -> impl Strategy<Value = String> {
    prop::collection::vec(character(), 0..5).prop_map(|characters| characters.into_iter().collect())
}

/// Doubles of every size, and those next to the borders.
fn double() -> impl Strategy<Value = f64> {
    let border = select(vec![
        0.0,
        -0.0,
        f64::MIN_POSITIVE,
        5e-324,
        f64::MAX,
        1e21,
        1e-6,
        1e-7,
        9_007_199_254_740_991.0,
        9_007_199_254_740_992.0,
        1e20,
        123_456.789,
        0.1,
        1.5,
    ]);
    let near = (border, -2i64..=2, any::<bool>()).prop_map(|(border, steps, negative)| {
        let double = f64::from_bits(border.to_bits().saturating_add_signed(steps));
        if negative { -double } else { double }
    });
    prop_oneof![any::<f64>(), near].prop_filter("JSON has finite numbers only", |double| double.is_finite())
}

fn value() -> impl Strategy<Value = Value> {
    let near_the_limit = (-3i64..=3, any::<bool>()).prop_map(|(steps, negative)| {
        let integer = (1i64 << 53) + steps;
        Value::from(if negative { -integer } else { integer })
    });
    let leaf = prop_oneof![
        string().prop_map(Value::from),
        double().prop_map(|double| Value::Number(Number::from_f64(double).unwrap())),
        near_the_limit,
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(string(), inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Pieces of JSON, put together without much thought.
fn almost_json() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        select(vec!["{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"b\":", "null", "true", "false", " ", "\n"])
            .prop_map(|text| text.as_bytes().to_vec()),
        select(vec!["0", "1", "-1", "-0", "1.0", "1e5", "1E5", "01", "1e21", "1e+21", "0.1", ".5", "5.", "1e-7", "-"])
            .prop_map(|text| text.as_bytes().to_vec()),
        select(vec!["\\n", "\\u000a", "\\u000A", "\\u001f", "\\u001F", "\\u0041", "\\/", "\\ud800", "\\udc00", "\\x"])
            .prop_map(|text| format!("\"{text}\"").into_bytes()),
        double().prop_map(|double| double.to_string().into_bytes()),
        double().prop_map(|double| format!("{double:e}").into_bytes()),
        any::<i64>().prop_map(|integer| integer.to_string().into_bytes()),
        string().prop_map(|text| format!("\"{text}\"").into_bytes()),
        prop::collection::vec(any::<u8>(), 1..3),
    ];
    prop::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn the_reader_takes_every_value_as_it_is_printed(value in value()) {
        if let Ok(text) = to_text(&value) {
            prop_assert!(read(text.as_bytes()), "{}", text);
            prop_assert!(prints_as_it_is(text.as_bytes()), "{}", text);
        }
    }

    #[test]
    fn every_value_without_inexact_numbers_is_printed(value in json()) {
        prop_assert!(to_text(&value).is_ok_and(|text| read(text.as_bytes())));
    }

    #[test]
    fn the_reader_takes_a_changed_text_only_if_it_is_canonical_too(
        value in prop_oneof![value(), json()],
        at in any::<Index>(),
        byte in prop_oneof![any::<u8>(), select(&b"\"\\,:{}[]0123456789.eE+-u \n"[..])],
        how in 0..4,
    ) {
        let Ok(text) = to_text(&value) else { return Ok(()) };
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        match how {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            2 => drop(bytes.remove(at)),
            _ => bytes.swap(at, at / 2),
        }
        assert_agree(&bytes);
    }

    #[test]
    fn the_reader_takes_what_looks_like_json_only_if_it_is_canonical(bytes in almost_json()) {
        assert_agree(&bytes);
    }

    #[test]
    fn numbers_are_read_in_one_spelling_only(double in double(), exponent in any::<bool>(), tail in "(|0|\\.0|e0|E1)") {
        let text = if exponent { format!("{double:e}{tail}") } else { format!("{double}{tail}") };
        assert_agree(text.as_bytes());
    }

    #[test]
    fn two_keys_are_read_in_one_order_only(first in string(), second in string()) {
        let key = |key: &str| to_text(&Value::from(key)).unwrap();
        assert_agree(format!("{{{}:1,{}:2}}", key(&first), key(&second)).as_bytes());
    }
}

#[test]
fn keys_beyond_the_basic_plane_stand_before_those_from_u_e000_on() {
    // In UTF-16 they begin with a surrogate, 0xD800 to 0xDFFF; in UTF-8 they would stand last.
    for late in ['\u{e000}', '\u{f8ff}', '\u{fffd}', '\u{ffff}'] {
        for beyond in ['\u{10000}', '\u{1f600}', '\u{10ffff}'] {
            assert!(read(format!("{{\"{beyond}\":1,\"{late}\":2}}").as_bytes()));
            assert!(!read(format!("{{\"{late}\":1,\"{beyond}\":2}}").as_bytes()));
        }
    }
    assert!(read("{\"\u{d7ff}\":1,\"\u{10000}\":2}".as_bytes()));
}

#[test]
fn every_control_character_has_one_escape() {
    for code in 0u8..0x20 {
        let canonical = to_text(&Value::from(char::from(code).to_string())).unwrap();
        assert!(read(canonical.as_bytes()), "{canonical}");
        let spellings = [
            format!("\"\\u{code:04x}\""),
            format!("\"\\u{code:04X}\""),
            format!("\"{}\"", char::from(code)),
            format!("\"\\{}\"", char::from(code)),
        ];
        for other in spellings.iter().filter(|spelling| **spelling != canonical) {
            assert!(!read(other.as_bytes()), "{other}");
        }
    }
}

#[test]
fn a_key_that_appears_twice_is_refused() {
    for text in [r#"{"a":1,"a":1}"#, r#"{"a":1,"\u0061":1}"#, r#"[{"":0,"":0}]"#] {
        assert!(!read(text.as_bytes()), "{text}");
        assert!(parse(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn a_lone_surrogate_is_refused() {
    for text in [r#""\ud800""#, r#""\udfff""#, r#""\udc00\ud800""#, r#"{"\ud800":1}"#] {
        assert!(!read(text.as_bytes()), "{text}");
        assert!(parse(text.as_bytes()).is_err(), "{text}");
    }
}
