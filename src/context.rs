//! The surroundings of the process: clock, random ids, environment, working directory. No other module reads them.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::access::open_without_waiting;
use crate::proof::digest::{Salt, sha256};
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;

/// The surroundings of one command.
#[derive(Debug, Clone)]
pub struct Context {
    /// The directory in which the command works: that of the process, changed by `-C`.
    pub directory: PathBuf,
    clock: Option<Timestamp>,
    /// Is told how many commits of how many have been judged.
    progress: fn(usize, usize),
}

impl Context {
    /// The surroundings of this process.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory, clock: None, progress: |_, _| () }
    }

    /// The same surroundings with someone who waits: `tell` is called with how many commits of how many have been judged,
    /// from several threads, and as often as there is news.
    #[must_use]
    pub fn with_progress(self, tell: fn(usize, usize)) -> Self {
        Self { progress: tell, ..self }
    }

    /// Tells whoever waits how many commits of how many have been judged.
    pub(crate) fn tell_progress(&self, judged: usize, all: usize) {
        (self.progress)(judged, all);
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
        timestamp(SystemTime::now())
    }

    /// Now, in seconds since 1970.
    pub fn seconds(&self) -> i64 {
        self.clock.map_or_else(|| milliseconds(SystemTime::now()).div_euclid(1000), |now| now.seconds())
    }

    /// A new random id.
    pub fn new_id(&self) -> Id {
        match Id::parse(&uuid::Uuid::new_v4().to_string()) {
            Some(id) => id,
            None => unreachable!("a UUID is an id"),
        }
    }

    /// New random bytes: of the 366 random bits of three ids, all that a digest holds.
    pub fn new_salt(&self) -> Salt {
        let random = [(); 3].map(|()| uuid::Uuid::new_v4().into_bytes());
        Salt::new(sha256(&random.concat()))
    }

    /// How long to wait for another writer: five seconds, or as many milliseconds as `GIT_PROOF_PATIENCE` says.
    pub fn patience(&self) -> Duration {
        let set = self.variable("GIT_PROOF_PATIENCE").and_then(|value| value.to_str()?.parse().ok());
        set.map_or(Duration::from_secs(5), Duration::from_millis)
    }

    /// The directory for temporary files.
    pub fn temporary_directory(&self) -> PathBuf {
        std::env::temp_dir()
    }

    /// The file of the running program.
    pub fn executable(&self) -> Option<PathBuf> {
        std::env::current_exe().ok()
    }

    /// The number of the user who called sudo.
    pub(crate) fn called_sudo(&self) -> Option<u32> {
        self.variable("SUDO_UID")?.to_str()?.parse().ok()
    }

    /// A variable of the environment; one that is empty counts as not set.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name).filter(|value| !value.is_empty())
    }
}

/// Milliseconds since 1970; negative for a clock that is set before.
fn milliseconds(time: SystemTime) -> i64 {
    let count = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => count(after),
        Err(before) => -count(before.duration()),
    }
}

/// A time of the clock as records have it. One outside the years 0 to 9999 becomes the nearer end.
fn timestamp(time: SystemTime) -> Timestamp {
    let milliseconds = milliseconds(time);
    let text = chrono::DateTime::from_timestamp_millis(milliseconds)
        .map(|time| time.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string());
    let edge = if milliseconds < 0 { "0000-01-01T00:00:00.000Z" } else { "9999-12-31T23:59:59.999Z" };
    match text.and_then(|text| Timestamp::parse(&text)).or_else(|| Timestamp::parse(edge)) {
        Some(time) => time,
        None => unreachable!("both ends are times"),
    }
}

/// Opens a file that someone else may have put there, for reading. Refuses everything but a regular file: opening a pipe
/// waits until somebody writes to it, and a device may have no end.
pub fn open_regular(path: &Path) -> io::Result<File> {
    must_be_regular(&fs::metadata(path)?)?;
    // The file may be another one by now.
    let file = open_without_waiting(path)?;
    must_be_regular(&file.metadata()?)?;
    Ok(file)
}

/// Opens a file that the user names. What a shell has opened itself, such as `<(command)`, may be a pipe.
pub fn open_named(path: &Path) -> io::Result<File> {
    let is_descriptor = ["/dev/fd/", "/proc/self/fd/"].iter().any(|folder| path.starts_with(folder));
    if is_descriptor || path == Path::new("/dev/stdin") { File::open(path) } else { open_regular(path) }
}

/// Largest file of settings, messages or names that is read, in bytes. No person writes a larger one.
const MAX_FILE: u64 = 16 << 20;

/// Reads a small file that someone else may have put there.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {MAX_FILE} bytes")));
    }
    Ok(bytes)
}

/// The same as text; `None` where there is no such file, or it is not UTF-8.
pub fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(read_regular(path).ok()?).ok()
}

/// Refuses a path at which something else than a regular file stands. Nothing at all is fine.
pub fn refuse_irregular(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) => must_be_regular(&found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn must_be_regular(found: &fs::Metadata) -> io::Result<()> {
    if found.is_file() {
        return Ok(());
    }
    let what = if found.is_dir() { "it is a directory" } else { "it is a pipe or a device, not a regular file" };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_of_any_year_is_a_time_and_no_panic() {
        let day = Duration::from_hours(24);
        let before = |duration| SystemTime::UNIX_EPOCH.checked_sub(duration).unwrap_or(SystemTime::UNIX_EPOCH);
        let after = |duration| SystemTime::UNIX_EPOCH.checked_add(duration).unwrap_or(SystemTime::UNIX_EPOCH);
        for (time, text) in [
            (SystemTime::UNIX_EPOCH, "1970-01-01T00:00:00.000Z"),
            (before(Duration::from_millis(1)), "1969-12-31T23:59:59.999Z"),
            (before(day), "1969-12-31T00:00:00.000Z"),
            (before(day * 365_250 * 3), "0000-01-01T00:00:00.000Z"),
            (before(Duration::from_secs(i64::MAX as u64)), "0000-01-01T00:00:00.000Z"),
            (after(day), "1970-01-02T00:00:00.000Z"),
            (after(day * 365_250 * 9), "9999-12-31T23:59:59.999Z"),
            (after(Duration::from_secs(i64::MAX as u64)), "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(timestamp(time).as_str(), text, "{time:?}");
        }
        assert_eq!(milliseconds(before(Duration::from_millis(1))).div_euclid(1000), -1);
    }
}
