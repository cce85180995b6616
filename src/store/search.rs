//! Full-text search over what was recorded.

use rusqlite::Connection;

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
         WHERE thought_records_fts MATCH ?1 AND (?2 IS NULL OR r.session_id = ?2) ORDER BY f.rank, r.seq LIMIT ?3",
        columns.join(", ")
    ))?;
    let mut rows = statement.query((query, session.map(Id::as_str), limit))?;
    let mut hits = Vec::new();
    while let Some(row) = rows.next()? {
        hits.push(Hit { entry: StoredEntry::read(row)?, rank: row.get(columns.len())? });
    }
    Ok(hits)
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
