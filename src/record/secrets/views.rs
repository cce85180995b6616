//! Rewrites a text so that a credential in it stands in one piece.
//!
//! A view is the text with something taken out or decoded. It remembers where each piece came from, so that a finding
//! is reported at its place in the original. It leaves out what is far from any change: that is searched as it stands.

use std::ops::Range;

use super::{Secret, alphabet};

/// How many bytes before and behind a change are in a view.
const NEAR: usize = 1024;

/// A rewritten text.
pub(super) struct View {
    pub(super) text: String,
    /// Places in the view and where they were in the original, in order.
    marks: Vec<(usize, usize)>,
}

impl View {
    /// Translates the place of a secret in the view to its place in the original.
    pub(super) fn original(&self, secret: Secret) -> Secret {
        let last = self.marks.partition_point(|mark| mark.0 <= secret.at).checked_sub(1);
        let (here, there) = last.map_or((0, 0), |last| self.marks[last]);
        secret.moved_to(there + (secret.at - here))
    }
}

/// Builds a view out of what stays and what is replaced.
struct Rewrite<'a> {
    from: &'a str,
    done: usize,
    view: View,
}

impl<'a> Rewrite<'a> {
    fn new(from: &'a str) -> Self {
        Self { from, done: 0, view: View { text: String::new(), marks: Vec::new() } }
    }

    fn replace(&mut self, range: Range<usize>, by: Option<char>) {
        self.copy_until(range.start);
        if let Some(letter) = by {
            self.view.marks.push((self.view.text.len(), range.start));
            self.view.text.push(letter);
        }
        self.view.marks.push((self.view.text.len(), range.end));
        self.done = range.end;
    }

    /// Copies what is near the last change or near the next one, which is here.
    fn copy_until(&mut self, here: usize) {
        let behind = if self.view.marks.is_empty() { self.done } else { self.done + NEAR };
        let before = here.saturating_sub(NEAR);
        if behind < before {
            self.view.text.push_str(&self.from[self.done..self.from.floor_char_boundary(behind)]);
            self.view.text.push_str("\n\n");
            self.done = self.from.floor_char_boundary(before);
            self.view.marks.push((self.view.text.len(), self.done));
        }
        self.view.text.push_str(&self.from[self.done..here]);
    }

    /// `None` if nothing was replaced.
    fn finish(mut self) -> Option<View> {
        let end = self.from.floor_char_boundary(self.done.saturating_add(NEAR));
        self.view.text.push_str(&self.from[self.done..end]);
        (!self.view.marks.is_empty()).then_some(self.view)
    }
}

/// The text without invisible characters and colors, and with escapes, percent codes and HTML entities decoded.
/// `None` if there are none.
pub(super) fn plain(text: &str) -> Option<View> {
    let bytes = text.as_bytes();
    let mut rewrite = Rewrite::new(text);
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|byte| is_special(*byte)) {
        let start = at + next;
        at = match decode(text, start) {
            None => start + text[start..].chars().next().map_or(1, char::len_utf8),
            Some((end, letter)) => {
                rewrite.replace(start..end, letter.filter(|letter| !is_invisible(*letter)));
                end
            }
        };
    }
    rewrite.finish()
}

/// Whether a piece that `decode` replaces may begin with this byte.
fn is_special(byte: u8) -> bool {
    matches!(byte, b'\\' | b'%' | b'&' | 0..=8 | 11 | 12 | 14..=31 | 127..)
}

/// Decodes an escape that begins here: where it ends, and the character that it stands for, if any.
fn decode(text: &str, at: usize) -> Option<(usize, Option<char>)> {
    let rest = &text[at..];
    match rest.as_bytes()[0] {
        b'\\' => {
            // JSON within JSON escapes the escapes.
            let slashes = rest.bytes().take_while(|byte| *byte == b'\\').count();
            let (length, letter) = escape(&rest[slashes..])?;
            Some((at + slashes + length, Some(letter)))
        }
        b'%' => {
            let code = u8::from_str_radix(rest.get(1..3)?, 16).ok()?;
            matches!(code, b' '..=b'~' | b'\n' | b'\r').then(|| (at + 3, Some(char::from(code))))
        }
        b'&' => {
            let end = rest.bytes().take(20).position(|byte| byte == b';')?;
            Some((at + end + 1, Some(entity(&rest[1..end])?)))
        }
        0x1b => {
            let parameters = rest[1..].strip_prefix('[')?;
            let length = parameters.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
            parameters[length..].starts_with(|last: char| last.is_ascii_alphabetic()).then_some((at + length + 3, None))
        }
        _ => {
            let letter = rest.chars().next()?;
            let wide =
                matches!(letter, '\u{ff01}'..='\u{ff5e}').then(|| char::from_u32(letter as u32 - 0xfee0)).flatten();
            (is_invisible(letter) || wide.is_some()).then_some((at + letter.len_utf8(), wide))
        }
    }
}

