//! `doctor`: what is wired and what is not.

use std::fmt::Write as _;

use clap::Args;

use super::ui::{Role, Ui, inert};
use crate::context::Context;
use crate::error::Result;
use crate::ops::{self, DoctorState};

/// Tell what is wired, what is missing, what is stale, and the command for each
///
/// Looks at git, the store, the hooks, the settings for notes, the remotes, the agents and the policy. It changes
/// nothing. The exit code is 0 if everything is wired, and 1 if something is missing, stale or wrong; `info` is neither.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof doctor
  git proof doctor --json | jq '.checks[] | select(.state != \"ok\")'")]
pub(super) struct Doctor {}

impl Doctor {
    #[expect(clippy::unused_self, reason = "every command runs the same way")]
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let outcome = ops::doctor(context)?;
        ui.show(&outcome, |outcome, paint| {
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
                    let _ = writeln!(text, "        hint: {}", inert(hint));
                }
            }
            text
        });
        if !outcome.ok {
            ui.answer(1);
        }
        Ok(())
    }
}
