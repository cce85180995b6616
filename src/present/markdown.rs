//! Markdown: a comment on a pull request, and the summary of a job.

use super::escape::code_span;
use super::report::{Report, short};
use crate::judge::CommitVerdict;
use crate::present;
use crate::proof::finding::{Severity, Verdict};

/// Most bytes of a comment; forges take 65,536 characters.
pub const COMMENT: usize = 60_000;
/// Most bytes of a job summary: GitHub takes 1 MiB a step.
pub const SUMMARY: usize = 1 << 20;

/// What the end needs, should something be left out.
const RESERVED: usize = 400;
/// Longest subject, and longest message or hint.
const SUBJECT: usize = 100;
const MESSAGE: usize = 400;
/// Findings and sessions of one commit that are shown.
const SHOWN: usize = 5;

/// A table of the commits that have something to say for themselves, the worst first, in at most `limit` bytes. What does
/// not fit is counted. The first line is for programs that replace their own comment.
pub fn markdown(report: &Report<'_>, limit: usize) -> String {
    let (base, head) = report.ends();
    let end = |id: Option<String>| id.map_or_else(|| "nothing".to_owned(), |id| format!("`{id:.12}`"));
    let mut text = format!(
        "<!-- git-proof gate -->\n### git proof gate: {}\n\n{}. Judged from {} to {} by {}.\n",
        report.headline(),
        report.counts(),
        end(base),
        end(head),
        report.policy().replace(".proof/policy.toml", "`.proof/policy.toml`"),
    );
    let quiet = |commit: &&CommitVerdict| commit.verdict == Verdict::Exempt && commit.findings.is_empty();
    let commits: Vec<_> = report.worst_first().into_iter().filter(|commit| !quiet(commit)).collect();
    if commits.is_empty() {
        return text;
    }
    text.push_str("\n| verdict | commit | subject | what |\n|---|---|---|---|\n");
    let mut shown = 0;
    for commit in &commits {
        let row = row(commit);
        if text.len() + row.len() + RESERVED > limit {
            break;
        }
        text.push_str(&row);
        shown += 1;
    }
    if shown < commits.len() {
        let left = &commits[shown..];
        let failed = left.iter().filter(|commit| !commit.verdict.is_accepted()).count();
        text.push_str(&format!(
            "\n{} more commits are left out here, {failed} of them not accepted: `git proof gate` in a clone shows all.\n",
            left.len()
        ));
    }
    text
}

/// A commit as a row of the table.
pub(super) fn row(commit: &CommitVerdict) -> String {
    // What a reviewer has to look at is set in bold.
    let verdict = match commit.verdict {
        Verdict::Pass | Verdict::Exempt => present::word(commit.verdict).to_owned(),
        Verdict::Vouched | Verdict::Missing | Verdict::Fail | Verdict::Unchecked => {
            format!("**{}**", present::word(commit.verdict))
        }
    };
    let subject =
        if commit.subject.is_empty() { "(no subject)".to_owned() } else { code_span(&commit.subject, SUBJECT) };
    let mut lines = Vec::new();
    if let Some(vouched) = &commit.vouched {
        let by = code_span(&vouched.by.join(", "), SUBJECT);
        let reason = code_span(&vouched.reason, MESSAGE);
        lines.push(format!("{} by {by} ({}): {reason}", present::word(Verdict::Vouched), present::WORD_OF_A_PERSON));
    }
    for finding in commit.findings.iter().take(SHOWN) {
        let hint = finding.hint.as_ref().filter(|_| finding.severity > Severity::Warning);
        let hint = hint.map(|hint| format!("<br>hint: {}", code_span(hint, MESSAGE))).unwrap_or_default();
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
        let mut line = format!("session `{}`, {} entries{bound}{rooted}", session.session_id, session.count);
        if !session.signers.is_empty() {
            line.push_str(&format!(", signed by {}", code_span(&session.signers.join(", "), SUBJECT)));
        }
        lines.push(line);
    }
    if holding.len() > SHOWN {
        lines.push(format!("and {} more sessions", holding.len() - SHOWN));
    }
    format!("| {verdict} | {} | {subject} | {} |\n", short(&commit.commit), lines.join("<br>"))
}
