//! Bodies that leave the store, and bodies that come back: by the batch, so that others can record meanwhile, and so that
//! a session of any length takes the memory of one batch.

use rusqlite::Connection;

use super::archive::{Archive, Held};
use super::zones::{self, StoredZone};
use super::{Failure, NewEvent, RootRow, Store, damaged, event, failure};
use crate::error::Result;
use crate::proof::record::{Entry, Id};
use crate::store::query::Query as _;

/// Entries in one transaction.
const BATCH: u64 = 4096;
/// Bytes in one transaction of those that come back.
const BATCH_BYTES: usize = 4 << 20;

/// The bodies that stay in the store in every zone: attested commits are the index of a session, and never private.
const INDEX: &str = "type = 'attest' AND content GLOB '{\"git\":*'";

impl Store {
    /// Blanks what there is of a session's bodies; its zone must allow it. The answer is how many they were.
    pub fn blank(&mut self, session: &Id) -> Result<u64> {
        // Overwrite the bytes of blanked texts in the file, instead of only marking them as free.
        self.connection.pragma_update(None, "secure_delete", true).map_err(|error| failure(&self.path, error))?;
        let count = self.read(|connection| Ok(zones::root(connection, session)?.record_count))?;
        let sql = format!(
            "UPDATE thought_records SET line = NULL WHERE session_id = ?1 AND position >= ?2 AND position < ?3 \
             AND line IS NOT NULL AND NOT ({INDEX})"
        );
        let mut blanked = 0;
        for from in (0..count).step_by(usize::try_from(BATCH).unwrap_or(usize::MAX)) {
            blanked += self.run(&sql, (session.as_str(), from, from + BATCH))? as u64;
            if let Some(watcher) = &self.watcher {
                watcher.tell(count.min(from + BATCH), count);
            }
        }
        Ok(blanked)
    }

    /// Says that every body of a session is where its zone wants it.
    pub fn settle_zone(&mut self, session: &Id) -> Result<()> {
        self.run("UPDATE zones SET settled = 1 WHERE session_id = ?1 AND settled = 0", [session.as_str()]).map(drop)
    }

    /// Puts the texts of a cold session back, after its archive has been read to its end and verified. False if it is not
    /// cold.
    pub fn restore(&mut self, session: &Id, archive: &Archive, event: &NewEvent<'_>) -> Result<bool> {
        let before = self.connection.total_changes();
        let (row, root, lost) = self.read(|connection| {
            let row = zones::zone(connection, session)?;
            Ok((row, zones::root(connection, session)?, zones::blank_bodies(connection, session)?))
        })?;
        let Some(held) = row.filter(|row| row.zone == StoredZone::Cold).and_then(|row| row.archive) else {
            return Ok(false);
        };
        archive.verify(&held.hash, &root).map_err(|damage| archive.error(&held, &damage, &root, lost))?;
        self.run("UPDATE zones SET settled = 0 WHERE session_id = ?1", [session.as_str()])?;
        self.put_back(&root, archive, &held, event)?;
        // Count these rows as upkeep, so that a call that only reads does not look like a change.
        self.upkeep += self.connection.total_changes() - before;
        Ok(true)
    }

    /// The last texts and the zone come in one transaction: a session all of whose texts are back is never taken for one
    /// whose texts are about to go.
    fn put_back(&mut self, root: &RootRow, archive: &Archive, held: &Held, event: &NewEvent<'_>) -> Result<()> {
        let failed = |damage| archive.error(held, &damage, root, root.record_count);
        let mut lines = archive.read(&held.hash).map_err(failed)?;
        lines.next().map_err(failed)?; // the opening has never left the store
        let mut position = 0;
        loop {
            let mut batch = Vec::new();
            let mut bytes = 0;
            while (batch.len() as u64) < BATCH
                && bytes < BATCH_BYTES
                && let Some(line) = lines.next().map_err(failed)?
            {
                let line = line.strip_suffix(b"\n").unwrap_or(line);
                bytes += line.len();
                batch.push(line.to_owned());
            }
            let end = batch.is_empty();
            let from = position;
            position += batch.len() as u64;
            let done = self.write(|transaction| {
                put_back_batch(transaction, root, from, &batch)?;
                if position < root.record_count && !end {
                    return Ok(false);
                }
                become_warm(transaction, &root.session_id, event)?;
                Ok(true)
            })?;
            if let Some(watcher) = &self.watcher {
                watcher.tell(position, root.record_count);
            }
            if done {
                return Ok(());
            }
        }
    }

