//! `import`: fills the store of this clone from a backup, or lets it read the sessions that other clones published.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::access::{self, Access};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::limits::MAX_EVIDENCE;
use crate::git::{self, EVIDENCE, FILE, Git, TreeEntry};
use crate::hint::{Hint, Step, hint};
use crate::proof::digest::{ObjectId, RootHash};
use crate::proof::record::{Id, Opening};
use crate::record::{Workspace, lock};
use crate::store::{NewEvent, PassingStore, Store, beside};

/// What was taken from a backup.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FileImport {
    pub file: String,
    /// Sessions that were added.
    pub added: Vec<Id>,
    /// Number of entries that came with them.
    pub count: u64,
    /// The same, under its old name (docs/json.md).
    #[schemars(skip)]
    pub records: u64,
    /// Number of sessions that were here already.
    pub known: u64,
}

/// Takes over what a backup has and this store has not: every session is verified first, and all come in one transaction.
pub fn import_file(workspace: &mut Workspace, file: &Path) -> Result<FileImport> {
    let _lock = lock(workspace, "import.lock", "importing into this store")?;
    let shown = file.display();
    let refused = |error: Error| Error {
        message: format!("{shown} cannot be imported: {}", error.message),
        hint: error.hint.or_else(|| Some(hint!(Step::Backup, " writes a file that can be imported"))),
        ..error
    };
    // The file itself stays as it is: a store of an earlier version is brought up to date when it is opened.
    let copy = PassingStore { path: workspace.repository.store_path().with_file_name("import.db") };
    fill(&copy, workspace, file).map_err(refused)?;
    verify(workspace, &copy.path).map_err(refused)?;
    let merged = workspace.store.merge(&copy.path)?;
    let count = merged.records;
    Ok(FileImport { file: shown.to_string(), added: merged.added, count, records: count, known: merged.known })
}

/// Opens a copy of a backup as strictly as a store, and verifies every session in it.
fn verify(workspace: &Workspace, copy: &Path) -> Result<()> {
    let store = Store::open(copy, workspace.context.patience())?;
    store.must_be_whole()?;
    for session in store.session_ids()? {
        if let Some(broken) = store.check(&session)?.broken {
            return Err(Error::new(
                Code::ChainBroken,
                format!("session {session} does not verify: {}", broken.explain()),
            )
            .hint("take another backup; what was recorded in this one has been changed since")
            .details(broken.details()));
        }
    }
    store.close_as_one_file()
}

/// Makes a private copy of a backup, for as long as it is imported.
fn fill(copy: &PassingStore, workspace: &Workspace, file: &Path) -> Result<()> {
    let given = workspace.context.path(file);
    let unreadable = |error: io::Error| {
        Error::new(Code::Unreadable, "it cannot be read")
            .because(error)
            .hint(hint!("name a file of your own that ", Step::Backup, " wrote"; "links and pipes are not followed"))
    };
    for end in ["-wal", "-journal"] {
        if fs::metadata(beside(&given, end)).is_ok_and(|found| found.len() > 0) {
            return Err(Error::new(Code::InvalidParams, "it is a store in use, and not all of it is in this file")
                .hint(hint!("write a backup of it in its own clone: ", Step::Backup)));
        }
    }
    let mut from = access::open_own(&given, workspace.context.called_sudo()).map_err(unreadable)?;
    let mut magic = [0; 16];
    if from.read_exact(&mut magic).is_err() || &magic != b"SQLite format 3\0" {
        return Err(Error::new(Code::StoreFailed, "it is no backup of a store"));
    }
    copy.remove();
    let mut write = || {
        from.rewind()?;
        let access = Access::beside(&workspace.repository.store_path());
        let mut to = access.open(&copy.path, File::options().write(true).create_new(true))?;
        io::copy(&mut from, &mut to)
    };
    write().map(drop).map_err(|error| {
        Error::new(Code::StoreFailed, format!("cannot write {}", copy.path.display()))
            .because(error)
            .hint("check who owns the .git/proof directory, and that the disk is writable and has room")
    })
}

/// Sessions and files that are named in an answer; all of them are counted.
const NAMED: usize = 1000;

/// What was taken from the evidence in a clone.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct EvidenceImport {
    /// Number of evidence files that were found.
    pub found: u64,
    /// Number of sessions that were added.
    pub added: u64,
    /// The first of them.
    pub sessions: Vec<ImportedSession>,
    /// Number of files that were imported before.
    pub known: u64,
    /// Number of files of sessions that this clone recorded itself.
    pub own: u64,
    /// Number of files that were refused.
    pub refused: u64,
    /// The first of them.
    pub problems: Vec<RefusedEvidence>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ImportedSession {
    pub session_id: Id,
    pub root: RootHash,
    /// Number of its entries.
    pub count: u64,
    /// The same, under its old name (docs/json.md).
    #[schemars(skip)]
    pub records: u64,
    /// How many of them are withheld.
    pub withheld: u64,
}

