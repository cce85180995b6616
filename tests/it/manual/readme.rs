//! The README, followed by a stranger: every block of commands from the first to the last, in one shell that starts in an empty
//! directory, and what the README shows of their output.

use std::fmt::Write as _;

use super::lines::{page, without_hashes};
use super::path;
use crate::store::scratch::{Ran, Scratch};

/// Lines that install or build, which `packaging/fresh.sh` runs, and what stands in for them: the program is on the path.
const INSTALLED: [(&str, &str); 3] =
    [("cargo install --path .", ":"), ("cargo run --release -- demo", "git-proof demo"), ("cargo test", ":")];

/// What the README says the placeholders stand for, and where a stranger reads it.
const PLACEHOLDERS: [(&str, &str); 4] = [
    ("--record ID", "--record $ID"),
    ("AB/ROOT.jsonl", "${ROOT:0:2}/$ROOT.jsonl"),
    ("--root ROOT", "--root $ROOT"),
    ("--count COUNT", "--count $COUNT"),
];
const VALUES: &str = r#"
value() { grep -o "\"$1\":\"\{0,1\}[^\",]*" | head -1 | sed 's/.*[:"]//'; }
session=$(git proof log --all --json | value session_id)
ID=$(git proof log --session "$session" --json | sed 's/.*"entries"//' | value id)
ROOT=$(git proof root --session "$session" --json | value root)
COUNT=$(git proof root --session "$session" --json | value count)
"#;

/// A command of the README, and the lines that it is told to print.
#[derive(Debug)]
struct Step {
    line: String,
    printed: Vec<String>,
}

/// The commands of a page in their order: the lines of blocks in `sh`, and those with a `$` in blocks of `console`.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut language = "";
    for line in page.lines() {
        if let Some(found) = line.strip_prefix("```") {
            language = found;
            continue;
        }
        let command = match language {
            "sh" => Some(line),
            "console" => line.strip_prefix("$ "),
            _ => continue,
        };
        match (command, steps.last_mut()) {
            (Some(line), _) if !line.trim().is_empty() => {
                steps.push(Step { line: line.to_owned(), printed: Vec::new() });
            }
            (None, Some(step)) if !line.trim().is_empty() => step.printed.push(line.to_owned()),
            _ => {}
        }
    }
    steps
}

/// A step as a line of the script.
fn filled(step: &Step) -> String {
    for (begin, instead) in INSTALLED {
        if step.line.starts_with(begin) {
            return instead.to_owned();
        }
    }
    let line = PLACEHOLDERS.iter().fold(step.line.clone(), |line, (from, to)| line.replace(from, to));
    if line == step.line { line } else { format!("{VALUES}{line}") }
}

#[test]
fn a_stranger_can_follow_the_readme_from_its_first_line_to_its_last() {
    let steps = steps(&page("README.md"));
    assert!(steps.len() > 40, "{steps:?}");
    let scratch = Scratch::without_repository();
    std::fs::create_dir_all(scratch.around().join("home")).unwrap();
    let mut script = "set -euo pipefail\n".to_owned();
    for (number, step) in steps.iter().enumerate() {
        let _ = writeln!(script, "echo '=== {number}'\n{}", filled(step));
    }
    let mut shell = scratch.command("bash");
    shell.args(["-c", &script]).current_dir(&scratch.place).env("PATH", path(&scratch)).env("TERM", "dumb");
    shell.env("HOME", scratch.around().join("home")).env("GIT_CEILING_DIRECTORIES", scratch.around());
    let ran: Ran = shell.output().unwrap().into();
    let printed: Vec<&str> = ran.out.split("=== ").skip(1).collect();
    let last = &steps[printed.len() - 1].line;
    assert_eq!(ran.exit, Some(0), "{last}\n{}\n{}", printed.last().unwrap_or(&""), ran.err);
    for (step, printed) in steps.iter().zip(printed) {
        let mut lines = printed.lines().map(without_hashes);
        for told in &step.printed {
            let wanted = without_hashes(told);
            assert!(lines.any(|line| line == wanted), "{}\n  does not print\n{told}\n  in\n{printed}", step.line);
        }
    }
}
