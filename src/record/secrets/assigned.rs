//! Reads the value that is given for a name, in the many ways in which settings, code, commands and prose do so.

use super::value::Classes;

/// The longest value that is looked at.
const LONGEST: usize = 512;

/// Texts that may stand directly before a value.
#[rustfmt::skip]
const OPENERS: &[&str] = &[
    "b\"", "r\"", "f\"", "u\"", "@\"", "some(", "string::from(", "(", "[", "&", "{noop}", "|-\n", ">-\n", "|\n", ">\n",
];

/// Schemes of authorization, which stand before the value.
#[rustfmt::skip]
const SCHEMES: &[&str] = &[
    "bearer ", "basic ", "token ", "apikey ", "api-key ", "key ", "ssws ", "pat ", "digest ", "negotiate ", "bot ", "bearer:",
    "basic:",
];

/// The value that a text gives to a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Assigned<'a> {
    pub(super) text: &'a str,
    /// Where it begins.
    pub(super) at: usize,
    pub(super) sign: Sign,
    pub(super) is_quoted: bool,
    /// Whether it is on the line below the name, or not the first argument of a call.
    is_far: bool,
}

impl Assigned<'_> {
    /// Whether the text leaves no doubt that this is the value.
    pub(super) fn is_marked(&self) -> bool {
        let is_code = |marks: &[u8]| self.text.bytes().any(|byte| marks.contains(&byte));
        match self.sign {
            Sign::Assigns | Sign::Says => !self.is_far,
            Sign::Calls => {
                let is_first = !self.is_far || Classes::of(self.text.as_bytes()).count() >= 3;
                self.is_quoted && is_first && !self.text.starts_with('-') && !is_code(b"(),;{}[]\\")
            }
            Sign::Follows => self.is_quoted && !is_code(b"(),;={}[]"),
        }
    }
}

/// The sign between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// `=`, `:`, `=>`, or the space behind an option of a command.
    Assigns,
    /// A verb: `is`.
    Says,
    /// An opening parenthesis, or a comma behind a name in quotation marks.
    Calls,
    /// A space, or the next column of a table.
    Follows,
}

/// The values that may be meant for the name at `start..end`. There are several only if they are arguments of a call.
pub(super) fn assigned_to(text: &str, start: usize, end: usize) -> Vec<Assigned<'_>> {
    let mut reader = Reader { text, at: end };
    let Some(mut sign) = reader.sign(start) else { return Vec::new() };
    let line = reader.at;
    reader.skip(80, |byte| byte.is_ascii_whitespace());
    let mut is_far = text.as_bytes()[line..reader.at].contains(&b'\n');
    let block = block(&text[line..]);
    if let Some(length) = block {
        reader.at = line + length;
        (sign, is_far) = (Sign::Assigns, false);
    }
    match sign {
        Sign::Assigns => reader.skip_type(),
        Sign::Follows if is_far => return Vec::new(),
        _ => {}
    }
    let mut values = Vec::new();
    for _ in 0..4 {
        let quote = reader.open(&mut sign);
        let at = reader.at;
        let Some((text, is_quoted)) = reader.value(quote) else { break };
        values.push(Assigned { text, at, sign, is_quoted, is_far });
        if let Some((before, _)) = text.split_once('@').filter(|_| !is_quoted) {
            values.push(Assigned { text: before, at, sign, is_quoted, is_far }); // a host may follow
        }
        if sign != Sign::Calls || !is_quoted {
            break;
        }
        is_far = true;
        reader.at += 1;
        reader.skip(80, |byte| byte.is_ascii_whitespace() || byte == b',');
    }
    values
}

/// Where a value begins that is a paragraph of its own below the name: a blank line, then an indented line of one word, as
/// documents show a key. All lines may be quoted or commented out.
fn block(rest: &str) -> Option<usize> {
    let rest = &rest[..rest.floor_char_boundary(rest.len().min(LONGEST))];
    let mut lines = rest.split_inclusive('\n');
    let mut at = lines.next().filter(|line| line.trim().is_empty())?.len();
    for (blank, line) in lines.take(4).enumerate() {
        let unmarked = line.trim_start_matches(['>', '#', '/', '+', '*']);
        let value = unmarked.trim_start();
        if !value.is_empty() {
            let indent = unmarked.len() - value.len();
            let is_indented = indent >= 2 || unmarked.starts_with('\t');
            let is_word = !value.trim_end().contains(|letter: char| letter.is_ascii_whitespace());
            return (blank > 0 && is_indented && is_word).then_some(at + line.len() - value.len());
        }
        at += line.len();
    }
    None
}

