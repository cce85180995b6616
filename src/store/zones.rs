//! Zones: which sessions have their texts in this file, and which in an archive. What a session's zone should be is
//! decided elsewhere; here is what it is.
//!
//! The row of a zone is written before the first body goes or comes, and says so (`settled`) until the last one has. So
//! whatever is interrupted is found again, and at every moment a text is in the store or in an archive that was read back.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::archive::{Archive, Held};
use super::{Failure, NewEvent, RootRow, Store, damaged, event, finalize, session};
use crate::access::Access;
use crate::error::{Code, Error, Result};
use crate::proof::digest::{ArchiveHash, RootHash};
use crate::proof::record::Id;
use crate::proof::schema::names;
use crate::proof::timestamp::Timestamp;
use crate::store::query::Query as _;

names! {
    /// A zone that leaves a trace in the store.
    pub enum StoredZone {
        /// The texts were read back.
        Warm = "warm",
        /// The texts are in an archive.
        Cold = "cold",
        /// The texts are gone.
        Frozen = "frozen",
    }
}

/// A session that left its first zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneRow {
    /// Where it is.
    pub zone: StoredZone,
    pub since: Timestamp,
    /// The newest round when retention first saw that its texts are back.
    pub round: Option<u64>,
    /// Its archive; `None` once that is removed.
    pub archive: Option<Held>,
    /// Whether every body is where it should be.
    pub settled: bool,
}

/// A session, and what the store keeps of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub session_id: Id,
    pub root: Option<RootHash>,
    pub records: u64,
    pub text_bytes: u64,
    /// Its zone, if it has left the first one.
    pub zone: Option<ZoneRow>,
}

const COLUMNS: &str = "zone, since, zones.round, archive, archive_bytes, settled";

impl ZoneRow {
    /// Reads a row whose columns begin at `from`; `None` if there is none.
    fn read(row: &Row<'_>, from: usize) -> Result<Option<Self>, Failure> {
        let Some(zone) = row.get(from)? else { return Ok(None) };
        let hash: Option<[u8; 32]> = row.get(from + 3)?;
        let bytes = row.get(from + 4)?;
        Ok(Some(Self {
            zone,
            since: row.get(from + 1)?,
            round: row.get(from + 2)?,
            archive: hash.map(|hash| Held { hash: ArchiveHash::new(hash), bytes }),
            settled: row.get(from + 5)?,
        }))
    }
}

impl Store {
    /// All sessions, by their ids.
    pub fn kept(&self) -> Result<Vec<Kept>> {
        let sql = format!(
            "SELECT audit_sessions.session_id, merkle_roots.root, coalesce(entries.records, 0), \
             coalesce(entries.bytes, 0), {COLUMNS} FROM audit_sessions \
             LEFT JOIN (SELECT session_id, count(*) AS records, sum(octet_length(line)) AS bytes \
                        FROM thought_records GROUP BY session_id) AS entries USING (session_id) \
             LEFT JOIN merkle_roots USING (session_id) LEFT JOIN zones USING (session_id) \
             ORDER BY audit_sessions.session_id"
        );
        self.all(&sql, [], |row| {
            let root = row.get::<_, Option<[u8; 32]>>(1)?.map(RootHash::new);
            let (session_id, records, text_bytes) = (row.get(0)?, row.get(2)?, row.get(3)?);
            Ok(Kept { session_id, root, records, text_bytes, zone: ZoneRow::read(row, 4)? })
        })
    }

    /// The zone of a session that has left its first one.
    pub fn zone(&self, session: &Id) -> Result<Option<ZoneRow>> {
        self.read(|connection| zone(connection, session))
    }

    /// The sessions whose archives are to be there, with these.
    pub fn archives(&self) -> Result<Vec<(Id, Held)>> {
        let sql = format!("SELECT session_id, {COLUMNS} FROM zones WHERE zone = 'cold' ORDER BY session_id");
        let rows = self.all(&sql, [], |row| Ok((row.get(0)?, ZoneRow::read(row, 1)?)))?;
        Ok(rows.into_iter().filter_map(|(id, row)| Some((id, row?.archive?))).collect())
    }

    /// How many bodies of a session are blank.
    pub fn blank_bodies(&self, session: &Id) -> Result<u64> {
        self.read(|connection| blank_bodies(connection, session))
    }

