//! One commit: its anchors by its note, then by its change, then as a squash; and what they come to.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;

use super::gather::{Gatherer, Told};
use super::rules::Rules;
use super::word::{self, Vouched};
use crate::git::{Commit, Read};
use crate::proof::anchor::Anchor;
use crate::proof::change::Sighting;
use crate::proof::conclude::{self, Judged};
use crate::proof::digest::{AnchorId, CommitId, RootHash, TreeId};
use crate::proof::finding::{Finding, FindingCode, Verdict};
use crate::proof::grade::{Reason, Subject};
use crate::proof::note::Signature;
use crate::proof::policy::Binding;
use crate::proof::record::Id;
use crate::proof::scheme::Scheme;
use crate::proof::trailer::{ProofTrailer, ProofTrailers};
use crate::proof::verify::{self, Candidate, CommitFacts, Evidence, Standing};

/// How deep squashes of squashes are followed.
const MAX_DEPTH: u32 = 3;
/// Most commits of ranges that are looked at for one commit.
const MAX_LOOKED_AT: usize = 4000;

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
    pub vouched: Option<Vouched>,
    /// The sessions that explain it.
    pub sessions: Vec<SessionVerdict>,
    /// What there is to say.
    pub findings: Vec<Finding>,
}

/// A session that explains a commit, or claims to.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
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
    /// Whether the anchor holds.
    pub holds: bool,
    /// Whether it would hold if enough people had signed it.
    #[serde(skip)]
    pub sound: bool,
    /// `verified`, `missing`, `not_fetched`, or `broken`.
    pub evidence: &'static str,
    /// Whether the session attests the change.
    pub rooted: bool,
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
pub(super) fn judge(gatherer: &Gatherer, rules: &Rules, id: &CommitId) -> CommitVerdict {
    Judge::new(gatherer, rules).commit(id, 0)
}

/// Why a commit must be anchored, by some rules.
pub(super) fn explain(gatherer: &Gatherer, rules: &Rules, id: &CommitId) -> Read<Option<Reason>> {
    Judge::new(gatherer, rules).reason(&*gatherer.commit(id)?)
}

/// Judges commits; the parts of squashes with them.
pub(super) struct Judge<'a> {
    pub(super) gatherer: &'a Gatherer,
    rules: &'a Rules,
    /// How many more commits of ranges are looked at: ranges of ranges multiply, and anyone may add to the index.
    pub(super) budget: Cell<usize>,
}

/// An anchor with its signatures, and how it stands.
struct Weighed {
    anchor: Anchor,
    id: AnchorId,
    signers: Vec<String>,
    standing: Standing,
}

impl<'a> Judge<'a> {
    fn new(gatherer: &'a Gatherer, rules: &'a Rules) -> Self {
        Self { gatherer, rules, budget: Cell::new(MAX_LOOKED_AT) }
    }

    pub(super) fn commit(&self, id: &CommitId, depth: u32) -> CommitVerdict {
        let blank = |subject: String, parents: Vec<CommitId>| CommitVerdict {
            commit: *id,
            subject,
            parents,
            verdict: Verdict::Unchecked,
            proof_grade: true,
            reason: None,
            binding: None,
            vouched: None,
            sessions: Vec::new(),
            findings: Vec::new(),
        };
        let commit = match self.gatherer.commit(id) {
            Ok(commit) => commit,
            Err(error) => {
                let findings = vec![
                    Finding::unchecked(FindingCode::ObjectMissing, error.to_string())
                        .hint("git fetch brings the commit; git fsck tells whether the repository is whole"),
                ];
                return CommitVerdict { findings, ..blank(String::new(), Vec::new()) };
            }
        };
        let blank = || blank(commit.subject(), commit.parents.clone());
        match self.known(&commit, depth) {
            Ok(verdict) => verdict,
            Err(error) => {
                // What is wrong is not with the commit but with what is at hand of it.
                let finding = Finding::unchecked(FindingCode::ObjectMissing, error.to_string())
                    .hint("the clone may be shallow or partial: git fetch --unshallow, or git fetch --refetch");
                let reason = self.reason(&commit).unwrap_or(Some(Reason::All));
                let marked = reason.is_some() || self.has_note(id);
                if !marked {
                    return CommitVerdict { verdict: Verdict::Exempt, proof_grade: false, ..blank() };
                }
                CommitVerdict { findings: vec![finding], ..blank() }
            }
        }
    }

    fn has_note(&self, id: &CommitId) -> bool {
        let note = self.gatherer.note(id);
        !note.anchors.is_empty() || !note.findings.is_empty()
    }

