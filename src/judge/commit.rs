//! One commit: its anchors by its note, then by its change, then as a squash; and what they come to.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use serde::Serialize;

use super::bond::unchecked;
use super::evidence::Told;
use super::facts::Facts;
use super::files::{self, FileSeen};
use super::gather::Gatherer;
use super::merges::Graded;
use super::rules::Rules;
use super::squash::Squash;
use super::word::{self, Vouched};
use crate::git::limits::{MAX_SIGHTINGS, cost};
use crate::git::{Commit, ObjectError, Read};
use crate::hint::{Hint, Step, hint};
use crate::proof::anchor::Anchor;
use crate::proof::change::{ChangeIds, Sighting};
use crate::proof::conclude::{self, AtHand, Judged};
use crate::proof::digest::{AnchorId, CommitId, RootHash};
use crate::proof::finding::{Finding, FindingCode, Severity, Verdict, cover};
use crate::proof::grade::{Reason, Subject};
use crate::proof::note::Signature;
use crate::proof::observed::Reflection;
use crate::proof::policy::Binding;
use crate::proof::record::Id;
use crate::proof::scheme::Scheme;
use crate::proof::trailer::{ProofTrailer, ProofTrailers};
use crate::proof::verify::{self, Candidate, Evidence, Standing};

/// How deep squashes of squashes are followed.
pub(super) const MAX_DEPTH: u32 = 3;
/// Most commits of ranges, and originals, that are looked at for one commit.
const MAX_LOOKED_AT: usize = 4000;
/// Most commits whose notes are searched because a root that the message names attests them.
const MAX_NAMED: usize = 256;
/// Most bytes of decisions and reflections that are shown of one commit.
const MAX_TOLD: usize = 16 << 20;

/// A commit and how it stands.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct CommitVerdict {
    /// The commit.
    pub commit: CommitId,
    /// The first line of its message.
    pub subject: String,
    /// Its parents, by its own word.
    #[serde(skip)]
    pub parents: Vec<CommitId>,
    /// How it stands.
    pub verdict: Verdict,
    /// Whether it must be anchored.
    pub proof_grade: bool,
    /// Why it must be anchored.
    pub reason: Option<String>,
    /// How its proof belongs to it; `None` without one that holds.
    pub binding: Option<Binding>,
    /// Who vouches for it instead: a person's word, which is no proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vouched: Option<Box<Vouched>>,
    /// Its files, where a session that explains it saw edits.
    pub files: Vec<FileSeen>,
    /// The sessions that explain it.
    pub sessions: Vec<SessionVerdict>,
    /// What there is to say.
    pub findings: Vec<Finding>,
    /// The lines of the index by which anchors that hold were found, each with the change that it was found under.
    #[serde(skip)]
    pub found_by: Vec<(ChangeIds, Sighting)>,
}

/// A session that explains a commit, or claims to.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
#[allow(clippy::struct_excessive_bools)] // each is a field of the JSON
pub struct SessionVerdict {
    /// The session.
    pub session_id: Id,
    /// How it is hashed.
    pub scheme: Scheme,
    /// Its root.
    pub root: RootHash,
    /// Its number of entries.
    pub count: u64,
    /// The anchor.
    pub anchor_id: AnchorId,
    /// All that the anchor says.
    #[serde(skip)]
    pub anchor: Anchor,
    /// The commit in whose note it is.
    #[serde(skip)]
    pub noted_on: CommitId,
    /// Whether the anchor holds.
    pub holds: bool,
    /// Whether it would hold if enough people had signed it.
    #[serde(skip)]
    pub sound: bool,
    /// `verified`, `missing`, `not_fetched`, or `broken`.
    pub evidence: &'static str,
    /// Whether the session covers the change.
    pub rooted: bool,
    /// Whether the reflection that closes it was stated or observed; null where the evidence was not read.
    pub reflection: Option<Reflection>,
    /// Whether it was recorded after the commit had been made.
    pub afterwards: bool,
    /// Who signed it.
    pub signers: Vec<String>,
    /// The round that sealed it.
    pub round: Option<u64>,
    /// Its intent, if the evidence was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// Its decisions and reflections, where they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<Told>,
}

