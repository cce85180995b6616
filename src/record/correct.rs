//! Corrections: a record names the entry that it supersedes, and until when it holds.

use serde_json::{Map, Value};

use super::view::EntryView;
use super::workspace::{Workspace, parse_id};
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::digest::ContentHash;
use crate::proof::timestamp::Timestamp;

/// The metadata that says so, which users cannot write by themselves.
pub(super) fn marks(
    workspace: &Workspace,
    supersedes: Option<&str>,
    until: Option<&str>,
) -> Result<Map<String, Value>> {
    let mut marks = Map::new();
    if let Some(named) = supersedes {
        marks.insert("supersedes".to_owned(), Value::from(superseded(workspace, named)?.to_string()));
    }
    if let Some(until) = until {
        marks.insert("until".to_owned(), Value::from(time(until)?.as_str()));
    }
    Ok(marks)
}

/// The entry that is corrected: by its id, if it is in this clone's store, else by its content hash.
fn superseded(workspace: &Workspace, named: &str) -> Result<ContentHash> {
    if let Some(hash) = ContentHash::parse(named) {
        return Ok(hash);
    }
    let id = parse_id("the superseded record", named)?;
    let stored = workspace.store_of_record(&id).and_then(|store| store.entry(&id)).map_err(|error| {
        if error.code == Code::RecordNotFound {
            error.hint(hint!(
                "a record of another clone is named by its content hash, which ",
                Step::Option("--json".into()),
                " shows where decisions are listed"
            ))
        } else {
            error
        }
    })?;
    if stored.kind.is_none() {
        return Err(Error::new(Code::InvalidParams, format!("{id} is no record, so nothing can supersede it"))
            .hint(hint!(Step::Log, " shows the records of a session")));
    }
    Ok(stored.content_hash)
}

/// The end of a day, or a time in the one spelling that is hashed.
fn time(text: &str) -> Result<Timestamp> {
    Timestamp::parse(text).or_else(|| Timestamp::parse(&format!("{text}T23:59:59.999Z"))).ok_or_else(|| {
        Error::new(Code::InvalidParams, format!("{text:?} is not a day"))
            .hint("write it like 2027-03-31; it holds to the end of that day, UTC")
    })
}

/// Lets entries say which records supersede them. In the store of other clones, only records of the same session count:
/// anyone may publish a session that claims to correct another one.
pub(super) fn add_corrections(workspace: &Workspace, entries: &mut [EntryView]) -> Result<()> {
    let Some(first) = entries.first() else { return Ok(()) };
    let store = workspace.store_of(&first.session_id)?;
    let imported = workspace.is_imported(&first.session_id)?;
    if !store.has_corrections()? {
        return Ok(());
    }
    for entry in entries {
        entry.superseded_by = store
            .corrections(&entry.content_hash)?
            .into_iter()
            .filter(|(_, session)| !imported || *session == entry.session_id)
            .map(|(record, _)| record)
            .collect();
    }
    Ok(())
}
