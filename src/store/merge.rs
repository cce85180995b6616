//! Taking over what another store has: the sessions that are not here, whole, in one transaction.
//!
//! Hashes, ids and positions stay as they are; what a store numbers for itself (entries, ledger lines, notes) is numbered
//! anew behind what is here.

use std::path::Path;

use rusqlite::Connection;

use super::{Failure, Store, active, damaged, failure};
use crate::error::{Code, Error, Result};
use crate::proof::record::Id;
use crate::store::query::Query as _;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merged {
    pub added: Vec<Id>,
    /// Number of sessions that were here, with at least all that the other store has of them.
    pub known: u64,
    /// Number of entries that were added.
    pub records: u64,
}

/// Sessions that both stores have, and of which the other one has something that is not here.
const DIFFERENT: &str = "\
    SELECT theirs.session_id FROM incoming.audit_sessions AS theirs JOIN main.audit_sessions AS ours USING (session_id) \
    WHERE theirs.opening <> ours.opening \
    OR EXISTS (SELECT 1 FROM incoming.thought_records AS entry WHERE entry.session_id = theirs.session_id \
        AND NOT EXISTS (SELECT 1 FROM main.thought_records AS here WHERE here.session_id = entry.session_id \
            AND here.position = entry.position AND here.id = entry.id AND here.parent_id IS entry.parent_id \
            AND here.content_hash = entry.content_hash AND here.chain_hash = entry.chain_hash \
            AND here.private = entry.private)) \
    OR EXISTS (SELECT 1 FROM incoming.merkle_roots AS root WHERE root.session_id = theirs.session_id \
        AND NOT EXISTS (SELECT 1 FROM main.merkle_roots AS here WHERE here.session_id = root.session_id \
            AND here.root = root.root AND here.record_count = root.record_count)) \
    UNION SELECT entry.session_id FROM incoming.thought_records AS entry JOIN main.thought_records AS here USING (id) \
    WHERE here.session_id <> entry.session_id ORDER BY 1";

/// Everything that belongs to the sessions in `temp.taken`. The order is that of the triggers: a session takes entries and
/// notes while it is open, and leaves its first zone once it is finalized.
const COPY: &str = "\
    INSERT INTO main.audit_sessions (session_id, intent, task_id, started_at, caller, proof_grade, scheme, opening, genesis) \
    SELECT session_id, intent, task_id, started_at, caller, proof_grade, scheme, opening, genesis \
    FROM incoming.audit_sessions WHERE session_id IN temp.taken ORDER BY rowid; \
    INSERT INTO main.audit_events (event_id, session_id, tool, arguments, outcome, detail, at) \
    SELECT event_id + (SELECT events FROM temp.behind), session_id, tool, arguments, outcome, detail, at \
    FROM incoming.audit_events WHERE session_id IN temp.taken \
    OR (session_id IS NULL AND (SELECT was_empty FROM temp.behind)) ORDER BY event_id; \
    INSERT INTO main.thought_records (session_id, position, id, parent_id, type, timestamp, prev_hash, content_hash, \
        chain_hash, private, last_event, line, nodes) \
    SELECT session_id, position, id, parent_id, type, timestamp, prev_hash, content_hash, chain_hash, private, \
        last_event + (SELECT events FROM temp.behind), line, nodes \
    FROM incoming.thought_records WHERE session_id IN temp.taken ORDER BY seq; \
    INSERT INTO main.merkle_nodes (session_id, level, node_index, hash) \
    SELECT session_id, level, node_index, hash FROM incoming.merkle_nodes WHERE session_id IN temp.taken; \
    INSERT INTO main.memory_short_term (note_id, session_id, key, text, put_at) \
    SELECT note_id + (SELECT notes FROM temp.behind), session_id, key, text, put_at \
    FROM incoming.memory_short_term WHERE session_id IN temp.taken ORDER BY note_id; \
    INSERT INTO main.memory_long_term (note_id, session_id, key, text_hash, record_id, put_at, packed_at, salt) \
    SELECT note_id + (SELECT notes FROM temp.behind), session_id, key, text_hash, record_id, put_at, packed_at, salt \
    FROM incoming.memory_long_term WHERE session_id IN temp.taken ORDER BY note_id; \
    INSERT INTO main.merkle_roots (session_id, root, record_count, finalized_at, scheme, genesis, head, signatures) \
    SELECT session_id, root, record_count, finalized_at, scheme, genesis, head, signatures \
    FROM incoming.merkle_roots WHERE session_id IN temp.taken ORDER BY rowid; \
    UPDATE main.audit_sessions SET ended_at = (SELECT ended_at FROM incoming.audit_sessions AS theirs \
        WHERE theirs.session_id = audit_sessions.session_id) \
    WHERE session_id IN (SELECT session_id FROM incoming.audit_sessions \
        WHERE ended_at IS NOT NULL AND session_id IN temp.taken); \
    INSERT INTO main.zones (session_id, zone, since, round, archive, archive_bytes, settled) \
    SELECT session_id, zone, since, round, archive, archive_bytes, settled \
    FROM incoming.zones WHERE session_id IN temp.taken; \
    INSERT INTO main.session_commits (session_id, commit_id) \
    SELECT session_id, commit_id FROM incoming.session_commits WHERE session_id IN temp.taken; \
    INSERT INTO main.anchors (commit_id, line_hash, line, change_id, written_at, seen_on) \
    SELECT commit_id, line_hash, line, change_id, written_at, seen_on FROM incoming.anchors WHERE true ORDER BY seq \
    ON CONFLICT DO NOTHING; \
    INSERT INTO main.sightings (change_id, line) SELECT change_id, line FROM incoming.sightings WHERE true \
    ON CONFLICT DO NOTHING; \
    INSERT INTO main.rounds (place, round, seal, commit_id, seen_at) \
    SELECT place, round, seal, commit_id, seen_at FROM incoming.rounds WHERE true ON CONFLICT DO NOTHING;";

