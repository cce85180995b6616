//! Private entries that a person has decided to publish after all. The entries stay as they are: only their lines in the
//! evidence become readable.

use std::collections::HashSet;

use super::Store;
use super::query::Query as _;
use crate::error::Result;
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;

impl Store {
    /// Remembers that entries are to be published.
    pub fn disclose(&mut self, records: &[Id], at: Timestamp) -> Result<()> {
        self.write(|transaction| {
            let sql = "INSERT INTO disclosed (record_id, at) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
            for record in records {
                transaction.run(sql, (record.as_str(), at.as_str()))?;
            }
            Ok(())
        })
    }

    /// The entries of a session that were disclosed.
    pub fn disclosed(&self, session: &Id) -> Result<HashSet<String>> {
        let sql = "SELECT id FROM thought_records JOIN disclosed ON record_id = id WHERE session_id = ?1";
        Ok(self.all(sql, [session.as_str()], |row| Ok(row.get(0)?))?.into_iter().collect())
    }
}
