//! A repository of its own for each test, made by the real git, and commands that see nothing of the machine but its
//! programs: no user's configuration, locale, time zone or hooks.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rusqlite::Connection;
use serde_json::Value;

use crate::common;

/// A directory that is gone after the test, with a home and a place to work in.
pub(crate) struct Scratch {
    folder: tempfile::TempDir,
    /// Where commands run.
    pub(crate) place: PathBuf,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("commands print UTF-8");
        Self { exit: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ran {
    /// The JSON on standard output of a command that succeeded.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.exit, Some(0), "{}", self.err);
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }

    /// Standard output of a command that succeeded.
    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        assert_eq!(self.exit, Some(0), "{}", self.err);
        &self.out
    }

    /// The error of a command that was given `--json` and was refused, with a hint, and with nothing on stdout.
    #[track_caller]
    pub(crate) fn error(&self, code: &str, exit: i32) -> Value {
        let error: Value = serde_json::from_str(&self.err).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        let error = error["error"].clone();
        assert_eq!((error["code"].as_str(), self.exit), (Some(code), Some(exit)), "{error}");
        assert!(error["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "no hint: {error}");
        assert_eq!(self.out, "");
        error
    }
}

impl Scratch {
    /// A place that is in no repository.
    pub(crate) fn without_repository() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("place");
        std::fs::create_dir(folder.path().join("home")).unwrap();
        std::fs::create_dir(&place).unwrap();
        Self { folder, place }
    }

    /// A fresh repository.
    pub(crate) fn new() -> Self {
        let scratch = Self::without_repository();
        scratch.git(["init", "--quiet", "--initial-branch=main"]);
        scratch
    }

    /// A fresh repository with an open session named `s`.
    pub(crate) fn with_session() -> Self {
        let scratch = Self::new();
        scratch.start("s", &[]);
        scratch
    }

    /// The directory around the place, for what must lie outside of it.
    pub(crate) fn around(&self) -> &Path {
        self.folder.path()
    }

    /// A command in a clean environment.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = common::command(program, &self.place);
        let identity = [
            ("GIT_AUTHOR_NAME", "Ada Tester"),
            ("GIT_AUTHOR_EMAIL", "ada@example.org"),
            ("GIT_COMMITTER_NAME", "Ada Tester"),
            ("GIT_COMMITTER_EMAIL", "ada@example.org"),
        ];
        command.envs(identity).env("HOME", self.folder.path().join("home"));
        // A scratch directory below some repository must not be taken for a part of it.
        command.env("GIT_CEILING_DIRECTORIES", self.folder.path());
        command
    }

    /// The program under test.
    pub(crate) fn proof<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_git-proof"));
        command.args(arguments);
        command
    }

    /// Runs the program under test.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Ran {
        self.proof(arguments).output().unwrap().into()
    }

    /// Runs it with `--json` and some bytes on standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut command = self.proof(["--json"]);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let _ = stdin.write_all(input); // who refuses need not read it all
            });
            child.wait_with_output().unwrap().into()
        })
    }

    /// Runs it with `--json`; it must succeed.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.run(["--json"].iter().chain(arguments)).json()
    }

    /// Runs it with `--json`; it must be refused like this.
    #[track_caller]
    pub(crate) fn refused(&self, arguments: &[&str], code: &str, exit: i32) -> Value {
        self.run(["--json"].iter().chain(arguments)).error(code, exit)
    }

    /// Starts a session with this id.
    #[track_caller]
    pub(crate) fn start(&self, id: &str, more: &[&str]) -> Value {
        self.json(&[&["start", "--intent", "try it", "--session-id", id], more].concat())
    }

    /// Records into the current session.
    #[track_caller]
    pub(crate) fn record(&self, kind: &str, content: &str) -> Value {
        self.json(&["record", "--type", kind, "--content", content])
    }

    /// Runs git; it must succeed.
    #[track_caller]
    pub(crate) fn git<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> String {
        let ran: Ran = self.command("git").args(arguments).output().unwrap().into();
        assert_eq!(ran.exit, Some(0), "{}", ran.err);
        ran.out
    }

    /// The store's file.
    pub(crate) fn store(&self) -> PathBuf {
        self.place.join(".git/proof/store.db")
    }

    /// The store, for those who go around the program.
    pub(crate) fn database(&self) -> Connection {
        Connection::open(self.store()).unwrap()
    }

    /// The store with its triggers dropped; they are back as they were once this is.
    pub(crate) fn without_triggers(&self) -> WithoutTriggers {
        WithoutTriggers::new(self.database())
    }

    /// The number of rows of a table.
    pub(crate) fn rows(&self, table: &str) -> i64 {
        self.database().query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    }
}

/// A store whose triggers are away for a while: whoever goes around the program and knows what it looks for.
pub(crate) struct WithoutTriggers {
    database: Connection,
    triggers: Vec<String>,
}

impl WithoutTriggers {
    pub(crate) fn new(database: Connection) -> Self {
        let triggers: Vec<(String, String)> = database
            .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        for (name, _) in &triggers {
            database.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
        }
        Self { database, triggers: triggers.into_iter().map(|(_, sql)| sql).collect() }
    }
}

impl std::ops::Deref for WithoutTriggers {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.database
    }
}

impl Drop for WithoutTriggers {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.triggers.iter().for_each(|sql| self.database.execute_batch(sql).unwrap());
        }
    }
}

/// The text of a JSON field.
#[track_caller]
pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no text in {field}: {value}"))
}

/// Runs this very test again in a clean environment, for what the library reads from it. True in the inner run.
#[track_caller]
pub(crate) fn in_clean_environment(scratch: &Scratch, test: &str) -> bool {
    const MARK: &str = "GIT_PROOF_TEST_INNER";
    let inner = std::env::var_os(MARK).is_some();
    if !inner {
        let mut command = scratch.command(std::env::current_exe().unwrap());
        let ran: Ran = command.args(["--exact", test]).env(MARK, "1").output().unwrap().into();
        assert_eq!(ran.exit, Some(0), "{}{}", ran.out, ran.err);
        assert!(ran.out.contains("1 passed"), "{test} is not the name of this test");
    }
    inner
}

/// Whether system calls cannot be watched here; it says so.
pub(crate) fn no_strace(scratch: &Scratch) -> bool {
    let works = has("strace")
        && scratch.command("strace").args(["-f", "-e", "trace=openat", "true"]).output().unwrap().status.success();
    if !works {
        eprintln!("left out: strace is not here, or may not trace");
    }
    !works
}

/// Runs the program under a strace that is set up, with something done to the `nth` call of this name; whether that call
/// came about.
pub(crate) fn with_fault(
    scratch: &Scratch,
    strace: &mut Command,
    (fault, call, nth): (&str, &str, usize),
    program: &[&str],
) -> (Ran, bool) {
    let log = scratch.around().join("strace.log");
    strace.arg("-o").arg(&log).args(["-e", &format!("trace={call}")]);
    strace.args(["-e", &format!("inject={call}:{fault}:when={nth}")]).arg(env!("CARGO_BIN_EXE_git-proof"));
    let output = strace.args(program).output().unwrap();
    let log = std::fs::read_to_string(&log).unwrap();
    let hit = log.contains("(INJECTED)") || log.contains("killed by SIGKILL") || output.status.signal().is_some();
    // Not as a command that runs to its end: one that is killed may have printed half a letter.
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (Ran { exit: output.status.code(), out: lossy(&output.stdout), err: lossy(&output.stderr) }, hit)
}

/// Whether a program is on the path.
pub(crate) fn has(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

/// Numbers that look random and are the same in every run (SplitMix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.roll() % limit
    }
}
