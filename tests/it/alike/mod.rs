//! One verdict for a commit, whoever asks: `verify`, `gate`, `report` and `show` over random histories.

mod fetched;
mod history;
mod place;
mod proofs;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use git_proof::error::Result;
use git_proof::flow::{self, StoryRequest};
use git_proof::judge::{self, CommitVerdict, GateRequest, VerifyOutcome, VerifyRequest};
use git_proof::present;
use git_proof::proof::finding::{FindingCode, Severity};
use git_proof::proof::policy::Binding;
use serde_json::Value;

use crate::common::{git_proof, run};
use history::{History, history};

/// Histories of one run; `GIT_PROOF_TEST_HISTORIES` asks for more.
const HISTORIES: u64 = 200;
/// The long run, in which everything must have occurred.
const LONG: u64 = 2000;
/// How often everything must have occurred there.
const OFTEN: u64 = 20;
/// Every such history is also judged by the program itself.
const BY_PROGRAM: u64 = 50;

/// Codes that no history can have: a policy that cannot be read ends the command with an error of that name, and two
/// published chains of rounds are only met by `sync`. No session there is an agent's, so every reflection is stated. None of
/// these places has a store, which could know more than the refs.
const NEVER: [FindingCode; 4] = [
    FindingCode::KnownOnlyHere,
    FindingCode::PolicyUnreadable,
    FindingCode::ReflectionNotStated,
    FindingCode::RoundsForked,
];

/// What one command says of a commit: all that counts, and no words.
type Said = (String, Option<String>, Vec<(String, String)>);

fn said(commit: &CommitVerdict) -> Said {
    let severity = |severity: Severity| present::severity(severity).to_owned();
    let findings = commit.findings.iter().map(|found| (found.code.to_string(), severity(found.severity)));
    (commit.verdict.as_str().to_owned(), commit.binding.map(|binding| binding.to_string()), findings.collect())
}

/// What a command says of a range: of each commit, and its exit code; or the code of the error that it ends with.
type Answer = std::result::Result<(Vec<(String, Said)>, u8), &'static str>;

fn answer(outcome: Result<VerifyOutcome>) -> Answer {
    let outcome = outcome.map_err(|error| error.code.as_str())?;
    let commits = outcome.commits.iter().map(|commit| (commit.commit.to_string(), said(commit))).collect();
    Ok((commits, present::exit_code(outcome.verdict)))
}

/// How often something was seen.
type Histogram = BTreeMap<String, u64>;

/// Judges a history in every way. The answer is that of the gate.
fn judged(seed: u64, history: &History) -> Answer {
    let context = history.place.context();
    let (base, head) = (history.base.to_string(), history.head.to_string());
    let rules = (!history.trusted).then(|| base.clone());
    let range = vec![format!("{base}..{head}")];
    let gate = answer(judge::gate(&context, &GateRequest { base, head, ..GateRequest::default() }));
    let request = VerifyRequest { revisions: range.clone(), rules: rules.clone(), ..VerifyRequest::default() };
    assert_eq!(answer(judge::verify(&context, &request)), gate, "history {seed}: verify and gate");
    let report = flow::report(&context, &range, rules.clone()).map(|report| report.outcome);
    assert_eq!(answer(report), gate, "history {seed}: report and gate");
    for (commit, said_by_gate) in gate.iter().flat_map(|(commits, _)| commits) {
        let (revisions, rules) = (vec![commit.clone()], rules.clone());
        let shown = flow::story(&context, &StoryRequest { revisions, rules, ..StoryRequest::default() }).unwrap();
        assert_eq!(&said(&shown.commits[0].standing), said_by_gate, "history {seed}: show {commit} and gate");
        assert_eq!(shown.verdict, shown.commits[0].standing.verdict, "history {seed}");
    }
    gate
}

