//! Remembers what this clone wrote into git: the lines of notes until a remote has them, ranges that became one commit,
//! and the commits that a session's staged change became.

use rusqlite::{Connection, Row};

use super::append::{NewAttestation, NewEntry, append_all, takes_entries};
use super::{Failure, NewEvent, Store, damaged};
use crate::error::Result;
use crate::proof::change::{ChangeIds, GitAttestation, Sighting};
use crate::proof::digest::{ChangeId, CommitId, sha256};
use crate::proof::record::{Id, RecordType};
use crate::proof::timestamp::Timestamp;
use crate::store::query::Query as _;

/// A line of a note that was written.
#[derive(Debug, Clone)]
pub struct NewLine<'a> {
    /// Whose note.
    pub commit: CommitId,
    /// The line, without its newline.
    pub line: &'a str,
    /// The change that it names, by both of its ids.
    pub change: Option<ChangeIds>,
}

/// The row of `ref_tips` that says up to which root every session is anchored; no ref has that name.
const ROOTS: &str = "merkle_roots";

/// Remembers where a change was seen.
const SIGHT: &str = "INSERT INTO sightings (change_id, line) VALUES (?1, ?2) ON CONFLICT DO NOTHING";

impl Store {
    /// Remembers lines before they are written to git, and which session is anchored on their commits. What is
    /// known already stays as it is.
    pub fn remember(&mut self, lines: &[NewLine<'_>], became: Option<&Id>, at: Timestamp) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        // Not flushed by itself: what it is kept against is another process, not a power loss.
        self.unflushed(|transaction| {
            if let Some(session) = became {
                for line in lines {
                    became_commit(transaction, session, &line.commit)?;
                }
            }
            for line in lines {
                transaction.run(
                    "INSERT INTO anchors (commit_id, line_hash, line, change_id, written_at) \
                         VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
                    (
                        line.commit.to_string(),
                        sha256(line.line.as_bytes()),
                        line.line,
                        line.change.map(|change| *change.wide.as_bytes()),
                        at.as_str(),
                    ),
                )?;
                if let Some(change) = line.change {
                    let seen = Sighting::Commit(line.commit).to_line();
                    transaction.run(SIGHT, (change.bare.as_bytes(), seen))?;
                }
            }
            Ok(())
        })
    }

    /// All lines that this clone wrote into the note of a commit, or into any.
    pub fn lines(&self, commit: Option<&CommitId>) -> Result<Vec<String>> {
        let every = "SELECT line, line_hash FROM anchors";
        match commit {
            None => self.all(every, [], |row| line(row, 0)),
            Some(commit) => {
                self.all(&format!("{every} WHERE commit_id = ?1"), [commit.to_string()], |row| line(row, 0))
            }
        }
    }

    /// The lines of a commit's note that no remote is known to have.
    pub fn unseen_of(&self, commit: &CommitId) -> Result<Vec<String>> {
        let sql = "SELECT line, line_hash FROM anchors WHERE commit_id = ?1 AND seen_on IS NULL ORDER BY line_hash";
        self.all(sql, [commit.to_string()], |row| line(row, 0))
    }

    /// Whether there is a line that no remote is known to have. A store that cannot be read has none to speak of.
    pub fn has_unshared_lines(&self) -> bool {
        self.value("SELECT EXISTS (SELECT 1 FROM anchors WHERE seen_on IS NULL)", []).unwrap_or(false)
    }

    /// The lines after a number that no remote is known to have, and the highest number of all.
    pub fn unseen_after(&self, number: i64) -> Result<(Vec<(CommitId, String)>, i64)> {
        self.read(|connection| {
            let sql = "SELECT commit_id, line, line_hash FROM anchors WHERE seq > ?1 AND seen_on IS NULL ORDER BY seq";
            let lines = connection.all(sql, [number], |row| Ok((row.get(0)?, line(row, 1)?)))?;
            let last = connection.value("SELECT coalesce(max(seq), 0) FROM anchors", [])?;
            Ok((lines, last))
        })
    }

    /// Notes that a remote has these lines.
    pub fn mark_seen(&mut self, lines: &[(CommitId, String)], remote: &str) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        self.write(|transaction| {
            for (commit, line) in lines {
                transaction.run(
                    "UPDATE anchors SET seen_on = ?3 WHERE commit_id = ?1 AND line_hash = ?2",
                    (commit.to_string(), sha256(line.as_bytes()), remote),
                )?;
            }
            Ok(())
        })
    }

    /// The commits in whose notes this clone wrote an anchor for this change.
    pub fn anchored_with(&self, change: &ChangeId) -> Result<Vec<CommitId>> {
        let sql = "SELECT DISTINCT commit_id FROM anchors WHERE change_id = ?1";
        self.all(sql, [change.as_bytes()], |row| Ok(row.get(0)?))
    }

    /// Remembers where a change was seen, in this clone alone.
    pub fn sight(&mut self, sightings: &[(ChangeId, Sighting)]) -> Result<()> {
        if sightings.is_empty() {
            return Ok(());
        }
        self.write(|transaction| {
            for (change, sighting) in sightings {
                transaction.run(SIGHT, (change.as_bytes(), sighting.to_line()))?;
            }
            Ok(())
        })
    }

    /// Whether this clone remembers of any change where it was seen. A store that cannot be read may.
    pub fn has_sightings(&self) -> bool {
        let exists =
            "SELECT EXISTS (SELECT 1 FROM anchors WHERE change_id IS NOT NULL) OR EXISTS (SELECT 1 FROM sightings)";
        self.value(exists, []).unwrap_or(true)
    }

