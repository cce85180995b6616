//! Reading what is cold: its texts come back from the archive, and stay for as long as if they had been sealed now.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::lock::lock;
use super::workspace::Workspace;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::Repository;
use crate::hint::{Step, hint};
use crate::proof::record::Id;
use crate::store::{Archive, NewEvent, StoredEntry, StoredZone};

/// Brings the texts of a session back. False if there is nothing that could be brought back.
pub(crate) fn thaw(workspace: &mut Workspace, session: &Id) -> Result<bool> {
    if workspace.store.zone(session)?.is_none_or(|row| row.zone != StoredZone::Cold) {
        return Ok(false);
    }
    let archive = archive(workspace)?;
    let _lock = lock_texts(workspace)?;
    let event =
        NewEvent { tool: "retention_restore", arguments: session.as_str().as_bytes(), at: workspace.context.now() };
    // If another process restored the texts meanwhile, this changes nothing and they can be read.
    workspace.store.restore(session, &archive, &event)?;
    Ok(true)
}

/// Gets the texts of a session that some of its entries lack. True if they are back in the store, to be read again. In a
/// store that cannot be written to, the entries get their texts for this once.
pub(crate) fn bring_back(workspace: &mut Workspace, session: &Id, entries: &mut [StoredEntry]) -> Result<bool> {
    if entries.iter().all(|entry| entry.line.is_some()) {
        return Ok(false);
    }
    if !workspace.store.is_read_only() {
        return thaw(workspace, session);
    }
    let cold = workspace.store.zone(session)?.filter(|row| row.zone == StoredZone::Cold);
    if let Some(held) = cold.and_then(|row| row.archive)
        && let Some(root) = workspace.store.root(session)?
    {
        let (archive, blank) = (archive(workspace)?, workspace.store.blank_bodies(session)?);
        archive.fill(&held.hash, &root, entries).map_err(|damage| archive.error(&held, &damage, &root, blank))?;
    }
    Ok(false)
}

/// Reads the archive of a session whose texts are not in the store, without restoring them: a check changes nothing.
/// Returns how many texts the archive holds for the store; none if they are gone for good.
pub(crate) fn archived(workspace: &Workspace, session: &Id) -> Result<u64> {
    let Some(row) = workspace.store.zone(session)?.filter(|row| row.zone == StoredZone::Cold) else { return Ok(0) };
    let (Some(held), Some(root)) = (row.archive, workspace.store.root(session)?) else { return Ok(0) };
    let archive = archive(workspace)?;
    let blank = workspace.store.blank_bodies(session)?;
    match archive.verify(&held.hash, &root) {
        Ok(()) => Ok(blank),
        Err(damage) => Err(archive.error(&held, &damage, &root, blank)),
    }
}

/// The archives of this repository.
pub(crate) fn archive(workspace: &Workspace) -> Result<Archive> {
    let setting = workspace.git()?.setting("proof.archive");
    archive_at(&workspace.context, &workspace.repository, setting.as_deref())
}

/// The archives of a repository: where `proof.archive` says, from the common directory on if it is no whole path, else
/// beside the store.
pub(crate) fn archive_at(context: &Context, repository: &Repository, setting: Option<&str>) -> Result<Archive> {
    let beside = repository.store_path().with_file_name("archive");
    let Some(text) = setting else { return Ok(Archive::new(beside, None)) };
    let refuse = |why: &str| {
        Error::new(Code::ConfigInvalid, format!("proof.archive is {text:?}, {why}; it takes a directory")).hint(hint!(
            Step::GitConfig("proof.archive".into(), "DIRECTORY".into()), ", or ",
            Step::GitConfigUnset("proof.archive".into());
            "nothing was moved"
        ))
    };
    let directory = match text.strip_prefix("~/") {
        Some(below) => {
            PathBuf::from(context.variable("HOME").ok_or_else(|| refuse("and HOME is not set"))?).join(below)
        }
        None if text.is_empty() => return Err(refuse("which is empty")),
        None => repository.common_dir.join(Path::new(text)),
    };
    if directory.exists() && !directory.is_dir() {
        return Err(refuse("which is no directory"));
    }
    Ok(Archive::new(directory, Some(beside)))
}

/// Waits until no other process of this clone moves texts.
pub(crate) fn lock_texts(workspace: &Workspace) -> Result<File> {
    lock(workspace, "retain.lock", "moving texts out of this store, or back")
}
