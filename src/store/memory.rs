//! Working memory: notes that a session keeps while it is open, and what is left of them once they are packed.

use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Serialize;

use super::append::{append_all, takes_entries};
use super::read::StoredEntry;
use super::{Failure, NewAttestation, NewEntry, NewEvent, Store, damaged, event, session};
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::digest::{Commitment, Salt, TextHash};
use crate::proof::memory::{MemoryAttestation, commitment, text_hash};
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;
use crate::store::query::Query as _;

/// A note in working memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "NoteView")]
pub struct Note {
    /// Its number, over all sessions.
    pub note_id: u64,
    /// The name that its author gave it.
    pub key: Option<String>,
    pub text: String,
    pub text_hash: TextHash,
    /// When it was put there.
    pub put_at: Timestamp,
}

/// The hashes and salt that remain of a packed note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PackedView")]
pub struct PackedNote {
    /// The number that it had.
    pub note_id: u64,
    /// Its session, which is named beside it.
    #[serde(skip)]
    pub session_id: Id,
    /// The name that its author gave it.
    pub key: Option<String>,
    pub text_hash: TextHash,
    /// What is published of it: SHA-256 of the salt and the text. `None` for a note that the first version packed.
    pub commitment: Option<Commitment>,
    /// The random bytes that only this clone has. `None` for a note that the first version packed.
    pub salt: Option<Salt>,
    /// The attestation that it became.
    pub record_id: Id,
    /// When it was put there.
    pub put_at: Timestamp,
    /// When it was packed.
    pub packed_at: Timestamp,
}

/// The notes of a session that wait to be packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// How many there are.
    pub count: u64,
    /// The number of the last one.
    pub last: u64,
}

/// What packing wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The hashes and salt of each note.
    pub notes: Vec<PackedNote>,
    /// The attestations and what closes them, in the order of the chain.
    pub entries: Vec<StoredEntry>,
}

/// More than any number of a note: SQLite's integers have a sign.
const ALL: u64 = u64::MAX >> 1;

impl Store {
    /// Puts a note into the working memory of a session that still takes entries; the answer is its number.
    pub fn put_note(&mut self, session: &Id, key: Option<&str>, text: &str, event: &NewEvent<'_>) -> Result<u64> {
        self.write(|transaction| {
            takes_entries(transaction, session)?;
            event::write(transaction, Some(session), event, None)?;
            transaction.run(
                "INSERT INTO memory_short_term (session_id, key, text, put_at) VALUES (?1, ?2, ?3, ?4)",
                (session.as_str(), key, text, event.at.as_str()),
            )?;
            u64::try_from(transaction.last_insert_rowid()).map_err(|_| damaged("the number of a note"))
        })
    }

    /// The notes that wait in a session that still takes entries; one that does not is refused, as for an entry.
    pub fn waiting_notes(&self, session: &Id) -> Result<Waiting> {
        self.read(|connection| {
            takes_entries(connection, session)?;
            waiting(connection, session, ALL)
        })
    }

    /// How many notes of a session were not packed, whether or not they still can be.
    pub fn unpacked_notes(&self, session: &Id) -> Result<u64> {
        self.read(|connection| Ok(waiting(connection, session, ALL)?.count))
    }

    /// Appends an attestation of each waiting note and then `summary`, and removes the notes: all or nothing.
    ///
    /// `expected` is what the caller saw; `fresh` has the id of the attestation and the salt for each note. Notes that came
    /// since stay for the next time. `None` if another one packed some of them meanwhile.
    pub fn pack(
        &mut self,
        session: &Id,
        expected: Waiting,
        fresh: &[(Id, Salt)],
        summary: &NewEntry<'_>,
        event: &NewEvent<'_>,
    ) -> Result<Option<Packed>> {
        self.write(|transaction| {
            let row = takes_entries(transaction, session)?;
            if waiting(transaction, session, expected.last)? != expected || fresh.len() as u64 != expected.count {
                return Ok(None);
            }
            let (mut notes, mut operations) = (Vec::new(), Vec::new());
            let mut fresh = fresh.iter().cloned();
            each_note(transaction, session, expected.last, |Note { note_id, key, text, text_hash, put_at }| {
                let Some((record_id, salt)) = fresh.next() else { return };
                operations.push(MemoryAttestation::of(&salt, &text, put_at).to_text());
                notes.push(PackedNote {
                    note_id,
                    session_id: session.clone(),
                    key,
                    text_hash,
                    salt: Some(salt),
                    commitment: Some(commitment(&salt, &text)),
                    record_id,
                    put_at,
                    packed_at: event.at,
                });
            })?;
            let mut entries: Vec<NewEntry<'_>> = notes
                .iter()
                .zip(&operations)
                .map(|(note, operation)| {
                    let (id, timestamp) = (note.record_id.clone(), event.at);
                    NewEntry::Attestation(NewAttestation { id, operation, metadata: None, timestamp })
                })
                .collect();
            entries.push(summary.clone());
            let entries = append_all(transaction, &row, &entries, event)?;
            for note in &notes {
                keep_hashes(transaction, note)?;
            }
            transaction.run(
                "DELETE FROM memory_short_term WHERE session_id = ?1 AND note_id <= ?2",
                (session.as_str(), expected.last),
            )?;
            Ok(Some(Packed { notes, entries }))
        })
    }

