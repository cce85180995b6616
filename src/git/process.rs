//! What only git knows, asked of git itself, and what only git can do: the network, and refs that libgit2 cannot read.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::open::Git;
use crate::context::Context;
use crate::error::{Code, Error, Result};

/// Who works here, as git would write it into a commit: `Name <email>`. `None` if git does not know.
pub fn identity(context: &Context) -> Option<String> {
    let ident = variable(context, "GIT_AUTHOR_IDENT")?;
    // "Name <email> 1700000000 +0100": the time is not part of who.
    let (who, _) = ident.rsplit_once('>')?;
    Some(format!("{who}>"))
}

/// The editor that git would open.
pub fn editor(context: &Context) -> Option<String> {
    variable(context, "GIT_EDITOR")
}

/// The pager that git would start on a terminal; `None` where it would start none.
pub fn pager(context: &Context) -> Option<String> {
    variable(context, "GIT_PAGER").filter(|pager| pager != "cat")
}

/// Whether git would paint what it prints here, by its setting `color.ui`.
pub fn paints(context: &Context, terminal: bool) -> bool {
    let to_terminal = if terminal { "true" } else { "false" };
    let said = ask(context, &["config", "--get-colorbool", "color.ui", to_terminal]);
    said.map_or(terminal, |said| said.starts_with(b"true"))
}

/// The top directory of the worktree. `None` where there is none: in a bare repository, or outside of any.
pub fn worktree_root(context: &Context) -> Option<PathBuf> {
    let mut path = ask(context, &["rev-parse", "--show-toplevel"])?;
    // Only the newline that git adds: a directory's name may end in anything.
    path.pop_if(|byte| *byte == b'\n');
    (!path.is_empty()).then(|| PathBuf::from(OsString::from_vec(path)))
}

/// The repository that git works in here; `None` where it refuses to.
pub(super) fn git_dir(context: &Context) -> Option<Vec<u8>> {
    ask(context, &["rev-parse", "--git-dir"])
}

/// Lets git add a trailer to the message in a file, by the user's own settings. One that is there is not added again.
pub fn interpret_trailers(context: &Context, file: &Path, line: &str) -> Result<()> {
    let output = Command::new("git")
        .args(["interpret-trailers", "--in-place", "--no-divider", "--if-exists", "addIfDifferent", "--trailer", line])
        .arg(file)
        .current_dir(&context.directory)
        .stdin(Stdio::null())
        .output();
    let failed = |why: String| Error::new(Code::RepositoryFailed, "git interpret-trailers failed").because(why.trim());
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(failed(String::from_utf8_lossy(&output.stderr).into_owned())),
        Err(error) => Err(failed(error.to_string())),
    }
}

fn variable(context: &Context, name: &str) -> Option<String> {
    let text = String::from_utf8(ask(context, &["var", name])?).ok()?.trim_end().to_owned();
    (!text.is_empty()).then_some(text)
}

/// What git answers to a question; `None` where it fails.
pub(super) fn ask(context: &Context, arguments: &[&str]) -> Option<Vec<u8>> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(&context.directory)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then_some(output.stdout)
}

impl Git {
    /// A git command in this repository that sees its objects as they are: no replaced objects, no grafts, nothing
    /// fetched on the way, no program that the configuration names, and messages in English.
    pub(super) fn plumbing<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.porcelain(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
        command
            .args(arguments)
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_GRAFT_FILE", "/dev/null")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_FLUSH", "0") // rev-list would write each line by itself
            .env_remove("GIT_SHALLOW_FILE")
            .stdin(Stdio::null());
        command
    }

    /// A git command in this repository as the user would run it.
    pub(super) fn porcelain<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new("git");
        command
            .args(arguments)
            .current_dir(&self.context.directory)
            .env("GIT_DIR", &self.place.git_dir)
            .env("LC_ALL", "C");
        command
    }

    /// Runs a command to its end.
    pub(super) fn run(&self, command: &mut Command) -> Result<Output> {
        command.output().map_err(|error| self.not_run(error))
    }

    /// Runs a command to its end, and does something else meanwhile.
    pub(super) fn run_beside<T>(&self, command: &mut Command, work: impl FnOnce() -> T) -> Result<(Output, T)> {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.map_err(|error| self.not_run(error))?;
        let done = work();
        Ok((child.wait_with_output().map_err(|error| self.not_run(error))?, done))
    }

    fn not_run(&self, error: std::io::Error) -> Error {
        Error::new(Code::RepositoryFailed, format!("cannot run git in {}", self.context.directory.display()))
            .because(error)
            .hint("git must be on the PATH")
    }

    /// What a command prints, if it succeeds.
    pub(super) fn text_of(&self, command: &mut Command) -> Result<Option<String>> {
        let output = self.run(command)?;
        Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned()))
    }
}
