//! Gathering: all that git has about a commit's proof, each thing read once.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::error::Result;
use crate::git::{CHANGES, Commit, EVIDENCE, Git, NOTES, ObjectError, Read, Shelved};
use crate::ops::anchor::{MAX_EVIDENCE, MAX_NOTE, evidence_name};
use crate::proof::anchor::Anchor;
use crate::proof::change::{GitAttestation, Sighting};
use crate::proof::digest::{ChangeId, CommitId, ObjectId, RootHash, TreeId};
use crate::proof::evidence::Verifier;
use crate::proof::finding::{Finding, FindingCode};
use crate::proof::note::{NoteLine, Signature};
use crate::proof::record::{Body, Line, RecordType};
use crate::proof::verify::{CommitFacts, Evidence, EvidenceFacts};
use crate::store::Store;

/// From this many commits on, the notes and the evidence are listed once instead of looked up one by one.
const MANY: usize = 64;
/// Commits that are kept at hand; a history is walked in order, so a child's parent is soon asked for itself.
const KEPT: usize = 4096;
/// Most lines of the change index that are followed for one change.
const MAX_SIGHTINGS: usize = 256;

/// What was found in the note of a commit.
#[derive(Debug, Default)]
pub(super) struct Note {
    /// Its anchors, each once, with the signature of every line that has it, or none.
    pub(super) anchors: Vec<(Anchor, Vec<Option<Signature>>)>,
    /// What is wrong with other lines.
    pub(super) findings: Vec<Finding>,
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

/// Where things are looked up.
enum Index<K> {
    /// One by one, in this tree.
    Tree(TreeId),
    /// All of it, listed before.
    Listed(HashMap<K, Vec<ObjectId>>),
}

/// Reads what git has.
pub(super) struct Gatherer {
    pub(super) git: Git,
    notes: Option<Index<CommitId>>,
    evidence: Option<Index<RootHash>>,
    changes: Option<TreeId>,
    /// Finds what this clone anchored itself; only an index, everything that it leads to is verified.
    store: Option<Store>,
    facts: RefCell<HashMap<CommitId, Rc<CommitFacts>>>,
    commits: RefCell<HashMap<CommitId, Rc<Commit>>>,
    evidences: RefCell<HashMap<RootHash, Rc<Gathered>>>,
    with_story: bool,
}

impl Gatherer {
    /// A gatherer for about so many commits.
    pub(super) fn new(git: Git, store: Option<Store>, commits: usize, with_story: bool) -> Result<Self> {
        let tree = |name: &str| -> Result<Option<TreeId>> {
            Ok(git.tip(name)?.map(|tip| git.commit(&tip).map(|commit| commit.tree)).transpose()?)
        };
        let (notes, evidence, changes) = (tree(NOTES)?, tree(EVIDENCE)?, tree(CHANGES)?);
        let many = commits >= MANY;
        let notes = match notes {
            Some(tree) if many => Some(Index::Listed(list_notes(&git, &tree)?)),
            other => other.map(Index::Tree),
        };
        let evidence = match evidence {
            Some(tree) if many => Some(Index::Listed(list_evidence(&git, &tree)?)),
            other => other.map(Index::Tree),
        };
        Ok(Self {
            git,
            notes,
            evidence,
            changes,
            store,
            facts: RefCell::default(),
            commits: RefCell::default(),
            evidences: RefCell::default(),
            with_story,
        })
    }

    /// Whether this clone has notes at all.
    pub(super) fn has_notes(&self) -> bool {
        self.notes.is_some()
    }

    /// A commit.
    pub(super) fn commit(&self, id: &CommitId) -> Read<Rc<Commit>> {
        if let Some(known) = self.commits.borrow().get(id) {
            return Ok(Rc::clone(known));
        }
        let commit = Rc::new(self.git.commit(id)?);
        keep(&mut self.commits.borrow_mut(), *id, &commit);
        Ok(commit)
    }

    /// What is known of a commit; its parents must be at hand, too.
    pub(super) fn facts(&self, id: &CommitId) -> Read<Rc<CommitFacts>> {
        if let Some(known) = self.facts.borrow().get(id) {
            return Ok(Rc::clone(known));
        }
        let commit = self.commit(id)?;
        let trees: Read<Vec<TreeId>> = commit.parents.iter().map(|parent| Ok(self.commit(parent)?.tree)).collect();
        let parent_trees = trees?;
        let change = match parent_trees.as_slice() {
            [] => self.git.change_between(None, &commit.tree)?,
            [parent] => self.git.change_between(Some(parent), &commit.tree)?,
            _ => None,
        };
        let facts = Rc::new(CommitFacts { id: *id, tree: commit.tree, parent_trees, change });
        keep(&mut self.facts.borrow_mut(), *id, &facts);
        Ok(facts)
    }

