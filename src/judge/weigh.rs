//! The search for the anchors of a commit, and how each of them stands: those in its own note, those that a root in its
//! message leads to, and those of other commits with the same change.

use super::commit::Judge;
use super::evidence::Told;
use super::facts::Facts;
use super::verdict::SessionVerdict;
use crate::git::Read;
use crate::git::limits::cost;
use crate::hint::{Step, hint};
use crate::proof::anchor::Anchor;
use crate::proof::change::Sighting;
use crate::proof::conclude;
use crate::proof::digest::{AnchorId, CommitId};
use crate::proof::finding::{Finding, FindingCode};
use crate::proof::note::Signature;
use crate::proof::trailer::{ProofTrailer, ProofTrailers};
use crate::proof::verify::{self, Candidate, Evidence, Standing};

/// Most commits whose notes are searched because a root that the message names attests them.
const MAX_NAMED: usize = 256;

/// An anchor with its signatures, and how it stands.
pub(super) struct Weighed {
    pub(super) anchor: Anchor,
    pub(super) id: AnchorId,
    signers: Vec<String>,
    pub(super) standing: Standing,
    /// The commit in whose note it is.
    noted_on: CommitId,
    /// Whether the index led to that commit.
    by_index: bool,
}

/// The search for the anchors of one commit.
pub(super) struct Search<'j, 'a> {
    judge: &'j Judge<'a>,
    facts: &'j Facts,
    trailers: &'j ProofTrailers,
    proof_grade: bool,
    /// Whether the commit asks for a proof. If it does not, anchors of other commits that do not hold are none of its
    /// business.
    pub(super) asks: bool,
    pub(super) found: Vec<Weighed>,
    /// Those of them that only this clone knows of.
    known_here: Vec<AnchorId>,
}

impl<'j, 'a> Search<'j, 'a> {
    pub(super) fn new(judge: &'j Judge<'a>, facts: &'j Facts, trailers: &'j ProofTrailers, proof_grade: bool) -> Self {
        let asks = proof_grade || trailers.trailers.iter().any(|trailer| matches!(trailer, ProofTrailer::Root(_)));
        Self { judge, facts, trailers, proof_grade, asks, found: Vec::new(), known_here: Vec::new() }
    }

    /// Adds an anchor from the note of the commit itself.
    pub(super) fn add_own(&mut self, (anchor, signatures): &(Anchor, Vec<Option<Signature>>)) {
        self.found.push(self.weigh((anchor, self.facts.id()), signatures));
    }

    fn weigh(&self, (anchor, noted_on): (&Anchor, CommitId), signatures: &[Option<Signature>]) -> Weighed {
        let (gatherer, rules) = (self.judge.gatherer, self.judge.rules);
        let anchor = anchor.clone();
        let id = anchor.id();
        let _ = gatherer.git.meter.spend(cost::ANCHOR); // the judgement of the commit ends in that limit
        let signatures = rules.signatures(&anchor, &id, signatures, &gatherer.git.meter);
        let gathered = gatherer.evidence(&anchor.root);
        let candidate = Candidate {
            anchor: &anchor,
            bond: &self.judge.bond(&anchor, &gathered.evidence, self.facts),
            evidence: &gathered.evidence,
            signatures: &signatures,
            round: rules.seals.counts(&id).map(|(round, _)| round),
            rounds_fetched: rules.seals.fetched,
        };
        let standing = verify::judge(&candidate, self.proof_grade, &rules.requirements);
        Weighed { anchor, id, signers: signatures.people, standing, noted_on, by_index: false }
    }

    /// Adds anchors of the commits that a root named in the message attests.
    pub(super) fn by_trailers(&mut self) {
        let (gatherer, trailers) = (self.judge.gatherer, self.trailers);
        for trailer in &trailers.trailers {
            let ProofTrailer::Root(named) = trailer else { continue };
            let gathered = gatherer.evidence(&named.root);
            let Evidence::Holds(evidence) = &gathered.evidence else { continue };
            let attested = evidence.attested.iter().filter_map(|said| said.change.commit).take(MAX_NAMED);
            for commit in attested.filter(|commit| *commit != self.facts.id()) {
                let note = gatherer.note(&commit);
                let anchors = note.anchors.iter().filter(|(anchor, _)| anchor.root == named.root);
                self.add((commit, anchors), true);
            }
        }
    }

