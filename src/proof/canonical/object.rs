//! Canonical objects, each declared once: its fields, their types and order, and the rules that hold between them. The
//! struct, its writer, its strict reader and its table in FORMAT.md come from the declaration; a test compares the table.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::{Malformed, Reader};
use crate::proof::digest::{
    AnchorId, ChainHash, ChangeId, CommitId, Commitment, ContentHash, NodeHash, ObjectId, RootHash, SealHash, TextHash,
    TranscriptHash, TreeId,
};
use crate::proof::inclusion::Position;
use crate::proof::note::Signature;
use crate::proof::record::{Id, RecordType};
use crate::proof::scheme::Scheme;
use crate::proof::timestamp::Timestamp;

/// The value of a field of a canonical object.
pub trait Field<'a>: Sized {
    /// What FORMAT.md calls such a value.
    fn kind() -> String;
    /// Prints the value.
    fn write(&self, out: &mut String);
    /// Reads what [`write`](Self::write) prints, and nothing else.
    fn read(reader: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed>;
}

/// Prints a member of an object that was begun. Keys are ours: plain ASCII, nothing to escape. The caller keeps their order.
pub fn member<'a>(out: &mut String, key: &str, value: &impl Field<'a>) {
    let comma = if out.ends_with('{') { "" } else { "," };
    let _ = write!(out, "{comma}\"{key}\":"); // writing to a String cannot fail
    value.write(out);
}

/// The rows of an object's table in FORMAT.md, below the row that names the columns.
pub fn table(rows: &[(&str, String)], rules: &[(&str, &str)]) -> String {
    let rules = |key: &str| rules.iter().filter(|(field, _)| *field == key).map(|(_, rule)| *rule).collect::<Vec<_>>();
    rows.iter().map(|(key, kind)| format!("| `{key}` | {kind} | {} |\n", rules(key).join("; "))).collect()
}

/// A value or `null`.
impl<'a, T: Field<'a>> Field<'a> for Option<T> {
    fn kind() -> String {
        format!("{} or null", T::kind())
    }

    fn write(&self, out: &mut String) {
        match self {
            Some(value) => value.write(out),
            None => out.push_str("null"),
        }
    }

    fn read(reader: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed> {
        if reader.null() { Ok(None) } else { T::read(reader, field).map(Some).map_err(Malformed::or_null) }
    }
}

impl<'a, T: Field<'a>> Field<'a> for Vec<T> {
    fn kind() -> String {
        format!("array of {}s", T::kind())
    }

    fn write(&self, out: &mut String) {
        out.push('[');
        for (index, item) in self.iter().enumerate() {
            out.push_str(if index > 0 { "," } else { "" });
            item.write(out);
        }
        out.push(']');
    }

    fn read(reader: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed> {
        reader.array(field, |reader| T::read(reader, field))
    }
}

/// A canonical object of any fields that is not empty, by its text.
pub struct Object<'a>(pub Cow<'a, str>);

