//! `sync`.

use std::io::{self, IsTerminal as _, Write as _};

use clap::Args;

use super::anchor::restored;
use super::ui::{Role, Ui, inert};
use crate::context::Context;
use crate::error::Result;
use crate::ops::{self, Workspace};

/// Share proofs with a remote: fetch, merge, push
///
/// Exchanges refs/notes/proof, refs/proof/evidence, refs/proof/changes and refs/proof/rounds. What both sides have is
/// merged line by line and file by file, so that nothing is lost, and pushed all at once; if someone else was faster, it
/// begins again. The pre-push hook does this before every push.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git proof sync\n  git proof sync upstream")]
pub(super) struct Sync {
    /// The remote [default: that of the present branch, else origin]
    #[arg(value_name = "REMOTE")]
    remote: Option<String>,
}

impl Sync {
    pub(super) fn run(&self, context: Context, ui: &mut Ui) -> Result<()> {
        let watched = io::stderr().is_terminal() && !ui.json;
        let mut progress = |what: &str| {
            if watched {
                let _ = write!(io::stderr().lock(), "\r\u{1b}[K{}…", inert(what)); // only talk
            }
        };
        let outcome = ops::sync(&mut Workspace::open_or_create(context)?, self.remote.as_deref(), &mut progress);
        if watched {
            let _ = write!(io::stderr().lock(), "\r\u{1b}[K");
        }
        let outcome = outcome?;
        restored(ui, outcome.restored);
        ui.show(&outcome, |outcome, paint| {
            let list = |refs: &[&str]| if refs.is_empty() { "nothing".to_owned() } else { refs.join(", ") };
            format!(
                "{} with {}.\n  new from there  {}\n  new to there    {}\n",
                paint.paint(Role::Good, "In step"),
                inert(&outcome.remote),
                list(&outcome.fetched),
                list(&outcome.pushed)
            )
        });
        Ok(())
    }
}
