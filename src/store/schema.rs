//! The store's schema and how it came about: one SQL file a step, never edited once released.
//!
//! A trigger that someone adds to the file runs inside our transactions and can change what is recorded or who may read
//! it. So a store whose schema is not exactly what the steps make is refused.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, TransactionBehavior};

use super::{Failure, Store, beside, failure};
use crate::access::{Access, Sharing};
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::digest::{ContentHash, sha256};
use crate::store::query::Query as _;

/// Every step from an empty file to the present schema. `user_version` counts the steps taken.
pub const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001_store.sql"),
    include_str!("../../migrations/0002_agents.sql"),
    include_str!("../../migrations/0003_search.sql"),
    include_str!("../../migrations/0004_anchors.sql"),
    include_str!("../../migrations/0005_rounds.sql"),
    include_str!("../../migrations/0006_nodes.sql"),
    include_str!("../../migrations/0007_salts.sql"),
    include_str!("../../migrations/0008_capture.sql"),
    include_str!("../../migrations/0009_recall.sql"),
    include_str!("../../migrations/0010_whole_index.sql"),
];

/// SHA-256 of the schema that the steps make, as [`digest`] computes it. A test computes it from the steps.
const SCHEMA: &str = "5f1ce04d081eccc27c716f9b21e6e35e22c4365f47e1829114600b17a281efae";

impl Store {
    /// Brings the schema up to date, whoever else may be doing the same.
    pub(super) fn migrate(&mut self, patience: Duration) -> Result<()> {
        if self.version()? == MIGRATIONS.len() {
            return self.read(|_| Ok(()));
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
            require_schema(&transaction, &path)?;
            Ok(transaction.commit()?)
        };
        run().map_err(|error: Failure| error.explain(&path))
    }

    /// Requires that the schema is ours. SQLite counts the changes of a schema, so one that was checked is not read again.
    pub(super) fn check_schema(&self, connection: &Connection) -> Result<(), Failure> {
        let version = connection.value("PRAGMA schema_version", [])?;
        if self.schema.get() != Some(version) {
            require_schema(connection, &self.path)?;
            self.schema.set(Some(version));
        }
        Ok(())
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

/// Refuses a store in which something was added, changed or removed.
fn require_schema(connection: &Connection, path: &Path) -> Result<(), Failure> {
    if digest(connection)? == SCHEMA {
        return Ok(());
    }
    let path = path.display();
    let message = format!("{path} is not as git-proof made it: {}", difference(connection)?);
    Err(Failure::Refused(Error::new(Code::StoreFailed, message).hint(
        "restore .git/proof/store.db from a backup, or move it away and start anew; anchored sessions can be verified \
         from git alone",
    )))
}

/// SHA-256 over everything in a schema. The order of its rows is not part of it: `VACUUM` changes that.
fn digest(connection: &Connection) -> rusqlite::Result<String> {
    let mut objects = objects(connection)?;
    objects.sort_unstable();
    Ok(ContentHash::new(sha256(&objects.concat())).to_string())
}

/// The rows of a schema: type, name, table and definition, each preceded by its length. The tables in which FTS5 keeps its
/// index are defined by SQLite, and another version of it may quote or space these definitions in another way.
fn objects(connection: &Connection) -> rusqlite::Result<Vec<Vec<u8>>> {
    let mut statement = connection.prepare("SELECT type, name, tbl_name, sql FROM main.sqlite_schema")?;
    let mut rows = statement.query([])?;
    let mut objects = Vec::with_capacity(64);
    while let Some(row) = rows.next()? {
        let mut object = Vec::with_capacity(512);
        let is_shadow = text(row.get_ref(1)?).starts_with(b"thought_records_fts_");
        for column in 0..4 {
            let text = text(row.get_ref(column)?);
            if is_shadow && column == 3 {
                object.extend(text.iter().filter(|byte| !b" \t\r\n'\"`[]".contains(byte)).map(u8::to_ascii_lowercase));
            } else {
                object.extend_from_slice(&text.len().to_le_bytes());
                object.extend_from_slice(text);
            }
        }
        objects.push(object);
    }
    Ok(objects)
}

fn text(value: ValueRef<'_>) -> &[u8] {
    match value {
        ValueRef::Text(text) | ValueRef::Blob(text) => text,
        _ => b"",
    }
}

/// Names one thing in which a schema differs from ours.
fn difference(connection: &Connection) -> Result<String, Failure> {
    let ours = Connection::open_in_memory()?;
    MIGRATIONS.iter().try_for_each(|step| ours.execute_batch(step))?;
    let names = |connection: &Connection| -> rusqlite::Result<BTreeMap<(String, String), Vec<u8>>> {
        let mut statement = connection.prepare("SELECT type, name FROM main.sqlite_schema")?;
        let names = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        names.zip(objects(connection)?).map(|(name, object)| Ok((name?, object))).collect()
    };
    let (theirs, ours) = (names(connection)?, names(&ours)?);
    let added = theirs.keys().find(|name| !ours.contains_key(name)).map(|name| (name, "was added"));
    let missing = || ours.keys().find(|name| !theirs.contains_key(name)).map(|name| (name, "is missing"));
    let changed = || ours.keys().find(|name| theirs[*name] != ours[*name]).map(|name| (name, "was changed"));
    Ok(match added.or_else(missing).or_else(changed) {
        Some(((kind, name), what)) => format!("the {kind} {name:?} {what}"),
        None => "two things in it have the same name".to_owned(),
    })
}

/// Makes the directory of a new store and an empty file for SQLite, which gives the files that it makes beside the store
/// the same mode. The directory is made durable: SQLite does so only for the files in it.
pub(super) fn prepare(path: &Path, sharing: Sharing) -> Result<()> {
    let Some(directory) = path.parent() else { return Ok(()) };
    let parent = directory.parent().unwrap_or(directory);
    let access = Access::new(sharing, parent);
    let make = || {
        match access.make_directory(directory) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && directory.is_dir() => {}
            other => other?,
        }
        access.open(path, OpenOptions::new().append(true).create(true))?;
        File::open(parent)?.sync_all()
    };
    make().map_err(|error| {
        Error::new(Code::StoreFailed, format!("cannot make {}", directory.display()))
            .because(error)
            .hint("check who owns the .git directory and that the disk has room")
    })
}

/// Refuses a store behind a link: whoever made the link decides which file is read and written, and who may read it.
pub(super) fn refuse_links(path: &Path) -> Result<()> {
    let paths = [path.parent().map(Path::to_owned), Some(path.to_owned())];
    let paths = paths.into_iter().chain(["-wal", "-shm"].map(|end| Some(beside(path, end))));
    let link = paths.flatten().find(|path| fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()));
    let Some(link) = link else { return Ok(()) };
    let target = link.parent().unwrap_or(&link).join(fs::read_link(&link).unwrap_or_default());
    let (link, target) = (link.display().to_string(), target.display().to_string());
    Err(Error::new(Code::StoreFailed, format!("{link} is a link, and git-proof does not follow it"))
        .hint(hint!("put what it leads to in its place: ", Step::ReplaceLink(link, target))))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use super::*;

    #[test]
    fn digest_is_that_of_the_steps() {
        let connection = Connection::open_in_memory().unwrap();
        for step in MIGRATIONS {
            connection.execute_batch(step).unwrap();
        }
        assert_eq!(digest(&connection).unwrap(), SCHEMA);
    }
}
