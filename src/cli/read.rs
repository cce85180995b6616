//! `log`, `show`, `tree`, `trail`, `search`, `prove`: reading, of the store and of what git has.

use clap::Args;
use serde::Serialize;

use super::draw;
use super::pager::Pager;
use super::paint::Colours;
use super::story::{Detail, Teller};
use super::ui::{Role, Ui, inert};
use super::verdict::say_rules;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::flow::{self, CommitStory, Meant, StoryRequest};
use crate::git::Git;
use crate::hint::{Step, hint};
use crate::judge::RulesView;
use crate::record::{self, Workspace};
use crate::{keep, present, rounds};

/// How it is shown.
#[derive(Debug, Args)]
pub(super) struct Looks {
    /// When to use color
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    color: Colours,
    /// Do not start a pager
    #[arg(long)]
    no_pager: bool,
}

impl Looks {
    pub(super) fn apply(&self, context: &Context, ui: &mut Ui) {
        self.apply_with(Pager::of, context, ui);
    }

    /// The same for a command that judges: no setting of the repository that is judged starts a program.
    pub(super) fn apply_judging(&self, context: &Context, ui: &mut Ui) {
        self.apply_with(Pager::of_user, context, ui);
    }

    fn apply_with(&self, pager: fn(&Context) -> Option<Pager>, context: &Context, ui: &mut Ui) {
        ui.paint = ui.paint.with_colours(self.color, context);
        if !self.no_pager {
            ui.page(pager, context);
        }
    }
}

/// Show what was decided behind commits, or a session's entries
///
/// With commits or ranges, which are named as for git log, it shows each commit, its verdict and the decisions behind it, all
/// from this clone. A commit stands for its whole history, of which the newest 50 commits are shown unless -n says otherwise.
/// The exit code is that of verify: 1 if a proof failed or is missing, 3 if something could not be checked.
///
/// Without commits, it shows the entries of a session from the store, in the order in which they were recorded.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof log main..feature
  git proof log -n 5 HEAD
  git proof log
  git proof log -n 5 --session t-89-login
  git proof log --all")]
pub(super) struct Log {
    /// Commits and ranges; without any, a session is shown
    #[arg(value_name = "REV|RANGE")]
    revisions: Vec<String>,
    /// The session [default: GIT_PROOF_SESSION, else the current one]
    #[arg(long, value_name = "ID", conflicts_with = "revisions")]
    session: Option<String>,
    /// Only the newest N commits or entries, or sessions with --all
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u32>,
    /// List the sessions instead, newest first
    #[arg(long, conflicts_with_all = ["session", "revisions"])]
    all: bool,
    /// Show everything that was recorded, every text in full, with all hashes
    #[arg(long)]
    full: bool,
    /// The commit whose policy counts [default: proof.rules, else the remote's default branch]
    #[arg(long, value_name = "REV", requires = "revisions")]
    rules: Option<String>,
    #[command(flatten)]
    looks: Looks,
}

/// Commits that are shown of a history, where nobody says how many.
const NEWEST: u32 = 50;

impl Log {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        self.looks.apply(context, ui);
        let now = context.now();
        if !self.revisions.is_empty() {
            return self.commits(context, ui);
        }
        let names_none = self.session.is_none() && !self.all;
        let no_session = |error: Error| if names_none { perhaps_of_commits(context, error) } else { error };
        let mut workspace = Workspace::open(context.clone()).map_err(no_session)?;
        if self.all {
            let outcome = record::sessions(&workspace, self.limit.unwrap_or(50))?;
            ui.show(&outcome, |list, paint| draw::sessions(&list.sessions, &now, paint));
            return Ok(());
        }
        let outcome =
            record::log(&mut workspace, self.session.as_deref(), self.limit.map(u64::from)).map_err(no_session)?;
        ui.show(&outcome, |log, paint| draw::log(log, self.full, &now, paint));
        Ok(())
    }

    fn commits(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let ranges = self.revisions.iter().all(|revision| revision.contains("..") || revision.starts_with('^'));
        let limit = self.limit.or((!ranges).then_some(NEWEST));
        let (revisions, rules) = (self.revisions.clone(), self.rules.clone());
        let request = StoryRequest { revisions, history: true, limit, full: self.full, rules };
        let outcome = flow::story(context, &request).map_err(|error| self.perhaps_a_session(context, error))?;
        ui.answer(present::exit_code(outcome.verdict));
        let (detail, now) = (if self.full { Detail::Full } else { Detail::Brief }, context.now());
        say_rules(&outcome.rules, ui);
        ui.show(&outcome, |outcome, paint| Teller { detail, now: &now, paint }.log(outcome, ""));
        Ok(())
    }

    /// If the argument is not a commit but the id of a session, the error says how to show a session.
    fn perhaps_a_session(&self, context: &Context, error: Error) -> Error {
        let [name] = self.revisions.as_slice() else { return error };
        if error.code != Code::CommitNotFound {
            return error;
        }
        let session =
            Workspace::open(context.clone()).and_then(|mut workspace| record::log(&mut workspace, Some(name), Some(1)));
        match session {
            Ok(_) => Error::new(Code::CommitNotFound, format!("{name} is a session, and no commit"))
                .hint(Step::LogOf(name.clone())),
            Err(_) => error,
        }
    }
}

/// Without a session here, a reader most likely wants the decisions behind commits. A session that is opened only to see
/// something would be in the way later.
fn perhaps_of_commits(context: &Context, error: Error) -> Error {
    let names = context.variable("GIT_PROOF_SESSION").is_some();
    if names || !matches!(error.code, Code::SessionNotFound | Code::NoStore) {
        return error;
    }
    let Ok(git) = Git::discover(context) else { return error };
    if !git.tip("HEAD").is_ok_and(|head| head.is_some()) {
        return error;
    }
    let mut hint = hint!(Step::LogHead, " shows the decisions behind commits");
    if git.was_never_synced() {
        hint = hint.and(hint!(Step::SyncFetchOnly, " brings those of others"));
    }
    let hint = hint.and(hint!("to record something: ", Step::Start));
    error.hint(hint)
}