/// An evidence file that was not imported.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RefusedEvidence {
    /// The ref in which it is, or its name there.
    pub file: String,
    /// The code of the error.
    pub code: String,
    pub message: String,
}

/// Reads the sessions that other clones published, so that they can be read and searched here. A file that does not hold
/// is refused and named; the others are taken.
pub fn import_evidence(workspace: &mut Workspace) -> Result<EvidenceImport> {
    let git = workspace.git()?;
    let _lock = lock(workspace, "import.lock", "importing into this store")?;
    let sharing = || git::sharing(&workspace.context);
    let mut imported = Store::open_or_share(&workspace.imported_path(), workspace.context.patience(), sharing)?;
    let (own, mut known) = (workspace.store.roots()?, imported.roots()?);
    let (mut outcome, mut counted) = (EvidenceImport::default(), HashSet::new());
    for name in evidence_refs(&git) {
        let files = match files(&git, &name) {
            Ok(files) => files,
            Err(error) => {
                outcome.refuse(name, &error);
                continue;
            }
        };
        for (root, blob) in files {
            let first = u64::from(counted.insert(root));
            outcome.found += first;
            if own.contains(&root) {
                outcome.own += first;
            } else if known.contains(&root) {
                outcome.known += first;
            } else {
                match take(workspace, &git, &mut imported, &root, &blob) {
                    Ok(session) => {
                        known.insert(root);
                        outcome.added += 1;
                        if outcome.sessions.len() < NAMED {
                            outcome.sessions.push(session);
                        }
                    }
                    // These are no fault of the file, and the next one would meet them as well.
                    Err(error) if matches!(error.code, Code::StoreBusy | Code::StoreTooNew) => return Err(error),
                    Err(error) => outcome.refuse(format!("{root}.jsonl"), &error),
                }
            }
        }
    }
    imported.take_up_entries()?;
    Ok(outcome)
}

/// What to type so that a search finds what other clones published. `None` if all of it was imported, or there is none.
pub fn import_hint(context: &Context) -> Option<Hint> {
    let git = Git::discover(context).ok()?;
    let mut read: HashSet<RootHash> = HashSet::new();
    if let Ok(workspace) = Workspace::open(context.clone()) {
        read.extend(workspace.store.roots().ok()?);
        read.extend(workspace.imported().ok()?.map(Store::roots).transpose().ok()?.unwrap_or_default());
    }
    let published = |name: String| files(&git, &name).unwrap_or_default();
    if evidence_refs(&git).into_iter().flat_map(published).any(|(root, _)| !read.contains(&root)) {
        return Some(hint!(Step::ImportRefs, " lets this clone search what others published"));
    }
    git.was_never_synced().then(|| {
        hint!(Step::SyncFetchOnly, " fetches what others published"; Step::ImportRefs, " then lets this clone search it")
    })
}

impl EvidenceImport {
    fn refuse(&mut self, file: String, error: &Error) {
        self.refused += 1;
        if self.problems.len() < NAMED {
            self.problems.push(RefusedEvidence {
                file,
                code: error.code.as_str().to_owned(),
                message: error.to_string(),
            });
        }
    }
}

fn take(
    workspace: &Workspace,
    git: &Git,
    imported: &mut Store,
    root: &RootHash,
    blob: &ObjectId,
) -> Result<ImportedSession> {
    let file = git.blob(blob, MAX_EVIDENCE)?;
    let first = file.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if let Ok(opening) = Opening::parse(first)
        && workspace.store.session(&opening.session_id).is_ok()
    {
        let message = format!("this clone recorded another session with the id {}", opening.session_id);
        return Err(Error::new(Code::EvidenceInvalid, message));
    }
    let name = root.to_string();
    let event = NewEvent { tool: "evidence_import", arguments: name.as_bytes(), at: workspace.context.now() };
    let (row, summary) = imported.take_evidence(&file, root, &event)?;
    Ok(ImportedSession {
        session_id: row.session_id,
        root: row.root,
        count: row.count,
        records: row.count,
        withheld: summary.withheld,
    })
}

/// The ref that clones share, and those in which this clone keeps what remotes had.
fn evidence_refs(git: &Git) -> Vec<String> {
    let mut names = vec![EVIDENCE.to_owned()];
    names
        .extend(git.remote_names().iter().filter_map(|remote| Some(git.remote(Some(remote)).ok()?.tracking(EVIDENCE))));
    names
}

/// The evidence files of a ref, by the roots that they are named after.
fn files(git: &Git, name: &str) -> Result<Vec<(RootHash, ObjectId)>> {
    let Some(tree) = git.tip_tree(name)? else { return Ok(Vec::new()) };
    let root_of = |(folder, entry): (Vec<u8>, TreeEntry)| {
        let name = std::str::from_utf8(&entry.name).ok()?.strip_suffix(".jsonl")?;
        let is_ours = entry.mode == FILE && entry.name.starts_with(&folder);
        Some((RootHash::parse(name).filter(|_| is_ours)?, entry.id))
    };
    Ok(git.added(None, &tree)?.into_iter().filter_map(root_of).collect())
}
