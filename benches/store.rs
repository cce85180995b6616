//! What recording costs over a bare durable insert, and whether it grows with what the store holds already.
//!
//! `cargo bench --bench store`

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop

mod table;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use git_proof::context::Context;
use git_proof::proof::record::{Id, Opening, RecordType};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::timestamp::Timestamp;
use git_proof::publish;
use git_proof::record::{self, RecordRequest, StartRequest, Workspace};
use git_proof::store::{NewEntry, NewEvent, NewSession, NewThought, Store};
use rusqlite::config::DbConfig;
use sha2::{Digest as _, Sha256};
use table::{Row, Target, medians, peak_memory_kib, run};

const PATIENCE: Duration = Duration::from_mins(1);
const LARGE_SESSIONS: u32 = 10_000;
const RECORDS_PER_SESSION: u32 = 100;
const LONG_SESSION: u32 = 1_000_000;
/// About what an agent writes: a paragraph.
const CONTENT: &str = "Chose the write-ahead log over the rollback journal: readers go on while a writer commits. \
                       Rejected: one file per record, which would need a directory sync for each; a server, which nobody wants.";

fn main() {
    // The bare program is this one, started again: the same linker, the same SQLite.
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, flag, file] = arguments.as_slice()
        && flag == "--bare-insert"
    {
        return bare_insert(&bare_connection(Path::new(file)));
    }
    if !table::wanted() {
        return;
    }
    let mut rows = Vec::new();
    rows.extend(against_a_bare_insert());
    rows.extend(in_a_large_store());
    rows.extend(in_a_long_session());
    table::print(&rows);
}

/// The same durability as the store's, and nothing else.
fn bare_connection(file: &Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    connection.execute_batch("PRAGMA synchronous = FULL").unwrap();
    connection
}

fn bare_insert(connection: &rusqlite::Connection) {
    connection.prepare_cached("INSERT INTO bare (content) VALUES (?1)").unwrap().execute([CONTENT]).unwrap();
}

fn against_a_bare_insert() -> Vec<Row> {
    let scratch = Scratch::new();
    let mut workspace = scratch.workspace();
    // In a file of its own: two writers on one file drop each other's cache, which is not what this is about.
    let bare_file = scratch.directory.path().join("bare.db");
    // The process opens a file with the schema of the store: a store with one more table would be refused.
    let like_the_store = scratch.directory.path().join("like-the-store.db");
    let store = bare_connection(&scratch.store());
    store.execute("VACUUM INTO ?1", [like_the_store.to_str().unwrap()]).unwrap();
    drop(store);
    for file in [&bare_file, &like_the_store] {
        let bare = bare_connection(file);
        bare.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE bare (content TEXT NOT NULL) STRICT").unwrap();
    }
    let bare = bare_connection(&bare_file);
    let request = record_request(None);
    let [ours, baseline] = medians(
        2000,
        [
            &mut || {
                black_box(publish::record(&mut workspace, &request).unwrap());
            },
            &mut || bare_insert(&bare),
        ],
    );
    drop((workspace, bare));
    let [process, bare_process] = medians(
        200,
        [&mut || scratch.run(&["record", "--type", "analysis", "--content", CONTENT]), &mut || {
            run(Command::new(std::env::current_exe().unwrap()).arg("--bare-insert").arg(&like_the_store));
        }],
    );
    vec![
        Row::speed("append in one process : bare durable insert", ours, baseline, Target::AtLeast(0.75)),
        Row::cost("record as a process : bare program with a durable insert", process, bare_process, 2.0),
    ]
}

fn in_a_large_store() -> Vec<Row> {
    let (empty, large) = (Scratch::new(), Scratch::new());
    fill(&large.store());
    let mut rows = Vec::new();
    let sessions = [&empty, &large].map(|scratch| scratch.session_of(RECORDS_PER_SESSION));
    for command in ["record", "root", "prove", "log"] {
        let [in_empty, in_large] = medians(
            60,
            [&mut || empty.run(&sessions[0].arguments(command)), &mut || large.run(&sessions[1].arguments(command))],
        );
        let figure = format!("{command} with 1,000,000 records in the store : in an empty one");
        rows.push(Row::cost(&figure, in_large, in_empty, 1.2));
    }
    rows
}

fn in_a_long_session() -> Vec<Row> {
    let scratch = Scratch::new();
    let mut store = Store::open(&scratch.store(), PATIENCE).unwrap();
    let session = start(&mut store, "long");
    append(&mut store, &session, LONG_SESSION);
    drop(store);
    let hashed = bytes_hashed(&scratch.store(), &session);
    let hash_all = || {
        for line in &hashed {
            black_box(Sha256::digest(line));
        }
    };
    let id = session.as_str();
    let [check, hashing] = medians(5, [&mut || scratch.run(&["check", "--session", id]), &mut || hash_all()]);
    let peak = peak_memory_kib(&mut scratch.command(&["check", "--session", id]));
    // A session is finalized once: each round works on a copy of the store.
    let finalize = (0..3).map(|_| {
        let copy = Scratch::copy_of(&scratch);
        let [check, finalize] = medians(
            1,
            [&mut || copy.run(&["check", "--session", id]), &mut || copy.run(&["finalize", "--session", id])],
        );
        (finalize, check)
    });
    let mut finalize: Vec<(Duration, Duration)> = finalize.collect();
    finalize
        .sort_by(|(a, b), (c, d)| (a.as_secs_f64() / b.as_secs_f64()).total_cmp(&(c.as_secs_f64() / d.as_secs_f64())));
    let (finalize, check_before) = finalize[finalize.len() / 2];
    vec![
        Row::speed("check of 1,000,000 entries : hashing the same bytes", check, hashing, Target::AtLeast(0.5)),
        Row::memory("peak memory of that check", peak, 64 << 10),
        Row::cost("finalize of 1,000,000 entries : check of them", finalize, check_before, 1.3),
    ]
}

