//! `memory`: notes that a session keeps while it works. Packing makes a leaf of each note, which commits to its text, removes
//! the texts and records an analysis that says so. Anyone who still has a text can then prove that it was there.

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::digest::{Commitment, ContentHash, Salt, TextHash};
use crate::proof::inclusion::InclusionProof;
use crate::proof::memory::{MemoryAttestation, commitment, text_hash};
use crate::proof::record::{Body, Id, RecordType};
use crate::proof::timestamp::Timestamp;
use crate::record::{EntryView, MAX_BODY, MAX_NAME, Workspace, acceptable, parse_id, without_secrets};
use crate::store::{NewEntry, NewEvent, NewThought, Note, Packed, PackedNote, StoredEntry};

/// Packed notes that are named in an answer.
const NAMED: usize = 1000;

/// The hint for a text that is refused because of a credential.
const REMEDY: &str = "say it without the credential: working memory is no place for one";

/// A note to be put into working memory.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PutRequest {
    /// The session; the current one if not given.
    pub session: Option<String>,
    /// A name for it.
    pub key: Option<String>,
    pub text: String,
}

/// A note that is in working memory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PutOutcome {
    pub session_id: Id,
    /// Its number.
    pub note_id: u64,
    /// Its name.
    pub key: Option<String>,
    pub text_hash: TextHash,
    /// When.
    pub put_at: Timestamp,
}

/// What is to be packed.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PackRequest {
    /// The session; the current one if not given.
    pub session: Option<String>,
    /// The text of the analysis to be recorded; how many notes were packed if not given.
    pub content: Option<String>,
}

/// What was packed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PackOutcome {
    pub session_id: Id,
    /// How many notes.
    pub count: u64,
    /// Hashes and salt of each packed note, at most a thousand notes.
    pub packed: Vec<PackedNote>,
    /// The analysis that says what was packed. It does not close the session: a reflection does.
    pub analysis: EntryView,
}

/// The working memory of a session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MemoryOutcome {
    pub session_id: Id,
    /// The notes that wait to be packed.
    pub notes: Vec<Note>,
    /// Hashes and salt of the notes that were packed.
    pub packed: Vec<PackedNote>,
}

/// Notes that were taken away unpacked.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DropOutcome {
    pub session_id: Id,
    /// How many.
    pub dropped: u64,
}

/// The way from a text to a root: a line commits to it, the line's hash is a leaf, and the leaf is below the root.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MemoryProof {
    pub session_id: Id,
    /// The attestation.
    pub record_id: Id,
    pub text_hash: TextHash,
    /// What the line says of it: SHA-256 of the salt and the text. Null for a note that the first version packed, whose
    /// line has the hash of the text.
    pub commitment: Option<Commitment>,
    /// The random bytes that whoever checks it needs.
    pub salt: Option<Salt>,
    /// When it was put into working memory, by the attestation.
    pub put_at: Timestamp,
    /// The attestation's line, as in evidence: its hash is the leaf. Null once retention has blanked it.
    pub line: Option<String>,
    pub leaf_hash: ContentHash,
    /// That it is below the root.
    pub proof: InclusionProof,
}

/// Puts a note into the working memory of a session.
pub fn memory_put(workspace: &mut Workspace, request: &PutRequest) -> Result<PutOutcome> {
    acceptable("the text", &request.text, MAX_BODY)?;
    without_secrets("the text", &request.text, REMEDY)?;
    if let Some(key) = &request.key {
        acceptable("the key", key, MAX_NAME)?;
        without_secrets("the key", key, REMEDY)?;
    }
    let session = workspace.session(request.session.as_deref())?;
    let put_at = workspace.context.now();
    let arguments = workspace.given.as_ref().unwrap_or(&request.text).as_bytes();
    let event = NewEvent { tool: "memory_put", arguments, at: put_at };
    let note_id = workspace.store.put_note(&session, request.key.as_deref(), &request.text, &event)?;
    let (key, text_hash) = (request.key.clone(), text_hash(&request.text));
    Ok(PutOutcome { session_id: session, note_id, key, text_hash, put_at })
}

