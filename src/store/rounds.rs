//! What this clone knows of rounds: the last head seen at each place, and which sessions are still open.

use super::{Store, damaged};
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
    /// Its number.
    pub round: u64,
    /// Its hash.
    pub seal: SealHash,
    /// Its commit.
    pub commit: CommitId,
    /// When it was seen.
    pub seen_at: Timestamp,
}

impl Store {
    /// The newest round that was seen at each place.
    pub fn seen_rounds(&self) -> Result<Vec<SeenRound>> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT place, round, seal, commit_id, seen_at FROM rounds ORDER BY place")?;
            let mut rows = statement.query([])?;
            let mut seen = Vec::new();
            while let Some(row) = rows.next()? {
                let commit: String = row.get(3)?;
                let at: String = row.get(4)?;
                seen.push(SeenRound {
                    place: row.get(0)?,
                    round: row.get(1)?,
                    seal: SealHash::new(row.get(2)?),
                    commit: CommitId::parse(&commit).ok_or_else(|| damaged("a commit id"))?,
                    seen_at: Timestamp::parse(&at).ok_or_else(|| damaged("a time"))?,
                });
            }
            Ok(seen)
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
        self.write(|transaction| {
            transaction
                .prepare_cached(
                    "INSERT INTO rounds (place, round, seal, commit_id, seen_at) VALUES (?1, ?2, ?3, ?4, ?5) \
                     ON CONFLICT (place) DO UPDATE SET round = excluded.round, seal = excluded.seal, \
                     commit_id = excluded.commit_id, seen_at = excluded.seen_at WHERE commit_id <> excluded.commit_id \
                     AND (excluded.round > round OR NOT ?6)",
                )?
                .execute((
                    &seen.place,
                    seen.round,
                    seen.seal.as_bytes(),
                    seen.commit.to_string(),
                    seen.seen_at.as_str(),
                    only_newer,
                ))?;
            Ok(())
        })
    }

    /// Forgets what was seen at one place.
    pub fn forget_round(&mut self, place: &str) -> Result<()> {
        self.write(|transaction| {
            transaction.execute("DELETE FROM rounds WHERE place = ?1", [place])?;
            Ok(())
        })
    }

    /// Forgets what was seen, here and anywhere: a person has decided that another chain is the right one.
    pub fn forget_rounds(&mut self) -> Result<()> {
        self.write(|transaction| {
            transaction.execute("DELETE FROM rounds", [])?;
            Ok(())
        })
    }

    /// The sessions that still take entries, the oldest first.
    pub fn open_sessions(&self) -> Result<Vec<Id>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT session_id FROM audit_sessions AS session WHERE ended_at IS NULL AND NOT EXISTS \
                 (SELECT 1 FROM merkle_roots WHERE merkle_roots.session_id = session.session_id) \
                 ORDER BY started_at, session_id",
            )?;
            let mut rows = statement.query([])?;
            let mut open = Vec::new();
            while let Some(row) = rows.next()? {
                open.push(Id::parse(row.get_ref(0)?.as_str().unwrap_or_default()).ok_or_else(|| damaged("an id"))?);
            }
            Ok(open)
        })
    }
}
