//! The sessions of an agent: reserved when it begins, opened when there is something to record, one after the other in a
//! chain.

use crate::error::{Code, Error, Result};
use crate::git::{self, Git};
use crate::proof::observed::{Event, Observed};
use crate::proof::record::{Id, Opening, RecordType};
use crate::proof::scheme::Scheme;
use crate::record::{self, Agent, StartOutcome, StartRequest, Whose, Workspace};
use crate::store::{
    AgentFacts, AgentKey, AgentRow, NewAttestation, NewEntry, NewEvent, NewSession, NewThought, SessionRow,
};

use super::close;

/// Largest intent that a prompt gives.
const MAX_INTENT: usize = 4 << 10;

/// Something to be appended, before it has an id.
#[derive(Debug, Clone)]
pub(super) enum Item {
    /// An observation.
    Seen(Observed),
    /// A text that the agent did not state.
    Text {
        /// What kind of record it becomes.
        kind: RecordType,
        /// The text.
        text: String,
        /// Where it comes from.
        event: Event,
        /// Whether it stays out of what is published.
        private: bool,
    },
}

impl Item {
    /// A text that is published unless the guard finds a credential in it. A reflection that must be kept back becomes a
    /// private analysis.
    pub(super) fn guarded(kind: RecordType, text: &str, event: Event, private: bool) -> Option<Self> {
        let text = record::cut_to_body(text)?;
        let secret = record::find_secret(&text).is_some();
        let kind = if secret && kind == RecordType::Reflection { RecordType::Analysis } else { kind };
        Some(Self::Text { kind, text, event, private: private || secret })
    }

    /// Whether it can close a session.
    pub(super) fn is_reflection(&self) -> bool {
        matches!(self, Self::Text { kind: RecordType::Reflection, .. })
    }
}

/// The texts of entries, which the entries borrow.
pub(super) struct Drafts(Vec<(Item, String, Option<String>)>);

impl Drafts {
    pub(super) fn new(items: Vec<Item>) -> Self {
        let draft = |item: Item| {
            let (text, metadata) = match &item {
                Item::Seen(seen) => (seen.to_text(), None),
                Item::Text { text, event, .. } => (text.clone(), Some(event.to_metadata())),
            };
            (item, text, metadata)
        };
        Self(items.into_iter().map(draft).collect())
    }

    /// Lets the first entry name the session that this one goes on from.
    fn continuing(mut self, link: Option<String>) -> Self {
        if let (Some(first), Some(link)) = (self.0.first_mut(), link) {
            first.2 = Some(format!("{{\"continues\":\"{link}\"}}"));
        }
        self
    }

    pub(super) fn entries(&self, workspace: &Workspace) -> Vec<NewEntry<'_>> {
        let timestamp = workspace.context.now();
        let mut entries = Vec::with_capacity(self.0.len());
        for (item, text, metadata) in &self.0 {
            let (id, metadata) = (workspace.context.new_id(), metadata.as_deref());
            entries.push(match item {
                Item::Seen(_) => NewEntry::Attestation(NewAttestation { id, operation: text, metadata, timestamp }),
                Item::Text { kind, private, .. } => NewEntry::Thought(NewThought {
                    id,
                    kind: *kind,
                    content: text,
                    metadata,
                    parent: None,
                    private: *private,
                    timestamp,
                }),
            });
        }
        entries
    }
}

/// The open session of an agent's chain.
pub(super) fn open_session(workspace: &Workspace, row: &AgentRow) -> Result<Option<SessionRow>> {
    let found = row.session.as_ref().map(|id| workspace.store.session(id)).transpose()?;
    Ok(found.filter(SessionRow::is_open))
}

/// The open session of an agent's chain; one is opened if there is none.
pub(super) fn ensure_open(workspace: &mut Workspace, key: AgentKey<'_>) -> Result<Id> {
    let Some(row) = workspace.store.agent(key)? else {
        return Err(Error::new(Code::SessionNotFound, "this agent is not known here"));
    };
    // A session that the environment names goes before all others while it is open.
    let named = workspace.context.variable("GIT_PROOF_SESSION").and_then(|named| Id::parse(named.to_str()?));
    if let Some(named) = named
        && workspace.store.session(&named).is_ok_and(|session| session.is_open())
    {
        return Ok(named);
    }
    match open_session(workspace, &row)? {
        Some(open) => Ok(open.id().clone()),
        None => open(workspace, &row),
    }
}