    /// The note of a commit.
    pub(super) fn note(&self, commit: &CommitId) -> Note {
        let mut note = Note::default();
        let wrong = |message: String| Finding::error(FindingCode::AnchorMalformed, message);
        let blobs = match &self.notes {
            None => return note,
            Some(Index::Tree(tree)) => match self.git.find_note(tree, commit) {
                Ok(blobs) => blobs,
                Err(error) => {
                    note.findings.push(unreadable(&error));
                    return note;
                }
            },
            Some(Index::Listed(list)) => list.get(commit).cloned().unwrap_or_default(),
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

    /// The evidence of a root.
    pub(super) fn evidence(&self, root: &RootHash) -> Rc<Gathered> {
        if let Some(known) = self.evidences.borrow().get(root) {
            return Rc::clone(known);
        }
        let gathered = Rc::new(self.read_evidence(root));
        keep(&mut self.evidences.borrow_mut(), *root, &gathered);
        gathered
    }

    fn read_evidence(&self, root: &RootHash) -> Gathered {
        let without = |evidence| Gathered { evidence, told: Vec::new() };
        let shelved = match &self.evidence {
            None => return without(Evidence::NotFetched),
            Some(Index::Tree(tree)) => match self.git.shelved(tree, &evidence_name(root)) {
                Ok(shelved) => shelved,
                Err(error) => return without(Evidence::Unreadable(error.to_string())),
            },
            Some(Index::Listed(list)) => {
                list.get(root).and_then(|found| found.first()).map_or(Shelved::Nothing, |id| Shelved::File(*id))
            }
        };
        let blob = match shelved {
            Shelved::Nothing => return without(Evidence::Missing),
            Shelved::Other => return without(Evidence::Unreadable("it is not a plain file".to_owned())),
            Shelved::File(blob) => blob,
        };
        match self.git.blob(&blob, MAX_EVIDENCE) {
            Ok(text) => self.read_text(&text),
            Err(error) => without(Evidence::Unreadable(error.to_string())),
        }
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
            Ok(summary) => Evidence::Holds(EvidenceFacts { summary, attested }),
            Err(error) => Evidence::Broken(error),
        };
        Gathered { evidence, told }
    }

    /// Where a change was seen, by the index that is shared and by what this clone remembers.
    pub(super) fn sightings(&self, change: &ChangeId) -> Vec<Sighting> {
        let mut found = BTreeSet::new();
        if let Some(tree) = &self.changes
            && let Ok(Shelved::File(blob)) = self.git.shelved(tree, &change.to_string())
            && let Ok(text) = self.git.blob(&blob, MAX_NOTE)
        {
            let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            found.extend(lines.filter_map(|line| Sighting::parse(line).ok()).take(MAX_SIGHTINGS));
        }
        if let Some(store) = &self.store {
            found.extend(store.anchored_with(change).unwrap_or_default().into_iter().map(Sighting::Commit));
            found.extend(store.sightings(change).unwrap_or_default());
        }
        found.into_iter().collect()
    }
}

fn keep<K: std::hash::Hash + Eq, V>(kept: &mut HashMap<K, Rc<V>>, key: K, value: &Rc<V>) {
    if kept.len() >= KEPT {
        kept.clear();
    }
    kept.insert(key, Rc::clone(value));
}

fn unreadable(error: &ObjectError) -> Finding {
    match error {
        ObjectError::Missing(_) => Finding::unchecked(FindingCode::ObjectMissing, error.to_string())
            .hint("git proof sync, or git fetch origin refs/notes/proof:refs/notes/proof"),
        ObjectError::Damaged(..) => Finding::error(FindingCode::AnchorMalformed, error.to_string()),
    }
}

fn read_lines(text: &[u8], note: &mut Note) {
    for line in text.split(|byte| *byte == b'\n') {
        match NoteLine::parse(line) {
            Ok(None) => {}
            Ok(Some(NoteLine::Anchor { anchor, signature })) => {
                match note.anchors.iter_mut().find(|(known, _)| *known == *anchor) {
                    Some((_, signatures)) => signatures.push(signature),
                    None => note.anchors.push((*anchor, vec![signature])),
                }
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

fn list_notes(git: &Git, tree: &TreeId) -> Result<HashMap<CommitId, Vec<ObjectId>>> {
    let mut list: HashMap<CommitId, Vec<ObjectId>> = HashMap::new();
    git.each_note(tree, &mut |commit, blob| list.entry(commit).or_default().push(blob))?;
    Ok(list)
}

fn list_evidence(git: &Git, tree: &TreeId) -> Result<HashMap<RootHash, Vec<ObjectId>>> {
    let mut list: HashMap<RootHash, Vec<ObjectId>> = HashMap::new();
    git.added(None, tree, &mut |name, entry| {
        let root = std::str::from_utf8(name).ok().and_then(|name| RootHash::parse(name.strip_suffix(".jsonl")?));
        if let Some(root) = root
            && entry.mode == crate::git::FILE
        {
            list.entry(root).or_default().push(entry.id);
        }
    })?;
    Ok(list)
}
