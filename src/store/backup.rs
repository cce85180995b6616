//! Copies of a store: one file that needs no other beside it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::{Store, beside, failure};
use crate::error::{Code, Error, Result};

/// A store that is there for a while, with the files that SQLite keeps beside it. It is removed when this is dropped.
#[derive(Debug)]
pub struct PassingStore {
    pub path: PathBuf,
}

impl PassingStore {
    pub fn remove(&self) {
        for end in ["", "-wal", "-shm", "-journal"] {
            let _ = fs::remove_file(beside(&self.path, end)); // most of them are not there
        }
    }
}

impl Drop for PassingStore {
    fn drop(&mut self) {
        self.remove();
    }
}

impl Store {
    /// Copies the store as it is at one moment, its log included, into an empty file. Others can record meanwhile: a reader
    /// holds up no writer.
    pub fn copy_to(&self, path: &Path, patience: Duration) -> Result<()> {
        let failed = |error| failure(path, error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut copy = Connection::open_with_flags(path, flags).map_err(failed)?;
        // The store is checked and copied in one transaction: nothing is copied that was added in between.
        self.read(|_| {
            let backup = Backup::new(&self.connection, &mut copy)?;
            let deadline = Instant::now() + patience;
            loop {
                match backup.step(-1)? {
                    StepResult::Done => return Ok(()),
                    _ if Instant::now() >= deadline => {
                        return Err(Error::new(Code::StoreBusy, "the store could not be copied: it is in use")
                            .hint("wait for the other process to finish and try again")
                            .into());
                    }
                    _ => std::thread::sleep(Duration::from_millis(5)),
                }
            }
        })?;
        copy.close().map_err(|(_, error)| failed(error))
    }

    /// Folds the log into the file and gives up the log for good, so that the file can be copied and read on its own.
    pub fn close_as_one_file(self) -> Result<()> {
        let mode =
            self.connection.pragma_update_and_check(None, "journal_mode", "delete", |row| row.get::<_, String>(0));
        match mode {
            Ok(mode) if mode == "delete" => Ok(()),
            Ok(mode) => Err(Error::new(Code::StoreFailed, format!("{} stays in mode {mode}", self.path.display()))
                .hint("another process has the file open; try again")),
            Err(error) => Err(failure(&self.path, error)),
        }
    }

    /// Number of sessions and of entries.
    pub fn size(&self) -> Result<(u64, u64)> {
        let sessions = self.value("SELECT count(*) FROM audit_sessions", [])?;
        Ok((sessions, self.value("SELECT count(*) FROM thought_records", [])?))
    }
}
