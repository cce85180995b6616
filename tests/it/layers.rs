//! Dependencies point one way: `proof` ← `store`, `git` ← `ops` ← `publish` ← `agents` ← `present` ← `report` ← `mcp`, `hook` ← `cli`. And `proof` is pure.

use std::path::Path;

/// Each part of the crate, and the other parts that it may name.
const LAYERS: [(&str, &[&str]); 16] = [
    ("proof", &[]),
    ("error", &["proof"]),
    ("context", &["proof", "error"]),
    ("access", &["proof", "error", "context"]),
    ("store", &["proof", "error", "context", "access"]),
    ("git", &["proof", "error", "context", "access"]),
    ("ops", &["proof", "error", "context", "access", "store", "git"]),
    ("publish", &["proof", "error", "context", "store", "git", "ops"]),
    ("agents", &["proof", "error", "context", "store", "git", "ops", "publish"]),
    ("present", &["proof", "error", "context", "store", "git", "ops"]),
    ("report", &["proof", "error", "context", "store", "git", "ops", "present"]),
    ("mcp", &["proof", "error", "context", "store", "git", "ops", "publish", "agents", "present", "report"]),
    ("hook", &["proof", "error", "context", "store", "git", "ops", "publish", "agents", "present", "report"]),
    (
        "cli",
        &["proof", "error", "context", "store", "git", "ops", "publish", "agents", "present", "report", "mcp", "hook"],
    ),
    ("main", &["cli"]),
    ("lib", &[]), // declares the others and uses none
];

/// What would let the world into `proof`: files, processes, the network, the clock.
const IMPURE: [&str; 6] = ["fs", "env", "process", "net", "io", "time"];
const IMPURE_NAMES: [&str; 5] = ["rusqlite", "git2", "chrono", "SystemTime", "Instant"];

const PRINTING: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];

/// Everything in a source file that breaks a rule, as `path:line: what`. The path begins with `src/`.
fn violations(path: &str, text: &str) -> Vec<String> {
    let modules: Vec<&str> = path["src/".len()..].trim_end_matches(".rs").trim_end_matches("/mod").split('/').collect();
    let layer = modules[0];
    let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == layer) else {
        return vec![format!("{path}: {layer} has no place in the layers")];
    };
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut report = |line: usize, what: String| found.push(format!("{path}:{line}: {what}"));
    for (at, token) in tokens.iter().enumerate() {
        let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
        match token.text {
            "rusqlite" if layer != "store" => report(token.line, "rusqlite outside of store".to_owned()),
            "git2" if layer != "git" => report(token.line, "git2 outside of git".to_owned()),
            name if layer == "proof" && IMPURE_NAMES.contains(&name) => {
                report(token.line, format!("{name} in proof"));
            }
            name if PRINTING.contains(&name) && !matches!(layer, "cli" | "main") && text(at + 1) == "!" => {
                report(token.line, format!("{name}! outside of cli"));
            }
            "std" if layer == "proof" => {
                for path in paths(&tokens[at..]) {
                    if path.get(1).is_some_and(|module| IMPURE.contains(module)) {
                        report(token.line, format!("std::{} in proof", path[1]));
                    }
                }
            }
            "crate" if text(at + 1) == "as" => report(token.line, "another name for the crate".to_owned()),
            // Visibility, as in `pub(crate)`.
            "crate" | "super" if text(at + 1) != "::" => {}
            // Not the first of several.
            "super" if at > 1 && text(at - 1) == "::" && text(at - 2) == "super" => {}
            "crate" | "super" | "git_proof" => {
                for path in paths(&tokens[at..]) {
                    // `super` as often as there are modules above leads to the crate's root; in a module of tests it
                    // takes one more, and then what follows is still a part of the crate or no part at all.
                    let climbed = path.iter().take_while(|name| **name == "super").count();
                    let target = match path[0] {
                        "super" if climbed < modules.len() => continue,
                        "super" => path.get(climbed),
                        _ => path.get(1),
                    };
                    let Some(target) = target.filter(|target| LAYERS.iter().any(|(name, _)| name == *target)) else {
                        // A path that goes past the parts, such as `crate::*`, would go past the rule.
                        if path[0] != "super" {
                            report(token.line, format!("{} names no part of the crate", path.join("::")));
                        }
                        continue;
                    };
                    if *target != layer && !allowed.contains(target) {
                        report(token.line, format!("{layer} names {target}"));
                    }
                }
            }
            _ => {}
        }
    }
    found
}

