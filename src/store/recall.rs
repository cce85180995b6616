//! Where decisions are found again: which record corrects which entry, which commits changed a path, and of which files an agent
//! was told. Nothing here is trusted; what it leads to is verified.

use rusqlite::{OptionalExtension as _, Row};

use super::agent::AgentKey;
use super::{Store, damaged};
use crate::error::Result;
use crate::proof::digest::{CommitId, ContentHash};
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;

/// Up to where the paths of commits are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathsTip {
    /// The newest commit of the base branch that was looked at.
    pub tip: CommitId,
    /// Whether no commit before it was left out that should have been looked at.
    pub is_whole: bool,
}

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

    /// Up to where the paths of commits are known.
    pub fn paths_tip(&self) -> Result<Option<PathsTip>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT tip, is_whole FROM path_commits_tip")?;
            let row = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get(1)?));
            let found = statement.query_row([], row).optional()?;
            Ok(found.and_then(|(tip, is_whole)| Some(PathsTip { tip: CommitId::parse(&tip)?, is_whole })))
        })
    }

    /// Takes over the paths that commits changed, the newest first, up to a new tip. Where they do not continue what is known,
    /// that is forgotten.
    pub fn add_paths(&mut self, tip: PathsTip, commits: &[(CommitId, Vec<Vec<u8>>)], anew: bool) -> Result<()> {
        self.unflushed(|transaction| {
            if anew {
                transaction.execute("DELETE FROM path_commits", [])?;
                transaction.execute("DELETE FROM path_commits_tip", [])?;
            }
            let mut statement = transaction.prepare_cached("SELECT number FROM path_commits_tip")?;
            let mut number: i64 = statement.query_row([], |row| row.get(0)).optional()?.unwrap_or(0);
            let mut insert = transaction.prepare_cached(
                "INSERT INTO path_commits (path, number, commit_id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            )?;
            for (commit, paths) in commits.iter().rev() {
                number += 1;
                for path in paths {
                    insert.execute((path, number, commit.to_string()))?;
                }
            }
            transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO path_commits_tip (only_one, tip, number, is_whole) VALUES (1, ?1, ?2, ?3)",
                )?
                .execute((tip.tip.to_string(), number, tip.is_whole))?;
            Ok(())
        })
    }

    /// The newest commits that changed a path, as far as they are known.
    pub fn commits_of_path(&self, path: &[u8], most: usize) -> Result<Vec<CommitId>> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT commit_id FROM path_commits WHERE path = ?1 ORDER BY number DESC LIMIT ?2")?;
            let mut rows = statement.query((path, i64::try_from(most).unwrap_or(i64::MAX)))?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let id: String = row.get(0)?;
                found.push(CommitId::parse(&id).ok_or_else(|| damaged("the id of a commit"))?);
            }
            Ok(found)
        })
    }
}
