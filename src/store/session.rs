//! Sessions: opening one, finding one, ending one, and which one a worktree works in.

use std::path::Path;

use rusqlite::{Connection, Row};

use super::{Failure, NewEvent, Store, active, commit_hint, damaged, event};
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::digest::ChainHash;
use crate::proof::record::{Id, Opening};
use crate::proof::scheme::Scheme;
use crate::proof::timestamp::Timestamp;
use crate::store::query::Query as _;

#[derive(Debug, Clone)]
pub struct NewSession<'a> {
    pub opening: &'a Opening,
    /// The worktree that works in it from now on, if one does.
    pub worktree: Option<&'a str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    pub opening: Opening,
    /// The opening record as it was hashed.
    pub opening_line: String,
    /// The chain hash that its first entry has for a parent.
    pub genesis: ChainHash,
    pub ended_at: Option<Timestamp>,
    pub finalized: bool,
    pub count: u64,
}

const COLUMNS: &str = "opening, genesis, ended_at, \
    EXISTS (SELECT 1 FROM merkle_roots WHERE merkle_roots.session_id = audit_sessions.session_id), \
    (SELECT coalesce(max(position) + 1, 0) FROM thought_records WHERE thought_records.session_id = audit_sessions.session_id), \
    session_id, intent, task_id, started_at, caller, proof_grade, scheme";

impl SessionRow {
    fn read(row: &Row<'_>) -> Result<Self, Failure> {
        let line: String = row.get(0)?;
        let opening =
            Opening::parse(line.as_bytes()).map_err(|error| damaged(&format!("a session's opening: {error}")))?;
        // The columns are there to be searched. Where they say something else than what was hashed, someone was at it.
        let columns_agree = row.get::<_, String>(5)? == opening.session_id.as_str()
            && row.get::<_, String>(6)? == opening.intent
            && row.get::<_, Option<String>>(7)? == opening.task_id
            && row.get::<_, String>(8)? == opening.started_at.as_str()
            && row.get::<_, String>(9)? == opening.caller
            && row.get::<_, bool>(10)? == opening.proof_grade
            && row.get::<_, String>(11)? == opening.scheme.as_str();
        let genesis = ChainHash::new(row.get(1)?);
        if !columns_agree || genesis != opening.scheme.genesis(line.as_bytes()) {
            let message = format!("session {}: its row is not what its genesis covers", opening.session_id);
            return Err(Error::new(Code::ChainBroken, message)
                .hint("the store was changed by something else; restore it from a backup")
                .details(serde_json::json!({ "session_id": opening.session_id, "reason": "genesis_mismatch" }))
                .into());
        }
        let ended_at = row.get::<_, Option<String>>(2)?.and_then(|text| Timestamp::parse(&text));
        Ok(Self { opening, opening_line: line, genesis, ended_at, finalized: row.get(3)?, count: row.get(4)? })
    }

    /// Whether it still takes entries.
    pub fn is_open(&self) -> bool {
        !self.finalized && self.ended_at.is_none()
    }

    pub fn id(&self) -> &Id {
        &self.opening.session_id
    }

    pub fn scheme(&self) -> Scheme {
        self.opening.scheme
    }
}

pub(super) fn find(connection: &Connection, session: &Id) -> Result<SessionRow, Failure> {
    let sql = format!("SELECT {COLUMNS} FROM audit_sessions WHERE session_id = ?1");
    connection.first(&sql, [session.as_str()], SessionRow::read)?.ok_or_else(|| {
        Error::new(Code::SessionNotFound, format!("there is no session {session}"))
            .hint(hint!(Step::LogAll, " lists the sessions"; Step::Start, " opens one"))
            .details(serde_json::json!({ "session_id": session }))
            .into()
    })
}