    /// Takes notes away unpacked, and answers how many there were. One that is not there, or belongs to another session,
    /// is an error, and then all of them stay.
    pub fn drop_notes(&mut self, session: &Id, notes: &[u64], event: &NewEvent<'_>) -> Result<u64> {
        self.write(|transaction| {
            session::find(transaction, session)?;
            for note in notes {
                let gone = transaction.run(
                    "DELETE FROM memory_short_term WHERE session_id = ?1 AND note_id = ?2",
                    (session.as_str(), note),
                )?;
                if gone == 0 {
                    return Err(no_such_note(session, *note).into());
                }
            }
            event::write(transaction, Some(session), event, None)?;
            Ok(notes.len() as u64)
        })
    }

    /// The notes of a session that wait to be packed, and what is left of those that were.
    pub fn memory(&self, session: &Id) -> Result<(Vec<Note>, Vec<PackedNote>)> {
        self.read(|connection| {
            session::find(connection, session)?;
            let mut notes = Vec::new();
            each_note(connection, session, ALL, |note| notes.push(note))?;
            let found = "WHERE session_id = ?1 ORDER BY note_id";
            let packed = packed_notes(connection, found, (session.as_str(),))?;
            Ok((notes, packed))
        })
    }

    /// The packed notes that had this text: those of finalized sessions first, then the oldest first.
    pub fn packed_as(&self, hash: &TextHash, session: Option<&Id>) -> Result<Vec<PackedNote>> {
        self.read(|connection| {
            let found = "WHERE text_hash = ?1 AND (?2 IS NULL OR session_id = ?2) ORDER BY NOT EXISTS \
                         (SELECT 1 FROM merkle_roots WHERE merkle_roots.session_id = memory_long_term.session_id), note_id";
            packed_notes(connection, found, (hash.as_bytes(), session.map(Id::as_str)))
        })
    }

    /// A session in which a note of this text still waits.
    pub fn waits_in(&self, text: &str) -> Result<Option<String>> {
        let sql = "SELECT session_id FROM memory_short_term WHERE text = ?1 ORDER BY note_id LIMIT 1";
        self.read(|connection| connection.first_value(sql, [text]))
    }
}

fn no_such_note(session: &Id, note: u64) -> Error {
    Error::new(Code::RecordNotFound, format!("no note {note} waits in session {session}"))
        .hint(hint!(Step::MemoryList(session.to_string()), " shows what is there"))
        .details(serde_json::json!({ "session_id": session, "note_id": note }))
}

fn waiting(connection: &Connection, session: &Id, up_to: u64) -> Result<Waiting, Failure> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*), coalesce(max(note_id), 0) FROM memory_short_term WHERE session_id = ?1 AND note_id <= ?2",
        )?
        .query_row((session.as_str(), up_to), |row| Ok(Waiting { count: row.get(0)?, last: row.get(1)? }))?)
}

/// Calls `each` with the notes of a session up to a number, in their order: one text in memory at a time.
fn each_note(connection: &Connection, session: &Id, up_to: u64, mut each: impl FnMut(Note)) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT note_id, key, text, put_at FROM memory_short_term WHERE session_id = ?1 AND note_id <= ?2 \
         ORDER BY note_id",
    )?;
    let mut rows = statement.query((session.as_str(), up_to))?;
    while let Some(row) = rows.next()? {
        let text: String = row.get(2)?;
        each(Note { note_id: row.get(0)?, key: row.get(1)?, text_hash: text_hash(&text), text, put_at: row.get(3)? });
    }
    Ok(())
}

fn keep_hashes(connection: &Connection, note: &PackedNote) -> Result<(), Failure> {
    connection.run(
        "INSERT INTO memory_long_term (note_id, session_id, key, text_hash, record_id, put_at, packed_at, salt) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        (
            note.note_id,
            note.session_id.as_str(),
            &note.key,
            note.text_hash.as_bytes(),
            note.record_id.as_str(),
            note.put_at.as_str(),
            note.packed_at.as_str(),
            note.salt.as_ref().map(Salt::as_bytes),
        ),
    )?;
    Ok(())
}

fn packed_notes(
    connection: &Connection,
    which: &str,
    parameters: impl rusqlite::Params,
) -> Result<Vec<PackedNote>, Failure> {
    let sql = format!(
        "SELECT note_id, session_id, key, text_hash, record_id, put_at, packed_at, salt, \
         (SELECT content FROM thought_records WHERE thought_records.id = record_id) FROM memory_long_term {which}"
    );
    connection.all(&sql, parameters, |row| {
        Ok(PackedNote {
            note_id: row.get(0)?,
            session_id: row.get(1)?,
            key: row.get(2)?,
            text_hash: TextHash::new(row.get(3)?),
            record_id: row.get(4)?,
            put_at: row.get(5)?,
            packed_at: row.get(6)?,
            salt: row.get::<_, Option<_>>(7)?.map(Salt::new),
            commitment: committed(row.get_ref(8)?.as_str().unwrap_or_default()),
        })
    })
}

/// The commitment in a note's attestation; `None` once retention has blanked it, and in the form of the first version.
fn committed(attestation: &str) -> Option<Commitment> {
    match MemoryAttestation::parse(attestation.as_bytes()).ok()? {
        MemoryAttestation::Committed { commitment, .. } => Some(commitment),
        MemoryAttestation::Hashed { .. } => None,
    }
}
