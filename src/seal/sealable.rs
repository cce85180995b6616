//! The anchors that a round can seal: those in the notes that hold for their commit and that no round has sealed yet.

use std::collections::{BTreeMap, HashMap};

use crate::context::Context;
use crate::error::Result;
use crate::git::limits::MAX_NOTE;
use crate::git::{Git, NOTES};
use crate::judge::{CommitVerdict, judge_for_sealing, passed_over};
use crate::proof::digest::{AnchorId, CommitId, RootHash};
use crate::proof::finding::{Finding, FindingCode, Severity};
use crate::proof::note::NoteLine;
use crate::proof::record::Id;
use crate::proof::scheme::Scheme;
use crate::proof::timestamp::Timestamp;

/// An anchor that a round can seal.
#[derive(Debug, Clone)]
pub(crate) struct Sealable {
    pub(crate) anchor_id: AnchorId,
    pub(crate) session_id: Id,
    pub(crate) root: RootHash,
    pub(crate) count: u64,
    pub(crate) scheme: Scheme,
    pub(crate) anchored_at: Timestamp,
}

/// An anchor that cannot be sealed, and why.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct LeftOut {
    /// The commit in whose note it is.
    pub commit: CommitId,
    pub session_id: Id,
    /// What is wrong with it.
    pub codes: Vec<FindingCode>,
}

/// Looks at all anchors of the notes but those that `is_sealed` knows. The last answer says what was passed over.
pub(crate) fn sealable(
    context: &Context,
    git: &Git,
    is_sealed: impl Fn(&AnchorId, &Id, &RootHash) -> bool,
) -> Result<(Vec<Sealable>, Vec<LeftOut>, Option<Finding>)> {
    let Some(notes) = git.tip_tree(NOTES)? else { return Ok((Vec::new(), Vec::new(), None)) };
    let mut blobs = Vec::new();
    let passed = git.each_note(&notes, &mut |commit, blob| blobs.push((commit, blob)))?;
    let mut unread = passed.remark();
    let blobs = git.sort_by_family(blobs, |(_, blob)| blob);
    let mut times: HashMap<AnchorId, Timestamp> = HashMap::new();
    let mut commits: BTreeMap<CommitId, Vec<Id>> = BTreeMap::new();
    for (commit, blob) in blobs {
        // A note that cannot be read has nothing that could be sealed; verify says so of its commit.
        let text = match git.proof_blob(&blob, MAX_NOTE) {
            Ok(text) => text,
            Err(error) => {
                unread.get_or_insert_with(|| format!("the note of {commit}: {error}"));
                continue;
            }
        };
        for line in text.split(|byte| *byte == b'\n') {
            let Ok(Some(NoteLine::Anchor { anchor, .. })) = NoteLine::parse(line) else { continue };
            let id = anchor.id();
            if !is_sealed(&id, &anchor.session_id, &anchor.root) {
                times.insert(id, anchor.anchored_at);
                commits.entry(commit).or_default().push(anchor.session_id.clone());
            }
        }
    }
    let mut wanted: Vec<CommitId> = commits.keys().copied().collect();
    // As in the pack, which is about the order of history: a commit's trees are those of its parent, but for what it changed. In
    // the order of ids, 100,000 sessions took two and a half times as long each as 10,000.
    wanted.sort_by_cached_key(|commit| git.place_of(&commit.0));
    let verdicts = judge_for_sealing(context, git, &wanted)?;
    let mut found: BTreeMap<AnchorId, Sealable> = BTreeMap::new();
    let mut left = Vec::new();
    for verdict in verdicts {
        for session in &verdict.sessions {
            let Some(anchored_at) = times.get(&session.anchor_id).filter(|_| session.holds) else { continue };
            found.entry(session.anchor_id).or_insert_with(|| Sealable {
                anchor_id: session.anchor_id,
                session_id: session.session_id.clone(),
                root: session.root,
                count: session.count,
                scheme: session.scheme,
                anchored_at: *anchored_at,
            });
        }
        let holds = |id: &Id| verdict.sessions.iter().any(|session| session.holds && session.session_id == *id);
        for session_id in commits.remove(&verdict.commit).unwrap_or_default() {
            if !holds(&session_id) {
                let codes = why_not(&verdict);
                left.push(LeftOut { commit: verdict.commit, session_id, codes });
            }
        }
    }
    left.sort_by_key(|left| left.commit);
    Ok((found.into_values().collect(), left, unread.map(|why| passed_over(NOTES, &why))))
}

/// The findings against the anchors of a commit. If the commit needs no proof, they are all warnings.
fn why_not(verdict: &CommitVerdict) -> Vec<FindingCode> {
    let severe = |finding: &&Finding| finding.severity > Severity::Warning;
    let any = verdict.findings.iter().any(|finding| severe(&finding));
    let said = verdict.findings.iter().filter(|finding| severe(finding) || !any);
    said.map(|finding| finding.code).collect()
}