/// The same through the program: JSON and exit codes.
fn judged_by_program(seed: u64, history: &History, gate: &Answer) {
    let Ok((commits, exit)) = gate else { return };
    let (base, head) = (history.base.to_string(), history.head.to_string());
    let range = format!("{base}..{head}");
    let rules: &[&str] = if history.trusted { &[] } else { &["--rules", &base] };
    let verdicts = |said: &Value| -> BTreeMap<String, String> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let commits = said["commits"].as_array().unwrap().iter();
        commits.map(|commit| (text(&commit["commit"]), text(&commit["verdict"]))).collect()
    };
    let expected: BTreeMap<String, String> =
        commits.iter().map(|(commit, said)| (commit.clone(), said.0.clone())).collect();
    let ask = |arguments: &[&str]| {
        let ran = run(git_proof(history.place.path()).args(arguments));
        let said: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{seed}: {error}: {ran:?}"));
        (ran.code, said)
    };
    for arguments in [
        [&["verify", "--json", &range], rules].concat(),
        [&["report", "--json", &range], rules].concat(),
        [&["log", "--json", &range], rules].concat(),
        vec!["gate", "--format", "json", "--base", &base, "--head", &head],
    ] {
        let (code, said) = ask(&arguments);
        assert_eq!(verdicts(&said), expected, "history {seed}: {arguments:?}");
        let advisory = arguments[0] == "gate" && said["enforced"] == false;
        assert_eq!(code, Some(if advisory { 0 } else { i32::from(*exit) }), "history {seed}: {arguments:?}");
    }
    for (commit, verdict) in &expected {
        let (code, said) = ask(&[&["show", "--json", commit], rules].concat());
        assert_eq!(said["verdict"].as_str(), Some(verdict.as_str()), "history {seed}: show {commit}");
        let exit = match verdict.as_str() {
            "pass" | "vouched" | "exempt" => 0,
            "unchecked" => 3,
            _ => 1,
        };
        assert_eq!(code, Some(exit), "history {seed}: show {commit}");
    }
}

fn count(histogram: &mut Histogram, gate: &Answer) {
    let mut add = |what: String| *histogram.entry(what).or_default() += 1;
    match gate {
        Err(code) => add(format!("error {code}")),
        Ok((commits, _)) => {
            for (_, (verdict, binding, findings)) in commits {
                add(format!("verdict {verdict}"));
                if let Some(binding) = binding {
                    add(format!("binding {binding}"));
                }
                let mut codes: Vec<&String> = findings.iter().map(|(code, _)| code).collect();
                codes.sort();
                codes.dedup();
                for code in codes {
                    add(format!("finding {code}"));
                }
            }
        }
    }
}

#[test]
fn every_command_gives_a_commit_the_same_verdict() {
    let wanted = std::env::var("GIT_PROOF_TEST_HISTORIES").ok().and_then(|text| text.parse().ok());
    let histories: u64 = wanted.unwrap_or(HISTORIES);
    let next = AtomicU64::new(0);
    let work = || {
        let mut histogram = Histogram::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= histories {
                return histogram;
            }
            let history = history(seed);
            let gate = judged(seed, &history);
            if seed.is_multiple_of(BY_PROGRAM) {
                judged_by_program(seed, &history, &gate);
            }
            count(&mut histogram, &gate);
        }
    };
    let mut histogram = Histogram::new();
    std::thread::scope(|scope| {
        for thread in [scope.spawn(work), scope.spawn(work)] {
            for (what, times) in thread.join().unwrap() {
                *histogram.entry(what).or_default() += times;
            }
        }
    });
    let table: String = histogram.iter().map(|(what, times)| format!("{times:7} {what}\n")).collect();
    eprintln!("{histories} histories\n{table}");
    let of = |what: String| histogram.get(&what).copied().unwrap_or(0);
    let codes = FindingCode::ALL.iter().filter(|code| !NEVER.contains(code)).map(|code| format!("finding {code}"));
    let bindings = [Binding::Exact, Binding::Reworded, Binding::Moved, Binding::Squashed];
    let bindings = bindings.iter().map(|binding| format!("binding {binding}"));
    let verdicts = present::ORDER.iter().map(|verdict| format!("verdict {}", verdict.as_str()));
    let rare: Vec<String> = codes.chain(bindings).chain(verdicts).filter(|what| of(what.clone()) < OFTEN).collect();
    assert!(histories < LONG || rare.is_empty(), "fewer than {OFTEN} times: {rare:?}\n{table}");
    let verdicts = present::ORDER.iter().filter(|verdict| of(format!("verdict {}", verdict.as_str())) > 0).count();
    assert!(histories < HISTORIES || verdicts == present::ORDER.len(), "{table}");
}
