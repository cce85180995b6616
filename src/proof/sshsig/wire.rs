//! The encoding of SSH: numbers, strings with their length, positive integers (RFC 4251). One spelling of everything.

/// What is left of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wire<'a>(pub(super) &'a [u8]);

impl<'a> Wire<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// One byte.
    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|taken| taken[0])
    }

    /// A number of 32 bits.
    pub(super) fn number(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_be_bytes)
    }

    /// A string of any bytes.
    pub(super) fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(usize::try_from(length).ok()?)
    }

    /// A string of UTF-8.
    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.string()?).ok()
    }

    /// An integer above zero, without the zero byte that only keeps it from being negative.
    pub(super) fn positive(&mut self) -> Option<&'a [u8]> {
        match self.string()? {
            // RFC 4251: a zero byte exactly where the number would be negative without it.
            [0, rest @ ..] => rest.first().is_some_and(|first| first & 0x80 != 0).then_some(rest),
            [first, ..] if first & 0x80 != 0 => None,
            rest => (!rest.is_empty()).then_some(rest),
        }
    }

    /// Nothing more may follow.
    pub(super) fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

/// Adds a string with its length.
pub(super) fn push_string(bytes: &mut Vec<u8>, string: &[u8]) {
    bytes.extend_from_slice(&u32::try_from(string.len()).unwrap_or(u32::MAX).to_be_bytes());
    bytes.extend_from_slice(string);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positive_integers_have_one_spelling() {
        let read = |bytes: &'static [u8]| Wire(bytes).positive();
        assert_eq!(read(b"\0\0\0\x01\x7f"), Some(&b"\x7f"[..]));
        assert_eq!(read(b"\0\0\0\x02\0\x80"), Some(&b"\x80"[..]));
        for bad in [&b"\0\0\0\0"[..], b"\0\0\0\x01\0", b"\0\0\0\x02\0\x7f", b"\0\0\0\x01\x80", b"\0\0\0\x02\x01", b"\0"]
        {
            assert_eq!(Wire(bad).positive(), None, "{bad:?}");
        }
    }
}
