//! Gathering: all that git has about a commit's proof, each thing read once.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::ahead::Ahead;
use super::deleted::Deleted;
use super::seals::Seals;
use crate::error::Result;
use crate::git::{CHANGES, Commit, EVIDENCE, FILE, Git, NOTES, ObjectError, Read, Shelved, Tree, TreeEntry};
use crate::ops::anchor::{MAX_EVIDENCE, MAX_NOTE, evidence_name};
use crate::proof::anchor::Anchor;
use crate::proof::change::{GitAttestation, Sighting};
use crate::proof::digest::{AnchorId, ChangeId, CommitId, ObjectId, RootHash, TreeId};
use crate::proof::evidence::Verifier;
use crate::proof::finding::{Finding, FindingCode};
use crate::proof::note::{NoteLine, Signature};
use crate::proof::record::{Body, Line, RecordType};
use crate::proof::verify::{CommitFacts, Evidence, EvidenceFacts};
use crate::proof::word::Word;
use crate::store::Store;

/// Commits, and trees, that are kept at hand; a history is walked in order, so a child's parent is soon asked for itself.
const KEPT: usize = 4096;
/// Most lines of the change index that are followed for one change, of commits and of ranges each.
const MAX_SIGHTINGS: usize = 256;
/// Most lines of it that are looked at: anyone may add to it, and those that lead nowhere must not crowd out the others.
const MAX_LINES: usize = 1 << 16;

/// What was found in the note of a commit.
#[derive(Debug, Default)]
pub(super) struct Note {
    /// Its anchors, each once, with the signature of every line that has it, or none.
    pub(super) anchors: Vec<(Anchor, Vec<Option<Signature>>)>,
    /// What people say of the commit, a line each.
    pub(super) words: Vec<(Word, Signature)>,
    /// What is wrong with other lines.
    pub(super) findings: Vec<Finding>,
}

impl Note {
    /// The roots that its anchors name.
    pub(super) fn roots(&self) -> impl Iterator<Item = RootHash> {
        self.anchors.iter().map(|(anchor, _)| anchor.root)
    }
}

/// Something that a session said, for people.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Told {
    /// What kind of record.
    #[serde(rename = "type")]
    pub kind: RecordType,
    /// Its text.
    pub content: String,
}

/// Evidence with what it tells people.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) evidence: Evidence,
    pub(super) told: Vec<Told>,
}

impl Gathered {
    /// About how many bytes it takes.
    pub(super) fn size(&self) -> usize {
        let attested = match &self.evidence {
            Evidence::Holds(facts) => facts.attested.len() * size_of::<GitAttestation>(),
            _ => 0,
        };
        let told = self.told.iter().map(|told| size_of::<Told>() + told.content.len());
        size_of::<Self>() + attested + told.sum::<usize>()
    }
}

/// Reads what git has.
pub(super) struct Gatherer {
    pub(super) git: Git,
    notes: Option<TreeId>,
    evidence: Option<TreeId>,
    changes: Option<TreeId>,
    /// Finds what this clone anchored itself; only an index, everything that it leads to is verified.
    store: Option<Store>,
    facts: RefCell<HashMap<CommitId, Arc<CommitFacts>>>,
    commits: RefCell<HashMap<CommitId, Arc<Commit>>>,
    /// Trees of notes and evidence. Things are looked up in them one by one and nothing is listed: a few small trees can
    /// be put together so that they seem to hold more files than there are atoms.
    trees: RefCell<HashMap<TreeId, Arc<Tree>>>,
    evidences: RefCell<HashMap<RootHash, Arc<Gathered>>>,
    deleted: OnceCell<Deleted>,
    /// Changes of which not every line of the index was followed.
    crowded: RefCell<HashSet<ChangeId>>,
    ahead: RefCell<Ahead>,
    with_story: bool,
}

impl Gatherer {
    /// A gatherer of what is in a repository.
    pub(super) fn new(git: Git, store: Option<Store>, with_story: bool) -> Result<Self> {
        let tree = |name: &str| -> Result<Option<TreeId>> {
            Ok(git.tip(name)?.map(|tip| git.commit(&tip).map(|commit| commit.tree)).transpose()?)
        };
        let (notes, evidence, changes) = (tree(NOTES)?, tree(EVIDENCE)?, tree(CHANGES)?);
        Ok(Self {
            git,
            notes,
            evidence,
            changes,
            store,
            facts: RefCell::default(),
            commits: RefCell::default(),
            trees: RefCell::default(),
            evidences: RefCell::default(),
            deleted: OnceCell::new(),
            crowded: RefCell::default(),
            ahead: RefCell::default(),
            with_story,
        })
    }