/// Opens the next session of a chain: who works, and the prompts that were held.
fn open(workspace: &mut Workspace, row: &AgentRow) -> Result<Id> {
    let git = workspace.git()?;
    let publish = publishes_prompts(&git);
    let held = workspace.store.held(row.key())?;
    let link = match &row.session {
        Some(before) => workspace.store.log(before, Some(1))?.entries.last().map(|entry| entry.chain_hash.to_string()),
        None => None,
    };
    let mut items = vec![Item::Seen(agent_of(row))];
    for held in &held {
        items.extend(match Observed::parse(held.text.as_bytes()) {
            Ok(seen) if held.attests => Some(Item::Seen(seen)),
            _ => Item::guarded(RecordType::Plan, &held.text, Event::Prompt, !publish),
        });
    }
    let identity = git::identity(&workspace.context).unwrap_or_else(|| "unknown".to_owned());
    let version = row.version.as_ref().map(|version| format!("/{version}")).unwrap_or_default();
    let branch = git.branch().map(|branch| format!(" on {branch}")).unwrap_or_default();
    let prompted = items.iter().find_map(|item| match item {
        Item::Text { text, private: false, .. } => Some(text.chars().take(MAX_INTENT).collect::<String>()),
        _ => None,
    });
    let mut opening = Opening {
        caller: format!("{}{version} ({identity})", row.agent),
        intent: prompted.unwrap_or_else(|| format!("{}{branch}", row.agent)),
        proof_grade: true,
        scheme: Scheme::default(),
        session_id: row.reserved.clone(),
        started_at: workspace.context.now(),
        task_id: None,
    };
    if record::opening_holds_secret(&opening) {
        (opening.caller, opening.intent) = (row.agent.clone(), format!("{} session", row.agent));
    }
    if workspace.store.session(&opening.session_id).is_ok() {
        opening.session_id = workspace.context.new_id();
    }
    let drafts = Drafts::new(items).continuing(link);
    let entries = drafts.entries(workspace);
    let held = held.last().map_or(0, |held| held.number);
    let new = NewSession { opening: &opening, worktree: None };
    let next = workspace.context.new_id();
    workspace.store.open_agent_session(row.key(), &new, &entries, held, &next)
}

/// What is known of an agent.
pub(super) fn agent_of(row: &AgentRow) -> Observed {
    Observed::Agent { name: row.agent.clone(), model: row.model.clone(), version: row.version.clone() }
}

/// Whether prompts are published, by the setting `proof.prompts`.
pub(super) fn publishes_prompts(git: &Git) -> bool {
    git.setting("proof.prompts").is_some_and(|value| value.eq_ignore_ascii_case("publish"))
}

/// Appends to the session of an agent, which is opened if it must be. A last message that was held comes first: it was said
/// before. Where the session was closed meanwhile, the next one of the chain takes the entries.
pub(super) fn append(workspace: &mut Workspace, key: AgentKey<'_>, items: &[Item], changed: bool) -> Result<Id> {
    let mut tries = 0;
    loop {
        let session = ensure_open(workspace, key)?;
        let row = workspace.store.agent(key)?;
        let mut all: Vec<Item> = row.as_ref().and_then(held_message).into_iter().collect();
        let flushes = !all.is_empty();
        all.extend(items.iter().cloned());
        let drafts = Drafts::new(all);
        let entries = drafts.entries(workspace);
        let event =
            NewEvent { tool: "hook_observed", arguments: session.as_str().as_bytes(), at: workspace.context.now() };
        match workspace.store.append_seen(key, &session, &entries, &event, changed) {
            Err(error) if tries < 2 && matches!(error.code, Code::AlreadyFinalized | Code::SessionEnded) => tries += 1,
            done => {
                done?;
                if flushes && !changed {
                    workspace.store.message_is_kept(key)?;
                }
                return Ok(session);
            }
        }
    }
}

/// The last message of a turn in which something changed, if it is not in the session yet.
pub(super) fn held_message(row: &AgentRow) -> Option<Item> {
    let message = row.message.as_deref().filter(|_| !row.message_kept)?;
    Item::guarded(RecordType::Reflection, message, Event::FinalMessage, false)
}

/// Opens a session by name, for an agent if one runs the command: then it is the next one of that agent's chain, and nobody
/// else's current session.
pub fn start(workspace: &mut Workspace, request: &StartRequest) -> Result<StartOutcome> {
    let named = record::agents_in_environment(workspace);
    let (agent, session) = match (record::whose(workspace)?, &named[..]) {
        (Whose::Agent(row), _) => (row.agent, row.agent_session),
        (Whose::Person, []) => return record::start(workspace, request),
        (Whose::Person, [(agent, session)]) => (agent.as_str().to_owned(), session.clone()),
        (Whose::Person | Whose::Unclear, _) => {
            let names: Vec<&str> = named.iter().map(|(agent, _)| agent.as_str()).collect();
            let what = format!("it cannot be told which agent opens the session: {}", names.join(" or "));
            return Err(Error::new(Code::InvalidParams, what).hint(match names[..] {
                [_] => "try it again when none of its other subagents runs a command",
                _ => "take the session id of the agent that does not out of the environment",
            }));
        }
    };
    let key = AgentKey { agent: &agent, session: &session };
    let mut request = request.clone();
    if let Some(row) = workspace.store.agent(key)?
        && let Some(open) = open_session(workspace, &row)?
    {
        close::close(workspace, &row, true)?;
        request.continues = request.continues.or_else(|| Some(open.id().to_string()));
    }
    let started = record::start(workspace, &request)?;
    adopt_as(workspace, key, &started.session_id)?;
    Ok(started)
}

