//! Full-text search over what was recorded.

use rusqlite::Connection;

use super::read::{self, StoredEntry};
use super::{Failure, Store};
use crate::error::Result;
use crate::proof::record::Id;
use crate::store::query::Query as _;

/// An entry that matches, and how well: smaller is better, as BM25 has it in SQLite.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub entry: StoredEntry,
    pub rank: f64,
}

/// The index that the store keeps, and the one that is made for entries that it lacks.
const KEPT: &str = "main.thought_records_fts";
const MADE: &str = "temp.unindexed_fts";

/// Entries that the index lacks.
const PENDING: &str = "seq > (SELECT upto FROM search_state) AND line IS NOT NULL";

impl Store {
    /// Finds entries, best first. The query is FTS5's; one that is not is taken as plain words.
    pub fn search(&mut self, query: &str, session: Option<&Id>, limit: u32) -> Result<Vec<Hit>> {
        if !self.is_read_only() {
            self.take_up_entries()?;
        }
        self.find(query, session, limit)
    }

    /// The same without writing to the store: entries that its index lacks, fewer than a batch, are indexed in memory.
    pub fn find(&self, query: &str, session: Option<&Id>, limit: u32) -> Result<Vec<Hit>> {
        self.read(|connection| {
            let hits = |index: &str| match hits(connection, index, query, session, limit) {
                Err(Failure::Sqlite(error)) if is_syntax(&error) => {
                    hits(connection, index, &as_words(query), session, limit)
                }
                answer => answer,
            };
            let mut found = hits(KEPT)?;
            if index_the_rest(connection)? {
                found.extend(hits(MADE)?);
                connection.execute_batch(&format!("DROP TABLE {MADE}"))?;
                found.sort_by(|one, other| one.rank.total_cmp(&other.rank));
                found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            }
            Ok(found)
        })
    }

    /// Whether nothing can be written to the store.
    pub fn is_read_only(&self) -> bool {
        self.connection.is_readonly(rusqlite::MAIN_DB).unwrap_or(false)
    }

    /// Puts into the index what was recorded since the last batch.
    pub fn take_up_entries(&mut self) -> Result<()> {
        if !self.value(&any_pending(), [])? {
            return Ok(());
        }
        let before = self.connection.total_changes();
        self.write(|transaction| {
            Ok(transaction.execute_batch(&format!(
                "INSERT INTO thought_records_fts (rowid, content, metadata) \
                 SELECT seq, content, metadata FROM thought_records WHERE {PENDING} ORDER BY seq; \
                 UPDATE search_state SET upto = (SELECT max(seq) FROM thought_records);",
            ))?)
        })?;
        self.upkeep += self.connection.total_changes() - before;
        Ok(())
    }
}

fn any_pending() -> String {
    format!("SELECT EXISTS (SELECT 1 FROM thought_records WHERE {PENDING})")
}

/// Indexes in memory what the index of the store lacks. False if it lacks nothing.
fn index_the_rest(connection: &Connection) -> Result<bool, Failure> {
    let pending = connection.value(&any_pending(), [])?;
    if pending {
        connection.execute_batch(&format!(
            "CREATE VIRTUAL TABLE {MADE} USING fts5 (content, metadata, tokenize = 'unicode61 remove_diacritics 2'); \
             INSERT INTO {MADE} (rowid, content, metadata) SELECT seq, content, metadata FROM thought_records WHERE {PENDING};"
        ))?;
    }
    Ok(pending)
}

fn hits(
    connection: &Connection,
    index: &str,
    query: &str,
    session: Option<&Id>,
    limit: u32,
) -> Result<Vec<Hit>, Failure> {
    let name = index.split_once('.').map_or(index, |(_, name)| name);
    let columns: Vec<String> = read::COLUMNS.split(", ").map(|column| format!("r.{column}")).collect();
    let sql = format!(
        "SELECT {}, f.rank FROM {index} f JOIN thought_records r ON r.seq = f.rowid \
         WHERE {name} MATCH ?1 AND f.rowid BETWEEN ?4 AND ?5 AND (?2 IS NULL OR r.session_id = ?2) \
         ORDER BY f.rank, r.seq LIMIT ?3",
        columns.join(", ")
    );
    let (first, last) = match session {
        Some(session) => span(connection, session)?,
        None => (0, i64::MAX),
    };
    connection.all(&sql, (query, session.map(Id::as_str), limit, first, last), |row| {
        Ok(Hit { entry: StoredEntry::read(row)?, rank: row.get(columns.len())? })
    })
}

/// The numbers between which the entries of a session lie: what else the store holds is not looked at.
fn span(connection: &Connection, session: &Id) -> Result<(i64, i64), Failure> {
    let end = |direction: &str| {
        let sql =
            format!("SELECT seq FROM thought_records WHERE session_id = ?1 ORDER BY position {direction} LIMIT 1");
        Ok::<_, Failure>(connection.first_value(&sql, [session.as_str()])?.unwrap_or(0))
    };
    Ok((end("ASC")?, end("DESC")?))
}

/// FTS5 reports a malformed query with the generic SQLite error code, which nothing else here causes.
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
