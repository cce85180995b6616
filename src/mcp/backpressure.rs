//! Keeps a client from filling the server's memory: one that sends more than is answered, or that does not read its answers.
//! Reading stops until the rest is done; the pipe then makes the client wait. What one message may take: `lines.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tokio::sync::{Mutex, MutexGuard, Notify};

/// Most requests that are read and whose answers the client has not taken yet.
pub(super) const MOST_OPEN: usize = 64;
/// A request that takes more memory than this is finished before the next one is read.
const HEAVY: usize = 512 << 10;

/// How much the server has to do.
#[derive(Debug, Default)]
pub(super) struct Load {
    /// Calls that are not finished, answered or not.
    working: AtomicUsize,
    /// Messages to the client that are being written.
    writing: AtomicUsize,
    written: Notify,
    /// Something was finished or written, for the one who reads.
    eased: Notify,
    /// Memory that the message takes that was read last.
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
        self.load.eased.notify_one();
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

    /// Messages that the client has not taken.
    pub(super) fn writing(&self) -> usize {
        self.writing.load(Relaxed)
    }

    /// Waits until a call is finished or a message is written.
    pub(super) async fn eased(&self) {
        self.eased.notified().await;
    }

    /// Notes how much memory a message takes that has been read.
    pub(super) fn weigh(&self, weight: usize) {
        self.weight.store(weight, Relaxed);
    }

    /// Whether the message that was read last takes much memory.
    pub(super) fn was_heavy(&self) -> bool {
        self.weight.load(Relaxed) > HEAVY
    }
}
