//! `log`, `show`, `tree`, `trail`, `search`, `prove`.

use clap::Args;

use super::draw;
use super::ui::{Role, Ui, inert};
use crate::context::Context;
use crate::error::Result;
use crate::ops::{self, Workspace};

/// Show a session's entries in the order they were recorded
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof log
  git proof log -n 5 --session t-89-login
  git proof log --all")]
pub(super) struct Log {
    /// The session [default: GIT_PROOF_SESSION, else the current one]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only the newest N entries, or sessions with --all
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u32>,
    /// List the sessions instead, newest first
    #[arg(long, conflicts_with = "session")]
    all: bool,
    /// Show every text in full, with all hashes
    #[arg(long)]
    full: bool,
}

impl Log {
    pub(super) fn run(&self, context: Context, ui: &mut Ui) -> Result<()> {
        let now = context.now();
        let workspace = Workspace::open(context)?;
        if self.all {
            let outcome = ops::sessions(&workspace, self.limit.unwrap_or(50))?;
            ui.show(&outcome, |list, paint| draw::sessions(&list.sessions, &now, paint));
            return Ok(());
        }
        let outcome = ops::log(&workspace, self.session.as_deref(), self.limit.map(u64::from))?;
        ui.show(&outcome, |log, paint| draw::log(log, self.full, &now, paint));
        Ok(())
    }
}

/// Show one record
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git proof show 8bfea854-fd8c-44dc-a9ce-c13027ce08d6")]
pub(super) struct Show {
    /// The record's id
    record: String,
}

impl Show {
    pub(super) fn run(&self, context: Context, ui: &mut Ui) -> Result<()> {
        let now = context.now();
        let outcome = ops::show(&Workspace::open(context)?, &self.record)?;
        ui.show(&outcome, |shown, paint| draw::entry_in_full(&shown.entry, &now, paint));
        Ok(())
    }
}

/// Draw a session as a tree of what follows what
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git proof tree\n  git proof tree --session t-89-login --json")]
pub(super) struct Tree {
    /// The session [default: GIT_PROOF_SESSION, else the current one]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Tree {
    pub(super) fn run(&self, context: Context, ui: &mut Ui) -> Result<()> {
        let now = context.now();
        let outcome = ops::tree(&Workspace::open(context)?, self.session.as_deref())?;
        if ui.json {
            ui.show(&outcome.into_data(), |_, _| String::new());
        } else {
            ui.text(|paint| draw::tree(&outcome, &now, paint));
        }
        Ok(())
    }
}

/// Show what led to a record: its ancestors, from the first one on
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git proof trail 8bfea854-fd8c-44dc-a9ce-c13027ce08d6")]
pub(super) struct Trail {
    /// The record's id
    record: String,
}

impl Trail {
    pub(super) fn run(&self, context: Context, ui: &mut Ui) -> Result<()> {
        let now = context.now();
        let outcome = ops::trail(&Workspace::open(context)?, &self.record)?;
        ui.show(&outcome, |entries, paint| draw::entries(entries, false, &now, paint));
        Ok(())
    }
}

/// Find records by their words
///
/// The query is one of SQLite's FTS5: words that must all occur, "a phrase", a OR b, NOT c, prefix*. Text that is no
/// such query is taken as plain words. Best matches first (BM25).
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  git proof search \"write-ahead log\"\n  git proof search 'journal OR wal' --session t-89-login"
)]
pub(super) struct Search {
    /// What to look for
    query: String,
    /// Only in this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// At most so many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: u32,
}

impl Search {
    pub(super) fn run(&self, context: Context, ui: &mut Ui) -> Result<()> {
        let now = context.now();
        let outcome = ops::search(&mut Workspace::open(context)?, &self.query, self.session.as_deref(), self.limit)?;
        ui.show(&outcome, |found, paint| match found.hits.as_slice() {
            [] => format!("Nothing recorded here matches {}.\n", inert(&found.query)),
            hits => {
                let found = |hit: &ops::SearchHit| {
                    let session = paint.paint(Role::Faint, &format!("session {}", hit.entry.session_id));
                    draw::entry(&hit.entry, &now, paint) + "             " + &session + "\n"
                };
                hits.iter().map(found).collect()
            }
        });
        Ok(())
    }
}

/// Print the inclusion proof of a record, or of a sealed session: one line, for check-proof
///
/// Works before and after the session is finalized; before, the root is the running one. With --round it is proven that a
/// session is in the log of all sealed sessions, up to the newest round; that needs no store, only refs/proof/rounds.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof prove --record 8bfea854-fd8c-44dc-a9ce-c13027ce08d6 > proof.json
  git proof check-proof proof.json --root 3d57…7e2e --count 12
  git proof prove --round --session t-89-login > sealed.json")]
pub(super) struct Prove {
    /// The record's id
    #[arg(long, value_name = "ID", required_unless_present = "round", conflicts_with = "round")]
    record: Option<String>,

    /// Prove that a session is in the log of sealed sessions
    #[arg(long, requires = "session")]
    round: bool,

    /// The session, with --round
    #[arg(long, value_name = "ID", requires = "round")]
    session: Option<String>,

    /// Its root, where two sealed sessions have one id
    #[arg(long, value_name = "ROOT", requires = "round")]
    root: Option<String>,
}

impl Prove {
    pub(super) fn run(&self, context: Context, ui: &mut Ui) -> Result<()> {
        if let Some(session) = self.session.as_deref().filter(|_| self.round) {
            let proof = ops::prove_sealed(&context, session, self.root.as_deref())?;
            ui.text(|_| proof.to_line() + "\n");
            return Ok(());
        }
        let outcome = ops::prove(&Workspace::open(context)?, self.record.as_deref().unwrap_or_default())?;
        ui.show(&outcome, |outcome, _| outcome.to_line() + "\n");
        Ok(())
    }
}
