//! `record`: adds a thought to a session.

use serde::Serialize;

use super::correct;
use super::start;
use super::text::{MAX_BODY, acceptable, json_without_secrets, metadata, with_marks, without_secrets};
use super::view::EntryView;
use super::workspace::{Workspace, parse_id};
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::record::{Id, Opening, RecordType};
use crate::proof::scheme::Scheme;
use crate::store::{NewAttestation, NewEntry, NewEvent, NewThought};

/// What is to be recorded.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecordRequest {
    /// The session; the current one if not given.
    pub session: Option<String>,
    /// The task. Without a session: the one of this task that is not proof-grade, opened if there is none.
    pub task: Option<String>,
    /// Who works, should a session have to be opened; the git identity if not given.
    pub caller: Option<String>,
    /// `plan`, `analysis`, `decision` or `reflection`.
    #[serde(rename = "type")]
    pub kind: String,
    pub content: String,
    /// The record that it follows; the last one if not given.
    pub parent: Option<String>,
    /// A JSON object.
    pub metadata: Option<String>,
    /// Whether it stays out of published evidence.
    pub private: bool,
    /// The record that it corrects, by its id or its content hash.
    pub supersedes: Option<String>,
    /// The day until which it holds.
    pub until: Option<String>,
}

/// Records a thought that says nothing of what happens to be staged.
pub(crate) fn record_unstaged(workspace: &mut Workspace, request: &RecordRequest) -> Result<EntryView> {
    record_with(workspace, request, |_, _| Ok(None))
}

/// Records a thought; before a reflection comes the attestation that `staged` gives for its session.
pub(crate) fn record_with(
    workspace: &mut Workspace,
    request: &RecordRequest,
    staged: impl FnOnce(&mut Workspace, &Id) -> Result<Option<Staged>>,
) -> Result<EntryView> {
    let kind = RecordType::parse(&request.kind).ok_or_else(|| {
        Error::new(Code::InvalidParams, format!("{:?} is not a type of record", request.kind))
            .hint("use plan, analysis, decision or reflection; a fact that was found is an analysis")
    })?;
    acceptable("the content", &request.content, MAX_BODY)?;
    let metadata = request.metadata.as_deref().map(metadata).transpose()?.flatten();
    if !request.private {
        let remedy = match kind {
            RecordType::Reflection => hint!(
                "say it without the credential: a reflection is published";
                "what must be kept can be a private analysis"
            ),
            _ => hint!("take it out, or record with ", Step::Private, ": the text then stays out of what is published"),
        };
        without_secrets("the content", &request.content, remedy.clone())?;
        if let Some(metadata) = &metadata {
            json_without_secrets("the metadata", metadata, remedy)?;
        }
    }
    let marks = correct::marks(workspace, request.supersedes.as_deref(), request.until.as_deref())?;
    let marked = !marks.is_empty();
    let metadata = with_marks(metadata, marks)?;
    let parent = request.parent.as_deref().map(|parent| parse_id("the parent", parent)).transpose()?;
    let session = match (&request.session, &request.task) {
        (None, Some(task)) => start::task_session(workspace, task, request.caller.as_deref())?,
        (named, task) => {
            let session = workspace.session(named.as_deref())?;
            if let Some(task) = task {
                of_task(workspace, &session, task)?;
            }
            session
        }
    };
    if request.private {
        may_be_private(&workspace.store.session(&session)?.opening, kind)?;
    }
    if marked && workspace.store.session(&session)?.opening.scheme == Scheme::AmsV0 {
        let message = "scheme ams-v0 does not cover what a record supersedes, or until when it holds";
        return Err(Error::new(Code::InvalidParams, message).hint("record it in a session of scheme v1"));
    }
    let thought = NewThought {
        id: workspace.context.new_id(), // random, also of a private record: it keeps its hash from being guessed
        kind,
        content: &request.content,
        metadata: metadata.as_deref(),
        parent: parent.as_ref(),
        private: request.private,
        timestamp: workspace.context.now(),
    };
    let staged = if kind == RecordType::Reflection { staged(workspace, &session)? } else { None };
    let arguments = workspace.given.as_ref().unwrap_or(&request.content).as_bytes();
    let event = NewEvent { tool: "thought_record", arguments, at: thought.timestamp };
    let entries = after_staged(workspace, staged.as_ref(), thought.clone());
    let appended = workspace.store.append(&session, &entries, &event)?;
    let Some(appended) = appended.into_iter().next_back() else { unreachable!("one entry in, one entry out") };
    EntryView::of(&appended)
}

/// Refuses to withhold what must be readable, and what could be guessed from its trace.
fn may_be_private(opening: &Opening, kind: RecordType) -> Result<()> {
    let refused = |message: &str| Error::new(Code::InvalidParams, message);
    if opening.proof_grade && kind == RecordType::Reflection {
        return Err(refused("a reflection of a proof-grade session is published, so it cannot be private")
            .hint("record the text as a private analysis, then a reflection that may be published"));
    }
    if opening.scheme == Scheme::AmsV0 {
        return Err(refused(
            "in scheme ams-v0 only the SHA-256 of a private text would be published, and it can be guessed",
        )
        .hint("say it without what must stay private, or record it in a session of scheme v1"));
    }
    Ok(())
}

/// A staged change, as the attestation that a reflection puts before itself.
pub(crate) struct Staged {
    /// The attestation.
    pub(crate) operation: String,
    /// Names the commit that the change was staged on. A verifier that looks for an earlier use of the change need not
    /// look behind that commit.
    pub(crate) metadata: Option<String>,
}

/// A thought, and before it the change that is staged, where a reflection closes the session.
fn after_staged<'a>(workspace: &Workspace, staged: Option<&'a Staged>, thought: NewThought<'a>) -> Vec<NewEntry<'a>> {
    let mut entries = Vec::new();
    if let Some(Staged { operation, metadata }) = staged {
        let (id, timestamp) = (workspace.context.new_id(), thought.timestamp);
        let metadata = metadata.as_deref();
        entries.push(NewEntry::Attestation(NewAttestation { id, operation, metadata, timestamp }));
    }
    entries.push(NewEntry::Thought(thought));
    entries
}

/// A record carries the task of its session. To be told another one is a mistake that would otherwise go unseen.
fn of_task(workspace: &Workspace, session: &Id, task: &str) -> Result<()> {
    let stored = workspace.store.session(session)?.opening.task_id;
    if stored.as_deref() == Some(task) {
        return Ok(());
    }
    let belongs = stored.map_or_else(|| "no task".to_owned(), |stored| format!("task {stored}"));
    Err(Error::new(Code::InvalidParams, format!("task_id is {task:?}, but session {session} belongs to {belongs}"))
        .hint("name the session or the task, not both"))
}
