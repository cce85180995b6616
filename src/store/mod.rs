//! The store: SQLite in the repository's common directory, private to a clone. The only folder that names rusqlite.
//!
//! Every change is one `BEGIN IMMEDIATE` transaction on a write-ahead log that is flushed before the call returns, so
//! an acknowledged record survives `kill -9` and power loss, and two writers make one chain.

// These files need each other: the tables refer to each other, and so do the readers of their rows.

mod active;
mod agent;
mod agent_row;
mod anchor;
mod append;
mod archive;
mod backup;
mod bodies;
mod calls;
mod check;
mod commit_hint;
mod disclosed;
mod event;
mod evidence;
mod finalize;
mod held;
mod memory;
mod merge;
mod nodes;
mod query;
mod read;
mod recall;
mod rounds;
mod schema;
mod search;
mod session;
mod watch;
mod zones;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::FromSql;
use rusqlite::{Connection, ErrorCode, OpenFlags, Params, Row};

use crate::access::{Sharing, is_writable};
use crate::context::refuse_irregular;
use crate::error::{Code, Error, Result};
use crate::hint::Step;
use crate::store::query::Query as _;

pub use agent::Observation;
pub use agent_row::{AgentFacts, AgentKey, AgentRow};
pub use anchor::NewLine;
pub use append::{NewAttestation, NewEntry, NewThought};
pub use archive::{Archive, Damage, Held};
pub use backup::PassingStore;
pub use calls::{NewCall, OpenCall};
pub use check::{Break, BreakReason, ChainCheck};
pub use commit_hint::{CommitHint, read_commit_hint};
pub use event::{Event, EventSpan, NewEvent};
pub use finalize::RootRow;
pub use held::HeldItem;
pub use memory::{Note, Packed, PackedNote, Waiting};
pub use merge::Merged;
pub use read::{Log, Order, StoredEntry};
pub use recall::{ChangedPath, Extent, PathsTip};
pub use rounds::{HERE, SeenRound};
pub use schema::MIGRATIONS;
pub use search::Hit;
pub use session::{NewSession, SessionRow};
pub use watch::Watcher;
pub use zones::{Kept, StoredZone, ZoneRow};

/// A log that takes as long to read as a record takes to write: sixty pages or so.
const LONG_LOG: u64 = 256 << 10;

#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// The count of changes of the schema that was found to be ours.
    schema: Cell<Option<i64>>,
    /// Rows written for the store's own sake, which no call asked for.
    upkeep: u64,
    /// Receives the progress of long work.
    watcher: Option<Watcher>,
}

impl Store {
    /// Opens the store, making it for its owner alone if it is not there.
    pub fn open_or_create(path: &Path, patience: Duration) -> Result<Self> {
        Self::open_or_share(path, patience, || Sharing::NONE)
    }

