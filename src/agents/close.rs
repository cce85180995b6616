//! Closing by itself: what was counted, a commitment to the transcript, and a reflection as the last line, in one
//! transaction; then the root, and anchors on the commits. Nothing here uses the network.

use super::session::{Drafts, Item, agent_of, open_session};
use super::transcript;
use crate::error::Result;
use crate::git::{self, Git};
use crate::proof::digest::CommitId;
use crate::proof::observed::{Event, Marks, Observed};
use crate::proof::record::{Body, Id, RecordType};
use crate::publish::{self, Moment};
use crate::record::{Agent, Workspace};
use crate::store::{AgentRow, Log, NewEvent};

/// Longest text that commit messages give.
const MAX_MESSAGES: usize = 64 << 10;

/// A day. An agent of which nothing was heard for so long, and whose process cannot be looked at, is gone.
const DAY: i64 = 86_400;

/// A session that was closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// The session.
    pub session: Id,
    /// Whether it has a root, and is published; one without a commit was only ended.
    pub finalized: bool,
}

/// Closes the open session of an agent's chain. `None` if there is none.
pub(super) fn close(workspace: &mut Workspace, row: &AgentRow, by_itself: bool) -> Result<Option<Closed>> {
    let Some(open) = open_session(workspace, row)? else { return Ok(None) };
    let session = open.id().clone();
    let git = workspace.git()?;
    // Commits whose hook was killed are heard of before it is too late.
    let _ = publish::mend(workspace, &git, Moment::Between);
    let commits: Vec<CommitId> = workspace.store.attested(&session)?.iter().filter_map(|said| said.commit).collect();
    if commits.is_empty() && by_itself {
        let event =
            NewEvent { tool: "hook_session_end", arguments: session.as_str().as_bytes(), at: workspace.context.now() };
        workspace.store.end(&session, &event)?;
        workspace.store.agent_closed(row.key(), &session, by_itself)?;
        return Ok(Some(Closed { session, finalized: false }));
    }
    let log = workspace.store.log(&session, None)?;
    let drafts = Drafts::new(closing(row, &git, &log, &commits));
    let entries = drafts.entries(workspace);
    let event =
        NewEvent { tool: "merkle_finalize", arguments: session.as_str().as_bytes(), at: workspace.context.now() };
    workspace.store.close(&session, &entries, &event)?;
    workspace.store.agent_closed(row.key(), &session, by_itself)?;
    publish::anchor_unanchored(workspace, &git, &session)?;
    workspace.store.settle()?;
    Ok(Some(Closed { session, finalized: true }))
}

/// Closes the session of an agent at the end of the agent's own. `false` if it is open still, because nothing is in it that
/// could be published yet.
pub(super) fn close_unless_empty(workspace: &mut Workspace, row: &AgentRow, agent: Agent) -> Result<bool> {
    let Some(open) = open_session(workspace, row)? else { return Ok(true) };
    let has_commit = workspace.store.attested(open.id())?.iter().any(|said| said.commit.is_some());
    if agent == Agent::Copilot && !has_commit {
        return Ok(false);
    }
    close(workspace, row, true).map(|_| true)
}

/// What is appended at the close: who worked, if that is better known now, what was counted, and the reflection.
fn closing(row: &AgentRow, git: &Git, log: &Log, commits: &[CommitId]) -> Vec<Item> {
    let agent = Agent::parse(&row.agent);
    let mut row = row.clone();
    let path = row.transcript.clone();
    if let (Some(agent), Some(path)) = (agent, &path)
        && (row.model.is_none() || row.version.is_none())
    {
        let (model, version) = transcript::model_and_version(agent, path);
        (row.model, row.version) = (row.model.or(model), row.version.or(version));
    }
    let mut items = Vec::new();
    let known = agent_of(&row);
    if last_agent(log).as_ref() != Some(&known) {
        items.push(Item::Seen(known));
    }
    if row.calls > 0 {
        items.push(Item::Seen(Observed::Tools { calls: row.calls, failed: row.failed.min(row.calls) }));
    }
    items.extend(path.as_deref().and_then(transcript::commitment).map(Item::Seen));
    let text = |text: &str, event| Item::guarded(RecordType::Reflection, text, event, false);
    if let Some(stated) = stated(log) {
        items.extend(text(&stated, Event::Restated).filter(Item::is_reflection));
    }
    if !items.last().is_some_and(Item::is_reflection) {
        let told = || transcript::last_message(agent?, path.as_deref()?);
        let message = row.message.clone().or_else(told);
        let message = message.and_then(|message| text(&message, Event::FinalMessage));
        // One that holds a credential is kept as a private analysis, unless it is in the session already.
        items.extend(message.filter(|item| item.is_reflection() || !row.message_kept));
    }
    if !items.last().is_some_and(Item::is_reflection) {
        let messages = text(&messages(git, commits), Event::CommitMessage).filter(Item::is_reflection);
        items.push(messages.unwrap_or_else(|| Item::Text {
            kind: RecordType::Reflection,
            text: format!(
                "{} commits; their messages are not repeated, because a credential seems to be in them.",
                commits.len()
            ),
            event: Event::CommitMessage,
            private: false,
        }));
    }
    items
}