    fn known(&self, commit: &Commit, depth: u32) -> Read<CommitVerdict> {
        let trailers = ProofTrailers::parse(&commit.message);
        let note = self.gatherer.note(&commit.id);
        let reason = self.reason(commit)?;
        let proof_grade = reason.is_some();
        let names_root = trailers.trailers.iter().any(|trailer| matches!(trailer, ProofTrailer::Root(_)));
        let nothing = note.anchors.is_empty() && note.findings.is_empty() && !names_root && !proof_grade;
        let mut verdict = CommitVerdict {
            commit: commit.id,
            subject: commit.subject(),
            parents: commit.parents.clone(),
            verdict: Verdict::Exempt,
            proof_grade,
            reason: reason.map(|reason| reason.to_string()),
            binding: None,
            vouched: None,
            sessions: Vec::new(),
            findings: Vec::new(),
        };
        if nothing && !self.rules.look_everywhere {
            let outcome =
                conclude::conclude(&[], &[], &trailers, false, self.gatherer.has_notes(), self.rules.must_be_anchored);
            (verdict.verdict, verdict.findings) = (outcome.verdict, outcome.findings);
            return Ok(verdict);
        }
        let facts = self.gatherer.facts(&commit.id)?;
        let mut weighed: Vec<Weighed> = Vec::new();
        for (anchor, signatures) in note.anchors {
            weighed.push(self.weigh(anchor, &signatures, &facts, proof_grade));
        }
        if !satisfied(&weighed, &trailers) {
            self.by_change(&facts, proof_grade, proof_grade || names_root, &mut weighed);
        }
        let mut squashed = None;
        if !satisfied(&weighed, &trailers) && depth < MAX_DEPTH && self.rules.requirements.binding == Binding::Squashed
        {
            let asks = proof_grade || names_root;
            // A range that does not hold is an answer only where nothing else is one.
            let alone = weighed.is_empty() && note.findings.is_empty();
            squashed = self.by_range(&facts, depth).filter(|found| asks && alone || found.verdict == Verdict::Pass);
        }
        let outcome = match &squashed {
            Some(range) => {
                let others = weighed.iter().flat_map(|weighed| &weighed.standing.findings).chain(&note.findings);
                range.conclude(&trailers, others, self.rules.must_be_anchored)
            }
            None => {
                let judged: Vec<Judged<'_>> = weighed
                    .iter()
                    .map(|weighed| Judged { anchor: &weighed.anchor, standing: weighed.standing.clone() })
                    .collect();
                conclude::conclude(
                    &judged,
                    &note.findings,
                    &trailers,
                    proof_grade,
                    self.gatherer.has_notes(),
                    self.rules.must_be_anchored,
                )
            }
        };
        let unbound = match &squashed {
            Some(range) => range.lacks_only_anchors(),
            None => weighed.iter().all(|weighed| weighed.standing.is_only_unbound()),
        };
        verdict.sessions = match squashed {
            Some(range) => range.sessions,
            None => weighed.iter().map(|weighed| self.session(weighed)).collect(),
        };
        (verdict.verdict, verdict.binding, verdict.findings) = (outcome.verdict, outcome.binding, outcome.findings);
        if verdict.sessions.iter().all(|session| !session.holds) && !self.rules.seals.anchors.is_empty() {
            let deleted = self.gatherer.deleted(&self.rules.seals);
            if let Some(deleted) = deleted.of(&facts, &trailers) {
                verdict.findings.push(deleted);
                verdict.verdict = Verdict::Fail;
            } else {
                verdict.findings.extend(deleted.unfollowed());
            }
        }
        if verdict.verdict != Verdict::Pass && facts.change.is_some_and(|change| self.gatherer.is_crowded(&change)) {
            let message = "refs/proof/changes names more places for this change than are looked at";
            let hint = "git proof anchor on the commit itself, or git proof carry, needs no index";
            verdict.findings.push(Finding::warning(FindingCode::AnchorMissing, message).hint(hint));
        }
        // Only for the commit itself: a word for a part of a squash is none for the whole.
        if depth == 0 && !note.words.is_empty() && verdict.verdict != Verdict::Pass {
            word::take(self.gatherer, self.rules, &facts, &note.words, &trailers, unbound, &mut verdict);
        }
        dedup(&mut verdict.findings);
        Ok(verdict)
    }