/// Packs the working memory of a session: appends a leaf for each note and an analysis, and removes the texts; all or nothing.
pub fn memory_pack(workspace: &mut Workspace, request: &PackRequest) -> Result<PackOutcome> {
    if let Some(content) = &request.content {
        acceptable("the content", content, MAX_BODY)?;
        without_secrets("the content", content, "an analysis is published: say it without the credential")?;
    }
    let session = workspace.session(request.session.as_deref())?;
    loop {
        let waiting = workspace.store.waiting_notes(&session)?;
        if waiting.count == 0 {
            return Err(Error::new(
                Code::NothingToPack,
                format!("session {session} has nothing in its working memory"),
            )
            .hint(hint!(Step::MemoryPut, " puts a note there"))
            .details(serde_json::json!({ "session_id": session })));
        }
        let (notes, metadata) = (plural(waiting.count), format!("{{\"packed\":{}}}", waiting.count));
        let content = request.content.clone().unwrap_or_else(|| format!("Packed {notes} of working memory."));
        let thought = NewThought {
            id: workspace.context.new_id(),
            kind: RecordType::Analysis,
            content: &content,
            metadata: Some(&metadata),
            parent: None,
            private: false,
            timestamp: workspace.context.now(),
        };
        let analysis = NewEntry::Thought(thought.clone());
        let context = &workspace.context;
        let fresh: Vec<(Id, Salt)> = (0..waiting.count).map(|_| (context.new_id(), context.new_salt())).collect();
        let arguments = workspace.given.as_deref().unwrap_or(session.as_str()).as_bytes();
        let event = NewEvent { tool: "memory_pack", arguments, at: thought.timestamp };
        let Some(Packed { notes, entries }) = workspace.store.pack(&session, waiting, &fresh, &analysis, &event)?
        else {
            continue; // another process packed meanwhile
        };
        let Some(last) = entries.into_iter().next_back() else { unreachable!("an analysis in, an analysis out") };
        return Ok(PackOutcome {
            session_id: session.clone(),
            count: waiting.count,
            packed: notes.into_iter().take(NAMED).collect(),
            analysis: EntryView::of(&last)?,
        });
    }
}

/// The working memory of a session, and what is left of what was packed.
pub fn memory(workspace: &Workspace, session: Option<&str>) -> Result<MemoryOutcome> {
    let session = workspace.session(session)?;
    let (notes, packed) = workspace.store.memory(&session)?;
    Ok(MemoryOutcome { session_id: session, notes, packed })
}

/// Takes notes away that nobody wants to pack.
pub fn memory_drop(workspace: &mut Workspace, session: Option<&str>, notes: &[u64]) -> Result<DropOutcome> {
    let session = workspace.session(session)?;
    let named: Vec<String> = notes.iter().map(u64::to_string).collect();
    let given = format!("{session} {}", named.join(" "));
    let event = NewEvent { tool: "memory_drop", arguments: given.as_bytes(), at: workspace.context.now() };
    let dropped = workspace.store.drop_notes(&session, notes, &event)?;
    Ok(DropOutcome { session_id: session, dropped })
}

/// Proves from its text alone that a note was packed. Where several had that text: in a finalized session if there is one,
/// and the oldest.
pub fn memory_prove(workspace: &Workspace, text: &str, session: Option<&str>) -> Result<MemoryProof> {
    let hash = text_hash(text);
    let session = session.map(|session| parse_id("session", session)).transpose()?;
    if let Some(session) = &session {
        workspace.store.session(session)?;
    }
    let Some(note) = workspace.store.packed_as(&hash, session.as_ref())?.into_iter().next() else {
        return Err(not_packed(workspace, text, &hash)?);
    };
    let entry = workspace.store.entry(&note.record_id)?;
    let said = attested(&entry)?;
    // The row is only an index: what counts is the line that was hashed.
    let is_other = said.is_some_and(|said| !said.names(note.salt.as_ref(), text));
    if is_other || entry.kind.is_some() || entry.session_id != note.session_id {
        return Err(Error::new(Code::ChainBroken, format!("record {} is not that of this text", note.record_id))
            .hint(hint!(Step::Check(note.session_id.to_string()), " tells whether the chain holds"))
            .details(serde_json::json!({ "session_id": note.session_id, "record_id": note.record_id })));
    }
    Ok(MemoryProof {
        proof: workspace.store.prove(&note.record_id)?,
        session_id: note.session_id,
        record_id: note.record_id,
        text_hash: hash,
        commitment: note.salt.map(|salt| commitment(&salt, text)),
        salt: note.salt,
        put_at: said.map_or(note.put_at, |said| said.put_at()),
        leaf_hash: entry.content_hash,
        line: entry.line,
    })
}

/// What an entry says of a note; `None` once it is blanked.
fn attested(entry: &StoredEntry) -> Result<Option<MemoryAttestation>> {
    let Some(stored) = entry.entry()? else { return Ok(None) };
    let Body::Attest { attest } = &stored.body else { return Ok(None) };
    MemoryAttestation::parse(attest.as_bytes()).map(Some).map_err(|error| {
        Error::new(Code::ChainBroken, format!("record {} is no attestation of a note", entry.id))
            .because(error)
            .hint(hint!(Step::Check(entry.session_id.to_string()), " tells whether the chain holds"))
    })
}

fn not_packed(workspace: &Workspace, text: &str, hash: &TextHash) -> Result<Error> {
    let error = Error::new(Code::RecordNotFound, format!("no packed note has this text: its SHA-256 is {hash}"));
    Ok(match workspace.store.waits_in(text)? {
        Some(session) => error.hint(hint!("it waits in working memory: ", Step::MemoryPack(session.clone()))),
        None => error.hint("every byte counts, a last newline too"),
    }
    .details(serde_json::json!({ "text_hash": hash })))
}

fn plural(notes: u64) -> String {
    if notes == 1 { "1 note".to_owned() } else { format!("{notes} notes") }
}
