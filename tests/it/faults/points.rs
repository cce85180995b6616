//! The moments at which a command can be killed: before each of its own system calls that write, and before each call by
//! which a git process below it moves a file to its place. Runs that are only watched find them.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::anchoring::clones::Clone;
use crate::store::scratch::{Ran, Scratch};

/// The calls of our own process. Of `openat`, only those that make a file count.
const OURS: &str = "write,pwrite64,link,linkat,rename,renameat,renameat2,unlink,mkdir,fsync,fdatasync,ftruncate,openat";
/// The calls of git's processes.
const THEIRS: &str = "link,linkat,rename,renameat,renameat2";

/// A moment: before the `nth` call of this name, of the command itself or of the `child`-th git process that it starts.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) child: Option<usize>,
    call: String,
    nth: usize,
}

/// A command that is watched, and killed.
pub(super) struct Victim<'a> {
    pub(super) scratch: &'a Scratch,
    pub(super) arguments: &'a [&'a str],
    pub(super) input: String,
    /// Whether it writes from several threads. Then the calls of its git processes are among its own.
    pub(super) threads: bool,
}

impl Victim<'_> {
    /// Runs the command to its end, and finds its own moments.
    pub(super) fn watch(&self, clone: &Clone<'_>) -> (Ran, Vec<Point>) {
        let log = self.log("ours");
        let ran = self.run(self.strace(clone, &log).args(["-e", &format!("trace={OURS}")]));
        (ran, points(&std::fs::read_to_string(&log).unwrap(), None, self.threads))
    }

    /// Runs the command to its end, and finds the moments of its git processes.
    pub(super) fn watch_git(&self, clone: &Clone<'_>) -> Vec<Point> {
        self.run(&mut self.with_own_git(clone, 0, &format!("trace={THEIRS}")));
        let read = |child| Some((child, std::fs::read_to_string(self.log(&format!("git.{child}"))).ok()?));
        (1..).map_while(read).flat_map(|(child, log)| points(&log, Some(child), true)).collect()
    }

    /// Runs the command and kills it, or a process of git below it, at this moment; whether the moment came.
    pub(super) fn kill(&self, clone: &Clone<'_>, point: &Point) -> (Ran, bool) {
        let inject = format!("inject={}:signal=KILL:when={}", point.call, point.nth);
        let (ran, log) = match point.child {
            None => {
                let log = self.log("ours");
                (self.run(self.strace(clone, &log).args(["-e", &format!("trace={}", point.call), "-e", &inject])), log)
            }
            Some(child) => (self.run(&mut self.with_own_git(clone, child, &inject)), self.log(&format!("git.{child}"))),
        };
        (ran, std::fs::read_to_string(&log).is_ok_and(|log| log.contains("killed by SIGKILL")))
    }

    fn log(&self, name: &str) -> PathBuf {
        self.scratch.around().join(format!("strace.{name}"))
    }

    fn strace(&self, clone: &Clone<'_>, log: &Path) -> Command {
        let mut strace = clone.command("strace");
        strace.args(self.threads.then_some("-f")).arg("-o").arg(log);
        strace
    }

    /// A command that finds a `git` of this test first. It runs the real one under strace: the `only`-th time, or with 0
    /// each time.
    fn with_own_git(&self, clone: &Clone<'_>, only: usize, what: &str) -> Command {
        let around = self.scratch.around();
        let folder = around.join("own-git");
        std::fs::create_dir_all(&folder).unwrap();
        let at = around.to_str().unwrap();
        let script = format!(
            "#!/bin/sh\nPATH=${{PATH#*:}}\nn=$(($(cat '{at}/git.count') + 1))\necho $n > '{at}/git.count'\n\
             if test {only} = 0 || test {only} = $n; then\n\
             exec strace -f -o '{at}/strace.git.'$n -e trace={THEIRS} -e '{what}' git \"$@\"\nfi\nexec git \"$@\"\n"
        );
        std::fs::write(folder.join("git"), script).unwrap();
        std::fs::set_permissions(folder.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(around.join("git.count"), "0\n").unwrap();
        for entry in std::fs::read_dir(around).unwrap() {
            let path = entry.unwrap().path();
            if path.to_str().unwrap().contains("/strace.git.") {
                std::fs::remove_file(path).unwrap();
            }
        }
        let mut command = clone.command(env!("CARGO_BIN_EXE_git-proof"));
        command.env("PATH", format!("{}:{}", folder.display(), std::env::var("PATH").unwrap()));
        command
    }

    fn run(&self, command: &mut Command) -> Ran {
        if command.get_program() == "strace" {
            command.arg(env!("CARGO_BIN_EXE_git-proof"));
        }
        if self.arguments[0] == "hook" {
            command.env("GIT_AUTHOR_DATE", "@1700000000 +0000"); // as git gives it to its hooks
        }
        command.env("GIT_PROOF_PATIENCE", "2000").args(self.arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(self.input.as_bytes()); // one that was killed reads nothing
        let output = child.wait_with_output().unwrap();
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { exit: output.status.code(), out: lossy(&output.stdout), err: lossy(&output.stderr) }
    }
}

/// The moments that a log of strace tells. Where it has several processes, strace counts the calls of each of them apart.
fn points(log: &str, child: Option<usize>, processes: bool) -> Vec<Point> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for line in log.lines() {
        let (process, line) = if processes { line.split_once(' ').unwrap_or(("", line)) } else { ("", line) };
        let Some((call, rest)) = line.trim_start().split_once('(') else { continue };
        if !call.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            continue;
        }
        let nth = counts.entry((process, call)).or_default();
        *nth += 1;
        if call != "openat" || rest.contains("O_CREAT") {
            found.insert((call, *nth), Point { child, call: call.to_owned(), nth: *nth });
        }
    }
    found.into_values().collect()
}
