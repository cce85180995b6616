//! `report`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::ui::Ui;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::flow;
use crate::git::Git;
use crate::judge::VerifyOutcome;
use crate::present;

/// Write down what was decided in a range and whether it is proven, for a reviewer
///
/// --html makes one file that needs no network: verdict, commits, decisions with what was rejected, the whole trail, files,
/// rounds. Opened in a browser it computes every hash in it again, and says in words whether the records add up to the roots
/// that it shows; for the rest, run git proof verify in a clone. --markdown makes a comment for a pull request, under
/// 60 KB. Without either, the comment is printed. Records come from refs/proof/evidence: what is withheld there is withheld
/// here. Exit code as that of verify: 0 proven, vouched or not required, 1 failed or missing, 3 could not check.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof report main..feature --html report.html
  git proof report main..feature --markdown | gh pr comment --body-file -
  git proof report HEAD --html page.html --markdown comment.md --json")]
pub(super) struct Report {
    /// Commits and ranges [default: HEAD]
    #[arg(value_name = "REV|RANGE")]
    revisions: Vec<String>,

    /// The commit whose policy counts [default: proof.rules, else the remote's default branch]
    #[arg(long, value_name = "REV")]
    rules: Option<String>,

    /// Write one page, whose records the browser adds up again, to this file; - is standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write Markdown for a comment to this file; - or no file is standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    markdown: Option<PathBuf>,
}

/// What was written, and how the range stands: the same as from `verify`.
#[derive(Debug, Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    judged: &'a VerifyOutcome,
    sessions: usize,
    html: Option<WrittenFile>,
    markdown: Option<WrittenFile>,
}

#[derive(Debug, Serialize)]
struct WrittenFile {
    /// `None` for standard output.
    file: Option<PathBuf>,
    bytes: usize,
    /// What was meant for standard output, where JSON has its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl Report {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let standard = PathBuf::from("-");
        let markdown = self.markdown.as_ref().or(self.html.is_none().then_some(&standard));
        if self.html.as_ref() == Some(&standard) && markdown == Some(&standard) {
            return Err(Error::new(Code::InvalidParams, "both the page and the comment are for standard output")
                .hint("name a file for one of them: --html report.html"));
        }
        self.refuse_a_range_as_a_file(context)?;
        let outcome = flow::report(context, &self.revisions, self.rules.clone())?;
        let html = self.html.as_deref().map(|file| put(context, ui, file, present::html(&outcome))).transpose()?;
        let comment = || present::story(&outcome, present::COMMENT);
        let markdown = markdown.map(|file| put(context, ui, file, comment())).transpose()?;
        let judged = &outcome.outcome;
        ui.answer(present::exit_code(judged.verdict));
        let written = Written { judged, sessions: outcome.sessions.len(), html, markdown };
        if ui.json {
            ui.show(&written, |_, _| String::new());
            return Ok(());
        }
        for file in [&written.html, &written.markdown].into_iter().flatten() {
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

    /// `report --markdown main..topic` means the range, and would make a file of that name.
    fn refuse_a_range_as_a_file(&self, context: &Context) -> Result<()> {
        for (option, file) in [("--html", &self.html), ("--markdown", &self.markdown)] {
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
                .hint(format!("name the range first: git proof report {name} {option}")));
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
