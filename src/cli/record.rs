//! `start`, `record`, `attest`.

use std::path::PathBuf;

use clap::Args;

use super::content::content;
use super::session::commits_are_seen;
use super::ui::{Role, Ui, inert};
use crate::agents::{self, Caller};
use crate::context::Context;
use crate::error::Result;
use crate::hint::{Hint, Step, hint};
use crate::proof::record::RecordType;
use crate::publish;
use crate::record::{self, EntryView, RecordRequest, StartRequest, Workspace};

/// Open a session and make it this worktree's current one
///
/// The opening record (id, intent, task, caller, scheme, time) is hashed: it is the genesis of the session's chain.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof start \"make the importer idempotent\"
  git proof start \"fix the login loop\" --task T-89 --session-id t-89-login
  export GIT_PROOF_SESSION=$(git proof start --intent \"try it\" --json | jq -r .session_id)")]
pub(super) struct Start {
    /// What the session is for
    #[arg(value_name = "INTENT", required_unless_present = "intent", conflicts_with = "intent")]
    text: Option<String>,
    /// The same, as an option
    #[arg(long, allow_hyphen_values = true)]
    intent: Option<String>,
    /// The task it belongs to
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Your own id for the session instead of a random one
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// How the session is hashed: v1, v1-sorted, v1-rfc9162 or ams-v0 [default: v1]
    #[arg(long)]
    scheme: Option<String>,
    /// Who works [default: your git identity]
    #[arg(long)]
    caller: Option<String>,
    /// Allow the session to be finalized without a closing reflection
    #[arg(long)]
    not_proof_grade: bool,
    /// The session that this one continues: its last chain hash is recorded in the first record
    #[arg(long, value_name = "ID")]
    continues: Option<String>,
}

impl Start {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let request = StartRequest {
            intent: self.intent.as_ref().or(self.text.as_ref()).cloned().unwrap_or_default(), // clap asks for one
            task_id: self.task.clone(),
            session_id: self.session_id.clone(),
            scheme: self.scheme.clone(),
            caller: self.caller.clone(),
            not_proof_grade: self.not_proof_grade,
            continues: self.continues.clone(),
        };
        let mut workspace = Workspace::open_or_create(context.clone())?;
        let outcome = agents::start(&mut workspace, &request)?;
        for warning in &outcome.warnings {
            ui.say(&format!("git proof: warning: {warning}"));
        }
        let named = workspace.context.variable("GIT_PROOF_SESSION");
        if named.is_some_and(|named| named != outcome.session.session_id.as_str()) {
            ui.say(
                "git proof: warning: GIT_PROOF_SESSION names another session, to which all that you record goes; \
                 to work in the new one: unset GIT_PROOF_SESSION",
            );
        }
        let (unseen, next) = if commits_are_seen(&workspace.context) {
            ("", Step::Decide)
        } else {
            ("Git hooks are not installed, so the session will not know of its commits.\n", Step::Init)
        };
        ui.show(&outcome, |session, paint| {
            format!(
                "Session {} is open and current here.\n  intent   {}\n  caller   {}\n  genesis  {} ({})\n\
                 {unseen}Next: {next}\n",
                paint.paint(Role::Strong, session.session_id.as_str()),
                inert(&session.intent),
                inert(&session.caller),
                session.genesis,
                session.scheme,
            )
        });
        Ok(())
    }
}

/// Add a record to a session
///
/// When the command returns, the record is on disk and chained to the one before. Without a text, your editor opens. A text
/// that holds a credential is refused, unless --private keeps it out of what is published. The reflection of a proof-grade
/// session is published and cannot be private.
#[derive(Debug, Args)]
#[command(after_help = "\
Types: plan (the intended way), analysis (what was learned), decision (what was chosen, what was rejected, why),
reflection (what happened, what remains uncertain; closes a task).

Examples:
  git proof record decision \"WAL, not a rollback journal: readers never wait\"
  git proof record analysis -m \"the importer reads each file twice\"
  git proof record --type analysis --content-file findings.md
  cargo test 2>&1 | tail -5 | git proof record --type analysis --content-file -
  git proof record --type decision --content \"second try\" --parent 8bfea854-fd8c-44dc-a9ce-c13027ce08d6
  git proof record decision \"a list will do\" --supersedes 8bfea854-fd8c-44dc-a9ce-c13027ce08d6 --until 2027-03-31")]