    /// Adds anchors of other commits that were made for the same change.
    pub(super) fn by_change(&mut self) -> Read<()> {
        let gatherer = self.judge.gatherer;
        let Some(ids) = self.facts.change(gatherer)? else { return Ok(()) };
        for sighting in gatherer.sightings(&ids) {
            let Sighting::Commit(other) = sighting else { continue };
            if !self.judge.is_being_judged(&other) {
                let before = self.found.len();
                self.add((other, gatherer.note(&other).anchors.iter()), self.asks);
                self.found[before..].iter_mut().for_each(|added| added.by_index = true);
                if gatherer.is_known_only_here(&sighting) {
                    self.known_here.extend(self.found[before..].iter().map(|added| added.id));
                }
            }
        }
        Ok(())
    }

    /// Adds anchors from the note of another commit: those that belong to the judged one, or, where that asks for a proof,
    /// would but for a rule.
    fn add<'n>(
        &mut self,
        (noted_on, anchors): (CommitId, impl Iterator<Item = &'n (Anchor, Vec<Option<Signature>>)>),
        asks: bool,
    ) {
        for (anchor, signatures) in anchors {
            // Others choose how many anchors there are, and each is compared with all before it. The judgement of the commit
            // ends in the limit that is reached here.
            if self.judge.gatherer.git.meter.spend(self.found.len() as u64).is_err() {
                return;
            }
            if self.found.iter().any(|known| known.anchor == *anchor) {
                continue;
            }
            let found = self.weigh((anchor, noted_on), signatures);
            // Its other anchors are for other changes, and were never said to be for this commit.
            let unrelated = found.standing.findings.iter().any(|finding| finding.code == FindingCode::BindingMismatch);
            if found.standing.holds() || asks && !unrelated {
                self.found.push(found);
            }
        }
    }

    fn holding(&self) -> impl Iterator<Item = &Weighed> {
        self.found.iter().filter(|weighed| weighed.standing.holds())
    }

    /// Whether an anchor holds, and every root that the trailers name.
    pub(super) fn is_satisfied(&self) -> bool {
        self.holding().next().is_some()
            && self.trailers.trailers.iter().all(|trailer| match trailer {
                ProofTrailer::Root(root) => self.holding().any(|weighed| conclude::is_named(&weighed.anchor, root)),
                _ => true,
            })
    }

    /// Whether all anchors that hold are among those that only this clone knows of.
    pub(super) fn is_known_only_here(&self) -> bool {
        !self.known_here.is_empty() && self.holding().all(|weighed| self.known_here.contains(&weighed.id))
    }

    /// The lines of the index that name the commits whose notes have the anchors that hold.
    pub(super) fn found_by(&self) -> Vec<Sighting> {
        let mut found: Vec<Sighting> =
            self.holding().filter(|one| one.by_index).map(|one| Sighting::Commit(one.noted_on)).collect();
        found.dedup();
        found
    }
}

/// Says that nobody else can come to this verdict yet.
pub(super) fn known_only_here() -> Finding {
    let message = "known only here: no shared ref says where to find this proof, so other clones cannot check it";
    let hint = hint!("push the commit with ", Step::GitPush, ", or ", Step::Sync, " if it is pushed already");
    Finding::warning(FindingCode::KnownOnlyHere, message).hint(hint)
}

impl Judge<'_> {
    pub(super) fn session(&self, weighed: &Weighed) -> SessionVerdict {
        let anchor = &weighed.anchor;
        let gathered = self.gatherer.evidence(&anchor.root);
        let (intent, reflection) = match &gathered.evidence {
            Evidence::Holds(facts) => (Some(facts.summary.opening.intent.clone()), facts.summary.reflection),
            _ => (None, None),
        };
        SessionVerdict {
            session_id: anchor.session_id.clone(),
            scheme: anchor.scheme,
            root: anchor.root,
            count: anchor.count,
            anchor_id: weighed.id,
            anchor: anchor.clone(),
            noted_on: weighed.noted_on,
            holds: weighed.standing.holds(),
            sound: weighed.standing.is_sound(),
            evidence: gathered.evidence.in_a_word(),
            rooted: weighed.standing.rooted,
            reflection,
            afterwards: weighed.standing.afterwards,
            signers: weighed.signers.clone(),
            round: self.rules.seals.round(&weighed.id),
            intent: intent.filter(|_| !gathered.told.is_empty()),
            told: self.told(&gathered.told),
        }
    }

    /// What a session says, as long as there is room for it.
    fn told(&self, told: &[Told]) -> Vec<Told> {
        let bytes = told.iter().map(|told| size_of::<Told>() + told.content.len()).sum();
        match self.room.get().checked_sub(bytes) {
            Some(left) => {
                self.room.set(left);
                told.to_vec()
            }
            None => Vec::new(),
        }
    }
}
