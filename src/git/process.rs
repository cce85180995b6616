//! Runs git for what only git knows or can do: identities, the network, and refs that libgit2 cannot read.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::limits::{MAX_PATH_BYTES, cost};
use super::open::Git;
use crate::access::{Sharing, kill_all_of, owned_name, parent_id};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::proof::digest::CommitId;

/// Most bytes that git may allocate at once, so that a commit or tree of any size does not fill the memory. Git's table of
/// eight million commits fits.
const ALLOC_LIMIT: &str = "128m";

/// Most bytes of memory of a git that judges what others have pushed: the merges of git's own history take a tenth, and a walk
/// over 300,000 commits takes all of it.
const DATA_LIMIT: u64 = 160 << 20;

/// How git ends after a fatal error.
const GIT_DIED: i32 = 128;

/// The identity that git would write into a commit: `Name <email>`. `None` if git does not know one.
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

/// The pager of the user, whatever a repository's own settings name: who judges a stranger's clone runs nothing of it.
pub fn own_pager(context: &Context) -> Option<String> {
    let mut outside = context.clone();
    outside.directory = PathBuf::from("/");
    if context.variable("GIT_DIR").is_some() { None } else { pager(&outside) }
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
    (!path.is_empty()).then(|| PathBuf::from(owned_name(path)))
}

/// With whom the repository is shared, by every setting that git reads.
pub fn sharing(context: &Context) -> Sharing {
    let said = ask(context, &["config", "--get", "core.sharedRepository"]);
    Sharing::of_setting(said.as_deref().map(String::from_utf8_lossy).as_deref().map(str::trim_end))
}

/// Whether git works in the repository of this directory. It does not where the owner is someone else, unless a setting
/// `safe.directory` says so.
pub(super) fn is_trusted(context: &Context) -> bool {
    ask(context, &["rev-parse", "--git-dir"]).is_some()
}

/// Whether the git that runs the present hook amends a commit, by its command line. `None` where that cannot be seen.
pub fn is_amending() -> Option<bool> {
    // Between git and this process there is the script of the hook, perhaps with a manager of hooks.
    for process in above().take(5) {
        let line = fs::read(format!("/proc/{process}/cmdline")).ok()?;
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        if words[0].ends_with(b"git") && words.contains(&&b"commit"[..]) {
            let mut options = words.iter().take_while(|word| **word != b"--");
            // Git takes an option that is cut short, too.
            return Some(options.any(|word| word.len() > b"--a".len() && b"--amend".starts_with(word)));
        }
    }
    None
}

/// The command lines of the processes that this one was started by, nearest first. Empty where that cannot be seen.
pub fn commands_above() -> Vec<String> {
    let lines = above().take_while(|process| *process > 1).take(16);
    let lines = lines.map_while(|process| fs::read(format!("/proc/{process}/cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).collect()
}

/// The program that started this process, past shells, git and hooks of git, as its number, the time when it began, and the
/// namespace that both belong to. A number is used again, but not with the same time. `None` where that cannot be seen.
pub fn starter() -> Option<String> {
    const BETWEEN: [&str; 9] = ["sh", "bash", "dash", "zsh", "ash", "git", "git-proof", "env", "timeout"];
    for process in above().take(8) {
        let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
        if !BETWEEN.contains(&name.trim_end()) {
            return name_of_process(process);
        }
    }
    None
}

/// Of some programs, as [`starter`] names them, the nearest one above this process. `None` if none of them started it,
/// or if that cannot be seen.
pub fn nearest_above<'a>(starters: &[&'a str]) -> Option<&'a str> {
    for process in above().take(64) {
        let named = name_of_process(process)?;
        if let Some(found) = starters.iter().find(|starter| **starter == named) {
            return Some(found);
        }
    }
    None
}

/// Whether the program that [`starter`] named is still running. `None` where that cannot be seen, as from inside a container
/// or the sandbox of an agent, which have processes of their own.
pub fn is_running(starter: &str) -> Option<bool> {
    let mut parts = starter.split(':');
    let (process, begun) = (parts.next()?.parse().ok()?, parts.next()?);
    let is_elsewhere = parts.next().is_some_and(|there| namespace().is_some_and(|here| here != there));
    if !Path::new("/proc/self/stat").exists() || is_elsewhere {
        return None;
    }
    Some(begun_at(process).is_some_and(|now| now == begun))
}

/// A process as [`starter`] names it.
fn name_of_process(process: u32) -> Option<String> {
    let begun = begun_at(process)?;
    Some(namespace().map_or_else(|| format!("{process}:{begun}"), |namespace| format!("{process}:{begun}:{namespace}")))
}

/// The number of the namespace in which this process sees others.
fn namespace() -> Option<String> {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    let (_, number) = link.to_str()?.split_once('[')?;
    Some(number.trim_end_matches(']').to_owned())
}

/// The processes that this one was started by, nearest first, as far as they can be seen.
fn above() -> impl Iterator<Item = u32> {
    let parent_of = |process: &u32| stat_of(*process, 1)?.parse().ok().filter(|parent| *parent > 0);
    std::iter::successors(Some(parent_id()), parent_of)
}