    /// Whether this clone has notes at all.
    pub(super) fn has_notes(&self) -> bool {
        self.notes.is_some()
    }

    /// The tree of the notes.
    pub(super) fn notes_tree(&self) -> Option<TreeId> {
        self.notes
    }

    /// What seals list and the notes do not have.
    pub(super) fn deleted(&self, seals: &Seals) -> &Deleted {
        self.deleted.get_or_init(|| Deleted::find(self, seals))
    }

    /// A commit.
    pub(super) fn commit(&self, id: &CommitId) -> Read<Arc<Commit>> {
        if let Some(known) = self.commits.borrow().get(id) {
            return Ok(Arc::clone(known));
        }
        let commit = Arc::new(self.git.commit(id)?);
        keep(&mut self.commits.borrow_mut(), *id, &commit);
        Ok(commit)
    }

    /// What is known of a commit; its parents must be at hand, too.
    pub(super) fn facts(&self, id: &CommitId) -> Read<Arc<CommitFacts>> {
        if let Some(known) = self.facts.borrow().get(id) {
            return Ok(Arc::clone(known));
        }
        let commit = self.commit(id)?;
        let trees: Read<Vec<TreeId>> = commit.parents.iter().map(|parent| Ok(self.commit(parent)?.tree)).collect();
        let parent_trees = trees?;
        let change = match parent_trees.as_slice() {
            [] => self.git.change_between(None, &commit.tree)?,
            [parent] => self.git.change_between(Some(parent), &commit.tree)?,
            _ => None,
        };
        let facts = Arc::new(CommitFacts { id: *id, tree: commit.tree, parent_trees, change });
        keep(&mut self.facts.borrow_mut(), *id, &facts);
        Ok(facts)
    }

    /// The note of a commit.
    pub(super) fn note(&self, commit: &CommitId) -> Note {
        let ahead = self.ahead.borrow_mut().notes.remove(commit);
        ahead.unwrap_or_else(|| self.find_note(commit))
    }

    fn find_note(&self, commit: &CommitId) -> Note {
        let mut note = Note::default();
        let wrong = |message: String| Finding::error(FindingCode::AnchorMalformed, message);
        let Some(tree) = self.notes else { return note };
        let blobs = match self.note_blobs(tree, commit) {
            Ok(blobs) => blobs,
            Err(error) => {
                note.findings.push(unreadable(&error));
                return note;
            }
        };
        if blobs.len() > 1 {
            note.findings.push(wrong("the note is stored in two places, which git shows as one".to_owned()));
        }
        for blob in blobs {
            match self.git.blob(&blob, MAX_NOTE) {
                Ok(text) => read_lines(&text, &mut note),
                Err(error) => note.findings.push(unreadable(&error)),
            }
        }
        note
    }

    /// Whether a commit has a note; it need not be at hand itself.
    fn has_note(&self, commit: &CommitId) -> bool {
        // One that cannot be read is for its reader to report.
        self.notes.is_some_and(|tree| self.note_blobs(tree, commit).map_or(true, |blobs| !blobs.is_empty()))
    }

    /// Whether the index says more of a change than was looked at.
    pub(super) fn is_crowded(&self, change: &ChangeId) -> bool {
        self.crowded.borrow().contains(change)
    }

    /// The blobs that are the note of a commit: none or one, and more only where someone stored it in two places.
    fn note_blobs(&self, mut tree: TreeId, commit: &CommitId) -> Read<Vec<ObjectId>> {
        let hex = commit.to_string();
        let mut found = Vec::new();
        for at in (0..hex.len()).step_by(2) {
            found.extend(self.entry(&tree, &hex[at..], false)?.filter(TreeEntry::is_file).map(|note| note.id));
            let fan = if at + 2 < hex.len() { self.entry(&tree, &hex[at..at + 2], true)? } else { None };
            match fan {
                Some(fan) => tree = TreeId(fan.id),
                None => break,
            }
        }
        Ok(found)
    }

    /// An entry of a tree by its name. A directory and something else of the same name are two.
    fn entry(&self, tree: &TreeId, name: &str, directory: bool) -> Read<Option<TreeEntry>> {
        let known = self.trees.borrow().get(tree).map(Arc::clone);
        let entries = if let Some(entries) = known {
            entries
        } else {
            let entries = self.git.read_tree(tree)?;
            keep(&mut self.trees.borrow_mut(), *tree, &entries);
            entries
        };
        Ok(entries.find(name.as_bytes(), directory))
    }

