//! A repository that is filled in process: hundreds of histories need thousands of objects, and a process for each would
//! take minutes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use git_proof::context::Context;
use git_proof::git::{Git, Repository};
use git_proof::proof::change::{ChangeIds, Sighting};
use git_proof::proof::digest::{ChangeId, CommitId, ObjectId, RootHash, TreeId};
use git_proof::proof::timestamp::Timestamp;

/// The files of a commit.
pub(super) type Files = BTreeMap<String, String>;

/// A commit that was made.
#[derive(Debug, Clone)]
pub(super) struct Made {
    pub(super) id: CommitId,
    pub(super) tree: TreeId,
    pub(super) change: Option<ChangeIds>,
    pub(super) files: Files,
}

/// A repository, and what its proof refs will hold.
pub(super) struct Place {
    folder: tempfile::TempDir,
    objects: git2::Repository,
    git: Git,
    clock: i64,
    pub(super) notes: BTreeMap<CommitId, BTreeSet<String>>,
    pub(super) evidence: BTreeMap<RootHash, String>,
    pub(super) changes: BTreeMap<ChangeId, BTreeSet<String>>,
}

/// What time it is in every history.
pub(super) fn now() -> Timestamp {
    Timestamp::parse("2026-03-01T12:00:00.000Z").unwrap()
}

impl Place {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut options = git2::RepositoryInitOptions::new();
        options.external_template(false).initial_head("main");
        let objects = git2::Repository::init_opts(folder.path(), &options).unwrap();
        let context = Context::new(folder.path().to_owned());
        let git = Git::open(&Repository::discover(&context).unwrap(), &context).unwrap();
        let (notes, evidence, changes) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { folder, objects, git, clock: 1_700_000_000, notes, evidence, changes }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn context(&self) -> Context {
        Context::new(self.path().to_owned()).with_clock(now())
    }

    pub(super) fn git(&self) -> &Git {
        &self.git
    }

    /// Makes a commit.
    pub(super) fn commit(&mut self, parents: &[&Made], files: &Files, message: &str) -> Made {
        let tree = self.tree(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
        let parents: Vec<CommitId> = parents.iter().map(|made| made.id).collect();
        let id = self.commit_tree(tree, &parents, message);
        let commit = self.git.commit(&id).unwrap();
        let change = self.git.change_ids_of(&commit).unwrap();
        Made { id, tree: commit.tree, change, files: files.clone() }
    }

    fn commit_tree(&mut self, tree: git2::Oid, parents: &[CommitId], message: &str) -> CommitId {
        self.clock += 60;
        let who = git2::Signature::new("Ada", "ada@x", &git2::Time::new(self.clock, 0)).unwrap();
        let parents: Vec<git2::Commit<'_>> =
            parents.iter().map(|id| self.objects.find_commit(oid(&id.0)).unwrap()).collect();
        let parents: Vec<&git2::Commit<'_>> = parents.iter().collect();
        let tree = self.objects.find_tree(tree).unwrap();
        id_of(self.objects.commit(None, &who, &who, message, &tree, &parents).unwrap())
    }

    /// A tree of files, of which some are in folders.
    fn tree(&self, files: &[(&str, &str)]) -> git2::Oid {
        let mut builder = self.objects.treebuilder(None).unwrap();
        let mut folders: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
        for (path, text) in files {
            match path.split_once('/') {
                Some((folder, rest)) => folders.entry(folder).or_default().push((rest, text)),
                None => {
                    builder.insert(path, self.objects.blob(text.as_bytes()).unwrap(), 0o100_644).unwrap();
                }
            }
        }
        for (folder, inside) in folders {
            builder.insert(folder, self.tree(&inside), 0o040_000).unwrap();
        }
        builder.write().unwrap()
    }

    /// Says in the index of changes where a change was seen.
    pub(super) fn sight(&mut self, change: Option<ChangeIds>, sighting: Sighting) {
        for (id, sighting) in change.iter().flat_map(|ids| ids.sighted(sighting)) {
            self.changes.entry(id).or_default().insert(sighting.to_line());
        }
    }

    /// Writes the proof refs, but those that are to be missing.
    pub(super) fn publish(&mut self, without: &[&str]) {
        let lines = |lines: &BTreeSet<String>| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let notes: Files = self.notes.iter().map(|(id, note)| (id.to_string(), lines(note))).collect();
        let fanned = |name: String, text: String| (format!("{}/{name}", &name[..2]), text);
        let evidence: Files = self
            .evidence
            .iter()
            .map(|(root, text)| {
                let (path, text) = fanned(root.to_string(), text.clone());
                (path + ".jsonl", text)
            })
            .collect();
        let changes: Files = self.changes.iter().map(|(id, seen)| fanned(id.to_string(), lines(seen))).collect();
        for (name, files) in
            [("refs/notes/proof", notes), ("refs/proof/evidence", evidence), ("refs/proof/changes", changes)]
        {
            if !without.contains(&name) && !files.is_empty() {
                let tip = self.commit(&[], &files, "proofs").id;
                self.set(name, &tip);
            }
        }
    }

    /// A commit of one file, on top of another, as the chain of rounds has them.
    pub(super) fn seal(&mut self, before: Option<CommitId>, text: &str) -> CommitId {
        let tree = self.tree(&[("seal.json", text)]);
        self.commit_tree(tree, &before.into_iter().collect::<Vec<_>>(), "round")
    }

    pub(super) fn set(&self, name: &str, id: &CommitId) {
        self.objects.reference(name, oid(&id.0), true, "test").unwrap();
    }

    /// A remote whose default branch is at a commit; nothing can be fetched from it.
    pub(super) fn add_remote(&self, main: &CommitId) {
        self.objects.remote("origin", "../nowhere").unwrap();
        self.set("refs/remotes/origin/main", main);
        self.objects.reference_symbolic("refs/remotes/origin/HEAD", "refs/remotes/origin/main", true, "test").unwrap();
    }

    /// Takes an object away.
    pub(super) fn lose(&self, id: &ObjectId) {
        let hex = id.to_string();
        let file: PathBuf = self.objects.path().join("objects").join(&hex[..2]).join(&hex[2..]);
        let _ = std::fs::remove_file(file); // two histories of one seed may have lost it already
    }

    /// The blob of a text that is in the repository.
    pub(super) fn blob(&self, text: &str) -> ObjectId {
        ObjectId::from_bytes(self.objects.blob(text.as_bytes()).unwrap().as_bytes()).unwrap()
    }
}

fn oid(id: &ObjectId) -> git2::Oid {
    git2::Oid::from_bytes(id.as_bytes()).unwrap()
}

fn id_of(oid: git2::Oid) -> CommitId {
    CommitId(ObjectId::from_bytes(oid.as_bytes()).unwrap())
}
