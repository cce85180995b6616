//! The standard input of the MCP server.

use std::collections::HashMap;
use std::io;
use std::io::Cursor;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use git_proof::error::Code;
use git_proof::mcp::{Profile, serve_over};
use serde_json::Value;
use tokio::io::AsyncWrite;

use super::scratch::Scratch;

/// How a client begins.
const HANDSHAKE: &str = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"fuzz","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

/// Most requests that are answered in a line that cannot be read.
const MOST_IN_A_LINE: usize = 64;

/// What a client sends once it has introduced itself. What begins with `#` is all that it sends.
pub fn mcp(data: &[u8]) {
    let (greeted, sent) = match data.strip_prefix(b"#") {
        Some(rest) => (false, rest.to_vec()),
        None => (true, [HANDSHAKE.as_bytes(), data].concat()),
    };
    let scratch = Scratch::recorded();
    let said = Said::default();
    let (input, output) = (Cursor::new(sent.clone()), said.clone());
    let served = serve_over(scratch.context(), Profile::Full, move || (input, output));
    match served {
        Ok(()) => {}
        // A client that does not begin as the protocol says, and nobody else, is sent away.
        Err(error) => assert!(!greeted && error.code == Code::InvalidParams, "{error:?}"),
    }
    let answers = answers(&said.0.lock().expect("nobody panicked"));
    let (asked, unreadable) = asked(&sent);
    let surplus = |(id, count): (&String, &usize)| count.saturating_sub(asked.get(id).map_or(0, |asked| asked.most));
    let unasked: usize = answers.iter().map(surplus).sum();
    assert!(unasked <= unreadable * MOST_IN_A_LINE, "{unasked} answers that nobody asked for");
    if greeted {
        for (id, asked) in asked {
            let count = answers.get(&id).copied().unwrap_or_default();
            assert!(count >= asked.least, "{id} was answered {count} times, not {}", asked.least);
        }
    }
    scratch.assert_sound();
}

/// What the server says: each line is a message, and each that has an id an answer. How often each id is answered.
fn answers(said: &[u8]) -> HashMap<String, usize> {
    let mut answers = HashMap::new();
    assert!(said.is_empty() || said.ends_with(b"\n"), "a line is not ended");
    for line in said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let message: Value = serde_json::from_slice(line).expect("a line of JSON");
        assert_eq!(message["jsonrpc"], "2.0");
        if message.get("method").is_some() {
            assert!(message.get("id").is_none(), "the server asks for nothing: {message}");
            continue;
        }
        assert!(message.get("result").is_some() != message.get("error").is_some(), "one of both: {message}");
        if let Some(id) = message.get("id").filter(|id| !id.is_null()) {
            *answers.entry(id.to_string()).or_default() += 1;
        }
    }
    answers
}

/// How often an id has to be answered, and how often it may be.
#[derive(Default)]
struct Asked {
    least: usize,
    most: usize,
}

/// What is asked for, and how many lines are not an object in JSON: what they ask for is not known here. Of requests that share
/// an id or are cancelled some need no answer.
fn asked(sent: &[u8]) -> (HashMap<String, Asked>, usize) {
    let mut asked: HashMap<String, Asked> = HashMap::new();
    let (mut cancelled, mut unreadable) = (Vec::new(), 0);
    for line in sent.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let Ok(Value::Object(message)) = serde_json::from_slice(line) else {
            unreadable += 1;
            continue;
        };
        if message.get("method").is_some_and(|method| method == "notifications/cancelled") {
            cancelled.extend(message.get("params").and_then(|params| params.get("requestId")).map(plain));
        }
        let Some(id) = message.get("id") else { continue };
        let asked = asked.entry(same(id)).or_default();
        asked.most += 1;
        asked.least += usize::from((id.is_string() || id.is_i64()) && message.contains_key("method"));
    }
    for (id, asked) in &mut asked {
        if asked.most > 1 || cancelled.iter().any(|other| other == id.trim_matches('"')) {
            asked.least = 0;
        }
    }
    (asked, unreadable)
}

/// An id as it is answered: a whole number is answered as one, however it was spelled.
fn same(id: &Value) -> String {
    match id.as_f64() {
        #[allow(clippy::cast_possible_truncation)] // what is larger is not a whole number of 64 bits
        Some(number) if id.is_f64() && number.fract() == 0.0 && number.abs() < 9e18 => (number as i64).to_string(),
        _ => id.to_string(),
    }
}

/// An id without its quotes: a client may cancel 1 as "1".
fn plain(id: &Value) -> String {
    id.to_string().trim_matches('"').to_owned()
}

/// Where the server writes.
#[derive(Debug, Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl AsyncWrite for Said {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.lock().expect("nobody panicked").extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
