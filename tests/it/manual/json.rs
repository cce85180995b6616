//! The names in the JSON of commands: one name for one thing, beside it the older one (docs/json.md).

use serde_json::Value;

use super::lines::Prepared;
use super::{commands, examples, help};
use crate::store::scratch::Scratch;

/// Commands that answer nothing in JSON: a server, a hook, and what a shell or a formatter reads.
const SILENT: [&str; 4] = ["mcp", "hook", "completions", "man"];

/// What must be in the answer of a command, at its top or under the name before the slash.
const NAMED: [(&str, &str); 27] = [
    ("start", "count"),
    ("status", "session/count"),
    ("log", "session/count"),
    ("tree", "session/count"),
    ("check", "count"),
    ("check", "verdict"),
    ("end", "count"),
    ("finalize", "count"),
    ("done", "count"),
    ("root", "count"),
    ("cover", "finalized/count"),
    ("backup", "count"),
    ("import", "count"),
    ("retain", "zones/count"),
    ("prove", "count"),
    ("check-proof", "count"),
    ("check-proof", "verdict"),
    ("check-evidence", "verdict"),
    ("check-transcript", "verdict"),
    ("policy check", "verdict"),
    ("doctor", "verdict"),
    ("demo", "verdict"),
    ("verify", "verdict"),
    ("gate", "verdict"),
    ("report", "verdict"),
    ("rounds", "verdict"),
    ("why", "verdict"),
];

/// Older names of `count`.
const COUNTS: [&str; 4] = ["records", "record_count", "chain_length", "leaf_count"];

/// Older names of `verdict`.
const VERDICTS: [&str; 3] = ["valid", "ok", "matches"];

/// Every object in an answer says the same under an older name. What people wrote is not looked at.
fn compare(answer: &Value, is_top: bool, of: &str, wrong: &mut Vec<String>) {
    match answer {
        Value::Array(items) => items.iter().for_each(|item| compare(item, false, of, wrong)),
        Value::Object(fields) => {
            for name in COUNTS {
                if fields.get(name).is_some_and(Value::is_u64) && fields.get("count") != fields.get(name) {
                    wrong.push(format!("{of}: {name} is not count: {answer}"));
                }
            }
            for name in VERDICTS {
                let Some(holds) = fields.get(name).and_then(Value::as_bool).filter(|_| is_top) else { continue };
                if fields.get("verdict") != Some(&Value::from(if holds { "pass" } else { "fail" })) {
                    wrong.push(format!("{of}: {name} is not verdict: {answer}"));
                }
            }
            let below = fields.iter().filter(|(name, _)| !["metadata", "content"].contains(&name.as_str()));
            below.for_each(|(_, value)| compare(value, false, of, wrong));
        }
        _ => {}
    }
}

fn has(answer: &Value, path: &str) -> bool {
    path.split('/').try_fold(answer, |value, name| value.get(name).map(|found| found.get(0).unwrap_or(found))).is_some()
}

#[test]
fn one_thing_has_one_name_in_the_json_of_every_command_and_the_older_one_says_the_same() {
    let prepared = Prepared::new();
    let mut wrong = Vec::new();
    let mut missing = NAMED.to_vec();
    for command in commands(&Scratch::without_repository()) {
        if command.is_empty() || SILENT.contains(&command.as_str()) {
            continue;
        }
        let examples = examples(&help(&Scratch::without_repository(), &command));
        let own = format!("git proof {command}");
        let plain = |line: &&String| line.starts_with(&own) && !line.contains(['|', '#']);
        let mut answered = false;
        for line in examples.iter().filter(plain) {
            let line = line.split(['>', '&']).next().unwrap_or_default().trim().replace(" --json", "");
            // The demonstration is played without a person.
            let line = if command == "demo" { "git proof demo --no-pause played".to_owned() } else { line };
            match prepared.try_line(prepared.copy().path(), "place", &format!("{line} --json")) {
                Ok(out) => {
                    for answer in out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
                        answered = true;
                        compare(&answer, true, &line, &mut wrong);
                        missing.retain(|(of, path)| *of != command || !has(&answer, path));
                    }
                }
                Err(why) => wrong.push(format!("{line}: {why}")),
            }
            if command == "demo" || answered && !missing.iter().any(|(of, _)| *of == command) {
                break; // what is looked for is there
            }
        }
        if !answered {
            wrong.push(format!("no example of {command} answered with JSON"));
        }
    }
    assert!(wrong.is_empty() && missing.is_empty(), "missing: {missing:?}\n{}", wrong.join("\n"));
}
