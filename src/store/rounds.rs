//! Remembers the rounds that this clone has seen: the last head at each remote and here; and lists open sessions.

use super::Store;
use crate::error::Result;
use crate::proof::digest::{CommitId, SealHash};
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;

/// The place of what this clone itself had.
pub const HERE: &str = "";

/// The newest round that was seen at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenRound {
    /// The remote, or [`HERE`].
    pub place: String,
    pub round: u64,
    pub seal: SealHash,
    pub commit: CommitId,
    pub seen_at: Timestamp,
}

impl Store {
    /// The newest round that was seen at each place.
    pub fn seen_rounds(&self) -> Result<Vec<SeenRound>> {
        self.all("SELECT place, round, seal, commit_id, seen_at FROM rounds ORDER BY place", [], |row| {
            let (place, round, seal) = (row.get(0)?, row.get(1)?, SealHash::new(row.get(2)?));
            Ok(SeenRound { place, round, seal, commit: row.get(3)?, seen_at: row.get(4)? })
        })
    }

    /// Remembers the newest round of a place, whatever was seen there before.
    pub fn see_round(&mut self, seen: &SeenRound) -> Result<()> {
        self.see(seen, false)
    }

    /// Remembers a round that was added to the chain, unless a later one is known: another process may have added that
    /// meanwhile, and been faster to say so.
    pub fn see_newer_round(&mut self, seen: &SeenRound) -> Result<()> {
        self.see(seen, true)
    }

    fn see(&mut self, seen: &SeenRound, only_newer: bool) -> Result<()> {
        let sql = "INSERT INTO rounds (place, round, seal, commit_id, seen_at) VALUES (?1, ?2, ?3, ?4, ?5) \
                   ON CONFLICT (place) DO UPDATE SET round = excluded.round, seal = excluded.seal, \
                   commit_id = excluded.commit_id, seen_at = excluded.seen_at WHERE commit_id <> excluded.commit_id \
                   AND (excluded.round > round OR NOT ?6)";
        let SeenRound { place, round, seal, commit, seen_at } = seen;
        let (commit, seen_at) = (commit.to_string(), seen_at.as_str());
        self.run(sql, (place, round, seal.as_bytes(), commit, seen_at, only_newer)).map(drop)
    }

    /// Forgets what was seen at one place.
    pub fn forget_round(&mut self, place: &str) -> Result<()> {
        self.run("DELETE FROM rounds WHERE place = ?1", [place]).map(drop)
    }

    /// Forgets what was seen, here and anywhere: a person has decided that another chain is the right one.
    pub fn forget_rounds(&mut self) -> Result<()> {
        self.run("DELETE FROM rounds", []).map(drop)
    }

    /// The sessions that still take entries, the oldest first.
    pub fn open_sessions(&self) -> Result<Vec<Id>> {
        let sql = "SELECT session_id FROM audit_sessions AS session WHERE ended_at IS NULL AND NOT EXISTS \
                   (SELECT 1 FROM merkle_roots WHERE merkle_roots.session_id = session.session_id) \
                   ORDER BY started_at, session_id";
        self.all(sql, [], |row| Ok(row.get(0)?))
    }
}
