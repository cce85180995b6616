//! Processes that see nothing of the machine they run on: no settings, no home, one language, one time zone.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A command that runs in `directory`, which is its home as well.
pub(crate) fn command(program: impl AsRef<OsStr>, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", directory)
        .env("XDG_CONFIG_HOME", directory.join("config"))
        .env("LC_ALL", "C")
        .env("TZ", "UTC")
        .env("NO_COLOR", "1")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CEILING_DIRECTORIES", directory)
        // No test cuts the power: git need not wait for the disk, which took half of the time.
        .env("GIT_TEST_FSYNC", "false")
        .current_dir(directory)
        .stdin(Stdio::null());
    command
}

/// The tool under test.
pub(crate) fn git_proof(directory: &Path) -> Command {
    command(env!("CARGO_BIN_EXE_git-proof"), directory)
}

/// What a finished process said, as text.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Run {
    command.output().unwrap().into()
}

/// Runs a command that reads `input`.
pub(crate) fn run_with_input(command: &mut Command, input: &[u8]) -> Run {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command may stop reading before the end; that it did is for its exit code to say.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap().into()
}

/// Puts a program to another place. Where a link will not do, another process copies it: a child that is started by another
/// thread while this process writes would keep the file open, and a file that is open for writing cannot be run.
pub(crate) fn put_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    if std::fs::hard_link(&from, &to).is_err() {
        let copied = Command::new("cp").arg(from.as_ref()).arg(to.as_ref()).status().unwrap();
        assert!(copied.success());
    }
}
