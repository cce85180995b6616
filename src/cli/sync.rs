//! `sync`.

use std::io::{self, IsTerminal as _, Write as _};

use clap::Args;

use super::anchor::restored;
use super::session::lost_hooks;
use super::ui::{Role, Ui, inert};
use super::verdict::findings;
use crate::context::Context;
use crate::error::{Code, Result};
use crate::flow::{self, Extent, Repaired, Repairs};
use crate::proof::finding::Severity;
use crate::record::Workspace;
use crate::seal::Remade;

/// Share proofs with a remote: fetch, merge, push
///
/// Exchanges refs/notes/proof, refs/proof/evidence, refs/proof/changes and refs/proof/rounds. Both sides are merged line by
/// line and file by file, so that nothing is lost, and all refs are pushed at once. If someone else pushed meanwhile, sync
/// starts over. First it finishes what an interrupted command left undone. If others sealed a round before a seal of this
/// clone was shared, that seal is made again on top of theirs. The pre-push hook does all this before every push. With
/// --fetch-only nothing is pushed, so a token that can only read is enough. Sync remembers what the remote did not have: a
/// required proof that is in neither place is then missing, no longer "could not check". Exit code 1: shared, but the
/// remote's rounds were wound back or replaced.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  git proof sync\n  git proof sync upstream\n  git proof sync --fetch-only\n  git proof sync --move-to private"
)]
pub(super) struct Sync {
    /// The remote [default: proof.remote, else that of the current branch, else origin]
    #[arg(value_name = "REMOTE")]
    remote: Option<String>,

    /// Fetch and merge, and push nothing
    #[arg(long)]
    fetch_only: bool,

    /// Share proofs with this remote from now on (proof.remote), and delete them where they were shared before
    #[arg(long, value_name = "REMOTE|URL", conflicts_with_all = ["remote", "fetch_only"])]
    move_to: Option<String>,
}

impl Sync {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let watched = io::stderr().is_terminal() && !ui.json;
        let mut progress = |what: &str| {
            if watched {
                let _ = write!(io::stderr().lock(), "\r\u{1b}[K{}…", inert(what)); // only talk
            }
        };
        let mut workspace = Workspace::open_or_create(context.clone())?;
        if let Some(to) = &self.move_to {
            let moved = flow::move_to(&mut workspace, to, &mut progress);
            if watched {
                let _ = write!(io::stderr().lock(), "\r\u{1b}[K");
            }
            ui.show(&moved?, |moved, paint| {
                let deleted = if moved.deleted.is_empty() { "nothing".to_owned() } else { moved.deleted.join(", ") };
                format!(
                    "{} {}.\n  deleted at {}  {deleted}\n",
                    paint.paint(Role::Good, "Proofs are now shared with"),
                    inert(&moved.outcome.remote),
                    inert(&moved.from),
                )
            });
            return Ok(());
        }
        let (repaired, outcome) = if self.fetch_only {
            (Repairs::default(), flow::fetch(&mut workspace, self.remote.as_deref(), &mut progress))
        } else {
            let remote = workspace.git()?.remote(self.remote.as_deref())?;
            let repaired = flow::reconcile(&mut workspace, Some(&remote), Extent::Unpublished)?;
            (repaired, flow::sync(&mut workspace, self.remote.as_deref(), &mut progress))
        };
        if watched {
            let _ = write!(io::stderr().lock(), "\r\u{1b}[K");
        }
        let mut outcome = outcome?;
        restored(ui, outcome.restored);
        lost_hooks(&workspace.context, ui);
        repaired.sentences().iter().for_each(|sentence| ui.say(sentence));
        outcome.restored += repaired.lines;
        told(ui, &outcome.remade);
        match outcome.findings.iter().map(|finding| finding.severity).max() {
            Some(Severity::Error) => ui.answer(Code::RoundsRolledBack.exit_code()),
            Some(Severity::Unchecked) => ui.answer(Code::LimitReached.exit_code()),
            _ => {}
        }
        ui.show(&Repaired { outcome, repaired }, |Repaired { outcome, .. }, paint| {
            let list = |refs: &[&str]| if refs.is_empty() { "nothing".to_owned() } else { refs.join(", ") };
            let done = if self.fetch_only { "Fetched from" } else { "Up to date with" };
            let pushed = if self.fetch_only { "nothing (--fetch-only)".to_owned() } else { list(&outcome.pushed) };
            format!(
                "{} {}.\n  fetched  {}\n  pushed   {pushed}\n",
                paint.paint(Role::Good, done),
                inert(&outcome.remote),
                list(&outcome.fetched),
            ) + &findings(&outcome.findings, paint)
        });
        Ok(())
    }
}

/// Says which seals were made again.
pub(super) fn told(ui: &mut Ui, remade: &[Remade]) {
    for Remade { was, round, sessions, unsigned } in remade {
        ui.say(&match round {
            Some(round) => {
                let note = if *unsigned { "; it could not be signed again: git proof sign --round " } else { "" };
                let again = if *unsigned { round.to_string() } else { String::new() };
                format!(
                    "git proof: someone else had sealed before round {was} of ours was shared; its {} now in \
                     round {round}{note}{again}",
                    if *sessions == 1 { "session is".to_owned() } else { format!("{sessions} sessions are") }
                )
            }
            None => format!("git proof: others had sealed all sessions of round {was} of ours; theirs stands"),
        });
    }
}
