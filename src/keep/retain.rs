//! `retain`: moves the texts of sealed sessions out of the store once they are old enough, and says what is where. Hashes,
//! trees and roots stay, so whatever was proven goes on being proven.

use std::collections::{HashMap, HashSet};

use super::moving;
use super::outcome::{Move, Problem, RetainOutcome, RetainRequest, Undecided, ZoneSummary};
use super::plan::{self, Because, Present, Sealing, Zone};
use super::settings::Limits;
use crate::error::{Code, Error, Result};
use crate::git::{Git, ROUNDS};
use crate::hint::{Step, hint};
use crate::proof::record::Id;
use crate::proof::timestamp::Timestamp;
use crate::record::{Workspace, archive_at, lock_texts, parse_id};
use crate::rounds::{still_there, walk};
use crate::store::{Archive, Kept, StoredZone};

/// Sessions that are named in an answer; all of them are counted.
const NAMED: usize = 1000;

/// The seals of this clone's sessions, and the newest round.
struct Seals {
    of: HashMap<Id, Sealing>,
    newest: u64,
}

/// Moves what is old enough.
pub fn retain(workspace: &mut Workspace, request: &RetainRequest) -> Result<RetainOutcome> {
    let git = workspace.git()?;
    let limits = Limits::read(&git)?;
    let archive = archive_at(&workspace.context, &workspace.repository, git.setting("proof.archive").as_deref())?;
    let _lock = if request.dry_run { None } else { Some(lock_texts(workspace)?) };
    let kept = workspace.store.kept()?;
    let seals = seals(workspace, &git, &kept)?;
    let present = Present { now: workspace.context.now(), newest: seals.newest, limits };
    let (moves, planned) = plan(&kept, &seals, &present, to_freeze(request, &kept, &seals, &present)?.as_ref());
    let mut outcome = RetainOutcome {
        dry_run: request.dry_run,
        rounds: seals.newest,
        limits,
        archive: archive.directory().display().to_string(),
        ..RetainOutcome::default()
    };
    if request.dry_run {
        outcome.moved = moves.len() as u64;
        outcome.moves = moves.into_iter().take(NAMED).collect();
    } else {
        archive.sweep();
        let mut frozen = resume(workspace, &archive, &kept, present.now, &mut outcome)?;
        frozen.extend(carry_out(workspace, &archive, moves.into_iter().zip(planned), present.now, &mut outcome)?);
        moving::erase(workspace, &frozen)?;
        workspace.store.count_rounds_from(seals.newest)?;
        workspace.store.compact();
    }
    // Report the zones as they are after the moves, including archives that are gone.
    let kept = workspace.store.kept()?;
    outcome.zones = summarize(&kept, &seals);
    look_at_the_cold(workspace, &archive, &kept, &seals, &present, &mut outcome)?;
    Ok(outcome)
}

/// Reads which sessions are sealed, and when. If the chain of rounds does not hold, nobody knows this, and nothing
/// moves.
fn seals(workspace: &Workspace, git: &Git, kept: &[Kept]) -> Result<Seals> {
    let mut seals = Seals { of: HashMap::new(), newest: 0 };
    let seen = workspace.store.seen_rounds()?;
    let Some(tip) = git.tip(ROUNDS)? else { return Ok(seals) };
    let ours: HashMap<&Id, _> = kept.iter().filter_map(|kept| Some((&kept.session_id, kept.root?))).collect();
    let walked = walk(git, &tip, &mut |sealed| {
        seals.newest = sealed.seal.round;
        for session in &sealed.seal.sessions {
            if ours.get(&session.session_id) == Some(&session.root) {
                let sealing = Sealing { round: sealed.seal.round, at: sealed.seal.sealed_at };
                seals.of.insert(session.session_id.clone(), sealing);
            }
        }
    });
    still_there(&seen, &walked.whole()?)?;
    Ok(seals)
}

/// The sessions that are to be frozen; `None` if nobody asked for it.
fn to_freeze(request: &RetainRequest, kept: &[Kept], seals: &Seals, present: &Present) -> Result<Option<HashSet<Id>>> {
    let Some(named) = &request.freeze else { return Ok(None) };
    if named.is_empty() {
        let old = |kept: &&Kept| {
            let sealing = seals.of.get(&kept.session_id);
            plan::zone(kept, sealing) == Zone::Cold && sealing.is_some_and(|sealing| present.is_undecided(sealing))
        };
        return Ok(Some(kept.iter().filter(old).map(|kept| kept.session_id.clone()).collect()));
    }
    let mut freeze = HashSet::new();
    for name in named {
        let id = parse_id("--freeze", name)?;
        if !kept.iter().any(|kept| kept.session_id == id) {
            return Err(Error::new(Code::SessionNotFound, format!("there is no session {id}"))
                .hint(hint!(Step::LogAll, " lists the sessions"; "nothing was moved"))
                .details(serde_json::json!({ "session_id": id })));
        }
        if !seals.of.contains_key(&id) {
            return Err(Error::new(Code::InvalidParams, format!("session {id} is not sealed, so its texts stay"))
                .hint(hint!(Step::Seal, ", once it is finalized and anchored"; "nothing was moved"))
                .details(serde_json::json!({ "session_id": id })));
        }
        freeze.insert(id);
    }
    Ok(Some(freeze))
}

