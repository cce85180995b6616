//! Commits: those that are not accepted by name at the top of the page, and each as one line that opens.

use super::text::{hash, inline};
use crate::flow::{ReportOutcome, ReportedCommit, Touch};
use crate::judge::{CommitVerdict, FileSeen, SessionVerdict};
use crate::present;
use crate::proof::finding::{Finding, Severity, Verdict};
use crate::proof::text::counted;

/// The commits that a reader has to look at first, with the worst that is said of each.
pub(super) fn refused(report: &ReportOutcome) -> String {
    let mut refused: Vec<&CommitVerdict> =
        report.outcome.commits.iter().rev().filter(|commit| !commit.verdict.is_accepted()).collect();
    if refused.is_empty() {
        return String::new();
    }
    refused.sort_by_key(|commit| std::cmp::Reverse(commit.verdict));
    let items: String = refused
        .into_iter()
        .map(|commit| {
            let worst = commit.findings.iter().max_by_key(|finding| finding.severity);
            format!(
                "<li>{}<div><p><b class=\"word\">{}</b>: <a href=\"#c-{}\" dir=\"auto\">{}</a> <code>{:.12}</code></p>\n{}</div></li>\n",
                mark(commit.verdict),
                present::word(commit.verdict),
                commit.commit,
                subject(commit),
                commit.commit,
                worst.map(|finding| said(finding, "")).unwrap_or_default()
            )
        })
        .collect();
    format!(
        "<section id=\"refused\" aria-labelledby=\"refused-title\">\n<h2 id=\"refused-title\">Commits without a proof that holds</h2>\n\
         <ul>\n{items}</ul>\n</section>\n"
    )
}

/// The mark of a verdict, for eyes; its word stands beside it, for everyone.
pub(super) fn mark(verdict: Verdict) -> String {
    format!("<span class=\"mark {}\" aria-hidden=\"true\">{}</span>", verdict.as_str(), present::sign(verdict))
}

pub(super) fn subject(commit: &CommitVerdict) -> String {
    inline(if commit.subject.is_empty() { "(no subject)" } else { &commit.subject })
}

/// A commit as one line; opened, it has the rest.
pub(super) fn line(report: &ReportOutcome, verdict: &CommitVerdict, commit: &ReportedCommit) -> String {
    let id = verdict.commit.to_string();
    let notes = verdict.findings.iter().filter(|finding| finding.severity == Severity::Warning).count();
    let notes = match notes {
        0 => String::new(),
        notes => format!(" <span class=\"quiet\">{}</span>", counted(notes, "note", "notes")),
    };
    let mut html = format!(
        "<details class=\"commit {}\" id=\"c-{id}\">\n<summary>{}<code class=\"id\">{id:.12}</code> \
         <span class=\"subject\" dir=\"auto\">{}</span> <b class=\"word\">{}</b>{notes}</summary>\n",
        verdict.verdict.as_str(),
        mark(verdict.verdict),
        subject(verdict),
        present::word(verdict.verdict),
    );
    let mut facts = vec![format!("commit {}", hash(&id))];
    facts.extend(verdict.binding.map(|binding| format!("bound: {binding}")));
    facts.extend((!commit.author.is_empty()).then(|| inline(&commit.author)));
    facts.extend((!commit.day.is_empty()).then(|| format!("<time datetime=\"{0}\">{0}</time>", commit.day)));
    html += &self::facts(FACTS, &facts);
    if let Some(vouched) = &verdict.vouched {
        html += &format!(
            "<p class=\"finding warning\">{} by {}: {}. {}</p>\n",
            present::word(Verdict::Vouched),
            inline(&vouched.by.join(" and ")),
            inline(present::WORD_OF_A_PERSON),
            inline(&vouched.reason)
        );
    }
    html += &verdict.findings.iter().map(finding).collect::<String>();
    let mut shown = Vec::new();
    for session in &verdict.sessions {
        // A squash of several commits of one session has it several times, once for each anchor.
        if !shown.contains(&(session.root, session.holds)) {
            shown.push((session.root, session.holds));
            html += &bound(report, session);
        }
    }
    html += &files(commit, &verdict.files, &id);
    html + "</details>\n"
}

/// How a session stands behind a commit.
fn bound(report: &ReportOutcome, session: &SessionVerdict) -> String {
    let mut facts = vec![
        format!("session <code>{}</code>", inline(session.session_id.as_str())),
        if session.rooted { "covers this change" } else { "does not cover this change" }.to_owned(),
    ];
    if !session.holds {
        facts.push("<b class=\"bad\">its anchor does not hold</b>".to_owned());
    }
    if session.afterwards {
        facts.push("recorded after the commit".to_owned());
    }
    if !session.signers.is_empty() {
        facts.push(format!("signed by {}", inline(&session.signers.join(", "))));
    }
    facts.extend(session.round.map(|round| format!("sealed in round {round}")));
    // Every session of a verdict is in the report.
    let place = report.session(&session.root).unwrap_or_default();
    self::facts(&format!("class=\"facts bound\" data-bound=\"{place}\""), &facts)
}

/// The attributes of a list of facts.
pub(super) const FACTS: &str = "class=\"facts\"";

/// A list of facts in a line.
pub(super) fn facts(attributes: &str, facts: &[String]) -> String {
    let items: String = facts.iter().map(|fact| format!("<li>{fact}</li>")).collect();
    format!("<ul {attributes}>{items}</ul>\n")
}

fn finding(finding: &Finding) -> String {
    let hint = finding.hint.as_ref().filter(|_| finding.severity > Severity::Warning);
    said(
        finding,
        &hint.map(|hint| format!("<br><span class=\"hint\">{}</span>", inline(&hint.to_string()))).unwrap_or_default(),
    )
}

fn said(finding: &Finding, hint: &str) -> String {
    let class = match finding.severity {
        Severity::Error => "error",
        Severity::Unchecked => "unchecked",
        Severity::Warning => "warning",
    };
    let word = present::capitalized(present::severity(finding.severity));
    format!(
        "<p class=\"finding {class}\"><b>{word}:</b> {} <code>{}</code>{hint}</p>\n",
        inline(&finding.message),
        finding.code
    )
}

fn files(commit: &ReportedCommit, seen: &[FileSeen], id: &str) -> String {
    let all = commit.files.len() + commit.more_files;
    if all == 0 {
        return String::new();
    }
    let items: String = commit
        .files
        .iter()
        .map(|file| {
            let (class, sign, word) = match file.touch {
                Touch::Added => ("added", "+", "added"),
                Touch::Changed => ("changed", "~", "changed"),
                Touch::Removed => ("removed", "−", "removed"),
            };
            let path = inline(&file.path);
            let seen = seen.iter().find(|seen| seen.path == file.path);
            let seen = seen.map(|seen| format!("; {}", inline(&present::file(seen)))).unwrap_or_default();
            format!(
                "<li class=\"{class}\"><span aria-hidden=\"true\">{sign}</span><code>{path}</code>\
                 <i> {word}{seen}</i></li>\n"
            )
        })
        .collect();
    let more = match commit.more_files {
        0 => String::new(),
        more => format!("<li class=\"quiet\">and {more} more: <code>git show --stat {id:.12}</code></li>\n"),
    };
    let all = counted(all, "file", "files");
    format!("<details class=\"files\"><summary>{all} touched</summary>\n<ul>\n{items}{more}</ul>\n</details>\n")
}