    /// The evidence of a root.
    pub(super) fn evidence(&self, root: &RootHash) -> Arc<Gathered> {
        if let Some(known) = self.evidences.borrow().get(root) {
            return Arc::clone(known);
        }
        let ahead = self.ahead.borrow_mut().evidence.remove(root);
        let gathered = ahead.unwrap_or_else(|| Arc::new(self.read_evidence(root)));
        keep(&mut self.evidences.borrow_mut(), *root, &gathered);
        gathered
    }

    fn read_evidence(&self, root: &RootHash) -> Gathered {
        let without = |evidence| Gathered { evidence, told: Vec::new() };
        let unread = |error: ObjectError| match error {
            ObjectError::Missing(_) => without(Evidence::NotHere(error.to_string())),
            ObjectError::Damaged(..) => without(Evidence::Unreadable(error.to_string())),
        };
        let Some(tree) = &self.evidence else { return without(Evidence::NotFetched) };
        let text = match self.evidence_blob(tree, root) {
            Ok(Shelved::Nothing) => return without(Evidence::Missing),
            Ok(Shelved::Other) => return without(Evidence::Unreadable("it is not a plain file".to_owned())),
            Ok(Shelved::File(blob)) => self.git.blob(&blob, MAX_EVIDENCE),
            Err(error) => Err(error),
        };
        text.map_or_else(unread, |text| self.read_text(&text))
    }

    fn evidence_blob(&self, tree: &TreeId, root: &RootHash) -> Read<Shelved> {
        let name = evidence_name(root);
        let Some(folder) = self.entry(tree, &name[..2], true)? else {
            let other = self.entry(tree, &name[..2], false)?;
            return Ok(if other.is_some() { Shelved::Other } else { Shelved::Nothing });
        };
        let folder = TreeId(folder.id);
        Ok(match (self.entry(&folder, &name, false)?, self.entry(&folder, &name, true)?) {
            (None, None) => Shelved::Nothing,
            (Some(file), None) if file.mode == FILE => Shelved::File(file.id),
            _ => Shelved::Other,
        })
    }

    fn read_text(&self, text: &[u8]) -> Gathered {
        let mut attested = Vec::new();
        let mut told = Vec::new();
        let mut verifier = Verifier::new();
        let read = verifier.push_with(text, |_, line, _| {
            let Line::Entry(entry) = line else { return };
            match &entry.body {
                Body::Attest { attest } => attested.extend(GitAttestation::parse(attest.as_bytes())),
                Body::Thought { kind, content, .. }
                    if self.with_story && matches!(kind, RecordType::Decision | RecordType::Reflection) =>
                {
                    told.push(Told { kind: *kind, content: content.to_string() });
                }
                Body::Thought { .. } => {}
            }
        });
        let evidence = match read.and_then(|()| verifier.finish()) {
            Ok(summary) => {
                attested.shrink_to_fit();
                Evidence::Holds(EvidenceFacts { summary, attested })
            }
            Err(error) => Evidence::Broken(error),
        };
        Gathered { evidence, told }
    }

    /// The blob that is the note of a commit, where there is just one.
    pub(super) fn only_note(&self, commit: &CommitId) -> Option<ObjectId> {
        match self.note_blobs(self.notes?, commit).ok()?.as_slice() {
            [blob] => Some(*blob),
            _ => None,
        }
    }

    /// A note by its blob, if it can be read, and about how many bytes it takes.
    pub(super) fn read_note(&self, blob: &ObjectId) -> Option<(Note, usize)> {
        let mut note = Note::default();
        let text = self.git.proof_blob(blob, MAX_NOTE).ok()?;
        read_lines(&text, &mut note);
        Some((note, size_of::<Note>() + text.len()))
    }

    /// The blob that is the evidence of a root, where there is one.
    pub(super) fn only_evidence(&self, root: &RootHash) -> Option<ObjectId> {
        match self.evidence_blob(self.evidence.as_ref()?, root).ok()? {
            Shelved::File(blob) => Some(blob),
            _ => None,
        }
    }

    /// Evidence by its blob, if it can be read.
    pub(super) fn read_evidence_at(&self, blob: &ObjectId) -> Option<Gathered> {
        self.git.proof_blob(blob, MAX_EVIDENCE).ok().map(|text| self.read_text(&text))
    }

