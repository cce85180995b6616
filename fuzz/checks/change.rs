//! Diffs, attestations of a change, and lines of the change index.

use git_proof::proof::change::{ChangeHasher, GitAttestation, Sighting, change_id};

use super::assert_canonical;

/// The text of a diff, of an attestation, or of an index line.
pub fn change(data: &[u8]) {
    let whole = change_id(data);
    assert_eq!(whole.is_none(), data.is_empty());
    for size in [1, 7, 64] {
        let mut hasher = ChangeHasher::new();
        data.chunks(size).for_each(|piece| hasher.push(piece));
        assert_eq!(hasher.finish(), whole, "in pieces of {size}");
    }

    if let Ok(sighting) = Sighting::parse(data) {
        assert_eq!(sighting.to_line().as_bytes(), data, "printing gives back the bytes");
        assert_canonical(data);
    }
    let claimed = std::str::from_utf8(data).is_ok_and(GitAttestation::is_claimed_by);
    if let Ok(attestation) = GitAttestation::parse(data) {
        assert_eq!(attestation.to_text().as_bytes(), data, "printing gives back the bytes");
        assert_canonical(data);
        assert!(claimed, "nobody else may write one");
    }
}
