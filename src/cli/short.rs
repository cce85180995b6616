//! `decide` and `done`: the two records that people write most, without options.

use clap::Args;

use super::content::content;
use super::record::{Correction, record_own, show_recorded};
use super::session::close;
use super::ui::Ui;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::judge::{self, VerifyRequest};
use crate::record::RecordRequest;

/// Record a decision: what was chosen, what was rejected, and why
///
/// The same as `git proof record decision`. Without a text your editor opens.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof decide \"WAL, not a rollback journal: readers never wait\"
  git proof decide \"keep the old parser; rejected: a rewrite, nobody asked for one\"
  git proof decide \"the new parser after all\" --supersedes 8bfea854-fd8c-44dc-a9ce-c13027ce08d6")]
pub(super) struct Decide {
    /// What was decided
    text: Option<String>,
    /// The session [default: GIT_PROOF_SESSION, else the current one]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    correction: Correction,
}

impl Decide {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let mut request = request(context, "decision", self.text.as_deref(), self.session.clone(), Step::Decide)?;
        request.supersedes.clone_from(&self.correction.supersedes);
        request.until.clone_from(&self.correction.until);
        let (_, outcome) = record_own(context, request)?;
        show_recorded(&outcome, ui);
        Ok(())
    }
}

/// Close a session: record what was done and what is uncertain, then finalize it
///
/// Commit first, then run this: the session is anchored on its commits. The text is the closing reflection, which is
/// published. Without a text your editor opens.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof done \"the importer can run twice; files over 2 GiB were not tried\"")]
pub(super) struct Done {
    /// What was done, and what is uncertain
    text: Option<String>,
    /// The session [default: GIT_PROOF_SESSION, else the current one]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Done {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let typed = self.session.clone().map_or(Step::DoneHere, Step::Done);
        let request = request(context, "reflection", self.text.as_deref(), self.session.clone(), typed)?;
        let (mut workspace, recorded) = record_own(context, request)
            .map_err(|error| if self.session.is_none() { perhaps_forgotten(context, error) } else { error })?;
        close(&mut workspace, Some(recorded.session_id.as_str()), ui)
    }
}

/// Without a session, `start` was probably forgotten before HEAD was committed: then `cover` explains it.
fn perhaps_forgotten(context: &Context, error: Error) -> Error {
    let names = context.variable("GIT_PROOF_SESSION").is_some();
    if names || !matches!(error.code, Code::SessionNotFound | Code::NoStore) {
        return error;
    }
    let request = VerifyRequest { revisions: vec!["HEAD".to_owned()], ..VerifyRequest::default() };
    let unexplained = judge::verify(context, &request)
        .is_ok_and(|judged| judged.commits.iter().any(|commit| commit.sessions.is_empty() && commit.vouched.is_none()));
    if !unexplained {
        return error;
    }
    error.hint(hint!(
        "to explain the commit that was made: ", Step::Cover("HEAD".into());
        "before the next one: ", Step::Start
    ))
}

fn request(
    context: &Context,
    kind: &str,
    text: Option<&str>,
    session: Option<String>,
    typed: Step,
) -> Result<RecordRequest> {
    let content = content(context, text, None, kind, || hint!("give the text as an argument: ", typed))?;
    Ok(RecordRequest { session, kind: kind.to_owned(), content, ..RecordRequest::default() })
}
