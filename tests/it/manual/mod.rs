//! What a person reads before using the tool: help, man pages, completions, and the command lines in them and in the README.

mod completions;
mod json;
mod lines;
mod links;
mod mistakes;
mod pages;
mod readme;

use std::ffi::OsString;

use crate::store::scratch::Scratch;

/// Every command that is not hidden, by its words; the tool itself has none.
fn commands(scratch: &Scratch) -> Vec<String> {
    let written = scratch.json(&["man", "--dir", "pages"]);
    let commands: Vec<String> =
        written["pages"].as_array().unwrap().iter().map(|page| page["command"].as_str().unwrap().to_owned()).collect();
    assert!(commands.len() > 25, "{commands:?}");
    commands
}

/// What `--help` says of a command.
fn help(scratch: &Scratch, command: &str) -> String {
    scratch.run(command.split_whitespace().chain(["--help"])).text().to_owned()
}

/// The command lines under `Examples:` in a help text.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    lines.take_while(|line| line.starts_with("  ")).map(|line| line.trim().to_owned()).collect()
}

/// A path on which git finds the tool.
fn path(scratch: &Scratch) -> OsString {
    let bin = scratch.around().join("bin");
    if !bin.exists() {
        std::fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_git-proof"), bin.join("git-proof")).unwrap();
    }
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&rest))).unwrap()
}
