//! Evidence of a session, published under its root.

use std::collections::HashSet;

use crate::error::{Code, Error, Result};
use crate::git::limits::MAX_EVIDENCE;
use crate::git::{EVIDENCE, Fanned, Git, ObjectError, Read};
use crate::hint::{Step, hint};
use crate::proof::anchor::Anchor;
use crate::proof::change::GitAttestation;
use crate::proof::digest::{CommitId, ObjectId, RootHash, TreeId};
use crate::proof::evidence::{self, Summary, Verifier};
use crate::proof::note::NoteLine;
use crate::proof::observed::Observed;
use crate::proof::record::{Body, Entry, Id, Line, RecordType};
use crate::record::{Workspace, credential_in_entry, credential_in_opening, thaw};
use crate::store::{Log, RootRow, StoredEntry};

pub(crate) fn file_name(root: &RootHash) -> String {
    format!("{root}.jsonl")
}

pub(crate) fn has_evidence(git: &Git, root: &RootHash) -> Result<bool> {
    Ok(blob_of(git, git.tip_tree(EVIDENCE)?, root)?.is_some())
}

/// The evidence of a root in a tree; `None` if there is none.
pub(super) fn read_evidence(git: &Git, tree: Option<TreeId>, root: &RootHash) -> Result<Option<Vec<u8>>> {
    Ok(blob_of(git, tree, root)?.map(|blob| git.blob(&blob, MAX_EVIDENCE)).transpose()?)
}

fn blob_of(git: &Git, tree: Option<TreeId>, root: &RootHash) -> Read<Option<ObjectId>> {
    let Some(tree) = tree else { return Ok(None) };
    Ok(match git.find_fanned(&tree, &file_name(root))? {
        Fanned::File(blob) => Some(blob),
        Fanned::Nothing | Fanned::Other => None,
    })
}

/// The commits that the evidence of a root attests.
pub(crate) fn attested_by_evidence(git: &Git, root: &RootHash) -> Result<Vec<CommitId>> {
    let mut commits = Vec::new();
    let Some(text) = read_evidence(git, git.proof_tree(EVIDENCE)?, root)? else { return Ok(commits) };
    let _ = Verifier::new().push_with(&text, |_, line, _| {
        if let Line::Entry(entry) = line
            && let Body::Attest { attest } = &entry.body
            && let Ok(GitAttestation { commit: Some(commit), .. }) = GitAttestation::parse(attest.as_bytes())
        {
            commits.push(commit);
        }
    });
    Ok(commits)
}

/// The evidence of a session, and what it adds up to.
pub(super) struct Evidence {
    pub(super) text: Vec<u8>,
    /// Chain, root and count as computed from the lines of the file. Anchors are made from this, not from rows of the
    /// store.
    pub(super) summary: Summary,
    /// How many entries are withheld for no other reason than that they hold what looks like a credential.
    pub(super) guarded: u64,
}

impl Evidence {
    /// Requires that the lines add up to what the store says of the session.
    fn new(text: Vec<u8>, guarded: u64, row: &RootRow) -> Result<Self> {
        let broken = |why: String| {
            let session = &row.session_id;
            Error::new(Code::ChainBroken, format!("session {session} is not published: its entries do not verify"))
                .because(why)
                .hint(hint!(Step::Check(session.to_string()), " shows where the chain breaks"))
                .details(serde_json::json!({ "session_id": session }))
        };
        let summary = evidence::verify(&text).map_err(|error| broken(error.to_string()))?;
        if row.is_of(&summary) {
            Ok(Self { text, summary, guarded })
        } else {
            Err(broken(format!("they add up to {} entries with root {}", summary.count, summary.root)))
        }
    }
}

/// Whether published evidence adds up to what an anchor says of it.
pub(super) fn supports(git: &Git, anchor: &Anchor) -> Result<bool> {
    let Some(text) = read_evidence(git, git.tip_tree(EVIDENCE)?, &anchor.root)? else { return Ok(false) };
    Ok(evidence::verify(&text).is_ok_and(|summary| {
        summary.root == anchor.root
            && summary.count == anchor.count
            && summary.head == anchor.head
            && summary.genesis == anchor.genesis
            && summary.opening.scheme == anchor.scheme
            && summary.opening.session_id == anchor.session_id
            && summary.opening.task_id == anchor.task_id
    }))
}

