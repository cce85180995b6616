//! A commit in Markdown: as a row of a table, and as an item of the list of those that are not accepted.

use super::escape::code_span;
use super::report::short;
use crate::judge::CommitVerdict;
use crate::present;
use crate::proof::finding::{Severity, Verdict};
use crate::proof::observed::Reflection;

/// Longest subject, and longest message or hint.
const SUBJECT: usize = 100;
const MESSAGE: usize = 400;
/// Findings and sessions of one commit that are shown.
const SHOWN: usize = 5;

/// The head of the table.
pub(super) const HEAD: &str = "| verdict | commit | subject | what |\n|---|---|---|---|\n";

/// A commit as a row of the table.
pub(super) fn row(commit: &CommitVerdict) -> String {
    format!(
        "| {} | {} | {} | {} |\n",
        verdict(commit),
        short(&commit.commit),
        subject(commit),
        explanation(commit).join("<br>")
    )
}

/// A commit as an item of a list.
pub(super) fn item(commit: &CommitVerdict) -> String {
    let what = explanation(commit).join("<br>");
    let colon = if what.is_empty() { "" } else { "<br>" };
    format!("- {}: {} {}{colon}{what}\n", verdict(commit), short(&commit.commit), subject(commit))
}

/// The verdict. What a reviewer has to look at is set in bold.
fn verdict(commit: &CommitVerdict) -> String {
    match commit.verdict {
        Verdict::Pass | Verdict::Exempt => present::word(commit.verdict).to_owned(),
        Verdict::Vouched | Verdict::Missing | Verdict::Fail | Verdict::Unchecked => {
            format!("**{}**", present::word(commit.verdict))
        }
    }
}

pub(super) fn subject(commit: &CommitVerdict) -> String {
    if commit.subject.is_empty() { "(no subject)".to_owned() } else { code_span(&commit.subject, SUBJECT) }
}

/// What there is to say of a commit.
fn explanation(commit: &CommitVerdict) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(vouched) = &commit.vouched {
        let by = code_span(&vouched.by.join(", "), SUBJECT);
        let reason = code_span(&vouched.reason, MESSAGE);
        lines.push(format!("{} by {by} ({}): {reason}", present::word(Verdict::Vouched), present::WORD_OF_A_PERSON));
    }
    for finding in commit.findings.iter().take(SHOWN) {
        let hint = finding.hint.as_ref().filter(|_| finding.severity > Severity::Warning);
        let hint = hint.map(|hint| format!("<br>hint: {}", code_span(&hint.to_string(), MESSAGE))).unwrap_or_default();
        lines.push(format!("`{}` {}{hint}", finding.code, code_span(&finding.message, MESSAGE)));
    }
    if commit.findings.len() > SHOWN {
        lines.push(format!("and {} more findings", commit.findings.len() - SHOWN));
    }
    if let Some(reason) = commit.reason.as_ref().filter(|_| commit.verdict > Verdict::Vouched) {
        lines.push(format!("required: {}", code_span(reason, MESSAGE)));
    }
    let holding: Vec<_> = commit.sessions.iter().filter(|session| session.holds).collect();
    for session in holding.iter().take(SHOWN) {
        let bound = commit.binding.map(|binding| format!(", {binding}")).unwrap_or_default();
        let rooted = if session.rooted { ", rooted" } else { "" };
        let observed = if session.reflection == Some(Reflection::Observed) { ", observed reflection" } else { "" };
        let mut line = format!("session `{}`, {} entries{bound}{rooted}{observed}", session.session_id, session.count);
        if !session.signers.is_empty() {
            line.push_str(&format!(", signed by {}", code_span(&session.signers.join(", "), SUBJECT)));
        }
        if session.afterwards {
            line.push_str(", recorded afterwards");
        }
        lines.push(line);
    }
    if holding.len() > SHOWN {
        lines.push(format!("and {} more sessions", holding.len() - SHOWN));
    }
    lines
}