/// Copies the current session of each worktree and agent, unless there is one here already.
const COPY_CURRENT: &str = "\
    INSERT INTO main.worktree_sessions (worktree, session_id) \
    SELECT worktree, session_id FROM incoming.worktree_sessions WHERE true ON CONFLICT DO NOTHING; \
    INSERT INTO main.agents (agent, agent_session, worktree, reserved, session_id, model, version, transcript, calls, \
        failed, message, message_kept, seen_at) \
    SELECT agent, agent_session, worktree, reserved, session_id, model, version, transcript, calls, failed, message, \
        message_kept, seen_at FROM incoming.agents WHERE true ON CONFLICT DO NOTHING; \
    INSERT INTO main.agent_chains (session_id, agent, agent_session, by_itself) \
    SELECT session_id, agent, agent_session, by_itself FROM incoming.agent_chains WHERE true ON CONFLICT DO NOTHING; \
    INSERT INTO main.disclosed (record_id, at) SELECT record_id, at FROM incoming.disclosed WHERE true \
    ON CONFLICT DO NOTHING;";

impl Store {
    /// All sessions, in the order in which they were opened.
    pub fn session_ids(&self) -> Result<Vec<Id>> {
        self.read(|connection| ids(connection, "SELECT session_id FROM audit_sessions ORDER BY rowid"))
    }

    /// Requires that SQLite finds no fault with the file.
    pub fn must_be_whole(&self) -> Result<()> {
        self.read(|connection| match connection.value::<String>("PRAGMA quick_check(1)", [])? {
            found if found == "ok" => Ok(()),
            found => Err(damaged(&found)),
        })
    }

    /// Takes over what another store has, which nobody else may be changing: it was opened and checked before. Where a
    /// session is here with other content, nothing is taken.
    pub fn merge(&mut self, other: &Path) -> Result<Merged> {
        let path = self.path.clone();
        let attached = self.connection.prepare("ATTACH ?1 AS incoming").and_then(|mut statement| {
            statement.execute([other.as_os_str().to_str().ok_or(rusqlite::Error::InvalidQuery)?])
        });
        attached.map_err(|error| failure(other, error))?;
        let merged = self.write(|transaction| {
            let different = ids(transaction, DIFFERENT)?;
            if !different.is_empty() {
                return Err(conflict(&different).into());
            }
            let merged = copy(transaction)?;
            if !merged.added.is_empty() {
                active::mark(&path)?;
            }
            Ok(merged)
        });
        let _ = self.connection.execute_batch("DETACH incoming"); // it goes with the connection
        merged
    }
}

/// Copies the sessions that are not here.
fn copy(transaction: &Connection) -> Result<Merged, Failure> {
    transaction.execute_batch(
        "CREATE TEMP TABLE taken AS SELECT session_id FROM incoming.audit_sessions \
         WHERE session_id NOT IN (SELECT session_id FROM main.audit_sessions) ORDER BY rowid; \
         CREATE TEMP TABLE behind AS SELECT \
         (SELECT coalesce(max(event_id), 0) FROM main.audit_events) AS events, \
         (SELECT max(coalesce((SELECT max(seq) FROM main.sqlite_sequence), 0), \
                     coalesce((SELECT max(note_id) FROM main.memory_long_term), 0))) AS notes, \
         NOT EXISTS (SELECT 1 FROM main.audit_sessions) AS was_empty;",
    )?;
    let count = |sql: &str| transaction.value::<u64>(sql, []);
    let added = ids(transaction, "SELECT session_id FROM temp.taken ORDER BY rowid")?;
    let known = count("SELECT count(*) FROM incoming.audit_sessions")? - added.len() as u64;
    let records = count("SELECT count(*) FROM incoming.thought_records WHERE session_id IN temp.taken")?;
    transaction.execute_batch(COPY)?;
    if count("SELECT was_empty FROM temp.behind")? == 1 {
        transaction.execute_batch(COPY_CURRENT)?;
    }
    // A packed note keeps its number, and no new one may get it.
    transaction.execute_batch(
        "INSERT INTO main.sqlite_sequence (name, seq) SELECT 'memory_short_term', 0 \
         WHERE NOT EXISTS (SELECT 1 FROM main.sqlite_sequence WHERE name = 'memory_short_term'); \
         UPDATE main.sqlite_sequence SET seq = max(seq, coalesce((SELECT max(note_id) FROM main.memory_long_term), 0)) \
         WHERE name = 'memory_short_term'; \
         DROP TABLE temp.taken; DROP TABLE temp.behind;",
    )?;
    Ok(Merged { added, known, records })
}

fn ids(connection: &Connection, sql: &str) -> Result<Vec<Id>, Failure> {
    connection.all(sql, [], |row| Ok(row.get(0)?))
}

/// Sessions that are named in a refusal; its details name all of them.
const NAMED: usize = 10;

fn conflict(different: &[Id]) -> Error {
    let mut names: Vec<&str> = different.iter().take(NAMED).map(Id::as_str).collect();
    if different.len() > NAMED {
        names.push("…");
    }
    let names = names.join(", ");
    let (count, s) = (different.len(), if different.len() == 1 { "" } else { "s" });
    let what = format!(
        "nothing was imported: {count} session{s} differ{} from what is here: {names}",
        if s.is_empty() { "s" } else { "" }
    );
    Error::new(Code::ImportConflict, what)
        .hint("to take the backup as it is, move .git/proof/store.db away with the files beside it and import again")
        .details(serde_json::json!({ "session_ids": different }))
}