/// Show what was decided behind a commit, or one record
///
/// Of a commit, it shows the verdict, what the session was for, the decisions with what was rejected and why, and the
/// reflections; with --full, everything that was recorded. All of it is read from this clone's git objects and verified; the
/// store is not needed. The exit code is that of verify: 1 if the proof failed or is missing, 3 if it could not be checked.
///
/// The id of a record in this clone's store shows that record.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof show
  git proof show main~2
  git proof show --full HEAD
  git proof show 8bfea854-fd8c-44dc-a9ce-c13027ce08d6")]
pub(super) struct Show {
    /// A commit, or a record's id [default: HEAD]
    #[arg(value_name = "REV|RECORD")]
    what: Option<String>,
    /// Show everything that was recorded, with all hashes
    #[arg(long)]
    full: bool,
    /// The commit whose policy counts [default: proof.rules, else the remote's default branch]
    #[arg(long, value_name = "REV")]
    rules: Option<String>,
    #[command(flatten)]
    looks: Looks,
}

impl Show {
    /// Shows what a name means, by default.
    pub(super) fn of(what: String) -> Self {
        let looks = Looks { color: Colours::default(), no_pager: false };
        Self { what: Some(what), full: false, rules: None, looks }
    }

    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        self.looks.apply(context, ui);
        let now = context.now();
        let meant = match &self.what {
            Some(name) => flow::meant(context, name)?,
            None => flow::meant(context, "HEAD")?,
        };
        let Meant::Commit(commit) = meant else {
            let outcome =
                record::show(&mut Workspace::open(context.clone())?, self.what.as_deref().unwrap_or_default())?;
            ui.show(&outcome, |shown, paint| draw::entry_in_full(&shown.entry, &now, paint));
            return Ok(());
        };
        let (revisions, rules) = (vec![commit.to_string()], self.rules.clone());
        let request = StoryRequest { revisions, full: self.full, rules, ..StoryRequest::default() };
        let outcome = flow::story(context, &request)?;
        ui.answer(present::exit_code(outcome.verdict));
        let detail = if self.full { Detail::Full } else { Detail::Decisions };
        for commit in &outcome.commits {
            let shown = Shown { story: commit, rules: &outcome.rules };
            say_rules(&outcome.rules, ui);
            ui.show(&shown, |shown, paint| Teller { detail, now: &now, paint }.show(shown.story));
        }
        Ok(())
    }
}

/// A commit with the rules that it was judged by.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    story: &'a CommitStory,
    rules: &'a RulesView,
}

/// Draw a session as a tree, in which each record hangs below the one that it follows
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git proof tree\n  git proof tree --session t-89-login --json")]
pub(super) struct Tree {
    /// The session [default: GIT_PROOF_SESSION, else the current one]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    looks: Looks,
}

impl Tree {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        self.looks.apply(context, ui);
        let now = context.now();
        let outcome = record::tree(&mut Workspace::open(context.clone())?, self.session.as_deref())?;
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
    #[command(flatten)]
    looks: Looks,
}

impl Trail {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        self.looks.apply(context, ui);
        let now = context.now();
        let outcome = record::trail(&mut Workspace::open(context.clone())?, &self.record)?;
        ui.show(&outcome, |entries, paint| draw::entries(entries, false, &now, paint));
        Ok(())
    }
}

/// Find records by their words
///
/// The query has the syntax of SQLite's FTS5: words that must all occur, "a phrase", a OR b, NOT c, prefix*. If it does not
/// parse, it is read as plain words. The best matches come first (BM25).
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
    /// Show at most N records
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: u32,
}

impl Search {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let now = context.now();
        let no_store = |error: Error| match keep::import_hint(context).filter(|_| error.code == Code::NoStore) {
            Some(hint) => error.hint(hint),
            None => error,
        };
        let mut workspace = Workspace::open(context.clone()).map_err(no_store)?;
        let outcome = record::search(&mut workspace, &self.query, self.session.as_deref(), self.limit)?;
        if outcome.hits.is_empty()
            && !ui.json
            && let Some(hint) = keep::import_hint(context)
        {
            ui.say(&format!("hint: {hint}"));
        }
        ui.show(&outcome, |found, paint| match found.hits.as_slice() {
            [] => format!("Nothing recorded here matches {}.\n", inert(&found.query)),
            hits => {
                let found = |hit: &record::SearchHit| {
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
/// Before the session is finalized, the proof is for the root of the entries so far. With --round it proves that a session is
/// in the log of all sealed sessions, up to the newest round; that needs no store, only refs/proof/rounds.
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

    /// The root of the session, needed only if two sealed sessions have the same id
    #[arg(long, value_name = "ROOT", requires = "round")]
    root: Option<String>,
}

impl Prove {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        if let Some(session) = self.session.as_deref().filter(|_| self.round) {
            let proof = rounds::prove_sealed(context, session, self.root.as_deref())?;
            ui.text(|_| proof.to_line() + "\n");
            return Ok(());
        }
        let (workspace, record) = (Workspace::open(context.clone())?, self.record.as_deref().unwrap_or_default());
        let outcome = record::prove(&workspace, record)?;
        if record::is_withheld(&workspace, record)? {
            ui.say("git proof prove: the text of this record is withheld; the proof is of its hash");
        }
        ui.show(&outcome, |outcome, _| outcome.to_line() + "\n");
        Ok(())
    }
}
