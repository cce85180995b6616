//! `policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ui::{Role, Ui, inert};
use crate::context::Context;
use crate::error::Result;
use crate::judge;
use crate::present;
use crate::proof::text::counted;
use crate::record::Source;
use crate::setup;

/// Check a policy file, ask what it says of a commit, or enforce it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof policy check
  git proof policy explain HEAD --base origin/main
  git proof policy enforce --dry-run")]
pub(super) struct Policy {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check that a policy file can be used
    ///
    /// Names the line of a key that does not exist or of a value that cannot be used, also in allowed_signers and
    /// revoked_signers beside it. In a repository it also names the patterns of proof_grade.paths that match no file: such a
    /// pattern protects nothing.
    #[command(after_help = "\
Examples:
  git proof policy check
  git proof policy check --tree origin/main
  git show origin/main:.proof/policy.toml | git proof policy check -")]
    Check {
        /// The file, or - for standard input
        #[arg(default_value = ".proof/policy.toml")]
        file: PathBuf,
        /// The commit whose files are compared with the patterns [default: HEAD]
        #[arg(long, value_name = "REV")]
        tree: Option<String>,
    },
    /// Say whether a commit needs a proof, and by which rule
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
    /// Turn an advisory policy into one that refuses
    ///
    /// Judges the newest 50 commits by the policy in the worktree and lists those that it would have refused. Then it sets
    /// `mode = "enforce"` in .proof/policy.toml; commit that to the base branch. Ends with 0 even if it lists commits.
    #[command(after_help = "\
Examples:
  git proof policy enforce --dry-run
  git proof policy enforce")]
    Enforce {
        /// Show what it would have refused, and change nothing
        #[arg(long)]
        dry_run: bool,
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
            Command::Enforce { dry_run } => {
                let outcome = setup::enforce(context, *dry_run)?;
                ui.show(&outcome, |outcome, paint| {
                    let newest = format!("the newest {}", counted(outcome.summary.commits(), "commit", "commits"));
                    let mut text = match outcome.refused.len() {
                        0 => format!("Of {newest} it would have refused none.\n"),
                        some => format!("Of {newest} it would have refused {some}:\n"),
                    };
                    for refused in &outcome.refused {
                        let word = paint.paint(Role::Bad, present::word(refused.verdict));
                        text.push_str(&format!("  {:.12}  {word}  {}\n", refused.commit, inert(&refused.subject)));
                    }
                    text + match (outcome.changed, dry_run) {
                        (true, _) => "It refuses from now on: commit .proof/policy.toml to the base branch.\n",
                        (false, true) => "Nothing was changed.\n",
                        (false, false) => "The policy is already enforced; nothing changed.\n",
                    }
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
