//! Anchors that a seal lists and the notes no longer have, and which commits they were of.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::facts::Facts;
use super::gather::Gatherer;
use super::seals::{SealedAs, Seals};
use crate::git::limits::{MAX_NOTE, WORK_FOR_DELETED};
use crate::git::{Git, ObjectError, PassedOver, Read};
use crate::hint::{Step, hint};
use crate::proof::change::GitAttestation;
use crate::proof::digest::{AnchorId, ChangeId, CommitId, TreeId};
use crate::proof::finding::{Finding, FindingCode};
use crate::proof::note::NoteLine;
use crate::proof::trailer::{ProofTrailer, ProofTrailers};
use crate::proof::verify::Evidence;

/// Deleted anchors whose evidence is looked at.
const MOST: usize = 1000;

/// What was deleted, by what is left of it: the evidence says which commit or change a session was for.
#[derive(Debug, Default)]
pub(super) struct Deleted {
    anchors: Vec<(AnchorId, Arc<SealedAs>)>,
    /// Why not all notes were read, if so: what was not found may be there.
    unread: Option<String>,
    by_commit: HashMap<CommitId, usize>,
    by_change: HashMap<ChangeId, usize>,
}

impl Deleted {
    /// Compares what seals list with what the notes have.
    pub(super) fn find(gatherer: &Gatherer<'_>, seals: &Seals) -> Self {
        let mut deleted = Self::default();
        let noted = match gatherer.notes_tree() {
            // Once for all commits, and so not at the cost of the one that asks first.
            Some(notes) => match gatherer.git.meter.apart(WORK_FOR_DELETED, || noted(gatherer.git, &notes)).0 {
                Ok(noted) => noted,
                // What cannot be read is reported where it is met; it is not deleted.
                Err(_) => return deleted,
            },
            None => return deleted,
        };
        deleted.anchors = missing(seals, &noted.anchors);
        deleted.unread = noted.unread;
        for (index, (_, sealed)) in deleted.anchors.iter().enumerate().take(MOST) {
            let gathered = gatherer.evidence(&sealed.root);
            let Evidence::Holds(facts) = &gathered.evidence else { continue };
            for attested in &facts.attested {
                let GitAttestation { commit, change_id, .. } = attested.change;
                commit.map(|commit| deleted.by_commit.entry(commit).or_insert(index));
                change_id.map(|change| deleted.by_change.entry(change).or_insert(index));
            }
        }
        deleted
    }

    /// The deleted anchor of a commit; of several, the one that was sealed first.
    pub(super) fn of(
        &self,
        gatherer: &Gatherer<'_>,
        commit: &Facts,
        trailers: &ProofTrailers,
    ) -> Option<(&SealedAs, Finding)> {
        if self.anchors.is_empty() {
            return None;
        }
        let named = || {
            self.anchors.iter().position(|(_, sealed)| {
                trailers.trailers.iter().any(|trailer| match trailer {
                    ProofTrailer::Root(root) => root.session_id == sealed.session_id && root.root == sealed.root,
                    _ => false,
                })
            })
        };
        let by_change = || self.by_change.get(&commit.change(gatherer).ok()??.wide).copied();
        let found = [self.by_commit.get(&commit.id()).copied(), by_change(), named()];
        let (anchor, sealed) = self.anchors.get(found.into_iter().flatten().min()?)?;
        Some((sealed, finding(anchor, sealed, self.unread.as_deref())))
    }

    /// That more was deleted than was followed, if so: then nobody knows whether an anchor of a commit was among it.
    pub(super) fn unfollowed(&self) -> Option<Finding> {
        let more = self.anchors.len().checked_sub(MOST).filter(|more| *more > 0)?;
        let message = format!(
            "seals list {} anchors that the notes do not have; {more} of them were not followed to their commits, and one \
             may have been of this one",
            self.anchors.len()
        );
        let hint = hint!(
            Step::Sync, " in a clone that still has the notes brings them back";
            Step::Rounds, " lists what is gone"
        );
        if let Some(unread) = &self.unread {
            return Some(Finding::warning(FindingCode::LimitReached, format!("{message}: {unread}")).hint(hint));
        }
        Some(Finding::warning(FindingCode::AnchorDeleted, message).hint(hint))
    }
}

/// Says that an anchor was deleted, or that nobody knows because not all notes were read.
pub(super) fn finding(anchor: &AnchorId, sealed: &SealedAs, unread: Option<&str>) -> Finding {
    let listed = format!("round {} lists anchor {anchor} of session {}", sealed.round, sealed.session_id);
    match unread {
        None => Finding::error(FindingCode::AnchorDeleted, format!("{listed}, and the notes do not have it"))
            .hint(hint!(Step::Sync, " in a clone that still has it brings it back")),
        Some(why) => {
            let message = format!("{listed}, which was not found in the notes, and not all of them were read: {why}");
            Finding::unchecked(FindingCode::LimitReached, message)
                .hint("look at refs/notes/proof for what git-proof did not write")
        }
    }
}

/// The anchors that seals list and the notes do not have, in the order of their rounds.
pub(super) fn missing(seals: &Seals, noted: &HashSet<AnchorId>) -> Vec<(AnchorId, Arc<SealedAs>)> {
    let again = seals.again.iter().map(|(anchor, sealed)| (anchor, sealed));
    let gone = seals.anchors.iter().chain(again).filter(|(anchor, _)| !noted.contains(anchor));
    let mut gone: Vec<(AnchorId, Arc<SealedAs>)> = gone.map(|(anchor, sealed)| (*anchor, Arc::clone(sealed))).collect();
    gone.sort_by_key(|(anchor, sealed)| (sealed.round, *anchor));
    gone
}

/// The anchors that the notes have.
pub(super) struct Noted {
    pub(super) anchors: HashSet<AnchorId>,
    /// Why not all of them were read, if so.
    pub(super) unread: Option<String>,
}

/// All anchors that the notes have.
pub(super) fn noted(git: &Git, notes: &TreeId) -> Read<Noted> {
    let mut blobs = Vec::new();
    let passed = match git.each_note(notes, &mut |_, blob| blobs.push(blob)) {
        Ok(passed) => passed,
        // What is no tree of notes has no anchor of ours: it must not hide that others were deleted.
        Err(ObjectError::Damaged(..)) => PassedOver::default(),
        Err(other) => return Err(other),
    };
    // A directory that was passed over has nothing that anyone would find: it is as good as deleted.
    let cut_short = passed.cut_short.then(|| passed.remark()).flatten();
    let mut noted = Noted { anchors: HashSet::new(), unread: cut_short };
    blobs.sort_unstable();
    blobs.dedup();
    for blob in git.sort_by_family(blobs, |blob| blob) {
        let text = match git.proof_blob(&blob, MAX_NOTE) {
            Ok(text) => text,
            Err(limit @ ObjectError::Limit(..)) if git.meter.is_spent() => {
                noted.unread = Some(limit.to_string());
                return Ok(noted);
            }
            // What is too large to be read proves nothing to anyone.
            Err(ObjectError::Damaged(..) | ObjectError::Limit(..)) => continue,
            Err(missing) => return Err(missing),
        };
        for line in text.split(|byte| *byte == b'\n') {
            if let Ok(Some(NoteLine::Anchor { anchor, .. })) = NoteLine::parse(line) {
                noted.anchors.insert(anchor.id());
            }
        }
    }
    Ok(noted)
}
