//! Seals, as a verdict needs them: which round has an anchor, which seals count by the policy, and since when.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::rules::Rules;
use crate::error::Result;
use crate::git::limits::{MAX_BAD_SEAL_SIGNATURES, MAX_NOTE, MAX_SEAL_NOTES};
use crate::git::{Git, NOTES, ObjectError, ROUNDS};
use crate::hint::{Step, hint};
use crate::proof::digest::{AnchorId, CommitId, RootHash, TreeId};
use crate::proof::finding::{Finding, FindingCode};
use crate::proof::note::NoteLine;
use crate::proof::record::Id;
use crate::proof::signers::{Signer, Signers, Standing};
use crate::proof::sshsig::{self, NAMESPACE, PublicKey};
use crate::proof::timestamp::Timestamp;
use crate::rounds::{Sealed, Walked, walk};
use crate::store::Store;

/// Who is told of each seal, and of the keys that signed it.
pub(super) type Each<'a> = &'a mut dyn FnMut(Sealed<'_>, &[PublicKey]);

/// What a seal lists an anchor as.
#[derive(Debug, Clone)]
pub(super) struct SealedAs {
    pub(super) round: u64,
    pub(super) session_id: Id,
    pub(super) root: RootHash,
}

/// All that the seals say.
#[derive(Debug, Clone, Default)]
pub(super) struct Seals {
    /// Whether this clone has seals, or it is known that there are none.
    pub(super) fetched: bool,
    /// What the first seal that lists an anchor says of it: a later seal moves no anchor to another round.
    pub(super) anchors: HashMap<AnchorId, Arc<SealedAs>>,
    /// What other seals say of the same anchors.
    pub(super) again: Vec<(AnchorId, Arc<SealedAs>)>,
    /// The rounds whose seals count, with their times, the oldest first.
    counting: Vec<(u64, Timestamp)>,
    /// What is wrong with the chain as a whole.
    pub(super) findings: Vec<Finding>,
}

impl Seals {
    /// Whether the seal of a round counts by the policy.
    pub(super) fn is_counted(&self, round: u64) -> bool {
        self.counting.binary_search_by_key(&round, |(counting, _)| *counting).is_ok()
    }

    /// The round that lists an anchor.
    pub(super) fn round(&self, anchor: &AnchorId) -> Option<u64> {
        self.anchors.get(anchor).map(|sealed| sealed.round)
    }

    /// The round that lists an anchor, and when that was, if a seal that counts vouches for it: its own, or one after it,
    /// which covers all before it.
    pub(super) fn counts(&self, anchor: &AnchorId) -> Option<(u64, Timestamp)> {
        let round = self.round(anchor)?;
        let after = self.counting.partition_point(|(counting, _)| *counting < round);
        self.counting.get(after).map(|(_, at)| (round, *at))
    }

    /// Whether a seal that counts covers a round.
    pub(super) fn is_covered(&self, round: u64) -> bool {
        self.counting.last().is_some_and(|(counting, _)| *counting >= round)
    }
}

impl Rules {
    /// Reads the seals of a repository; `store` is asked what was seen before.
    pub(super) fn read_seals(&mut self, git: &Git, store: Option<&Store>) -> Result<()> {
        self.watch_seals(git, store, None).map(|_| ())
    }

    /// The same, and `each` is told of every seal that holds, and of the keys that signed it.
    pub(super) fn watch_seals(
        &mut self,
        git: &Git,
        store: Option<&Store>,
        mut each: Option<Each<'_>>,
    ) -> Result<Walked> {
        let mut seals = Seals::default();
        let seen = store.map(|store| store.seen_rounds().unwrap_or_default()).unwrap_or_default();
        let tip = git.tip(ROUNDS)?;
        seals.fetched = tip.is_some() || git.is_known_to_lack(ROUNDS);
        if tip.is_none() && seen.is_empty() && self.requirements.pin.is_none() {
            self.seals = seals;
            return Ok(Walked::default());
        }
        let notes = git.tip_tree(NOTES)?;
        let asks = !self.requirements.sealers.is_empty() || each.is_some();
        // Whoever wants to hear of every seal looks through all notes anyway; to find the note of each seal by itself takes
        // a good part of the whole time.
        let noted = match (&notes, &each) {
            (Some(notes), Some(_)) => Some(noted_commits(git, notes)),
            _ => None,
        };
        let may_be_signed =
            |commit: &CommitId| asks && noted.as_ref().is_none_or(|noted: &HashSet<CommitId>| noted.contains(commit));
        let mut signed: Vec<(Timestamp, Vec<PublicKey>)> = Vec::new();
        let mut signatures = SealSignatures::default();
        let walked = tip.map(|tip| {
            walk(git, &tip, &mut |sealed| {
                for session in &sealed.seal.sessions {
                    let (session_id, root) = (session.session_id.clone(), session.root);
                    let listed = Arc::new(SealedAs { round: sealed.seal.round, session_id, root });
                    for anchor in &session.anchors {
                        match seals.anchors.entry(*anchor) {
                            Entry::Vacant(first) => _ = first.insert(Arc::clone(&listed)),
                            Entry::Occupied(_) => seals.again.push((*anchor, Arc::clone(&listed))),
                        }
                    }
                }
                let keys = match &notes {
                    Some(notes) if may_be_signed(&sealed.commit) => signatures.of(git, notes, sealed, &self.signers),
                    _ => Vec::new(),
                };
                if let Some(each) = &mut each {
                    each(sealed, &keys);
                }
                signed.push((sealed.seal.sealed_at, keys));
            })
        });
        seals.counting = self.counting(&signed);
        let walked = walked.unwrap_or_default();
        let whole = walked.broken.is_none() && seals.fetched;
        for seen in seen {
            if whole && !walked.has(&seen.seal) || !seals.fetched {
                let place = if seen.place.is_empty() { "here".to_owned() } else { format!("at {}", seen.place) };
                seals.findings.push(
                    Finding::error(
                        FindingCode::RoundsRolledBack,
                        format!(
                            "round {} was seen {place} at {}, with seal {}, and the chain of rounds does not have it",
                            seen.round, seen.seen_at, seen.seal
                        ),
                    )
                    .hint(hint!(
                        "refs/proof/rounds was wound back or replaced";
                        Step::Rounds, " compares it with what remotes have"
                    )),
                );
            }
        }
        seals.findings.extend(signatures.reached);
        seals.findings.extend(self.pinned(&walked, seals.fetched));
        seals.findings.extend(walked.broken.clone());
        self.seals = seals;
        Ok(walked)
    }

    /// Whether the chain has the seal that the policy pins.
    fn pinned(&self, walked: &Walked, fetched: bool) -> Option<Finding> {
        let pin = self.requirements.pin.as_ref()?;
        if !fetched {
            return Some(
                Finding::unchecked(
                    FindingCode::RefNotFetched,
                    "refs/proof/rounds is not in this clone, and policy pins a seal",
                )
                .hint(hint!(Step::Sync, ", or ", Step::GitFetchRef("refs/proof/rounds".into()))),
            );
        }
        let at = usize::try_from(pin.round).ok()?.checked_sub(1)?;
        match walked.commits.get(at) {
            Some((_, seal)) if *seal == pin.seal => None,
            None if walked.broken.is_some() => None, // which is an answer by itself
            found => {
                let found = found.map_or("there is no such round".to_owned(), |(_, seal)| format!("it is {seal}"));
                Some(Finding::error(
                    FindingCode::RoundsRolledBack,
                    format!("policy pins seal {} for round {}: {found}", pin.seal, pin.round),
                ))
            }
        }
    }

    /// The rounds whose seals count. The newest is judged by the clock, each other by the time of the one after it that
    /// counts: a seal cannot vouch for its own time.
    fn counting(&self, signed: &[(Timestamp, Vec<PublicKey>)]) -> Vec<(u64, Timestamp)> {
        let mut counting = Vec::new();
        let mut at = self.now;
        for (index, (sealed_at, keys)) in signed.iter().enumerate().rev() {
            if keys.iter().any(|key| self.is_sealer(key, at)) {
                // A clock that is ahead shows nothing of the future.
                at = at.min(*sealed_at);
                counting.push((index as u64 + 1, at));
            }
        }
        counting.reverse();
        counting
    }

    pub(super) fn is_sealer(&self, key: &PublicKey, at: Timestamp) -> bool {
        match self.signers.who(key, NAMESPACE, at) {
            Standing::Signer(signer) => self.requirements.sealers.iter().any(|sealer| signer.answers_to(sealer)),
            _ => false,
        }
    }

    /// The people who signed a seal, as far as they are listed and valid now.
    pub(super) fn seal_signers(&self, keys: &[PublicKey]) -> Vec<String> {
        let valid = |key: &PublicKey| match self.signers.who(key, NAMESPACE, self.now) {
            Standing::Signer(signer) => Some(signer),
            _ => None,
        };
        let signers: Vec<Signer<'_>> = keys.iter().filter_map(valid).collect();
        self.signers.people(&signers).into_iter().map(str::to_owned).collect()
    }
}

/// The commits that have a note, as far as the notes can be read.
fn noted_commits(git: &Git, notes: &TreeId) -> HashSet<CommitId> {
    let mut commits = HashSet::new();
    // What cannot be read is reported by whoever reads the notes themselves.
    let _ = git.each_note(notes, &mut |commit, _| {
        commits.insert(commit);
    });
    commits
}

/// Looks for the keys that signed seals. What is not in the file of signers signs nothing here, and is not verified:
/// anyone can add signatures.
pub(super) struct SealSignatures {
    /// Bytes of notes that are still read.
    bytes: usize,
    /// Signatures that may still be bad.
    bad: usize,
    /// Whether one of the seal at hand was not verified.
    passed_over: bool,
    reached: Option<Finding>,
}

impl Default for SealSignatures {
    fn default() -> Self {
        Self { bytes: MAX_SEAL_NOTES, bad: MAX_BAD_SEAL_SIGNATURES, passed_over: false, reached: None }
    }
}

impl SealSignatures {
    /// The listed keys that signed a seal.
    pub(super) fn of(&mut self, git: &Git, notes: &TreeId, sealed: Sealed<'_>, signers: &Signers) -> Vec<PublicKey> {
        let mut keys = Vec::new();
        for blob in git.find_note(notes, &sealed.commit).unwrap_or_default() {
            let text = match git.proof_blob(&blob, MAX_NOTE.min(self.bytes)) {
                Ok(text) => text,
                Err(error @ ObjectError::Limit(..)) => {
                    self.reach(format!("the note of round {}: {error}", sealed.seal.round));
                    continue;
                }
                Err(_) => continue,
            };
            self.bytes -= text.len();
            for line in text.split(|byte| *byte == b'\n') {
                keys.extend(self.key(line, &sealed, signers));
            }
        }
        // Where somebody listed has signed the seal, it does not matter what others added.
        if self.passed_over && keys.is_empty() {
            self.reach(format!("more than {MAX_BAD_SEAL_SIGNATURES} signatures of seals are not what they say"));
        }
        self.passed_over = false;
        keys
    }

    fn key(&mut self, line: &[u8], sealed: &Sealed<'_>, signers: &Signers) -> Option<PublicKey> {
        let Ok(Some(NoteLine::Seal { seal, signature })) = NoteLine::parse(line) else { return None };
        let claimed = sshsig::claimed_key(&signature.0).ok().filter(|key| signers.lists(key))?;
        if seal != sealed.hash {
            return None;
        }
        if self.bad == 0 {
            self.passed_over = true;
            return None;
        }
        let signed = sshsig::verify(&signature.0, sealed.seal.to_text().as_bytes(), NAMESPACE);
        self.bad -= usize::from(signed.is_err());
        signed.ok().filter(|key| *key == claimed)
    }

    fn reach(&mut self, message: String) {
        self.reached.get_or_insert_with(|| {
            Finding::unchecked(FindingCode::LimitReached, message).hint("docs/threat-model.md lists the limits")
        });
    }
}
