//! Markdown for a comment on a pull request: the verdict, then the decisions, with what they turned down.

use std::collections::HashSet;

use super::escape::code_span;
use super::markdown::row;
use super::rejected;
use super::report::{Report, short};
use crate::flow::{Embedded, Label, ReportOutcome, Telling};
use crate::proof::finding::Verdict;
use crate::proof::record::RecordType;
use crate::proof::text::inert;

/// What the end needs, should something be left out.
const RESERVED: usize = 600;
/// Longest text of one record, and longest subject or intent, in characters.
const TEXT: usize = 2000;
const LINE: usize = 120;
/// Where a line of a text is broken: forges do not wrap code.
const WIDTH: usize = 96;

/// The story of a range in at most `limit` bytes. What does not fit is counted, with the command that shows it. The first
/// line is for programs that replace their own comment.
pub fn story(report: &ReportOutcome, limit: usize) -> String {
    let paths = std::collections::BTreeMap::new();
    let judged = Report { outcome: &report.outcome, paths: &paths };
    let mut text = format!(
        "<!-- git-proof report -->\n### git proof: {}\n\n{}. Range {}.\n",
        judged.headline(),
        judged.counts(),
        code_span(&report.range, LINE)
    );
    let mut left = Left::default();
    let commits = judged.worst_first();
    let told: Vec<_> =
        commits.iter().filter(|commit| commit.verdict != Verdict::Exempt || !commit.findings.is_empty()).collect();
    if !told.is_empty() {
        text.push_str("\n| verdict | commit | subject | what |\n|---|---|---|---|\n");
    }
    // The decisions are what a reviewer comes for; the table may take half of the room.
    for commit in told {
        let row = row(commit);
        if text.len() + row.len() + RESERVED > limit / 2 {
            left.commits += 1;
        } else {
            text.push_str(&row);
        }
    }
    decisions(report, limit, &mut text, &mut left);
    text.push_str(&left.line(&report.range));
    text
}

/// What did not fit.
#[derive(Default)]
struct Left {
    commits: usize,
    records: usize,
    characters: usize,
}

impl Left {
    fn line(&self, range: &str) -> String {
        let mut parts = Vec::new();
        for (count, one, many) in [
            (self.commits, "commit", "commits"),
            (self.records, "decision or reflection", "decisions and reflections"),
            (self.characters, "character of long texts", "characters of long texts"),
        ] {
            match count {
                0 => {}
                1 => parts.push(format!("1 {one}")),
                count => parts.push(format!("{count} {many}")),
            }
        }
        if parts.is_empty() {
            return String::new();
        }
        let command = format!("git proof report {range} --html report.html");
        format!(
            "\nLeft out here: {}. In a clone, {} shows all of it.\n",
            parts.join(", "),
            code_span(&command, 2 * LINE)
        )
    }
}

/// The sessions with what they decided, each once, in the order of the commits.
fn decisions(report: &ReportOutcome, limit: usize, text: &mut String, left: &mut Left) {
    let mut seen = HashSet::new();
    let (mut begun, mut full) = (false, false);
    for commit in &report.outcome.commits {
        for verdict in commit.sessions.iter().filter(|session| session.holds) {
            let Some(at) = report.session(&verdict.root).filter(|at| seen.insert(*at)) else { continue };
            let Embedded::Lines(lines) = &report.sessions[at].evidence else { continue };
            let intent = lines.opening.as_ref().map_or("", |opening| opening.intent.as_str());
            let mut heading = if begun { String::new() } else { "\n#### Decisions\n".to_owned() };
            heading += &format!(
                "\n{} {}: session `{}`, {}\n",
                short(&commit.commit),
                code_span(&commit.subject, LINE),
                verdict.session_id,
                code_span(intent, LINE)
            );
            for telling in &lines.story {
                let (piece, cut) = self::telling(telling);
                full = full || text.len() + heading.len() + piece.len() + RESERVED > limit;
                if full {
                    left.records += 1;
                    continue;
                }
                text.push_str(&std::mem::take(&mut heading));
                text.push_str(&piece);
                left.characters += cut;
                begun = true;
            }
        }
    }
}

/// A record as a block of code, where Markdown knows nothing else; what was rejected is marked as a diff marks what is
/// gone. And how many characters did not fit.
fn telling(telling: &Telling) -> (String, usize) {
    let label = if telling.kind == RecordType::Decision { "Decision" } else { "Reflection" };
    let content: String = telling.content.chars().take(TEXT).collect();
    let cut = telling.content.chars().count() - content.chars().count();
    let mut lines = Vec::new();
    for (piece, rejected) in rejected::pieces(content.trim_end()) {
        let mark = if rejected { "- " } else { "  " };
        lines.extend(piece.lines().flat_map(wrapped).map(|line| format!("{mark}{line}")));
    }
    for point in rejected::listed(telling.metadata.as_deref()) {
        let mark = if point.label == Label::Rejected { "-" } else { " " };
        let text: String = point.text.chars().take(TEXT).collect();
        lines.extend(text.lines().flat_map(wrapped).map(|line| format!("{mark} {line}")));
    }
    if cut > 0 {
        lines.push("  …".to_owned());
    }
    let body = lines.join("\n");
    let longest = body.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    (format!("\n**{label}**\n{fence}diff\n{body}\n{fence}\n"), cut)
}

/// A line as several that are not too wide, broken between words where there are any. Each is inert.
fn wrapped(line: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut width = 0;
    for word in inert(line).split_inclusive(' ') {
        for piece in word.chars().collect::<Vec<_>>().chunks(WIDTH) {
            if width > 0 && width + piece.len() > WIDTH {
                lines.push(String::new());
                width = 0;
            }
            width += piece.len();
            if let Some(last) = lines.last_mut() {
                last.extend(piece);
            }
        }
    }
    lines
}
