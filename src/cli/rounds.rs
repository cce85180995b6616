//! `seal`.

use clap::Args;

use super::ui::{Role, Ui, inert};
use crate::context::Context;
use crate::error::Result;
use crate::ops::{self, SealRequest, Workspace};

/// Seal a round: every anchored session that no round has sealed yet
///
/// Collects finalized and anchored sessions from refs/notes/proof, those that others pushed as well, and lists them in the
/// next seal of refs/proof/rounds. Only anchors that verify go in. Refuses while a session of this clone is open, unless it
/// is deferred to the next round. Fetch first (git proof sync) to seal what a team pushed, and sync afterwards to share it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof sync && git proof seal && git proof sync
  git proof seal --defer
  git proof seal --sign --json")]
pub(super) struct Seal {
    /// Leave sessions that are still open to the next round
    #[arg(long)]
    defer: bool,

    /// Sign the seal with the key that git signs with [default: as git config proof.sign says]
    #[arg(long, overrides_with = "no_sign")]
    sign: bool,

    /// Do not sign it
    #[arg(long, overrides_with = "sign")]
    no_sign: bool,
}

impl Seal {
    pub(super) fn run(&self, context: Context, ui: &mut Ui) -> Result<()> {
        let sign = if self.sign { Some(true) } else { self.no_sign.then_some(false) };
        let request = SealRequest { defer: self.defer, sign };
        let outcome = ops::seal(&mut Workspace::open_or_create(context)?, &request)?;
        if let Some(clock) = &outcome.clock {
            ui.say(&format!("git proof seal: {clock}"));
        }
        if !outcome.deferred.is_empty() {
            let open = outcome.deferred.len();
            ui.say(&format!("git proof seal: {open} open session{} left to the next round", plural(open)));
        }
        for left in &outcome.left_out {
            let codes: Vec<&str> = left.codes.iter().map(|code| code.as_str()).collect();
            let why = if codes.is_empty() { "its anchor does not hold".to_owned() } else { codes.join(", ") };
            ui.say(&format!("git proof seal: left out session {} on commit {}: {why}", left.session_id, left.commit));
        }
        ui.show(&outcome, |outcome, paint| {
            let count = outcome.sessions.len();
            let mut text = format!(
                "{} round {}: {count} session{}{}.\n",
                paint.paint(Role::Good, "Sealed"),
                outcome.round,
                plural(count),
                if outcome.signed { ", signed" } else { "" }
            );
            text.push_str(&format!("  seal  {}\n  root  {}\n", outcome.seal, outcome.root));
            text.push_str(&format!("  log   {} of {} sessions\n", outcome.log_root, outcome.log_size));
            for session in &outcome.sessions {
                text.push_str(&format!(
                    "  session {} ({} entries)\n",
                    inert(session.session_id.as_str()),
                    session.count
                ));
            }
            text
        });
        Ok(())
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