#[derive(Debug, Clone, Copy)]
struct Token<'a> {
    line: usize,
    text: &'a str,
}

/// All paths that begin at the first token: one, or as many as the braces hold.
fn paths<'a>(tokens: &[Token<'a>]) -> Vec<Vec<&'a str>> {
    let mut at = 0;
    read_paths(tokens, &mut at)
}

fn read_paths<'a>(tokens: &[Token<'a>], at: &mut usize) -> Vec<Vec<&'a str>> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let first = text(*at);
    *at += 1;
    if first == "{" {
        let mut all = Vec::new();
        while !matches!(text(*at), "}" | "") {
            if text(*at) == "," {
                *at += 1;
            } else {
                all.extend(read_paths(tokens, at));
            }
        }
        *at += 1;
        return all;
    }
    if text(*at) != "::" {
        if text(*at) == "as" {
            *at += 2;
        }
        return vec![vec![first]];
    }
    *at += 1;
    let rest = read_paths(tokens, at);
    rest.into_iter().map(|path| [vec![first], path].concat()).collect()
}

/// Names, `::` and other punctuation, one character each, without comments and literals.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < bytes.len() {
        let start = at;
        let rest = &text[at..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some(length) = literal(rest) {
            length
        } else if is_name(bytes[at]) {
            rest.bytes().take_while(|byte| is_name(*byte)).count()
        } else if rest.starts_with("::") {
            2
        } else {
            1
        };
        at += length;
        let token = &text[start..at];
        let is_code = is_name(bytes[start]) && !token.contains('"') || token == "::" || "!{},*".contains(token);
        if is_code {
            tokens.push(Token { line, text: token });
        }
        line += token.matches('\n').count();
    }
    tokens
}

/// Length of the comment that begins here; such comments nest.
fn block_comment(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < text.len() {
        match text.as_bytes().get(at..at + 2) {
            Some(b"/*") => (at, depth) = (at + 2, depth + 1),
            Some(b"*/") => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Length of the string or character that begins here, if one does.
fn literal(text: &str) -> Option<usize> {
    let raw = text.trim_start_matches(['b', 'c']);
    if let Some(raw) = raw.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let open = text.len() - raw.len() + hashes + 1;
            return Some(text[open..].find(&end).map_or(text.len(), |at| open + at + end.len()));
        }
    }
    let quote = raw.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let open = text.len() - raw.len() + 1;
    let mut characters = text[open..].char_indices();
    if quote == '\'' {
        // A lifetime has no closing quote.
        let mut ahead = text[open..].chars();
        let first = ahead.next()?;
        if first != '\\' && ahead.next() != Some('\'') {
            return None;
        }
    }
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            return Some(open + at + 1);
        }
    }
    Some(text.len())
}

fn sources(directory: &Path, into: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path.to_str().unwrap().to_owned());
        }
    }
}

