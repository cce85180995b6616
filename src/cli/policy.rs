//! `policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ui::{Role, Ui, inert};
use crate::context::Context;
use crate::error::Result;
use crate::judge;
use crate::record::Source;

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
    ///
    /// Names the line of what is not a key or cannot be used. In a repository it also names the patterns of
    /// proof_grade.paths that match no file: such a pattern protects nothing.
    #[command(after_help = "\
Examples:
  git proof policy check
  git proof policy check --tree origin/main
  git show origin/main:.proof/policy.toml | git proof policy check -")]
    Check {
        /// The file, or - for standard input
        #[arg(default_value = ".proof/policy.toml")]
        file: PathBuf,
        /// The commit whose files the patterns are held against [default: HEAD]
        #[arg(long, value_name = "REV")]
        tree: Option<String>,
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
        /// The commit whose policy counts [default: proof.rules, else the remote's default branch]
        #[arg(long, value_name = "REV")]
        base: Option<String>,
    },
}

impl Policy {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        match &self.command {
            Command::Check { file, tree } => {
                let outcome = judge::check_policy(context, &Source::parse(context, file), tree.as_deref())?;
                ui.show(&outcome, |outcome, paint| {
                    let good = paint.paint(Role::Good, "Good");
                    let mut text = format!("{good}: every rule of {} can be used.\n", inert(&outcome.file));
                    for warning in &outcome.warnings {
                        text.push_str(&format!("{}: {}\n", paint.paint(Role::Decision, "note"), inert(warning)));
                    }
                    text
                });
            }
            Command::Explain { commit, base } => {
                let outcome = judge::explain_policy(context, commit, base.as_deref())?;
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
