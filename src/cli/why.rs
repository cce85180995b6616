//! `why` and `blame`: the decisions behind the lines of a file.

use std::collections::HashMap;

use clap::Args;

use super::draw::{ago, look, role_of, until_when};
use super::read::{Looks, Show};
use super::story::{Detail, Teller};
use super::ui::{Paint, Role, Ui, inert};
use super::verdict::{self, say_rules};
use super::wrap::{self, one_line};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::{Following, Git};
use crate::hint::{Step, hint};
use crate::present;
use crate::proof::digest::CommitId;
use crate::proof::finding::Verdict;
use crate::proof::record::RecordType;
use crate::proof::text::counted;
use crate::proof::timestamp::Timestamp;
use crate::recall::{self, Decision, WhyCommit, WhyOutcome, WhyRequest};

/// How lines are followed, as git blame has it.
#[derive(Debug, Args)]
struct Follow {
    /// Ignore changes of white space, as git blame -w
    #[arg(short = 'w', long)]
    ignore_space: bool,
    /// Follow lines that moved within the file, as git blame -M
    #[arg(short = 'M', long)]
    moves: bool,
    /// Follow lines that came from other files, as git blame -C; two or three times look further
    #[arg(long, action = clap::ArgAction::Count)]
    copies: u8,
    /// Look at the file in this commit [default: the worktree]
    #[arg(long, value_name = "REV")]
    at: Option<String>,
}

impl Follow {
    fn request(&self, path: Vec<u8>, lines: Option<(u64, u64)>) -> WhyRequest {
        let following = Following { white_space: self.ignore_space, moved: self.moves, copied: self.copies };
        WhyRequest { path, lines, revision: self.at.clone(), following, for_agent: false }
    }
}

/// Show which decisions stand behind a file or its lines
///
/// Git's own blame says which commits the lines come from; blame.ignoreRevsFile is respected. For each commit it shows the
/// verdict, and what its sessions decided, with what was rejected and what is uncertain. For lines, the newest decision comes
/// first; for a whole file, the one behind most lines. A decision that was superseded or has expired is shown and marked. If
/// you name a commit or a record instead of a file, it is shown as git proof show does. The exit code is that of verify, by
/// the worst of the commits.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof why importer.txt
  git proof why importer.txt:5
  git proof why -w -M --copies importer.txt:5,7
  git proof why HEAD")]
pub(super) struct Why {
    /// A file, or lines of it; or a commit or record
    #[arg(value_name = "PATH[:LINE[,LINE]]|REV")]
    place: String,
    #[command(flatten)]
    follow: Follow,
    #[command(flatten)]
    looks: Looks,
}

impl Why {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let git = Git::discover(context)?;
        let place = recall::place(&git, &self.place);
        let is_file =
            self.follow.at.is_some() || place.as_ref().is_ok_and(|(path, lines)| lines.is_some() || git.has_file(path));
        // With a colon, git means what stands in a commit, unless text is searched for.
        let searches = self.place.starts_with(":/") || self.place.contains("^{/");
        let may_be_commit = self.follow.at.is_none() && (searches || !self.place.contains(':'));
        let is_commit = may_be_commit && git.resolve(&self.place).is_ok();
        if is_file && is_commit {
            let name = &self.place;
            return Err(Error::new(Code::NameAmbiguous, format!("{name} names both a file and a commit")).hint(hint!(
                Step::Why(format!("./{name}")),
                " for the file, ",
                Step::Show(name.clone()),
                " for the commit"
            )));
        }
        if place.is_err() && !is_commit {
            return place.map(|_| ());
        }
        if !is_file {
            return Show::of(self.place.clone()).run(context, ui).map_err(|error| {
                let nothing = matches!(error.code, Code::InvalidParams | Code::RecordNotFound | Code::CommitNotFound);
                if !nothing {
                    return error;
                }
                Error::new(error.code, format!("{:?} is neither a file, a commit nor a record", self.place)).hint(
                    hint!(
                        "name a file as seen from here, or with ",
                        Step::Option("--at REV".into()),
                        " one that is gone: ",
                        Step::Why("src/main.rs:12".into())
                    ),
                )
            });
        }
        self.looks.apply(context, ui);
        let (path, lines) = place?;
        let outcome = recall::why(context, &self.follow.request(path, lines))?;
        ui.answer(present::exit_code(outcome.verdict));
        outcome.rules.iter().for_each(|rules| say_rules(rules, ui));
        let now = context.now();
        ui.show(&outcome, |outcome, paint| tell(outcome, &now, paint));
        Ok(())
    }
}