    /// Why a commit must be anchored. A merge that is what git itself would have made of its parents need not.
    fn reason(&self, commit: &Commit) -> Read<Option<Reason>> {
        let (message, author) = (&commit.message, &commit.author);
        let subject = Subject { message, author, merge: false, touches_settings: false, paths: &[] };
        let git = &self.gatherer.git;
        if commit.parents.len() > 1 {
            let merged = git.compare_with_merge(&commit.parents, &commit.tree).ok().flatten();
            let paths = match merged {
                Some(merged) if merged.is_automatic() => {
                    return Ok(self.rules.grader.reason(&Subject { merge: true, ..subject }));
                }
                Some(merged) => merged.differing,
                // Nobody can say what came from where.
                None => self.paths_from(commit, &commit.parents)?,
            };
            let touches_settings = paths.iter().any(|path| path == b".proof" || path.starts_with(b".proof/"));
            return Ok(self.rules.grader.reason(&Subject { touches_settings, paths: &paths, ..subject }));
        }
        let parent = commit.parents.first().map(|parent| self.gatherer.commit(parent)).transpose()?;
        let settings = |tree: &TreeId| git.file(tree, ".proof").map(|entry| entry.map(|entry| entry.id));
        let before = parent.map(|parent| settings(&parent.tree)).transpose()?.flatten();
        let touches_settings = before != settings(&commit.tree)?;
        let paths = match self.rules.grader.needs_paths() {
            true if commit.parents.is_empty() => git.paths_between(None, &commit.tree)?,
            true => self.paths_from(commit, &commit.parents)?,
            false => Vec::new(),
        };
        Ok(self.rules.grader.reason(&Subject { touches_settings, paths: &paths, ..subject }))
    }

    /// The paths where a commit differs from any of these.
    fn paths_from(&self, commit: &Commit, parents: &[CommitId]) -> Read<Vec<Vec<u8>>> {
        let mut paths = Vec::new();
        for parent in parents {
            let before = self.gatherer.commit(parent)?.tree;
            paths.extend(self.gatherer.git.paths_between(Some(&before), &commit.tree)?);
        }
        Ok(paths)
    }

    fn weigh(
        &self,
        anchor: Anchor,
        signatures: &[Option<Signature>],
        facts: &Arc<CommitFacts>,
        proof_grade: bool,
    ) -> Weighed {
        let id = anchor.id();
        let own =
            if anchor.commit == facts.id { Some(Arc::clone(facts)) } else { self.gatherer.facts(&anchor.commit).ok() };
        let signatures = self.rules.signatures(&anchor, &id, signatures);
        let gathered = self.gatherer.evidence(&anchor.root);
        let candidate = Candidate {
            anchor: &anchor,
            own: own.as_deref(),
            evidence: &gathered.evidence,
            signatures: &signatures,
            round: self.rules.seals.counts(&id).map(|(round, _)| round),
            rounds_fetched: self.rules.seals.fetched,
        };
        let at_hand = |id: &CommitId| self.gatherer.facts(id).ok().map(|facts| (*facts).clone());
        let standing = verify::judge(&candidate, facts, proof_grade, &self.rules.requirements, &at_hand);
        Weighed { anchor, id, signers: signatures.people, standing }
    }

    /// Anchors of other commits that were made for the same change. For a commit that asks for no proof, those that do not
    /// hold are none of its business.
    fn by_change(&self, facts: &Arc<CommitFacts>, proof_grade: bool, asks: bool, weighed: &mut Vec<Weighed>) {
        let Some(change) = facts.change else { return };
        let mut known: HashSet<AnchorId> = weighed.iter().map(|weighed| weighed.id).collect();
        for sighting in self.gatherer.sightings(&change) {
            let Sighting::Commit(other) = sighting else { continue };
            if other == facts.id {
                continue;
            }
            for (anchor, signatures) in self.gatherer.note(&other).anchors {
                // Its other anchors are for other changes, and were never said to be for this commit.
                if anchor.change_id == Some(change) && known.insert(anchor.id()) {
                    let found = self.weigh(anchor, &signatures, facts, proof_grade);
                    if asks || found.standing.holds() {
                        weighed.push(found);
                    }
                }
            }
        }
    }

    fn session(&self, weighed: &Weighed) -> SessionVerdict {
        let anchor = &weighed.anchor;
        let gathered = self.gatherer.evidence(&anchor.root);
        let intent = match &gathered.evidence {
            Evidence::Holds(facts) => Some(facts.summary.opening.intent.clone()),
            _ => None,
        };
        SessionVerdict {
            session_id: anchor.session_id.clone(),
            scheme: anchor.scheme,
            root: anchor.root,
            count: anchor.count,
            anchor_id: weighed.id,
            anchor: anchor.clone(),
            holds: weighed.standing.holds(),
            sound: weighed.standing.is_sound(),
            evidence: gathered.evidence.in_a_word(),
            rooted: weighed.standing.rooted,
            signers: weighed.signers.clone(),
            round: self.rules.seals.round(&weighed.id),
            intent: intent.filter(|_| !gathered.told.is_empty()),
            told: gathered.told.clone(),
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

/// The same thing said twice is said once.
fn dedup(findings: &mut Vec<Finding>) {
    let mut seen = HashSet::new();
    findings.retain(|finding| seen.insert((finding.code, finding.severity, finding.message.clone())));
}
