//! What `retain` is asked for and what it answers.

use schemars::JsonSchema;
use serde::Serialize;

use super::plan::{Because, Zone};
use super::settings::Limits;
use crate::error::Error;
use crate::hint::Hint;
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;

/// What `retain` is asked for.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RetainRequest {
    /// Only say what would move.
    pub dry_run: bool,
    /// Drop the texts of these sessions for good; if none is named, of all about which a person should have decided.
    pub freeze: Option<Vec<String>>,
}

/// What `retain` did, and what is where now.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct RetainOutcome {
    /// Whether nothing was moved because only a list was asked for.
    pub dry_run: bool,
    /// How many rounds are sealed.
    pub rounds: u64,
    /// How long texts stay where they are.
    pub limits: Limits,
    /// Where the archives are.
    pub archive: String,
    /// How many sessions moved, or would.
    pub moved: u64,
    /// Which; the first thousand of them.
    pub moves: Vec<Move>,
    /// How many sessions an earlier run had begun to move; they are done now.
    pub resumed: u64,
    /// How many sessions each zone holds.
    pub zones: Vec<ZoneSummary>,
    /// How many cold sessions are so old that a person should decide about their texts.
    pub undecided: u64,
    /// Which; the first thousand of them.
    pub to_decide: Vec<Undecided>,
    /// What is wrong with sessions that were left as they are.
    pub problems: Vec<Problem>,
}

/// A session that moves from one zone to another.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Move {
    pub session_id: Id,
    /// Where its texts were.
    pub from: Zone,
    /// Where they are now, or would be.
    pub to: Zone,
    /// Why.
    pub because: Because,
    /// Number of its entries.
    pub count: u64,
    /// The same, under its old name (docs/json.md).
    #[schemars(skip)]
    pub records: u64,
    /// The round that sealed it.
    pub round: u64,
    /// When that was.
    pub sealed_at: Timestamp,
}

/// What a zone holds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ZoneSummary {
    pub zone: Zone,
    /// Number of sessions.
    pub sessions: u64,
    /// Number of their entries.
    pub count: u64,
    /// The same, under its old name (docs/json.md).
    #[schemars(skip)]
    pub records: u64,
    /// Bytes of their texts in the store.
    pub store_bytes: u64,
    pub archive_bytes: u64,
}

/// A session whose texts are cold, and old.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Undecided {
    pub session_id: Id,
    pub sealed_at: Timestamp,
    /// How many days ago.
    pub days: u64,
}

/// Something wrong with a session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Problem {
    pub session_id: Id,
    /// The code of the error.
    pub code: String,
    pub message: String,
    pub hint: Option<Hint>,
}

impl Problem {
    pub(crate) fn of(session: &Id, error: &Error) -> Self {
        Self {
            session_id: session.clone(),
            code: error.code.as_str().to_owned(),
            message: error.to_string(),
            hint: error.hint.clone(),
        }
    }
}