#[test]
fn every_source_file_keeps_to_the_layers() {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut files = Vec::new();
    sources(&Path::new(root).join("src"), &mut files);
    assert!(files.len() > 20, "{files:?}");
    let found: Vec<_> = files
        .iter()
        .flat_map(|file| violations(&file[root.len() + 1..], &std::fs::read_to_string(file).unwrap()))
        .collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[track_caller]
fn assert_reported(path: &str, text: &str) {
    assert!(!violations(path, text).is_empty(), "{path}: {text}");
}

#[track_caller]
fn assert_fine(path: &str, text: &str) {
    assert_eq!(violations(path, text), Vec::<String>::new(), "{path}: {text}");
}

#[test]
fn the_world_in_proof_is_reported() {
    for text in [
        "use rusqlite::Connection;",
        "fn f(r: &git2::Repository) {}",
        "use std::fs;",
        "use std::fs::File;",
        "use std::{fmt, io::{self, Read}};",
        "use std::{\n    collections::HashMap,\n    env,\n};",
        "fn f() { std::process::abort() }",
        "fn f() -> ::std::net::IpAddr {}",
        "use std::time::Duration;",
        "fn f() { let now = Instant::now(); }",
        "use foo::SystemTime;",
        "use chrono::Utc;",
        "fn f() { println!(\"x\") }",
        "fn f() { std::eprintln!(\"x\") }",
        "use crate::error::Error;",
        "use crate::{proof::digest, store};",
        "use crate::*;",
        "use super::super::error;",
        "use self::super::super::error;",
        "use crate as everything;",
    ] {
        assert_reported("src/proof/tree.rs", text);
    }
}

#[test]
fn what_proof_needs_is_not_reported() {
    for text in [
        "use std::{borrow::Cow, fmt};\nuse crate::proof::digest::sha256;\nuse super::scheme::Scheme;",
        "/// Like rusqlite, without std::fs.\nfn f() {} // no println!() here",
        "/* std::io /* git2 */ chrono */ fn f<'a>(x: &'a str) -> char { '\"' }",
        "const TEXT: &str = \"crate::store \\\" git2\"; const RAW: &[u8] = br#\"std::fs \"rusqlite\" \"#;",
        "mod tests { use super::*; }",
        "#![doc = include_str!(\"FORMAT.md\")]",
        "pub(crate) fn f() {}\npub(super) fn g() {}",
    ] {
        assert_fine("src/proof/tree.rs", text);
    }
    assert_fine("src/proof/canonical/reader.rs", "use super::super::digest;");
}

#[test]
fn code_after_a_literal_is_still_seen() {
    for before in ["'\"'", "'\\''", "\"\\\\\"", "r#\"\"\"#", "b'x'", "\"//\"", "'a: loop {}", "/* \" */ 1"] {
        assert_reported("src/proof/tree.rs", &format!("fn f() {{ {before}; std::fs::read(x); }}"));
    }
}

#[test]
fn the_database_outside_of_store_is_reported() {
    for path in ["src/ops/start.rs", "src/git/refs.rs", "src/error.rs", "src/cli/mod.rs"] {
        assert_reported(path, "impl From<rusqlite::Error> for Error {}");
    }
    assert_fine("src/store/mod.rs", "use rusqlite::Connection;");
}

#[test]
fn the_git_library_outside_of_git_is_reported() {
    for path in ["src/ops/start.rs", "src/store/mod.rs", "src/context.rs", "src/hook/mod.rs"] {
        assert_reported(path, "use git2::Repository;");
    }
    assert_fine("src/git/refs.rs", "use git2::Repository;");
}

#[test]
fn a_dependency_against_the_arrow_is_reported() {
    for (path, text) in [
        ("src/store/mod.rs", "use crate::ops;"),
        ("src/store/mod.rs", "use crate::git::Refs;"),
        ("src/git/mod.rs", "use crate::store::Store;"),
        ("src/git/deep/mod.rs", "use super::super::store::Store;"),
        ("src/ops/start.rs", "use crate::{error::Result, cli::Ui};"),
        ("src/ops/start.rs", "fn f() { crate::mcp::serve() }"),
        ("src/ops/mod.rs", "use super::hook;"),
        ("src/present/verdict.rs", "use crate::report;"),
        ("src/ops/start.rs", "use crate::present;"),
        ("src/ops/sync/mod.rs", "use crate::publish;"),
        ("src/report/html.rs", "use crate::cli;"),
        ("src/mcp/mod.rs", "use crate::cli::main;"),
        ("src/hook/mod.rs", "use crate::mcp;"),
        ("src/error.rs", "use crate::store;"),
        ("src/context.rs", "use crate::git;"),
        ("src/main.rs", "fn main() { git_proof::ops::run() }"),
    ] {
        assert_reported(path, text);
    }
}

#[test]
fn a_dependency_along_the_arrow_is_not_reported() {
    for (path, text) in [
        ("src/store/mod.rs", "use crate::{context::Context, error::Result, proof::{chain, tree::{self, Tree}}};"),
        ("src/ops/start.rs", "use crate::git::Refs as R;\nuse crate::store::Store;\nuse super::input;"),
        ("src/cli/mod.rs", "use crate::{hook, mcp, ops, report};"),
        ("src/main.rs", "fn main() -> std::process::ExitCode { git_proof::cli::main() }"),
    ] {
        assert_fine(path, text);
    }
}

#[test]
fn printing_outside_of_the_command_line_is_reported() {
    for path in ["src/ops/start.rs", "src/store/mod.rs", "src/hook/mod.rs", "src/report/html.rs", "src/lib.rs"] {
        for text in ["println!()", "eprint!(\"x\")", "dbg!(x)"] {
            assert_reported(path, text);
        }
    }
    assert_fine("src/cli/ui.rs", "println!()");
}

#[test]
fn a_folder_without_a_place_is_reported() {
    assert_reported("src/helpers/mod.rs", "");
}
