//! `policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ui::{Role, Ui, inert};
use crate::context::Context;
use crate::error::Result;
use crate::ops::{self, Source};

/// Check a policy file, or ask it about a commit
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof policy check
  git proof policy explain HEAD --base origin/main")]
pub(super) struct Policy {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check that a policy file can be used
    #[command(after_help = "\
Examples:
  git proof policy check
  git show origin/main:.proof/policy.toml | git proof policy check -")]
    Check {
        /// The file, or - for standard input
        #[arg(default_value = ".proof/policy.toml")]
        file: PathBuf,
    },
    /// Say whether a commit must be anchored, and by which rule
    #[command(after_help = "\
Examples:
  git proof policy explain
  git proof policy explain HEAD~1 --base origin/main")]
    Explain {
        /// The commit
        #[arg(value_name = "COMMIT", default_value = "HEAD")]
        commit: String,
        /// The commit whose policy counts [default: the commit itself]
        #[arg(long, value_name = "REV")]
        base: Option<String>,
    },
}

impl Policy {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        match &self.command {
            Command::Check { file } => {
                let outcome = ops::check_policy(&Source::parse(context, file))?;
                ui.show(&outcome, |outcome, paint| {
                    format!(
                        "{}: every rule of {} can be used.\n",
                        paint.paint(Role::Good, "Good"),
                        inert(&outcome.file)
                    )
                });
            }
            Command::Explain { commit, base } => {
                let outcome = ops::explain_policy(context, commit, base.as_deref())?;
                ui.show(&outcome, |outcome, _| {
                    let id = &outcome.commit.to_string()[..12];
                    let is = if outcome.proof_grade { "must be anchored" } else { "need not be anchored" };
                    let by = if outcome.policy == "file" { "" } else { " (by the defaults: there is no policy file)" };
                    format!("{id} {is}: {}{by}.\n", inert(&outcome.reason))
                });
            }
        }
        Ok(())
    }
}