    /// Where a change was seen in this clone.
    pub fn sightings(&self, change: &ChangeId) -> Result<Vec<Sighting>> {
        self.all("SELECT line FROM sightings WHERE change_id = ?1", [change.as_bytes()], |row| {
            let line = row.get_ref(0)?.as_str().unwrap_or_default();
            Sighting::parse(line.as_bytes()).map_err(|_| damaged("a sighting"))
        })
    }

    /// The changes that a session has attested, in order.
    pub fn attested(&self, session: &Id) -> Result<Vec<GitAttestation>> {
        self.read(|connection| attested(connection, session))
    }

    /// Attests a commit, unless the session has done so. A session that was closed by a reflection on exactly this change
    /// takes no new entry: it only notes which commit that change became. `false` if there was nothing to do. It is one
    /// transaction, so two processes that attest a commit at once make one entry. With metadata it is always an entry.
    pub fn attest_commit(
        &mut self,
        session: &Id,
        change: &GitAttestation,
        new: NewAttestation<'_>,
        event: &NewEvent<'_>,
    ) -> Result<bool> {
        let Some(commit) = change.commit else { return Ok(false) };
        self.write(|transaction| {
            let said = attested(transaction, session)?;
            if said.iter().any(|said| said.commit == Some(commit)) {
                return Ok(false);
            }
            let row = takes_entries(transaction, session)?;
            let staged = GitAttestation { commit: None, ..*change };
            if new.metadata.is_none() && said.contains(&staged) && is_closed(transaction, session)? {
                return became_commit(transaction, session, &commit);
            }
            append_all(transaction, &row, &[NewEntry::Attestation(new)], event)?;
            Ok(true)
        })
    }

    /// The oldest finalized sessions that may not be anchored yet, with their numbers.
    pub fn unsettled_roots(&self, most: u32) -> Result<Vec<(i64, Id)>> {
        let sql = "SELECT rowid, session_id FROM merkle_roots \
                   WHERE rowid > coalesce((SELECT up_to FROM ref_tips WHERE ref = ?1), 0) ORDER BY rowid LIMIT ?2";
        self.all(sql, (ROOTS, most), |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Notes that every finalized session up to a number is anchored on the commits that it attests, or never will be.
    pub fn settle_roots(&mut self, up_to: i64) -> Result<()> {
        self.set_known(ROOTS, "", up_to)
    }

    /// The commits that the staged changes of a session became.
    pub fn commits_of(&self, session: &Id) -> Result<Vec<CommitId>> {
        let sql = "SELECT commit_id FROM session_commits WHERE session_id = ?1";
        self.all(sql, [session.as_str()], |row| Ok(row.get(0)?))
    }

    /// The tip of a ref at which it held every line up to a number.
    pub fn known_tip(&self, name: &str) -> Result<Option<(CommitId, i64)>> {
        self.read(|connection| {
            let sql = "SELECT tip, up_to FROM ref_tips WHERE ref = ?1";
            connection.first(sql, [name], |row| Ok((row.get(0)?, row.get(1)?)))
        })
    }

    /// Notes that a ref holds every line up to a number. It is only a shortcut, and need not survive a power loss: where
    /// it is missing or older, more is compared.
    pub fn set_known_tip(&mut self, name: &str, tip: &CommitId, up_to: i64) -> Result<()> {
        self.set_known(name, &tip.to_string(), up_to)
    }

    fn set_known(&mut self, name: &str, tip: &str, up_to: i64) -> Result<()> {
        let sql = "INSERT INTO ref_tips (ref, tip, up_to) VALUES (?1, ?2, ?3) ON CONFLICT (ref) DO UPDATE \
                   SET tip = excluded.tip, up_to = excluded.up_to WHERE up_to <= excluded.up_to";
        self.run_unflushed(sql, (name, tip, up_to)).map(drop)
    }
}

/// The changes that a session has attested, in order.
pub(super) fn attested(connection: &Connection, session: &Id) -> Result<Vec<GitAttestation>, Failure> {
    let sql = "SELECT content FROM thought_records WHERE session_id = ?1 AND type = 'attest' ORDER BY position";
    let attested = connection.all(sql, [session.as_str()], |row| {
        Ok(GitAttestation::parse(row.get_ref(0)?.as_str().unwrap_or_default().as_bytes()).ok())
    })?;
    Ok(attested.into_iter().flatten().collect())
}

/// Whether the last entry of a session is a reflection.
fn is_closed(connection: &Connection, session: &Id) -> Result<bool, Failure> {
    let last: Option<String> = connection.first_value(
        "SELECT type FROM thought_records WHERE session_id = ?1 ORDER BY position DESC LIMIT 1",
        [session.as_str()],
    )?;
    Ok(last.as_deref() == Some(RecordType::Reflection.as_str()))
}

/// Notes that a commit is of a session; `false` if that is known.
fn became_commit(connection: &Connection, session: &Id, commit: &CommitId) -> Result<bool, Failure> {
    let added = connection.run(
        "INSERT INTO session_commits (session_id, commit_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        (session.as_str(), commit.to_string()),
    )?;
    Ok(added > 0)
}

/// The line in a column, if it is still the one whose hash is in the next column.
fn line(row: &Row<'_>, column: usize) -> Result<String, Failure> {
    let (text, hash): (String, [u8; 32]) = (row.get(column)?, row.get(column + 1)?);
    if sha256(text.as_bytes()) == hash { Ok(text) } else { Err(damaged("a line of a note")) }
}
