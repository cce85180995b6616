//! A project as people have it: a repository with the hooks in place, a bare remote that it pushes to, and sessions that
//! are recorded, committed, closed and anchored by the program under test.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde_json::Value;

use super::judged::{Judged, judged};
use crate::common;
use crate::store::scratch::Ran;

/// A directory that is gone after the test: a home, a remote, a clone.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    /// Where commands run.
    pub(crate) place: PathBuf,
    /// Whether the hooks run when history is rewritten.
    hooks: bool,
    /// Seconds since some day: every commit has a time of its own.
    clock: AtomicU64,
}

/// Forty lines, far enough apart for several changes that do not touch each other.
pub(crate) fn lines() -> String {
    let lines: Vec<String> = (1..=40).map(|number| format!("line {number}")).collect();
    lines.join("\n") + "\n"
}

impl Project {
    /// A repository with one commit, pushed, and hooks that always run.
    pub(crate) fn new() -> Self {
        Self::with_hooks(true)
    }

    /// The same; `hooks` says whether they run in [`Project::rewrite`].
    pub(crate) fn with_hooks(hooks: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("place");
        std::fs::create_dir(folder.path().join("home")).unwrap();
        std::fs::create_dir(&place).unwrap();
        let project = Self { folder, place, hooks, clock: AtomicU64::new(1_700_000_000) };
        project.git(["init", "--quiet", "--bare", "--initial-branch=main", "../remote.git"]);
        project.git(["init", "--quiet", "--initial-branch=main"]);
        project.identify();
        project.git(["remote", "add", "origin", "../remote.git"]);
        project.write("file", &lines());
        project.commit("base");
        project.git(["push", "--quiet", "origin", "main"]);
        project.install_hooks();
        // The remote was asked and has no proofs: what is missing here is missing everywhere.
        project.proof(&["sync", "--fetch-only"]);
        project
    }

    /// A minute after the one before.
    fn next_date(&self) -> String {
        format!("@{} +0000", self.clock.fetch_add(60, Relaxed) + 60)
    }

    fn identify(&self) {
        self.git(["config", "user.name", "Ada Tester"]);
        self.git(["config", "user.email", "ada@example.org"]);
        self.git(["config", "advice.detachedHead", "false"]);
        self.git(["config", "core.fsync", "none"]);
    }

    /// Puts the hooks in place.
    fn install_hooks(&self) {
        self.proof(&["init"]);
    }

    /// Writes a hook.
    pub(crate) fn hook(&self, name: &str, script: &str) {
        let file = self.place.join(".git/hooks").join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A fresh clone of one branch, without hooks, in a folder of the same home.
    pub(crate) fn clone_of(&self, branch: &str) -> Clone<'_> {
        self.git(["clone", "--quiet", "--single-branch", "--branch", branch, "../remote.git", "../clone"]);
        let place = self.around().join("clone");
        Clone { project: self, place }
    }

    /// The directory around the place.
    pub(crate) fn around(&self) -> &Path {
        self.folder.path()
    }