    /// Opens the store, making it for those with whom the repository is shared if it is not there.
    pub fn open_or_share(path: &Path, patience: Duration, sharing: impl FnOnce() -> Sharing) -> Result<Self> {
        schema::refuse_links(path)?;
        if !path.exists() {
            schema::prepare(path, sharing())?;
        }
        Self::open_with(path, patience, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens the store; an error if there is none. Where nothing can be written beside it, it can still be read.
    pub fn open(path: &Path, patience: Duration) -> Result<Self> {
        schema::refuse_links(path)?;
        // If `stat` is denied, assume the store exists; opening it reports the real error.
        if matches!(path.try_exists(), Ok(false)) {
            return Err(Error::new(Code::NoStore, "nothing has been recorded in this repository yet").hint(Step::Start));
        }
        match Self::open_with(path, patience, OpenFlags::SQLITE_OPEN_READ_WRITE) {
            Err(error)
                if error.code == Code::StoreFailed && path.parent().is_some_and(|parent| !is_writable(parent)) =>
            {
                Self::open_unwritable(path, patience).map_err(|_| error)
            }
            other => other,
        }
    }

    /// Opens a store whose directory cannot be written to. SQLite insists on an index of the log (`-shm`) beside the store,
    /// so it opens such a store only if a process with more rights left that file behind. Without it nobody is writing,
    /// and locks are not needed: the file is read as it is, or together with the log that was left, whose index is then
    /// kept in memory.
    fn open_unwritable(path: &Path, patience: Duration) -> Result<Self> {
        let has_log = std::fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0);
        let name: String = path.as_os_str().as_encoded_bytes().iter().map(|byte| format!("%{byte:02x}")).collect();
        let how = if has_log { "vfs=unix-none" } else { "immutable=1" };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(format!("file:{name}?{how}"), flags);
        let connection = connection.map_err(|error| failure(path, error))?;
        if has_log {
            let exclusive = "PRAGMA locking_mode = EXCLUSIVE";
            connection.query_row(exclusive, [], |_| Ok(())).map_err(|error| failure(path, error))?;
        }
        Self::set_up(connection, path, patience)
    }

    /// `patience` is how long a call waits for another writer.
    fn open_with(path: &Path, patience: Duration, flags: OpenFlags) -> Result<Self> {
        // SQLite would wait for what is in a pipe.
        for part in ["", "-wal", "-shm", "-journal"] {
            let name = beside(path, part);
            refuse_irregular(&name).map_err(|error| {
                Error::new(Code::StoreFailed, format!("cannot open {}", name.display()))
                    .because(error)
                    .hint("something else stands where the store belongs; move it away")
            })?;
        }
        let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX);
        Self::set_up(connection.map_err(|error| failure(path, error))?, path, patience)
    }

    fn set_up(connection: Connection, path: &Path, patience: Duration) -> Result<Self> {
        let failed = |error| failure(path, error);
        connection.busy_timeout(patience).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(64);
        // A command line is one process a record: folding the log into the file each time would cost four more flushes
        // than the record itself. It is done when the log is long (`fold`), and what is in the log is as safe.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(failed)?;
        // A plan that depends on what is bound is made anew for each record, which took longer than the record's query.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(failed)?;
        connection
            .execute_batch(
                "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON; \
                 PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;",
            )
            .map_err(failed)?;
        let mut store = Self { connection, path: path.to_owned(), schema: Cell::new(None), upkeep: 0, watcher: None };
        store.migrate(patience)?;
        Ok(store)
    }

    /// From now on this one is told how far long work has come.
    pub fn watched_by(&mut self, watcher: Option<Watcher>) {
        self.watcher = watcher;
    }

    /// One transaction that holds the write lock from its beginning. Nothing of it stays if `work` fails.
    fn write<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T, Failure>) -> Result<T> {
        let run = || {
            let transaction = Transaction::begin(&self.connection, "BEGIN IMMEDIATE")?;
            self.check_schema(transaction.0)?;
            let done = work(transaction.0)?;
            transaction.0.run("COMMIT", [])?;
            Ok(done)
        };
        run().map_err(|error: Failure| error.explain(&self.path))
    }

    /// The same, but durable only with the next transaction that is flushed.
    fn unflushed<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T, Failure>) -> Result<T> {
        let flush = |store: &Self, when| {
            store.connection.pragma_update(None, "synchronous", when).map_err(|error| failure(&store.path, error))
        };
        flush(self, "NORMAL")?;
        let done = self.write(work);
        flush(self, "FULL")?;
        done
    }

    /// Folds a long log into the file and empties it.
    ///
    /// SQLite folds the log every thousand pages, which is enough while a process has the store open. But a process
    /// that is alone reads the log from its beginning and does not know how much of it has been folded: if each record
    /// is a process of its own, the log would never be started anew.
    fn fold(&self) {
        if std::fs::metadata(beside(&self.path, "-wal")).is_ok_and(|log| log.len() > LONG_LOG) {
            // Do not wait for another process: this is only housekeeping, and the next process repeats it.
            let _ = self.connection.busy_timeout(Duration::ZERO);
            let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }

    /// Runs one changing statement in a transaction of its own; the answer is how many rows it changed.
    fn run(&mut self, sql: &str, parameters: impl Params) -> Result<usize> {
        self.write(|transaction| transaction.run(sql, parameters))
    }

    /// The same, but durable only with the next transaction that is flushed.
    fn run_unflushed(&mut self, sql: &str, parameters: impl Params) -> Result<usize> {
        self.unflushed(|transaction| transaction.run(sql, parameters))
    }

    /// All rows that one question finds, each read by `read`.
    fn all<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T, Failure>,
    ) -> Result<Vec<T>> {
        self.read(|connection| connection.all(sql, parameters, read))
    }

    /// The first column of the only row that one question finds.
    fn value<T: FromSql>(&self, sql: &str, parameters: impl Params) -> Result<T> {
        self.read(|connection| connection.value(sql, parameters))
    }

    /// One transaction in which all reads see the same state.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Failure>) -> Result<T> {
        let run = || {
            let transaction = Transaction::begin(&self.connection, "BEGIN")?;
            self.check_schema(transaction.0)?;
            work(transaction.0)
        };
        run().map_err(|error: Failure| error.explain(&self.path))
    }
}