/// Judges a commit.
pub(super) fn judge(gatherer: &Gatherer<'_>, rules: &Rules, id: &CommitId) -> CommitVerdict {
    let (verdict, reached) = gatherer.within_limit(|| Judge::new(gatherer, rules).commit(id, 0));
    match reached {
        Some(limit) => verdict.cut_short(limit),
        None if gatherer.wanted.every_session => with_every_session(gatherer, rules, verdict),
        None => verdict,
    }
}

/// Adds the sessions that the verdict could do without. The search has a limit of its own, so that whoever fills the index or
/// a note with more than that cannot take away the verdict and the sessions that it rests on.
fn with_every_session(gatherer: &Gatherer<'_>, rules: &Rules, mut verdict: CommitVerdict) -> CommitVerdict {
    let _ = gatherer.within_limit(|| Judge::new(gatherer, rules).add_sessions(&mut verdict));
    verdict
}

impl CommitVerdict {
    /// The verdict where a limit was reached: what was found until then proves nothing, and shows nothing to be wrong. That
    /// policy asks for no proof is known before anything is looked for.
    fn cut_short(mut self, limit: Finding) -> Self {
        self.findings = self.findings.into_iter().map(Finding::softened).collect();
        if self.verdict == Verdict::Exempt && !self.proof_grade {
            self.findings.push(limit.softened());
            return self;
        }
        self.findings.push(limit);
        Self { verdict: Verdict::Unchecked, binding: None, vouched: None, ..self }
    }
}

/// Whether all anchors that hold are among those that only this clone knows of.
fn is_known_only_here(weighed: &[Weighed], known_here: &[AnchorId]) -> bool {
    let mut holding = weighed.iter().filter(|one| one.standing.holds()).map(|one| one.anchor.id());
    !known_here.is_empty() && holding.all(|id| known_here.contains(&id))
}

/// Says that nobody else can come to this verdict yet.
fn known_only_here() -> Finding {
    let message = "known only here: no shared ref says where to find this proof, so other clones cannot check it";
    let hint = hint!("push the commit with ", Step::GitPush, ", or ", Step::Sync, " if it is pushed already");
    Finding::warning(FindingCode::AnchorMissing, message).hint(hint)
}

/// What could not be read keeps a commit from being checked.
fn unread(error: &ObjectError, hint: impl Into<Hint>) -> Finding {
    match error {
        ObjectError::Limit(..) => Finding::unchecked(FindingCode::LimitReached, error.to_string())
            .hint("docs/threat-model.md lists the limits; nothing was decided about this commit"),
        _ => Finding::unchecked(FindingCode::ObjectMissing, error.to_string()).hint(hint),
    }
}

/// Why a commit must be anchored, by some rules.
pub(super) fn explain(gatherer: &Gatherer<'_>, rules: &Rules, id: &CommitId) -> Read<Option<Reason>> {
    Judge::new(gatherer, rules).grade(&*gatherer.facts(id)?).map(|(reason, _)| reason)
}

/// Judges commits; the parts of squashes with them.
pub(super) struct Judge<'a> {
    pub(super) gatherer: &'a Gatherer<'a>,
    pub(super) rules: &'a Rules,
    /// How many more commits of ranges, and originals, are looked at: ranges of ranges multiply, and anyone may add to the
    /// index.
    budget: Cell<usize>,
    /// The commits that are being judged, each for the sake of the one before it: none of them may prove itself.
    judged: RefCell<Vec<CommitId>>,
    /// Bytes of what sessions say that are still shown: a note may name one session in a thousand lines.
    room: Cell<usize>,
}

/// An anchor with its signatures, and how it stands.
pub(super) struct Weighed {
    anchor: Anchor,
    pub(super) id: AnchorId,
    signers: Vec<String>,
    pub(super) standing: Standing,
    /// The commit in whose note it is.
    noted_on: CommitId,
    /// Whether the index led to that commit.
    by_index: bool,
}

