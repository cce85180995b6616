//! `backup`: the whole store in one file, with the texts that retention moved into archives.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::outcome::Problem;
use crate::access::{Access, Sharing};
use crate::error::{Code, Error, Result};
use crate::hint::{Hint, Step, hint};
use crate::record::{Workspace, archive, lock};
use crate::store::{NewEvent, Store};

#[derive(Debug, Clone)]
pub struct BackupRequest {
    pub file: PathBuf,
    /// Whether a file that is there is replaced.
    pub force: bool,
}

/// A backup that was written.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BackupOutcome {
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// Number of sessions in it.
    pub sessions: u64,
    /// Number of their entries.
    pub count: u64,
    /// The same, under its old name (docs/json.md).
    #[schemars(skip)]
    pub records: u64,
    /// Number of cold sessions whose texts were read from their archives.
    pub restored: u64,
    /// Cold sessions whose texts are not in the file, because their archives cannot be used.
    pub problems: Vec<Problem>,
}

/// Writes a backup. The file is complete and on disk before it gets its name.
pub fn backup(workspace: &Workspace, request: &BackupRequest) -> Result<BackupOutcome> {
    let target = workspace.context.path(&request.file);
    let directory = must_be_free(workspace, &target, request)?;
    let unfinished = Unfinished::create(workspace, &directory, &target)?;
    let path = &unfinished.path;
    // Nobody may move texts between the copy and the reading of the archives.
    let cold = !workspace.store.archives()?.is_empty() && !workspace.store.is_read_only();
    let _alone =
        if cold { Some(lock(workspace, "retain.lock", "moving texts out of this store, or back")?) } else { None };
    workspace.store.copy_to(path, workspace.context.patience())?;
    let mut copy = Store::open(path, workspace.context.patience())?;
    let (restored, problems) = restore(workspace, &mut copy)?;
    let (sessions, count) = copy.size()?;
    copy.close_as_one_file()?;
    let failed = |error: io::Error| failed(&target, &error);
    let file = File::open(path).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    unfinished.rename(&target, request.force)?;
    File::open(&directory).and_then(|directory| directory.sync_all()).map_err(failed)?;
    let file = request.file.display().to_string();
    Ok(BackupOutcome { file, bytes, sessions, count, records: count, restored, problems })
}

/// Puts the texts of cold sessions into the copy: a backup that needs files elsewhere is none.
fn restore(workspace: &Workspace, copy: &mut Store) -> Result<(u64, Vec<Problem>)> {
    let cold = copy.archives()?;
    let (mut restored, mut problems) = (0, Vec::new());
    if cold.is_empty() {
        return Ok((restored, problems));
    }
    let archive = archive(workspace)?;
    for (session, _) in cold {
        let at = workspace.context.now();
        let event = NewEvent { tool: "retention_restore", arguments: session.as_str().as_bytes(), at };
        match copy.restore(&session, &archive, &event) {
            Ok(_) => restored += 1,
            Err(error) if error.code == Code::ArchiveDamaged => problems.push(Problem::of(&session, &error)),
            Err(error) => return Err(error),
        }
    }
    Ok((restored, problems))
}

/// Refuses to write where something is, and among the files of the store itself. The answer is the directory of the file.
fn must_be_free(workspace: &Workspace, target: &Path, request: &BackupRequest) -> Result<PathBuf> {
    let shown = request.file.display();
    let refused = |why: &str, hint: Hint| Err(Error::new(Code::InvalidParams, format!("{shown} {why}")).hint(hint));
    let found = fs::symlink_metadata(target).ok();
    if found.as_ref().is_some_and(fs::Metadata::is_dir) || target.file_name().is_none() {
        return refused("is a directory", "name a file in it".into());
    }
    if found.is_some() && !request.force {
        return refused(
            "exists already",
            hint!("name another file, or replace this one with ", Step::Option("--force".into())),
        );
    }
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !parent.is_dir() {
        return refused("is in no directory that exists", "make the directory first, or name another file".into());
    }
    let directory = fs::canonicalize(parent).map_err(|error| failed(target, &error))?;
    let store = workspace.repository.store_path();
    if store.parent().is_some_and(|store| fs::canonicalize(store).is_ok_and(|store| directory.starts_with(store))) {
        return refused("is among the files of the store", "name a file elsewhere, best on another disk".into());
    }
    Ok(directory)
}

/// How the name of a folder begins in which a backup is written.
const UNFINISHED: &str = ".git-proof-backup-";

/// A backup that is being written, in a folder of its own, which is locked as long as it is written. The file itself is not:
/// over NFS, our lock would keep SQLite out.
struct Unfinished {
    folder: PathBuf,
    path: PathBuf,
    _lock: Option<File>,
}

impl Unfinished {
    fn create(workspace: &Workspace, directory: &Path, target: &Path) -> Result<Self> {
        let access = Access::new(Sharing::NONE, directory);
        let make = || {
            remove_abandoned(directory)?;
            loop {
                let folder = directory.join(format!("{UNFINISHED}{}", workspace.context.new_id()));
                access.make_directory(&folder)?;
                let lock = File::open(&folder)?;
                let unfinished = Self {
                    path: folder.join("store.db"),
                    folder,
                    _lock: lock.try_lock().is_ok().then_some(lock), // where nothing can be locked, nothing is removed
                };
                // Another process may have removed the folder before it was locked.
                if unfinished.folder.exists() {
                    access.open(&unfinished.path, File::options().write(true).create_new(true))?;
                    return Ok(unfinished);
                }
            }
        };
        make().map_err(|error| failed(target, &error))
    }

    /// Gives the file its name. Without `force`, a file that somebody else has made there meanwhile stays.
    fn rename(&self, target: &Path, force: bool) -> Result<()> {
        let renamed = match fs::hard_link(&self.path, target) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !force => Err(error),
            // Some file systems have no hard links.
            Err(_) => fs::rename(&self.path, target),
        };
        renamed.map_err(|error| failed(target, &error))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder); // the next backup there removes it
    }
}

/// Removes what backups that were killed have left in a directory.
fn remove_abandoned(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)?.flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(UNFINISHED));
        if ours
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok())
        {
            let _ = fs::remove_dir_all(entry.path()); // it is in nobody's way
        }
    }
    Ok(())
}

fn failed(target: &Path, error: &io::Error) -> Error {
    Error::new(Code::OutputFailed, format!("cannot write {}", target.display()))
        .because(error)
        .hint("check that the directory is there, that you may write to it, and that the disk has room")
}
