//! What a server lets in: branches by the gate, and proof refs only if nothing in them gets less.

use std::collections::BTreeSet;

use super::anchor::{MAX_NOTE, better_evidence, note_of};
use super::rounds::walk;
use super::verify::{self, VerifyOutcome};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::{CHANGES, EVIDENCE, Git, NOTES, ROUNDS, Repository, Shelved};
use crate::proof::digest::{CommitId, RootHash, TreeId};

/// A ref that a push would move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefUpdate {
    /// Its name.
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
    let place = Repository::discover(context)?;
    let git = Git::open(&place, context)?;
    let mut received = Received::default();
    for update in updates {
        if is_ours(&update.name) {
            received.refusals.extend(loses(&git, update)?);
        } else if update.name.starts_with("refs/heads/")
            && let Some(new) = update.new
        {
            let outcome = verify::gate_received(context, &git, update.old, &new)?;
            received.judged.push((update.name.clone(), outcome));
        }
    }
    Ok(received)
}

fn is_ours(name: &str) -> bool {
    name == NOTES || name.starts_with("refs/notes/proof/") || name.starts_with("refs/proof/") || name == "refs/proof"
}

/// Why an update of a proof ref is refused; `None` if all that was there is still there.
fn loses(git: &Git, update: &RefUpdate) -> Result<Option<String>> {
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
    let Some(old) = update.old else { return Ok(None) };
    if !git.is_ancestor(&old, &new)? {
        return Ok(Some(format!("{name} cannot be wound back or replaced: git proof sync merges")));
    }
    if name == ROUNDS {
        return Ok(None);
    }
    let before = git.commit(&old)?.tree;
    let lost = if name == NOTES {
        lost_line(git, &before, &commit.tree)?
    } else {
        lost_file(git, name, &before, &commit.tree)?
    };
    Ok(lost.map(|what| format!("{name} would lose {what}")))
}

fn lost_line(git: &Git, before: &TreeId, after: &TreeId) -> Result<Option<String>> {
    let mut changed = Vec::new();
    git.lost_notes(before, after, &mut |commit| changed.push(commit))?;
    for commit in changed {
        if !note_of(git, before, &commit)?.is_subset(&note_of(git, after, &commit)?) {
            return Ok(Some(format!("a line of the note of {commit}")));
        }
    }
    Ok(None)
}

fn lost_file(git: &Git, name: &str, before: &TreeId, after: &TreeId) -> Result<Option<String>> {
    let mut changed = Vec::new();
    git.added(Some(after), before, &mut |file, entry| changed.push((file.to_vec(), entry.id)))?;
    for (file, was) in changed {
        let file = String::from_utf8(file)
            .map_err(|_| Error::new(Code::RepositoryFailed, format!("{name} has a file whose name is not UTF-8")))?;
        let Shelved::File(is) = git.shelved(after, &file)? else { return Ok(Some(format!("the file {file}"))) };
        let kept = if name == EVIDENCE {
            let root = RootHash::parse(file.trim_end_matches(".jsonl"));
            root.is_some_and(|root| better_evidence(git, &root, was, is).is_ok_and(|better| better == is))
        } else {
            let lines = |blob| -> Result<BTreeSet<Vec<u8>>> {
                Ok(git.blob(blob, MAX_NOTE)?.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
            };
            lines(&was)?.is_subset(&lines(&is)?)
        };
        if !kept {
            return Ok(Some(format!("what the file {file} says")));
        }
    }
    Ok(None)
}
