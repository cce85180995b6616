//! Workflow commands: the annotations that GitHub, Gitea and Forgejo make of a step's output.

use super::escape::{command_data, command_property};
use super::report::{Report, short};
use crate::error::Error;
use crate::proof::finding::Severity;
use crate::proof::text::{brief, inert};

/// GitHub shows no more of one step.
const ANNOTATIONS: usize = 10;
/// Longest subject in an annotation.
const SUBJECT: usize = 120;

/// The annotations of a verdict, the worst first, and then what there is in all. They name no file: a finding speaks of a
/// commit, and no line of a file is to blame. Nothing else in the output begins a line
/// with text that is not ours.
pub fn github(report: &Report<'_>) -> String {
    let findings = report.findings();
    let mut text = String::new();
    for (commit, finding) in findings.iter().take(ANNOTATIONS) {
        let level = if finding.severity == Severity::Warning { "warning" } else { "error" };
        let title = format!("{} in {}", finding.code, short(&commit.commit));
        let mut message = inert(&finding.message);
        message.push_str(&format!("\ncommit: {}", brief(&commit.subject, SUBJECT)));
        if let Some(hint) = &finding.hint {
            message.push_str(&format!("\nhint: {}", inert(&hint.to_string())));
        }
        text.push_str(&format!("::{level} title={}::{}\n", command_property(&title), command_data(&message)));
    }
    if findings.len() > ANNOTATIONS {
        let more = findings.len() - ANNOTATIONS;
        text.push_str(&format!("git proof gate: {more} more findings are in the job summary.\n"));
    }
    text.push_str(&format!("git proof gate: {}. {}.\n", report.headline(), report.counts()));
    text
}

/// The annotation of a gate that could not judge at all.
pub fn github_error(error: &Error) -> String {
    let mut message = inert(&error.to_string());
    if let Some(hint) = &error.hint {
        message.push_str(&format!("\nhint: {}", inert(&hint.to_string())));
    }
    format!("::error title={}::{}\n", command_property(error.code.as_str()), command_data(&message))
}