/// The value that stands before its name: `with … as the database password`. `before` ends where the name begins.
pub(super) fn used_as(before: &str) -> Option<&str> {
    let start = before.floor_char_boundary(before.len().saturating_sub(LONGEST));
    let mut rest = before[start..].strip_suffix(' ')?;
    for _ in 0..4 {
        let (earlier, word) = rest.rsplit_once(' ')?;
        if word == "as" {
            let value = earlier.rsplit(|letter: char| letter.is_ascii_whitespace()).next()?;
            let value = value.trim_matches(['"', '\'', '`', '(', ')', ',']);
            return (!value.is_empty()).then_some(value);
        }
        if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
        rest = earlier;
    }
    None
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips ASCII characters, and says how many.
    fn skip(&mut self, most: usize, skipped: fn(u8) -> bool) -> usize {
        let bytes = self.rest().as_bytes();
        let length = bytes.iter().take(most).take_while(|byte| byte.is_ascii() && skipped(**byte)).count();
        self.at += length;
        length
    }

    /// Skips the first of these words that is here, whatever its case.
    fn skip_word(&mut self, words: &[&'static str]) -> Option<&'static str> {
        let rest = self.rest().as_bytes();
        let is_here =
            |word: &&&str| rest.get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word.as_bytes()));
        let word = words.iter().find(is_here)?;
        self.at += word.len();
        Some(word)
    }

    /// Reads what says that a value follows.
    fn sign(&mut self, start: usize) -> Option<Sign> {
        let is_named = self.skip(6, |byte| b"\"'`)]}*".contains(&byte)) > 0;
        if self.value_field() {
            return Some(Sign::Assigns);
        }
        let spaces = self.skip(40, |byte| matches!(byte, b' ' | b'\t'));
        if self.rest().starts_with("::") {
            return None;
        }
        if self.skip_word(&["|", "- "]).is_some() {
            return Some(Sign::Follows);
        }
        if self.skip(3, |byte| matches!(byte, b'=' | b':' | b'>' | b'?' | b'!' | b'~')) > 0 {
            return Some(Sign::Assigns);
        }
        if self.skip_word(&["(", "{"]).is_some() || is_named && self.skip_word(&[","]).is_some() {
            return Some(Sign::Calls);
        }
        if spaces > 0 && (self.skip_word(&["to ", "equals ", "are ", "-> "]).is_some() || self.skip_clause()) {
            return Some(Sign::Says);
        }
        let is_option = self.text.as_bytes()[start] == b'-';
        let ends_line = self.next() == Some(b'\n');
        (spaces > 0 || ends_line).then_some(if is_option && spaces > 0 { Sign::Assigns } else { Sign::Follows })
    }

    /// Skips the words of a sentence up to its verb: `of the database is`.
    fn skip_clause(&mut self) -> bool {
        let rest = self.rest().as_bytes();
        let mut length = 0;
        for word in rest[..rest.len().min(64)].split_inclusive(|byte| *byte == b' ') {
            length += word.len();
            match word {
                b"is " | b"was " => {
                    self.at += length;
                    return true;
                }
                _ if word.starts_with(b"is:") || word.starts_with(b"was:") => {
                    self.at += length - word.len() + if word[0] == b'i' { 3 } else { 4 };
                    return true;
                }
                // The value itself may stand here, or the sentence be about something that is made of it.
                b"hash " | b"digest " | b"checksum " | b"fingerprint " | b"id " => return false,
                _ if !word.trim_ascii_end().iter().all(u8::is_ascii_alphabetic) => return false,
                _ => {}
            }
        }
        false
    }

    /// Skips to the field that holds the value of this name: `name: PASSWORD` and below `value: …`.
    fn value_field(&mut self) -> bool {
        let back = self.at;
        self.skip(80, |byte| byte.is_ascii_whitespace() || b",{\"';+>#".contains(&byte));
        if self.at > back && self.skip_word(&["value", "default"]).is_some() {
            self.skip(4, |byte| matches!(byte, b'"' | b'\'' | b' '));
            if self.skip(2, |byte| matches!(byte, b':' | b'=')) > 0 {
                return true;
            }
        }
        self.at = back;
        false
    }

    /// Skips the type of a variable: `token: &str = "…"`.
    fn skip_type(&mut self) {
        let back = self.at;
        let in_type =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'<' | b'>' | b'&' | b'_' | b'\'' | b' ' | b':');
        let length = self.skip(32, in_type);
        if length > 1 && self.text.as_bytes()[self.at - 1] == b' ' && self.skip(2, |byte| byte == b'=') == 1 {
            self.skip(80, |byte| byte.is_ascii_whitespace());
        } else {
            self.at = back;
        }
    }

    /// Skips what opens a value: quotation marks, a constructor, a scheme of authorization. Gives the quotation mark.
    fn open(&mut self, sign: &mut Sign) -> Option<u8> {
        let mut quote = None;
        for _ in 0..5 {
            if let Some(opener) = self.skip_word(OPENERS) {
                if opener == "(" && *sign == Sign::Assigns {
                    *sign = Sign::Calls; // `auth=("ada", "…")`
                }
                quote = if opener.ends_with('"') { Some(b'"') } else { quote };
                if matches!(opener, "(" | "[") {
                    self.skip(80, |byte| byte.is_ascii_whitespace());
                }
            } else if let Some(mark @ (b'"' | b'\'' | b'`')) = self.next() {
                quote = Some(mark);
                self.at += 1;
                continue;
            } else if self.skip_word(SCHEMES).is_none() {
                break;
            }
            self.skip(40, |byte| matches!(byte, b' ' | b'\t'));
        }
        quote
    }

    /// Reads a value up to its quotation mark, or up to what ends a value that has none.
    fn value(&mut self, quote: Option<u8>) -> Option<(&'a str, bool)> {
        let rest = self.rest();
        let quoted = quote.and_then(|quote| {
            let end = rest.bytes().take(LONGEST).position(|byte| byte == quote || byte == b'\n')?;
            (rest.as_bytes()[end] == quote).then(|| &rest[..end])
        });
        let (text, is_quoted) = quoted.map_or_else(|| (unquoted(rest), false), |value| (value, true));
        self.at += text.len();
        let is_call = !is_quoted && matches!(self.next(), Some(b'(' | b'['));
        let text = if is_quoted { text.trim() } else { text.trim_end_matches(['.', ':']) };
        (!text.is_empty() && !is_call).then_some((text, is_quoted))
    }
}

/// The text up to the next space, or up to a mark that ends a value.
fn unquoted(rest: &str) -> &str {
    let ends = |byte: u8| byte.is_ascii_whitespace() || b"\"'`<>,;()[]}|\\&".contains(&byte);
    let length = rest.bytes().take(LONGEST).take_while(|byte| !ends(*byte)).count();
    &rest[..rest.floor_char_boundary(length)]
}
