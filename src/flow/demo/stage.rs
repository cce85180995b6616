//! The stage: a repository of its own, in which neither the user's settings nor the user's hooks play a part.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::{Audience, DemoRequest, Scene, failed};
use crate::access::private_directories;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::Git;
use crate::hint::{Step, hint};
use crate::judge::{VerifyRequest, verify};
use crate::proof::finding::{FindingCode, Severity, Verdict};
use crate::record::Workspace;

/// Variables that would direct git, or this program, to another repository.
const ASTRAY: [&str; 6] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_QUARANTINE_PATH"];
/// The only variables that commands of the demo inherit.
const PASSED_ON: [&str; 10] =
    ["PATH", "HOME", "TMPDIR", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "TZ", "GIT_EXEC_PATH"];

/// A repository to play in.
pub(super) struct Stage {
    context: Context,
    program: PathBuf,
    colour: bool,
    columns: usize,
}

impl Stage {
    /// Makes the repository, on the branch `main`, with an identity of its own.
    pub(super) fn build(context: &Context, request: &DemoRequest) -> Result<Self> {
        if let Some(name) = ASTRAY.iter().find(|name| context.variable(name).is_some()) {
            return Err(Error::new(Code::InvalidParams, format!("{name} is set, and would lead the demo astray"))
                .hint(format!("unset {name}, and try again")));
        }
        let directory = match &request.directory {
            Some(named) => context.path(named),
            None => context.temporary_directory().join(format!("git-proof-demo-{}", &context.new_id().as_str()[..8])),
        };
        claim(&directory)?;
        let directory =
            fs::canonicalize(&directory).map_err(|error| failed("cannot enter the directory").because(error))?;
        let program = context.executable().ok_or_else(|| failed("the running program is not to be found"))?;
        let context = Context::new(directory);
        let stage = Self { context, program, colour: request.colour, columns: request.columns };
        stage.quietly(&["init", "--quiet", "--initial-branch=main", "--template="])?;
        let settings = [
            ("user.name", "Demo Agent"),
            ("user.email", "agent@example.org"),
            ("commit.gpgSign", "false"),
            ("proof.sign", "false"),
            ("core.hooksPath", "/dev/null"),
        ];
        for (key, value) in settings {
            stage.quietly(&["config", key, value])?;
        }
        Ok(stage)
    }

    pub(super) fn directory(&self) -> &Path {
        &self.context.directory
    }

    /// The repository's objects and refs.
    pub(super) fn repository(&self) -> Result<Git> {
        Git::discover(&self.context)
    }

