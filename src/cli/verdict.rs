//! How a verdict is painted, for every command that shows one.

use super::ui::{Paint, Role, Ui, inert};
use super::wrap::wrap;
use crate::judge::{RulesView, Summary};
use crate::present;
use crate::proof::finding::{Finding, Severity, Verdict};

/// Whose rules a verdict was made by, in a line.
pub(super) fn rules_line(rules: &RulesView) -> String {
    let policy = if rules.policy == "file" { "the policy" } else { "the default policy" };
    let of = match (&rules.name, &rules.commit) {
        // The name of a base that was looked up begins with its id.
        (Some(name), Some(commit)) if name.starts_with(&format!("{commit:.12}")) => format!(" of {}", inert(name)),
        (Some(name), Some(commit)) => format!(" of {} ({commit:.12})", inert(name)),
        (None, Some(commit)) => format!(" of {commit:.12}"),
        (_, None) => String::new(),
    };
    let note =
        if rules.trusted { "" } else { "; no trusted branch is known here: git config proof.rules BRANCH names one" };
    format!("Rules: {policy}{of}{note}")
}

/// Says on standard error whose rules a verdict was made by.
pub(super) fn say_rules(rules: &RulesView, ui: &mut Ui) {
    if !ui.json {
        for line in wrap(&rules_line(rules), ui.paint.measure()) {
            ui.say(&line);
        }
    }
}

/// How commits stand, in a line.
pub(super) fn headline(verdict: Verdict, summary: &Summary, paint: Paint) -> String {
    // "Could not check: 1 could not be checked" would say it twice.
    if present::counts(summary) == format!("{} {}", summary.unchecked, present::counted(Verdict::Unchecked)) {
        let commits = if summary.unchecked == 1 { "commit" } else { "commits" };
        let word = paint.paint(role(verdict), "Could not check");
        return format!("{word} {} {commits}.\n", summary.unchecked);
    }
    let word = present::capitalized(present::range_headline(verdict, summary));
    format!("{}: {}.\n", paint.paint(role(verdict), &word), present::counts(summary))
}

/// The colour of a verdict.
pub(super) fn role(verdict: Verdict) -> Role {
    match verdict {
        Verdict::Pass => Role::Good,
        Verdict::Vouched | Verdict::Unchecked => Role::Decision,
        Verdict::Missing | Verdict::Fail => Role::Bad,
        Verdict::Exempt => Role::Faint,
    }
}

/// Findings, one line each, with their hints.
pub(super) fn findings(findings: &[Finding], paint: Paint) -> String {
    let mut text = String::new();
    for finding in findings {
        let word = present::severity(finding.severity);
        let word = match finding.severity {
            Severity::Error => paint.paint(Role::Bad, word),
            Severity::Unchecked => paint.paint(Role::Decision, word),
            Severity::Warning => word.to_owned(),
        };
        text.push_str(&format!("  {word}: {} {}\n", finding.code, inert(&finding.message)));
        if let Some(hint) = finding.hint.as_ref().filter(|_| finding.severity > Severity::Warning) {
            text.push_str(&format!("    hint: {}\n", inert(&hint.to_string())));
        }
    }
    text
}
