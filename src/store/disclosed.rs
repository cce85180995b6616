//! Private entries that a person has decided to publish after all. The entries stay as they are: only their lines in the
//! evidence become readable.

use std::collections::HashSet;

use super::Store;
use crate::error::Result;
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;

impl Store {
    /// Remembers that entries are to be published.
    pub fn disclose(&mut self, records: &[Id], at: Timestamp) -> Result<()> {
        self.write(|transaction| {
            let mut statement = transaction
                .prepare_cached("INSERT INTO disclosed (record_id, at) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
            for record in records {
                statement.execute((record.as_str(), at.as_str()))?;
            }
            Ok(())
        })
    }

    /// The entries of a session that were disclosed.
    pub fn disclosed(&self, session: &Id) -> Result<HashSet<String>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id FROM thought_records JOIN disclosed ON record_id = id WHERE session_id = ?1",
            )?;
            let ids = statement.query_map([session.as_str()], |row| row.get(0))?;
            Ok(ids.collect::<rusqlite::Result<_>>()?)
        })
    }
}