/// Publishes the evidence of a finalized session, unless it is there.
pub(super) fn publish_evidence(workspace: &mut Workspace, git: &Git, row: &RootRow) -> Result<Evidence> {
    let evidence = match evidence_of(workspace, git, row) {
        Ok(Some(evidence)) => evidence,
        Ok(None) => return published(git, row),
        // An older version published such a session: that stays, and is not published again.
        Err(refusal) if matches!(refusal.code, Code::ReflectionRequired | Code::SecretDetected) => {
            return published(git, row).map_err(|_| refusal);
        }
        Err(error) => return Err(error),
    };
    let text = &evidence.text;
    if text.len() > MAX_EVIDENCE {
        let bytes = text.len();
        return Err(Error::new(
            Code::LimitReached,
            format!(
                "the evidence of session {} has {bytes} bytes, more than the {MAX_EVIDENCE} that are read",
                row.session_id
            ),
        )
        .hint("nobody could check it; record the rest of the work in further sessions"));
    }
    let message = format!("Evidence of session {}", row.session_id);
    put_evidence(git, &[(row.root, text)], "git-proof: evidence", &message)?;
    Ok(evidence)
}

/// Writes evidence under its roots, unless what is there is as good. The answer is how many files are new.
pub(super) fn put_evidence(git: &Git, evidence: &[(RootHash, &[u8])], why: &str, message: &str) -> Result<u64> {
    git.update(EVIDENCE, why, |tip| {
        let tree = git.tree_of(tip)?;
        let mut files = Vec::new();
        for (root, text) in evidence {
            let (there, blob) = (blob_of(git, tree, root)?, git.write_blob(text)?);
            match there {
                Some(other) if better_evidence(git, root, other, blob)? == other => {}
                _ => files.push((file_name(root), blob)),
            }
        }
        if files.is_empty() {
            return Ok((None, 0));
        }
        let tree = git.put_fanned(tree.as_ref(), &files)?;
        let parents: Vec<CommitId> = tip.into_iter().collect();
        Ok((Some(git.write_commit(&tree, &parents, message)?), files.len() as u64))
    })
}

/// Publishes again the evidence that lines of ours name and that the ref lacks, as far as the store has it: of the lines that
/// no remote is known to have, or of `all`. The answer is how much of it was missing.
pub fn restore_evidence(workspace: &mut Workspace, git: &Git, all: bool) -> Result<u64> {
    let (unseen, last) = workspace.store.unseen_after(0)?;
    let lines = if all { workspace.store.lines(None)? } else { unseen.into_iter().map(|(_, line)| line).collect() };
    let tip = git.tip(EVIDENCE)?;
    if lines.is_empty() || !all && tip.zip(Some(last)) == workspace.store.known_tip(EVIDENCE)? {
        return Ok(0);
    }
    let tree = git.tree_of(tip)?;
    let mut looked_at = HashSet::new();
    let mut missing = 0;
    for line in lines {
        let Ok(Some(NoteLine::Anchor { anchor, .. })) = NoteLine::parse(line.as_bytes()) else { continue };
        if !looked_at.insert(anchor.root) {
            continue;
        }
        let there = tree.map(|tree| git.find_fanned(&tree, &file_name(&anchor.root))).transpose()?;
        if !matches!(there, None | Some(Fanned::Nothing)) {
            continue;
        }
        // A line that was carried here may be of a session of another clone.
        let row = match workspace.store.root(&anchor.session_id) {
            Err(error) if error.code == Code::SessionNotFound => continue,
            row => row?.filter(|row| row.root == anchor.root),
        };
        if let Some(row) = row {
            publish_evidence(workspace, git, &row)?;
            missing += 1;
        }
    }
    if let Some(tip) = git.tip(EVIDENCE)?.filter(|_| missing == 0) {
        workspace.store.set_known_tip(EVIDENCE, &tip, last)?;
    }
    Ok(missing)
}

/// The evidence that was published of a session whose texts are gone.
fn published(git: &Git, row: &RootRow) -> Result<Evidence> {
    let gone = || {
        Error::new(Code::RecordNotFound, format!("the texts of session {} are frozen", row.session_id)).hint(hint!(
            Step::Sync, " may fetch the evidence that it published before";
            "without it there is nothing to anchor"
        ))
    };
    let text = read_evidence(git, git.tip_tree(EVIDENCE)?, &row.root)?.ok_or_else(gone)?;
    Evidence::new(text, 0, row).map_err(|_| gone())
}

/// Why a session cannot be published: its opening, and the reflection that closes a proof-grade one, are readable lines, so
/// neither may hold a credential, and the reflection may not be private. The last entry must be at hand.
pub(crate) fn obstacle(log: &Log) -> Result<Option<Error>> {
    let (session, opening) = (log.session.id(), &log.session.opening);
    let anew = Step::StartAnew(session.to_string());
    let again = Step::RecordReflection(session.to_string());
    let refused = |code, why: String, way_out: Step| {
        let error = Error::new(code, format!("session {session} cannot be published: {why}"));
        Ok(Some(error.hint(way_out).details(serde_json::json!({ "session_id": session }))))
    };
    if let Some((part, secret)) = credential_in_opening(opening) {
        let why = format!("{part} holds what looks like {}", secret.what);
        let has_entries = !log.entries.is_empty();
        let way_out = if has_entries { anew } else { Step::Start };
        return refused(Code::SecretDetected, why, way_out);
    }
    let closes = |last: &&StoredEntry| opening.proof_grade && last.kind == Some(RecordType::Reflection);
    let Some(last) = log.entries.last().filter(closes) else { return Ok(None) };
    let way_out = if log.session.is_open() { again } else { anew };
    if last.private {
        let why =
            "its last entry is private, and a proof-grade session ends in a reflection that can be read".to_owned();
        return refused(Code::ReflectionRequired, why, way_out);
    }
    match last.entry()?.as_ref().and_then(credential_in_entry) {
        Some(secret) => {
            let why = format!("the reflection that closes it holds what looks like {}", secret.what);
            refused(Code::SecretDetected, why, way_out)
        }
        None => Ok(None),
    }
}

