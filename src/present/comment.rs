//! Markdown: a comment on a pull request, and the summary of a job. First how the range stands, then the commits that are not
//! accepted, then session by session what was decided; the table of all commits is folded. Everything that is said of one thing
//! stands in one line of Markdown, so that a comment stays short in a mail and in a diff.

use std::collections::{BTreeMap, HashMap};

use super::escape::{code_span, line_span};
use super::report::{Report, short, told};
use super::rows::{self, item, row};
use super::{observed, verdict};
use crate::flow::{Embedded, EmbeddedLines, Label, ReportOutcome, Telling};
use crate::judge::CommitVerdict;
use crate::proof::digest::RootHash;
use crate::proof::finding::Verdict;
use crate::proof::record::RecordType;
use crate::proof::text::counted;

/// Most bytes of a comment; forges take 65,536 characters.
pub const COMMENT: usize = 60_000;
/// Most bytes of a job summary: GitHub takes 1 MiB a step.
pub const SUMMARY: usize = 1 << 20;

/// Bytes kept free for the closing lines that say what was left out.
const RESERVED: usize = 600;
/// Longest text of a decision or of a point, and longest intent, in characters.
const TEXT: usize = 400;
const INTENT: usize = 120;
/// Commits that are not accepted and stand in the list; the others are in the table.
const LISTED: usize = 10;
/// Decisions, and points of each kind, that are told of a session, and commits that are named there.
const DECISIONS: usize = 8;
const POINTS: usize = 8;
const NAMED: usize = 6;

/// The verdict of `gate` on a range, in at most `limit` bytes. Parts that do not fit are counted. The first line is a
/// mark by which a program finds its own comment to replace it.
pub fn markdown(report: &Report<'_>, limit: usize) -> String {
    let (base, head) = report.ends();
    let end = |id: Option<String>| id.map_or_else(|| "nothing".to_owned(), |id| format!("`{id:.12}`"));
    let policy = report.policy().replace(".proof/policy.toml", "`.proof/policy.toml`");
    let judged = format!("Judged from {} to {} by {policy}.", end(base), end(head));
    let rest = "`git proof gate` in a clone shows all.".to_owned();
    Comment { name: "gate", title: "git proof gate", judged, rest, report }.text(limit)
}

/// The same of a report.
pub fn story(report: &ReportOutcome, limit: usize) -> String {
    let paths = BTreeMap::new();
    let judged = Report { outcome: &report.outcome, paths: &paths, sessions: &report.sessions };
    let command = format!("git proof report {} --html report.html", report.range);
    let rest = format!("In a clone, {} shows all of it.", code_span(&command, 2 * INTENT));
    let range = format!("Range {}.", code_span(&report.range, INTENT));
    Comment { name: "report", title: "git proof", judged: range, rest, report: &judged }.text(limit)
}

struct Comment<'a> {
    /// The command that makes it, for programs and for people.
    name: &'static str,
    title: &'static str,
    /// What was judged.
    judged: String,
    /// The sentence that tells where the parts that did not fit can be read.
    rest: String,
    report: &'a Report<'a>,
}

impl Comment<'_> {
    fn text(&self, limit: usize) -> String {
        let report = self.report;
        let mut text = format!(
            "<!-- git-proof {} -->\n### {}: {}\n\n{}. {}\n",
            self.name,
            self.title,
            report.standing(),
            verdict::capitalized(report.headline()),
            self.judged
        );
        let mut left = Left::default();
        let commits = report.worst_first();
        let refused = commits.iter().filter(|commit| !commit.verdict.is_accepted()).take(LISTED);
        let mut listed = 0;
        for (place, commit) in refused.enumerate() {
            let item = item(commit);
            if text.len() + item.len() + RESERVED > limit / 2 {
                break;
            }
            text.push_str(if place == 0 { "\n" } else { "" });
            text.push_str(&item);
            listed += 1;
        }
        self.sessions(limit / 4 * 3, &mut text, &mut left);
        table(&commits[listed..], limit, &mut text, &mut left);
        text.push_str(&left.line(&self.rest));
        text
    }

    /// The sessions that hold, the oldest first, each once.
    fn sessions(&self, limit: usize, text: &mut String, left: &mut Left) {
        let Report { outcome, sessions, .. } = *self.report;
        let mut commits: HashMap<RootHash, Vec<&CommitVerdict>> = HashMap::new();
        for commit in outcome.commits.iter().rev() {
            for session in commit.sessions.iter().filter(|session| session.holds || session.sound) {
                let named = commits.entry(session.root).or_default();
                if named.last().is_none_or(|last| last.commit != commit.commit) {
                    named.push(commit);
                }
            }
        }
        let mut begun = false;
        for (number, place) in told(outcome, sessions).into_iter().enumerate() {
            let session = &sessions[place];
            let named = commits.get(&session.root).map_or(&[][..], Vec::as_slice);
            let id = session.anchors.first().map_or("", |anchor| anchor.session_id.as_str());
            let block = match &session.evidence {
                Embedded::Lines(lines) => told_session(number + 1, id, lines, named, left),
                Embedded::Absent(why) => {
                    let why = code_span(why, TEXT);
                    format!("{}. session `{id}`: {why}\n   - {}\n", number + 1, self::named(named).join("<br>"))
                }
            };
            if text.len() + block.len() + RESERVED > limit {
                left.sessions += 1;
                continue;
            }
            text.push_str(if begun { "" } else { "\n" });
            text.push_str(&block);
            begun = true;
        }
    }
}

