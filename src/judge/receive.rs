//! What a server lets in: branches by the gate, and proof refs only if nothing in them gets less.

use std::collections::BTreeSet;

use super::gate::{Arriving, gate_received, is_forged_seal, refused_rewind, refused_seals, rules_of_server};
use super::verify::VerifyOutcome;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::limits::{MAX_EVIDENCE, MAX_INDEX_LINES, MAX_MERGED_NOTE, MAX_NOTE, MAX_NOTE_LINES, WORK_PER_COMMIT};
use crate::git::{CHANGES, EVIDENCE, FILE, Fanned, Git, NOTES, ROUNDS, TreeEntry};
use crate::proof::change::Sighting;
use crate::proof::digest::{CommitId, ObjectId, RootHash, TreeId};
use crate::proof::evidence;
use crate::proof::note::NoteLine;
use crate::publish::{better_evidence, lines_of};
use crate::rounds::walk;

/// A ref that a push would move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefUpdate {
    pub name: String,
    /// Where it is; `None` if it does not exist.
    pub old: Option<CommitId>,
    /// Where it would be; `None` if it would be deleted.
    pub new: Option<CommitId>,
}

/// What is to be said of a push.
#[derive(Debug, Default)]
pub struct Received {
    /// Why it is refused; empty if it is not.
    pub refusals: Vec<String>,
    /// How the commits of each branch stand.
    pub judged: Vec<(String, VerifyOutcome)>,
}

/// Judges a push before it is let in, with the objects that it brings at hand.
pub fn receive(context: &Context, updates: &[RefUpdate]) -> Result<Received> {
    let git = Git::discover(context)?;
    let mut received = Received::default();
    // A push may bring a seal and its signature at once.
    let pushed = updates.iter().find(|update| update.name == NOTES).and_then(|update| update.new);
    let notes = pushed.map_or_else(|| git.tip(NOTES), |tip| Ok(Some(tip)))?;
    for update in updates {
        if is_ours(&update.name) {
            let refusal = match refusal(context, &git, update)? {
                None if update.name == ROUNDS => refused_seals(context, &git, update, notes)?,
                refusal => refusal,
            };
            received.refusals.extend(refusal);
        } else if update.name.starts_with("refs/heads/") {
            received.refusals.extend(refused_rewind(context, &git, update)?);
            let Some(new) = update.new else { continue };
            let arriving = Arriving { name: &update.name, old: update.old, new };
            if let Some(outcome) = gate_received(context, &git, arriving)? {
                received.judged.push((update.name.clone(), outcome));
            }
        }
    }
    Ok(received)
}

fn is_ours(name: &str) -> bool {
    name == NOTES || name.starts_with("refs/notes/proof/") || name.starts_with("refs/proof/") || name == "refs/proof"
}

/// Why an update of a proof ref is refused; `None` if it may be.
fn refusal(context: &Context, git: &Git, update: &RefUpdate) -> Result<Option<String>> {
    let (refusal, enough) = git.meter.apart(WORK_PER_COMMIT, || refused(context, git, update));
    if enough {
        return refusal;
    }
    let name = &update.name;
    Ok(Some(format!("{name}: to check it takes more than {WORK_PER_COMMIT} units of work; push it in smaller parts")))
}

/// Why an update of a proof ref is refused; `None` if all that was there is still there, and what is new has its form and
/// is not too large.
fn refused(context: &Context, git: &Git, update: &RefUpdate) -> Result<Option<String>> {
    let name = &update.name;
    if ![NOTES, EVIDENCE, CHANGES, ROUNDS].contains(&name.as_str()) {
        return Ok(Some(format!("{name} is not a ref that git-proof shares")));
    }
    let Some(new) = update.new else { return Ok(Some(format!("{name} cannot be deleted"))) };
    let commit = match git.commit(&new) {
        Ok(commit) => commit,
        Err(error) => return Ok(Some(format!("{name} would not be a commit: {error}"))),
    };
    if name == ROUNDS
        && let Some(broken) = walk(git, &new, &mut |_| {}).broken
    {
        return Ok(Some(format!("{name} would not be a chain of rounds: {}", broken.message)));
    }
    let before = match &update.old {
        Some(old) if !git.is_ancestor(old, &new)? => {
            return Ok(Some(format!("{name} cannot be wound back or replaced: git proof sync merges")));
        }
        Some(old) => Some(git.commit(old)?.tree),
        None => None,
    };
    if name == ROUNDS {
        return Ok(None);
    }
    if let Some(what) = too_large(git, name, before.as_ref(), &commit.tree)? {
        return Ok(Some(format!("{name} would have {what}")));
    }
    let lost = match &before {
        Some(before) if name == NOTES => lost_line(git, before, &commit.tree)?,
        Some(before) => lost_file(git, name, before, &commit.tree)?,
        None => None,
    };
    if let Some(what) = lost {
        return Ok(Some(format!("{name} would lose {what}")));
    }
    let odd = if name == NOTES {
        odd_note(context, git, before.as_ref(), &commit.tree)?
    } else {
        odd_file(git, name, before.as_ref(), &commit.tree)?
    };
    Ok(odd.map(|what| format!("{name} would get {what}")))
}

