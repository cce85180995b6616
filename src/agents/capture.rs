//! From events to entries.

use std::path::Path;

use serde_json::Value;

use super::close;
use super::commits;
use super::event::{Call, Event, Seen};
use super::events::Told;
use super::files;
use super::session::{self, Item, append, open_session, publishes_prompts};
use super::shell;
use super::told;
use super::transcript;
use crate::error::{Code, Error, Result};
use crate::git::{self, reflog_place};
use crate::proof::digest::{ContentHash, sha256};
use crate::proof::observed::{Event as Said, Observed};
use crate::proof::record::{Id, RecordType};
use crate::proof::timestamp::Timestamp;
use crate::record::{self, Agent, Workspace};
use crate::store::{AgentFacts, AgentKey, AgentRow, NewCall, Observation};

/// Longest name of a session or of a tool. What is longer is no name.
const MAX_NAME: usize = 256;

/// Takes an event. The answer is what the agent is to be told, and whether commits were pushed that no hook of git saw.
pub(super) fn take(workspace: &mut Workspace, agent: Agent, seen: &Seen) -> Result<(Option<Told>, bool)> {
    must_be_name("the agent's session", &seen.session)?;
    let key = AgentKey { agent: agent.as_str(), session: &seen.session };
    let Some(row) = meet(workspace, agent, key, seen)? else { return Ok((None, false)) };
    if let Some(paths) = &row.patched
        && !matches!(&seen.event, Event::Before(_))
    {
        workspace.store.keep_patched(key, None)?;
        let paths: Vec<String> = paths.lines().map(str::to_owned).collect();
        wrote(workspace, key, seen, &paths)?;
    }
    match &seen.event {
        Event::Start => return start(workspace, &row).map(|told| (Some(told), false)),
        Event::Prompt(text) => prompt(workspace, key, &row, text)?,
        Event::Before(call) => before(workspace, key, call)?,
        Event::After(call) => return after(workspace, key, seen, call).map(|unshared| (None, unshared)),
        Event::TurnEnd { message, may_remind } => {
            let told = || transcript::last_message(agent, row.transcript.as_deref()?);
            let message = message.clone().or_else(|| if row.changed { told() } else { None });
            return turn_end(workspace, key, message.as_deref(), *may_remind).map(|told| (told, false));
        }
        Event::End { message } => end(workspace, agent, key, message.as_deref())?,
        Event::Other => {}
    }
    Ok((None, false))
}

/// Lets the store know of the event; `None` if it was here before.
fn meet(workspace: &mut Workspace, agent: Agent, key: AgentKey<'_>, seen: &Seen) -> Result<Option<AgentRow>> {
    let named = |variable: &str| workspace.context.variable(variable).and_then(|value| value.into_string().ok());
    let begins = matches!(seen.event, Event::Start | Event::Prompt(_));
    let facts = AgentFacts {
        worktree: workspace.repository.worktree(),
        // It does not change while the session runs, and is looked for only when it may have been resumed.
        process: if begins { git::starter() } else { None },
        model: seen.model.clone().or_else(|| match agent {
            Agent::Copilot => named("COPILOT_MODEL"),
            Agent::Qwen => named("QWEN_CODE_MODEL"),
            _ => None,
        }),
        version: match agent {
            Agent::Copilot => named("COPILOT_CLI_BINARY_VERSION"),
            Agent::Qwen => named("QWEN_CODE_STARTUP_VERSION"),
            Agent::Opencode => named("GIT_PROOF_OPENCODE_VERSION"),
            _ => None,
        },
        transcript: seen.transcript.clone(),
    };
    let (reserved, now) = (workspace.context.new_id(), workspace.context.now());
    let once = seen.once.unwrap_or_else(|| session::random(workspace));
    let Event::After(Call { tool, input, answer, failed, .. }) = &seen.event else {
        return workspace.store.meet_agent(key, &reserved, &facts, once, None, now);
    };
    must_be_name("the tool's name", tool)?;
    let answer = answer.as_ref().map(|answer| ContentHash::new(digest(answer)).to_string());
    let tool = Observation { tool, input: digest(input), answer: answer.as_deref(), failed: *failed };
    workspace.store.meet_agent(key, &reserved, &facts, once, Some(&tool), now)
}

/// Names are kept as they are, so they must be names.
fn must_be_name(what: &str, text: &str) -> Result<()> {
    if text.len() > MAX_NAME || text.chars().any(char::is_control) || record::find_secret(text).is_some() {
        return Err(Error::new(Code::InvalidParams, format!("{what} is no name")));
    }
    Ok(())
}

