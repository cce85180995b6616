//! A lenient, streaming look at one line of input: which messages it holds, their ids, and where the arguments of a call are.
//!
//! A strict parser stops at the first error, and a line beyond the size limit is never held as a whole. The client that sent
//! such a line may still wait for an answer to the request in it. This scanner finds the id of that request: it reads any
//! bytes, keeps at most [`MAX_TOKEN`] of them, and never fails. It decides nothing else; what a message says is read strictly.

use std::ops::Range;

use memchr::memchr2;
use serde_json::Value;

/// Longest key, id or method that is kept.
const MAX_TOKEN: usize = 4 << 10;
/// Most messages of one line that are answered.
const MAX_MESSAGES: usize = 64;

/// What the scanner found of one message: an object at the top of the line, or in a batch.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Message {
    id: Option<Id>,
    method: Option<Method>,
    /// Whether it has a result or an error.
    has_outcome: bool,
    /// Whether its closing brace was found.
    is_closed: bool,
    /// Where in the line the arguments are, if they are an object.
    pub(super) arguments: Option<Range<usize>>,
}

#[derive(Debug, Clone, PartialEq)]
enum Id {
    Known(Value),
    /// Neither a string nor a number, too long, or malformed.
    Unusable,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Method {
    CallTool,
    Other,
}

impl Message {
    /// Whether it calls a tool.
    pub(super) fn is_call(&self) -> bool {
        self.method == Some(Method::CallTool)
    }

    /// The id to answer to, if it is one.
    pub(super) fn id(&self) -> Option<&Value> {
        match &self.id {
            Some(Id::Known(id)) => Some(id),
            Some(Id::Unusable) | None => None,
        }
    }

    /// Whether a client may wait for an answer. It does not after a notification or a response. A message that is cut off may
    /// have had its id in the part that is missing.
    pub(super) fn wants_answer(&self) -> bool {
        let is_response = self.has_outcome && self.method.is_none();
        let is_notification = self.method.is_some() && self.id.is_none() && self.is_closed;
        !is_response && !is_notification
    }
}

/// The keys that matter.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Key {
    Id,
    Method,
    Params,
    Arguments,
    Outcome,
    Other,
}

impl Key {
    fn of(token: &[u8]) -> Self {
        match text(token).as_deref() {
            Some("id") => Self::Id,
            Some("method") => Self::Method,
            Some("params") => Self::Params,
            Some("arguments") => Self::Arguments,
            Some("result" | "error") => Self::Outcome,
            _ => Self::Other,
        }
    }
}

/// A string token without its quotes and escapes. A token that was cut at the limit lacks its closing quote.
fn text(token: &[u8]) -> Option<String> {
    serde_json::from_slice(token).ok()
}

/// Where a token is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Level {
    Message,
    Params,
    Elsewhere,
}

/// The kind of token that the next byte belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Inside {
    #[default]
    Structure,
    /// A number or a word.
    Scalar,
    Text,
    /// Directly after a backslash in a text.
    Escape,
}

/// The scanner of one line.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    /// Bytes read.
    at: usize,
    values: usize,
    /// Brackets and braces that are open.
    depth: usize,
    in_batch: bool,
    inside: Inside,
    token: Vec<u8>,
    /// The message that is open.
    message: Option<Message>,
    /// The key of its member that is being read, if it has been read already.
    member: Option<Key>,
    in_params: bool,
    /// The same of the member of its params.
    parameter: Option<Key>,
    /// Where its arguments begin.
    start: Option<usize>,
    messages: Vec<Message>,
}

impl Scanner {
    /// Bytes read so far.
    pub(super) fn length(&self) -> usize {
        self.at
    }

    /// Values read so far, roughly.
    pub(super) fn values(&self) -> usize {
        self.values
    }

