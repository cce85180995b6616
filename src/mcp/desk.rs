//! The desk: one thread with one connection to the store. Calls are done in the order in which they came, so records
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

type Job = Box<dyn FnOnce(&mut Drawer) + Send>;

/// Where calls are handed in.
#[derive(Debug, Clone)]
pub(super) struct Desk {
    jobs: Sender<Job>,
}

/// The thread is gone: a bug ended it.
#[derive(Debug)]
pub(super) struct Closed;

impl Desk {
    /// Starts the thread. It ends when the last handle of the desk is dropped and all work is done.
    pub(super) fn open(context: Context) -> io::Result<(Self, JoinHandle<()>)> {
        let (jobs, inbox) = channel::<Job>();
        let worker = Builder::new().name("desk".to_owned()).spawn(move || {
            let mut drawer = Drawer { context, workspace: None, file: None };
            for job in inbox {
                job(&mut drawer);
            }
        })?;
        Ok((Self { jobs }, worker))
    }

    /// Has something done. It is handed in at once; the future waits for the answer.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Drawer) -> T + Send + 'static,
    ) -> impl Future<Output = Result<T, Closed>> + Send + 'static {
        let (answer, answered) = oneshot::channel();
        let job = Box::new(move |drawer: &mut Drawer| {
            let _ = answer.send(work(drawer)); // nobody may be waiting any more; what is done is done
        });
        let handed_in = self.jobs.send(job).map_err(|_| Closed);
        async move {
            handed_in?;
            answered.await.map_err(|_| Closed)
        }
    }
}

/// What the thread keeps between calls.
#[derive(Debug)]
pub(super) struct Drawer {
    pub(super) context: Context,
    workspace: Option<Workspace>,
    /// Which file is open. One that was deleted can still be written to, and nobody would ever read it.
    file: Option<(u64, u64)>,
}

impl Drawer {
    /// The repository and its store. It is opened when it is first there, and again should it have been replaced.
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
