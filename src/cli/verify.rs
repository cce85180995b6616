//! `verify`, `gate`.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::read::Looks;
use super::story::{Detail, Teller};
use super::ui::Ui;
use super::verdict::rules_line;
use super::wrap;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::flow;
use crate::judge::{self, CommitVerdict, GateRequest, Keep, VerifyOutcome, VerifyRequest};
use crate::present::{self, Report};

/// Commits of which everything that was decided is shown.
const TOLD_IN_FULL: usize = 50;

/// Check the proof of commits, from this clone alone
///
/// Takes commits and ranges as git log does; HEAD if none is given. It reads notes, trailers and evidence, and computes every
/// hash again; the store is not needed. Exit code 0: every commit is proven, vouched or not required. 1: a proof failed or is
/// missing. 3: could not check, something that is needed is not in this clone. The rules are those of the remote's default
/// branch, never those that the judged commits contain.
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

    /// The commit whose policy counts [default: proof.rules, else the remote's default branch]
    #[arg(long, value_name = "REV")]
    rules: Option<String>,

    /// Print nothing; only the exit code answers
    #[arg(long, short)]
    quiet: bool,

    #[command(flatten)]
    looks: Looks,
}

impl Verify {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let request = VerifyRequest {
            revisions: self.revisions.clone(),
            keep: match (self.quiet, ui.json) {
                (true, _) => Keep::Nothing,
                (false, true) => Keep::Sessions,
                (false, false) => Keep::Stories,
            },
            rules: self.rules.clone(),
            with_digest: ui.json && !self.quiet,
            ..VerifyRequest::default()
        };
        let outcome = judge::verify(context, &request)?;
        ui.answer(present::exit_code(outcome.verdict));
        if self.quiet {
            return Ok(());
        }
        if ui.json {
            ui.show(&outcome, |_, _| String::new());
            // The program ends here: to free the verdicts on 10,000 commits one by one would take a twentieth of its time.
            std::mem::forget(outcome);
            return Ok(());
        }
        self.looks.apply_judging(context, ui);
        render(context, ui, outcome, true)
    }
}

/// Refuse a range in which a proof failed, is missing or could not be checked
///
/// Judges every commit of BASE..HEAD by the policy at the tip of BASE, never by one that the range contains. Exit code 0:
/// every commit is proven, vouched or not required. 1: a proof failed or is missing. 3: could not check, something that is
/// needed is not in this clone. Patterns of the policy that match no file of BASE are named on standard error. With
/// --format=github the job summary is added to the file that GITHUB_STEP_SUMMARY names. A base of zeros, which CI systems
/// give for a new branch, stands for an empty history.
///
/// With --proofs, the notes, evidence and index of other repositories count too, such as those of the fork that a pull
/// request comes from. They are fetched into a temporary directory, which is deleted afterwards. If one of these repositories
/// cannot be read, a missing proof becomes "could not check" (3).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof gate --base origin/main --head HEAD
  git proof gate --base main --head feature --require-policy --json
  git proof gate --base origin/main --proofs upstream
  git proof gate --base origin/main --format sarif > git-proof.sarif")]
pub(super) struct Gate {
    /// The branch that is to be changed; the policy at its tip counts
    #[arg(long, value_name = "REV")]
    base: String,

    /// The new tip of that branch
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    head: String,

    /// Refuse a base that has no .proof/policy.toml, instead of using the defaults
    #[arg(long)]
    require_policy: bool,

    /// Count the proofs of this repository too, such as a fork: an address, a remote or a path
    #[arg(long, value_name = "URL|REMOTE|PATH")]
    proofs: Vec<String>,

    /// Show the verdict and end with 0, whatever the policy says
    #[arg(long)]
    advisory: bool,

    /// The format of the output; --json is the same as --format=json
    #[arg(long, value_name = "FORM", value_enum)]
    format: Option<Format>,
}

