//! Anchors that a seal lists and the notes no longer have, and which commits they were of.

use std::collections::{HashMap, HashSet};

use super::gather::Gatherer;
use super::seals::{SealedAs, Seals};
use crate::git::{Git, ObjectError, Read};
use crate::ops::anchor::MAX_NOTE;
use crate::proof::digest::{AnchorId, ChangeId, CommitId, TreeId};
use crate::proof::finding::{Finding, FindingCode};
use crate::proof::note::NoteLine;
use crate::proof::trailer::{ProofTrailer, ProofTrailers};
use crate::proof::verify::{CommitFacts, Evidence};

/// Deleted anchors whose evidence is looked at.
const MOST: usize = 1000;

/// What was deleted, by what is left of it: the evidence says which commit or change a session was for.
#[derive(Debug, Default)]
pub(super) struct Deleted {
    anchors: Vec<(AnchorId, SealedAs)>,
    by_commit: HashMap<CommitId, usize>,
    by_change: HashMap<ChangeId, usize>,
}

impl Deleted {
    /// Compares what seals list with what the notes have.
    pub(super) fn find(gatherer: &Gatherer, seals: &Seals) -> Self {
        let mut deleted = Self::default();
        let noted = match gatherer.notes_tree() {
            Some(notes) => match noted(&gatherer.git, &notes) {
                Ok(noted) => noted,
                // What cannot be read is reported where it is met; it is not deleted.
                Err(_) => return deleted,
            },
            None => return deleted,
        };
        deleted.anchors = missing(seals, &noted);
        for (index, (_, sealed)) in deleted.anchors.iter().enumerate().take(MOST) {
            let gathered = gatherer.evidence(&sealed.root);
            let Evidence::Holds(facts) = &gathered.evidence else { continue };
            for attested in &facts.attested {
                deleted.by_commit.extend(attested.commit.map(|commit| (commit, index)));
                deleted.by_change.extend(attested.change_id.map(|change| (change, index)));
            }
        }
        deleted
    }

    /// What was deleted of a commit.
    pub(super) fn of(&self, commit: &CommitFacts, trailers: &ProofTrailers) -> Option<Finding> {
        let named = || {
            self.anchors.iter().position(|(_, sealed)| {
                trailers.trailers.iter().any(|trailer| match trailer {
                    ProofTrailer::Root(root) => root.session_id == sealed.session_id && root.root == sealed.root,
                    _ => false,
                })
            })
        };
        let index = self.by_commit.get(&commit.id).copied();
        let index = index.or_else(|| self.by_change.get(commit.change.as_ref()?).copied()).or_else(named)?;
        let (anchor, sealed) = self.anchors.get(index)?;
        Some(finding(anchor, sealed))
    }

    /// That more was deleted than was followed, if so: then nobody knows whether an anchor of a commit was among it.
    pub(super) fn unfollowed(&self) -> Option<Finding> {
        let more = self.anchors.len().checked_sub(MOST).filter(|more| *more > 0)?;
        let message = format!(
            "seals list {} anchors that the notes do not have; {more} of them were not followed to their commits, and one \
             may have been of this one",
            self.anchors.len()
        );
        let hint =
            "git proof sync in a clone that still has the notes brings them back; git proof rounds lists what is gone";
        Some(Finding::warning(FindingCode::AnchorDeleted, message).hint(hint))
    }
}

/// Says that an anchor was deleted.
pub(super) fn finding(anchor: &AnchorId, sealed: &SealedAs) -> Finding {
    Finding::error(
        FindingCode::AnchorDeleted,
        format!(
            "round {} lists anchor {anchor} of session {}, and the notes do not have it",
            sealed.round, sealed.session_id
        ),
    )
    .hint("git proof sync in a clone that still has it brings it back")
}

/// The anchors that seals list and the notes do not have, in the order of their rounds.
pub(super) fn missing(seals: &Seals, noted: &HashSet<AnchorId>) -> Vec<(AnchorId, SealedAs)> {
    let gone = seals.anchors.iter().filter(|(anchor, _)| !noted.contains(anchor));
    let mut gone: Vec<(AnchorId, SealedAs)> = gone.map(|(anchor, sealed)| (*anchor, sealed.clone())).collect();
    gone.sort_by_key(|(anchor, sealed)| (sealed.round, *anchor));
    gone
}

/// All anchors that the notes have.
pub(super) fn noted(git: &Git, notes: &TreeId) -> Read<HashSet<AnchorId>> {
    let mut blobs = Vec::new();
    // What is no note of ours has no anchor of ours: it must not hide that others were deleted.
    match git.each_note(notes, &mut |_, blob| blobs.push(blob)) {
        Ok(()) | Err(ObjectError::Damaged(..)) => {}
        Err(missing) => return Err(missing),
    }
    git.sort_by_family(&mut blobs, |blob| blob);
    let mut anchors = HashSet::new();
    for blob in blobs {
        let text = match git.blob(&blob, MAX_NOTE) {
            Ok(text) => text,
            Err(ObjectError::Damaged(..)) => continue,
            Err(missing) => return Err(missing),
        };
        for line in text.split(|byte| *byte == b'\n') {
            if let Ok(Some(NoteLine::Anchor { anchor, .. })) = NoteLine::parse(line) {
                anchors.insert(anchor.id());
            }
        }
    }
    Ok(anchors)
}
