//! `check`, `finalize`, `root`, `end`.

use clap::Args;

use super::anchor::guarded;
use super::ui::{Role, Ui};
use crate::context::Context;
use crate::error::Result;
use crate::flow::{self, Repaired, Unexplaining};
use crate::hint::{Hint, Step, hint};
use crate::proof::text::counted;
use crate::record::{self, RootOutcome, Workspace};
use crate::setup;

#[derive(Debug, Args)]
pub(super) struct SessionArgument {
    /// The session [default: GIT_PROOF_SESSION, else the current one]
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<String>,
}

/// Verify a session's chain, and its root if it is finalized
///
/// Every stored line is read strictly, hashed and chained again. If the chain is broken, the first broken entry is named.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git proof check\n  git proof check --session t-89-login --json")]
pub(super) struct Check {
    #[command(flatten)]
    which: SessionArgument,
}

impl Check {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let outcome = record::check(&Workspace::open(context.clone())?, self.which.session.as_deref())?;
        ui.show(&outcome, |check, paint| {
            let verdict = paint.paint(Role::Good, "The chain holds");
            let blanked = match (check.blanked, check.archived) {
                (0, _) => String::new(),
                (blanked, 0) => format!(" The texts of {blanked} are gone: only their hashes are kept."),
                (_, archived) => format!(" The texts of {archived} are in an archive, which holds as well."),
            };
            let withheld = match check.withheld {
                0 => String::new(),
                withheld => format!(" {withheld} are withheld: only their hashes were published."),
            };
            format!(
                "{verdict}: {} entries in session {}.{blanked}{withheld}\n  head {}\n",
                check.records, check.session_id, check.head
            )
        });
        Ok(())
    }
}

/// Close a session's tree and store its root
///
/// The chain is verified first. A proof-grade session must end in a reflection. The session is anchored on the commits that it
/// attests: those made while it was open, and the one made of what was staged when it was closed. If the session is finalized
/// already, its stored root is printed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git proof finalize\n  git proof finalize --session t-89-login --json")]
pub(super) struct Finalize {
    #[command(flatten)]
    which: SessionArgument,
}

impl Finalize {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        close(&mut Workspace::open(context.clone())?, self.which.session.as_deref(), ui)
    }
}

/// Finalizes a session and says what came of it.
pub(super) fn close(workspace: &mut Workspace, session: Option<&str>, ui: &mut Ui) -> Result<()> {
    let done = flow::finalize(workspace, session, true)?;
    let outcome = &done.outcome;
    guarded(ui, outcome.guarded);
    if outcome.unpacked > 0 {
        let notes = counted(outcome.unpacked, "note was", "notes were");
        ui.say(&format!("warning: {notes} not packed, and no longer can be"));
        ui.say("hint: git proof memory list shows what is left in working memory; pack before finalizing");
    }
    done.repaired.sentences().iter().for_each(|sentence| ui.say(sentence));
    lost_hooks(&workspace.context, ui);
    if let Some(unexplaining) = outcome.unexplaining {
        let (what, hint) = match unexplaining {
            Unexplaining::Staged => ("what is staged, and no commit yet", Hint::from(Step::GitCommit)),
            Unexplaining::Nothing if !commits_are_seen(&workspace.context) => (
                "no commit, because git runs no hooks of ours here",
                hint!(Step::Init, " installs them"; "to explain a commit that was made: ", Step::Cover("HEAD".into())),
            ),
            Unexplaining::Nothing => (
                "no commit: none was made in it, and nothing was staged",
                hint!("to explain a commit that was made: ", Step::Cover("HEAD".into())),
            ),
        };
        ui.say(&format!("git proof: this session explains {what}"));
        ui.say(&format!("hint: {hint}"));
    }
    ui.show(&done, |Repaired { outcome, .. }, _| {
        let anchored = outcome.anchors.iter().map(|anchor| format!("  anchored {}\n", anchor.commit));
        describe(&outcome.root) + &anchored.collect::<String>()
    });
    Ok(())
}

/// Whether the hooks of git that record commits are wired. What keeps that from being found out, `doctor` reports.
pub(super) fn commits_are_seen(context: &Context) -> bool {
    let states = setup::hook_states(context).unwrap_or_default();
    !states.iter().any(|state| !state.wired && matches!(state.hook.as_str(), "commit-msg" | "post-commit"))
}

/// Says that hooks are no longer wired which once were: a manager of hooks may have replaced them.
pub(super) fn lost_hooks(context: &Context, ui: &mut Ui) {
    let lost = setup::lost_hooks(context);
    if !lost.is_empty() {
        let lost = lost.join(", ");
        ui.say(&format!("git proof: git no longer runs our {lost}; another tool may have replaced it: git proof init"));
    }
}

/// Print the root of a finalized session
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git proof root\n  git proof root --json | jq -r '.root, .count'")]
pub(super) struct Root {
    #[command(flatten)]
    which: SessionArgument,
}

impl Root {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let outcome = record::root(&Workspace::open(context.clone())?, self.which.session.as_deref())?;
        ui.show(&outcome, |root, _| describe(root));
        Ok(())
    }
}

fn describe(outcome: &RootOutcome) -> String {
    let RootOutcome { session_id, scheme, genesis, head, root, count, finalized_at, .. } = outcome;
    format!(
        "Session {session_id} is finalized.\n  root     {root}\n  count    {count}\n  scheme   {scheme}\n  \
         genesis  {genesis}\n  head     {head}\n  at       {finalized_at}\n"
    )
}

/// End a session: it takes no more entries
///
/// Ending a session twice changes nothing. A session can be finalized before or after it is ended.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git proof end\n  git proof end --session t-89-login")]
pub(super) struct End {
    #[command(flatten)]
    which: SessionArgument,
}

impl End {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let outcome = record::end(&mut Workspace::open(context.clone())?, self.which.session.as_deref())?;
        ui.show(&outcome, |end, _| {
            let stands = match (&end.root, end.proof_grade) {
                (Some(root), _) => format!("It is finalized: root {root}, {} entries.", end.records),
                (None, true) if end.has_reflection => {
                    format!("To finalize it: {}", Step::Finalize(end.session_id.to_string()))
                }
                (None, true) if end.count == 0 => format!("It has no entries. To open another: {}", Step::Start),
                (None, true) => format!(
                    "It has no closing reflection, so it cannot be finalized. To go on in a new session: {}",
                    Step::StartNext(end.session_id.to_string())
                ),
                (None, false) => "It is not finalized.".to_owned(),
            };
            format!("Session {} has ended. {stands}\n", end.session_id)
        });
        Ok(())
    }
}
