//! Lines into notes: remembered in the store, then added by compare-and-swap; and what another writer has overwritten
//! meanwhile is put back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;

use super::evidence::supports;
use crate::access::lock_within;
use crate::error::{Code, Error, Result};
use crate::git::limits::{MAX_MERGED_NOTE, MAX_NOTE, MAX_NOTE_LINES};
use crate::git::{Git, NOTES, ObjectError};
use crate::hint::{Step, hint};
use crate::proof::change::ChangeIds;
use crate::proof::digest::{CommitId, ObjectId, TreeId};
use crate::proof::note::NoteLine;
use crate::proof::record::Id;
use crate::record::Workspace;
use crate::store::NewLine;

/// A line to be added to a commit's note.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) commit: CommitId,
    /// The line, without its newline.
    pub(crate) text: String,
    /// The change of the commit, by both of its ids.
    pub(crate) change: Option<ChangeIds>,
}

/// The lines of a commit's note, as they are.
pub(crate) fn note_of(git: &Git, tree: &TreeId, commit: &CommitId) -> Result<BTreeSet<Vec<u8>>> {
    lines_at(git, &git.find_note(tree, commit)?)
}

fn lines_at(git: &Git, blobs: &[ObjectId]) -> Result<BTreeSet<Vec<u8>>> {
    let mut lines = BTreeSet::new();
    for blob in blobs {
        lines.extend(lines_of(&git.blob(blob, MAX_MERGED_NOTE)?).into_iter().map(<[u8]>::to_vec));
    }
    Ok(lines)
}

pub(crate) fn lines_of(note: &[u8]) -> BTreeSet<&[u8]> {
    note.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect()
}

/// The note with all lines of two: the one that has them, if one does. One that is no note, or too large to be one, gives
/// way to the other.
pub(crate) fn join_lines(git: &Git, ours: &ObjectId, theirs: &ObjectId) -> Result<ObjectId> {
    let read = |blob: &ObjectId| match git.blob(blob, MAX_MERGED_NOTE) {
        Err(ObjectError::Damaged(..) | ObjectError::Limit(..)) => Ok(None),
        read => read.map(Some),
    };
    let (our_text, their_text) = match (read(ours)?, read(theirs)?) {
        (Some(ours), Some(theirs)) => (ours, theirs),
        (Some(_), None) => return Ok(*ours),
        (None, Some(_)) => return Ok(*theirs),
        // Both clones must come to the same.
        (None, None) => return Ok(*ours.min(theirs)),
    };
    let mut lines = lines_of(&our_text);
    let others = lines_of(&their_text);
    match (lines.is_superset(&others), lines.is_subset(&others)) {
        (true, false) => return Ok(*ours),
        (false, true) => return Ok(*theirs),
        _ => lines.extend(others),
    }
    git.write_blob(&text_of(&lines))
}

fn text_of<L: AsRef<[u8]>>(lines: &BTreeSet<L>) -> Vec<u8> {
    let mut text = Vec::new();
    for line in lines {
        text.extend_from_slice(line.as_ref());
        text.push(b'\n');
    }
    text
}

/// Waits until no other process of this clone anchors: two that anchor one session on one commit would both find that it
/// has no anchor yet. The lock is gone with the process that holds it. Where it cannot be had the work goes on, because
/// two anchors that say the same do no harm.
pub(super) fn lock(workspace: &Workspace) -> Option<File> {
    let folder = File::open(workspace.repository.store_path().parent()?).ok()?;
    lock_within(&folder, workspace.context.patience()).unwrap_or(true).then_some(folder)
}

/// Adds lines, those of a session that is anchored by them if one is named, and puts back what is gone. The answer is
/// how many were put back.
pub(crate) fn publish(workspace: &mut Workspace, git: &Git, lines: &[Line], session: Option<&Id>) -> Result<u64> {
    let new: Vec<NewLine<'_>> =
        lines.iter().map(|line| NewLine { commit: line.commit, line: &line.text, change: line.change }).collect();
    workspace.store.remember(&new, session, workspace.context.now())?;
    ensure(workspace, git, lines)
}

/// Puts back what is gone.
pub fn heal(workspace: &mut Workspace, git: &Git) -> Result<u64> {
    ensure(workspace, git, &[])
}