macro_rules! fields {
    ($($type:ty: $kind:literal, |$value:ident, $out:ident| $write:expr, $read:expr;)*) => {$(
        impl<'a> Field<'a> for $type {
            fn kind() -> String {
                $kind.to_owned()
            }

            fn write(&self, $out: &mut String) {
                let $value = self;
                $write
            }

            fn read(reader: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed> {
                $read(reader, field)
            }
        }
    )*};
    // Types whose text needs no escaping: it is printed as it is, and read by the type's own parser.
    (plain $($($type:ty)*: $kind:literal, $rule:expr;)*) => {
        fields! {$($(
            $type: $kind, |value, out| { let _ = write!(out, "\"{value}\""); },
                |reader: &mut Reader<'_>, field| reader.parsed(field, $rule, <$type>::parse);
        )*)*}
    };
}

fields! {
    bool: "true or false", |value, out| out.push_str(if *value { "true" } else { "false" }), Reader::boolean;
    u8: "integer from 0 to 255", |value, out| { let _ = write!(out, "{value}"); },
        |reader: &mut Reader<'_>, field| reader.unsigned(field)?.try_into().map_err(|_| Malformed::expected(field, "0 to 255"));
    u64: "integer", |value, out| { let _ = write!(out, "{value}"); }, Reader::unsigned;
    String: "text", |value, out| push_string(out, value),
        |reader: &mut Reader<'_>, field| reader.text(field).map(Cow::into_owned);
    Cow<'a, str>: "text", |value, out| push_string(out, value), Reader::text;
    Signature: "base64", |value, out| { let _ = write!(out, "\"{}\"", value.to_base64()); },
        |reader: &mut Reader<'_>, field| reader.parsed(field, "base64 of an SSH signature", Signature::from_base64);
    Object<'a>: "object", |value, out| out.push_str(&value.0),
        |reader: &mut Reader<'a>, field| reader.object(field).map(|text| Object(Cow::Borrowed(text)));
}

fields! { plain
    AnchorId ChainHash ChangeId Commitment ContentHash NodeHash RootHash SealHash TextHash TranscriptHash: "digest",
        "64 lower-case hex digits";
    CommitId ObjectId TreeId: "object id", "40 or 64 lower-case hex digits";
    Id: "id", Id::RULE;
    Position: "`left` or `right`", "left or right";
    RecordType: "`plan`, `analysis`, `decision` or `reflection`", "plan, analysis, decision or reflection";
    Scheme: "scheme", Scheme::RULE;
    Timestamp: "time", "a time such as 2026-03-01T00:00:40.196Z";
}

/// Declares a canonical object: `struct NAME, "what FORMAT.md calls it", the name of its printer`, then `in "key"` if it is
/// the one member of an outer object, and `type NAME = "…"` if it ends in a field that names its version.
macro_rules! object {
    ($(#[$meta:meta])* pub struct $name:ident, $noun:literal, $print:ident
        $(, in $outer:literal)? $(, type $constant:ident = $version:literal)? {
        $($(#[$doc:meta])* $field:ident $([$key:literal])?: $type:ty,)*
    } $($at:literal, $rule:literal: $holds:expr;)*) => {
        $(#[doc = concat!("The type of ", $noun, " that is written, and the only one that is understood.")]
        pub const $constant: &str = $version;)?

        $(#[$meta])*
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl $name {
            /// The canonical text.
            pub fn $print(&self) -> String {
                let mut text = String::new();
                $crate::proof::canonical::Field::write(self, &mut text);
                text
            }

            /// Reads the canonical text, and nothing else.
            pub fn parse(text: &[u8]) -> Result<Self, $crate::proof::canonical::Malformed> {
                $crate::proof::canonical::Reader::whole(text)
            }

            /// The object's table in FORMAT.md.
            pub fn table() -> String {
                let rows = [$((object!(@key $field $($key)?), <$type as $crate::proof::canonical::Field>::kind()),)*
                    $(("type", format!("`{}`", $version)),)?];
                let fields = $crate::proof::canonical::table(&rows, &[$(($at, $rule)),*]);
                format!("| {} | value | rule |\n|---|---|---|\n{fields}", $noun)
            }
        }

        impl $crate::proof::canonical::Field<'_> for $name {
            fn kind() -> String {
                $noun.to_owned()
            }

            fn write(&self, out: &mut String) {
                $(out.push_str(concat!("{\"", $outer, "\":"));)?
                out.push('{');
                $($crate::proof::canonical::member(out, object!(@key $field $($key)?), &self.$field);)*
                $(out.push_str(concat!(",\"type\":\"", $version, "\""));)?
                $(out.push_str(object!(@instead $outer "}"));)?
                out.push('}');
            }

            fn read(
                reader: &mut $crate::proof::canonical::Reader<'_>,
                _: &'static str,
            ) -> Result<Self, $crate::proof::canonical::Malformed> {
                $(reader.begin()?;
                reader.key($outer)?;)?
                reader.begin()?;
                $(let $field = reader.member(object!(@key $field $($key)?))?;)*
                $(reader.key("type")?;
                reader.parsed("type", $version, |text| (text == $version).then_some(()))?;)?
                reader.end()?;
                $(object!(@instead $outer reader.end()?);)?
                let read = Self { $($field),* };
                $(let holds: fn(&Self) -> bool = $holds;
                if !holds(&read) {
                    return Err($crate::proof::canonical::Malformed::expected($at, $rule));
                })*
                Ok(read)
            }
        }
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    (@instead $left:literal $right:expr) => { $right };
}

/// Declares an enum of canonical objects with one member each, whose key says which of them it is. Its value is an object of
/// the variant's fields, or one value. `in "key"` is as for `object!`.
macro_rules! forms {
    ($(#[$meta:meta])* pub enum $name:ident, $noun:literal $(, in $outer:literal)? {$(
        $(#[$about:meta])* $form:ident[$tag:literal]
        $({ $($(#[$doc:meta])* $field:ident: $type:ty,)* })? $(($whole:ty))?,
    )*} $($at:literal, $rule:literal: $holds:expr;)*) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$about])* $form $({ $($(#[$doc])* $field: $type,)* })? $(($whole))?,)*
        }

        impl $name {
            /// The canonical text.
            pub fn to_text(&self) -> String {
                use $crate::proof::canonical::member;
                let out = &mut concat!($("{\"", $outer, "\":",)? "{").to_owned();
                match self {$(
                    $(Self::$form { $($field),* } => {
                        out.push_str(concat!("\"", $tag, "\":{"));
                        $(member(out, stringify!($field), $field);)*
                        out.push('}');
                    })?
                    $(Self::$form(whole) => member(out, $tag, forms!(@instead $tag whole as &$whole)),)?
                )*}
                $(out.push_str(forms!(@instead $outer "}"));)?
                std::mem::take(out) + "}"
            }

            /// Reads the canonical text, and nothing else.
            pub fn parse(text: &[u8]) -> Result<Self, $crate::proof::canonical::Malformed> {
                use $crate::proof::canonical::{Malformed, Reader};
                let mut reader = Reader::new(text)?;
                reader.begin()?;
                $(reader.key($outer)?;
                reader.begin()?;)?
                let read = $(if reader.try_key($tag) {
                    $(reader.begin()?;
                    let read = Self::$form { $($field: reader.member(stringify!($field))?),* };
                    reader.end()?;
                    read)?
                    $(Self::$form(<$whole as $crate::proof::canonical::Field>::read(&mut reader, $tag)?))?
                } else)* {
                    return Err(Malformed::expected("", $noun));
                };
                reader.end()?;
                $(forms!(@instead $outer reader.end()?);)?
                reader.finish()?;
                $(let holds: fn(&Self) -> bool = $holds;
                if !holds(&read) {
                    return Err(Malformed::expected($at, $rule));
                })*
                Ok(read)
            }

            /// The table of all forms in FORMAT.md.
            pub fn table() -> String {
                use $crate::proof::canonical::{Field, table};
                let rows = [$(
                    $($((concat!($tag, ".", stringify!($field)), <$type>::kind()),)*)?
                    $(($tag, <$whole>::kind()),)?
                )*];
                format!("| {} | value | rule |\n|---|---|---|\n{}", $noun, table(&rows, &[$(($at, $rule)),*]))
            }
        }
    };
    (@instead $left:literal $right:expr) => { $right };
}

pub(in crate::proof) use {forms, object};

/// A string with the escapes of RFC 8785: the seven short ones, `\u00xx` for the other control characters, no more.
fn push_string(out: &mut String, value: &str) {
    out.push('"');
    let mut plain = 0;
    for (at, byte) in value.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&value[plain..at]);
        plain = at + 1;
        match short_escape(byte) {
            Some(letter) => out.extend(['\\', letter]),
            None => {
                let _ = write!(out, "\\u{byte:04x}");
            }
        }
    }
    out.push_str(&value[plain..]);
    out.push('"');
}

/// The letter that follows the backslash, for the bytes that have a short escape.
fn short_escape(byte: u8) -> Option<char> {
    Some(match byte {
        0x08 => 'b',
        b'\t' => 't',
        b'\n' => 'n',
        0x0c => 'f',
        b'\r' => 'r',
        b'"' => '"',
        b'\\' => '\\',
        _ => return None,
    })
}