    /// A command in a clean environment, where git finds the program under test.
    pub(crate) fn command_in(&self, place: &Path, program: impl AsRef<OsStr>) -> Command {
        let mut command = common::command(program, place);
        let built = Path::new(env!("CARGO_BIN_EXE_git-proof")).parent().unwrap().to_owned();
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let paths: OsString =
            std::env::join_paths(std::iter::once(built).chain(std::env::split_paths(&paths))).unwrap();
        command
            .env("PATH", paths)
            .env("HOME", self.around().join("home"))
            .env("XDG_CONFIG_HOME", self.around().join("home"))
            .env("GIT_CEILING_DIRECTORIES", self.around())
            .env("GIT_EDITOR", "true");
        command
    }

    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        self.command_in(&self.place, program)
    }

    /// Runs git and tells how it ended.
    pub(crate) fn try_git<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Ran {
        self.command("git").args(arguments).output().unwrap().into()
    }

    /// Runs git; it must succeed.
    #[track_caller]
    pub(crate) fn git<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> String {
        let ran = self.try_git(arguments);
        assert_eq!(ran.exit, Some(0), "{}{}", ran.out, ran.err);
        ran.out.trim_end().to_owned()
    }

    /// A git command that rewrites history, with or without the hooks, at a time of its own.
    pub(crate) fn rewriting(&self, arguments: &[&str]) -> Command {
        let mut command = self.command("git");
        if !self.hooks {
            command.args(["-c", "core.hooksPath=/dev/null"]);
        }
        command.args(arguments).env("GIT_AUTHOR_DATE", self.next_date());
        command
    }

    /// Rewrites history; it must succeed.
    #[track_caller]
    pub(crate) fn rewrite(&self, arguments: &[&str]) -> Ran {
        finished(&mut self.rewriting(arguments))
    }

    /// Rebases interactively onto `base`: `plan` is a sed script for the list of commits, `words` one for the messages.
    #[track_caller]
    pub(crate) fn replan(&self, base: &str, plan: &str, words: &str) -> Ran {
        let mut command = self.rewriting(&["rebase", "--quiet", "-i", base]);
        command.env("GIT_SEQUENCE_EDITOR", format!("sed -i -e '{plan}'"));
        command.env("GIT_EDITOR", format!("sed -i -e '{words}'"));
        finished(&mut command)
    }

    /// Runs the program under test and tells how it ended.
    pub(crate) fn try_proof(&self, arguments: &[&str]) -> Ran {
        self.command("git-proof").args(arguments).output().unwrap().into()
    }

    /// Runs the program under test with `--json`; it must succeed.
    #[track_caller]
    pub(crate) fn proof(&self, arguments: &[&str]) -> Value {
        self.try_proof(&[&["--json"], arguments].concat()).json()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        std::fs::write(self.place.join(path), text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.place.join(path)).unwrap()
    }

    /// Changes one line of `file`.
    pub(crate) fn edit(&self, line: usize, text: &str) {
        let mut file: Vec<String> = self.read("file").lines().map(str::to_owned).collect();
        text.clone_into(&mut file[line - 1]);
        self.write("file", &(file.join("\n") + "\n"));
    }

    /// Commits all that there is, at a time of its own.
    #[track_caller]
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(["add", "--all"]);
        self.commit_staged(&["-m", message]);
        self.head()
    }

    /// Commits what is staged, at a time of its own.
    #[track_caller]
    pub(crate) fn commit_staged(&self, arguments: &[&str]) -> Ran {
        let ran = self.try_commit(arguments);
        assert_eq!(ran.exit, Some(0), "{}{}", ran.out, ran.err);
        ran
    }

    pub(crate) fn try_commit(&self, arguments: &[&str]) -> Ran {
        let mut command = self.command("git");
        command
            .args(["commit", "--quiet"])
            .args(arguments)
            .env("GIT_AUTHOR_DATE", self.next_date())
            .output()
            .unwrap()
            .into()
    }

    pub(crate) fn start(&self, session: &str) {
        self.proof(&["start", "--intent", "try it", "--session-id", session]);
    }

    pub(crate) fn reflect(&self) {
        self.proof(&["record", "--type", "reflection", "--content", "It works; nothing else was tried."]);
    }

    /// A session in which one line of `file` is changed and committed; closed and anchored.
    #[track_caller]
    pub(crate) fn prove(&self, session: &str, line: usize) -> String {
        self.start(session);
        self.edit(line, &format!("changed by {session}"));
        let commit = self.commit(&format!("change {session}"));
        self.close();
        commit
    }

    /// Reflects and finalizes.
    #[track_caller]
    pub(crate) fn close(&self) -> Value {
        self.reflect();
        self.proof(&["finalize"])
    }

    /// What `verify` says of one commit.
    #[track_caller]
    pub(crate) fn verify(&self, revision: &str) -> Judged {
        judged(&self.try_proof(&["--json", "verify", revision]))
    }

    pub(crate) fn head(&self) -> String {
        self.git(["rev-parse", "HEAD"])
    }

    pub(crate) fn message(&self, revision: &str) -> String {
        self.git(["log", "-1", "--format=%B", revision])
    }

    /// The lines of a commit's note.
    pub(crate) fn note(&self, commit: &str) -> Vec<String> {
        let ran = self.try_git(["notes", "--ref=proof", "show", commit]);
        ran.out.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    /// What a forge does: it works on the bare remote with commands of its own, in a worktree that has no hooks.
    pub(crate) fn forge(&self) -> Clone<'_> {
        let place = self.around().join("forge");
        if place.exists() {
            let forge = Clone { project: self, place };
            forge.git(&["fetch", "--quiet", "--prune", "origin"]);
            return forge;
        }
        self.git(["clone", "--quiet", "../remote.git", "../forge"]);
        Clone { project: self, place }
    }

    /// Two proven commits on a branch, which the forge squashes into main.
    pub(crate) fn squash_two_on_the_server(&self) {
        self.git(["switch", "--quiet", "-c", "topic"]);
        self.prove("one", 10);
        self.prove("two", 20);
        self.git(["push", "--quiet", "origin", "topic"]);
        let forge = self.forge();
        forge.git(&["merge", "--quiet", "--squash", "origin/topic"]);
        forge.git(&["commit", "--quiet", "-m", "topic"]);
        forge.git(&["push", "--quiet", "origin", "HEAD:main"]);
    }
}

/// Another clone of the same remote.
pub(crate) struct Clone<'a> {
    project: &'a Project,
    pub(crate) place: PathBuf,
}

impl Clone<'_> {
    /// Runs git there as someone else; it must succeed.
    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut command = self.project.command_in(&self.place, "git");
        command.args(["-c", "user.name=Forge", "-c", "user.email=forge@example.org"]).args(arguments);
        finished(&mut command).out.trim_end().to_owned()
    }

    /// Runs git there and tells how it ended.
    pub(crate) fn try_git(&self, arguments: &[&str]) -> Option<i32> {
        self.project.command_in(&self.place, "git").args(arguments).output().unwrap().status.code()
    }

    /// Runs the program under test there with `--json`; it must succeed.
    #[track_caller]
    pub(crate) fn proof(&self, arguments: &[&str]) -> Value {
        let ran: Ran =
            self.project.command_in(&self.place, "git-proof").arg("--json").args(arguments).output().unwrap().into();
        ran.json()
    }

    /// Fetches what others have proven.
    #[track_caller]
    pub(crate) fn sync(&self) {
        self.proof(&["sync"]);
    }

    #[track_caller]
    pub(crate) fn verify(&self, revision: &str) -> Judged {
        let mut command = self.project.command_in(&self.place, "git-proof");
        judged(&command.args(["--json", "verify", revision]).output().unwrap().into())
    }
}

#[track_caller]
fn finished(command: &mut Command) -> Ran {
    let ran: Ran = command.output().unwrap().into();
    assert_eq!(ran.exit, Some(0), "{}{}", ran.out, ran.err);
    ran
}
