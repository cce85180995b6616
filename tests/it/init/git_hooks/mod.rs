//! `init` for git's hooks. What a hook does is tried with a stub in the place of the program, which writes down how it
//! was called.

mod configured;
mod files;
mod judged;
mod managers;
mod running;
mod settings;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::store::scratch::{Ran, Scratch, text};

const HOOKS: [&str; 4] = ["commit-msg", "post-commit", "post-rewrite", "pre-push"];

/// Writes a script.
pub(crate) fn script(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The file of a hook.
fn hook(scratch: &Scratch, name: &str) -> PathBuf {
    scratch.place.join(".git/hooks").join(name)
}

/// Everything in git's directory that `init` may write: the hooks, and the configuration.
fn wiring(scratch: &Scratch) -> BTreeMap<String, (Vec<u8>, u32)> {
    let mut all = BTreeMap::new();
    for directory in [".git", ".git/hooks"] {
        for entry in std::fs::read_dir(scratch.place.join(directory)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_file() && !name.ends_with(".sample") {
                let mode = path.metadata().unwrap().permissions().mode();
                all.insert(format!("{directory}/{name}"), (std::fs::read(&path).unwrap(), mode));
            }
        }
    }
    all
}

/// Runs `init` where a hook is left to a person, which its exit code says.
#[track_caller]
fn unwired(scratch: &Scratch) -> Value {
    let ran = scratch.run(["--json", "init"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// What was done about each hook.
fn by_hook<'a>(outcome: &'a Value, field: &str) -> BTreeMap<&'a str, &'a str> {
    outcome["hooks"].as_array().unwrap().iter().map(|change| (text(change, "hook"), text(change, field))).collect()
}

#[track_caller]
fn assert_all(outcome: &Value, field: &str, value: &str) {
    let found = by_hook(outcome, field);
    assert_eq!(found.len(), HOOKS.len());
    assert!(found.values().all(|found| *found == value), "{field}: {found:?}");
}

/// A directory with nothing but the programs that git and the hooks need: surely no git-proof.
pub(crate) fn tools(scratch: &Scratch) -> PathBuf {
    let tools = scratch.around().join("tools");
    std::fs::create_dir_all(&tools).unwrap();
    for name in ["git", "sh", "bash", "cat", "sed", "env"] {
        let link = tools.join(name);
        if !link.exists() {
            symlink(real(name), link).unwrap();
        }
    }
    tools
}

/// Where a program really is.
pub(crate) fn real(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file()).unwrap()
}

/// A stub of the program: notes its arguments, and what it reads where git gives it something to read.
fn stub(scratch: &Scratch, path: &Path, exit: u8) {
    let log = scratch.around().join("log");
    let reads = "case $2 in post-rewrite | pre-push) sed 's/^/< /' ;; esac";
    let text = format!("#!/bin/sh\n{{ echo \"$*\"; {reads}; }} >>'{}'\nexit {exit}\n", log.display());
    script(path, &text);
}

/// A path of programs with the stub on it.
fn with_stub(scratch: &Scratch, exit: u8) -> OsString {
    let bin = scratch.around().join("bin");
    stub(scratch, &bin.join("git-proof"), exit);
    std::env::join_paths([bin, tools(scratch)]).unwrap()
}

/// What the stub has noted.
fn log(scratch: &Scratch) -> Vec<String> {
    let log = std::fs::read_to_string(scratch.around().join("log")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

/// Git in a world where `path` is all there is.
fn git(scratch: &Scratch, path: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Ran {
    let mut command: Command = scratch.command(real("git"));
    command.env("PATH", path).args(arguments).output().unwrap().into()
}

/// Makes a commit; whether git let it happen.
fn commit(scratch: &Scratch, path: impl AsRef<std::ffi::OsStr>) -> Ran {
    git(scratch, path, &["commit", "--quiet", "--allow-empty", "--message=x"])
}