/// What nobody would read of all that is new: it would only be in the way.
fn too_large(git: &Git, name: &str, before: Option<&TreeId>, after: &TreeId) -> Result<Option<String>> {
    let limit = if name == EVIDENCE { MAX_EVIDENCE } else { MAX_NOTE };
    let mut new: Vec<(String, ObjectId)> = Vec::new();
    if name == NOTES {
        for commit in git.lost_notes(after, before)? {
            let blobs = git.find_note(after, &commit)?;
            new.extend(blobs.into_iter().map(|blob| (format!("a note of {commit}"), blob)));
        }
    } else {
        let file = |name: &[u8]| format!("a file {:?}", String::from_utf8_lossy(name));
        new.extend(git.added(before, after)?.into_iter().map(|(_, entry)| (file(&entry.name), entry.id)));
    }
    for (what, blob) in new {
        // What is no file, or not here, is for others to report.
        if git.blob_size(&blob).is_ok_and(|size| size > limit as u64) {
            return Ok(Some(format!("{what} of more than {limit} bytes")));
        }
        let most = match name {
            EVIDENCE => continue,
            NOTES => MAX_NOTE_LINES,
            _ => MAX_INDEX_LINES,
        };
        // Nobody would read the lines behind them, and no push may take a line away again.
        if git.blob(&blob, limit).is_ok_and(|text| memchr::memchr_iter(b'\n', &text).count() > most) {
            return Ok(Some(format!("{what} of more than {most} lines")));
        }
    }
    Ok(None)
}

fn lost_line(git: &Git, before: &TreeId, after: &TreeId) -> Result<Option<String>> {
    for commit in git.lost_notes(before, Some(after))? {
        let [was, is] = [before, after].map(|tree| git.find_note(tree, &commit));
        let (was, is) = (was?, is?);
        if was != is && !lines(git, &was, &was)?.is_subset(&lines(git, &is, &was)?) {
            return Ok(Some(format!("a line of the note of {commit}")));
        }
    }
    Ok(None)
}

/// What is new in the notes and no line that git-proof writes.
fn odd_note(context: &Context, git: &Git, before: Option<&TreeId>, after: &TreeId) -> Result<Option<String>> {
    let new = git.only_in_notes(after, before)?;
    if let Some(odd) = new.odd {
        return Ok(Some(format!("{:?}, which is no note", String::from_utf8_lossy(&odd.name))));
    }
    let mut rules = None;
    for commit in new.commits {
        let was = before.map(|before| git.find_note(before, &commit)).transpose()?.unwrap_or_default();
        let is = git.find_note(after, &commit)?;
        for line in lines(git, &is, &was)?.difference(&lines(git, &was, &was)?) {
            match NoteLine::parse(line) {
                Err(error) => {
                    return Ok(Some(format!("a line of the note of {commit} that cannot be read: {error}")));
                }
                Ok(Some(NoteLine::Seal { signature, .. })) => {
                    let rules = match &mut rules {
                        Some(rules) => rules,
                        none => none.insert(rules_of_server(context, git)?),
                    };
                    if !is_forged_seal(git, rules, &commit, &signature) {
                        continue;
                    }
                    return Ok(Some(format!("a signature of the seal {commit} that its key did not make")));
                }
                Ok(_) => {}
            }
        }
    }
    Ok(None)
}

/// The lines of some blobs. Of those that were there before, larger ones than are written now are read as well.
fn lines(git: &Git, blobs: &[ObjectId], before: &[ObjectId]) -> Result<BTreeSet<Vec<u8>>> {
    let mut lines = BTreeSet::new();
    for blob in blobs {
        let limit = if before.contains(blob) { MAX_MERGED_NOTE } else { MAX_NOTE };
        let text = git.proof_blob(blob, limit)?;
        lines.extend(lines_of(&text).into_iter().map(<[u8]>::to_vec));
    }
    Ok(lines)
}

fn lost_file(git: &Git, name: &str, before: &TreeId, after: &TreeId) -> Result<Option<String>> {
    for (_, TreeEntry { name: file, id: was, .. }) in git.added(Some(after), before)? {
        let file = String::from_utf8(file)
            .map_err(|_| Error::new(Code::RepositoryFailed, format!("{name} has a file whose name is not UTF-8")))?;
        let Fanned::File(is) = git.find_fanned(after, &file)? else { return Ok(Some(format!("the file {file}"))) };
        let kept = if name == EVIDENCE {
            let root = RootHash::parse(file.trim_end_matches(".jsonl"));
            root.is_some_and(|root| better_evidence(git, &root, was, is).is_ok_and(|better| better == is))
        } else {
            lines(git, &[was], &[was])?.is_subset(&lines(git, &[is], &[was])?)
        };
        if !kept {
            return Ok(Some(format!("what the file {file} says")));
        }
    }
    Ok(None)
}

/// What is new among the evidence or the index and not as git-proof writes it.
fn odd_file(git: &Git, name: &str, before: Option<&TreeId>, after: &TreeId) -> Result<Option<String>> {
    for (folder, entry) in git.added(before, after)? {
        let file = String::from_utf8_lossy(&entry.name).into_owned();
        let odd = |why: &str| Ok(Some(format!("the file {file:?}, {why}")));
        let digits = if name == EVIDENCE { file.strip_suffix(".jsonl") } else { Some(file.as_str()) };
        let Some(root) = digits.and_then(RootHash::parse) else { return odd("whose name is none of this ref") };
        if !file.as_bytes().starts_with(&folder) || folder.len() != 2 || entry.mode != FILE {
            return odd("which is in the wrong place or no plain file");
        }
        if name == EVIDENCE {
            let text = git.blob(&entry.id, MAX_EVIDENCE)?;
            if !evidence::verify(&text).is_ok_and(|summary| summary.root == root) {
                return odd("which is not the evidence of that root");
            }
        } else {
            let known = match before.map(|before| git.find_fanned(before, &file)).transpose()? {
                Some(Fanned::File(was)) => vec![was],
                _ => Vec::new(),
            };
            let new = lines(git, &[entry.id], &known)?;
            if new.difference(&lines(git, &known, &known)?).any(|line| Sighting::parse(line).is_err()) {
                return odd("with a line that cannot be read");
            }
        }
    }
    Ok(None)
}
