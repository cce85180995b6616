//! `report`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::paint::Paint;
use super::story::{Detail, Teller};
use super::svg::picture;
use super::ui::Ui;
use super::verdict::rules_line;
use super::wrap::wrap;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::flow::{self, StoryRequest};
use crate::git::Git;
use crate::hint::{Step, hint};
use crate::judge::VerifyOutcome;
use crate::present;

/// Write down what was decided in a range and whether it is proven, for a reviewer
///
/// --html makes one file that needs no network, with the verdict, the commits, the decisions and what was rejected, all
/// records, the files and the rounds. In a browser the page computes every hash in it again, and says whether the records add
/// up to the roots that it shows; for the rest, run git proof verify in a clone. --markdown makes a comment for a pull request,
/// under 60 KB. --svg draws what git proof log shows of the range, for a README or a slide. Without any of them, the comment
/// is printed. Records come from refs/proof/evidence: texts that are withheld there are withheld here. The exit code is that
/// of verify: 0 proven, vouched or not required, 1 failed or missing, 3 could not check.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof report main..feature --html report.html
  git proof report main..feature --markdown | gh pr comment --body-file -
  git proof report HEAD --svg why.svg
  git proof report HEAD --html page.html --markdown comment.md --json")]
pub(super) struct Report {
    /// Commits and ranges [default: HEAD]
    #[arg(value_name = "REV|RANGE")]
    revisions: Vec<String>,

    /// The commit whose policy counts [default: proof.rules, else the remote's default branch]
    #[arg(long, value_name = "REV")]
    rules: Option<String>,

    /// Write a page, which checks its own records in the browser, to this file; - is standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write Markdown for a comment to this file; - or no file is standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    markdown: Option<PathBuf>,

    /// Draw the sessions and their commits as a picture into this file; - is standard output
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// What was written, and how the range stands: the same as from `verify`.
#[derive(Debug, Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    judged: &'a VerifyOutcome,
    sessions: usize,
    html: Option<WrittenFile>,
    markdown: Option<WrittenFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    svg: Option<WrittenFile>,
}

#[derive(Debug, Serialize)]
struct WrittenFile {
    /// `None` for standard output.
    file: Option<PathBuf>,
    bytes: usize,
    /// The report that would go to standard output; with `--json` it is a field instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl Report {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let standard = PathBuf::from("-");
        let is_alone = self.html.is_none() && self.svg.is_none();
        let markdown = self.markdown.as_ref().or(is_alone.then_some(&standard));
        let printed = [self.html.as_ref(), markdown, self.svg.as_ref()].into_iter().flatten();
        if printed.filter(|file| **file == standard).count() > 1 {
            return Err(Error::new(Code::InvalidParams, "only one of these can go to standard output")
                .hint(hint!("name a file for the others: ", Step::Option("--html report.html".into()))));
        }
        self.refuse_a_range_as_a_file(context)?;
        let outcome = flow::report(context, &self.revisions, self.rules.clone())?;
        let html = self.html.as_deref().map(|file| put(context, ui, file, present::html(&outcome))).transpose()?;
        let comment = || present::story(&outcome, present::COMMENT);
        let markdown = markdown.map(|file| put(context, ui, file, comment())).transpose()?;
        let svg = self.svg.as_deref().map(|file| put(context, ui, file, self.picture(context)?)).transpose()?;
        let judged = &outcome.outcome;
        ui.answer(present::exit_code(judged.verdict));
        let written = Written { judged, sessions: outcome.sessions.len(), html, markdown, svg };
        if ui.json {
            ui.show(&written, |_, _| String::new());
            return Ok(());
        }
        for file in [&written.html, &written.markdown, &written.svg].into_iter().flatten() {
            if let Some(path) = &file.file {
                ui.say(&format!(
                    "git proof report: wrote {}, {} bytes: {}",
                    path.display(),
                    file.bytes,
                    present::range_headline(judged.verdict, &judged.summary)
                ));
            }
        }
        Ok(())
    }

    /// The output of `log` for the range, as on a terminal.
    fn picture(&self, context: &Context) -> Result<String> {
        let (revisions, rules) = (self.revisions.clone(), self.rules.clone());
        let story = flow::story(context, &StoryRequest { revisions, rules, ..StoryRequest::default() })?;
        let paint = Paint::of_a_picture();
        let now = context.now();
        let rules = wrap(&rules_line(&story.rules), paint.measure()).join("\n");
        let text = Teller { detail: Detail::Decisions, now: &now, paint }.log(&story, &rules);
        Ok(picture("What was decided, and how it is proven", &text, paint))
    }

    /// `report --markdown main..topic` means the range, and would make a file of that name.
    fn refuse_a_range_as_a_file(&self, context: &Context) -> Result<()> {
        for (option, file) in [("--html", &self.html), ("--markdown", &self.markdown), ("--svg", &self.svg)] {
            let Some(name) = file.as_ref().and_then(|file| file.to_str()).filter(|_| self.revisions.is_empty()) else {
                continue;
            };
            let git = Git::discover(context)?;
            let end = name.split("..").next().unwrap_or_default();
            if name != "-" && !end.is_empty() && git.resolve(end).is_ok() {
                return Err(Error::new(
                    Code::InvalidParams,
                    format!("{name} is a commit or range, and {option} takes a file"),
                )
                .hint(hint!("name the range first: ", Step::Report(name.to_owned(), option.to_owned()))));
            }
        }
        Ok(())
    }
}

/// Puts a text where it belongs.
fn put(context: &Context, ui: &mut Ui, file: &Path, text: String) -> Result<WrittenFile> {
    let bytes = text.len();
    if file != Path::new("-") {
        flow::write_report(context, file, text.as_bytes())?;
        return Ok(WrittenFile { file: Some(file.to_owned()), bytes, text: None });
    }
    if ui.json {
        return Ok(WrittenFile { file: None, bytes, text: Some(text) });
    }
    ui.text(|_| text);
    Ok(WrittenFile { file: None, bytes, text: None })
}
