//! The records that are hashed: a session's opening, and its entries (thoughts and attestations).

use std::borrow::Cow;
use std::fmt;

use super::canonical::{Malformed, Object, Problem, Reader, member, object};
use super::digest::{ChainHash, ContentHash};
use super::schema::{name_schema, names, text_schema};
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

names! {
    /// What kind of thought a record holds. There are four; a fact worth recording is an analysis.
    pub enum RecordType {
        /// The intended way.
        Plan = "plan",
        /// What was learned.
        Analysis = "analysis",
        /// A choice, the alternatives, the why.
        Decision = "decision",
        /// What happened and what remains uncertain; closes a task.
        Reflection = "reflection",
    }
}

name_schema!(RecordType);

object! {
    /// The record that opens a session. Its hash is the genesis of the chain.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Opening, "opening", to_line {
        /// Who works: the agent's name and version, the git identity.
        caller: String,
        /// What the session is for.
        intent: String,
        /// Whether a reflection must close it and a gate asks for it.
        proof_grade: bool,
        /// How it is hashed.
        scheme: Scheme,
        /// Its id.
        session_id: Id,
        /// When it began.
        started_at: Timestamp,
        /// The task it belongs to.
        task_id: Option<String>,
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
        let mut line = "{".to_owned();
        match &self.body {
            Body::Thought { content, .. } => member(&mut line, "content", content),
            Body::Attest { attest } => member(&mut line, "attest", attest),
        }
        member(&mut line, "id", &self.id);
        if let Some(metadata) = &self.metadata {
            member(&mut line, "metadata", &Object(Cow::Borrowed(metadata)));
        }
        member(&mut line, "prev_hash", &self.prev_hash);
        if let Body::Thought { task_id, .. } = &self.body {
            member(&mut line, "task_id", task_id);
        }
        member(&mut line, "timestamp", &self.timestamp);
        if let Body::Thought { kind, .. } = &self.body {
            member(&mut line, "type", kind);
        }
        line + "}"
    }

    /// Reads a canonical line.
    pub fn parse(line: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(line)?;
        reader.begin()?;
        let attest = if reader.try_key("attest") { Some(reader.text("attest")?) } else { None };
        let content = if attest.is_none() { Some(reader.member("content")?) } else { None };
        let id = reader.member("id")?;
        let metadata = if reader.try_key("metadata") { Some(Cow::Borrowed(reader.object("metadata")?)) } else { None };
        let prev_hash = reader.member("prev_hash")?;
        let task_id = if content.is_some() { reader.member("task_id")? } else { None };
        let timestamp = reader.member("timestamp")?;
        let body = match content {
            Some(content) => Body::Thought { kind: reader.member("type")?, content, task_id },
            None => Body::Attest { attest: attest.unwrap_or_default() },
        };
        reader.end()?;
        reader.finish()?;
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

object! {
    /// What is published of an entry whose text is not.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Withheld, "withheld line", to_line {
        /// Chain hash of its parent, or the genesis.
        prev_hash: ChainHash,
        /// Its content hash.
        content_hash["withheld"]: ContentHash,
    }
}

impl<'a> Line<'a> {
    /// Reads a canonical line.
    pub fn parse(line: &'a [u8]) -> Result<Self, Malformed> {
        if line.starts_with(b"{\"prev_hash\"") {
            Withheld::parse(line).map(Self::Withheld)
        } else {
            Entry::parse(line).map(Self::Entry)
        }
    }
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
