//! What the process reads from around it: clock, random ids, environment, working directory. Nothing else does.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;

/// The surroundings of one command.
#[derive(Debug, Clone)]
pub struct Context {
    /// Where the command works: the process's directory, moved by `-C`.
    pub directory: PathBuf,
    clock: Option<Timestamp>,
}

impl Context {
    /// The surroundings of this process.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory, clock: None }
    }

    /// The same surroundings with a clock that stands still. No command has one: it is for those who call the library
    /// and must know what time it is, such as tests of what happens when clocks are wrong.
    #[must_use]
    pub fn with_clock(self, now: Timestamp) -> Self {
        Self { clock: Some(now), ..self }
    }

    /// A path as it was given on the command line, seen from the working directory.
    pub fn path(&self, given: &Path) -> PathBuf {
        if self.directory == Path::new(".") { given.to_owned() } else { self.directory.join(given) }
    }

    /// Now, to the millisecond. A clock outside the years 0 to 9999 is held at the nearer end.
    pub fn now(&self) -> Timestamp {
        if let Some(now) = self.clock {
            return now;
        }
        let text = chrono::Utc::now().format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
        let edge = || if text.starts_with('-') { "0000-01-01T00:00:00.000Z" } else { "9999-12-31T23:59:59.999Z" };
        match Timestamp::parse(&text).or_else(|| Timestamp::parse(edge())) {
            Some(now) => now,
            None => unreachable!("both ends are times"),
        }
    }

    /// Now, in seconds since 1970.
    pub fn seconds(&self) -> i64 {
        chrono::Utc::now().timestamp()
    }

    /// A new random id.
    pub fn new_id(&self) -> Id {
        match Id::parse(&uuid::Uuid::new_v4().to_string()) {
            Some(id) => id,
            None => unreachable!("a UUID is an id"),
        }
    }

    /// How long to wait for another writer: five seconds, or as many milliseconds as `GIT_PROOF_PATIENCE` says.
    pub fn patience(&self) -> Duration {
        let set = self.variable("GIT_PROOF_PATIENCE").and_then(|value| value.to_str()?.parse().ok());
        set.map_or(Duration::from_secs(5), Duration::from_millis)
    }

    /// Where files that are soon gone belong.
    pub fn temporary_directory(&self) -> PathBuf {
        std::env::temp_dir()
    }

    /// The file of the running program.
    pub fn executable(&self) -> Option<PathBuf> {
        std::env::current_exe().ok()
    }

    /// A variable of the environment; one that is empty counts as not set.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name).filter(|value| !value.is_empty())
    }
}
