//! Names of files as git prints them in a patch.

/// A prefix and a path, as one name: in double quotes, with C's escapes, if there is a byte in it that asks for them.
/// Bytes outside of ASCII do (`core.quotePath`), a space does not.
pub(super) fn quoted(prefix: &[u8], path: &[u8]) -> Vec<u8> {
    let mut name = Vec::with_capacity(prefix.len() + path.len() + 2);
    if !path.iter().any(|byte| is_escaped(*byte)) {
        name.extend_from_slice(prefix);
        name.extend_from_slice(path);
        return name;
    }
    name.push(b'"');
    name.extend_from_slice(prefix);
    for byte in path {
        match escape(*byte) {
            Some(letter) => name.extend_from_slice(&[b'\\', letter]),
            None if is_escaped(*byte) => name.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            None => name.push(*byte),
        }
    }
    name.push(b'"');
    name
}

fn is_escaped(byte: u8) -> bool {
    !matches!(byte, b' '..=b'~') || matches!(byte, b'"' | b'\\')
}

/// The letter that stands for a byte after a backslash, if there is one.
fn escape(byte: u8) -> Option<u8> {
    Some(match byte {
        0x07 => b'a',
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0b => b'v',
        0x0c => b'f',
        b'\r' => b'r',
        b'"' | b'\\' => byte,
        _ => return None,
    })
}

/// A name that git printed, quoted or not, as the bytes that it stands for. `None` where git would not have printed it.
pub(super) fn unquoted(name: &[u8]) -> Option<Vec<u8>> {
    let Some(inside) = name.strip_prefix(b"\"") else { return Some(name.to_vec()) };
    let mut bytes = inside.strip_suffix(b"\"")?.iter().copied();
    let mut path = Vec::with_capacity(inside.len());
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            path.push(byte);
            continue;
        }
        let letter = bytes.next()?;
        if matches!(letter, b'0'..=b'3') {
            let digits = [letter, bytes.next()?, bytes.next()?];
            path.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 8).ok()?);
        } else {
            path.push((0..=u8::MAX).find(|byte| escape(*byte) == Some(letter))?);
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::{quoted, unquoted};

    #[track_caller]
    fn expect(path: &[u8], name: &str) {
        assert_eq!(String::from_utf8(quoted(b"a/", path)).as_deref(), Ok(name));
        assert_eq!(unquoted(name.as_bytes()), Some([b"a/", path].concat()));
    }

    #[test]
    fn plain_names_stay_as_they_are() {
        expect(b"src/main.rs", "a/src/main.rs");
        expect(b"-x y'z~", "a/-x y'z~");
    }

    #[test]
    fn bytes_that_need_it_are_escaped_and_the_whole_is_quoted() {
        expect(b"a\"b\\c", r#""a/a\"b\\c""#);
        expect(b"\x01\x07\x08\t\n\x0b\x0c\r\x1b\x7f", r#""a/\001\a\b\t\n\v\f\r\033\177""#);
        expect("ä b".as_bytes(), r#""a/\303\244 b""#);
    }
}
