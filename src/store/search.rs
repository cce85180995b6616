//! Full-text search over what was recorded.

use rusqlite::{Connection, OptionalExtension as _};

use super::read::{self, StoredEntry};
use super::{Failure, Store};
use crate::error::Result;
use crate::proof::record::Id;

/// An entry that matches, and how well: smaller is better, as BM25 has it in SQLite.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The entry.
    pub entry: StoredEntry,
    /// Its rank.
    pub rank: f64,
}

impl Store {
    /// Finds entries, best first. The query is FTS5's; one that is not is taken as plain words.
    pub fn search(&mut self, query: &str, session: Option<&Id>, limit: u32) -> Result<Vec<Hit>> {
        self.take_up_entries()?;
        self.read(|connection| match hits(connection, query, session, limit) {
            Err(Failure::Sqlite(error)) if is_syntax(&error) => hits(connection, &as_words(query), session, limit),
            answer => answer,
        })
    }
}

impl Store {
    /// Puts into the index what was recorded since the last batch.
    fn take_up_entries(&mut self) -> Result<()> {
        const PENDING: &str = "SELECT coalesce(max(seq), 0) > (SELECT upto FROM search_state) FROM thought_records";
        if !self.read(|connection| Ok(connection.query_row(PENDING, [], |row| row.get(0))?))? {
            return Ok(());
        }
        let before = self.connection.total_changes();
        self.write(|transaction| {
            Ok(transaction.execute_batch(
                "INSERT INTO thought_records_fts (rowid, content, metadata) \
                 SELECT seq, content, metadata FROM thought_records \
                 WHERE seq > (SELECT upto FROM search_state) AND line IS NOT NULL ORDER BY seq; \
                 UPDATE search_state SET upto = (SELECT max(seq) FROM thought_records);",
            )?)
        })?;
        self.upkeep += self.connection.total_changes() - before;
        Ok(())
    }
}

fn hits(connection: &Connection, query: &str, session: Option<&Id>, limit: u32) -> Result<Vec<Hit>, Failure> {
    let columns: Vec<String> = read::COLUMNS.split(", ").map(|column| format!("r.{column}")).collect();
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {}, f.rank FROM thought_records_fts f JOIN thought_records r ON r.seq = f.rowid \
         WHERE thought_records_fts MATCH ?1 AND f.rowid BETWEEN ?4 AND ?5 AND (?2 IS NULL OR r.session_id = ?2) \
         ORDER BY f.rank, r.seq LIMIT ?3",
        columns.join(", ")
    ))?;
    let (first, last) = match session {
        Some(session) => span(connection, session)?,
        None => (0, i64::MAX),
    };
    let mut rows = statement.query((query, session.map(Id::as_str), limit, first, last))?;
    let mut hits = Vec::new();
    while let Some(row) = rows.next()? {
        hits.push(Hit { entry: StoredEntry::read(row)?, rank: row.get(columns.len())? });
    }
    Ok(hits)
}

/// The numbers between which the entries of a session lie: what else the store holds is not looked at.
fn span(connection: &Connection, session: &Id) -> Result<(i64, i64), Failure> {
    let end = |direction: &str| {
        connection
            .prepare_cached(&format!(
                "SELECT seq FROM thought_records WHERE session_id = ?1 ORDER BY position {direction} LIMIT 1"
            ))?
            .query_row([session.as_str()], |row| row.get(0))
            .optional()
    };
    Ok((end("ASC")?.unwrap_or(0), end("DESC")?.unwrap_or(0)))
}

/// What FTS5 says of a query that it cannot read is a plain error: only a bad query gets that far.
fn is_syntax(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::SqliteFailure(failure, _) if failure.extended_code == 1)
        || matches!(error, rusqlite::Error::SqlInputError { .. })
}

/// Every word as it is, all of them wanted.
fn as_words(query: &str) -> String {
    let words: Vec<String> =
        query.split_whitespace().map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
    words.join(" ")
}
