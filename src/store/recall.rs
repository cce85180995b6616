//! Where decisions are found again: which record corrects which entry, and of which files an agent was told. Nothing here is
//! trusted; what it leads to is verified.

use super::agent::AgentKey;
use super::{Store, damaged};
use crate::error::Result;
use crate::proof::digest::ContentHash;
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;

impl Store {
    /// Whether any record corrects an entry.
    pub fn has_corrections(&self) -> Result<bool> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM corrections)")?;
            Ok(statement.query_row([], |row| row.get(0))?)
        })
    }

    /// The records that correct an entry, each with its session, in order of recording.
    pub fn corrections(&self, superseded: &ContentHash) -> Result<Vec<(Id, Id)>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, session_id FROM corrections JOIN thought_records ON id = record_id \
                 WHERE superseded = ?1 ORDER BY seq",
            )?;
            let mut rows = statement.query([superseded.to_string()])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let id = |text: String| Id::parse(&text).ok_or_else(|| damaged("an id"));
                found.push((id(row.get(0)?)?, id(row.get(1)?)?));
            }
            Ok(found)
        })
    }

    /// Whether an agent has been told of a file in its session.
    pub fn was_recalled(&self, key: AgentKey<'_>, path: &str) -> Result<bool> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM agent_recalled WHERE agent = ?1 AND agent_session = ?2 AND path = ?3)",
            )?;
            Ok(statement.query_row((key.agent, key.session, path), |row| row.get(0))?)
        })
    }

    /// Says that an agent has been told of a file; `false` if it had been before.
    pub fn recall_once(&mut self, key: AgentKey<'_>, path: &str) -> Result<bool> {
        self.unflushed(|transaction| {
            let told = transaction
                .prepare_cached(
                    "INSERT INTO agent_recalled (agent, agent_session, path) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                )?
                .execute((key.agent, key.session, path))?;
            Ok(told == 1)
        })
    }

    /// Whether a session recorded that a file was written, at this time or later.
    pub fn has_written_since(&self, session: &Id, since: Timestamp) -> Result<bool> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM thought_records WHERE session_id = ?1 AND timestamp >= ?2 \
                 AND type = 'attest' AND content LIKE '{\"observed\":{\"wrote\"%')",
            )?;
            Ok(statement.query_row((session.as_str(), since.as_str()), |row| row.get(0))?)
        })
    }
}