    /// Takes what was read ahead; the trees that led to it are not needed any more.
    pub(super) fn expect(&mut self, ahead: Ahead) {
        self.trees.get_mut().clear();
        *self.ahead.get_mut() = ahead;
    }

    /// Where a change was seen, by the index that is shared and by what this clone remembers.
    pub(super) fn sightings(&self, change: &ChangeId) -> Vec<Sighting> {
        let mut found = BTreeSet::new();
        if let Some(tree) = &self.changes
            && let Ok(Shelved::File(blob)) = self.git.shelved(tree, &change.to_string())
            && let Ok(text) = self.git.blob(&blob, MAX_NOTE)
        {
            let (mut commits, mut ranges) = (0, 0);
            let mut lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            for sighting in lines.by_ref().take(MAX_LINES).filter_map(|line| Sighting::parse(line).ok()) {
                let (followed, leads) = match &sighting {
                    Sighting::Commit(commit) => (&mut commits, self.has_note(commit)),
                    Sighting::Range { base, head } => (&mut ranges, self.git.has(&head.0) && self.git.has(&base.0)),
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
        if let Some(store) = &self.store {
            found.extend(store.anchored_with(change).unwrap_or_default().into_iter().map(Sighting::Commit));
            found.extend(store.sightings(change).unwrap_or_default());
        }
        found.into_iter().collect()
    }
}

fn keep<K: std::hash::Hash + Eq, V>(kept: &mut HashMap<K, Arc<V>>, key: K, value: &Arc<V>) {
    if kept.len() >= KEPT {
        kept.clear();
    }
    kept.insert(key, Arc::clone(value));
}

fn unreadable(error: &ObjectError) -> Finding {
    match error {
        ObjectError::Missing(_) => Finding::unchecked(FindingCode::ObjectMissing, error.to_string())
            .hint("git proof sync, or git fetch origin refs/notes/proof:refs/notes/proof"),
        ObjectError::Damaged(..) => Finding::error(FindingCode::AnchorMalformed, error.to_string()),
    }
}

/// Where the anchors of a note are. A few are compared; of many, each is known by its id, so that a note that anyone may
/// fill takes as long as it is.
#[derive(Default)]
struct Places {
    by_id: HashMap<AnchorId, usize>,
}

impl Places {
    const FEW: usize = 8;

    /// The place of an anchor; the next free one if it is not there, where it is put then.
    fn of(&mut self, anchor: &Anchor, anchors: &[(Anchor, Vec<Option<Signature>>)]) -> usize {
        if anchors.len() < Self::FEW {
            return anchors.iter().position(|(known, _)| known == anchor).unwrap_or(anchors.len());
        }
        if self.by_id.is_empty() {
            self.by_id = anchors.iter().enumerate().map(|(at, (known, _))| (known.id(), at)).collect();
        }
        *self.by_id.entry(anchor.id()).or_insert(anchors.len())
    }
}

fn read_lines(text: &[u8], note: &mut Note) {
    let mut places = Places::default();
    for line in text.split(|byte| *byte == b'\n') {
        match NoteLine::parse(line) {
            Ok(None) => {}
            Ok(Some(NoteLine::Anchor { anchor, signature })) => {
                let place = places.of(&anchor, &note.anchors);
                match note.anchors.get_mut(place) {
                    Some((_, signatures)) => signatures.push(signature),
                    None => {
                        if place == 0 {
                            // Nearly always the only one, and there are many notes: no room for more.
                            note.anchors.reserve_exact(1);
                        }
                        note.anchors.push((*anchor, vec![signature]));
                    }
                }
            }
            Ok(Some(NoteLine::Word { word, signature })) => {
                note.words.push((*word, signature));
            }
            Ok(Some(NoteLine::Seal { .. })) => note.findings.push(Finding::warning(
                FindingCode::AnchorMalformed,
                "a signature of a seal, in the note of a commit that is none",
            )),
            Ok(Some(NoteLine::Unknown { kind })) => note.findings.push(
                Finding::warning(FindingCode::AnchorMalformed, format!("a line of a type not known here: {kind}"))
                    .hint("a later version of git-proof may read it"),
            ),
            Err(error) => {
                note.findings
                    .push(Finding::error(FindingCode::AnchorMalformed, format!("a line of the note: {error}")));
            }
        }
    }
}
