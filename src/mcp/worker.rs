//! The worker: one thread with one connection to the store. It makes calls in the order in which they came, so records
//! that are sent together are chained in the order they were sent.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

use tokio::sync::oneshot;

use crate::access::identity;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::record::Workspace;

/// Most bytes of entries that are read for one answer. An answer that is any larger is refused anyway.
const MAX_READ: usize = 8 << 20;

type Job = Box<dyn FnOnce(&mut WorkerState) + Send>;

/// A handle of the worker, which takes calls.
#[derive(Debug, Clone)]
pub(super) struct Worker {
    jobs: Sender<Job>,
}

/// The thread is gone, because a bug ended it.
#[derive(Debug)]
pub(super) struct Closed;

impl Worker {
    /// Starts the thread. It ends when the last handle is dropped and all work is done.
    pub(super) fn start(context: Context) -> io::Result<(Self, JoinHandle<()>)> {
        let (jobs, inbox) = channel::<Job>();
        let thread = Builder::new().name("worker".to_owned()).spawn(move || {
            let mut state = WorkerState { context, workspace: None, file: None };
            for job in inbox {
                job(&mut state);
            }
        })?;
        Ok((Self { jobs }, thread))
    }

    /// Queues work for the thread at once; the future waits for its answer.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut WorkerState) -> T + Send + 'static,
    ) -> impl Future<Output = Result<T, Closed>> + Send + 'static {
        let (answer, answered) = oneshot::channel();
        let job = Box::new(move |state: &mut WorkerState| {
            let _ = answer.send(work(state)); // the receiver may be gone: a cancelled call is finished all the same
        });
        let handed_in = self.jobs.send(job).map_err(|_| Closed);
        async move {
            handed_in?;
            answered.await.map_err(|_| Closed)
        }
    }
}

/// The state that the thread keeps between calls.
#[derive(Debug)]
pub(super) struct WorkerState {
    pub(super) context: Context,
    workspace: Option<Workspace>,
    /// Identity of the open file. A deleted file can still be written to, but nobody would ever read it.
    file: Option<(u64, u64)>,
}

impl WorkerState {
    /// The repository with its store, which is opened on first use, and again if its file was replaced.
    pub(super) fn workspace(&mut self, create: bool) -> Result<&mut Workspace> {
        if self.workspace.as_ref().is_some_and(|workspace| file(&workspace.repository.store_path()) != self.file) {
            self.workspace = None;
        }
        if self.workspace.is_none() {
            let context = self.context.clone();
            let opened = if create { Workspace::open_or_create(context) } else { Workspace::open(context) };
            let workspace = self.workspace.insert(opened?);
            workspace.answers_at_most(MAX_READ);
            self.file = file(&workspace.repository.store_path());
        }
        self.workspace.as_mut().ok_or_else(|| Error::new(Code::NoStore, "the store is gone"))
    }
}

fn file(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|found| identity(&found))
}