fn ensure(workspace: &mut Workspace, git: &Git, asked: &[Line]) -> Result<u64> {
    let store = &workspace.store;
    let mut up_to = 0;
    let mut reached = None;
    // A commit whose note has no room for what it was asked to take.
    let mut full = None;
    let restored = git.update(NOTES, "git-proof: anchor", |tip| {
        let tree = git.tree_of(tip)?;
        let known = store.known_tip(NOTES)?;
        // Lines of the store that were never seen in the notes belong to a process that was killed, or that has not
        // written them yet.
        let (mut wanted, last) = store.unseen_after(known.map_or(0, |(_, number)| number))?;
        up_to = last;
        let mut overwritten = match known {
            Some((known, _)) if Some(known) != tip => overwritten(workspace, git, &known, tree.as_ref())?,
            _ => Vec::new(),
        };
        overwritten.retain(|(commit, text)| !asked.iter().any(|new| new.commit == *commit && new.text == *text));
        wanted.extend(overwritten.iter().cloned());
        wanted.extend(asked.iter().map(|line| (line.commit, line.text.clone())));
        let mut notes: BTreeMap<CommitId, BTreeSet<Vec<u8>>> = BTreeMap::new();
        for (commit, line) in wanted {
            notes.entry(commit).or_default().insert(line.into_bytes());
        }
        let mut blobs = BTreeMap::new();
        let mut restored = 0;
        full = None;
        for (commit, mut lines) in notes {
            let places = tree.map(|tree| git.find_note(&tree, &commit)).transpose()?.unwrap_or_default();
            let there = match lines_at(git, &places) {
                Err(error) if error.code == Code::LimitReached => {
                    full = full.or_else(|| asked.iter().any(|line| line.commit == commit).then_some(commit));
                    continue;
                }
                there => there?,
            };
            let gone = |(of, line): &&(CommitId, String)| *of == commit && !there.contains(line.as_bytes());
            restored += overwritten.iter().filter(gone).count() as u64;
            let is_asked = |line: &[u8]| asked.iter().any(|new| new.commit == commit && new.text.as_bytes() == line);
            for line in lines.difference(&there).cloned().collect::<Vec<_>>() {
                if !is_asked(&line) && !is_true(workspace, git, &line)? {
                    lines.remove(&line);
                }
            }
            if lines.is_subset(&there) && places.len() < 2 {
                continue;
            }
            lines.extend(there);
            let text = text_of(&lines);
            // Nobody reads more than that, and so nobody would find what is in it.
            if text.len() > MAX_NOTE || lines.len() > MAX_NOTE_LINES {
                full = full.or_else(|| asked.iter().any(|line| line.commit == commit).then_some(commit));
                continue;
            }
            blobs.insert(commit, git.write_blob(&text)?);
        }
        if blobs.is_empty() {
            reached = tip;
            return Ok((None, restored));
        }
        let tree = git.put_notes(tree.as_ref(), &blobs)?;
        let parents: Vec<CommitId> = tip.into_iter().collect();
        let commit = git.write_commit(&tree, &parents, "Notes added by git proof")?;
        reached = Some(commit);
        Ok((Some(commit), restored))
    })?;
    if let Some(tip) = reached {
        workspace.store.set_known_tip(NOTES, &tip, up_to)?;
    }
    match full {
        Some(commit) => Err(too_full(&commit)),
        None => Ok(restored),
    }
}

/// Says that a line was not added to a note because it would not be read there.
fn too_full(commit: &CommitId) -> Error {
    let message = format!(
        "the note of commit {commit} would have more than the {MAX_NOTE} bytes or {MAX_NOTE_LINES} lines that are read"
    );
    Error::new(Code::LimitReached, message).hint(
        hint!("look at what is in it: ", Step::GitNotesShow(commit.to_string()); "lines that are no proof can go"),
    )
}

/// Whether a remembered line may be put back. It is only a row of the store: an anchor must say of its commit what git
/// says, and of its session what the entries here or the published evidence add up to.
fn is_true(workspace: &Workspace, git: &Git, line: &[u8]) -> Result<bool> {
    let anchor = match NoteLine::parse(line) {
        Ok(Some(NoteLine::Anchor { anchor, .. })) => anchor,
        other => return Ok(matches!(other, Ok(Some(_)))),
    };
    // A commit that is no longer here cannot be asked.
    if let Ok(commit) = git.commit(&anchor.commit)
        && (commit.tree != anchor.tree || git.change_id(&commit)? != anchor.change_id)
    {
        return Ok(false);
    }
    let session = match workspace.store.session(&anchor.session_id) {
        Ok(session) => session,
        Err(error) if error.code == Code::SessionNotFound => return Ok(true), // of another clone, and carried here
        Err(error) => return Err(error),
    };
    let check = workspace.store.check(&anchor.session_id)?;
    let ours = check.broken.is_none()
        && check.root == Some(anchor.root)
        && check.records == anchor.count
        && check.head == anchor.head
        && session.genesis == anchor.genesis
        && session.scheme() == anchor.scheme
        && session.opening.task_id == anchor.task_id;
    Ok(ours || supports(git, &anchor)?)
}

/// Our lines in notes that have changed since the notes were last known to be whole.
fn overwritten(
    workspace: &Workspace,
    git: &Git,
    known: &CommitId,
    tree: Option<&TreeId>,
) -> Result<Vec<(CommitId, String)>> {
    let before = git.commit(known).map(|commit| commit.tree);
    let (Ok(before), Some(tree)) = (before, tree) else {
        // The ref is gone, or what it held: every line counts.
        return Ok(workspace.store.unseen_after(0)?.0);
    };
    let mut lines = Vec::new();
    for commit in git.lost_notes(&before, Some(tree))? {
        lines.extend(workspace.store.unseen_of(&commit)?.into_iter().map(|line| (commit, line)));
    }
    Ok(lines)
}
