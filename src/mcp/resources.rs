//! Resources: a session with all its records, or a commit with its proof, to be attached to a conversation.

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Map, Value, json};

use super::answer::for_agents;
use super::call::{self, Asked, Prepare};
use super::recall::DECISIONS_FOR;
use super::worker::WorkerState;
use super::{commits, sessions};
use crate::error::Code;
use crate::proof::digest::CommitId;
use crate::proof::text::brief_line;
use crate::record;

const SESSION: &str = "proof://session/";
const COMMIT: &str = "proof://commit/";
const PATH: &str = "proof://path/";
const JSON: &str = "application/json";
/// How many of the newest sessions are listed.
const LISTED: u32 = 50;
/// Longest title of one of them, in characters.
const TITLE: usize = 100;

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let session = "A session with its records and, once it is finalized, its root";
    let commit = "Whether the proof of a commit holds, and what the sessions behind it decided";
    let path = "The decisions that are in force for a file, given from the top of the repository";
    [
        (format!("{SESSION}{{id}}"), "session", "A session", session),
        (format!("{COMMIT}{{oid}}"), "commit", "A commit's proof", commit),
        (format!("{PATH}{{path}}"), "path", "Decisions for a file", path),
    ]
    .map(|(uri, name, title, description)| {
        ResourceTemplate::new(uri, name).with_title(title).with_description(description).with_mime_type(JSON)
    })
    .to_vec()
}

/// The newest sessions; none where nothing has been recorded.
pub(super) fn list(state: &mut WorkerState) -> Vec<Resource> {
    let sessions = state.workspace(false).and_then(|workspace| record::sessions(workspace, LISTED));
    let Ok(list) = sessions else { return Vec::new() };
    let resource = |session: &record::SessionView| {
        Resource::new(format!("{SESSION}{}", session.session_id), session.session_id.as_str())
            .with_title(brief_line(&session.intent, TITLE))
            .with_mime_type(JSON)
    };
    list.sessions.iter().map(resource).collect()
}

pub(super) fn read(state: &mut WorkerState, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let absent = || ErrorData::resource_not_found(format!("there is no resource {uri:?}"), None);
    let (tool, prepare, given): (_, Prepare, _) = if let Some(oid) = uri.strip_prefix(COMMIT) {
        let oid = CommitId::parse(oid).ok_or_else(absent)?;
        ("resources/read-commit", commits::read, Map::from_iter([("commits".to_owned(), json!([oid]))]))
    } else if let Some(path) = uri.strip_prefix(PATH) {
        let path = decoded(path).ok_or_else(absent)?;
        (DECISIONS_FOR.name, DECISIONS_FOR.prepare, Map::from_iter([("paths".to_owned(), json!([path]))]))
    } else {
        let id = uri.strip_prefix(SESSION).ok_or_else(absent)?;
        ("resources/read", sessions::read, Map::from_iter([("session_id".to_owned(), Value::from(id))]))
    };
    let asked = Asked { tool, prepare, given: Ok(given), client: None, thread: None, reporter: None, cancelled: false };
    match call::call(state, asked) {
        Ok(log) => Ok(ReadResourceResult::new(vec![ResourceContents::text(log.to_string(), uri).with_mime_type(JSON)])),
        Err(error) => {
            let (code, message) = (error.code, error.to_string());
            let details = Some(json!(for_agents("resources/read", error)));
            Err(match code {
                Code::SessionNotFound | Code::NoStore | Code::InvalidParams | Code::CommitNotFound => {
                    ErrorData::resource_not_found(message, details)
                }
                _ => ErrorData::internal_error(message, details),
            })
        }
    }
}

/// A path as a URI spells it: `%20` and the like stand for bytes.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok().filter(|path| !path.is_empty())
}
