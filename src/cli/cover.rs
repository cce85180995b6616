//! `cover`.

use clap::Args;

use super::ui::{Role, Ui, inert};
use crate::context::Context;
use crate::error::Result;
use crate::flow::{self, CoverOutcome};
use crate::hint::Step;
use crate::proof::text::counted;
use crate::record::Workspace;

/// Explain commits that exist already
///
/// Use it when you forgot to open a session, when a hook did not run, or when a rewritten commit lost its proof. The open
/// session, or a new one, attests the commits, and records that it did so after they were made. With -m the session is closed
/// and anchored at once.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof cover HEAD -m \"the importer skips rows it has seen; large files are not tried\"
  git proof cover main..HEAD")]
pub(super) struct Cover {
    /// Commits and ranges
    #[arg(value_name = "REV|RANGE", required = true)]
    revisions: Vec<String>,
    /// What was done and what is uncertain: closes the session with this reflection and anchors it
    #[arg(short = 'm', long = "reflection", value_name = "TEXT", allow_hyphen_values = true)]
    reflection: Option<String>,
    /// The session that explains them [default: the open one, else a new one]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Cover {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let mut workspace = Workspace::open_or_create(context.clone())?;
        let (session, reflection) = (self.session.as_deref(), self.reflection.as_deref());
        let outcome = flow::cover(&mut workspace, &self.revisions, session, reflection)?;
        ui.show(&outcome, |outcome, paint| {
            let mut text = String::new();
            for covered in &outcome.commits {
                let word = if covered.attested { "covered" } else { "already covered" };
                let id = &covered.commit.to_string()[..12];
                text.push_str(&format!("{} {id} {}\n", paint.paint(Role::Good, word), inert(&covered.subject)));
            }
            text + &next(outcome)
        });
        Ok(())
    }
}

/// The sentence that tells the next step.
fn next(outcome: &CoverOutcome) -> String {
    let session = &outcome.session_id;
    match &outcome.finalized {
        Some(finalized) => {
            let commits = counted(finalized.anchors.len(), "commit", "commits");
            format!("Session {session} is finalized and anchored on {commits}. git proof sync shares it.\n")
        }
        None => format!(
            "Session {session} is open. Say what was decided, then close it:\n  {}\n",
            Step::Done(session.to_string())
        ),
    }
}
