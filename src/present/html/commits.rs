//! The commits and what led to them: what is readable without any script, and on paper.

use std::collections::HashMap;

use super::text::{block, hash, inline};
use crate::flow::{Embedded, Label, ReportOutcome, ReportedCommit, Telling, Touch};
use crate::judge::{CommitVerdict, SessionVerdict};
use crate::present::{self, rejected};
use crate::proof::finding::{Finding, Severity, Verdict};
use crate::proof::record::RecordType;

/// Most characters of a text that stand in the page itself; scripts show the rest from the evidence.
const LONGEST: usize = 8000;

/// Most decisions and reflections of one session that stand in the page itself, besides its last.
const MOST: usize = 600;

/// All commits.
pub(super) fn sections(report: &ReportOutcome) -> String {
    let mut told = HashMap::new();
    let commits = report.outcome.commits.iter().zip(&report.commits);
    commits.map(|(verdict, commit)| one(report, verdict, commit, &mut told)).collect()
}

/// The mark of a verdict, for eyes; its word stands beside it, for everyone.
pub(super) fn mark(verdict: Verdict) -> String {
    format!("<span class=\"mark {}\" aria-hidden=\"true\">{}</span>", verdict.as_str(), present::sign(verdict))
}

fn one<'a>(
    report: &'a ReportOutcome,
    verdict: &'a CommitVerdict,
    commit: &ReportedCommit,
    told: &mut HashMap<usize, &'a CommitVerdict>,
) -> String {
    let id = verdict.commit.to_string();
    let subject = if verdict.subject.is_empty() { "(no subject)" } else { &verdict.subject };
    let mut html = format!(
        "<article class=\"commit {}\" id=\"c-{id}\">\n<header>{}<div>\n<h3 dir=\"auto\">{}</h3>\n",
        verdict.verdict.as_str(),
        mark(verdict.verdict),
        inline(subject)
    );
    let mut facts = vec![format!("<b class=\"word\">{}</b>", present::word(verdict.verdict)), hash(&id)];
    facts.extend(verdict.binding.map(|binding| format!("bound: {binding}")));
    facts.extend((!commit.author.is_empty()).then(|| inline(&commit.author)));
    facts.extend((!commit.day.is_empty()).then(|| format!("<time datetime=\"{0}\">{0}</time>", commit.day)));
    html += &format!("{}</div></header>\n", self::facts(&facts));
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
            html += &self::session(report, verdict, session, told);
        }
    }
    html += &files(commit, &id);
    html + "</article>\n"
}

fn facts(facts: &[String]) -> String {
    let items: String = facts.iter().map(|fact| format!("<li>{fact}</li>")).collect();
    format!("<ul class=\"facts\">{items}</ul>\n")
}

fn finding(finding: &Finding) -> String {
    let class = match finding.severity {
        Severity::Error => "error",
        Severity::Unchecked => "unchecked",
        Severity::Warning => "warning",
    };
    let word = present::capitalized(present::severity(finding.severity));
    let hint = finding.hint.as_ref().filter(|_| finding.severity > Severity::Warning);
    let hint = hint.map(|hint| format!("<br><span class=\"hint\">{}</span>", inline(hint))).unwrap_or_default();
    format!(
        "<p class=\"finding {class}\"><b>{word}:</b> {} <code>{}</code>{hint}</p>\n",
        inline(&finding.message),
        finding.code
    )
}

