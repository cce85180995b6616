//! One readable line for `git log`: why the commit was made, in a notes ref of this clone alone. It proves nothing and is
//! never pushed; it is there for the eye, where the settings ask git to show it.

use std::collections::BTreeMap;

use memchr::memmem;

use super::evidence::read_evidence;
use crate::error::Result;
use crate::git::{EVIDENCE, Git, NOTES, WHY};
use crate::proof::digest::{CommitId, RootHash, TreeId};
use crate::proof::evidence::Verifier;
use crate::proof::record::{Body, Line, RecordType};
use crate::proof::text::brief_line;

/// Longest text that is shown, in characters.
const LONGEST: usize = 160;

/// Writes the line of some commits, if git is set to show it.
pub(super) fn explain(git: &Git, commits: impl Iterator<Item = CommitId>, evidence: &[u8]) -> Result<()> {
    let commits: Vec<CommitId> = commits.collect();
    if commits.is_empty() || !git.shows_notes(WHY) {
        return Ok(());
    }
    let Some(line) = line_of(evidence) else { return Ok(()) };
    let blob = git.write_blob(line.as_bytes())?;
    put(git, &commits.into_iter().map(|commit| (commit, blob)).collect())
}

/// Those of these commits that have no line yet and may have one: others need not be judged.
pub(crate) fn unexplained(git: &Git, commits: Vec<CommitId>) -> Result<Vec<CommitId>> {
    let (anchored, explained) = (git.proof_tree(NOTES)?, git.proof_tree(WHY)?);
    let has_note = |tree: Option<TreeId>, commit: &CommitId| -> Result<bool> {
        tree.map_or(Ok(false), |tree| Ok(!git.find_note(&tree, commit)?.is_empty()))
    };
    let mut wanted = Vec::new();
    for commit in commits {
        // A squash has no note of its own, but says where it comes from.
        let may_have_one =
            has_note(anchored, &commit)? || memmem::find(&git.commit(&commit)?.message, b"Proof-").is_some();
        if may_have_one && !has_note(explained, &commit)? {
            wanted.push(commit);
        }
    }
    Ok(wanted)
}

/// Writes the lines of commits that others proved, each by the evidence of this root.
pub(crate) fn explain_proven(git: &Git, proven: &[(CommitId, RootHash)]) -> Result<()> {
    let tree = git.proof_tree(EVIDENCE)?;
    let mut notes = BTreeMap::new();
    for (commit, root) in proven {
        if let Some(line) = read_evidence(git, tree, root)?.and_then(|text| line_of(&text)) {
            notes.insert(*commit, git.write_blob(line.as_bytes())?);
        }
    }
    put(git, &notes)
}

/// Copies the lines of rewritten commits.
pub(super) fn follow(git: &Git, rewritten: &[(CommitId, CommitId)]) -> Result<()> {
    let Some(tree) = git.tip_tree(WHY)? else { return Ok(()) };
    let mut notes = BTreeMap::new();
    for (old, new) in rewritten {
        if let Some(blob) = git.find_note(&tree, old)?.first() {
            notes.insert(*new, *blob);
        }
    }
    put(git, &notes)
}

fn put(git: &Git, notes: &BTreeMap<CommitId, crate::proof::digest::ObjectId>) -> Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    git.update(WHY, "git-proof: why", |tip| {
        let tree = git.tree_of(tip)?;
        let tree = git.put_notes(tree.as_ref(), notes)?;
        // Without parents: nobody asks how this ref came about, and it would only grow.
        Ok((Some(git.write_commit(&tree, &[], "Why, for git log")?), ()))
    })
}

/// The line for a session: its closing reflection, else its last decision.
fn line_of(evidence: &[u8]) -> Option<String> {
    let mut verifier = Verifier::new();
    let mut said: Option<(RecordType, String)> = None;
    verifier
        .push_with(evidence, |_, line, _| {
            if let Line::Entry(entry) = line
                && let Body::Thought { kind, content, .. } = &entry.body
                && matches!(kind, RecordType::Reflection | RecordType::Decision)
            {
                said = Some((*kind, content.to_string()));
            }
        })
        .ok()?;
    let summary = verifier.finish().ok()?;
    let text = said.map_or_else(|| summary.opening.intent.clone(), |(_, text)| text);
    let entries = if summary.count == 1 { "1 entry".to_owned() } else { format!("{} entries", summary.count) };
    Some(format!("{} [{entries}, root {:.12}]\n", brief_line(&text, LONGEST), summary.root))
}