fn tell(outcome: &WhyOutcome, now: &Timestamp, paint: Paint) -> String {
    let teller = Teller { detail: Detail::Decisions, now, paint };
    let mut lines = vec![head(outcome, paint)];
    for commit in &outcome.commits {
        lines.extend(commit_line(commit, outcome, &teller));
    }
    if outcome.uncommitted > 0 {
        lines.push(format!("  {} not committed yet", counted(outcome.uncommitted, "line", "lines")));
    }
    for decision in &outcome.decisions {
        lines.push(String::new());
        lines.extend(self::decision(decision, outcome, &teller));
    }
    if outcome.decisions.is_empty() {
        let is_unknown = outcome.hint.is_some() || outcome.verdict == Verdict::Unchecked;
        let why = if is_unknown {
            "Not everything that it needs is in this clone, so the decisions behind it are unknown."
        } else {
            "No recorded decision stands behind it."
        };
        lines.extend([String::new(), why.to_owned()]);
        lines.extend(outcome.hint.iter().map(|hint| format!("hint: {hint}")));
    }
    for warning in &outcome.warnings {
        lines.push(String::new());
        lines.push(format!("warning: {warning}"));
    }
    lines.join("\n") + "\n"
}

fn head(outcome: &WhyOutcome, paint: Paint) -> String {
    let place = match outcome.lines {
        Some((from, to)) if from == to => format!(", line {from}"),
        Some((from, to)) => format!(", lines {from} to {to}"),
        None => String::new(),
    };
    paint.paint(Role::Strong, &format!("{}{place}", one_line(&outcome.path)))
}

fn commit_line(commit: &WhyCommit, outcome: &WhyOutcome, teller: &Teller<'_>) -> Vec<String> {
    let paint = teller.paint;
    let (sign, role) =
        (paint.or(present::sign(commit.verdict), present::plain_sign(commit.verdict)), verdict::role(commit.verdict));
    let mut said = vec![present::word(commit.verdict).to_owned()];
    said.extend(commit.binding.map(|binding| binding.to_string()));
    said.push(counted(commit.lines, "line", "lines"));
    said.extend(commit.path.as_ref().map(|path| format!("then {}", one_line(path))));
    if commit.sessions.is_empty() && !outcome.commits.is_empty() {
        said.push("no session".to_owned());
    }
    said.extend(commit.file.iter().map(present::file));
    let text = format!("{:.12} {}{}{}", commit.commit, one_line(&commit.subject), paint.dot(), said.join(", "));
    let wrapped = wrap::wrap(&text, paint.measure() - 6);
    let first = paint.paint(role, sign);
    wrapped
        .iter()
        .enumerate()
        .map(|(at, line)| if at == 0 { format!("  {first} {line}") } else { format!("      {line}") })
        .collect()
}

fn decision(decision: &Decision, outcome: &WhyOutcome, teller: &Teller<'_>) -> Vec<String> {
    let paint = teller.paint;
    let (sign, role) = look(decision.kind.into(), paint);
    let word = match (decision.kind, decision.stated) {
        (RecordType::Decision, _) => "decision",
        (_, true) => "reflection",
        (_, false) => "observed reflection",
    };
    let mut said = vec![(word, role, decision.said.text.clone())];
    for point in &decision.said.points {
        said.push((point.label.as_str(), role_of(point.label), point.text.clone()));
    }
    let own_points: Vec<&str> = decision.said.points.iter().map(|point| point.text.as_str()).collect();
    let left_open = decision.uncertain.iter().filter(|text| !own_points.contains(&text.as_str()));
    said.extend(left_open.map(|text| ("uncertain", Role::Faint, text.clone())));
    for by in &decision.superseded_by {
        let known = outcome.decisions.iter().find(|other| other.content_hash == *by);
        let by = known.map_or_else(|| format!("{by:.12}"), |other| other.id.to_string());
        said.push(("superseded", Role::Bad, format!("by {by}")));
    }
    said.extend(decision.until.iter().map(|until| ("until", Role::Faint, until_when(until, teller.now))));
    let session = outcome.sessions.iter().find(|session| session.session_id == decision.session_id);
    let intent = session.map(|session| format!(": {}", one_line(&session.intent))).unwrap_or_default();
    said.push(("session", Role::Faint, format!("{}{intent}", decision.session_id)));
    let mut about = vec![
        format!("{:.12}", decision.commit),
        present::word(decision.verdict).to_owned(),
        if decision.stated { "stated" } else { "observed" }.to_owned(),
    ];
    if decision.afterwards {
        about.push("recorded afterwards".to_owned());
    }
    about.push(match decision.signers.as_slice() {
        [] => "not signed".to_owned(),
        signers => format!("signed by {}", inert(&signers.join(" and "))),
    });
    about.push(ago(&decision.decided_at, teller.now));
    if outcome.lines.is_none() {
        about.push(counted(decision.lines, "line", "lines"));
    }
    said.push(("commit", Role::Faint, about.join(paint.dot())));
    said.push(("record", Role::Faint, decision.id.to_string()));
    let mut lines = teller.labelled(&said, paint.measure());
    for (at, line) in lines.iter_mut().enumerate() {
        let before = if at == 0 { paint.paint(role, sign) } else { " ".to_owned() };
        *line = format!("{before} {line}");
        line.truncate(line.trim_end().len());
    }
    lines
}

