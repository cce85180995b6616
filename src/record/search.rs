//! `search`: finds records by their words.

use schemars::JsonSchema;
use serde::Serialize;

use super::view::EntryView;
use super::workspace::{Workspace, parse_id};
use crate::error::{Code, Error, Result};
use crate::hint::Step;

/// What was found, best first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SearchOutcome {
    pub query: String,
    /// The records.
    pub hits: Vec<SearchHit>,
}

/// A record that matches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SearchHit {
    /// The record.
    #[serde(flatten)]
    pub entry: EntryView,
    /// BM25 rank: smaller is better.
    pub rank: f64,
}

/// Finds records in one session, or in all of them, those of other clones included.
pub fn search(workspace: &mut Workspace, query: &str, session: Option<&str>, limit: u32) -> Result<SearchOutcome> {
    if query.trim().is_empty() {
        return Err(Error::new(Code::InvalidParams, "the query must not be empty").hint(Step::Search));
    }
    let session = session.map(|session| parse_id("session", session)).transpose()?;
    if let Some(session) = &session {
        workspace.store_of(session)?;
    }
    let mut hits = workspace.store.search(query, session.as_ref(), limit)?;
    if let Some(imported) = workspace.imported()? {
        for hit in imported.find(query, session.as_ref(), limit)? {
            if workspace.is_imported(&hit.entry.session_id)? {
                hits.push(hit);
            }
        }
        hits.sort_by(|one, other| one.rank.total_cmp(&other.rank));
        hits.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    let hits = hits.iter().map(|hit| Ok(SearchHit { entry: EntryView::of(&hit.entry)?, rank: hit.rank }));
    Ok(SearchOutcome { query: query.to_owned(), hits: hits.collect::<Result<_>>()? })
}
