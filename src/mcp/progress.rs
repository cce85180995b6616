//! Progress: a client that asks for it, with a token, is told how far long work has come. A short call says nothing,
//! and nothing is said after the answer.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use tokio::sync::watch;

use crate::store::Watcher;

/// How long work goes on before something is said of it, and then between one word and the next.
const EVERY: Duration = Duration::from_millis(200);

/// The worker reports its progress here. Dropping it ends the reports.
pub(super) struct Reporter(watch::Sender<(u64, u64)>);

/// Receives reports and passes them on to the client. A slow client gets only the newest one.
pub(super) struct Reports {
    token: ProgressToken,
    newest: watch::Receiver<(u64, u64)>,
}

/// The two ends, where the request carries a token.
pub(super) fn asked_for(context: &RequestContext<RoleServer>) -> Option<(Reporter, Reports)> {
    let token = context.meta.get_progress_token()?;
    let (sender, newest) = watch::channel((0, 0));
    Some((Reporter(sender), Reports { token, newest }))
}

impl Reporter {
    /// Lets the store tell. The time starts to count here: a call that has to wait in the queue is not at work.
    pub(super) fn watcher(self) -> Watcher {
        let last = Cell::new(Instant::now());
        Watcher::new(move |done, total| {
            let now = Instant::now();
            if now.duration_since(last.get()) >= EVERY {
                last.set(now);
                self.0.send_replace((done, total));
            }
        })
    }
}

impl Reports {
    /// Passes on what is said until the work is done. Each word is written before the next, and all before the answer.
    pub(super) async fn pass_on(mut self, context: &RequestContext<RoleServer>) {
        while self.newest.changed().await.is_ok() {
            let (done, total) = *self.newest.borrow_and_update();
            if context.ct.is_cancelled() {
                continue; // nobody listens, but the work goes on
            }
            #[expect(clippy::cast_precision_loss, reason = "counts of entries are far below 2^53")]
            let (done, total) = (done as f64, total as f64);
            let word = ProgressNotificationParam::new(self.token.clone(), done).with_total(total);
            if context.peer.notify_progress(word).await.is_err() {
                return; // the client is gone; the answer will find out by itself
            }
        }
    }
}
