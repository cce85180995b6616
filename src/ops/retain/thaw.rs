//! Reading what is cold: its texts come back from the archive, and stay for as long as if they had been sealed now.

use super::moving::alone;
use super::settings;
use crate::error::Result;
use crate::ops::workspace::Workspace;
use crate::proof::record::Id;
use crate::store::{Archive, NewEvent, StoredEntry, StoredZone};

/// Brings the texts of a session back. False if there is nothing that could be brought back.
pub(in crate::ops) fn thaw(workspace: &mut Workspace, session: &Id) -> Result<bool> {
    if workspace.store.zone(session)?.is_none_or(|row| row.zone != StoredZone::Cold) {
        return Ok(false);
    }
    let archive = archive(workspace)?;
    let _alone = alone(workspace)?;
    let event =
        NewEvent { tool: "retention_restore", arguments: session.as_str().as_bytes(), at: workspace.context.now() };
    // Where another process has brought them back meanwhile, they can be read as well.
    workspace.store.restore(session, &archive, &event)?;
    Ok(true)
}

/// Gets the texts of a session that some of its entries lack. True if they are back in the store, to be read again. In a
/// store that cannot be written to, the entries get their texts for this once.
pub(in crate::ops) fn bring_back(workspace: &mut Workspace, session: &Id, entries: &mut [StoredEntry]) -> Result<bool> {
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

/// Reads the archive of a session whose texts are not in the store, without bringing them back: whoever checks something
/// leaves it as it is. The answer is how many texts it holds for the store; none if they are gone for good.
pub(in crate::ops) fn archived(workspace: &Workspace, session: &Id) -> Result<u64> {
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
pub(in crate::ops) fn archive(workspace: &Workspace) -> Result<Archive> {
    let setting = workspace.git()?.setting("proof.archive");
    settings::archive(&workspace.context, &workspace.repository, setting.as_deref())
}
