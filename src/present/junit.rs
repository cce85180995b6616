//! JUnit XML: a test case for each commit, for the many tools that show such files.

use super::escape::xml;
use super::report::{Report, short};
use crate::judge::CommitVerdict;
use crate::present;
use crate::proof::finding::{Finding, Severity, Verdict};
use crate::proof::text::brief;

/// Longest subject in a test's name.
const SUBJECT: usize = 120;

/// One suite. A commit whose proof failed or is missing is a failure, one that could not be checked is an error. One that
/// needs no proof was skipped, and so was one that is vouched for: a case without any element would count as passed.
pub fn junit(report: &Report<'_>) -> String {
    let summary = report.outcome.summary;
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"0\"",
        report.outcome.commits.len(),
        summary.fail + summary.missing,
        summary.unchecked,
        summary.exempt + summary.vouched
    );
    let (base, head) = report.ends();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"git proof\" {counts}>\n  \
         <testsuite name=\"git proof gate\" {counts}>\n    <properties>\n"
    );
    for (name, value) in [
        ("base", base.as_deref().unwrap_or("nothing")),
        ("head", head.as_deref().unwrap_or("nothing")),
        ("policy", report.outcome.policy),
    ] {
        text.push_str(&format!("      <property name=\"{name}\" value=\"{}\"/>\n", xml(value)));
    }
    if summary.vouched > 0 {
        text.push_str(&format!("      <property name=\"vouched\" value=\"{}\"/>\n", summary.vouched));
    }
    text.push_str("    </properties>\n");
    for commit in &report.outcome.commits {
        text.push_str(&case(commit));
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

fn case(commit: &CommitVerdict) -> String {
    let name = format!("{} {}", short(&commit.commit), brief(&commit.subject, SUBJECT));
    let mut inner = String::new();
    let stops = |finding: &&Finding| finding.severity > Severity::Warning;
    let element = match commit.verdict {
        Verdict::Fail | Verdict::Missing => Some("failure"),
        Verdict::Unchecked => Some("error"),
        Verdict::Exempt => {
            inner.push_str(&skipped(present::word(Verdict::Exempt)));
            None
        }
        Verdict::Vouched => {
            let by = commit.vouched.as_ref().map(|vouched| vouched.by.join(" and ")).unwrap_or_default();
            let vouched = present::word(Verdict::Vouched);
            inner.push_str(&skipped(&format!("{vouched} by {by}: {}", present::WORD_OF_A_PERSON)));
            None
        }
        Verdict::Pass => None,
    };
    if let Some(element) = element {
        // Readers of these files show one element a case: the worst finding names it, and all are in its text.
        let worst = commit.findings.iter().max_by_key(|finding| finding.severity);
        let (code, message) = worst.map_or(("UNKNOWN", ""), |worst| (worst.code.as_str(), worst.message.as_str()));
        let text: String = commit.findings.iter().filter(stops).map(line).collect();
        inner.push_str(&format!(
            "      <{element} type=\"{code}\" message=\"{}\">{}</{element}>\n",
            xml(message),
            text.trim_end()
        ));
    }
    let warnings: String = commit.findings.iter().filter(|finding| !stops(finding)).map(line).collect();
    if !warnings.is_empty() {
        inner.push_str(&format!("      <system-out>{}</system-out>\n", warnings.trim_end()));
    }
    let name = xml(&name);
    if inner.is_empty() {
        return format!("    <testcase classname=\"git proof gate\" name=\"{name}\" time=\"0\"/>\n");
    }
    format!("    <testcase classname=\"git proof gate\" name=\"{name}\" time=\"0\">\n{inner}    </testcase>\n")
}

fn skipped(why: &str) -> String {
    format!("      <skipped message=\"{}\"/>\n", xml(why))
}

fn line(finding: &Finding) -> String {
    let hint = finding.hint.as_ref().map(|hint| format!("\n  hint: {}", xml(&hint.to_string()))).unwrap_or_default();
    format!("{} {}{hint}\n", finding.code, xml(&finding.message))
}
