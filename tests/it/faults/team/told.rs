//! What a member of the team was told is done.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use crate::store::scratch::text;

/// Whatever a command acknowledged by exit code 0.
#[derive(Default)]
pub(super) struct Told {
    /// The records, with their sessions.
    pub(super) records: Vec<(String, String)>,
    /// The notes of working memory, with their sessions.
    pub(super) notes: Vec<(String, String)>,
    /// The commits that were made with their hooks.
    pub(super) commits: Vec<String>,
    /// The roots of sessions.
    pub(super) roots: BTreeMap<String, String>,
    /// The sessions with the commits they are anchored on.
    pub(super) anchors: BTreeSet<(String, String)>,
    /// The sessions with an anchor that covers its commit. A round seals no others: under the default policy they prove
    /// nothing.
    pub(super) rooted: BTreeSet<String>,
    /// The sessions that were sealed.
    pub(super) sealed: BTreeSet<String>,
    /// How often something was shared and moved out.
    pub(super) syncs: usize,
    pub(super) retained: u64,
}

impl Told {
    /// Takes the answer of a command.
    pub(super) fn take(&mut self, command: &str, session: &str, answer: &Value) {
        let list = |field: &str| answer[field].as_array().cloned().unwrap_or_default();
        match command {
            "record" => self.records.push((session.to_owned(), text(answer, "id").to_owned())),
            "finalize" | "anchor" => {
                if let Some(root) = answer["root"].as_str() {
                    let before = self.roots.insert(session.to_owned(), root.to_owned());
                    assert!(before.is_none_or(|before| before == root), "{session} has another root than before");
                }
                if list("anchors").iter().any(|one| one["rooted"] == true) {
                    self.rooted.insert(session.to_owned());
                }
                self.anchors
                    .extend(list("anchors").iter().map(|one| (session.to_owned(), text(one, "commit").to_owned())));
            }
            "seal" => self.sealed.extend(list("sessions").iter().map(|one| text(one, "session_id").to_owned())),
            "sync" => self.syncs += 1,
            "retain" => self.retained += answer["moved"].as_u64().unwrap(),
            _ => {}
        }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "acknowledged: {} records, {} notes, {} commits, {} roots, {} anchors, {} sessions sealed, {} syncs, {} moved out",
            self.records.len(),
            self.notes.len(),
            self.commits.len(),
            self.roots.len(),
            self.anchors.len(),
            self.sealed.len(),
            self.syncs,
            self.retained
        )
    }
}
