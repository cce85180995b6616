//! The steps by which texts leave the store. Each may be the last one that happens: the next run goes on from there.

use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;
use crate::record::{Workspace, root as root_of};
use crate::store::{Archive, Damage, Held, Kept, NewEvent, RootRow, StoredZone};

/// The name under which the ledger has what retention does.
const TOOL: &str = "retention_run";

/// Moves the texts of a session into an archive. What does not verify stays where it is: its texts are the only trace of
/// what happened to it.
pub(super) fn to_cold(workspace: &mut Workspace, archive: &Archive, kept: &Kept, now: Timestamp) -> Result<()> {
    let session = &kept.session_id;
    must_hold(workspace, session)?;
    let root = root_of(workspace, Some(session.as_str()))?;
    let known = kept.zone.as_ref().and_then(|row| row.archive);
    let held = match known.filter(|known| archive.verify(&known.hash, &root).is_ok()) {
        Some(held) => held,
        None => write(workspace, archive, &root)?,
    };
    workspace.store.to_cold(session, &held, &event(workspace.given.as_deref(), session, now))?;
    workspace.store.blank(session)?;
    workspace.store.settle_zone(session)
}

/// Writes the archive of a session and reads it back.
fn write(workspace: &Workspace, archive: &Archive, root: &RootRow) -> Result<Held> {
    let name = workspace.context.new_id();
    let held = workspace.store.archive(&root.session_id, archive, name.as_str())?;
    archive.verify(&held.hash, root).map_err(|damage| unread(archive, &root.session_id, &held, &damage))?;
    Ok(held)
}

/// Goes on with a session of which some bodies are blank and some are not. Its archive is read once more: nothing is
/// blanked on somebody's word.
pub(super) fn resume(workspace: &mut Workspace, archive: &Archive, session: &Id, now: Timestamp) -> Result<()> {
    let Some(row) = workspace.store.zone(session)? else { return Ok(()) };
    match (row.zone, row.archive) {
        (StoredZone::Cold, Some(held)) => {
            let root = root_of(workspace, Some(session.as_str()))?;
            if let Err(damage) = archive.verify(&held.hash, &root) {
                let lost = workspace.store.blank_bodies(session)?;
                if lost > 0 {
                    return Err(archive.error(&held, &damage, &root, lost));
                }
                let held = write(workspace, archive, &root)?;
                workspace.store.to_cold(session, &held, &event(workspace.given.as_deref(), session, now))?;
            }
            workspace.store.blank(session)?;
            workspace.store.settle_zone(session)
        }
        (StoredZone::Frozen, held) => finish_freezing(workspace, archive, session, held.as_ref()),
        _ => Ok(()),
    }
}

/// Drops the texts of a session, wherever they are. It is not settled before the store has been written anew: see
/// [`erase`].
pub(super) fn to_frozen(workspace: &mut Workspace, archive: &Archive, kept: &Kept, now: Timestamp) -> Result<()> {
    let session = &kept.session_id;
    // One that is cold has been verified, and what it is verified by stays.
    if kept.zone.as_ref().is_none_or(|row| row.zone == StoredZone::Warm) {
        must_hold(workspace, session)?;
    }
    workspace.store.to_frozen(session, &event(workspace.given.as_deref(), session, now))?;
    let held = workspace.store.zone(session)?.and_then(|row| row.archive);
    finish_freezing(workspace, archive, session, held.as_ref())
}

fn finish_freezing(workspace: &mut Workspace, archive: &Archive, session: &Id, held: Option<&Held>) -> Result<()> {
    workspace.store.blank(session)?;
    if let Some(held) = held {
        archive.remove(&held.hash)?;
        workspace.store.archive_removed(session)?;
    }
    Ok(())
}

/// Sees to it that nothing of frozen texts is left in the store's file.
pub(super) fn erase(workspace: &mut Workspace, frozen: &[Id]) -> Result<()> {
    if frozen.is_empty() {
        return Ok(());
    }
    workspace.store.erase()?;
    frozen.iter().try_for_each(|session| workspace.store.settle_zone(session))
}

/// Requires that the chain of a session, its root, and all its texts are there.
fn must_hold(workspace: &Workspace, session: &Id) -> Result<()> {
    let check = workspace.store.check(session)?;
    let why = match &check.broken {
        Some(broken) => broken.explain(),
        None if check.blanked > 0 => format!("the texts of {} entries are gone", check.blanked),
        None => return Ok(()),
    };
    Err(Error::new(Code::ChainBroken, format!("session {session} does not verify and stays as it is: {why}"))
        .hint(Step::Check(session.to_string())))
}

fn unread(archive: &Archive, session: &Id, held: &Held, damage: &Damage) -> Error {
    let path = archive.path(&held.hash);
    Error::new(Code::StoreFailed, format!("the archive of session {session} was written and does not read back"))
        .because(format!("{}: {damage}", path.display()))
        .hint(hint!("the disk may be failing"; "nothing was blanked: ", Step::Retain, " once it is mended"))
}

fn event<'a>(given: Option<&'a str>, session: &'a Id, at: Timestamp) -> NewEvent<'a> {
    NewEvent { tool: TOOL, arguments: given.unwrap_or(session.as_str()).as_bytes(), at }
}
