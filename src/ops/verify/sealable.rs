//! What a round can seal: the anchors in the notes that hold where they are found, and that no round has sealed yet.

use std::collections::{BTreeMap, HashMap};

use super::rules::Rules;
use crate::context::Context;
use crate::error::Result;
use crate::git::{Git, NOTES};
use crate::ops::anchor::MAX_NOTE;
use crate::proof::digest::{AnchorId, CommitId, RootHash};
use crate::proof::finding::{FindingCode, Severity};
use crate::proof::note::NoteLine;
use crate::proof::record::Id;
use crate::proof::scheme::Scheme;
use crate::proof::timestamp::Timestamp;

/// An anchor that a round can seal.
#[derive(Debug, Clone)]
pub(in crate::ops) struct Sealable {
    pub(in crate::ops) anchor_id: AnchorId,
    pub(in crate::ops) session_id: Id,
    pub(in crate::ops) root: RootHash,
    pub(in crate::ops) count: u64,
    pub(in crate::ops) scheme: Scheme,
    pub(in crate::ops) anchored_at: Timestamp,
}

/// An anchor that cannot be sealed, and why.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct LeftOut {
    /// The commit in whose note it is.
    pub commit: CommitId,
    /// The session.
    pub session_id: Id,
    /// What is wrong with it.
    pub codes: Vec<FindingCode>,
}

/// Looks at all anchors of the notes but those that `is_sealed` knows.
pub(in crate::ops) fn sealable(
    context: &Context,
    git: &Git,
    is_sealed: impl Fn(&AnchorId, &Id, &RootHash) -> bool,
) -> Result<(Vec<Sealable>, Vec<LeftOut>)> {
    let Some(notes) = git.tip(NOTES)? else { return Ok((Vec::new(), Vec::new())) };
    let notes = git.commit(&notes)?.tree;
    let mut blobs = Vec::new();
    git.each_note(&notes, &mut |commit, blob| blobs.push((commit, blob)))?;
    git.sort_by_family(&mut blobs, |(_, blob)| blob);
    let mut times: HashMap<AnchorId, Timestamp> = HashMap::new();
    let mut commits: BTreeMap<CommitId, Vec<Id>> = BTreeMap::new();
    for (commit, blob) in blobs {
        // A note that cannot be read has nothing that could be sealed; verify says so of its commit.
        let Ok(text) = git.blob(&blob, MAX_NOTE) else { continue };
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
    let (_, verdicts) = super::judge(context, git.again()?, &Rules::for_sealing(context.now())?, &wanted, false)?;
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
                let worse = verdict.findings.iter().filter(|finding| finding.severity > Severity::Warning);
                let codes = worse.map(|finding| finding.code).collect();
                left.push(LeftOut { commit: verdict.commit, session_id, codes });
            }
        }
    }
    left.sort_by_key(|left| left.commit);
    Ok((found.into_values().collect(), left))
}
