//! Gathering: all that git has about a commit's proof, each thing read once.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::deleted::Deleted;
use super::evidence::Gathered;
use super::facts::Facts;
use super::merges::OverBases;
use super::note::{Note, read_lines, unreadable};
use super::prefetch::Prefetched;
use super::seals::Seals;
use super::verify::Keep;
use crate::error::Result;
use crate::git::limits::{MAX_EVIDENCE, MAX_INDEX_LINES, MAX_NOTE, MAX_SIGHTINGS, WORK_PER_COMMIT};
use crate::git::{CHANGES, Cache, Commit, EVIDENCE, Fanned, Git, History, NOTES, ObjectError, Place, Read};
use crate::proof::change::{ChangeIds, Sighting};
use crate::proof::digest::{ChangeId, CommitId, ContentHash, ObjectId, RootHash, TreeId, sha256};
use crate::proof::finding::{Finding, FindingCode};
use crate::proof::record::Id;
use crate::proof::trailer::{ProofTrailer, ProofTrailers};
use crate::proof::verify::Evidence;
use crate::publish::evidence_name;
use crate::store::Store;

/// Facts of commits that are kept at hand; a history is walked in order, so a child's parent is soon asked for itself.
const KEPT: usize = 4096;
/// Bytes of commits, of notes and of evidence that are kept at hand.
const KEPT_COMMITS: usize = 2 << 20;
const KEPT_NOTES: usize = 4 << 20;
const KEPT_EVIDENCE: usize = 4 << 20;

/// Reads what git has.
pub(super) struct Gatherer<'a> {
    pub(super) git: &'a Git,
    notes: Option<TreeId>,
    evidence: Option<TreeId>,
    changes: Option<TreeId>,
    /// Finds what this clone anchored itself; only an index, everything that it leads to is verified.
    store: Option<&'a Store>,
    /// How commits lead to each other, by their own word.
    pub(super) history: History,
    facts: RefCell<HashMap<CommitId, Rc<Facts>>>,
    /// Merges of two that were compared with what rule 1 makes of their parents.
    pub(super) over_bases: RefCell<HashMap<CommitId, Rc<OverBases>>>,
    commits: RefCell<Cache<CommitId, Arc<Commit>>>,
    /// Notes by their blobs: many commits may share one.
    notes_read: RefCell<Cache<ObjectId, Arc<Note>>>,
    evidences: RefCell<Cache<RootHash, Arc<Gathered>>>,
    deleted: OnceCell<Deleted>,
    /// Changes of which not every line of the index was followed.
    crowded: RefCell<HashSet<ChangeId>>,
    not_fetched: OnceCell<Option<&'static str>>,
    has_sightings: OnceCell<bool>,
    /// What only this clone remembers, and the shared index does not say.
    known_here: RefCell<BTreeSet<Sighting>>,
    prefetched: RefCell<Prefetched>,
    pub(super) wanted: Wanted,
}

/// What is gathered beside the verdict.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wanted {
    pub(super) keep: Keep,
    /// All sessions that explain a commit, also those that the verdict can do without.
    pub(super) every_session: bool,
}

impl<'a> Gatherer<'a> {
    /// A gatherer of what is in a repository.
    pub(super) fn new(git: &'a Git, store: Option<&'a Store>, wanted: Wanted) -> Result<Self> {
        let (notes, evidence, changes) = (git.proof_tree(NOTES)?, git.proof_tree(EVIDENCE)?, git.proof_tree(CHANGES)?);
        Ok(Self {
            git,
            notes,
            evidence,
            changes,
            store,
            history: History::default(),
            facts: RefCell::default(),
            over_bases: RefCell::default(),
            commits: RefCell::new(Cache::new(KEPT_COMMITS)),
            notes_read: RefCell::new(Cache::new(KEPT_NOTES)),
            evidences: RefCell::new(Cache::new(KEPT_EVIDENCE)),
            deleted: OnceCell::new(),
            crowded: RefCell::default(),
            not_fetched: OnceCell::new(),
            has_sightings: OnceCell::new(),
            known_here: RefCell::default(),
            prefetched: RefCell::default(),
            wanted,
        })
    }

