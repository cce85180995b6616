//! `verify`, `gate`.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use clap::{Args, ValueEnum};

use super::ui::{Paint, Role, Ui, inert};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::ops::{self, CommitVerdict, GateRequest, SessionVerdict, Summary, Told, VerifyOutcome, VerifyRequest};
use crate::proof::finding::{Finding, Severity, Verdict};
use crate::proof::record::RecordType;
use crate::report::{self, Report};

/// Commits of which everything that was decided is shown.
const TOLD_IN_FULL: usize = 50;

/// Check the proof of commits, from this clone alone
///
/// Takes commits and ranges as git log does; HEAD if none is given. Reads notes, trailers and evidence, and computes
/// everything again; the store is not needed. Exit code 0: nothing is broken. 1: a proof is broken. 3: something that is
/// needed is not in this clone. The policy is the one in .proof/policy.toml of the newest commit named, else the defaults.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof verify
  git proof verify main..feature
  git proof verify --json HEAD~5..HEAD | jq .summary")]
pub(super) struct Verify {
    /// Commits and ranges [default: HEAD]
    #[arg(value_name = "REV|RANGE")]
    revisions: Vec<String>,

    /// Print nothing; the exit code says it all
    #[arg(long, short)]
    quiet: bool,
}

impl Verify {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let with_story = !ui.json && !self.quiet;
        let outcome = ops::verify(context, &VerifyRequest { revisions: self.revisions.clone(), with_story })?;
        ui.answer(exit_code(outcome.verdict));
        if !self.quiet {
            ui.show(&outcome, render);
        }
        // The program ends here: to free the verdicts on 10,000 commits one by one would take a twentieth of its time.
        std::mem::forget(outcome);
        Ok(())
    }
}

/// Turn away a range in which a proof-grade commit cannot be checked
///
/// Judges every commit of BASE..HEAD by the policy at the tip of BASE, never by one that the range brings along. Exit
/// code 0: it may pass. 1: it is turned away. 3: something that is needed is not in this clone. With --format=github the
/// job summary is added to the file that GITHUB_STEP_SUMMARY names. A base of zeros, as for a new branch, is an empty one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof gate --base origin/main --head HEAD
  git proof gate --base main --head feature --require-policy --json
  git proof gate --base origin/main --format sarif > git-proof.sarif")]
pub(super) struct Gate {
    /// The branch that is to be changed; its tip has the policy
    #[arg(long, value_name = "REV")]
    base: String,

    /// What it is to be changed to
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    head: String,

    /// Refuse a base that has no .proof/policy.toml, instead of using the defaults
    #[arg(long)]
    require_policy: bool,

    /// The form of the answer; --json is the same as --format=json
    #[arg(long, value_name = "FORM", value_enum)]
    format: Option<Format>,
}

/// The forms that a verdict can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Human,
    /// For programs
    Json,
    /// Annotations and a job summary, for GitHub, Gitea and Forgejo
    Github,
    /// A comment on a pull request
    Markdown,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit XML, for test reports
    Junit,
}

impl Gate {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let format = match (self.format, ui.json) {
            (None | Some(Format::Json), true) => Format::Json,
            (format, false) => format.unwrap_or(Format::Human),
            (Some(_), true) => {
                return Err(Error::new(Code::InvalidParams, "--json and --format ask for two forms")
                    .hint("leave one of them away"));
            }
        };
        ui.json = format == Format::Json;
        let result = self.judge(context, ui, format);
        if let (Err(error), Format::Github) = (&result, format) {
            ui.text(|_| report::github_error(error));
        }
        result
    }

    fn judge(&self, context: &Context, ui: &mut Ui, format: Format) -> Result<()> {
        let request =
            GateRequest { base: self.base.clone(), head: self.head.clone(), require_policy: self.require_policy };
        let outcome = ops::gate(context, &request)?;
        if outcome.policy == "defaults" {
            ui.say(&format!("git proof gate: {} has no .proof/policy.toml; the defaults are used", self.base));
        }
        ui.answer(exit_code(outcome.verdict));
        let found = outcome.commits.iter().filter(|commit| !commit.findings.is_empty()).map(|commit| commit.commit);
        let paths = match (format, &outcome.range) {
            (Format::Github | Format::Sarif, Some(range)) => ops::first_paths(context, range, found)?,
            _ => BTreeMap::new(),
        };
        let report = Report { outcome: &outcome, paths: &paths };
        match format {
            Format::Human | Format::Json => ui.show(&outcome, render),
            Format::Github => {
                ui.text(|_| report::github(&report));
                if let Some(file) = context.variable("GITHUB_STEP_SUMMARY")
                    && let Err(error) = append_summary(Path::new(&file), &report)
                {
                    ui.say(&format!("git proof gate: the job summary could not be written: {error}"));
                }
            }
            Format::Markdown => ui.text(|_| report::markdown(&report, report::COMMENT)),
            Format::Sarif => ui.text(|_| report::sarif(&report)),
            Format::Junit => ui.text(|_| report::junit(&report)),
        }
        Ok(())
    }
}

/// Adds the summary to what the step has said before; a file that gets too large would be shown not at all.
fn append_summary(file: &Path, report: &Report<'_>) -> std::io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    let taken = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let text = format!("\n{}\n", report::markdown(report, report::SUMMARY.saturating_sub(taken + 2)));
    if taken + text.len() > report::SUMMARY {
        return Err(std::io::Error::other("there is no room left in it"));
    }
    file.write_all(text.as_bytes())
}

/// The exit code that says a verdict.
pub(super) fn exit_code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Pass | Verdict::Exempt => 0,
        Verdict::Fail => 1,
        Verdict::Unchecked => 3,
    }
}

