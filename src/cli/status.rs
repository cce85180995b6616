//! `status`, `disclose`, `check-transcript`.

use std::path::PathBuf;

use clap::Args;

use super::ui::{Role, Ui, inert};
use super::wrap::one_line;
use crate::context::Context;
use crate::error::Result;
use crate::flow::{self, CommittedTranscript, SessionStatus, ShortStatus, StatusOutcome};
use crate::git::Repository;
use crate::proof::text::counted;
use crate::publish::{self, Disclosed};
use crate::record::{Source, Workspace};

/// Show the session you are in, what is missing, and the next command
///
/// It also shows the open sessions of agents in this clone, the commits whose proofs no remote has yet, and whether git's
/// hooks call git-proof. Sessions of agents that no longer run are closed first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof status
  git proof status --short                # for a prompt or an editor
  git proof status --json | jq -r .next")]
pub(super) struct Status {
    /// Print one line for a prompt: the session you are in, and how many proofs no remote has yet; nothing if there is neither
    #[arg(short, long)]
    short: bool,
}

impl Status {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        if self.short { short(context, ui) } else { status(context, ui) }
    }
}

fn short(context: &Context, ui: &mut Ui) -> Result<()> {
    let place = Repository::discover(context)?;
    let outcome = if place.store_path().exists() {
        flow::short_status(&mut Workspace::at(place, context.clone())?)?
    } else {
        ShortStatus { session: None, unpublished: 0 }
    };
    ui.show(&outcome, |outcome, _| {
        let mut parts = Vec::new();
        if let Some(session) = &outcome.session {
            parts.push(format!("session: {}", one_line(&session.intent)));
            parts.push(counted(session.commits.len(), "commit", "commits"));
            parts.extend((!session.missing.is_empty()).then(|| format!("missing: {}", session.missing.join(", "))));
        }
        parts.extend((outcome.unpublished > 0).then(|| format!("unpublished: {}", outcome.unpublished)));
        if parts.is_empty() { String::new() } else { parts.join("; ") + "\n" }
    });
    Ok(())
}

fn status(context: &Context, ui: &mut Ui) -> Result<()> {
    let outcome = flow::status(&mut Workspace::open_or_create(context.clone())?)?;
    ui.show(&outcome, |outcome, paint| {
        let next = paint.paint(Role::Strong, &outcome.next.to_string());
        format!("{}Next: {next}\n", describe(outcome))
    });
    Ok(())
}

fn describe(outcome: &StatusOutcome) -> String {
    let mut text = match &outcome.session {
        Some(session) => format!("You are in session {}.\n{}", session.session_id, details(session, true)),
        None => "You are in no open session.\n".to_owned(),
    };
    let own = outcome.session.as_ref().map(|session| &session.session_id);
    for session in outcome.open_sessions.iter().filter(|session| Some(&session.session_id) != own) {
        text.push_str(&format!("Also open: session {}\n{}", session.session_id, details(session, false)));
    }
    if let Some(id) = &outcome.waiting {
        text.push_str(&format!("Session {id} is finalized and explains what is staged; commit exactly that.\n"));
    }
    match outcome.unpublished.len() {
        0 => {}
        1 => text.push_str("The proof of 1 commit is on no remote yet.\n"),
        count => text.push_str(&format!("The proofs of {count} commits are on no remote yet.\n")),
    }
    match outcome.uncovered.as_slice() {
        [] => {}
        [one] => text.push_str(&format!("No session explains commit {}.\n", &one.to_string()[..12])),
        [first, .., last] => text.push_str(&format!(
            "No session explains {} commits, from {} to {}.\n",
            outcome.uncovered.len(),
            &first.to_string()[..12],
            &last.to_string()[..12]
        )),
    }
    let unwired: Vec<&str> = outcome.hooks.iter().filter(|hook| !hook.wired).map(|hook| hook.hook.as_str()).collect();
    if unwired.is_empty() {
        text.push_str("Git hooks are installed.\n");
    } else {
        text.push_str(&format!("Git hooks are not installed: {}\n", unwired.join(", ")));
    }
    text
}

fn details(session: &SessionStatus, is_current: bool) -> String {
    let agent = match &session.agent {
        Some(agent) => format!("{agent}; it closes by itself"),
        None => "you, by hand".to_owned(),
    };
    let missing = if session.missing.is_empty() { "nothing".to_owned() } else { session.missing.join(", ") };
    let age = match session.days_open {
        0 => String::new(),
        1 => ", for more than a day".to_owned(),
        days => format!(", for {days} days"),
    };
    let elsewhere = if session.is_elsewhere {
        "  branch     its commits are not on this branch; did you switch branches?\n"
    } else {
        ""
    };
    // How to close the session you are in is what comes next, unless it was forgotten.
    let close = session.close.as_ref().filter(|_| !is_current || session.days_open > 0);
    let close = close.map(|close| format!("  to close   {close}\n")).unwrap_or_default();
    format!(
        "  intent     {}\n  caller     {}\n  opened by  {agent}\n  since      {}{age}\n  entries    {}, {}\n{elsewhere}  missing    {missing}\n{close}",
        inert(&session.intent),
        inert(&session.caller),
        session.started_at,
        session.count,
        counted(session.commits.len(), "commit", "commits"),
    )
}

/// Publish withheld records of a session
///
/// A record that was private, such as a prompt, becomes readable: its line replaces the withheld one, and the root and every
/// proof stay as they are. Share it with `git proof sync`. This cannot be undone.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git proof disclose 8bfea854-fd8c-44dc-a9ce-c13027ce08d6 && git proof sync")]
pub(super) struct Disclose {
    /// The records, by id; git proof log shows them
    #[arg(required = true, value_name = "RECORD")]
    records: Vec<String>,
}

impl Disclose {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let outcome = publish::disclose(&mut Workspace::open(context.clone())?, &self.records)?;
        ui.show(&outcome, |outcome, _| {
            let line = |disclosed: &Disclosed| {
                let when = if disclosed.published {
                    "is published; git proof sync shares it"
                } else {
                    "will be published with its session"
                };
                format!("Record {} of session {} {when}.\n", disclosed.record_id, disclosed.session_id)
            };
            outcome.records.iter().map(line).collect()
        });
        Ok(())
    }
}

/// Check that a transcript is the one that an agent's session recorded the hash of
///
/// The session of an agent records a hash of the beginning of the agent's transcript; the transcript itself stays on the
/// agent's disk. Ends with 1 if the file does not begin with the text that one of the commit's sessions recorded the hash of.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof check-transcript transcript.jsonl
  git proof check-transcript --commit HEAD transcript.jsonl --json")]
pub(super) struct CheckTranscript {
    /// The transcript, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The commit whose sessions are compared
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    commit: String,
}

impl CheckTranscript {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let source = Source::parse(context, &self.file);
        let outcome = flow::check_transcript(context, &source, &self.commit)?;
        ui.show(&outcome, |outcome, _| {
            if outcome.sessions.is_empty() {
                return "No session of this commit commits to a transcript.\n".to_owned();
            }
            let line = |session: &CommittedTranscript| {
                let word = if session.matches { "matches" } else { "does not match" };
                format!(
                    "Session {}: {word} ({} bytes, SHA-256 {})\n",
                    session.session_id, session.bytes, session.sha256
                )
            };
            outcome.sessions.iter().map(line).collect()
        });
        ui.answer(u8::from(!outcome.matches));
        Ok(())
    }
}
