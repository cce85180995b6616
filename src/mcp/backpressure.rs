//! Keeps a client from filling the server's memory: one that sends more than is answered, that does not read its answers, or
//! whose messages have very many parts. Reading stops until the rest is done; the pipe then makes the client wait.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::{Mutex, MutexGuard, Notify};

/// Most requests that are read and not answered yet.
pub(super) const MOST_OPEN: usize = 64;
/// A request that takes more memory than this is finished before the next one is read.
const HEAVY: usize = 512 << 10;
/// Most values in one message. Each takes some two hundred bytes when it is read; what tools take has a few dozen.
const MOST_VALUES: usize = 50_000;
/// Memory that a byte of a message takes, and a value in it.
const PER_BYTE: usize = 3;
const PER_VALUE: usize = 200;

/// What goes in its place where a message has too many values: a message that is answered as an invalid request.
const REFUSED: &[u8] = b"\n{}\n";

/// How much the server has to do.
#[derive(Debug, Default)]
pub(super) struct Load {
    /// Calls that are not finished, answered or not.
    working: AtomicUsize,
    /// Messages to the client that are being written.
    writing: AtomicUsize,
    written: Notify,
    /// Memory that the message takes that is being read.
    weight: AtomicUsize,
    /// One call at a time, in the order in which they came.
    turn: Mutex<()>,
}

/// Something that counts until it is dropped.
pub(super) struct Counted {
    load: Arc<Load>,
    what: fn(&Load) -> &AtomicUsize,
}

impl Counted {
    fn new(load: &Arc<Load>, what: fn(&Load) -> &AtomicUsize) -> Self {
        what(load).fetch_add(1, Relaxed);
        Self { load: Arc::clone(load), what }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.what)(&self.load).fetch_sub(1, Relaxed);
        self.load.written.notify_one();
    }
}

impl Load {
    /// A call that is being worked on.
    pub(super) fn work(self: &Arc<Self>) -> Counted {
        Counted::new(self, |load| &load.working)
    }

    /// A message that is being written.
    pub(super) fn write(self: &Arc<Self>) -> Counted {
        Counted::new(self, |load| &load.writing)
    }

    /// Waits until it is a call's turn: all before it are done, and what was answered has been read.
    pub(super) async fn turn(&self) -> MutexGuard<'_, ()> {
        let turn = self.turn.lock().await;
        while self.writing.load(Relaxed) > 0 {
            self.written.notified().await;
        }
        turn
    }

    /// Calls that are not finished.
    pub(super) fn working(&self) -> usize {
        self.working.load(Relaxed)
    }

    /// Whether the message that was read last takes much memory.
    pub(super) fn was_heavy(&self) -> bool {
        self.weight.swap(0, Relaxed) > HEAVY
    }
}

/// Input whose messages do not have too many values.
pub(super) struct Measured<R> {
    inner: R,
    load: Arc<Load>,
    /// What was read and not passed on.
    ready: Vec<u8>,
    at: usize,
    values: usize,
    in_text: bool,
    escaped: bool,
    /// Whether the rest of the line is left out.
    refused: bool,
}

impl<R> Measured<R> {
    pub(super) fn new(inner: R, load: Arc<Load>) -> Self {
        let (ready, at, values) = (Vec::new(), 0, 0);
        Self { inner, load, ready, at, values, in_text: false, escaped: false, refused: false }
    }

    fn take_in(&mut self, bytes: &[u8]) {
        let mut values = 0;
        for byte in bytes {
            if *byte == b'\n' {
                (self.values, self.in_text, self.escaped) = (0, false, false);
                if std::mem::take(&mut self.refused) {
                    continue;
                }
            } else if self.refused {
                continue;
            } else if self.in_text {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_text = false,
                    _ => {}
                }
            } else if *byte == b'"' {
                self.in_text = true;
            } else if matches!(byte, b',' | b'[' | b'{') {
                self.values += 1;
                values += 1;
                if self.values > MOST_VALUES {
                    self.refused = true;
                    self.ready.extend_from_slice(REFUSED);
                    continue;
                }
            }
            self.ready.push(*byte);
        }
        self.load.weight.fetch_add(bytes.len() * PER_BYTE + values * PER_VALUE, Relaxed);
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Measured<R> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        while self.at == self.ready.len() {
            let mut bytes = [0; 8 << 10];
            let mut read = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut self.inner).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            self.ready.clear();
            self.at = 0;
            self.take_in(read.filled());
        }
        let part = &self.ready[self.at..];
        let length = part.len().min(into.remaining());
        into.put_slice(&part[..length]);
        self.at += length;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(text: &str) -> String {
        let mut measured = Measured::new(tokio::io::empty(), Arc::default());
        // In pieces, as a pipe may bring them.
        text.as_bytes().chunks(7).for_each(|piece| measured.take_in(piece));
        String::from_utf8_lossy(&measured.ready).into_owned()
    }

    #[test]
    fn a_message_of_too_many_values_is_cut_and_the_next_one_is_whole() {
        let prose = format!("{{\"a\":\"{}\"}}\n", "one, [two], {three} \\\" and so on, ".repeat(20_000));
        assert_eq!(through(&prose), prose, "text has as many commas as it likes");
        let next = "{\"b\":[1,2]}\n";
        let long = format!("{{\"a\":[{}0]}}\n{next}", "0,".repeat(2 * MOST_VALUES));
        let passed = through(&long);
        assert!(passed.ends_with(&format!("\n{{}}\n{next}")), "{}", &passed[passed.len() - 40..]);
        assert!(passed.len() < 2 * MOST_VALUES + 100);
    }
}
