//! `doctor`: what is wired and what is not.

use std::fmt::Write as _;

use clap::Args;

use super::ui::{Role, Ui, inert};
use crate::context::Context;
use crate::error::{Code, Result};
use crate::flow::{self, Extent, Repaired, Repairs};
use crate::record::Workspace;
use crate::setup::{self, DoctorState};

/// Check how this repository is set up, and name the command that repairs each problem
///
/// Looks at git, the store, the hooks, the settings for notes, the remotes, the agents and the policy. Without --fix it
/// changes nothing. The exit code is 0 if everything is set up, and 1 if something is missing, stale or wrong. Lines marked
/// `info` do not count.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof doctor
  git proof doctor --fix
  git proof doctor --json | jq '.checks[] | select(.state != \"ok\")'")]
pub(super) struct Doctor {
    /// Finish what interrupted commands left undone, as `sync` does: commits whose hook was killed, finalized sessions
    /// without an anchor, overwritten notes, missing evidence, squashes that are not indexed, locks that git-proof left
    #[arg(long)]
    fix: bool,
}

impl Doctor {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let repaired = if self.fix { fixed(context)? } else { Repairs::default() };
        repaired.sentences().iter().for_each(|sentence| ui.say(sentence));
        let outcome = setup::doctor(context)?;
        let ok = outcome.ok;
        ui.show(&Repaired { outcome, repaired }, |Repaired { outcome, .. }, paint| {
            let width = outcome.checks.iter().map(|check| check.name.chars().count()).max().unwrap_or_default();
            let mut text = String::new();
            for check in &outcome.checks {
                let role = match check.state {
                    DoctorState::Ok => Role::Good,
                    DoctorState::Info => Role::Faint,
                    DoctorState::Missing | DoctorState::Stale | DoctorState::Wrong => Role::Decision,
                };
                let state = paint.paint(role, &format!("{:<7}", check.state.as_str()));
                let _ = writeln!(text, "{state} {:<width$}  {}", inert(&check.name), inert(&check.message));
                if let Some(hint) = &check.hint {
                    let _ = writeln!(text, "        hint: {}", inert(&hint.to_string()));
                }
            }
            text
        });
        if !ok {
            ui.answer(1);
        }
        Ok(())
    }
}

/// Finishes what was left undone, if anything was ever recorded here.
fn fixed(context: &Context) -> Result<Repairs> {
    let mut workspace = match Workspace::open(context.clone()) {
        Err(error) if error.code == Code::NoStore => return Ok(Repairs::default()),
        workspace => workspace?,
    };
    let remote = workspace.git()?.remote(None).ok();
    flow::reconcile(&mut workspace, remote.as_ref(), Extent::Everything)
}
