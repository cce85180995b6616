//! One commit: its anchors by its note, then by its change, then as a squash; and what they come to.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use super::bond::unchecked;
use super::facts::Facts;
use super::files;
use super::gather::Gatherer;
use super::merges::Graded;
use super::rules::Rules;
use super::verdict::CommitVerdict;
use super::verify::Keep;
use super::weigh::{Search, known_only_here};
use super::word;
use crate::git::limits::MAX_SIGHTINGS;
use crate::git::{Commit, ObjectError, Read};
use crate::hint::{Hint, Step, hint};
use crate::proof::change::Sighting;
use crate::proof::conclude::{self, AtHand, Judged};
use crate::proof::digest::CommitId;
use crate::proof::finding::{Finding, FindingCode, Severity, Verdict, cover};
use crate::proof::grade::{Reason, Subject};
use crate::proof::policy::Binding;
use crate::proof::trailer::ProofTrailers;

/// How deep squashes of squashes are followed.
pub(super) const MAX_DEPTH: u32 = 3;
/// Most commits of ranges, and originals, that are looked at for one commit.
const MAX_LOOKED_AT: usize = 4000;
/// Most bytes of decisions and reflections that are shown of one commit.
const MAX_TOLD: usize = 16 << 20;

pub(super) fn judge(gatherer: &Gatherer<'_>, rules: &Rules, id: &CommitId) -> CommitVerdict {
    let (verdict, reached) = gatherer.within_limit(|| Judge::new(gatherer, rules).commit(id, 0));
    let verdict = match reached {
        Some(limit) => verdict.cut_short(limit),
        None if gatherer.wanted.every_session => with_every_session(gatherer, rules, verdict),
        None => verdict,
    };
    if gatherer.wanted.keep == Keep::Nothing { verdict.alone() } else { verdict }
}

/// Adds the sessions that the verdict could do without. The search has a limit of its own, so that whoever fills the index or
/// a note with more than that cannot take away the verdict and the sessions that it rests on.
fn with_every_session(gatherer: &Gatherer<'_>, rules: &Rules, mut verdict: CommitVerdict) -> CommitVerdict {
    let _ = gatherer.within_limit(|| Judge::new(gatherer, rules).add_sessions(&mut verdict));
    verdict
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
    pub(super) room: Cell<usize>,
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
        let commit = match self.gatherer.commit(id) {
            Ok(commit) => commit,
            Err(error) => {
                let hint = hint!(
                    Step::GitFetch, " brings the commit";
                    Step::GitFsck, " tells whether the repository is whole"
                );
                return CommitVerdict { findings: vec![unread(&error, hint)], ..CommitVerdict::blank(*id) };
            }
        };
        let blank = || CommitVerdict::of(&commit);
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
        let reason = reason.map(|reason| reason.to_string());
        let mut verdict = CommitVerdict { proof_grade, reason, ..CommitVerdict::of(commit) };
        let mut search = Search::new(self, facts, &trailers, proof_grade);
        note.anchors.iter().for_each(|anchor| search.add_own(anchor));
        if !search.is_satisfied() {
            search.by_trailers();
        }
        if !search.is_satisfied() && self.gatherer.has_sightings() {
            search.by_change()?;
        }
        let mut squashed = None;
        if !search.is_satisfied()
            && depth < MAX_DEPTH
            && self.rules.requirements.binding == Binding::Squashed
            && self.gatherer.has_sightings()
        {
            // A range that does not hold is an answer only where nothing else is one.
            let alone = search.asks && search.found.is_empty() && note.findings.is_empty();
            squashed = self.by_range(facts, depth)?.filter(|found| alone || found.verdict == Verdict::Pass);
        }
        let weighed = &search.found;
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
            None => search.is_known_only_here(),
        };
        let unbound = match &squashed {
            Some(range) => range.lacks_only_anchors(),
            None => weighed.iter().all(|weighed| weighed.standing.is_only_unbound()),
        };
        let (own, nested) = match &squashed {
            Some(range) => (vec![Sighting::Range { base: range.base, head: range.head }], range.found_by.clone()),
            None => (search.found_by(), Vec::new()),
        };
        let ids = if own.is_empty() { None } else { facts.change(self.gatherer)? };
        let own = ids.into_iter().flat_map(|ids| own.iter().map(move |sighting| (ids, *sighting)));
        verdict.found_by = own.chain(nested).collect();
        verdict.sessions = match squashed {
            Some(range) => range.sessions,
            None => weighed.iter().map(|weighed| self.session(weighed)).collect(),
        };
        (verdict.verdict, verdict.binding, verdict.findings) = (outcome.verdict, outcome.binding, outcome.findings);
        // A note that was not read may still have what seems to be deleted.
        let unread = note.findings.iter().any(|finding| finding.code == FindingCode::LimitReached);
        let holds = verdict.sessions.iter().any(|session| session.holds);
        if !unread && !holds && !self.rules.seals.anchors.is_empty() {
            self.look_for_deleted(facts, &trailers, search.asks, &mut verdict);
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

    /// Adds what was deleted of a commit, if something was.
    fn look_for_deleted(&self, facts: &Facts, trailers: &ProofTrailers, asks: bool, verdict: &mut CommitVerdict) {
        let deleted = self.gatherer.deleted(&self.rules.seals);
        let Some((sealed, finding)) = deleted.of(self.gatherer, facts, trailers) else {
            verdict.findings.extend(deleted.unfollowed());
            return;
        };
        // Anyone may push a seal. Only one of a listed sealer makes a commit fail that needs no proof.
        let covered = !self.rules.requirements.sealers.is_empty() && self.rules.seals.is_covered(sealed.round);
        if asks || covered {
            let known = finding.severity == Severity::Error;
            verdict.verdict = if known { Verdict::Fail } else { Verdict::Unchecked };
            verdict.findings.push(finding);
        } else {
            verdict.findings.push(finding.softened());
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
    findings.shrink_to_fit(); // there is one for each commit of a long range
}
