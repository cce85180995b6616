//! The records that are hashed: a session's opening, and its entries (thoughts and attestations).

use std::borrow::Cow;
use std::fmt;

use super::canonical::{Malformed, Problem, Reader, Writer};
use super::digest::{ChainHash, ContentHash};
use super::schema::{name_schema, text_schema};
use super::scheme::Scheme;
use super::timestamp::Timestamp;

/// The id of a session or an entry: `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`. No character in it needs escaping anywhere.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(String);

impl Id {
    /// What a valid id looks like, for error messages.
    pub const RULE: &'static str = "an id: a letter or digit, then up to 127 letters, digits, '.', '_' or '-'";

    /// Checks an id.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let fits = bytes.len() <= 128
            && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
        fits.then(|| Self(text.to_owned()))
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({self})")
    }
}

impl serde::Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

text_schema!(Id: "Id", r"^[A-Za-z0-9][\w.-]{0,127}$");

/// What kind of thought a record holds. There are four; a fact worth recording is an analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordType {
    /// The intended way.
    Plan,
    /// What was learned.
    Analysis,
    /// A choice, the alternatives, the why.
    Decision,
    /// What happened and what remains uncertain; closes a task.
    Reflection,
}

name_schema!(RecordType);

impl RecordType {
    /// All of them, in the order in which a task uses them.
    pub const ALL: [Self; 4] = [Self::Plan, Self::Analysis, Self::Decision, Self::Reflection];

    /// The name as it is hashed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Analysis => "analysis",
            Self::Decision => "decision",
            Self::Reflection => "reflection",
        }
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

impl fmt::Display for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The record that opens a session. Its hash is the genesis of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// Who works: the agent's name and version, the git identity.
    pub caller: String,
    /// What the session is for.
    pub intent: String,
    /// Whether a reflection must close it and a gate asks for it.
    pub proof_grade: bool,
    /// How it is hashed.
    pub scheme: Scheme,
    /// Its id.
    pub session_id: Id,
    /// When it began.
    pub started_at: Timestamp,
    /// The task it belongs to.
    pub task_id: Option<String>,
}

impl Opening {
    /// The canonical line that is hashed.
    pub fn to_line(&self) -> String {
        Writer::new()
            .begin()
            .key("caller")
            .string(&self.caller)
            .key("intent")
            .string(&self.intent)
            .key("proof_grade")
            .raw(if self.proof_grade { "true" } else { "false" })
            .key("scheme")
            .plain(&self.scheme)
            .key("session_id")
            .plain(&self.session_id)
            .key("started_at")
            .plain(&self.started_at)
            .key("task_id")
            .string_or_null(self.task_id.as_deref())
            .end()
            .finish()
    }

    /// Reads a canonical line.
    pub fn parse(line: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(line)?;
        reader.begin()?;
        reader.key("caller")?;
        let caller = reader.text("caller")?.into_owned();
        reader.key("intent")?;
        let intent = reader.text("intent")?.into_owned();
        reader.key("proof_grade")?;
        let proof_grade = reader.boolean("proof_grade")?;
        reader.key("scheme")?;
        let scheme = reader.parsed("scheme", Scheme::RULE, Scheme::parse)?;
        reader.key("session_id")?;
        let session_id = reader.parsed("session_id", Id::RULE, Id::parse)?;
        reader.key("started_at")?;
        let started_at = read_time(&mut reader, "started_at")?;
        reader.key("task_id")?;
        let task_id = read_task(&mut reader)?.map(Cow::into_owned);
        reader.end()?;
        reader.finish()?;
        Ok(Self { caller, intent, proof_grade, scheme, session_id, started_at, task_id })
    }
}

/// One leaf: a thought that was recorded, or an operation that was attested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its id.
    pub id: Id,
    /// Chain hash of the parent, or the genesis.
    pub prev_hash: ChainHash,
    /// When it was recorded.
    pub timestamp: Timestamp,
    /// A canonical object that is not empty.
    pub metadata: Option<Cow<'a, str>>,
    /// What it says.
    pub body: Body<'a>,
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body<'a> {
    /// A thought: what the agent says.
    Thought {
        /// What kind.
        kind: RecordType,
        /// The text.
        content: Cow<'a, str>,
        /// The task it belongs to.
        task_id: Option<Cow<'a, str>>,
    },
    /// An attested operation.
    Attest {
        /// The operation.
        attest: Cow<'a, str>,
    },
}

impl Body<'_> {
    /// The content or the attested operation.
    pub fn text(&self) -> &str {
        match self {
            Self::Thought { content, .. } => content,
            Self::Attest { attest } => attest,
        }
    }
}

