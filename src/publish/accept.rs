//! Taking over proofs that another repository offers: the lines of notes, the evidence and the lines of the index that were
//! found to hold, and nothing else. Each is written as one's own would be: evidence first, notes last.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::{attested_by_evidence, put_evidence, read_evidence};
use super::index::add;
use super::lines::{Line, lines_of, note_of, publish};
use crate::error::Result;
use crate::git::limits::MAX_NOTE;
use crate::git::{CHANGES, EVIDENCE, Fanned, Git, NOTES};
use crate::proof::change::{ChangeIds, Sighting};
use crate::proof::digest::{AnchorId, ChangeId, CommitId, RootHash};
use crate::proof::note::NoteLine;
use crate::proof::sshsig::{self, NAMESPACE};
use crate::record::Workspace;

/// The notes, evidence and index lines that are to be accepted.
#[derive(Debug, Default)]
pub(crate) struct Acceptable {
    lines: Vec<Line>,
    evidence: BTreeMap<RootHash, Vec<u8>>,
    sightings: BTreeSet<(ChangeId, Sighting)>,
    keep: BTreeSet<CommitId>,
}

/// How much was taken over, and was not there before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct TakenOver {
    /// Lines of notes.
    pub anchors: u64,
    pub evidence: u64,
    /// Lines of the index of changes.
    pub changes: u64,
}

impl Acceptable {
    /// Adds an anchor that holds for a landed commit: its lines in the note of `noted_on`, and its evidence. A signature
    /// that is not one of the anchor is left behind.
    pub(crate) fn anchor(&mut self, with: &Git, noted_on: &CommitId, (id, root): (AnchorId, RootHash)) -> Result<()> {
        let Some(notes) = with.proof_tree(NOTES)? else { return Ok(()) };
        let change = with.commit(noted_on).ok().map(|commit| with.change_ids_of(&commit)).transpose()?.flatten();
        for line in note_of(with, &notes, noted_on)? {
            let Ok(Some(NoteLine::Anchor { anchor, signature })) = NoteLine::parse(&line) else { continue };
            let genuine = signature
                .as_ref()
                .is_none_or(|signature| sshsig::verify(&signature.0, anchor.to_text().as_bytes(), NAMESPACE).is_ok());
            if anchor.id() == id && genuine {
                let text = String::from_utf8_lossy(&line).into_owned();
                self.lines.push(Line { commit: *noted_on, text, change });
            }
        }
        self.evidence.extend(read_evidence(with, with.proof_tree(EVIDENCE)?, &root)?.map(|text| (root, text)));
        Ok(())
    }

    /// Adds a line of the index, under those ids of a change under which it is offered.
    pub(crate) fn sighting(&mut self, with: &Git, ids: &ChangeIds, sighting: Sighting) -> Result<()> {
        for id in [ids.wide, ids.bare] {
            if is_indexed(with, &id, &sighting)? {
                self.sightings.insert((id, sighting));
            }
        }
        Ok(())
    }

    /// Keeps a commit alive that others need to check what landed, unless the landed history has it.
    pub(crate) fn keep(&mut self, with: &Git, landed: &CommitId, commit: CommitId) -> Result<()> {
        if with.has(&commit.0) && !with.is_ancestor(&commit, landed)? {
            self.keep.insert(commit);
        }
        Ok(())
    }

    /// Keeps those commits alive that a session attests and that a landed one replaces.
    pub(crate) fn keep_originals(&mut self, with: &Git, landed: &CommitId, root: &RootHash) -> Result<()> {
        let commit = with.commit(landed)?;
        for original in attested_by_evidence(with, root)? {
            let replaced = with.commit(&original).is_ok_and(|old| with.is_rewrite(&old, &commit) == Ok(true));
            if original != *landed && replaced {
                self.keep(with, landed, original)?;
            }
        }
        Ok(())
    }

    /// Writes all of it. `with` sees what was offered.
    pub(crate) fn take_over(&self, workspace: &mut Workspace, with: &Git) -> Result<TakenOver> {
        if !self.keep.is_empty() {
            with.take_over(&self.keep.iter().copied().collect::<Vec<_>>())?;
        }
        // Opened only now, so that the pack that was just written is known.
        let git = workspace.git()?;
        let evidence: Vec<(RootHash, &[u8])> = self.evidence.iter().map(|(root, text)| (*root, &text[..])).collect();
        let evidence = put_evidence(&git, &evidence, "git-proof: accept", "Evidence accepted")?;
        let mut taken = TakenOver { evidence, ..TakenOver::default() };
        for (change, sighting) in &self.sightings {
            taken.changes += u64::from(!is_indexed(&git, change, sighting)?);
        }
        add(&git, &self.sightings, &self.keep)?;
        let before = git.proof_tree(NOTES)?;
        for line in &self.lines {
            let there = before.map(|tree| note_of(&git, &tree, &line.commit)).transpose()?.unwrap_or_default();
            taken.anchors += u64::from(!there.contains(line.text.as_bytes()));
        }
        publish(workspace, &git, &self.lines, None)?;
        Ok(taken)
    }
}

/// Whether the index has a line under a change.
fn is_indexed(git: &Git, change: &ChangeId, sighting: &Sighting) -> Result<bool> {
    let Some(tree) = git.proof_tree(CHANGES)? else { return Ok(false) };
    let Fanned::File(blob) = git.find_fanned(&tree, &change.to_string())? else { return Ok(false) };
    Ok(lines_of(&git.blob(&blob, MAX_NOTE)?).contains(sighting.to_line().as_bytes()))
}
