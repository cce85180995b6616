//! The server, asked as a client asks it.

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A process that answers a line with a line.
pub(crate) struct Server {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Server {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        Self { process, input, output, line: String::new() }
    }

    /// Sends a line and waits for the answer: all that a client must do.
    pub(crate) fn ask(&mut self, line: &str) -> &str {
        self.send(line);
        self.line.clear();
        self.output.read_line(&mut self.line).unwrap();
        &self.line
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.input.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    pub(crate) fn end(mut self) {
        drop(self.input.take());
        self.process.wait().unwrap();
    }
}

pub(crate) fn request(id: u32, method: &str, params: &Value) -> String {
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

pub(crate) fn hello() -> String {
    let client = json!({ "name": "bench", "version": "0" });
    request(0, "initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }))
}
