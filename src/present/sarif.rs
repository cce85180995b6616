//! SARIF 2.1.0: a result for each finding, as code scanning reads it.

use serde_json::{Value, json};

use super::escape::{sarif_text, uri};
use super::report::{Report, short};
use super::rules::rule;
use crate::judge::CommitVerdict;
use crate::proof::digest::{ContentHash, sha256};
use crate::proof::finding::{Finding, FindingCode, Severity};
use crate::proof::text::{brief, inert};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// GitHub shows no more of one run, and refuses a file with more than five times as many.
const RESULTS: usize = 5000;
/// Longest subject in a message.
const SUBJECT: usize = 120;

/// One run. Every result has a place in a file: GitHub refuses a whole file for one that has none.
pub fn sarif(report: &Report<'_>) -> String {
    let findings = report.findings();
    let results: Vec<Value> =
        findings.iter().take(RESULTS).map(|(commit, finding)| result(report, commit, finding)).collect();
    let (base, head) = report.ends();
    let mut invocation = json!({ "executionSuccessful": true });
    if findings.len() > RESULTS {
        let text = format!("{} more findings are left out", findings.len() - RESULTS);
        invocation["toolExecutionNotifications"] = json!([{ "level": "warning", "message": { "text": text } }]);
    }
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "git-proof",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": FindingCode::ALL.iter().map(|code| describe(*code)).collect::<Vec<_>>(),
            }},
            "automationDetails": { "id": "git-proof/gate/" },
            "invocations": [invocation],
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "base": base,
                "head": head,
                "policy": report.outcome.policy,
                "verdict": report.outcome.verdict,
                "summary": report.outcome.summary,
            },
        }],
    });
    format!("{log:#}\n")
}

fn describe(code: FindingCode) -> Value {
    let rule = rule(code);
    json!({
        "id": code.as_str(),
        "shortDescription": { "text": sarif_text(rule.what) },
        "fullDescription": { "text": sarif_text(rule.what) },
        "help": { "text": sarif_text(rule.remedy) },
        "defaultConfiguration": { "level": level(rule.severity) },
        "properties": { "tags": ["provenance"] },
    })
}

fn result(report: &Report<'_>, commit: &CommitVerdict, finding: &Finding) -> Value {
    let index = FindingCode::ALL.iter().position(|code| *code == finding.code);
    let subject = brief(&commit.subject, SUBJECT);
    let text = format!("{} (commit {}: {subject})", finding.message, short(&commit.commit));
    // The same finding of the same commit is the same alert in the next run.
    let identity = format!("{}\n{}\n{}", commit.commit, finding.code, finding.message);
    let fingerprint = ContentHash::new(sha256(identity.as_bytes()));
    json!({
        "ruleId": finding.code.as_str(),
        "ruleIndex": index,
        "level": level(finding.severity),
        "message": { "text": sarif_text(&text) },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(report.path(&commit.commit)) },
            "region": { "startLine": 1 },
        }}],
        "partialFingerprints": {
            "gitProofFinding/v1": fingerprint,
            "primaryLocationLineHash": format!("{fingerprint:.16}:1"),
        },
        "properties": { "commit": commit.commit, "hint": finding.hint.as_ref().map(|hint| inert(&hint.to_string())) },
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Unchecked => "warning",
        Severity::Warning => "note",
    }
}