    /// Gives the room of what is gone back to the file system, where there is much of it. Only tidying up: that the disk is
    /// too full for it, or that others are reading, is no reason to fail.
    pub fn compact(&mut self) {
        let pages = |name: &str| -> rusqlite::Result<u64> {
            self.connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
        };
        let free = || Ok::<_, rusqlite::Error>((pages("freelist_count")?, pages("page_count")?));
        if free().is_ok_and(|(free, all)| free > 256 && free > all / 4) {
            let _ = self.connection.execute_batch("VACUUM");
        }
    }

    /// Writes the file anew without what is gone: words lie in the index until its parts are next merged, and a row that
    /// grew or moved leaves a copy behind in its page.
    pub fn erase(&mut self) -> Result<()> {
        self.connection
            .execute_batch(
                "INSERT INTO thought_records_fts (thought_records_fts) VALUES ('optimize'); VACUUM; \
                 PRAGMA wal_checkpoint(TRUNCATE);",
            )
            .map_err(|error| failure(&self.path, error))
    }
}

/// Says that all texts of a cold session are back.
fn become_warm(transaction: &Connection, session: &Id, event: &NewEvent<'_>) -> Result<(), Failure> {
    if zones::blank_bodies(transaction, session)? > 0 {
        return Err(damaged("entries that are not those of the session's archive"));
    }
    transaction.run(
        "UPDATE zones SET zone = 'warm', since = ?2, round = NULL, settled = 1 \
             WHERE session_id = ?1 AND zone = 'cold'",
        (session.as_str(), event.at.as_str()),
    )?;
    event::write(transaction, Some(session), event, Some(StoredZone::Warm.as_str()))?;
    Ok(())
}

/// Only the text that was hashed comes back. All of a batch with one statement: before each one, the search index writes
/// down what it has taken up, and a part of the index for each entry took longer than all the rest.
fn put_back_batch(transaction: &Connection, root: &RootRow, from: u64, lines: &[Vec<u8>]) -> Result<(), Failure> {
    let other = || damaged("an archived line that is not one of its session's");
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS temp.coming_back \
         (position INTEGER PRIMARY KEY, content_hash BLOB NOT NULL, id TEXT NOT NULL, line TEXT NOT NULL) STRICT",
    )?;
    let mut insert = transaction.prepare_cached("INSERT INTO temp.coming_back VALUES (?1, ?2, ?3, ?4)")?;
    for (position, line) in (from..).zip(lines) {
        let text = std::str::from_utf8(line).map_err(|_| other())?;
        let entry = Entry::parse(line).map_err(|_| other())?;
        let hash = root.scheme.content_hash(line, entry.body.text());
        insert.execute((position, hash.as_bytes(), entry.id.as_str(), text))?;
    }
    let sql = "UPDATE thought_records SET line = body.line FROM temp.coming_back AS body \
             WHERE thought_records.session_id = ?1 AND thought_records.position >= ?2 AND thought_records.position < ?3 \
             AND thought_records.line IS NULL AND body.position = thought_records.position \
             AND body.content_hash = thought_records.content_hash AND body.id = thought_records.id";
    transaction.run(sql, (root.session_id.as_str(), from, from + lines.len() as u64))?;
    transaction.run("DELETE FROM temp.coming_back", [])?;
    Ok(())
}