/// The sessions to move, each with its row of the store.
fn plan<'a>(
    kept: &'a [Kept],
    seals: &Seals,
    present: &Present,
    freeze: Option<&HashSet<Id>>,
) -> (Vec<Move>, Vec<&'a Kept>) {
    let mut moves = Vec::new();
    for kept in kept {
        let Some(sealing) = seals.of.get(&kept.session_id) else { continue };
        let from = plan::zone(kept, Some(sealing));
        let (to, because) = if from != Zone::Frozen && freeze.is_some_and(|freeze| freeze.contains(&kept.session_id)) {
            (Zone::Frozen, Because::Asked)
        } else if from == Zone::Warm
            && let Some(because) = present.due(kept, sealing)
        {
            (Zone::Cold, because)
        } else {
            continue;
        };
        let Sealing { round, at } = *sealing;
        let (session_id, count) = (kept.session_id.clone(), kept.records);
        let planned = Move { session_id, from, to, because, count, records: count, round, sealed_at: at };
        moves.push((planned, kept));
    }
    moves.into_iter().unzip()
}

/// Finishes what an earlier run had begun. The answer is what is frozen by that.
fn resume(
    workspace: &mut Workspace,
    archive: &Archive,
    kept: &[Kept],
    now: Timestamp,
    outcome: &mut RetainOutcome,
) -> Result<Vec<Id>> {
    let mut frozen = Vec::new();
    let unfinished = kept.iter().filter(|kept| kept.zone.as_ref().is_some_and(|row| !row.settled));
    for kept in unfinished {
        match moving::resume(workspace, archive, &kept.session_id, now) {
            Ok(()) => {
                outcome.resumed += 1;
                let is_frozen = kept.zone.as_ref().is_some_and(|row| row.zone == StoredZone::Frozen);
                frozen.extend(is_frozen.then(|| kept.session_id.clone()));
            }
            Err(error) if error.code == Code::ArchiveDamaged => {
                outcome.problems.push(Problem::of(&kept.session_id, &error));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(frozen)
}

/// Moves what is to move. The answer is what is frozen by that.
fn carry_out<'a>(
    workspace: &mut Workspace,
    archive: &Archive,
    moves: impl Iterator<Item = (Move, &'a Kept)>,
    now: Timestamp,
    outcome: &mut RetainOutcome,
) -> Result<Vec<Id>> {
    let mut frozen = Vec::new();
    for (moved, kept) in moves {
        let done = match moved.to {
            Zone::Frozen => moving::to_frozen(workspace, archive, kept, now),
            _ => moving::to_cold(workspace, archive, kept, now),
        };
        match done {
            Ok(()) => {
                frozen.extend((moved.to == Zone::Frozen).then(|| moved.session_id.clone()));
                outcome.moved += 1;
                if outcome.moves.len() < NAMED {
                    outcome.moves.push(moved);
                }
            }
            // One session that was tampered with is no reason to keep the others.
            Err(error) if error.code == Code::ChainBroken => {
                outcome.problems.push(Problem::of(&kept.session_id, &error));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(frozen)
}

fn summarize(kept: &[Kept], seals: &Seals) -> Vec<ZoneSummary> {
    let empty = |zone| ZoneSummary { zone, sessions: 0, count: 0, records: 0, store_bytes: 0, archive_bytes: 0 };
    let mut zones = Zone::ALL.map(empty);
    for kept in kept {
        let zone = plan::zone(kept, seals.of.get(&kept.session_id));
        let Some(summary) = zones.iter_mut().find(|summary| summary.zone == zone) else { continue };
        summary.sessions += 1;
        summary.count += kept.records;
        summary.records = summary.count;
        summary.store_bytes += kept.text_bytes;
        let archive = kept.zone.as_ref().and_then(|row| row.archive);
        summary.archive_bytes += archive.map_or(0, |held| held.bytes);
    }
    zones.into()
}

/// Reports the cold sessions that a person should look at: very old ones, and those whose archive is missing.
fn look_at_the_cold(
    workspace: &Workspace,
    archive: &Archive,
    kept: &[Kept],
    seals: &Seals,
    present: &Present,
    outcome: &mut RetainOutcome,
) -> Result<()> {
    for kept in kept {
        let session_id = &kept.session_id;
        let Some(row) = kept.zone.as_ref().filter(|row| row.zone == StoredZone::Cold) else { continue };
        let known = outcome.problems.iter().any(|problem| problem.session_id == *session_id);
        if let Some(held) = row.archive.filter(|held| !known && !archive.is_there(held))
            && let Some(root) = workspace.store.root(session_id)?
            && let Err(damage) = archive.verify(&held.hash, &root)
            && outcome.problems.len() < NAMED
        {
            let lost = workspace.store.blank_bodies(session_id)?;
            outcome.problems.push(Problem::of(session_id, &archive.error(&held, &damage, &root, lost)));
        }
        if let Some(sealing) = seals.of.get(session_id).filter(|sealing| present.is_undecided(sealing)) {
            outcome.undecided += 1;
            if outcome.to_decide.len() < NAMED {
                let days = present.days_since(&sealing.at);
                outcome.to_decide.push(Undecided { session_id: session_id.clone(), sealed_at: sealing.at, days });
            }
        }
    }
    Ok(())
}
