//! Work that only one process of a clone does at a time. The lock is gone with the process that holds it.

use std::fs::{File, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::workspace::Workspace;
use crate::access::Access;
use crate::error::{Code, Error, Result};

/// Waits until no other process holds the lock of this name. `busy` says what it would be doing.
pub(crate) fn lock(workspace: &Workspace, name: &str, busy: &str) -> Result<File> {
    let store = workspace.repository.store_path();
    let path = store.with_file_name(name);
    let failed = |error: std::io::Error| {
        Error::new(Code::StoreFailed, format!("cannot open {}", path.display()))
            .because(error)
            .hint("check who owns the .git/proof directory, and that the disk is writable and has room")
    };
    let opened = Access::beside(&store).open(&path, File::options().create(true).truncate(false).write(true));
    let file = opened.map_err(failed)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) if begun.elapsed() > workspace.context.patience() => {
                return Err(Error::new(Code::StoreBusy, format!("another process is {busy}"))
                    .hint("wait for it to finish and try again; nothing was changed"));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(2)),
        }
    }
}
