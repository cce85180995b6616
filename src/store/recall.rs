//! Indexes for finding decisions: which record corrects which entry, which commits changed a path, and which files an
//! agent was told about. Nothing here is trusted; everything that it leads to is verified.

use super::Store;
use super::agent_row::AgentKey;
use crate::error::Result;
use crate::proof::digest::{CommitId, ContentHash};
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;
use crate::store::query::Query as _;

/// Up to where the paths of commits are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathsTip {
    /// The newest commit of the base branch that was looked at.
    pub tip: CommitId,
    /// How many of the commits before it the index has.
    pub extent: Extent,
}

/// Which commits of the base branch the index of paths has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Some were left for later, and these may be newer than others that it has.
    Gap,
    /// All.
    Whole,
    /// The newest ones, and none that is older than these.
    Newest,
}

/// Newest commits of a renamed file that its new name gets.
const MOST_OF_A_FILE: i64 = 64;
/// Most rows that renames add at a time: an agent may wait, and others choose what is renamed.
const MOST_INHERITED: usize = 100_000;

/// A path that a commit changed, and the one before it where the commit renamed the file.
pub type ChangedPath = (Vec<u8>, Option<Vec<u8>>);

impl Store {
    /// Whether any record corrects an entry.
    pub fn has_corrections(&self) -> Result<bool> {
        self.value("SELECT EXISTS (SELECT 1 FROM corrections)", [])
    }

    /// The records that correct an entry, each with its session, in order of recording.
    pub fn corrections(&self, superseded: &ContentHash) -> Result<Vec<(Id, Id)>> {
        let sql = "SELECT id, session_id FROM corrections JOIN thought_records ON id = record_id \
                   WHERE superseded = ?1 ORDER BY seq";
        self.all(sql, [superseded.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Whether an agent has been told of a file in its session.
    pub fn was_recalled(&self, key: AgentKey<'_>, path: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM agent_recalled WHERE agent = ?1 AND agent_session = ?2 AND path = ?3)";
        self.value(sql, (key.agent, key.session, path))
    }

    /// Says that an agent has been told of a file; `false` if it had been before.
    pub fn recall_once(&mut self, key: AgentKey<'_>, path: &str) -> Result<bool> {
        let sql = "INSERT INTO agent_recalled (agent, agent_session, path) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        self.run_unflushed(sql, (key.agent, key.session, path)).map(|told| told == 1)
    }

    /// Whether a session recorded that a file was written, at this time or later.
    pub fn has_written_since(&self, session: &Id, since: Timestamp) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM thought_records WHERE session_id = ?1 AND timestamp >= ?2 \
                   AND type = 'attest' AND content LIKE '{\"observed\":{\"wrote\"%')";
        self.value(sql, (session.as_str(), since.as_str()))
    }

    /// Up to where the paths of commits are known.
    pub fn paths_tip(&self) -> Result<Option<PathsTip>> {
        self.read(|connection| {
            let found = connection.first("SELECT tip, is_whole FROM path_commits_tip", [], |row| {
                let tip = CommitId::parse(row.get_ref(0)?.as_str().unwrap_or_default());
                let extent = match row.get(1)? {
                    1_i64 => Extent::Whole,
                    2 => Extent::Newest,
                    _ => Extent::Gap,
                };
                Ok(tip.map(|tip| PathsTip { tip, extent }))
            })?;
            Ok(found.flatten())
        })
    }

    /// Takes over the paths that commits changed, the newest first, up to a new tip. Where they do not continue what is known,
    /// that is forgotten. The commits of a file that was renamed are those of its new name, too.
    pub fn add_paths(&mut self, tip: PathsTip, commits: &[(CommitId, Vec<ChangedPath>)], anew: bool) -> Result<()> {
        let extent = match tip.extent {
            Extent::Gap => 0,
            Extent::Whole => 1,
            Extent::Newest => 2,
        };
        self.unflushed(|transaction| {
            if anew {
                transaction.run("DELETE FROM path_commits", [])?;
                transaction.run("DELETE FROM path_commits_tip", [])?;
            }
            let mut number: i64 = transaction.first_value("SELECT number FROM path_commits_tip", [])?.unwrap_or(0);
            let mut insert = transaction.prepare_cached(
                "INSERT INTO path_commits (path, number, commit_id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            )?;
            let mut inherit = transaction.prepare_cached(
                "INSERT INTO path_commits (path, number, commit_id) SELECT ?2, number, commit_id FROM path_commits \
                 WHERE path = ?1 ORDER BY number DESC LIMIT ?3 ON CONFLICT DO NOTHING",
            )?;
            let mut inherited = 0;
            for (commit, paths) in commits.iter().rev() {
                number += 1;
                for (path, former) in paths {
                    insert.execute((path, number, commit.to_string()))?;
                    if let Some(former) = former
                        && inherited < MOST_INHERITED
                    {
                        inherited += inherit.execute((former, path, MOST_OF_A_FILE))?;
                    }
                }
            }
            transaction.run(
                "INSERT OR REPLACE INTO path_commits_tip (only_one, tip, number, is_whole) VALUES (1, ?1, ?2, ?3)",
                (tip.tip.to_string(), number, extent),
            )?;
            Ok(())
        })
    }

    /// The newest commits that changed a path, as far as they are known.
    pub fn commits_of_path(&self, path: &[u8], most: usize) -> Result<Vec<CommitId>> {
        let sql = "SELECT commit_id FROM path_commits WHERE path = ?1 ORDER BY number DESC LIMIT ?2";
        self.all(sql, (path, i64::try_from(most).unwrap_or(i64::MAX)), |row| Ok(row.get(0)?))
    }
}