/// The verdict of the gate as JSON: that of `verify`, and what is odd about the policy.
#[derive(Serialize)]
struct Gated<'a> {
    #[serde(flatten)]
    outcome: &'a VerifyOutcome,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
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
                    .hint("leave out one of them"));
            }
        };
        ui.json = format == Format::Json;
        let result = self.judge(context, ui, format);
        if let (Err(error), Format::Github) = (&result, format) {
            ui.text(|_| present::github_error(error));
        }
        result
    }

    fn judge(&self, context: &Context, ui: &mut Ui, format: Format) -> Result<()> {
        let request = GateRequest {
            base: self.base.clone(),
            head: self.head.clone(),
            require_policy: self.require_policy,
            proofs: self.proofs.clone(),
            advisory: self.advisory,
            with_digest: ui.json || !self.proofs.is_empty(),
        };
        let outcome = judge::gate(context, &request)?;
        if outcome.policy == "defaults" {
            ui.say(&format!("git proof gate: {} has no .proof/policy.toml; the defaults are used", self.base));
        }
        let warnings = judge::policy_warnings(context, &self.base);
        for warning in &warnings {
            ui.say(&format!("git proof gate: {warning}"));
        }
        ui.answer(if outcome.enforced { present::exit_code(outcome.verdict) } else { 0 });
        if !outcome.enforced && !outcome.verdict.is_accepted() {
            let who = if self.advisory { "--advisory was given" } else { "the policy is advisory" };
            ui.say(&format!("git proof gate: {who}: nothing is refused"));
        }
        let found = outcome.commits.iter().filter(|commit| !commit.findings.is_empty()).map(|commit| commit.commit);
        let paths = match (format, &outcome.range) {
            // Only SARIF wants a place for everything.
            (Format::Sarif, Some(range)) => judge::first_paths(context, range, found)?,
            _ => BTreeMap::new(),
        };
        let summary = context.variable("GITHUB_STEP_SUMMARY").filter(|_| format == Format::Github);
        let sessions = if format == Format::Markdown || summary.is_some() {
            flow::reported_sessions(context, &outcome)?
        } else {
            Vec::new()
        };
        let report = Report { outcome: &outcome, paths: &paths, sessions: &sessions };
        match format {
            // A gate says what is wrong; `verify` and `log` tell what was decided.
            Format::Human => return render(context, ui, outcome, false),
            Format::Json => ui.show(&Gated { outcome: &outcome, warnings }, |_, _| String::new()),
            Format::Github => {
                ui.text(|_| present::github(&report));
                if let Some(file) = summary
                    && let Err(error) = append_summary(Path::new(&file), &report)
                {
                    ui.say(&format!("git proof gate: the job summary could not be written: {error}"));
                }
            }
            Format::Markdown => ui.text(|_| present::markdown(&report, present::COMMENT)),
            Format::Sarif => ui.text(|_| present::sarif(&report)),
            Format::Junit => ui.text(|_| present::junit(&report)),
        }
        Ok(())
    }
}

/// Adds the summary to what the step has said before; a file that gets too large would be shown not at all.
fn append_summary(file: &Path, report: &Report<'_>) -> std::io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    let taken = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let text = format!("\n{}\n", present::markdown(report, present::SUMMARY.saturating_sub(taken + 2)));
    if taken + text.len() > present::SUMMARY {
        return Err(std::io::Error::other("there is no room left in it"));
    }
    file.write_all(text.as_bytes())
}

/// Shows a verdict to people, as `log` does: of many commits, only those with something to say.
fn render(context: &Context, ui: &mut Ui, mut outcome: VerifyOutcome, with_story: bool) -> Result<()> {
    let mut judged = wrap::wrap(&rules_line(&outcome.rules), ui.paint.measure()).join("\n");
    if let Some(range) = &outcome.range {
        let base = range.base.map_or_else(|| "nothing".to_owned(), |base| base.to_string());
        judged.push_str(&format!("\nJudged {base}..{}", range.head));
    }
    if let Some(digest) = &outcome.proofs_digest {
        judged.push_str(&format!("\nProofs digest {digest}"));
    }
    let many = outcome.commits.len() > TOLD_IN_FULL;
    if many {
        let plain = |commit: &CommitVerdict| commit.verdict.is_accepted() && commit.findings.is_empty();
        outcome.commits.retain(|commit| !plain(commit));
    }
    let story = flow::story_of(context, outcome, with_story && !many)?;
    let now = context.now();
    ui.text(|paint| Teller { detail: Detail::Brief, now: &now, paint }.log(&story, &judged));
    std::mem::forget(story); // as above
    Ok(())
}
