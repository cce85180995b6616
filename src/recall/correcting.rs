//! Finds the commits that may correct a decision: they touched the same file, and their evidence names an entry that it
//! supersedes. This is only a filter, so that not every commit must be judged.

use std::collections::HashMap;

use memchr::memmem;

use crate::error::Result;
use crate::git::limits::MAX_EVIDENCE;
use crate::git::{EVIDENCE, Fanned, Git, NOTES};
use crate::judge::Elsewhere;
use crate::proof::digest::{CommitId, RootHash, TreeId};
use crate::proof::note::NoteLine;
use crate::proof::trailer::{ProofTrailer, ProofTrailers};
use crate::publish::{evidence_name, note_of};
use crate::store::{Extent, Store};

/// Newest commits that touched the file in which a correction is looked for.
const MOST: usize = 64;

/// The newest commit that leads to `tip` and touched a file, and the others of late that may correct something that was decided
/// for the commits in `blamed`.
pub(super) fn correcting(
    git: &Git,
    store: Option<&Store>,
    tip: &CommitId,
    path: &[u8],
    blamed: &HashMap<CommitId, u64>,
) -> Result<Vec<CommitId>> {
    let mut commits = touching(git, store, tip, path, blamed)?;
    let tree = |name: &str| Some(git.commit(&git.tip(name).ok()??).ok()?.tree);
    let (notes, evidence) = (tree(NOTES), tree(EVIDENCE));
    let elsewhere = Elsewhere::new(git, store)?;
    let mut is_newest = true;
    commits.retain(|commit| {
        std::mem::take(&mut is_newest)
            || notes.is_none_or(|notes| may_correct(git, &notes, evidence.as_ref(), commit))
            || elsewhere.may_explain(commit)
    });
    Ok(commits)
}

/// By the index, and by git for what it has not. What the index has must lead to `tip`.
fn touching(
    git: &Git,
    store: Option<&Store>,
    tip: &CommitId,
    path: &[u8],
    blamed: &HashMap<CommitId, u64>,
) -> Result<Vec<CommitId>> {
    let known = store.and_then(|store| Some((store, store.paths_tip().ok()??)));
    let leads_to = |known: &CommitId| known == tip || git.has(&known.0) && git.is_ancestor(known, tip).unwrap_or(false);
    let Some((store, known)) = known.filter(|(_, known)| known.extent != Extent::Gap && leads_to(&known.tip)) else {
        return git.newest_touching(tip, None, path, MOST);
    };
    let mut commits =
        if known.tip == *tip { Vec::new() } else { git.newest_touching(tip, Some(&known.tip), path, MOST)? };
    commits.extend(store.commits_of_path(path, MOST - commits.len())?.into_iter().filter(|commit| git.has(&commit.0)));
    // An index of the newest commits is enough where they include those in question: a correction comes after what it corrects.
    if known.extent == Extent::Newest && !blamed.keys().all(|commit| commits.contains(commit)) {
        return git.newest_touching(tip, None, path, MOST);
    }
    Ok(commits)
}

/// By the note and the trailers of a commit. One without a note may be explained in another way.
fn may_correct(git: &Git, notes: &TreeId, evidence: Option<&TreeId>, commit: &CommitId) -> bool {
    let Ok(lines) = note_of(git, notes, commit) else { return true };
    let anchors = lines.iter().filter_map(|line| match NoteLine::parse(line) {
        Ok(Some(NoteLine::Anchor { anchor, .. })) => Some(anchor.root),
        _ => None,
    });
    let Ok(message) = git.commit(commit).map(|commit| commit.message) else { return true };
    let named = ProofTrailers::parse(&message).trailers.into_iter().filter_map(|trailer| match trailer {
        ProofTrailer::Root(root) => Some(root.root),
        _ => None,
    });
    let corrects = |root: RootHash| evidence.is_some_and(|tree| supersedes(git, tree, &root));
    lines.is_empty() || anchors.chain(named).any(corrects)
}

fn supersedes(git: &Git, evidence: &TreeId, root: &RootHash) -> bool {
    let Ok(Fanned::File(blob)) = git.find_fanned(evidence, &evidence_name(root)) else { return false };
    let text = git.proof_blob(&blob, MAX_EVIDENCE);
    text.is_ok_and(|text| memmem::find(&text, b"\"supersedes\":\"").is_some())
}
