//! Prints flat canonical objects directly. The caller writes the keys in canonical order: the vectors hold it to that.

use std::fmt::Write as _;

/// Builds one line of canonical JSON.
#[derive(Debug, Default)]
pub struct Writer {
    text: String,
}

impl Writer {
    /// An empty line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens an object.
    pub fn begin(mut self) -> Self {
        self.text.push('{');
        self
    }

    /// Closes the object.
    pub fn end(mut self) -> Self {
        self.text.push('}');
        self
    }

    /// A key, with the comma before it if one is due. Keys are ours: plain ASCII, nothing to escape.
    pub fn key(mut self, key: &str) -> Self {
        if !self.text.ends_with('{') {
            self.text.push(',');
        }
        self.text.push('"');
        self.text.push_str(key);
        self.text.push_str("\":");
        self
    }

    /// A string value.
    pub fn string(mut self, value: &str) -> Self {
        push_string(&mut self.text, value);
        self
    }

    /// A string value, or `null`.
    pub fn string_or_null(self, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.string(value),
            None => self.raw("null"),
        }
    }

    /// The text of something that needs no escaping: a digest, a time, a scheme.
    pub fn plain(mut self, value: &impl std::fmt::Display) -> Self {
        let _ = write!(self.text, "\"{value}\""); // writing to a String cannot fail
        self
    }

    /// The same, or `null`.
    pub fn plain_or_null(self, value: Option<&impl std::fmt::Display>) -> Self {
        match value {
            Some(value) => self.plain(value),
            None => self.raw("null"),
        }
    }

    /// An integer.
    pub fn integer(mut self, value: u64) -> Self {
        let _ = write!(self.text, "{value}");
        self
    }

    /// Text that is canonical JSON already.
    pub fn raw(mut self, canonical: &str) -> Self {
        self.text.push_str(canonical);
        self
    }

    /// An array of items that are canonical JSON already.
    pub fn array<I: IntoIterator<Item = String>>(mut self, items: I) -> Self {
        self.text.push('[');
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            self.text.push_str(&item);
        }
        self.text.push(']');
        self
    }

    /// The line, without its newline.
    pub fn finish(self) -> String {
        self.text
    }
}

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