    /// Writes the whole evidence of a finalized session into an archive. `name` is what its file is called meanwhile.
    pub fn archive(&self, session: &Id, archive: &Archive, name: &str) -> Result<Held> {
        self.read(|connection| {
            let row = session::find(connection, session)?;
            let mut writer = archive.write(name, Access::beside(&self.path))?;
            writer.line(row.opening_line.as_bytes())?;
            let mut statement = connection
                .prepare_cached("SELECT line FROM thought_records WHERE session_id = ?1 ORDER BY position")?;
            let mut rows = statement.query([session.as_str()])?;
            while let Some(row) = rows.next()? {
                match row.get_ref(0)? {
                    ValueRef::Text(line) => writer.line(line)?,
                    _ => return Err(damaged("a text that should still be in the store is gone")),
                }
            }
            Ok(writer.finish()?)
        })
    }

    /// Says that the texts of a session are in an archive, which was read back. From now on its bodies may be blanked.
    pub fn to_cold(&mut self, session: &Id, held: &Held, event: &NewEvent<'_>) -> Result<()> {
        self.move_to(session, StoredZone::Cold, Some(held), event)
    }

    /// Says that the texts of a session are to go for good, those in its archive as well.
    pub fn to_frozen(&mut self, session: &Id, event: &NewEvent<'_>) -> Result<()> {
        let held = self.zone(session)?.and_then(|row| row.archive);
        self.move_to(session, StoredZone::Frozen, held.as_ref(), event)
    }

    fn move_to(&mut self, session: &Id, zone: StoredZone, held: Option<&Held>, event: &NewEvent<'_>) -> Result<()> {
        self.write(|transaction| {
            transaction.run(
                "INSERT INTO zones (session_id, zone, since, round, archive, archive_bytes, settled) \
                     VALUES (?1, ?2, ?3, NULL, ?4, ?5, 0) ON CONFLICT (session_id) DO UPDATE SET zone = excluded.zone, \
                     since = excluded.since, round = NULL, archive = excluded.archive, \
                     archive_bytes = excluded.archive_bytes, settled = 0",
                (
                    session.as_str(),
                    zone.as_str(),
                    event.at.as_str(),
                    held.map(|held| *held.hash.as_bytes()),
                    held.map_or(0, |held| held.bytes),
                ),
            )?;
            event::write(transaction, Some(session), event, Some(zone.as_str()))?;
            Ok(())
        })
    }

    /// Says that the archive of a frozen session is removed.
    pub fn archive_removed(&mut self, session: &Id) -> Result<()> {
        let sql = "UPDATE zones SET archive = NULL, archive_bytes = 0 WHERE session_id = ?1 AND zone = 'frozen'";
        self.run(sql, [session.as_str()]).map(drop)
    }

    /// Notes the newest round for sessions that came back since retention last ran: their rounds count from here.
    pub fn count_rounds_from(&mut self, round: u64) -> Result<()> {
        const WAITING: &str = "SELECT EXISTS (SELECT 1 FROM zones WHERE zone = 'warm' AND round IS NULL)";
        if round == 0 || !self.value(WAITING, [])? {
            return Ok(());
        }
        self.run("UPDATE zones SET round = ?1 WHERE zone = 'warm' AND round IS NULL", [round]).map(drop)
    }
}

pub(super) fn zone(connection: &Connection, session: &Id) -> Result<Option<ZoneRow>, Failure> {
    let sql = format!("SELECT {COLUMNS} FROM zones WHERE session_id = ?1");
    Ok(connection.first(&sql, [session.as_str()], |row| ZoneRow::read(row, 0))?.flatten())
}

pub(super) fn blank_bodies(connection: &Connection, session: &Id) -> Result<u64, Failure> {
    connection.value("SELECT count(*) FROM thought_records WHERE session_id = ?1 AND line IS NULL", [session.as_str()])
}

/// The root of a session that has left its first zone.
pub(super) fn root(connection: &Connection, session: &Id) -> Result<RootRow, Failure> {
    let row = finalize::find(connection, session)?;
    row.ok_or_else(|| Failure::Refused(Error::new(Code::NotFinalized, format!("session {session} is not finalized"))))
}