/// Makes an agent known of which no event was heard.
pub(super) fn meet(workspace: &mut Workspace, key: AgentKey<'_>) -> Result<Option<AgentRow>> {
    let worktree = workspace.repository.worktree();
    let facts = AgentFacts { worktree, process: git::starter(), ..AgentFacts::default() };
    let (reserved, now, once) = (workspace.context.new_id(), workspace.context.now(), random(workspace));
    workspace.store.meet_agent(key, &reserved, &facts, once, None, now)
}

/// Makes a session that was opened by name the newest one of an agent's chain.
pub(super) fn adopt_as(workspace: &mut Workspace, key: AgentKey<'_>, session: &Id) -> Result<()> {
    let row = match workspace.store.agent(key)? {
        Some(row) => row,
        None => match meet(workspace, key)? {
            Some(row) => row,
            None => return Ok(()),
        },
    };
    if row.session.as_ref() == Some(session) || workspace.store.agent_of(session)?.is_some() {
        return Ok(());
    }
    if open_session(workspace, &row)?.is_some() {
        close::close(workspace, &row, true)?;
    }
    workspace.store.join_agent(key, session)?;
    let drafts = Drafts::new(vec![Item::Seen(agent_of(&row))]);
    let entries = drafts.entries(workspace);
    let event = NewEvent { tool: "hook_observed", arguments: session.as_str().as_bytes(), at: workspace.context.now() };
    workspace.store.append_seen(key, session, &entries, &event, false)
}

/// Eight random bytes: nothing else is known by them.
pub(super) fn random(workspace: &Workspace) -> [u8; 8] {
    workspace.context.new_salt().as_bytes().first_chunk().copied().unwrap_or_default()
}

/// The session in which an agent's own records go, opened if it must be: that of `named`, which may be reserved or closed by
/// itself; else that of the agent which runs the command, or the only one that is at work in this worktree and goes by the
/// name of the client. `None` where it is nobody's: then the usual rules say which session is meant.
pub fn own_session(workspace: &mut Workspace, named: Option<&str>, caller: &Caller) -> Result<Option<Id>> {
    let row = match named {
        Some(named) => {
            let Some(id) = Id::parse(named) else { return Ok(None) };
            let Some(row) = workspace.store.agent_of(&id)? else { return Ok(None) };
            let stays = match workspace.store.session(&id) {
                Ok(session) => session.is_open() || !workspace.store.was_closed_by_itself(&id)?,
                Err(_) => false,
            };
            if stays {
                return Ok(None);
            }
            row
        }
        None if workspace.context.variable("GIT_PROOF_SESSION").is_some() => return Ok(None),
        None => match record::whose(workspace)? {
            Whose::Agent(row) => *row,
            Whose::Unclear => return Ok(None),
            Whose::Person => match caller.agent(workspace)? {
                Some(row) => row,
                None => return Ok(None),
            },
        },
    };
    // A finalized session that the agent asked for stays its last word, until something new is to be said.
    ensure_open(workspace, row.key()).map(Some)
}

/// Who calls a tool of the server, as far as the protocol tells.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// The name of the client.
    pub client: Option<String>,
    /// The session of Codex that calls: it tells that with each call, and not in the environment of the server.
    pub thread: Option<String>,
}

impl Caller {
    /// The agent that calls: the one that it says it is, or the only one of its kind that is at work in this worktree.
    fn agent(&self, workspace: &Workspace) -> Result<Option<AgentRow>> {
        if let Some(thread) = &self.thread {
            return workspace.store.agent(AgentKey { agent: Agent::Codex.as_str(), session: thread });
        }
        let client = self.client.as_deref().unwrap_or_default().to_ascii_lowercase();
        let is_client = |agent: &Agent| client.starts_with(agent.as_str());
        let Some(agent) = Agent::ALL.into_iter().find(is_client) else { return Ok(None) };
        let worktree = workspace.repository.worktree();
        let is_one = |row: &AgentRow| {
            row.agent == agent.as_str() && row.worktree == worktree && !row.agent_session.contains('/')
        };
        let mut rows = workspace.store.live_agents()?.into_iter().filter(is_one);
        let first = rows.next();
        Ok(if rows.next().is_some() { None } else { first })
    }
}
