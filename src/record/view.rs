//! Sessions and entries as programs get them.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::error::Result;
use crate::proof::digest::{ChainHash, ContentHash};
use crate::proof::record::{Body, Id, RecordType};
use crate::proof::scheme::Scheme;
use crate::proof::timestamp::Timestamp;
use crate::store::{SessionRow, StoredEntry};

/// An entry. Apart from [`StoredEntry`], because its fields and their names are output: the line is taken apart, and what
/// the ledger needs is left out.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EntryView {
    pub id: Id,
    pub session_id: Id,
    /// Its position there.
    pub index: u64,
    /// The entry that it follows; null for the genesis.
    pub parent_id: Option<Id>,
    #[serde(flatten)]
    pub body: BodyView,
    /// Its metadata; null if there is none.
    pub metadata: Option<Value>,
    /// When it was recorded; null for an entry that is withheld.
    pub timestamp: Option<Timestamp>,
    pub prev_hash: ChainHash,
    /// SHA-256 of the entry's bytes.
    pub content_hash: ContentHash,
    /// Hash of `content_hash` and `prev_hash` together.
    pub chain_hash: ChainHash,
    /// Whether it stays out of published evidence.
    pub private: bool,
    /// Whether retention has blanked its text.
    pub blanked: bool,
    /// Whether the published evidence that it was imported from withholds it: only its hashes are known in this clone, and
    /// not even whether it is a thought. Not in the schema, which every agent pays for: what an agent records is never so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(skip)]
    pub withheld: bool,
    /// The records that supersede it. Not in the schema, for the same reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub superseded_by: Vec<Id>,
}

/// What an entry says.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum BodyView {
    Thought {
        #[serde(rename = "type")]
        kind: RecordType,
        /// The text; null once it is blanked.
        content: Option<String>,
        task_id: Option<String>,
    },
    /// An attested operation.
    Attest {
        /// The operation; null once it is blanked.
        attest: Option<String>,
    },
}

impl EntryView {
    pub(crate) fn of(stored: &StoredEntry) -> Result<Self> {
        let entry = stored.entry()?;
        let metadata = entry.as_ref().and_then(|entry| entry.metadata.as_deref()).map(|text| {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())) // strict parsing has been done
        });
        let withheld = stored.is_withheld();
        let body = match (stored.kind, entry.map(|entry| entry.body)) {
            _ if withheld => BodyView::Attest { attest: None },
            (Some(kind), Some(Body::Thought { content, task_id, .. })) => BodyView::Thought {
                kind,
                content: Some(content.into_owned()),
                task_id: task_id.map(std::borrow::Cow::into_owned),
            },
            (Some(kind), _) => BodyView::Thought { kind, content: None, task_id: None },
            (None, Some(Body::Attest { attest })) => BodyView::Attest { attest: Some(attest.into_owned()) },
            (None, _) => BodyView::Attest { attest: None },
        };
        Ok(Self {
            id: stored.id.clone(),
            session_id: stored.session_id.clone(),
            index: stored.index,
            parent_id: stored.parent_id.clone(),
            body,
            metadata,
            timestamp: (!withheld).then_some(stored.timestamp),
            prev_hash: stored.prev_hash,
            content_hash: stored.content_hash,
            chain_hash: stored.chain_hash,
            private: stored.private,
            blanked: stored.line.is_none() && !withheld,
            withheld,
            superseded_by: Vec::new(),
        })
    }

    /// The text, if there still is one.
    pub fn text(&self) -> Option<&str> {
        match &self.body {
            BodyView::Thought { content, .. } => content.as_deref(),
            BodyView::Attest { attest } => attest.as_deref(),
        }
    }

    /// `plan`, `analysis`, `decision`, `reflection`, `attest` or `withheld`.
    pub fn label(&self) -> &'static str {
        match &self.body {
            _ if self.withheld => "withheld",
            BodyView::Thought { kind, .. } => kind.as_str(),
            BodyView::Attest { .. } => "attest",
        }
    }
}

/// A session. Apart from [`SessionRow`], whose opening is the record that was hashed: here its fields stand in the order of the
/// output.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SessionView {
    pub session_id: Id,
    pub intent: String,
    pub task_id: Option<String>,
    pub started_at: Timestamp,
    pub genesis: ChainHash,
    pub scheme: Scheme,
    pub caller: String,
    /// Whether a reflection must close it.
    pub proof_grade: bool,
    pub count: u64,
    /// The same, under its old name (docs/json.md).
    #[schemars(skip)]
    pub records: u64,
    /// Whether it is finalized.
    pub finalized: bool,
    pub ended_at: Option<Timestamp>,
    /// Whether it came from the evidence of another clone.
    pub imported: bool,
}

impl From<&SessionRow> for SessionView {
    fn from(row: &SessionRow) -> Self {
        let opening = row.opening.clone();
        Self {
            session_id: opening.session_id,
            intent: opening.intent,
            task_id: opening.task_id,
            started_at: opening.started_at,
            genesis: row.genesis,
            scheme: opening.scheme,
            caller: opening.caller,
            proof_grade: opening.proof_grade,
            count: row.count,
            records: row.count,
            finalized: row.finalized,
            ended_at: row.ended_at,
            imported: false,
        }
    }
}
