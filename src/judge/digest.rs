//! What a verdict rested on, as one digest: the anchors that hold, the evidence that they name, and the lines of the index
//! by which they were found. Whoever accepts proofs after a verdict can ask for the very same ones.

use std::collections::BTreeSet;

use super::gather::Gatherer;
use super::verdict::CommitVerdict;
use crate::proof::digest::{AnchorId, ContentHash, ProofsDigest, RootHash, sha256};
use crate::proof::finding::Verdict;

/// The digest of what commits that are proven rest on. Evidence that cannot be read is left out; it was optional then.
pub(super) fn digest(gatherer: &Gatherer<'_>, commits: &[CommitVerdict]) -> ProofsDigest {
    let proven = || commits.iter().filter(|commit| commit.verdict == Verdict::Pass);
    let holding = || proven().flat_map(|commit| commit.sessions.iter().filter(|session| session.holds));
    let anchors: BTreeSet<AnchorId> = holding().map(|session| session.anchor_id).collect();
    let roots: BTreeSet<RootHash> = holding().map(|session| session.root).collect();
    let evidence: BTreeSet<ContentHash> = roots.iter().filter_map(|root| gatherer.evidence_hash(root)).collect();
    let line = |sighting: &crate::proof::change::Sighting| ContentHash::new(sha256(sighting.to_line().as_bytes()));
    let changes: BTreeSet<ContentHash> =
        proven().flat_map(|commit| commit.found_by.iter().map(|(_, sighting)| line(sighting))).collect();
    // The keys are in their canonical order, and digests have nothing in them that would be escaped.
    let text = serde_json::json!({ "anchors": anchors, "changes": changes, "evidence": evidence }).to_string();
    ProofsDigest::new(sha256(text.as_bytes()))
}