fn begun_at(process: u32) -> Option<String> {
    // A process that has ended and was not waited for yet is no longer running.
    stat_of(process, 0).filter(|state| state != "Z").and_then(|_| stat_of(process, 19))
}

/// A field of a process, counted from its state. The name of a program may hold anything, so it is counted from the last
/// parenthesis.
fn stat_of(process: u32, field: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(field).map(str::to_owned)
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

/// The output of a git command; `None` if it fails.
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

/// The same command, which gets no more than so many bytes for its data. Files that it maps are not among them.
fn in_limited_memory(command: &Command) -> Command {
    under(command, &format!("ulimit -d {} 2>/dev/null", DATA_LIMIT / 1024))
}

/// The same command in a shell that has set limits before.
pub(super) fn under(command: &Command, limits: &str) -> Command {
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")]);
    limited.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        limited.current_dir(directory);
    }
    limited
}

/// All that a process prints, as far as anyone would read it.
fn all_of(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.by_ref().take(MAX_PATH_BYTES as u64).read_to_end(&mut bytes); // what was cut off is no answer
        let _ = io::copy(&mut pipe, &mut io::sink());
    }
    bytes
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
            .env("GIT_ALLOC_LIMIT", ALLOC_LIMIT)
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
        if let Some(offer) = &self.offer {
            command.env("GIT_OBJECT_DIRECTORY", offer.objects());
        }
        command
    }

    /// Runs a command to its end, but no longer than the judgement of a commit may still take, and in limited memory then.
    pub(super) fn run(&self, command: &mut Command) -> Result<Output> {
        let Some(units) = self.meter.left() else { return command.output().map_err(|error| self.not_run(error)) };
        let mut command = in_limited_memory(command);
        let patience = Duration::from_nanos(units.saturating_mul(cost::NANOSECONDS_PER_UNIT));
        let begun = Instant::now();
        let output = self.run_until(&mut command, begun, patience)?;
        let spent = begun.elapsed().as_nanos() / u128::from(cost::NANOSECONDS_PER_UNIT);
        let spent = self.meter.spend(u64::try_from(spent).unwrap_or(u64::MAX));
        let Some(output) = output else {
            let _ = self.meter.spend(u64::MAX);
            return Err(Error::new(Code::LimitReached, "git took longer than the judgement of one commit may take"));
        };
        spent.map_err(|why| Error::new(Code::LimitReached, why))?;
        if output.status.code() == Some(GIT_DIED) && memchr::memmem::find(&output.stderr, b"ut of memory").is_some() {
            let _ = self.meter.spend(u64::MAX);
            return Err(Error::new(Code::LimitReached, format!("git needs more than {DATA_LIMIT} bytes of memory")));
        }
        Ok(output)
    }

    /// Runs a command to its end. `None` if `patience` was over before, since `begun`: then it is killed, and in a group of
    /// its own also what it started.
    pub(super) fn run_until(
        &self,
        command: &mut Command,
        begun: Instant,
        patience: Duration,
    ) -> Result<Option<Output>> {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| self.not_run(error))?;
        let pipes = (child.stdout.take(), child.stderr.take());
        let read = thread::spawn(move || (all_of(pipes.0), all_of(pipes.1)));
        loop {
            if let Some(status) = child.try_wait().map_err(|error| self.not_run(error))? {
                let (stdout, stderr) = read.join().unwrap_or_default();
                return Ok(Some(Output { status, stdout, stderr }));
            }
            if begun.elapsed() > patience {
                kill_all_of(&mut child);
                return Ok(None);
            }
            thread::sleep(Duration::from_micros(500));
        }
    }

    /// The commits that a command prints, one on each line; none if it fails.
    pub(super) fn ids_of(&self, command: &mut Command) -> Result<Vec<CommitId>> {
        Ok(self.text_of(command)?.unwrap_or_default().lines().filter_map(CommitId::parse).collect())
    }

    /// Runs a command that reads something. One that ends before it has read all says why by its status.
    pub(super) fn run_with(&self, command: &mut Command, input: &str) -> Result<Output> {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| self.not_run(error))?;
        let pipe = child.stdin.take();
        let output = thread::scope(|scope| {
            scope.spawn(move || pipe.map(|mut pipe| pipe.write_all(input.as_bytes())));
            child.wait_with_output()
        });
        output.map_err(|error| self.not_run(error))
    }

    pub(super) fn not_run(&self, error: std::io::Error) -> Error {
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

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn whether_a_process_of_another_namespace_runs_is_not_known() {
        let own = name_of_process(std::process::id()).unwrap();
        assert_eq!(is_running(&own), Some(true));
        assert_eq!(is_running(&own.replacen(':', ":1", 1)), Some(false));
        let (here, _) = own.rsplit_once(':').unwrap();
        assert_eq!(is_running(here), Some(true), "stored before namespaces were");
        assert_eq!(is_running(&format!("{here}:1")), None);
        assert_eq!(nearest_above(&[&own]), None);
    }
}