/// SHA-256 of the JSON with sorted keys. It is no canonical form, which takes four times as long to write: an agent waits, and
/// this is a note, not a proof.
fn digest(value: &Value) -> [u8; 32] {
    sha256(&serde_json::to_vec(value).unwrap_or_default())
}

fn start(workspace: &mut Workspace, row: &AgentRow) -> Result<Told> {
    // What other agents left behind is finished here; an error must not keep this one from beginning.
    let _ = close::close_abandoned(workspace);
    let open = open_session(workspace, row)?.map(|open| open.id().clone());
    Ok(Told::Context(told::context(open.as_ref().unwrap_or(&row.reserved))))
}

fn prompt(workspace: &mut Workspace, key: AgentKey<'_>, row: &AgentRow, text: &str) -> Result<()> {
    workspace.store.forget_calls(key)?;
    let Some(text) = spoken(text) else { return Ok(()) };
    if open_session(workspace, row)?.is_none() {
        let Some(text) = record::cut_to_body(text) else { return Ok(()) };
        return workspace.store.hold(key, &text, false, workspace.context.now());
    }
    let publish = publishes_prompts(&workspace.git()?);
    let item = Item::guarded(RecordType::Plan, text, Said::Prompt, !publish);
    append(workspace, key, item.as_slice(), false).map(|_| ())
}

/// What a person said in a prompt: without the context that our own answers put before it, and nothing where the agent
/// itself reports that something has happened.
fn spoken(prompt: &str) -> Option<&str> {
    let mut text = prompt.trim();
    while let Some(rest) = text.strip_prefix("<hook_context>") {
        text = rest.split_once("</hook_context>")?.1.trim_start();
    }
    let reports = ["<task-notification>", "<system_notification>", "<system-reminder>", "<local-command-"];
    (!text.is_empty() && !reports.iter().any(|report| text.starts_with(report))).then_some(text)
}

fn before(workspace: &mut Workspace, key: AgentKey<'_>, call: &Call) -> Result<()> {
    let Some(command) = call.command() else { return Ok(()) };
    let paths = files::paths_of_patch(command);
    if !paths.is_empty() {
        workspace.store.keep_patched(key, Some(&paths.join("\n")))?;
    }
    let worktree = workspace.repository.worktree();
    commits::forget_dead_callers(workspace, &worktree, key)?;
    let seconds = workspace.context.seconds();
    let mut reflog = reflog_place(&workspace.repository, seconds);
    if reflog.starts_with('t') {
        reflog = workspace.git()?.exact_place(reflog, seconds);
    }
    let name = call.name();
    let new = NewCall { name: &name, worktree: &worktree, command, reflog: &reflog };
    workspace.store.begin_call(key, &new, workspace.context.now())
}

fn after(workspace: &mut Workspace, key: AgentKey<'_>, seen: &Seen, call: &Call) -> Result<bool> {
    if let Some(tool) = call.own_tool() {
        if tool == "audit_session_start"
            && let Some(id) = call.answer.as_ref().and_then(session_in)
            && workspace.store.session(&id).is_ok_and(|session| session.is_open())
        {
            session::adopt_as(workspace, key, &id)?;
        }
        return Ok(false);
    }
    if let Some(command) = call.command() {
        // A command in the background goes on. Its call stays open until the turn ends, so that what happens meanwhile is not
        // taken for somebody else's.
        let begun = if call.is_background() { None } else { workspace.store.end_call(key, &call.name())? };
        // A check that ran while a file was written has not checked that file for sure: calls may run at the same time.
        let alone = match begun.as_ref().map(|begun| begun.at) {
            Some(at) => !wrote_since(workspace, key, at)?,
            None => true,
        };
        let items: Vec<Item> = shell::checks(command, call.exit.filter(|_| alone))
            .into_iter()
            .map(|check| Item::Seen(Observed::Check { command: check.name.to_owned(), exit: check.exit }))
            .collect();
        let is_open =
            workspace.store.agent(key)?.map(|row| open_session(workspace, &row)).transpose()?.flatten().is_some();
        // A check is no change: alone it opens no session, and is held for the one that an edit or a commit opens.
        if is_open && !items.is_empty() {
            append(workspace, key, &items, false)?;
        }
        for item in items.iter().filter(|_| !is_open) {
            if let Item::Seen(seen) = item {
                workspace.store.hold(key, &seen.to_text(), true, workspace.context.now())?;
            }
        }
        return begun.map_or(Ok(false), |begun| commits::after_call(workspace, key, &begun));
    }
    if call.failed {
        return Ok(false);
    }
    let paths = files::written(call);
    wrote(workspace, key, seen, &paths).map(|()| false)
}

