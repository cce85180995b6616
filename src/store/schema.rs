//! The store's schema and how it came about: one SQL file a step, never edited once released.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::TransactionBehavior;

use super::{Store, failure};
use crate::error::{Code, Error, Result};

/// Every step from an empty file to the present schema. `user_version` counts the steps taken.
pub const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001_store.sql"),
    include_str!("../../migrations/0002_agents.sql"),
    include_str!("../../migrations/0003_search.sql"),
    include_str!("../../migrations/0004_anchors.sql"),
    include_str!("../../migrations/0005_rounds.sql"),
    include_str!("../../migrations/0006_nodes.sql"),
];

impl Store {
    /// Brings the schema up to date, whoever else may be doing the same.
    pub(super) fn migrate(&mut self, patience: Duration) -> Result<()> {
        if self.version()? == MIGRATIONS.len() {
            return Ok(());
        }
        self.use_write_ahead_log(patience)?;
        let path = self.path.clone();
        let mut run = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done: usize = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            for step in MIGRATIONS.iter().skip(done) {
                transaction.execute_batch(step)?;
            }
            transaction.pragma_update(None, "user_version", MIGRATIONS.len())?;
            transaction.commit()
        };
        run().map_err(|error| failure(&path, error))
    }

    /// Steps taken so far. A store from a later version of the program is refused: its rules are not known here.
    fn version(&self) -> Result<usize> {
        let version: i64 = self
            .connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(|error| failure(&self.path, error))?;
        usize::try_from(version).ok().filter(|version| *version <= MIGRATIONS.len()).ok_or_else(|| {
            Error::new(
                Code::StoreTooNew,
                format!(
                    "the store was written by a later git-proof (schema {version}, this one knows {})",
                    MIGRATIONS.len()
                ),
            )
            .hint("upgrade git-proof")
        })
    }

    /// The switch needs the file to itself and does not wait for it by its own.
    fn use_write_ahead_log(&self, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        loop {
            match self.connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0)) {
                Ok(mode) if mode == "wal" => return Ok(()),
                Ok(mode) => {
                    return Err(Error::new(
                        Code::StoreFailed,
                        format!(
                            "{} cannot be kept with a write-ahead log, but only as \"{mode}\"",
                            self.path.display()
                        ),
                    )
                    .hint("keep the repository on a local disk: network file systems do not share memory"));
                }
                Err(error) if Instant::now() >= deadline => return Err(failure(&self.path, error)),
                Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(error) => return Err(failure(&self.path, error)),
            }
        }
    }
}

/// Makes the directory of a new store, and makes that durable: SQLite does so only for the files in it.
pub(super) fn make_directory(path: &Path) -> Result<()> {
    let Some(directory) = path.parent() else { return Ok(()) };
    let make = || {
        fs::create_dir_all(directory)?;
        match directory.parent() {
            Some(parent) => File::open(parent)?.sync_all(),
            None => Ok(()),
        }
    };
    make().map_err(|error| {
        Error::new(Code::StoreFailed, format!("cannot make {}", directory.display()))
            .because(error)
            .hint("check who owns the .git directory and that the disk has room")
    })
}
