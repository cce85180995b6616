//! Of each file of a commit: whether a recorded edit wrote it, after which decision, and what checks said afterwards.

use serde::Serialize;

use super::facts::Facts;
use super::gather::Gatherer;
use super::verdict::SessionVerdict;
use crate::git::path_text;
use crate::proof::digest::ContentHash;
use crate::proof::edits::{Checked, SeenAs, Written};
use crate::proof::merge::PathChange;

/// Most files of a commit of which something is said.
const MOST: usize = 1000;

/// A file that a commit changed, as far as the sessions behind it saw how that came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct FileSeen {
    /// The file.
    pub path: String,
    /// Whether its content is what an edit tool wrote. `not_seen` is no accusation: it may have come through a shell or a
    /// formatter.
    pub seen: SeenAs,
    /// The content hash of the last decision before the write.
    pub after: Option<ContentHash>,
    /// What checks said after the write; null where no result is known.
    pub checked_after: Option<Checked>,
    /// The position of that decision in its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub after_index: Option<u64>,
    /// The checker that decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub check: Option<String>,
}

/// The files of a commit, where a session that holds saw edits; nothing where none did, or where they cannot be compared.
pub(super) fn files(gatherer: &Gatherer<'_>, facts: &Facts, sessions: &[SessionVerdict]) -> Vec<FileSeen> {
    let holding = sessions.iter().filter(|session| session.holds);
    let seen: Vec<_> = holding
        .map(|session| (session, gatherer.evidence(&session.root)))
        .filter(|(_, gathered)| !gathered.edits.is_empty())
        .collect();
    if seen.is_empty() || facts.is_merge() {
        return Vec::new();
    }
    let Ok(changes) = facts.diff(gatherer) else { return Vec::new() };
    let of = |change: &PathChange| {
        let blob = change.new.filter(|new| new.mode.is_regular())?.id;
        let mut found = seen
            .iter()
            .filter_map(|(session, gathered)| gathered.edits.of(&blob, &session.anchor.commit, &session.anchor.tree));
        Some(file(&change.path, found.next()))
    };
    changes.iter().take(MOST).filter_map(of).collect()
}

fn file(path: &[u8], written: Option<Written>) -> FileSeen {
    let seen = if written.is_some() { SeenAs::Written } else { SeenAs::NotSeen };
    let (after, checked) = written.map_or((None, None), |written| (written.after, written.checked));
    FileSeen {
        path: path_text(path),
        seen,
        after: after.map(|(_, hash)| hash),
        checked_after: checked.as_ref().map(|(checked, _)| *checked),
        after_index: after.map(|(index, _)| index),
        check: checked.map(|(_, check)| check),
    }
}
