//! Standard input as lines of limited size. The rest of a line beyond a limit is scanned for its id and not kept.

use memchr::memchr;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use super::scan::{Message, Scanner};

/// Longest line that is kept.
const MAX_LINE: usize = 16 << 20;
/// Most values in one line. Each takes some two hundred bytes when it is parsed; what tools take has a few dozen.
const MAX_VALUES: usize = 50_000;
/// Memory that a byte of a line takes when it is parsed, and a value in it.
const PER_BYTE: usize = 3;
const PER_VALUE: usize = 200;

/// A line without its newline.
#[derive(Debug)]
pub(super) struct Line {
    /// Empty if the line is beyond a limit.
    pub(super) bytes: Vec<u8>,
    /// What the scanner found in it.
    pub(super) messages: Vec<Message>,
    /// Which limit it is beyond.
    pub(super) beyond: Option<String>,
    /// Memory that it takes to read it, roughly.
    pub(super) weight: usize,
}

/// A line that has not ended yet.
#[derive(Debug, Default)]
struct Partial {
    bytes: Vec<u8>,
    scanner: Scanner,
    beyond: Option<String>,
}

impl Partial {
    fn take_in(&mut self, bytes: &[u8]) {
        self.scanner.feed(bytes);
        if self.beyond.is_none() {
            self.beyond = if self.scanner.length() > MAX_LINE {
                Some(format!("the line has more than {MAX_LINE} bytes"))
            } else if self.scanner.values() > MAX_VALUES {
                Some(format!("the message has more than {MAX_VALUES} values"))
            } else {
                None
            };
            if self.beyond.is_none() {
                self.bytes.extend_from_slice(bytes);
            } else {
                self.bytes = Vec::new();
            }
        }
    }

    fn finish(self) -> Line {
        let Self { bytes, scanner, beyond } = self;
        let weight = if beyond.is_some() { 0 } else { bytes.len() * PER_BYTE + scanner.values() * PER_VALUE };
        Line { bytes, messages: scanner.finish(), beyond, weight }
    }
}

pub(super) struct Lines<R> {
    input: BufReader<R>,
    partial: Partial,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input: BufReader::new(input), partial: Partial::default() }
    }

    /// The next line; `None` at the end of input. The last line needs no newline. A call that is dropped while it waits loses
    /// nothing: what was read of the line is kept for the next call.
    pub(super) async fn next(&mut self) -> Option<Line> {
        loop {
            // An input that fails has ended: nothing more will come.
            let available = self.input.fill_buf().await.unwrap_or_default();
            if available.is_empty() {
                let partial = std::mem::take(&mut self.partial);
                return (partial.scanner.length() > 0).then(|| partial.finish());
            }
            let newline = memchr(b'\n', available);
            let end = newline.unwrap_or(available.len());
            self.partial.take_in(&available[..end]);
            self.input.consume(end + usize::from(newline.is_some()));
            if newline.is_some() {
                return Some(std::mem::take(&mut self.partial).finish());
            }
        }
    }
}
