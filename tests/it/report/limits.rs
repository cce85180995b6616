//! What forges cut off or refuse, is never sent: reports of very many findings.

use std::collections::BTreeMap;

use git_proof::judge::{CommitVerdict, RulesView, Summary, VerifyOutcome};
use git_proof::present::{COMMENT, Report, SUMMARY, github, junit, markdown, sarif};
use git_proof::proof::digest::CommitId;
use git_proof::proof::finding::{Finding, FindingCode, Verdict};

/// A range of broken commits with long messages.
fn broken(commits: u64, findings: usize, text: &str) -> VerifyOutcome {
    let verdict = |number: u64| CommitVerdict {
        commit: CommitId::parse(&format!("{number:040x}")).unwrap(),
        parents: Vec::new(),
        subject: text.to_owned(),
        verdict: Verdict::Fail,
        proof_grade: true,
        reason: Some(text.to_owned()),
        binding: None,
        vouched: None,
        files: Vec::new(),
        sessions: Vec::new(),
        findings: (0..findings)
            .map(|at| Finding::error(FindingCode::ChainBroken, format!("{at} {text}")).hint(text.to_owned()))
            .collect(),
        found_by: Vec::new(),
    };
    VerifyOutcome {
        verdict: Verdict::Fail,
        summary: Summary { fail: commits, ..Summary::default() },
        commits: (0..commits).map(verdict).collect(),
        policy: "file",
        rules: RulesView { commit: None, name: None, policy: "file", trusted: true },
        enforced: true,
        proofs_digest: None,
        range: None,
    }
}

#[test]
fn at_most_ten_annotations_and_a_line_that_counts_the_rest() {
    let (outcome, paths) = (broken(7, 3, "text"), BTreeMap::new());
    let text = github(&Report { outcome: &outcome, paths: &paths, sessions: &[] });
    assert_eq!(text.lines().filter(|line| line.starts_with("::")).count(), 10);
    assert!(text.contains("\ngit proof gate: 11 more findings are in the job summary.\n"), "{text}");
}

#[test]
fn markdown_keeps_to_its_limit_and_says_what_is_left_out() {
    let paths = BTreeMap::new();
    for text in ["x", &"`|\u{1b}𝕏".repeat(500)] {
        for (commits, limit) in [(500, COMMENT), (4000, SUMMARY), (50, 2000), (1, 1000)] {
            let outcome = broken(commits, 20, text);
            let text = markdown(&Report { outcome: &outcome, paths: &paths, sessions: &[] }, limit);
            assert!(text.len() <= limit, "{} > {limit}", text.len());
            let named = |line: &&str| line.starts_with("| **failed**") || line.starts_with("- **failed**");
            let rows = text.lines().filter(named).count() as u64;
            if rows < commits {
                let said = match commits - rows {
                    1 => "1 commit that is not accepted".to_owned(),
                    left => format!("{left} commits ({left} of them not accepted)"),
                };
                let line = format!("\nLeft out here: {said}. `git proof gate` in a clone shows all.\n");
                assert!(text.ends_with(&line), "{line}: {}", &text[text.len().saturating_sub(300)..]);
            }
        }
    }
}

#[test]
fn sarif_is_cut_where_forges_stop_reading() {
    let (outcome, paths) = (broken(501, 10, "text"), BTreeMap::new());
    let text = sarif(&Report { outcome: &outcome, paths: &paths, sessions: &[] });
    let log: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 5000);
    let notice = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
    assert_eq!(notice, "10 more findings are left out");
}

#[test]
fn an_empty_range_is_said_to_be_one() {
    let (outcome, paths) = (broken(0, 0, ""), BTreeMap::new());
    let outcome = VerifyOutcome { verdict: Verdict::Exempt, ..outcome };
    let report = Report { outcome: &outcome, paths: &paths, sessions: &[] };
    assert_eq!(github(&report), "git proof gate: nothing to judge. The range has no commits.\n");
    assert!(markdown(&report, COMMENT).contains("### git proof gate: no commits\n\nNothing to judge. "));
    assert!(junit(&report).contains("tests=\"0\" failures=\"0\""));
}