fn last_agent(log: &Log) -> Option<Observed> {
    log.entries.iter().rev().find_map(|stored| {
        let entry = stored.entry().ok()??;
        let Body::Attest { attest } = &entry.body else { return None };
        Observed::parse(attest.as_bytes()).ok().filter(|seen| matches!(seen, Observed::Agent { .. }))
    })
}

/// The last reflection that was stated in a session.
fn stated(log: &Log) -> Option<String> {
    log.entries.iter().rev().find_map(|stored| {
        let entry = stored.entry().ok()?.filter(|_| !stored.private)?;
        match &entry.body {
            Body::Thought { kind: RecordType::Reflection, content, .. } => {
                Marks::of(entry.metadata.as_deref()).event.is_none().then(|| content.to_string())
            }
            _ => None,
        }
    })
}

/// Closes a session of an agent because somebody asks for it, if a reflection was stated in it: it gets the same closing entries
/// as one that closes by itself. `false` if it is no such session.
pub fn close_stated(workspace: &mut Workspace, session: &Id) -> Result<bool> {
    let Some(row) = workspace.store.agent_of(session)? else { return Ok(false) };
    let is_newest = row.session.as_ref() == Some(session) && workspace.store.session(session)?.is_open();
    if !is_newest || !has_stated(workspace, session)? {
        return Ok(false);
    }
    Ok(close(workspace, &row, false)?.is_some())
}

/// Whether a reflection was stated in a session.
pub(super) fn has_stated(workspace: &Workspace, session: &Id) -> Result<bool> {
    Ok(stated(&workspace.store.log(session, None)?).is_some())
}

/// The messages of commits, without our trailers. One that was replaced by another of the same message is told once.
fn messages(git: &Git, commits: &[CommitId]) -> String {
    let mut told: Vec<String> = Vec::new();
    for commit in commits {
        let Ok(commit) = git.commit(commit) else { continue };
        let message = String::from_utf8_lossy(&commit.message).into_owned();
        let message: Vec<&str> = message.lines().filter(|line| !line.starts_with("Proof-")).collect();
        let message = message.join("\n").trim().to_owned();
        if !message.is_empty() && !told.contains(&message) {
            told.push(message);
        }
    }
    let text = told.join("\n\n");
    let text: String =
        text.char_indices().take_while(|(at, _)| *at < MAX_MESSAGES).map(|(_, character)| character).collect();
    if text.is_empty() { "The commits have no messages.".to_owned() } else { text }
}

/// Closes the sessions of agents of which nothing more will be heard.
pub fn close_abandoned(workspace: &mut Workspace) -> Result<Vec<Closed>> {
    let mut closed = Vec::new();
    for row in workspace.store.live_agents()? {
        let running = row.process.as_deref().and_then(git::is_running);
        let silent = || workspace.context.seconds() - row.seen_at.seconds() > DAY;
        if running.unwrap_or_else(|| !silent()) {
            continue;
        }
        closed.extend(close(workspace, &row, true)?);
        workspace.store.agent_ended(row.key())?;
    }
    Ok(closed)
}

/// Closes the sessions of agents that attest a commit which is about to be pushed.
pub fn close_pushed(workspace: &mut Workspace, git: &Git, heads: &[CommitId]) -> Result<Vec<Closed>> {
    let mut closed = Vec::new();
    for row in workspace.store.live_agents()? {
        let Some(open) = open_session(workspace, &row)? else { continue };
        let attested = workspace.store.attested(open.id())?;
        let is_pushed = |commit: &CommitId| heads.iter().any(|head| git.is_ancestor(commit, head).unwrap_or(false));
        if attested.iter().filter_map(|said| said.commit).any(|commit| is_pushed(&commit)) {
            closed.extend(close(workspace, &row, true)?);
        }
    }
    Ok(closed)
}
