//! `accept`.

use clap::Args;

use super::ui::{Role, Ui, inert};
use crate::context::Context;
use crate::error::Result;
use crate::flow::{self, AcceptOutcome};
use crate::present;
use crate::proof::text::counted;
use crate::record::Workspace;

/// Take over the proofs of commits that landed, from a fork or another repository
///
/// For maintainers, merge queues and bots, after the server merged, squashed or rebased a pull request from a fork. Fetches
/// the anchors, evidence and index that the other repository offers, judges the landed commits with them, and copies the
/// proofs that hold for these commits, and nothing else. Share them with git proof sync. RANGE is a commit or BASE..HEAD of
/// the branch whose policy counts; without it, the newest 100 commits of that branch are judged. With --digest, the proofs
/// must be the ones that git proof gate --proofs judged before. Exit code 1: a commit of RANGE needs a proof and has none
/// that holds, or the digest differs. 3: could not check.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof accept upstream
  git proof accept upstream origin/main~1..origin/main
  git proof accept ../remote.git origin/main --json")]
pub(super) struct Accept {
    /// The other repository
    #[arg(value_name = "URL|REMOTE|PATH")]
    source: String,

    /// The commits that landed [default: the newest 100 commits]
    #[arg(value_name = "RANGE")]
    range: Option<String>,

    /// Accept only the proofs with this digest: the proofs_digest of the gate's verdict
    #[arg(long, value_name = "DIGEST")]
    digest: Option<String>,
}

impl Accept {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let mut workspace = Workspace::open_or_create(context.clone())?;
        let outcome = flow::accept(&mut workspace, &self.source, self.range.as_deref(), self.digest.as_deref())?;
        // Without a range, commits that nobody asked about may need a proof.
        let worst = outcome.left.iter().map(|left| left.verdict).max().filter(|_| self.range.is_some());
        ui.answer(worst.map_or(0, present::exit_code));
        ui.show(&outcome, |outcome, paint| {
            let mut text = headline(outcome, paint.paint(Role::Good, "Accepted").as_str());
            for commit in &outcome.accepted {
                let binding = commit.binding.map_or_else(String::new, |binding| binding.to_string());
                text.push_str(&format!("  {:.12}  {binding:<8}  {}\n", commit.commit, inert(&commit.subject)));
            }
            for left in &outcome.left {
                let verdict = paint.paint(Role::Bad, present::word(left.verdict));
                text.push_str(&format!("  {:.12}  {verdict}  {}\n", left.commit, inert(&left.subject)));
            }
            if !outcome.accepted.is_empty() {
                text.push_str("git proof sync shares it.\n");
            }
            text
        });
        Ok(())
    }
}

fn headline(outcome: &AcceptOutcome, accepted: &str) -> String {
    let source = inert(&outcome.source);
    if outcome.accepted.is_empty() {
        return format!(
            "Nothing to accept from {source}: it has no proof that holds for these commits and is missing here.\n"
        );
    }
    let taken = &outcome.taken;
    format!(
        "{accepted} from {source}: {}, {}, {}.\n",
        counted(taken.anchors, "anchor", "anchors"),
        counted(taken.evidence, "evidence file", "evidence files"),
        counted(taken.changes, "line of the index", "lines of the index"),
    )
}
