//! `git proof mcp`: the same ops as tools of the Model Context Protocol, over standard input and output.
//!
//! ```text
//! stdin ─▶ strict transport ─▶ rmcp (server) ─▶ worker: one thread, one connection, calls in the order they came ─▶ ops
//!          └─ refuses lines    every call is a line of the ledger ─┘
//! ```
//!
//! Every line of input is read strictly before rmcp sees it (`strict.rs`). A request that is refused there is answered with
//! -32700 or -32600, to its id where the line shows one (`scan.rs`).
//!
//! Nothing is read while too much waits to be answered, or to be read by the client (`backpressure.rs`).
//!
//! A call that a client cancels is not answered. If it has not begun it is not done, and the ledger says so; if it has, it
//! is finished as if nothing had happened: each call is one transaction, whole or not there.

mod answer;
mod arguments;
mod backpressure;
mod call;
mod catalogue;
mod commits;
mod drain_transport;
mod keeping;
mod lines;
mod progress;
mod prompts;
mod proofs;
mod recall;
mod resources;
mod scan;
mod schema;
mod server;
mod sessions;
mod strict;
mod strict_transport;
mod thoughts;
mod tool;
mod verdicts;
mod worker;

use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::io::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use backpressure::Load;
use drain_transport::DrainTransport;
use server::Server;
use strict_transport::StrictTransport;
use worker::Worker;

/// Which tools are offered. The help of the command line shows these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Profile {
    /// The six that the sequence of a proof-grade task needs, and the two that answer with earlier decisions
    Core,
    /// All of them
    #[default]
    Full,
}

/// Serves one client over standard input and output until its input ends.
pub fn serve(context: Context, profile: Profile) -> Result<()> {
    serve_over(context, profile, stdio_pipes)
}

/// The same over any two ends, which are opened inside the runtime that reads and writes them.
pub fn serve_over<I, O>(context: Context, profile: Profile, open: impl FnOnce() -> (I, O)) -> Result<()>
where
    I: AsyncRead + Send + Unpin + 'static,
    O: AsyncWrite + Send + Unpin + 'static,
{
    let failed = |what: &str, error: &dyn std::fmt::Display| Error::new(Code::OutputFailed, what).because(error);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| failed("the server cannot start", &error))?;
    let (worker, thread) = Worker::start(context).map_err(|error| failed("the server cannot start", &error))?;
    let served = runtime.block_on(async {
        let (input, output) = open();
        let load = Arc::new(Load::default());
        let transport = StrictTransport::new(input, output, Arc::clone(&load));
        let transport = DrainTransport::new(transport, Arc::clone(&load));
        match Server::new(worker, load, profile).serve(transport).await {
            Ok(service) => match service.waiting().await {
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Ok(_) | Err(_) => Ok(()),
            },
            // A client may go at any moment, also before it has said anything.
            Err(
                ServerInitializeError::ConnectionClosed(_)
                | ServerInitializeError::TransportError { .. }
                | ServerInitializeError::Cancelled,
            ) => Ok(()),
            Err(error) => Err(Error::new(Code::InvalidParams, "the client did not begin as the protocol says")
                .because(error)
                .hint(hint!(
                    "this is for agents, whose configuration starts it: ",
                    Step::InitAgent("claude-code".into())
                ))),
        }
    });
    // Does not wait for a read of standard input that may never return. This drops the last handle of the worker, so that
    // its thread ends.
    runtime.shutdown_background();
    match thread.join() {
        Ok(()) => served,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