/// A repository of its own.
struct Scratch {
    directory: tempfile::TempDir,
}

/// A session and one of its records.
struct Known {
    open: String,
    finalized: String,
    record: String,
}

impl Known {
    fn arguments<'a>(&'a self, command: &'a str) -> Vec<&'a str> {
        match command {
            "record" => vec!["record", "--type", "analysis", "--content", CONTENT, "--session", &self.open],
            "prove" => vec!["prove", "--record", &self.record],
            _ => vec![command, "--session", &self.finalized],
        }
    }
}

impl Scratch {
    fn new() -> Self {
        let scratch = Self { directory: tempfile::tempdir().unwrap() };
        run(Command::new("git").args(["init", "-q"]).arg(scratch.directory.path()));
        let mut workspace = Workspace::open_or_create(scratch.context()).unwrap();
        let request =
            StartRequest { intent: "measure".into(), caller: Some("bench".into()), ..StartRequest::default() };
        record::start(&mut workspace, &request).unwrap();
        scratch
    }

    fn copy_of(other: &Self) -> Self {
        let scratch = Self { directory: tempfile::tempdir().unwrap() };
        run(Command::new("cp").arg("-a").arg(other.directory.path().join(".git")).arg(scratch.directory.path()));
        scratch
    }

    fn context(&self) -> Context {
        Context::new(self.directory.path().to_owned())
    }

    fn workspace(&self) -> Workspace {
        Workspace::open(self.context()).unwrap()
    }

    fn store(&self) -> PathBuf {
        self.directory.path().join(".git/proof/store.db")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_git-proof"));
        command.arg("-C").arg(self.directory.path()).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) {
        run(&mut self.command(arguments));
    }

    /// Two sessions of so many records, of which one is finalized, and a record of that one.
    fn session_of(&self, records: u32) -> Known {
        let mut store = Store::open(&self.store(), PATIENCE).unwrap();
        let (open, closed) = (start(&mut store, "open"), start(&mut store, "finalized"));
        append(&mut store, &open, records);
        append(&mut store, &closed, records);
        store.finalize(&closed, &event()).unwrap();
        let record = store.log(&closed, None).unwrap().entries[records as usize / 2].id.to_string();
        Known { open: open.to_string(), finalized: closed.to_string(), record }
    }
}

fn record_request(session: Option<&Id>) -> RecordRequest {
    RecordRequest {
        session: session.map(ToString::to_string),
        kind: "analysis".into(),
        content: CONTENT.into(),
        ..RecordRequest::default()
    }
}

fn now() -> Timestamp {
    Timestamp::parse("2026-03-01T00:00:00.000Z").unwrap()
}

fn event() -> NewEvent<'static> {
    NewEvent { tool: "bench", arguments: b"", at: now() }
}

fn start(store: &mut Store, name: &str) -> Id {
    let opening = Opening {
        caller: "bench".into(),
        intent: name.into(),
        proof_grade: false,
        scheme: Scheme::V1,
        session_id: Id::parse(name).unwrap(),
        started_at: now(),
        task_id: None,
    };
    store.start(&NewSession { opening: &opening, worktree: Some("bench") }, &event()).unwrap();
    opening.session_id
}

/// Appends in transactions of ten thousand: what is measured comes later.
fn append(store: &mut Store, session: &Id, records: u32) {
    for from in (0..records).step_by(10_000) {
        let entries: Vec<NewEntry<'_>> = (from..records.min(from + 10_000))
            .map(|number| {
                NewEntry::Thought(NewThought {
                    id: Id::parse(&format!("{}-{number}", session.as_str())).unwrap(),
                    kind: RecordType::Analysis,
                    content: CONTENT,
                    metadata: None,
                    parent: None,
                    private: false,
                    timestamp: now(),
                })
            })
            .collect();
        store.append(session, &entries, &event()).unwrap();
    }
}

fn fill(file: &Path) {
    let mut store = Store::open(file, PATIENCE).unwrap();
    for number in 0..LARGE_SESSIONS {
        let session = start(&mut store, &format!("session-{number}"));
        append(&mut store, &session, RECORDS_PER_SESSION);
    }
}

/// What a check of the session must hash: each line, and each link of the chain.
fn bytes_hashed(file: &Path, session: &Id) -> Vec<Vec<u8>> {
    let connection = rusqlite::Connection::open(file).unwrap();
    let mut lines =
        connection.prepare("SELECT line, content_hash, prev_hash FROM thought_records WHERE session_id = ?1").unwrap();
    let rows = lines.query_map([session.as_str()], |row| {
        let line: String = row.get(0)?;
        let (content, prev): (Vec<u8>, Vec<u8>) = (row.get(1)?, row.get(2)?);
        Ok([line.into_bytes(), [content, prev].concat()])
    });
    rows.unwrap().flat_map(|row| row.unwrap()).collect()
}