impl<'a> Judge<'a> {
    fn new(gatherer: &'a Gatherer<'a>, rules: &'a Rules) -> Self {
        Self {
            gatherer,
            rules,
            budget: Cell::new(MAX_LOOKED_AT),
            judged: RefCell::default(),
            room: Cell::new(MAX_TOLD),
        }
    }

    /// Whether a commit is being judged, or is one for whose sake others are.
    pub(super) fn is_being_judged(&self, id: &CommitId) -> bool {
        self.judged.borrow().contains(id)
    }

    /// Counts commits that are looked at for the sake of another.
    pub(super) fn spend(&self, commits: usize) -> Read<()> {
        let Some(left) = self.budget.get().checked_sub(commits) else {
            let id = self.judged.borrow().first().copied();
            let why = format!("more than {MAX_LOOKED_AT} other commits would have to be looked at");
            return Err(id.map_or_else(|| unreachable!("nothing is judged"), |id| ObjectError::Limit(id.0, why)));
        };
        self.budget.set(left);
        Ok(())
    }

    pub(super) fn commit(&self, id: &CommitId, depth: u32) -> CommitVerdict {
        self.judging(id, || self.commit_inside(id, depth))
    }

    /// Does some work for the sake of a commit, which may not prove itself meanwhile.
    pub(super) fn judging<T>(&self, id: &CommitId, work: impl FnOnce() -> T) -> T {
        self.judged.borrow_mut().push(*id);
        let done = work();
        self.judged.borrow_mut().pop();
        done
    }

    fn commit_inside(&self, id: &CommitId, depth: u32) -> CommitVerdict {
        let blank = |subject: String, parents: Vec<CommitId>| CommitVerdict {
            commit: *id,
            subject,
            parents,
            verdict: Verdict::Unchecked,
            proof_grade: true,
            reason: None,
            binding: None,
            vouched: None,
            files: Vec::new(),
            sessions: Vec::new(),
            findings: Vec::new(),
            found_by: Vec::new(),
        };
        let commit = match self.gatherer.commit(id) {
            Ok(commit) => commit,
            Err(error) => {
                let hint = hint!(
                    Step::GitFetch, " brings the commit";
                    Step::GitFsck, " tells whether the repository is whole"
                );
                let findings = vec![unread(&error, hint)];
                return CommitVerdict { findings, ..blank(String::new(), Vec::new()) };
            }
        };
        let blank = || blank(commit.subject(), commit.parents.clone());
        let judged = self.gatherer.facts(id).and_then(|facts| {
            let graded = self.grade(&facts)?;
            Ok((facts, graded))
        });
        // What is wrong is not with the commit but with what is at hand of it, or with how much there is of it.
        match judged {
            Ok((facts, graded)) => {
                let required = graded.0.is_some();
                let mut verdict = self.known(&facts, graded, depth).unwrap_or_else(|error| {
                    if required {
                        CommitVerdict { findings: vec![unchecked(&error)], ..blank() }
                    } else {
                        CommitVerdict { verdict: Verdict::Exempt, proof_grade: false, ..blank() }
                    }
                });
                // Not for a part of a squash: it is the whole that is told.
                if depth == 0 {
                    verdict.files = files::files(self.gatherer, &facts, &verdict.sessions);
                }
                verdict
            }
            Err(error) => CommitVerdict { findings: vec![unchecked(&error)], ..blank() },
        }
    }