    /// Does some work for the judgement of one commit, which must not take more than it may. The second answer is why it
    /// would have taken more, if so: nothing that was found then says anything.
    pub(super) fn within_limit<T>(&self, work: impl FnOnce() -> T) -> (T, Option<Finding>) {
        self.git.meter.set(Some(WORK_PER_COMMIT));
        let done = work();
        let reached = self.git.meter.is_spent().then(|| {
            // What could not be computed for this commit may be possible for the next.
            self.facts.borrow_mut().clear();
            let message =
                format!("judging one commit may take {WORK_PER_COMMIT} units of work, and this one takes more");
            Finding::unchecked(FindingCode::LimitReached, message)
                .hint("docs/threat-model.md lists what counts; look for very large files, notes or evidence")
        });
        self.git.meter.set(None);
        (done, reached)
    }

    /// A ref that a remote may have, and whose absence here keeps anyone from saying that there is no proof.
    pub(super) fn not_fetched(&self) -> Option<&'static str> {
        *self.not_fetched.get_or_init(|| {
            let lacks = |tree: Option<TreeId>, name| tree.is_none() && self.git.may_be_elsewhere(name);
            // Where no remote was ever asked, notes that are here may be of this clone alone.
            let own = || self.store.is_some_and(Store::has_unshared_lines);
            if lacks(self.notes, NOTES) || self.git.was_never_synced() && own() {
                Some(NOTES)
            } else {
                lacks(self.changes, CHANGES).then_some(CHANGES)
            }
        })
    }

    /// Whether the first session that a message names is one of this clone and finalized.
    pub(super) fn names_finalized(&self, trailers: &ProofTrailers) -> bool {
        let named = trailers.trailers.iter().find_map(|trailer| match trailer {
            ProofTrailer::Session(session) => Some(session),
            ProofTrailer::Root(_) | ProofTrailer::Grade => None,
        });
        let row = named.zip(self.store).and_then(|(session, store)| store.session(session).ok());
        row.is_some_and(|row| row.finalized)
    }

    /// The session that a message names, if it is one of this clone and still open.
    pub(super) fn open_session(&self, trailers: &ProofTrailers) -> Option<Id> {
        let store = self.store?;
        trailers.trailers.iter().find_map(|trailer| match trailer {
            ProofTrailer::Session(session) => {
                let row = store.session(session).ok()?;
                (!row.finalized && row.ended_at.is_none()).then(|| session.clone())
            }
            ProofTrailer::Root(_) | ProofTrailer::Grade => None,
        })
    }

    pub(super) fn notes_tree(&self) -> Option<TreeId> {
        self.notes
    }

    /// What seals list and the notes do not have.
    pub(super) fn deleted(&self, seals: &Seals) -> &Deleted {
        self.deleted.get_or_init(|| Deleted::find(self, seals))
    }

    pub(super) fn commit(&self, id: &CommitId) -> Read<Arc<Commit>> {
        let size = |commit: &Arc<Commit>| size_of::<Commit>() + commit.message.len() + commit.parents.len() * 33;
        if let Some(known) = self.commits.borrow_mut().get(id, size) {
            return Ok(known);
        }
        let commit = Arc::new(self.git.commit(id)?);
        self.commits.borrow_mut().put(*id, Arc::clone(&commit), size(&commit));
        Ok(commit)
    }

    /// What is known of a commit that is at hand.
    pub(super) fn facts(&self, id: &CommitId) -> Read<Rc<Facts>> {
        if let Some(known) = self.facts.borrow().get(id) {
            return Ok(Rc::clone(known));
        }
        let facts = Rc::new(Facts::new(self.commit(id)?));
        let mut kept = self.facts.borrow_mut();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(*id, Rc::clone(&facts));
        Ok(facts)
    }

    pub(super) fn note(&self, commit: &CommitId) -> Arc<Note> {
        let prefetched = self.prefetched.borrow_mut().notes.remove(commit);
        prefetched.unwrap_or_else(|| self.find_note(commit))
    }

    fn find_note(&self, commit: &CommitId) -> Arc<Note> {
        let Some(tree) = self.notes else { return Arc::default() };
        match self.git.find_note(&tree, commit).as_deref() {
            Ok([]) => Arc::default(),
            Ok([blob]) => self.note_at(blob),
            Ok(blobs) => {
                let mut note = Note::default();
                let twice = "the note is stored in two places, which git shows as one";
                note.findings.push(Finding::error(FindingCode::AnchorMalformed, twice));
                for blob in blobs {
                    self.read_into(blob, &mut note);
                }
                Arc::new(note)
            }
            Err(error) => Arc::new(Note { findings: vec![unreadable(error)], ..Note::default() }),
        }
    }

    /// The note in a blob, which many commits may share.
    fn note_at(&self, blob: &ObjectId) -> Arc<Note> {
        if let Some(known) = self.notes_read.borrow_mut().get(blob, |note| note.size) {
            return known;
        }
        let mut note = Note::default();
        self.read_into(blob, &mut note);
        let note = Arc::new(note);
        // What was cut short for one commit may be read for the next.
        if !self.git.meter.is_spent() {
            self.notes_read.borrow_mut().put(*blob, Arc::clone(&note), note.size);
        }
        note
    }

    fn read_into(&self, blob: &ObjectId, note: &mut Note) {
        let limit = |why: String| ObjectError::Limit(*blob, why);
        let read = self.git.blob(blob, MAX_NOTE).and_then(|text| {
            // To parse it takes about as long as to read it.
            self.git.meter.spend(text.len() as u64).map_err(limit)?;
            Ok(text)
        });
        match read {
            Ok(text) => read_lines(&text, note),
            Err(error) => note.findings.push(unreadable(&error)),
        }
    }

    /// Whether a commit has a note that was not seen yet; it need not be at hand itself.
    fn has_other_note(&self, commit: &CommitId, seen: &mut HashSet<Vec<ObjectId>>) -> bool {
        // One that cannot be read is for its reader to report.
        let blobs = self.notes.map(|tree| self.git.find_note(&tree, commit));
        blobs.is_some_and(|blobs| blobs.map_or(true, |blobs| !blobs.is_empty() && seen.insert(blobs)))
    }

    /// Whether the index says more of a commit's change than was looked at. Nothing is computed where that was never so.
    pub(super) fn is_crowded(&self, facts: &Facts) -> bool {
        if self.crowded.borrow().is_empty() {
            return false;
        }
        let Ok(Some(ids)) = facts.change(self) else { return false };
        let crowded = self.crowded.borrow();
        crowded.contains(&ids.wide) || crowded.contains(&ids.bare)
    }

    pub(super) fn evidence(&self, root: &RootHash) -> Arc<Gathered> {
        let known = self.evidences.borrow_mut().get(root, |known| known.size());
        let gathered = known.unwrap_or_else(|| {
            let prefetched = self.prefetched.borrow_mut().evidence.remove(root);
            let gathered = prefetched.unwrap_or_else(|| Arc::new(self.read_evidence(root)));
            if !self.git.meter.is_spent() {
                self.evidences.borrow_mut().put(*root, Arc::clone(&gathered), gathered.size());
            }
            gathered
        });
        // Whoever asks looks through all that it attests.
        match self.git.meter.spend(gathered.size() as u64) {
            Ok(()) => gathered,
            Err(why) => Arc::new(Gathered::without(Evidence::TooLarge(why))),
        }
    }

    fn read_evidence(&self, root: &RootHash) -> Gathered {
        let without = Gathered::without;
        let unread = |error: ObjectError| match error {
            ObjectError::Missing(_) => without(Evidence::NotHere(error.to_string())),
            ObjectError::Limit(..) => without(Evidence::TooLarge(error.to_string())),
            ObjectError::Damaged(..) => without(Evidence::Unreadable(error.to_string())),
        };
        let Some(tree) = &self.evidence else {
            let nowhere = self.git.is_known_to_lack(EVIDENCE);
            return without(if nowhere { Evidence::Missing } else { Evidence::NotFetched });
        };
        let text = match self.git.find_fanned(tree, &evidence_name(root)) {
            Ok(Fanned::Nothing) => return without(Evidence::Missing),
            Ok(Fanned::Other) => return without(Evidence::Unreadable("it is not a plain file".to_owned())),
            Ok(Fanned::File(blob)) => self.git.proof_blob(&blob, MAX_EVIDENCE),
            Err(error) => Err(error),
        };
        let text = text.and_then(|text| {
            // To verify it takes about as long as to read it.
            let spent = self.git.meter.spend(text.len() as u64);
            spent.map_err(|why| ObjectError::Limit(tree.0, why)).map(|()| text)
        });
        text.map_or_else(unread, |text| Gathered::read(&text, self.wanted.keep == Keep::Stories))
    }

    /// The blob that is the note of a commit, where there is just one.
    pub(super) fn only_note(&self, commit: &CommitId) -> Option<ObjectId> {
        match self.git.find_note(&self.notes?, commit).ok()?.as_slice() {
            [blob] => Some(*blob),
            _ => None,
        }
    }

    /// A note in a pack, if it can be read.
    pub(super) fn read_note(&self, place: Place, blob: &ObjectId) -> Option<Arc<Note>> {
        let mut note = Note::default();
        let text = self.git.proof_blob_at(place, blob, MAX_NOTE).ok()?;
        read_lines(&text, &mut note);
        Some(Arc::new(note))
    }

    /// The blob that is the evidence of a root, where there is one.
    pub(super) fn only_evidence(&self, root: &RootHash) -> Option<ObjectId> {
        match self.git.find_fanned(self.evidence.as_ref()?, &evidence_name(root)).ok()? {
            Fanned::File(blob) => Some(blob),
            _ => None,
        }
    }

    /// Evidence in a pack, if it can be read.
    pub(super) fn read_evidence_at(&self, place: Place, blob: &ObjectId) -> Option<Gathered> {
        self.git
            .proof_blob_at(place, blob, MAX_EVIDENCE)
            .ok()
            .map(|text| Gathered::read(&text, self.wanted.keep == Keep::Stories))
    }

    /// The SHA-256 of the evidence of a root, if it can be read.
    pub(super) fn evidence_hash(&self, root: &RootHash) -> Option<ContentHash> {
        let text = self.git.proof_blob(&self.only_evidence(root)?, MAX_EVIDENCE).ok()?;
        Some(ContentHash::new(sha256(&text)))
    }

    pub(super) fn expect(&mut self, prefetched: Prefetched) {
        *self.prefetched.get_mut() = prefetched;
    }

    /// Whether anything could say where a change was seen. If not, no change id need be computed to look one up.
    pub(super) fn has_sightings(&self) -> bool {
        *self.has_sightings.get_or_init(|| self.changes.is_some() || self.store.is_some_and(Store::has_sightings))
    }

    /// Where a change was seen, by the index that is shared and by what this clone remembers: under its change id, and
    /// under the one that leaves out the lines around it.
    pub(super) fn sightings(&self, ids: &ChangeIds) -> Vec<Sighting> {
        let mut found = BTreeSet::new();
        for id in [&ids.wide, &ids.bare] {
            self.sightings_of(id, &mut found);
        }
        for own in self.own_sightings(ids) {
            if found.insert(own) {
                self.known_here.borrow_mut().insert(own);
            }
        }
        found.into_iter().collect()
    }

    /// What this clone remembers.
    fn own_sightings(&self, ids: &ChangeIds) -> Vec<Sighting> {
        let Some(store) = self.store else { return Vec::new() };
        let mut own = Vec::new();
        for change in [&ids.wide, &ids.bare] {
            own.extend(store.anchored_with(change).unwrap_or_default().into_iter().map(Sighting::Commit));
            own.extend(store.sightings(change).unwrap_or_default());
        }
        own
    }

    /// Whether only this clone remembers where a change was seen, and others could ask for it.
    pub(super) fn is_known_only_here(&self, sighting: &Sighting) -> bool {
        self.known_here.borrow().contains(sighting) && !self.git.remote_names().is_empty()
    }

    fn sightings_of(&self, change: &ChangeId, found: &mut BTreeSet<Sighting>) {
        let text = self.changes.map(|tree| match self.git.find_fanned(&tree, &change.to_string())? {
            Fanned::File(blob) => self.git.blob(&blob, MAX_NOTE).map(Some),
            _ => Ok(None),
        });
        if let Some(Err(ObjectError::Limit(..))) = text {
            self.crowded.borrow_mut().insert(*change);
        }
        if let Some(Ok(Some(text))) = text {
            let (mut commits, mut ranges) = (0, 0);
            // Commits that share a note have the same anchors.
            let mut seen = HashSet::new();
            let mut lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            for sighting in lines.by_ref().take(MAX_INDEX_LINES).filter_map(|line| Sighting::parse(line).ok()) {
                let (followed, leads) = match &sighting {
                    Sighting::Commit(commit) => (&mut commits, self.has_other_note(commit, &mut seen)),
                    // An id of something else than a commit leads nowhere either.
                    Sighting::Range { base, head } => {
                        (&mut ranges, self.commit(head).is_ok() && self.commit(base).is_ok())
                    }
                };
                if !leads {
                    continue;
                }
                if *followed == MAX_SIGHTINGS {
                    self.crowded.borrow_mut().insert(*change);
                    continue;
                }
                *followed += 1;
                found.insert(sighting);
            }
            if lines.next().is_some() {
                self.crowded.borrow_mut().insert(*change);
            }
        }
    }
}
