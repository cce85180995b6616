//! `init`: what it writes, what it keeps, and that it can be taken out again; for agents, and for git's hooks.

pub(crate) mod git_hooks;
mod merging;
mod refusing;
mod writing;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::store::scratch::Scratch;

const AGENTS: [&str; 9] = ["claude-code", "codex", "copilot", "cursor", "gemini", "opencode", "qwen", "vscode", "zed"];

/// The files of each agent.
const FILES: [(&str, &str); 15] = [
    ("claude-code", ".mcp.json"),
    ("claude-code", ".claude/settings.json"),
    ("codex", ".codex/config.toml"),
    ("codex", ".codex/hooks.json"),
    ("copilot", ".github/mcp.json"),
    ("copilot", ".github/hooks/git-proof.json"),
    ("cursor", ".cursor/mcp.json"),
    ("cursor", ".cursor/hooks.json"),
    ("gemini", ".gemini/settings.json"),
    ("opencode", "opencode.json"),
    ("opencode", ".opencode/plugin/git-proof.js"),
    ("qwen", ".qwen/settings.json"),
    ("vscode", ".vscode/mcp.json"),
    ("vscode", ".github/hooks/git-proof-vscode.json"),
    ("zed", ".zed/settings.json"),
];

/// Writes a file of the worktree.
fn put(scratch: &Scratch, path: &str, text: &str) {
    let path = scratch.place.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Reads a file of the worktree.
#[track_caller]
fn get(scratch: &Scratch, path: &str) -> String {
    std::fs::read_to_string(scratch.place.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Everything in the worktree but `.git`.
fn everything(scratch: &Scratch) -> BTreeMap<String, Vec<u8>> {
    fn collect(directory: &Path, root: &Path, into: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() && name != ".git" {
                into.insert(format!("{name}/"), Vec::new());
                collect(&path, root, into);
            } else if name != ".git" {
                into.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    let mut all = BTreeMap::new();
    collect(&scratch.place, &scratch.place, &mut all);
    all
}

/// Runs `init` for one agent; what happened to each file, by path.
#[track_caller]
fn init(scratch: &Scratch, agent: &str, more: &[&str]) -> BTreeMap<String, String> {
    let outcome = scratch.json(&[&["init", "--agent", agent], more].concat());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    outcome["files"].as_array().unwrap().iter().map(|file| (text(&file["path"]), text(&file["action"]))).collect()
}
