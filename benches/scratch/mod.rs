//! Repositories to measure in.

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop
#![allow(dead_code)] // each benchmark takes what it needs

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use git_proof::proof::record::{Id, Opening, RecordType};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::timestamp::Timestamp;
use git_proof::store::{NewEntry, NewEvent, NewSession, NewThought, Store};

use crate::table::run;

/// About what an agent writes: a paragraph.
pub(crate) const CONTENT: &str = "Chose the write-ahead log over the rollback journal: readers go on while a writer \
    commits. Rejected: one file per record, which would need a directory sync for each; a server, which nobody wants.";

/// A repository with a commit, which is gone in the end.
pub(crate) struct Scratch {
    directory: tempfile::TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let scratch = Self { directory: tempfile::tempdir().unwrap() };
        for arguments in [
            &["init", "-q"][..],
            &["config", "user.name", "A U Thor"],
            &["config", "user.email", "a@example.com"],
            &["commit", "-q", "--allow-empty", "-m", "the first"],
        ] {
            run(&mut scratch.git(arguments));
        }
        scratch
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.path().join(".git/proof/store.db")
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> Command {
        self.command("git", arguments)
    }

    /// The program that is measured.
    pub(crate) fn git_proof(&self, arguments: &[&str]) -> Command {
        self.command(env!("CARGO_BIN_EXE_git-proof"), arguments)
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.path());
        command
    }

    /// Records so many sessions of a hundred entries.
    pub(crate) fn fill(&self, sessions: u32) {
        let mut store = Store::open_or_create(&self.store(), Duration::from_mins(1)).unwrap();
        for number in 0..sessions {
            record(&mut store, &format!("session-{number}"), 100);
        }
    }

    /// Records one session of so many entries.
    pub(crate) fn session(&self, name: &str, entries: usize) {
        record(&mut Store::open_or_create(&self.store(), Duration::from_mins(1)).unwrap(), name, entries);
    }
}

/// Records a session in transactions of ten thousand entries: what is measured comes later.
fn record(store: &mut Store, session: &str, count: usize) {
    let now = Timestamp::parse("2026-03-01T00:00:00.000Z").unwrap();
    let event = NewEvent { tool: "bench", arguments: b"", at: now };
    let opening = Opening {
        caller: "bench".into(),
        intent: "one of many".into(),
        proof_grade: false,
        scheme: Scheme::V1,
        session_id: Id::parse(session).unwrap(),
        started_at: now,
        task_id: None,
    };
    store.start(&NewSession { opening: &opening, worktree: None }, &event).unwrap();
    let thought = |entry: usize| {
        let id = Id::parse(&format!("{session}-{entry}")).unwrap();
        let (kind, metadata, parent, private, timestamp) = (RecordType::Analysis, None, None, false, now);
        NewEntry::Thought(NewThought { id, kind, content: CONTENT, metadata, parent, private, timestamp })
    };
    for from in (0..count).step_by(10_000) {
        let entries: Vec<NewEntry<'_>> = (from..count.min(from + 10_000)).map(thought).collect();
        store.append(&opening.session_id, &entries, &event).unwrap();
    }
}
