//! Says on standard error how far a long task has come, once it has taken a second.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Milliseconds between two messages on a terminal, where each replaces the one before.
const ON_TERMINAL: u64 = 1000;
/// The same where each is a line of its own, as in the log of a server.
const IN_LOG: u64 = 10_000;

static STARTED: OnceLock<Instant> = OnceLock::new();
/// When the next message is due, in milliseconds since the start.
static NEXT: AtomicU64 = AtomicU64::new(1000);

/// Tells a person at a terminal how many commits have been judged.
pub(super) fn on_terminal(judged: usize, all: usize) {
    if io::stderr().is_terminal() {
        anywhere(judged, all);
    }
}

/// The same, also where standard error is no terminal: the output of a hook may pass through a server.
pub(super) fn anywhere(judged: usize, all: usize) {
    let now = u64::try_from(STARTED.get_or_init(Instant::now).elapsed().as_millis()).unwrap_or(u64::MAX);
    let due = NEXT.load(Relaxed);
    let terminal = io::stderr().is_terminal();
    let pause = if terminal { ON_TERMINAL } else { IN_LOG };
    // Two threads judge; one of them speaks.
    let speaks = now >= due && NEXT.compare_exchange(due, now + pause, Relaxed, Relaxed).is_ok();
    let said = |due: u64| due > 1000;
    let text = match (terminal, judged >= all) {
        (true, true) if said(NEXT.load(Relaxed)) => "\r\u{1b}[K".to_owned(),
        (_, true) => return,
        _ if !speaks => return,
        (true, false) => format!("\r\u{1b}[Kgit proof: judged {judged} of {all} commits"),
        (false, false) => format!("git proof: judged {judged} of {all} commits\n"),
    };
    let _ = io::stderr().lock().write_all(text.as_bytes()); // only talk
}