impl<'a> Entry<'a> {
    /// The canonical line that is hashed.
    pub fn to_line(&self) -> String {
        let mut line = Writer::new().begin();
        line = match &self.body {
            Body::Thought { content, .. } => line.key("content").string(content),
            Body::Attest { attest } => line.key("attest").string(attest),
        };
        line = line.key("id").plain(&self.id);
        if let Some(metadata) = &self.metadata {
            line = line.key("metadata").raw(metadata);
        }
        line = line.key("prev_hash").plain(&self.prev_hash);
        if let Body::Thought { task_id, .. } = &self.body {
            line = line.key("task_id").string_or_null(task_id.as_deref());
        }
        line = line.key("timestamp").plain(&self.timestamp);
        if let Body::Thought { kind, .. } = &self.body {
            line = line.key("type").plain(kind);
        }
        line.end().finish()
    }

    /// Reads a canonical line.
    pub fn parse(line: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(line)?;
        reader.begin()?;
        let entry = Self::read(&mut reader)?;
        reader.end()?;
        reader.finish()?;
        Ok(entry)
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let attest = reader.try_key("attest");
        if !attest {
            reader.key("content")?;
        }
        let text = reader.text(if attest { "attest" } else { "content" })?;
        reader.key("id")?;
        let id = reader.parsed("id", Id::RULE, Id::parse)?;
        let metadata = if reader.try_key("metadata") { Some(Cow::Borrowed(reader.object("metadata")?)) } else { None };
        let prev_hash = read_prev_hash(reader)?;
        let task_id = if attest {
            None
        } else {
            reader.key("task_id")?;
            read_task(reader)?
        };
        reader.key("timestamp")?;
        let timestamp = read_time(reader, "timestamp")?;
        let body = if attest {
            Body::Attest { attest: text }
        } else {
            reader.key("type")?;
            let kind = reader.parsed("type", "plan, analysis, decision or reflection", RecordType::parse)?;
            Body::Thought { kind, content: text, task_id }
        };
        Ok(Self { id, prev_hash, timestamp, metadata, body })
    }
}

/// One line of evidence after the first: an entry, or the trace of one that stays home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line<'a> {
    /// An entry, readable.
    Entry(Entry<'a>),
    /// An entry whose text is not published.
    Withheld(Withheld),
}

/// What is published of an entry whose text is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Withheld {
    /// Chain hash of its parent, or the genesis.
    pub prev_hash: ChainHash,
    /// Its content hash.
    pub content_hash: ContentHash,
}

impl Withheld {
    /// The canonical line.
    pub fn to_line(&self) -> String {
        Writer::new()
            .begin()
            .key("prev_hash")
            .plain(&self.prev_hash)
            .key("withheld")
            .plain(&self.content_hash)
            .end()
            .finish()
    }
}

impl<'a> Line<'a> {
    /// Reads a canonical line.
    pub fn parse(line: &'a [u8]) -> Result<Self, Malformed> {
        if !line.starts_with(b"{\"prev_hash\"") {
            return Entry::parse(line).map(Self::Entry);
        }
        let mut reader = Reader::new(line)?;
        reader.begin()?;
        let prev_hash = read_prev_hash(&mut reader)?;
        reader.key("withheld")?;
        let content_hash = reader.parsed("withheld", "64 lower-case hex digits", ContentHash::parse)?;
        reader.end()?;
        reader.finish()?;
        Ok(Self::Withheld(Withheld { prev_hash, content_hash }))
    }
}

fn read_prev_hash(reader: &mut Reader<'_>) -> Result<ChainHash, Malformed> {
    reader.key("prev_hash")?;
    reader.parsed("prev_hash", "64 lower-case hex digits", ChainHash::parse)
}

pub(super) fn read_time(reader: &mut Reader<'_>, field: &'static str) -> Result<Timestamp, Malformed> {
    reader.parsed(field, "a time such as 2026-03-01T00:00:40.196Z", Timestamp::parse)
}

pub(super) fn read_task<'a>(reader: &mut Reader<'a>) -> Result<Option<Cow<'a, str>>, Malformed> {
    if reader.null() { Ok(None) } else { reader.text("task_id").map(Some) }
}

/// The canonical form of the metadata that came with an entry; `None` where there is nothing in it.
pub fn metadata_text(metadata: &serde_json::Value) -> Result<Option<String>, Malformed> {
    match metadata {
        serde_json::Value::Null => Ok(None),
        serde_json::Value::Object(members) if members.is_empty() => Ok(None),
        serde_json::Value::Object(_) => {
            super::canonical::to_text(metadata).map(Some).map_err(|_| Malformed::new("metadata", Problem::Number))
        }
        _ => Err(Malformed::new("metadata", Problem::Expected("an object"))),
    }
}
