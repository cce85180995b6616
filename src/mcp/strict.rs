//! A line as a message, read strictly. rmcp drops what it cannot parse, and keeps the last of two members with one name; here
//! both are refused, and whoever waits for an answer gets one.
//!
//! The arguments of a tool are read with the reader of the command line (`canonical::parse`). What that reader refuses is an
//! error of the call, `INVALID_PARAMS`. What is not JSON, repeats a key elsewhere or is no request is an error of the protocol.

use std::fmt;

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, ErrorCode, JsonRpcMessage};
use rmcp::service::RxJsonRpcMessage;
use serde_json::error::Category;
use serde_json::{Map, Value, json};

use super::lines::Line;
use crate::proof::canonical;

/// RFC 8259 lets a reader ignore it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Longest message of an error, in characters: it may quote a key of the client.
const MAX_MESSAGE: usize = 300;

/// A line that is not passed on.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The ids to answer to, null where there is none to be found.
    ids: Vec<Value>,
    code: ErrorCode,
    message: String,
}

impl Refusal {
    fn new(line: &Line, code: ErrorCode, why: &dyn fmt::Display) -> Self {
        let mut ids: Vec<Value> =
            line.messages.iter().filter(|message| message.wants_answer()).map(|message| json!(message.id())).collect();
        if line.messages.is_empty() {
            ids.push(Value::Null);
        }
        Self { ids, code, message: why.to_string().chars().take(MAX_MESSAGE).collect() }
    }

    /// The answers, each a line.
    pub(super) fn answers(&self) -> String {
        let error = json!({ "code": self.code, "message": self.message });
        self.ids.iter().map(|id| json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string() + "\n").collect()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.escape_debug().fmt(f)
    }
}

/// Arguments that the strict reader refuses. They travel with the call, so that the tool answers and the ledger has it.
#[derive(Debug, Clone)]
pub(super) struct Unreadable {
    /// As they were sent.
    pub(super) text: String,
    pub(super) why: String,
}

/// The arguments of a call.
pub(super) type Given = Result<Map<String, Value>, Unreadable>;

/// Reads a line; `None` for a blank one.
pub(super) fn read(mut line: Line) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Refusal> {
    if let Some(limit) = &line.beyond {
        return Err(Refusal::new(&line, ErrorCode::INVALID_REQUEST, limit));
    }
    if line.bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    let arguments = take_arguments(&mut line)?;
    let text = line.bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line.bytes);
    let refused = |code, why: &dyn fmt::Display| Err(Refusal::new(&line, code, why));
    match canonical::parse_distinct(text) {
        Ok(_) => {}
        Err(error) if error.classify() == Category::Data => return refused(ErrorCode::INVALID_REQUEST, &error),
        Err(error) => return refused(ErrorCode::PARSE_ERROR, &format_args!("not JSON that can be read: {error}")),
    }
    let Ok(mut message) = serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(text) else {
        let why = if text.trim_ascii_start().starts_with(b"[") {
            "a batch is not supported: send each message on a line of its own"
        } else {
            "not a message of JSON-RPC 2.0: jsonrpc is \"2.0\", method a string, id a string or an integer of 64 bits"
        };
        return refused(ErrorCode::INVALID_REQUEST, &why);
    };
    if let JsonRpcMessage::Request(request) = &mut message
        && let ClientRequest::CallToolRequest(call) = &mut request.request
    {
        match arguments {
            Some(Ok(arguments)) => call.params.arguments = Some(arguments),
            Some(Err(unreadable)) => drop(call.extensions.insert(unreadable)),
            None => {}
        }
    }
    Ok(Some(message))
}

/// The arguments of a call, read strictly; what is left of them in the line is an empty object of the same length.
fn take_arguments(line: &mut Line) -> Result<Option<Given>, Refusal> {
    let [message] = &line.messages[..] else { return Ok(None) };
    let Some(span) = message.arguments.clone().filter(|_| message.is_call()) else { return Ok(None) };
    let text = &line.bytes[span.clone()];
    let read = match canonical::parse(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(other) => unreachable!("the arguments begin with a brace: {other}"),
        Err(why) => {
            if let Err(error) = serde_json::from_slice::<Value>(text) {
                let why = format!("not JSON that can be read: in the arguments, {error}");
                return Err(Refusal::new(line, ErrorCode::PARSE_ERROR, &why));
            }
            let why = why.to_string().chars().take(MAX_MESSAGE).collect();
            Err(Unreadable { text: String::from_utf8_lossy(text).into_owned(), why })
        }
    };
    line.bytes[span.clone()].fill(b' ');
    (line.bytes[span.start], line.bytes[span.end - 1]) = (b'{', b'}');
    Ok(Some(read))
}
