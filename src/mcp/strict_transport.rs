//! The transport below rmcp: a message a line, in and out. A line that cannot be passed on is answered here, through the same
//! output, and reported on standard error.

use std::io::{self, Write as _};
use std::pin::Pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;

use super::backpressure::Load;
use super::lines::Lines;
use super::strict::{self, Refusal};

/// Most reports on standard error. A client that never reads them must not stop the server: so many fit into a pipe.
const MAX_REPORTS: u64 = 100;

type Writing = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

pub(super) struct StrictTransport<R, W> {
    lines: Lines<R>,
    /// `None` once it is closed. The lock is held for a whole line.
    output: Arc<Mutex<Option<W>>>,
    load: Arc<Load>,
    /// Answers to a refused line that are being written. rmcp drops [`Transport::receive`] whenever it has something else
    /// to do, so they are kept here until they are out.
    refusing: Option<Writing>,
    /// Lines read and lines reported.
    read: u64,
    reported: u64,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin + Send + 'static> StrictTransport<R, W> {
    pub(super) fn new(input: R, output: W, load: Arc<Load>) -> Self {
        let output = Arc::new(Mutex::new(Some(output)));
        Self { lines: Lines::new(input), output, load, refusing: None, read: 0, reported: 0 }
    }

    /// Writes whole lines, after what is being written now.
    fn write(&self, lines: Vec<u8>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move {
            let mut output = output.lock().await;
            let output = output.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            output.write_all(&lines).await?;
            output.flush().await
        }
    }

    fn report(&mut self, refusal: &Refusal) {
        self.reported += 1;
        let more = match self.reported {
            ..MAX_REPORTS => "",
            MAX_REPORTS => "; more such lines will not be reported",
            _ => return,
        };
        let report = format!("git proof mcp: line {} of the input is refused: {refusal}{more}\n", self.read);
        let _ = io::stderr().lock().write_all(report.as_bytes()); // nobody may listen
    }
}

impl<R, W> Transport<RoleServer> for StrictTransport<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let line = serde_json::to_vec(&message).map(|mut line| {
            line.push(b'\n');
            self.write(line)
        });
        async move { line?.await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(refusing) = &mut self.refusing {
                let written = refusing.await;
                self.refusing = None;
                written.ok()?; // the client is gone
            }
            let line = self.lines.next().await?;
            self.read += 1;
            self.load.weigh(line.weight);
            match strict::read(line) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refusal) => {
                    self.report(&refusal);
                    self.refusing = Some(Box::pin(self.write(refusal.answers().into_bytes())));
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.take();
        Ok(())
    }
}