fn session<'a>(
    report: &'a ReportOutcome,
    commit: &'a CommitVerdict,
    session: &SessionVerdict,
    told: &mut HashMap<usize, &'a CommitVerdict>,
) -> String {
    let Some(at) = report.session(&session.root) else { return String::new() };
    let evidence = &report.sessions[at].evidence;
    let lines = if let Embedded::Lines(lines) = evidence { Some(lines) } else { None };
    let intent = lines.and_then(|lines| lines.opening.as_ref()).map(|opening| opening.intent.as_str());
    let mut html = format!(
        "<section class=\"session\" data-session=\"{at}\">\n<h4 dir=\"auto\">{}</h4>\n",
        intent
            .map_or_else(|| format!("Session {}", inline(session.session_id.as_str())), |intent| block(&cut(intent).0))
    );
    let mut facts = vec![
        format!("session <code>{}</code>", inline(session.session_id.as_str())),
        if session.count == 1 { "1 entry".to_owned() } else { format!("{} entries", session.count) },
        format!("root {}", hash(&session.root.to_string())),
        if session.rooted { "covers this change" } else { "does not cover this change" }.to_owned(),
    ];
    if !session.holds {
        facts.push("<b class=\"bad\">its anchor does not hold</b>".to_owned());
    }
    if !session.signers.is_empty() {
        facts.push(format!("signed by {}", inline(&session.signers.join(", "))));
    }
    facts.extend(session.round.map(|round| format!("sealed in round {round}")));
    facts.extend(lines.map(|lines| lines.withheld).filter(|count| *count > 0).map(|count| format!("{count} withheld")));
    html += &self::facts(&facts);
    match evidence {
        Embedded::Absent(why) => html += &format!("<p class=\"quiet\">Nothing to read: {}.</p>\n", inline(why)),
        Embedded::Lines(lines) => match told.get(&at) {
            Some(first) => {
                html += &format!(
                    "<p class=\"quiet\">Its decisions are shown with <a href=\"#c-{}\">{:.12}</a>.</p>\n",
                    first.commit, first.commit
                );
            }
            None => {
                told.insert(at, commit);
                html += &story(&lines.story);
            }
        },
    }
    html + "</section>\n"
}

fn story(story: &[Telling]) -> String {
    if story.is_empty() {
        return "<p class=\"quiet\">No decision or reflection can be read in it.</p>\n".to_owned();
    }
    // The last one is the reflection that closes the session.
    let (begin, rest) = story.split_at(story.len().min(MOST));
    let mut items: String = begin.iter().map(telling).collect();
    if let [between @ .., last] = rest {
        if !between.is_empty() {
            items += &format!("<li class=\"quiet\">{} more are in its trail.</li>\n", between.len());
        }
        items += &telling(last);
    }
    format!("<ol class=\"story\">\n{items}</ol>\n")
}

fn telling(telling: &Telling) -> String {
    let label = if telling.kind == RecordType::Decision { "Decision" } else { "Reflection" };
    let (text, left) = cut(&telling.content);
    let pieces: String = rejected::pieces(&text)
        .into_iter()
        .map(|(piece, rejected)| {
            let class = if rejected { " class=\"rejected\"" } else { "" };
            format!("<span{class}>{}</span>", block(piece))
        })
        .collect();
    let points = rejected::listed(telling.metadata.as_deref());
    let listed: String = [(Label::Rejected, "Rejected"), (Label::Considered, "Considered")]
        .into_iter()
        .map(|(label, title)| {
            let said = points.iter().filter(|point| point.label == label);
            let said: String =
                said.map(|point| format!("<li dir=\"auto\">{}</li>", inline(&cut(&point.text).0))).collect();
            if said.is_empty() {
                return said;
            }
            format!("<div class=\"listed\"><b>{title}</b><ul>{said}</ul></div>")
        })
        .collect();
    let more = if left > 0 {
        format!("<p class=\"more quiet\">{left} more characters are in the evidence.</p>")
    } else {
        String::new()
    };
    format!(
        "<li class=\"{}\" data-line=\"{}\"><p class=\"label\">{label} <time datetime=\"{}\">{}</time></p>\
         <div class=\"text\" dir=\"auto\">{pieces}</div>{more}{listed}</li>\n",
        telling.kind,
        telling.line,
        telling.timestamp,
        day_and_minute(telling.timestamp.as_str()),
    )
}

/// `2026-03-01 09:00` of a time.
pub(super) fn day_and_minute(time: &str) -> String {
    format!("{:.10} {:.5}", time, time.get(11..).unwrap_or_default())
}

/// The beginning of a text, and how many characters are left out.
fn cut(text: &str) -> (String, usize) {
    let all = text.chars().count();
    if all <= LONGEST {
        return (text.to_owned(), 0);
    }
    (text.chars().take(LONGEST).collect(), all - LONGEST)
}

fn files(commit: &ReportedCommit, id: &str) -> String {
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
            format!(
                "<li class=\"{class}\"><span aria-hidden=\"true\">{sign}</span><code>{path}</code><i> {word}</i></li>\n"
            )
        })
        .collect();
    let more = match commit.more_files {
        0 => String::new(),
        more => format!("<li class=\"quiet\">and {more} more: <code>git show --stat {id:.12}</code></li>\n"),
    };
    let word = if all == 1 { "1 file".to_owned() } else { format!("{all} files") };
    format!("<details class=\"files\"><summary>{word} touched</summary>\n<ul>\n{items}{more}</ul>\n</details>\n")
}