/// The evidence of a session, with private entries and those that hold a credential withheld; `None` if its texts are gone.
fn evidence_of(workspace: &mut Workspace, git: &Git, row: &RootRow) -> Result<Option<Evidence>> {
    let mut log = workspace.store.log(&row.session_id, None)?;
    if log.entries.iter().any(|entry| entry.line.is_none()) && thaw(workspace, &row.session_id)? {
        log = workspace.store.log(&row.session_id, None)?;
    }
    if let Some(refusal) = obstacle(&log)? {
        return Err(refusal);
    }
    let mut text = log.session.opening_line.into_bytes();
    text.push(b'\n');
    let mut guarded = 0;
    let disclosed = workspace.store.disclosed(&row.session_id)?;
    let mut committed = None;
    for stored in &log.entries {
        let Some(entry) = stored.entry()? else { return Ok(None) };
        let is_disclosed = disclosed.contains(stored.id.as_str());
        let is_guarded = !stored.private && credential_in_entry(&entry).is_some();
        guarded += u64::from(is_guarded);
        let mut withheld = stored.private;
        if let Some(blobs) = written(&entry) {
            let committed = match &committed {
                Some(known) => known,
                None => committed.insert(committed_blobs(workspace, git, &row.session_id)?),
            };
            withheld |= !blobs.iter().all(|blob| committed.contains(blob));
        }
        withheld = is_guarded || withheld && !is_disclosed;
        text.extend_from_slice(evidence::publish(row.scheme, &entry, withheld).as_bytes());
        text.push(b'\n');
    }
    Evidence::new(text, guarded, row).map(Some)
}

/// The blobs that an entry says were written.
fn written(entry: &Entry<'_>) -> Option<Vec<ObjectId>> {
    let Body::Attest { attest } = &entry.body else { return None };
    match Observed::parse(attest.as_bytes()) {
        Ok(Observed::Wrote(blobs)) => Some(blobs),
        _ => None,
    }
}

/// The contents that the commits of a session brought. What was written and never committed is nobody's business: even the id
/// of a blob would confirm a guess of what is in it.
fn committed_blobs(workspace: &Workspace, git: &Git, session: &Id) -> Result<HashSet<ObjectId>> {
    let mut blobs = HashSet::new();
    for commit in workspace.store.attested(session)?.iter().filter_map(|said| said.commit) {
        let Ok(commit) = git.commit(&commit) else { continue };
        let before = git.tree_of(commit.parents.first().copied()).unwrap_or_default();
        let Ok(changes) = git.diff(before.as_ref(), Some(&commit.tree)) else { continue };
        blobs.extend(changes.iter().filter_map(|change| change.new.map(|entry| entry.id)));
    }
    Ok(blobs)
}

/// Of two files for one root: the one that verifies, then the one with less withheld. Two clones that merge in opposite
/// directions must come to the same, so the order of the arguments decides nothing.
///
/// Several lists of leaves have one root. A list of which any line can be read has the session's own entries, with the
/// last of them repeated at most, so the shortest such list is the session's; one of which no line can be read may be
/// made of nodes further up in its tree.
pub(crate) fn better_evidence(git: &Git, root: &RootHash, there: ObjectId, new: ObjectId) -> Result<ObjectId> {
    if there == new {
        return Ok(there);
    }
    let rank = |blob: ObjectId| {
        let text = match git.blob(&blob, MAX_EVIDENCE) {
            Ok(text) => text,
            // In a partial clone the good one may be the one that is not at hand.
            Err(missing @ ObjectError::Missing(_)) => return Err(Error::from(missing)),
            Err(ObjectError::Damaged(..) | ObjectError::Limit(..)) => return Ok((1, true, 0, 0, blob)),
        };
        // The least is the best.
        Ok(match evidence::verify(&text).ok().filter(|summary| summary.root == *root) {
            Some(summary) => (0, summary.withheld == summary.count, summary.count, summary.withheld, blob),
            None => (1, true, 0, 0, blob),
        })
    };
    Ok(if rank(new)? < rank(there)? { new } else { there })
}