    fn known(&self, facts: &Facts, (reason, remark): Graded, depth: u32) -> Read<CommitVerdict> {
        let commit: &Commit = &facts.commit;
        let trailers = ProofTrailers::parse(&commit.message);
        let note = self.gatherer.note(&commit.id);
        let proof_grade = reason.is_some();
        let names_root = trailers.trailers.iter().any(|trailer| matches!(trailer, ProofTrailer::Root(_)));
        let mut verdict = CommitVerdict {
            commit: commit.id,
            subject: commit.subject(),
            parents: commit.parents.clone(),
            verdict: Verdict::Exempt,
            proof_grade,
            reason: reason.map(|reason| reason.to_string()),
            binding: None,
            vouched: None,
            files: Vec::new(),
            sessions: Vec::new(),
            findings: Vec::new(),
            found_by: Vec::new(),
        };
        let mut weighed: Vec<Weighed> = Vec::new();
        for (anchor, signatures) in &note.anchors {
            weighed.push(self.weigh((anchor, commit.id), signatures, facts, proof_grade));
        }
        let asks = proof_grade || names_root;
        // Anchors that nobody finds who has only what is shared.
        let mut known_here: Vec<AnchorId> = Vec::new();
        if !satisfied(&weighed, &trailers) {
            self.by_trailers(facts, &trailers, proof_grade, &mut weighed);
        }
        if !satisfied(&weighed, &trailers) && self.gatherer.has_sightings() {
            known_here = self.by_change(facts, proof_grade, asks, &mut weighed)?;
        }
        let mut squashed = None;
        if !satisfied(&weighed, &trailers)
            && depth < MAX_DEPTH
            && self.rules.requirements.binding == Binding::Squashed
            && self.gatherer.has_sightings()
        {
            // A range that does not hold is an answer only where nothing else is one.
            let alone = weighed.is_empty() && note.findings.is_empty();
            squashed = self.by_range(facts, depth)?.filter(|found| asks && alone || found.verdict == Verdict::Pass);
        }
        let outcome = match &squashed {
            Some(range) => {
                let others = weighed.iter().flat_map(|weighed| &weighed.standing.findings).chain(&note.findings);
                range.conclude(&trailers, others)
            }
            None => {
                let judged: Vec<Judged<'_>> = weighed
                    .iter()
                    .map(|weighed| Judged { anchor: &weighed.anchor, standing: weighed.standing.clone() })
                    .collect();
                let open = if judged.is_empty() { self.gatherer.open_session(&trailers) } else { None };
                let at_hand = AtHand {
                    not_fetched: self.gatherer.not_fetched(),
                    evidence: &|root| self.gatherer.evidence(root).evidence.is_settled(),
                    open: open.as_ref(),
                    finalized: judged.is_empty() && self.gatherer.names_finalized(&trailers),
                };
                conclude::conclude(&judged, &note.findings, &trailers, proof_grade, &at_hand)
            }
        };
        let alone = match &squashed {
            Some(range) => self.gatherer.is_known_only_here(&Sighting::Range { base: range.base, head: range.head }),
            None => is_known_only_here(&weighed, &known_here),
        };
        let unbound = match &squashed {
            Some(range) => range.lacks_only_anchors(),
            None => weighed.iter().all(|weighed| weighed.standing.is_only_unbound()),
        };
        verdict.found_by = self.found_by(facts, squashed.as_ref(), &weighed)?;
        verdict.sessions = match squashed {
            Some(range) => range.sessions,
            None => weighed.iter().map(|weighed| self.session(weighed)).collect(),
        };
        (verdict.verdict, verdict.binding, verdict.findings) = (outcome.verdict, outcome.binding, outcome.findings);
        // A note that was not read may still have what seems to be deleted.
        let unread = note.findings.iter().any(|finding| finding.code == FindingCode::LimitReached);
        let holds = verdict.sessions.iter().any(|session| session.holds);
        if !unread && !holds && !self.rules.seals.anchors.is_empty() {
            self.look_for_deleted(facts, &trailers, asks, &mut verdict);
        }
        verdict.findings.extend(remark);
        verdict.findings.extend((alone && verdict.verdict == Verdict::Pass).then(known_only_here));
        if verdict.verdict != Verdict::Pass && self.gatherer.is_crowded(facts) {
            verdict.findings.push(crowded());
            if verdict.proof_grade {
                verdict.verdict = Verdict::Unchecked;
            }
        }
        // Only for the commit itself: a word for a part of a squash is none for the whole.
        if depth == 0 && !note.words.is_empty() && verdict.verdict != Verdict::Pass {
            word::take(self.gatherer, self.rules, facts, &note.words, &trailers, unbound, &mut verdict);
        }
        dedup(&mut verdict.findings);
        Ok(verdict)
    }