/// The escape behind a backslash: how long it is, and the character.
fn escape(rest: &str) -> Option<(usize, char)> {
    let hex = |digits: &str| char::from_u32(u32::from_str_radix(digits, 16).ok()?);
    match rest.bytes().next()? {
        b'n' => Some((1, '\n')),
        b'r' => Some((1, '\r')),
        b't' => Some((1, '\t')),
        quote @ (b'"' | b'\'' | b'/' | b'`') => Some((1, char::from(quote))),
        b'x' => Some((3, hex(rest.get(1..3)?)?)),
        b'u' if rest[1..].starts_with('{') => {
            let end = rest.bytes().take(10).position(|byte| byte == b'}')?;
            Some((end + 1, hex(&rest[2..end])?))
        }
        b'u' => Some((5, hex(rest.get(1..5)?)?)),
        _ => None,
    }
}

/// The character that an HTML entity stands for.
fn entity(name: &str) -> Option<char> {
    match name {
        "quot" => Some('"'),
        "apos" => Some('\''),
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "shy" | "zwnj" | "zwj" | "ZeroWidthSpace" => Some('\u{200b}'),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

/// Whether a character takes no room where it is shown.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}'
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text with the parts of tokens joined that are on several lines or in several strings. `None` if there are none.
pub(super) fn joined(text: &str) -> Option<View> {
    let bytes = text.as_bytes();
    let mut rewrite = Rewrite::new(text);
    let mut line = 0;
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|byte| matches!(byte, b'\n' | b'"' | b'\'' | b'`')) {
        let here = at + next;
        at = here + 1;
        let seam = if bytes[here] == b'\n' { line_seam(bytes, line, here) } else { string_seam(bytes, here) };
        if bytes[here] == b'\n' {
            line = here + 1;
        }
        if let Some(seam) = seam.filter(|seam| seam.start >= rewrite.done) {
            at = at.max(seam.end);
            if let Some(last) = memchr::memrchr(b'\n', &bytes[seam.clone()]) {
                line = seam.start + last + 1;
            }
            rewrite.replace(seam, None);
        }
    }
    rewrite.finish()
}

/// The end of a line that cuts a token in two, with the marks and the indentation around it.
fn line_seam(bytes: &[u8], line: usize, end: usize) -> Option<Range<usize>> {
    let above = &bytes[line..end];
    let trimmed = above.trim_ascii_end();
    let left = trimmed.strip_suffix(b"\\").unwrap_or(trimmed).trim_ascii_end();
    let below = &bytes[end + 1..];
    let indent = below.iter().take(80).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let mut right = &below[indent..];
    // Marks of a diff, a comment or a quotation are before both lines.
    for mark in [&b"//"[..], b"#", b">", b"*", b"+", b"-", b"|"] {
        if let Some(rest) = right.strip_prefix(mark)
            && above.trim_ascii_start().starts_with(mark)
        {
            let spaces = rest.iter().take(8).take_while(|byte| **byte == b' ').count();
            right = &rest[spaces..];
            break;
        }
    }
    let ends = left.iter().rev().take(40).take_while(|byte| alphabet::token(**byte)).count();
    let starts = right.iter().take(40).take_while(|byte| alphabet::token(**byte)).count();
    let (piece, rest) = right.split_at(starts);
    let is_cut = is_piece(&left[left.len() - ends..]) && is_piece(piece) && !is_setting(piece, rest);
    is_cut.then(|| line + left.len()..bytes.len() - right.len())
}

/// Whether a line begins with the name of a setting, and so does not go on with the line above.
fn is_setting(piece: &[u8], rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    let sign = memchr::memchr(b'=', piece).unwrap_or(piece.len());
    rest.starts_with(b":") || rest.starts_with(b"=") || piece[sign..].iter().any(|byte| *byte != b'=')
}

/// Whether this may be a piece of a token, and not a word.
fn is_piece(piece: &[u8]) -> bool {
    let tail = piece.get(1..).unwrap_or_default();
    piece.len() >= 4
        && (piece.iter().any(u8::is_ascii_digit)
            || piece.contains(&b'_')
            || tail.iter().any(u8::is_ascii_uppercase)
            || piece.len() >= 16)
}

/// The end of a string and the begin of the next, if these are put together: `"abc" + "def"`.
fn string_seam(bytes: &[u8], quote: usize) -> Option<Range<usize>> {
    let before = quote.checked_sub(1)?;
    if !alphabet::token(bytes[before]) {
        return None;
    }
    let space = |from: usize| {
        bytes[from..].iter().take(120).take_while(|byte| byte.is_ascii_whitespace() || **byte == b'\\').count()
    };
    let mut at = quote + 1;
    at += space(at);
    at += bytes[at..]
        .iter()
        .take(2)
        .take_while(|byte| matches!(byte, b'+' | b'.' | b'&' | b'|' | b'~' | b'<' | b'>'))
        .count();
    at += space(at);
    if bytes.get(at).is_some_and(|byte| matches!(byte, b'b' | b'f' | b'r' | b'u'))
        && bytes.get(at + 1) == Some(&bytes[quote])
    {
        at += 1;
    }
    let after = at + 1;
    let is_seam = at > quote + 1
        && bytes.get(at) == Some(&bytes[quote])
        && bytes.get(after).is_some_and(|byte| alphabet::token(*byte));
    is_seam.then_some(quote..after)
}