fn render(outcome: &VerifyOutcome, paint: Paint) -> String {
    let mut text = headline(outcome.verdict, outcome.summary, paint);
    // Of many commits, only those with something to say.
    let many = outcome.commits.len() > TOLD_IN_FULL;
    for commit in &outcome.commits {
        let plain = matches!(commit.verdict, Verdict::Pass | Verdict::Exempt) && commit.findings.is_empty();
        if !(many && plain) {
            text.push('\n');
            text.push_str(&one(commit, many, paint));
        }
    }
    text
}

/// How commits stand, in a line.
pub(super) fn headline(verdict: Verdict, summary: Summary, paint: Paint) -> String {
    let word = match verdict {
        Verdict::Pass if summary.proven() == 0 => paint.paint(Role::Decision, "Vouched for, not proven"),
        Verdict::Pass => paint.paint(Role::Good, "Verified"),
        Verdict::Exempt => "Nothing to verify".to_owned(),
        Verdict::Fail => paint.paint(Role::Bad, "Broken"),
        Verdict::Unchecked => paint.paint(Role::Decision, "Could not check"),
    };
    let mut counts = Vec::new();
    for (count, what) in [
        (summary.proven(), "proven"),
        (summary.vouched, "vouched for"),
        (summary.fail, "broken"),
        (summary.unchecked, "not checked"),
        (summary.exempt, "without a proof"),
    ] {
        if count > 0 {
            counts.push(format!("{count} {what}"));
        }
    }
    if counts.is_empty() {
        counts.push("no commits".to_owned());
    }
    format!("{word}: {}.\n", counts.join(", "))
}

fn one(commit: &CommitVerdict, brief: bool, paint: Paint) -> String {
    let id = commit.commit.to_string();
    let verdict = match commit.verdict {
        Verdict::Pass if commit.vouched.is_some() => paint.paint(Role::Decision, "pass"),
        Verdict::Pass => paint.paint(Role::Good, "pass"),
        Verdict::Fail => paint.paint(Role::Bad, "fail"),
        Verdict::Unchecked => paint.paint(Role::Decision, "unchecked"),
        Verdict::Exempt => paint.paint(Role::Faint, "exempt"),
    };
    let bound = match (&commit.vouched, commit.binding) {
        (Some(vouched), _) => {
            format!(", vouched for by {} (not proven): {}", inert(&vouched.by.join(", ")), inert(&vouched.reason))
        }
        (None, Some(binding)) => format!(" ({binding})"),
        (None, None) => String::new(),
    };
    let mut text = format!("{} {}\n  {verdict}{bound}\n", paint.paint(Role::Strong, &id[..12]), inert(&commit.subject));
    for session in commit.vouched.iter().flat_map(|vouched| &vouched.sessions) {
        let id = session.session_id.as_ref().map_or_else(|| session.root.to_string(), ToString::to_string);
        text.push_str(&format!("  session {id}: {} entries, evidence {}, by word\n", session.count, session.evidence));
        if !brief {
            text.push_str(&story(session.intent.as_deref(), &session.told, paint));
        }
    }
    let mut shown = Vec::new();
    for session in &commit.sessions {
        // A squash of several commits of one session has it several times, once for each anchor.
        let same = (&session.session_id, &session.root, session.holds, session.rooted);
        if shown.contains(&same) {
            continue;
        }
        shown.push(same);
        text.push_str(&session_line(session));
        if !brief && session.holds {
            text.push_str(&story(session.intent.as_deref(), &session.told, paint));
        }
    }
    text + &findings(&commit.findings, paint)
}

/// What there is to say, a line each, with what to do about it.
pub(super) fn findings(findings: &[Finding], paint: Paint) -> String {
    let mut text = String::new();
    for finding in findings {
        let word = match finding.severity {
            Severity::Error => paint.paint(Role::Bad, "error"),
            Severity::Unchecked => paint.paint(Role::Decision, "not checked"),
            Severity::Warning => "note".to_owned(),
        };
        text.push_str(&format!("  {word}: {} {}\n", finding.code, inert(&finding.message)));
        if let Some(hint) = finding.hint.as_ref().filter(|_| finding.severity > Severity::Warning) {
            text.push_str(&format!("    hint: {}\n", inert(hint)));
        }
    }
    text
}

fn session_line(session: &SessionVerdict) -> String {
    let mut what = vec![format!("{} entries", session.count), format!("evidence {}", session.evidence)];
    what.push(if session.rooted { "rooted" } else { "not rooted" }.to_owned());
    if !session.signers.is_empty() {
        what.push(format!("signed by {}", inert(&session.signers.join(", "))));
    }
    if let Some(round) = session.round {
        what.push(format!("sealed in round {round}"));
    }
    format!("  session {}: {}\n", session.session_id, what.join(", "))
}

fn story(intent: Option<&str>, told: &[Told], paint: Paint) -> String {
    let mut text = String::new();
    if let Some(intent) = intent {
        text.push_str(&format!("    intent: {}\n", indented(intent)));
    }
    for told in told {
        let (role, word) = match told.kind {
            RecordType::Decision => (Role::Decision, "decision"),
            _ => (Role::Reflection, "reflection"),
        };
        text.push_str(&format!("    {}: {}\n", paint.paint(role, word), indented(&told.content)));
    }
    text
}

/// Text over several lines, each of them inert and set in.
fn indented(text: &str) -> String {
    // The bar keeps a line from beginning with what the log of a CI run would take for a command.
    text.trim_end().lines().map(inert).collect::<Vec<_>>().join("\n      │ ")
}