    /// Adds what seals list of a commit and the notes do not have.
    fn look_for_deleted(&self, facts: &Facts, trailers: &ProofTrailers, asks: bool, verdict: &mut CommitVerdict) {
        let deleted = self.gatherer.deleted(&self.rules.seals);
        match deleted.of(self.gatherer, facts, trailers) {
            Some(deleted) if asks => {
                let known = deleted.severity == Severity::Error;
                verdict.verdict = if known { Verdict::Fail } else { Verdict::Unchecked };
                verdict.findings.push(deleted);
            }
            // Anyone may push a seal. It must not make a commit fail that needs no proof.
            Some(deleted) => verdict.findings.push(deleted.softened()),
            None => verdict.findings.extend(deleted.unfollowed()),
        }
    }

    /// Why a commit must be anchored; and for a merge, what there is to say of how it was made.
    pub(super) fn grade(&self, judged: &Facts) -> Read<Graded> {
        if judged.is_merge() {
            return self.grade_merge(judged);
        }
        let commit = &judged.commit;
        let before = judged.first_tree(self.gatherer)?.map(|tree| self.settings(&tree)).transpose()?.flatten();
        let touches_settings = before != self.settings(&judged.tree())?;
        let paths: Vec<Vec<u8>> = if self.rules.grader.needs_paths() {
            judged.diff(self.gatherer)?.iter().map(|path| path.path.clone()).collect()
        } else {
            Vec::new()
        };
        let (message, author) = (&commit.message[..], &commit.author[..]);
        let subject = Subject { message, author, merge: false, touches_settings, paths: &paths };
        Ok((self.rules.grader.reason(&subject), None))
    }

    /// The lines of the index that led to what holds: that of a range and those of its commits, or those that name the commits
    /// whose notes have the anchors.
    fn found_by(
        &self,
        facts: &Facts,
        squashed: Option<&Squash>,
        weighed: &[Weighed],
    ) -> Read<Vec<(ChangeIds, Sighting)>> {
        let (mut own, mut nested) = (Vec::new(), Vec::new());
        if let Some(range) = squashed {
            own.push(Sighting::Range { base: range.base, head: range.head });
            nested.clone_from(&range.found_by);
        } else {
            let found = weighed.iter().filter(|one| one.by_index && one.standing.holds());
            own.extend(found.map(|one| Sighting::Commit(one.noted_on)));
            own.dedup();
        }
        let ids = if own.is_empty() { None } else { facts.change(self.gatherer)? };
        let own = ids.into_iter().flat_map(|ids| own.iter().map(move |sighting| (ids, *sighting)));
        Ok(own.chain(nested).collect())
    }

    pub(super) fn weigh(
        &self,
        (anchor, noted_on): (&Anchor, CommitId),
        signatures: &[Option<Signature>],
        facts: &Facts,
        proof_grade: bool,
    ) -> Weighed {
        let anchor = anchor.clone();
        let id = anchor.id();
        let _ = self.gatherer.git.meter.spend(cost::ANCHOR); // the judgement of the commit ends in that limit
        let signatures = self.rules.signatures(&anchor, &id, signatures, &self.gatherer.git.meter);
        let gathered = self.gatherer.evidence(&anchor.root);
        let candidate = Candidate {
            anchor: &anchor,
            bond: &self.bond(&anchor, &gathered.evidence, facts),
            evidence: &gathered.evidence,
            signatures: &signatures,
            round: self.rules.seals.counts(&id).map(|(round, _)| round),
            rounds_fetched: self.rules.seals.fetched,
        };
        let standing = verify::judge(&candidate, proof_grade, &self.rules.requirements);
        Weighed { anchor, id, signers: signatures.people, standing, noted_on, by_index: false }
    }

