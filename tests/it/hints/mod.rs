//! Every hint leads somewhere: for each kind of step there is a story at whose end the program prints it. The test types
//! what was printed, as it was printed, and the state must be better afterwards.

mod sources;
mod stories;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use git_proof::hint::StepKind;
use regex_lite::{Regex, escape};

use crate::mistakes::{BEGIN, WORDS as MISTAKES, Walk};
use crate::store::scratch::Ran;

/// Remembers where a story ends, and with which environment.
const REMEMBER: &str = r#"trap 'pwd >"$HOME/where"; export -p >"$HOME/environment"' EXIT"#;
const RETURN: &str = r#". "$HOME/environment"; cd "$(cat "$HOME/where")""#;

/// How a script says that this machine cannot tell its story.
const NOT_HERE: Option<i32> = Some(77);

/// A step that was printed.
struct Printed {
    kind: StepKind,
    words: String,
    /// Whether the hint leaves it open whether it is to be typed: "if …", or "… or …".
    optional: bool,
}

/// What each kind of step looks like. The two without words of their own are found otherwise.
fn patterns() -> Vec<(StepKind, Regex)> {
    let fields = Regex::new(r"\{(\w+)\}").unwrap();
    let kinds = StepKind::ALL.iter().filter(|kind| !matches!(kind, StepKind::Option | StepKind::Usage));
    let pattern = |kind: &StepKind| {
        let (mut text, mut end) = ("^".to_owned(), 0);
        for field in fields.captures_iter(kind.words()) {
            let whole = field.get(0).unwrap();
            text.push_str(&escape(&kind.words()[end..whole.start()]));
            text.push_str(match &field[1] {
                "option" => "--[a-z-]+",
                _ => r#"(?:'[^']*'|refs/[^\s;,]+(?: refs/[^\s;,]+)*|[^\s;,"'-][^\s;,"']*)"#,
            });
            end = whole.end();
        }
        text.push_str(&escape(&kind.words()[end..]));
        (*kind, Regex::new(&text).unwrap())
    };
    kinds.map(pattern).collect()
}

/// The steps of a hint, in their order. Where two kinds begin alike, the longer one is meant.
fn steps_of(hint: &str, patterns: &[(StepKind, Regex)]) -> Vec<Printed> {
    let mut steps = Vec::new();
    for clause in hint.split("; ") {
        let mut at = 0;
        while at < clause.len() {
            let found = patterns.iter().filter_map(|(kind, pattern)| Some((*kind, pattern.find(&clause[at..])?.end())));
            let Some((kind, length)) = found.max_by_key(|(_, length)| *length) else {
                at += clause[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            };
            let optional = clause.starts_with("if ") || clause[..at].ends_with("or ");
            steps.push(Printed { kind, words: clause[at..at + length].to_owned(), optional });
            at += length;
        }
    }
    steps
}

/// The hints of an output, as text or in JSON, and the next command of `status`.
fn hints_of(ran: &Ran) -> Vec<String> {
    let said = format!("{}{}", ran.out, ran.err);
    let lines = said.lines().filter_map(|line| line.split_once("hint: ").or_else(|| line.split_once("Next: ")));
    let mut hints: Vec<String> = lines.map(|(_, hint)| hint.to_owned()).collect();
    let json = Regex::new(r#""hint":("(?:[^"\\]|\\.)*")"#).unwrap();
    hints.extend(json.captures_iter(&said).map(|hint| serde_json::from_str::<String>(&hint[1]).unwrap()));
    hints
}

/// What is to be typed: all of the first hint that names a step of this kind.
fn to_type(kind: StepKind, hints: &[String], patterns: &[(StepKind, Regex)]) -> Option<Vec<String>> {
    match kind {
        StepKind::Usage => {
            hints.iter().find(|hint| hint.contains("try 'git proof -h'")).map(|_| vec!["git proof -h".to_owned()])
        }
        // The story leaves the command to which the option is added.
        StepKind::Option | StepKind::Private => {
            let option = Regex::new("--[a-z-]+").unwrap();
            hints.iter().find_map(|hint| option.find(hint)).map(|found| vec![format!("$asked {}", found.as_str())])
        }
        _ => hints
            .iter()
            .map(|hint| steps_of(hint, patterns))
            .find(|steps| steps.iter().any(|step| step.kind == kind))
            .map(|steps| {
                let wanted = steps.into_iter().filter(|step| step.kind == kind || !step.optional);
                wanted.map(|step| step.words).collect()
            }),
    }
}

/// Tells a story and types what it prints. Each command must succeed, or name something else to do.
fn follow(kind: StepKind, patterns: &[(StepKind, Regex)]) -> Result<(), String> {
    let story = stories::story(kind);
    let mut walk = Walk::new();
    let around = walk.scratch.around().to_str().unwrap().to_owned();
    let words = format!("{}\nbegin() {{\n{BEGIN}\n}}\n{REMEMBER}", stories::WORDS);
    let mut told = walk.shell(&format!("{words}\n{}", story.script), ".");
    if told.exit == NOT_HERE {
        return Ok(());
    }
    if let Some((sql, prints)) = story.altered {
        walk.scratch.without_triggers().execute(sql, []).unwrap();
        told = walk.shell(&format!("{words}\n{prints}"), ".");
    }
    let mut before = hints_of(&told);
    let Some(typed) = to_type(kind, &before, patterns) else {
        return Err(format!("{kind:?} is not printed\n{}", walk.log));
    };
    for command in typed {
        let ran = walk.shell(&format!("{RETURN}\n{command}"), &around);
        let after = hints_of(&ran);
        if ran.exit != Some(0) && after.iter().all(|hint| before.contains(hint)) {
            return Err(format!("{kind:?}: {command} leads nowhere\n{}", walk.log));
        }
        before.extend(after);
    }
    match story.then {
        Some(then) if walk.shell(&format!("{RETURN}\n{then}"), &around).exit != Some(0) => {
            Err(format!("{kind:?} does not help\n{}", walk.log))
        }
        _ => Ok(()),
    }
}

#[test]
fn every_kind_of_step_is_printed_and_helps_when_it_is_typed_as_it_stands() {
    assert!(MISTAKES.contains("commit()"), "the stories use the words of the mistakes");
    let (patterns, next, dead_ends) = (patterns(), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(kind) = StepKind::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
                    dead_ends.lock().unwrap().extend(follow(*kind, &patterns).err());
                }
            });
        }
    });
    let dead_ends = dead_ends.into_inner().unwrap();
    assert!(dead_ends.is_empty(), "{} dead ends:\n{}", dead_ends.len(), dead_ends.join("\n"));
}