pub(super) struct Record {
    /// plan, analysis, decision or reflection
    #[arg(value_name = "TYPE", required_unless_present = "kind", conflicts_with = "kind")]
    short_kind: Option<String>,
    /// The text
    #[arg(value_name = "TEXT", conflicts_with_all = ["content", "content_file", "kind"])]
    text: Option<String>,
    /// The type, as an option
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// The text, as an option
    #[arg(short = 'm', long, value_name = "TEXT", conflicts_with = "content_file", allow_hyphen_values = true)]
    content: Option<String>,
    /// A file with the text, or - for standard input
    #[arg(long, value_name = "FILE")]
    content_file: Option<PathBuf>,
    /// The session [default: GIT_PROOF_SESSION, else the current one]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The record that this one follows [default: the last one]
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// A JSON object with more about the record
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    /// Keep the text out of published evidence; not for a reflection of a proof-grade session, nor in scheme ams-v0
    #[arg(long)]
    private: bool,
    #[command(flatten)]
    correction: Correction,
}

/// What a record corrects, and until when it holds.
#[derive(Debug, Args)]
pub(super) struct Correction {
    /// The record that this one corrects: its id, or its content hash if another clone recorded it
    #[arg(long, value_name = "ID")]
    pub(super) supersedes: Option<String>,
    /// The last day on which the record holds, such as 2027-03-31
    #[arg(long, value_name = "DATE")]
    pub(super) until: Option<String>,
}

impl Record {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let kind = self.kind.as_ref().or(self.short_kind.as_ref()).cloned().unwrap_or_default(); // clap asks for one
        let text = self.content.as_deref().or(self.text.as_deref());
        let request = RecordRequest {
            session: self.session.clone(),
            content: content(context, text, self.content_file.as_deref(), &kind, || with_file(&kind))?,
            kind,
            parent: self.parent.clone(),
            metadata: self.metadata.clone(),
            private: self.private,
            supersedes: self.correction.supersedes.clone(),
            until: self.correction.until.clone(),
            ..RecordRequest::default()
        };
        let (_, outcome) = record_own(context, request)?;
        show_recorded(&outcome, ui);
        Ok(())
    }
}

/// How a record gets its text.
fn with_file(kind: &str) -> Hint {
    let kind = RecordType::parse(kind).unwrap_or(RecordType::Plan).to_string();
    hint!("give the text as an argument, or ", Step::RecordFile(kind), ", or - for standard input")
}

/// Records in the session that is named, else in that of the agent that runs this command, else in the current one.
pub(super) fn record_own(context: &Context, mut request: RecordRequest) -> Result<(Workspace, EntryView)> {
    let mut workspace = Workspace::open(context.clone())?;
    if let Some(own) = agents::own_session(&mut workspace, request.session.as_deref(), &Caller::default())? {
        request.session = Some(own.to_string());
    }
    let outcome = publish::record(&mut workspace, &request)?;
    Ok((workspace, outcome))
}

/// Says that an entry is in the chain.
pub(super) fn show_recorded(outcome: &EntryView, ui: &mut Ui) {
    ui.show(outcome, |entry, paint| {
        format!(
            "Recorded {} {} as entry {} of session {}.\n  chain {}\n",
            entry.label(),
            paint.paint(Role::Strong, entry.id.as_str()),
            entry.index,
            entry.session_id,
            entry.chain_hash
        )
    });
}

/// Add operations that were done to a session, each as an entry
///
/// All of them are added, or none. Only git-proof itself attests which change a session explains: that cannot be done by hand.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof attest \"cargo test: 212 passed\"
  git proof attest \"sha256 of report.pdf: $(sha256sum < report.pdf)\" \"sent to review\"")]
pub(super) struct Attest {
    /// What was done
    #[arg(required = true, value_name = "OPERATION")]
    operations: Vec<String>,
    /// The session [default: GIT_PROOF_SESSION, else the current one]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Attest {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let mut workspace = Workspace::open(context.clone())?;
        let own = agents::own_session(&mut workspace, self.session.as_deref(), &Caller::default())?
            .map(|own| own.to_string());
        let session = own.as_deref().or(self.session.as_deref());
        let outcome = record::attest(&mut workspace, session, &self.operations)?;
        ui.show(&outcome, |entries, _| {
            let lines = entries.iter().map(|entry| {
                format!("Attested {} as entry {} of session {}.\n", entry.id, entry.index, entry.session_id)
            });
            lines.collect()
        });
        Ok(())
    }
}