    /// Anchors of the commits that a root named in the message attests.
    pub(super) fn by_trailers(
        &self,
        facts: &Facts,
        trailers: &ProofTrailers,
        proof_grade: bool,
        weighed: &mut Vec<Weighed>,
    ) {
        for trailer in &trailers.trailers {
            let ProofTrailer::Root(named) = trailer else { continue };
            let gathered = self.gatherer.evidence(&named.root);
            let Evidence::Holds(evidence) = &gathered.evidence else { continue };
            let attested = evidence.attested.iter().filter_map(|said| said.change.commit).take(MAX_NAMED);
            for commit in attested.filter(|commit| *commit != facts.id()) {
                let note = self.gatherer.note(&commit);
                let anchors = note.anchors.iter().filter(|(anchor, _)| anchor.root == named.root);
                self.add((commit, anchors), facts, proof_grade, true, weighed);
            }
        }
    }

    /// Anchors of other commits that were made for the same change. For a commit that asks for no proof, those that do not
    /// hold are none of its business.
    /// The answer are those that only this clone knows of.
    pub(super) fn by_change(
        &self,
        facts: &Facts,
        proof_grade: bool,
        asks: bool,
        weighed: &mut Vec<Weighed>,
    ) -> Read<Vec<AnchorId>> {
        let mut known_here = Vec::new();
        let Some(ids) = facts.change(self.gatherer)? else { return Ok(known_here) };
        for sighting in self.gatherer.sightings(&ids) {
            let Sighting::Commit(other) = sighting else { continue };
            if !self.is_being_judged(&other) {
                let before = weighed.len();
                self.add((other, self.gatherer.note(&other).anchors.iter()), facts, proof_grade, asks, weighed);
                weighed[before..].iter_mut().for_each(|added| added.by_index = true);
                if self.gatherer.is_known_only_here(&sighting) {
                    known_here.extend(weighed[before..].iter().map(|added| added.anchor.id()));
                }
            }
        }
        Ok(known_here)
    }

    /// Adds anchors from the note of another commit: those that belong to the judged one, or would but for a rule.
    fn add<'n>(
        &self,
        (noted_on, anchors): (CommitId, impl Iterator<Item = &'n (Anchor, Vec<Option<Signature>>)>),
        facts: &Facts,
        proof_grade: bool,
        asks: bool,
        weighed: &mut Vec<Weighed>,
    ) {
        for (anchor, signatures) in anchors {
            // Others choose how many anchors there are, and each is compared with all before it. The judgement of the commit
            // ends in the limit that is reached here.
            if self.gatherer.git.meter.spend(weighed.len() as u64).is_err() {
                return;
            }
            if weighed.iter().any(|known| known.anchor == *anchor) {
                continue;
            }
            let found = self.weigh((anchor, noted_on), signatures, facts, proof_grade);
            // Its other anchors are for other changes, and were never said to be for this commit.
            let unrelated = found.standing.findings.iter().any(|finding| finding.code == FindingCode::BindingMismatch);
            if found.standing.holds() || asks && !unrelated {
                weighed.push(found);
            }
        }
    }

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

/// Whether an anchor holds, and every root that the trailers name.
fn satisfied(weighed: &[Weighed], trailers: &ProofTrailers) -> bool {
    let holding = || weighed.iter().filter(|weighed| weighed.standing.holds());
    holding().next().is_some()
        && trailers.trailers.iter().all(|trailer| match trailer {
            ProofTrailer::Root(root) => holding().any(|weighed| conclude::is_named(&weighed.anchor, root)),
            _ => true,
        })
}

/// Says that the index names too many places.
fn crowded() -> Finding {
    let message =
        format!("refs/proof/changes names more places for this change than the {MAX_SIGHTINGS} that are looked at");
    Finding::unchecked(FindingCode::LimitReached, message).hint(hint!(cover(); "it names the commit by its id"))
}

/// The same thing said twice is said once.
fn dedup(findings: &mut Vec<Finding>) {
    let mut seen = HashSet::new();
    findings.retain(|finding| seen.insert((finding.code, finding.severity, finding.message.clone())));
}