/// Opens a session inside a transaction, writes its genesis into the ledger and makes it the current one of
/// its worktree, if it has one.
pub(super) fn open(connection: &Connection, new: &NewSession<'_>, event: &NewEvent<'_>) -> Result<SessionRow, Failure> {
    let opening = new.opening;
    let line = opening.to_line();
    let genesis = opening.scheme.genesis(line.as_bytes());
    let id = &opening.session_id;
    if connection.value("SELECT EXISTS (SELECT 1 FROM audit_sessions WHERE session_id = ?1)", [id.as_str()])? {
        return Err(Error::new(Code::SessionExists, format!("session {id} exists already"))
            .hint(hint!(
                "leave out ",
                Step::Option("--session-id".into()),
                " to get a new id, or go on in that session with ",
                Step::Option("--session".into())
            ))
            .details(serde_json::json!({ "session_id": id }))
            .into());
    }
    connection.run(
        "INSERT INTO audit_sessions \
             (session_id, intent, task_id, started_at, caller, proof_grade, scheme, opening, genesis) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        (
            id.as_str(),
            &opening.intent,
            &opening.task_id,
            opening.started_at.as_str(),
            &opening.caller,
            opening.proof_grade,
            opening.scheme.as_str(),
            &line,
            genesis.as_bytes(),
        ),
    )?;
    event::write(connection, Some(id), event, Some(&format!("genesis {genesis}")))?;
    if let Some(worktree) = new.worktree {
        make_current(connection, worktree, id)?;
    }
    find(connection, id)
}

/// Lets a worktree work in a session from now on.
pub(super) fn make_current(transaction: &Connection, worktree: &str, session: &Id) -> Result<(), Failure> {
    if let Some(store) = transaction.path() {
        active::mark(Path::new(store))?;
        commit_hint::remove(Path::new(store));
    }
    transaction.run(
        "INSERT INTO worktree_sessions (worktree, session_id) VALUES (?1, ?2) \
             ON CONFLICT (worktree) DO UPDATE SET session_id = excluded.session_id",
        (worktree, session.as_str()),
    )?;
    Ok(())
}

/// The session in which a worktree works.
pub(super) fn current(connection: &Connection, worktree: &str) -> Result<Option<Id>, Failure> {
    connection.first_value("SELECT session_id FROM worktree_sessions WHERE worktree = ?1", [worktree])
}

impl Store {
    pub fn start(&mut self, new: &NewSession<'_>, event: &NewEvent<'_>) -> Result<SessionRow> {
        self.write(|transaction| open(transaction, new, event))
    }

    /// The open session of a task that is not proof-grade; if there is none, `new` is opened to be it. Two callers get
    /// the same one.
    pub fn task_session(&mut self, task: &str, new: &NewSession<'_>, event: &NewEvent<'_>) -> Result<SessionRow> {
        self.write(|transaction| {
            let found = transaction.first_value(
                "SELECT session_id FROM audit_sessions \
                     WHERE task_id = ?1 AND proof_grade = 0 AND ended_at IS NULL AND NOT EXISTS \
                     (SELECT 1 FROM merkle_roots WHERE merkle_roots.session_id = audit_sessions.session_id) \
                     ORDER BY rowid DESC LIMIT 1",
                [task],
            )?;
            match found {
                Some(id) => find(transaction, &id),
                None => open(transaction, new, event),
            }
        })
    }

    /// The session in which a worktree works.
    pub fn current_session(&self, worktree: &str) -> Result<Option<Id>> {
        current(&self.connection, worktree).map_err(|error| error.explain(&self.path))
    }

    pub fn session(&self, session: &Id) -> Result<SessionRow> {
        self.read(|connection| find(connection, session))
    }

    /// The newest sessions, newest first.
    pub fn sessions(&self, limit: u32) -> Result<Vec<SessionRow>> {
        let sql = format!("SELECT {COLUMNS} FROM audit_sessions ORDER BY started_at DESC, rowid DESC LIMIT ?1");
        self.all(&sql, [limit], SessionRow::read)
    }

    /// When the first session began.
    pub fn first_session(&self) -> Result<Option<Timestamp>> {
        let first: Option<String> = self.value("SELECT min(started_at) FROM audit_sessions", [])?;
        Ok(first.as_deref().and_then(Timestamp::parse))
    }

    /// Ends a session. Ending it again changes nothing: the first time stays.
    pub fn end(&mut self, session: &Id, event: &NewEvent<'_>) -> Result<SessionRow> {
        self.write(|transaction| {
            let row = find(transaction, session)?;
            if row.ended_at.is_some() {
                return Ok(row);
            }
            transaction.run(
                "UPDATE audit_sessions SET ended_at = ?2 WHERE session_id = ?1",
                (session.as_str(), event.at.as_str()),
            )?;
            event::write(transaction, Some(session), event, None)?;
            Ok(SessionRow { ended_at: Some(event.at), ..row })
        })
    }
}