    /// Reads the next bytes of the line.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(&byte) = rest.first() {
            let length = match self.inside {
                Inside::Text => self.text(rest),
                Inside::Escape => {
                    self.keep(&[byte]);
                    self.inside = Inside::Text;
                    1
                }
                Inside::Structure | Inside::Scalar => {
                    self.structure(byte);
                    1
                }
            };
            self.at += length;
            rest = &rest[length..];
        }
    }

    /// The messages of the line, now that it has ended.
    pub(super) fn finish(mut self) -> Vec<Message> {
        self.end_message(false);
        self.messages
    }

    /// Reads on inside a string, and answers how many bytes.
    fn text(&mut self, rest: &[u8]) -> usize {
        let plain = memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
        if plain > 0 {
            self.keep(&rest[..plain]);
            return plain;
        }
        self.keep(&rest[..1]);
        if rest[0] == b'\\' {
            self.inside = Inside::Escape;
        } else {
            self.inside = Inside::Structure;
            self.end_token();
        }
        1
    }

    /// Reads a byte outside of strings.
    fn structure(&mut self, byte: u8) {
        let ends_scalar = matches!(byte, b'"' | b'{' | b'[' | b'}' | b']' | b',' | b':' | b' ' | b'\t' | b'\r');
        if self.inside == Inside::Scalar && ends_scalar {
            self.inside = Inside::Structure;
            self.end_token();
        }
        match byte {
            b'"' => {
                self.inside = Inside::Text;
                self.token.clear();
                self.keep(b"\"");
            }
            b'{' | b'[' => self.open(byte),
            b'}' | b']' => self.close(),
            b',' => {
                self.values += 1;
                match self.level() {
                    Level::Message => self.member = None,
                    Level::Params => self.parameter = None,
                    Level::Elsewhere => {}
                }
            }
            _ if ends_scalar => {}
            _ => {
                if self.inside == Inside::Structure {
                    self.inside = Inside::Scalar;
                    self.token.clear();
                }
                self.keep(&[byte]);
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_TOKEN - self.token.len();
        self.token.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// How deep a message stands.
    fn base(&self) -> usize {
        usize::from(self.in_batch)
    }

    fn level(&self) -> Level {
        match self.depth.saturating_sub(self.base()) {
            1 if self.message.is_some() => Level::Message,
            2 if self.in_params => Level::Params,
            _ => Level::Elsewhere,
        }
    }

    fn open(&mut self, byte: u8) {
        self.values += 1;
        let is_object = byte == b'{';
        if self.depth == 0 && !is_object {
            self.in_batch = true;
        } else if self.depth == self.base() && is_object {
            (self.message, self.member, self.in_params) = (Some(Message::default()), None, false);
        } else if self.level() == Level::Message && self.member == Some(Key::Params) && is_object {
            (self.in_params, self.parameter) = (true, None);
        } else if self.level() == Level::Params && self.parameter == Some(Key::Arguments) && is_object {
            self.start = Some(self.at);
        }
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        match self.depth.checked_sub(self.base()) {
            Some(0) => self.end_message(true),
            Some(1) => self.in_params = false,
            Some(2) if self.in_params => {
                if let (Some(start), Some(message)) = (self.start.take(), &mut self.message) {
                    message.arguments = Some(start..self.at + 1);
                }
            }
            Some(_) => {}
            None => self.in_batch = false,
        }
    }

    fn end_token(&mut self) {
        match (self.level(), &mut self.message) {
            (Level::Message, Some(message)) => match self.member {
                None => {
                    let key = Key::of(&self.token);
                    match key {
                        Key::Id => message.id = Some(Id::Unusable), // until its value is read
                        Key::Method => message.method = Some(Method::Other),
                        Key::Outcome => message.has_outcome = true,
                        Key::Params | Key::Arguments | Key::Other => {}
                    }
                    self.member = Some(key);
                }
                Some(Key::Id) => {
                    message.id = Some(match serde_json::from_slice(&self.token) {
                        Ok(id @ (Value::String(_) | Value::Number(_))) => Id::Known(id),
                        _ => Id::Unusable,
                    });
                }
                Some(Key::Method) if text(&self.token).as_deref() == Some("tools/call") => {
                    message.method = Some(Method::CallTool);
                }
                Some(_) => {}
            },
            (Level::Params, _) if self.parameter.is_none() => self.parameter = Some(Key::of(&self.token)),
            _ => {}
        }
    }

    fn end_message(&mut self, is_closed: bool) {
        if let Some(message) = self.message.take()
            && self.messages.len() < MAX_MESSAGES
        {
            self.messages.push(Message { is_closed, ..message });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scan(line: &str, piece: usize) -> Vec<Message> {
        let mut scanner = Scanner::default();
        line.as_bytes().chunks(piece).for_each(|bytes| scanner.feed(bytes));
        scanner.finish()
    }

    /// The ids to answer to, null where there is none.
    fn answered(line: &str) -> Vec<Value> {
        let found = scan(line, line.len().max(1));
        for piece in [1, 2, 3, 7] {
            assert_eq!(scan(line, piece), found, "{line} in pieces of {piece}");
        }
        found.iter().filter(|message| message.wants_answer()).map(|found| json!(found.id())).collect()
    }

    #[test]
    fn id_is_found_wherever_it_stands_and_however_it_is_spelled() {
        for (line, ids) in [
            (r#"{"id":1,"method":"x"}"#, json!([1])),
            (
                r#" { "method" : "x" , "params" : { "id" : 2 , "a" : [ { "id" : 3 } ] } , "id" : "a\"}" } "#,
                json!(["a\"}"]),
            ),
            (r#"{"\u0069d":7,"method":"x"}"#, json!([7])),
            (r#"{"a":"\ud800","id":1.5,"method":"x"}"#, json!([1.5])),
            (r#"{"id":1,"method":"x","params":{"#, json!([1])),
            (r#"{"id":1,"method":"x"}{"id":2,"method":"y"}"#, json!([1, 2])),
            (r#"[{"id":1,"method":"x"},{"method":"note"},[{"id":3}],{"id":2,"method":"y"}]"#, json!([1, 2])),
            (r#"{"id":1,"id":2,"method":"x"}"#, json!([2])),
            (r#"}]}{"id":1,"method":"x"}"#, json!([1])),
        ] {
            assert_eq!(json!(answered(line)), ids, "{line}");
        }
    }

    #[test]
    fn request_without_a_usable_id_is_answered_to_null_and_a_notification_or_response_is_not_answered() {
        for id in ["null", "true", "{}", "[1]", r#""\ud800""#, "1e400", "01", &format!("{:?}", "x".repeat(MAX_TOKEN))] {
            assert_eq!(answered(&format!(r#"{{"id":{id},"method":"x"}}"#)), [Value::Null], "{id}");
        }
        for line in ["{}", r#"{"jsonrpc":"2.0","method":"x","params":"#, r#"{"method":"x","params":"unclosed}"#] {
            assert_eq!(answered(line), [Value::Null], "{line}");
        }
        for line in
            ["", "junk", "\"{\"", "[1,2]", r#"{"method":"x","params":{"id":1}}"#, r#"{"id":1,"error":{},"a":"\ud800"}"#]
        {
            assert_eq!(answered(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn arguments_of_a_call_are_found() {
        let arguments = |line: &str| -> Option<String> {
            let found = scan(line, 3);
            let message = found.first().filter(|message| message.is_call())?;
            message.arguments.clone().map(|span| line[span].to_owned())
        };
        for (line, span) in [
            (
                r#"{"method":"tools/call","params":{"name":"x","arguments":{"a":{"b":[1]}},"z":{}}}"#,
                Some(r#"{"a":{"b":[1]}}"#),
            ),
            (r#"{"params":{"\u0061rguments": {"arguments":{}} },"method":"tools\/call"}"#, Some(r#"{"arguments":{}}"#)),
            (r#"{"method":"tools/call","params":{"arguments":[{}]}}"#, None),
            (r#"{"method":"tools/call","arguments":{}}"#, None),
            (r#"{"method":"tools/call","params":[{"arguments":{}}]}"#, None),
            (r#"{"method":"prompts/get","params":{"arguments":{}}}"#, None),
        ] {
            assert_eq!(arguments(line).as_deref(), span, "{line}");
        }
    }

    #[test]
    fn line_of_any_length_takes_little_memory() {
        let mut scanner = Scanner::default();
        scanner.feed(br#"{"method":"x","params":{"a":""#);
        for _ in 0..4096 {
            scanner.feed(&[b'y'; 4096]);
        }
        assert!(scanner.token.capacity() <= 2 * MAX_TOKEN);
        scanner.feed(br#""},"id":9}"#);
        assert_eq!(scanner.finish()[0].id(), Some(&json!(9)));
    }
}