/// Whether the agent's session recorded a write at this time or later.
fn wrote_since(workspace: &Workspace, key: AgentKey<'_>, at: Timestamp) -> Result<bool> {
    let Some(row) = workspace.store.agent(key)? else { return Ok(false) };
    match open_session(workspace, &row)? {
        Some(open) => workspace.store.has_written_since(open.id(), at),
        None => Ok(false),
    }
}

fn wrote(workspace: &mut Workspace, key: AgentKey<'_>, seen: &Seen, paths: &[String]) -> Result<()> {
    if paths.is_empty() {
        return Ok(());
    }
    let git = workspace.git()?;
    let directory = seen.directory.as_deref().unwrap_or(Path::new(&workspace.context.directory)).to_owned();
    let items: Vec<Item> = files::observe(&git, &directory, paths).into_iter().map(Item::Seen).collect();
    if items.is_empty() {
        return Ok(());
    }
    append(workspace, key, &items, true).map(|_| ())
}

/// What a subagent wrote and checked, and did not commit, is for the agent that started it to commit.
fn hand_over(workspace: &mut Workspace, key: AgentKey<'_>) -> Result<()> {
    let Some((parent, _)) = key.session.split_once('/') else { return Ok(()) };
    let Some(row) = workspace.store.agent(key)? else { return Ok(()) };
    let Some(open) = open_session(workspace, &row)? else { return Ok(()) };
    if workspace.store.attested(open.id())?.iter().any(|said| said.commit.is_some()) {
        return Ok(());
    }
    let mut items = Vec::new();
    for stored in &workspace.store.log(open.id(), None)?.entries {
        let Some(entry) = stored.entry()? else { continue };
        if let Ok(seen @ (Observed::Wrote(_) | Observed::Check { .. })) = Observed::parse(entry.body.text().as_bytes())
        {
            items.push(Item::Seen(seen));
        }
    }
    let key = AgentKey { agent: key.agent, session: parent };
    if !items.is_empty() && workspace.store.agent(key)?.is_some() {
        append(workspace, key, &items, true)?;
    }
    Ok(())
}

/// The session that our own tool says it opened, wherever in the answer that is.
fn session_in(answer: &Value) -> Option<Id> {
    match answer {
        Value::Object(members) if members.contains_key("genesis") => Id::parse(members.get("session_id")?.as_str()?),
        Value::Object(members) => members.values().find_map(session_in),
        Value::Array(items) => items.iter().find_map(session_in),
        Value::String(text) => {
            let (from, to) = (text.find('{')?, text.rfind('}')?);
            session_in(&serde_json::from_str(text.get(from..=to)?).ok()?)
        }
        _ => None,
    }
}

fn turn_end(
    workspace: &mut Workspace,
    key: AgentKey<'_>,
    message: Option<&str>,
    may_remind: bool,
) -> Result<Option<Told>> {
    workspace.store.forget_calls(key)?;
    let Some(row) = workspace.store.agent(key)? else { return Ok(None) };
    if !row.changed {
        return Ok(None);
    }
    let Some(open) = open_session(workspace, &row)? else { return Ok(None) };
    workspace.store.keep_message(key, message.and_then(record::cut_to_body).as_deref())?;
    if may_remind
        && reminds(&workspace.git()?)
        && !close::has_stated(workspace, open.id())?
        && workspace.store.remind(key)?
    {
        return Ok(Some(Told::Reminder(told::reminder(open.id()))));
    }
    Ok(None)
}

/// Whether agents are reminded, by the setting `proof.remind`. A reminder replaces the answer that somebody waits for.
fn reminds(git: &crate::git::Git) -> bool {
    git.setting("proof.remind")
        .is_some_and(|value| matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1"))
}

fn end(workspace: &mut Workspace, agent: Agent, key: AgentKey<'_>, message: Option<&str>) -> Result<()> {
    if message.is_some() {
        turn_end(workspace, key, message, false)?;
    }
    hand_over(workspace, key)?;
    let below = format!("{}/", key.session);
    let subagents = workspace.store.live_agents()?.into_iter();
    for row in subagents.filter(|row| row.agent == key.agent && row.agent_session.starts_with(&below)) {
        close::close(workspace, &row, true)?;
        workspace.store.agent_ended(row.key())?;
    }
    let Some(row) = workspace.store.agent(key)? else { return Ok(()) };
    let closed = close::close_unless_empty(workspace, &row, agent)?;
    // Copilot says that its session ends after every turn. What has no commit yet waits for the next turn, or for somebody
    // to find that the agent is gone.
    if closed || agent != Agent::Copilot {
        workspace.store.agent_ended(key)?;
    }
    Ok(())
}