/// The path of a file that SQLite keeps beside a store.
pub(crate) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// A transaction; what is not committed is rolled back. Its statements are parsed once for all.
struct Transaction<'a>(&'a Connection);

impl<'a> Transaction<'a> {
    fn begin(connection: &'a Connection, how: &str) -> rusqlite::Result<Self> {
        connection.prepare_cached(how)?.execute([])?;
        Ok(Self(connection))
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            let _ = self.0.prepare_cached("ROLLBACK").and_then(|mut statement| statement.execute([]));
        }
    }
}

impl Store {
    /// Leaves the store open to a process that is about to end: whatever it holds is gone with it, and taking the schema apart
    /// takes a sixth of the time that opening took.
    pub fn leave(self) {
        self.fold();
        std::mem::forget(self);
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.fold();
    }
}

/// An error inside a transaction: from SQLite, or from a rule of ours.
#[derive(Debug)]
enum Failure {
    Sqlite(rusqlite::Error),
    Refused(Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::FromSqlConversionFailure(_, _, what) => damaged(&what.to_string()),
            error => Self::Sqlite(error),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// A tree in memory cannot fail; in one expression with one in the store it says so like this.
impl From<std::convert::Infallible> for Failure {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

impl Failure {
    fn explain(self, path: &Path) -> Error {
        match self {
            Self::Sqlite(error) => failure(path, error),
            Self::Refused(error) => error,
        }
    }
}

/// A row that does not say what its column should: the file was changed by something else.
fn damaged(what: &str) -> Failure {
    Failure::Refused(
        Error::new(Code::StoreFailed, format!("the store is damaged: {what}"))
            .hint("restore .git/proof/store.db from a backup; anchored sessions can be verified from git alone"),
    )
}

/// Words an error of SQLite so that it helps.
fn failure(path: &Path, error: rusqlite::Error) -> Error {
    let path = path.display();
    let code = error.sqlite_error_code();
    let (kind, message, hint) = match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            Code::StoreBusy,
            format!("another process has been writing to {path} for too long"),
            "wait for it to finish and try again; nothing was recorded",
        ),
        Some(ErrorCode::DiskFull) => (
            Code::StoreFailed,
            format!("no room left to write {path}"),
            "free some space and try again; what was recorded before is safe",
        ),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => (
            Code::StoreFailed,
            format!("cannot open {path} for writing"),
            "check who owns the .git/proof directory and its files, and that the disk is writable",
        ),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => (
            Code::StoreFailed,
            format!("{path} is damaged or not a store"),
            "move the file away or restore a backup; anchored sessions can be verified from git alone",
        ),
        _ => (
            Code::StoreFailed,
            format!("the store {path} failed"),
            "try again; if it goes on, keep a copy of .git/proof and report it",
        ),
    };
    Error::new(kind, message).because(error).hint(hint)
}
