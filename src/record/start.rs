//! `start`: opens a session.

use std::ops::Deref;

use schemars::JsonSchema;
use serde::Serialize;

use super::text::{MAX_INTENT, MAX_NAME, acceptable, opening_without_secrets};
use super::view::SessionView;
use super::workspace::{Workspace, parse_id};
use crate::error::{Code, Error, Result};
use crate::git;
use crate::hint::{Step, hint};
use crate::proof::digest::ChainHash;
use crate::proof::policy::Requirements;
use crate::proof::record::{Id, Opening, RecordType};
use crate::proof::scheme::Scheme;
use crate::store::{NewEntry, NewEvent, NewSession, NewThought};

/// What a session is opened with.
#[derive(Debug, Clone, Default, Serialize)]
pub struct StartRequest {
    pub intent: String,
    pub task_id: Option<String>,
    /// Its id; a random one if not given.
    pub session_id: Option<String>,
    /// How it is hashed; `v1` if not given.
    pub scheme: Option<String>,
    /// Who works; the git identity if not given.
    pub caller: Option<String>,
    /// Whether it can do without a reflection.
    pub not_proof_grade: bool,
    /// The session that it goes on from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
}

/// The session that was opened.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StartOutcome {
    #[serde(flatten)]
    pub session: SessionView,
    /// Warnings about problems that will come up later, such as a scheme that the default policy refuses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Deref for StartOutcome {
    type Target = SessionView;

    fn deref(&self) -> &SessionView {
        &self.session
    }
}

/// Opens a session and makes it the worktree's current one.
pub fn start(workspace: &mut Workspace, request: &StartRequest) -> Result<StartOutcome> {
    let before = still_open(workspace)?;
    let session = open_session(workspace, request, true)?;
    let warnings = before.into_iter().chain(refused_scheme(&session)).collect();
    Ok(StartOutcome { session, warnings })
}

/// Says that a person's session is open in this worktree already. An agent's closes by itself.
fn still_open(workspace: &Workspace) -> Result<Option<String>> {
    let Some(id) = workspace.store.current_session(&workspace.repository.worktree())? else { return Ok(None) };
    let is_open = workspace.store.session(&id)?.is_open() && workspace.store.agent_of(&id)?.is_none();
    Ok(is_open.then(|| {
        format!(
            "session {id} is still open, and what you record now goes to the new one; git proof done --session {id} \
             \"what was done, what is uncertain\" closes it"
        )
    }))
}

/// Says that the default policy will refuse what a proof-grade session proves, if so.
fn refused_scheme(session: &SessionView) -> Option<String> {
    let scheme = session.scheme;
    (session.proof_grade && !Requirements::default().schemes.contains(&scheme)).then(|| {
        format!(
            "the default policy refuses scheme {scheme}: a commit that needs a proof will fail with this session \
             (SCHEME_NOT_ALLOWED); the default scheme {} is accepted",
            Scheme::default()
        )
    })
}

/// Opens a session, which becomes the worktree's current one or not.
pub(crate) fn open_session(workspace: &mut Workspace, request: &StartRequest, current: bool) -> Result<SessionView> {
    let continued = request.continues.as_deref().map(|id| last_link(workspace, id)).transpose()?;
    let opening = opening(workspace, request)?;
    let line = opening.to_line();
    let arguments = workspace.given.as_ref().unwrap_or(&line).as_bytes();
    let event = NewEvent { tool: "audit_session_start", arguments, at: opening.started_at };
    let worktree = workspace.repository.worktree();
    let new = NewSession { opening: &opening, worktree: current.then_some(worktree.as_str()) };
    let row = workspace.store.start(&new, &event)?;
    if let Some(link) = continued {
        let metadata = format!("{{\"continues\":\"{link}\"}}");
        let thought = NewThought {
            id: workspace.context.new_id(),
            kind: RecordType::Plan,
            content: &opening.intent,
            metadata: Some(&metadata),
            parent: None,
            private: false,
            timestamp: opening.started_at,
        };
        workspace.store.append(row.id(), &[NewEntry::Thought(thought)], &event)?;
    }
    Ok(SessionView::from(&workspace.store.session(row.id())?))
}

/// The last chain hash of the session that a new one goes on from.
fn last_link(workspace: &Workspace, session: &str) -> Result<ChainHash> {
    let id = parse_id("the session to go on from", session)?;
    let log = workspace.store.log(&id, Some(1))?;
    log.entries.last().map(|entry| entry.chain_hash).ok_or_else(|| {
        Error::new(Code::NoRecords, format!("session {id} has no entry to go on from"))
            .hint("record in that one instead")
    })
}

/// The session of a task that nobody has to prove: the open one, or a new one. The worktree's current session stays.
pub(super) fn task_session(workspace: &mut Workspace, task: &str, caller: Option<&str>) -> Result<Id> {
    let request = StartRequest {
        intent: format!("task {task}"),
        task_id: Some(task.to_owned()),
        caller: caller.map(str::to_owned),
        not_proof_grade: true,
        ..StartRequest::default()
    };
    let opening = opening(workspace, &request)?;
    let line = opening.to_line();
    let event = NewEvent { tool: "audit_session_start", arguments: line.as_bytes(), at: opening.started_at };
    let new = NewSession { opening: &opening, worktree: None };
    workspace.store.task_session(task, &new, &event).map(|row| row.opening.session_id)
}

fn opening(workspace: &Workspace, request: &StartRequest) -> Result<Opening> {
    acceptable("the intent", &request.intent, MAX_INTENT)?;
    if let Some(task) = &request.task_id {
        acceptable("the task", task, MAX_NAME)?;
    }
    if let Some(caller) = &request.caller {
        acceptable("the caller", caller, MAX_NAME)?;
    }
    let scheme = match &request.scheme {
        None => Scheme::default(),
        Some(name) => Scheme::parse(name).ok_or_else(|| {
            Error::new(Code::InvalidParams, format!("{name:?} is not {}", Scheme::RULE)).hint(hint!(
                "leave out ",
                Step::Option("--scheme".into()),
                " to use v1"
            ))
        })?,
    };
    let session_id = match &request.session_id {
        None => workspace.context.new_id(),
        Some(id) => parse_id("the session id", id)?,
    };
    let identity = || git::identity(&workspace.context).unwrap_or_else(|| "unknown".to_owned());
    let opening = Opening {
        caller: request.caller.clone().unwrap_or_else(identity),
        intent: request.intent.clone(),
        proof_grade: !request.not_proof_grade,
        scheme,
        session_id,
        started_at: workspace.context.now(),
        task_id: request.task_id.clone(),
    };
    opening_without_secrets(&opening)?;
    Ok(opening)
}