/// Show a file with the decision behind each line in the margin
///
/// The margin shows the first words of the decision, once for lines that follow one another. It is empty for lines without a
/// decision. git proof why FILE:LINE shows a decision in full.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof blame importer.txt
  git proof blame -w importer.txt:1,5")]
pub(super) struct Blame {
    /// A file, or lines of it
    #[arg(value_name = "FILE[:LINE[,LINE]]")]
    place: String,
    #[command(flatten)]
    follow: Follow,
    #[command(flatten)]
    looks: Looks,
}

impl Blame {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        self.looks.apply(context, ui);
        let (path, lines) = recall::place(&Git::discover(context)?, &self.place)?;
        let outcome = recall::why(context, &self.follow.request(path, lines))?;
        ui.answer(present::exit_code(outcome.verdict));
        outcome.rules.iter().for_each(|rules| say_rules(rules, ui));
        ui.show(&outcome, margin);
        Ok(())
    }
}

/// Narrowest and widest margin.
const MARGIN: (usize, usize) = (16, 44);

fn margin(outcome: &WhyOutcome, paint: Paint) -> String {
    let columns = (paint.width / 3).clamp(MARGIN.0, MARGIN.1);
    let names: HashMap<CommitId, String> =
        outcome.commits.iter().map(|commit| (commit.commit, name(commit, outcome))).collect();
    let digits = outcome.blamed.last().map_or(1, |line| line.number.to_string().len());
    let mut text = String::new();
    let mut before: Option<&str> = None;
    for line in &outcome.blamed {
        let name = match line.commit {
            Some(commit) => names.get(&commit).map_or("", String::as_str),
            None => "(not committed yet)",
        };
        let folded = before == Some(name);
        before = Some(name);
        let shown = if folded { String::new() } else { cut(name, columns, paint) };
        let padding = " ".repeat(columns.saturating_sub(wrap::width(&shown)));
        let bar = paint.or("│", "|");
        let written = inert(&String::from_utf8_lossy(&line.text).replace('\t', "    "));
        let number = format!("{:>digits$}", line.number);
        let row = format!(
            "{}{padding} {} {written}",
            paint.paint(Role::Decision, &shown),
            paint.paint(Role::Faint, &format!("{bar} {number}"))
        );
        text += row.trim_end();
        text.push('\n');
    }
    text
}

/// How a commit's decision is called in the margin: the newest one that is in force.
fn name(commit: &WhyCommit, outcome: &WhyOutcome) -> String {
    let of_commit = |decision: &&Decision| commit.sessions.contains(&decision.session_id);
    let mut all: Vec<&Decision> = outcome.decisions.iter().filter(of_commit).collect();
    all.sort_by_key(|decision| std::cmp::Reverse((decision.in_force, decision.decided_at, decision.index)));
    let Some(first) = all.first() else { return String::new() };
    let superseded = if first.superseded_by.is_empty() { "" } else { "(superseded) " };
    let more = if all.len() > 1 { format!("+{} ", all.len() - 1) } else { String::new() };
    let words = if first.said.text.trim().is_empty() { &first.content } else { &first.said.text };
    format!("{more}{superseded}{}", one_line(words.trim()))
}

fn cut(text: &str, columns: usize, paint: Paint) -> String {
    if wrap::width(text) <= columns {
        return text.to_owned();
    }
    let more = paint.or("…", "...");
    let mut cut = String::new();
    for character in text.chars() {
        cut.push(character);
        if wrap::width(&cut) + wrap::width(more) > columns {
            cut.pop();
            break;
        }
    }
    cut.trim_end().to_owned() + more
}
