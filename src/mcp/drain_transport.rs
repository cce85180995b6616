//! A transport that reports the end of input only once every request has been answered, and that reads no further while too
//! many of them wait.
//!
//! rmcp gives calls in flight five seconds from the end of input and then closes. Calls are done one after the other
//! and each waits for the disk, so a client that pipes in many of them would lose the answers to most.

use std::collections::HashSet;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use super::backpressure::{Load, MOST_OPEN};

pub(super) struct DrainTransport<T> {
    inner: T,
    /// Requests that have not been answered.
    open: HashSet<RequestId>,
    load: Arc<Load>,
    /// Whether the last message takes much memory.
    heavy: bool,
}

impl<T> DrainTransport<T> {
    pub(super) fn new(inner: T, load: Arc<Load>) -> Self {
        Self { inner, open: HashSet::new(), load, heavy: false }
    }

    /// Whether something must be finished before more is read.
    fn is_busy(&self) -> bool {
        // An answer that the client does not take stays in memory.
        let unfinished = self.open.len().max(self.load.working()) + self.load.writing();
        unfinished >= MOST_OPEN || self.heavy && unfinished > 0
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for DrainTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        match &message {
            JsonRpcMessage::Response(response) => self.open.remove(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref().is_some_and(|id| self.open.remove(id)),
            _ => false,
        };
        let (writing, sent) = (self.load.write(), self.inner.send(message));
        async move {
            let sent = sent.await;
            drop(writing);
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // Let requests that were already read begin before reading more.
        tokio::task::yield_now().await;
        // rmcp also drops this future and asks again when a request is answered.
        while self.is_busy() {
            self.load.eased().await;
        }
        let message = self.inner.receive().await;
        self.heavy = self.load.was_heavy();
        match &message {
            Some(JsonRpcMessage::Request(request)) => {
                self.open.insert(request.id.clone());
            }
            // A call that is cancelled is not answered.
            Some(JsonRpcMessage::Notification(notification)) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.open.remove(id);
                }
            }
            // Sending an answer drops this future, and the end is read once more.
            None if !self.open.is_empty() => std::future::pending().await,
            _ => {}
        }
        message
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use std::convert::Infallible;

    use serde_json::json;

    use super::*;

    /// A client that asks without end and never takes an answer.
    struct Greedy(i64);

    impl Transport<RoleServer> for Greedy {
        type Error = Infallible;

        fn send(
            &mut self,
            _: TxJsonRpcMessage<RoleServer>,
        ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
            std::future::pending()
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
            self.0 += 1;
            Some(serde_json::from_value(json!({"jsonrpc": "2.0", "id": self.0, "method": "ping"})).unwrap())
        }

        async fn close(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    /// What is read now; `None` if the transport waits for something.
    async fn read(transport: &mut DrainTransport<Greedy>) -> Option<RxJsonRpcMessage<RoleServer>> {
        tokio::select! {
            biased;
            message = transport.receive() => message,
            () = async { for _ in 0..8 { tokio::task::yield_now().await; } } => None,
        }
    }

    #[test]
    fn nothing_is_read_while_a_client_takes_no_answer() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut transport = DrainTransport::new(Greedy(0), Arc::new(Load::default()));
            let mut answers = Vec::new();
            for id in 1..=MOST_OPEN {
                assert!(read(&mut transport).await.is_some(), "{id}");
                let answer = json!({"jsonrpc": "2.0", "id": id, "result": {}});
                answers.push(transport.send(serde_json::from_value(answer).unwrap()));
            }
            assert!(read(&mut transport).await.is_none(), "no answer was taken");
            answers.pop();
            assert!(read(&mut transport).await.is_some(), "one was");
            assert!(read(&mut transport).await.is_none(), "and no other");
        });
    }
}