    pub(super) fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.directory().join(name);
        let parent = path.parent().unwrap_or(self.directory());
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, text));
        written.map_err(|error| failed(format!("cannot write {}", path.display())).because(error))
    }

    /// Commits all that is in the worktree.
    pub(super) fn commit(&self, message: &str) -> Result<()> {
        self.quietly(&["add", "--all"])?;
        self.quietly(&["commit", "--quiet", "-m", message]).map(drop)
    }

    /// Runs git where nobody watches; it must succeed.
    pub(super) fn quietly(&self, arguments: &[&str]) -> Result<String> {
        must(self.command(Path::new("git")).args(arguments), &shown("git", arguments))
    }

    /// Runs this program where nobody watches; it must succeed.
    pub(super) fn proof_quietly(&self, arguments: &[&str]) -> Result<String> {
        must(self.command(&self.program).args(arguments), &shown("git proof", arguments))
    }

    /// Runs git as a person would type it; it must succeed.
    pub(super) fn git(&self, audience: Audience<'_>, arguments: &[&str]) -> Result<()> {
        audience(Scene::Typed(&shown("git", arguments)))?;
        self.quietly(arguments).map(drop)
    }

    /// Runs this program as a person would type it; it must succeed. What it prints is shown, in full where that tells
    /// something.
    pub(super) fn proof(&self, audience: Audience<'_>, arguments: &[&str], in_full: bool) -> Result<()> {
        audience(Scene::Typed(&shown("git proof", arguments)))?;
        let said = self.proof_quietly(arguments)?;
        audience(if in_full { Scene::Printed(&said) } else { Scene::Began(&said) })
    }

    /// Runs this program as a person would type it, and shows what it prints, however it ends.
    pub(super) fn try_proof(&self, audience: Audience<'_>, arguments: &[&str]) -> Result<()> {
        let line = shown("git proof", arguments);
        audience(Scene::Typed(&line))?;
        let output = run(self.command(&self.program).args(arguments), &line)?;
        let said = [output.stdout, output.stderr].concat();
        audience(Scene::Printed(&String::from_utf8_lossy(&said)))
    }

    /// The id of the record that was made last.
    pub(super) fn last_record(&self) -> Result<String> {
        let log = crate::record::log(&mut Workspace::open(self.context.clone())?, None, Some(1))?;
        log.entries.last().map(|entry| entry.id.to_string()).ok_or_else(|| failed("nothing was recorded"))
    }

    /// Whether `verify` fails a branch by this finding.
    pub(super) fn is_caught(&self, branch: &str, code: FindingCode) -> Result<bool> {
        let request = VerifyRequest { revisions: vec![branch.to_owned()], ..VerifyRequest::default() };
        let outcome = verify(&self.context, &request)?;
        let mut findings = outcome.commits.iter().flat_map(|commit| &commit.findings);
        let found = findings.any(|finding| finding.code == code && finding.severity == Severity::Error);
        Ok(outcome.verdict == Verdict::Fail && found)
    }

    /// Whether `verify` passes a branch.
    pub(super) fn is_proven(&self, branch: &str) -> Result<bool> {
        let request = VerifyRequest { revisions: vec![branch.to_owned()], ..VerifyRequest::default() };
        let outcome = verify(&self.context, &request)?;
        Ok(outcome.verdict == Verdict::Pass)
    }

    /// The page of what happened on `main`.
    pub(super) fn page(&self) -> Result<PathBuf> {
        let path = self.directory().join("proof.html");
        self.proof_quietly(&["report", "main~1..main", "--html", "proof.html"])?;
        Ok(path)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.directory()).stdin(Stdio::null());
        for name in PASSED_ON {
            if let Some(value) = self.context.variable(name) {
                command.env(name, value);
            }
        }
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env("COLUMNS", self.columns.to_string());
        if self.colour {
            // Tell git that its output ends at a terminal, as if through a pager, so that it uses colors.
            command.env("GIT_PAGER_IN_USE", "1");
        }
        command
    }
}

fn run(command: &mut Command, line: &str) -> Result<Output> {
    command.output().map_err(|error| failed(format!("cannot run {line}")).because(error))
}

/// Runs a command that must succeed, and returns its output.
fn must(command: &mut Command, line: &str) -> Result<String> {
    let output = run(command, line)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(failed(format!("{line} failed")).because(said.lines().next().unwrap_or_default()))
}

/// Makes a directory, or takes one that is empty: what is in use is left alone.
fn claim(directory: &Path) -> Result<()> {
    let refused = |why: &str| {
        Error::new(Code::InvalidParams, format!("{} {why}", directory.display()))
            .hint(hint!("name a directory that is empty or not there yet, or leave it away: ", Step::Demo))
    };
    match fs::read_dir(directory) {
        Ok(mut entries) => match entries.next() {
            Some(_) => Err(refused("is not empty")),
            None => Ok(()),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => private_directories()
            .recursive(true)
            .create(directory)
            .map_err(|error| refused("cannot be made").because(error)),
        Err(error) => Err(refused("cannot be used").because(error)),
    }
}

/// A command as one would type it. Leaves out what is of no interest to who types it.
fn shown(program: &str, arguments: &[&str]) -> String {
    let quoted = |argument: &&str| {
        let plain =
            argument.chars().all(|character| character.is_ascii_alphanumeric() || "-_./~:=,".contains(character));
        if plain && !argument.is_empty() { (*argument).to_owned() } else { format!("\"{argument}\"") }
    };
    let quiet = |argument: &&&str| !["--no-pager", "--no-sign", "--quiet"].contains(*argument);
    let words: Vec<String> = arguments.iter().filter(quiet).map(quoted).collect();
    format!("{program} {}", words.join(" "))
}