/// The table of the commits that the list has not, folded.
fn table(commits: &[&CommitVerdict], limit: usize, text: &mut String, left: &mut Left) {
    let quiet = |commit: &CommitVerdict| commit.verdict == Verdict::Exempt && commit.findings.is_empty();
    let commits: Vec<_> = commits.iter().filter(|commit| !quiet(commit)).collect();
    let mut rows = String::new();
    for (place, commit) in commits.iter().enumerate() {
        let row = row(commit);
        if text.len() + rows.len() + row.len() + RESERVED > limit {
            left.commits = commits.len() - place;
            left.refused = commits[place..].iter().filter(|commit| !commit.verdict.is_accepted()).count();
            break;
        }
        rows.push_str(&row);
    }
    if !rows.is_empty() {
        let count = counted(rows.lines().count(), "commit", "commits");
        text.push_str(&format!(
            "\n<details><summary>{count} in detail</summary>\n\n{}{rows}\n</details>\n",
            rows::HEAD
        ));
    }
}

/// A session as an item of a numbered list: what it was for; what was decided and rejected; how it ended, what is uncertain
/// and, told apart from what was stated, what was observed; the commits it led to.
fn told_session(number: usize, id: &str, lines: &EmbeddedLines, commits: &[&CommitVerdict], left: &mut Left) -> String {
    let intent = lines.opening.as_ref().map_or("", |opening| opening.intent.as_str());
    let mut text = format!("{number}. **{}** (session `{id}`)\n", line_span(intent, INTENT));
    let of = |kind| lines.story.iter().filter(move |telling: &&Telling| telling.kind == kind);
    let (mut decided, mut ended) = (Vec::new(), Vec::new());
    for telling in of(RecordType::Decision).take(DECISIONS) {
        decided.extend(said("decided", telling, left));
    }
    left.records += of(RecordType::Decision).count().saturating_sub(DECISIONS);
    // The last one closes the session; what the others leave open is told all the same.
    if let Some(telling) = of(RecordType::Reflection).next_back() {
        let label = if observed::is_observed(telling.metadata.as_deref()) {
            "reflection (observed, not stated)"
        } else {
            "reflection"
        };
        ended.extend(said(label, telling, left));
    }
    let open = lines.open_questions();
    ended.extend(open.iter().take(POINTS).map(|text| format!("**uncertain:** {}", span(text, left))));
    left.records += open.len().saturating_sub(POINTS);
    let seen = observed::seen_agent(&lines.seen).into_iter().chain(observed::checks(&lines.seen));
    ended.extend(seen.map(|seen| format!("observed: {}", line_span(&seen, TEXT))));
    for line in [decided, ended, named(commits)] {
        if !line.is_empty() {
            text.push_str(&format!("   - {}\n", line.join("<br>")));
        }
    }
    text
}

/// A record with the points that it makes, but for what it leaves open.
fn said(label: &str, telling: &Telling, left: &mut Left) -> Vec<String> {
    let mut lines = Vec::new();
    if !telling.said.text.trim().is_empty() {
        lines.push(format!("{label}: {}", span(&telling.said.text, left)));
    }
    for point in telling.said.points.iter().filter(|point| point.label != Label::Uncertain).take(POINTS) {
        lines.push(format!("{}: {}", point.label.as_str(), span(&point.text, left)));
    }
    lines
}

fn span(text: &str, left: &mut Left) -> String {
    left.characters += text.chars().count().saturating_sub(TEXT);
    line_span(text, TEXT)
}

/// The commits that a session led to, the oldest first.
fn named(commits: &[&CommitVerdict]) -> Vec<String> {
    let name = |commit: &&CommitVerdict| {
        let word = verdict::word(commit.verdict);
        let word = if commit.verdict == Verdict::Pass { word.to_owned() } else { format!("**{word}**") };
        format!("{} {} {word}", short(&commit.commit), rows::subject(commit))
    };
    let mut named: Vec<String> = commits.iter().take(NAMED).map(name).collect();
    if commits.len() > NAMED {
        named.push(format!("and {} more commits", commits.len() - NAMED));
    }
    named
}

/// What did not fit.
#[derive(Default)]
struct Left {
    commits: usize,
    refused: usize,
    sessions: usize,
    records: usize,
    characters: usize,
}

impl Left {
    fn line(&self, rest: &str) -> String {
        let commits = match self.refused {
            0 => ("commit", "commits".to_owned()),
            refused => ("commit that is not accepted", format!("commits ({refused} of them not accepted)")),
        };
        let parts = [
            (self.commits, commits.0, commits.1.as_str()),
            (self.sessions, "session", "sessions"),
            (self.records, "decision or open question", "decisions and open questions"),
            (self.characters, "character of long texts", "characters of long texts"),
        ];
        let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, one, many)| counted(count, one, many)).collect();
        if parts.is_empty() { String::new() } else { format!("\nLeft out here: {}. {rest}\n", parts.join(", ")) }
    }
}
