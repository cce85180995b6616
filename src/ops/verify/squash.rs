//! Squashes: a commit that is the whole of a range, and stands as the commits of that range do.

use std::collections::HashSet;

use super::commit::{Judge, SessionVerdict};
use super::range::Ends;
use crate::proof::change::Sighting;
use crate::proof::conclude::{self, Outcome};
use crate::proof::digest::CommitId;
use crate::proof::finding::{Finding, FindingCode, Severity, Verdict};
use crate::proof::policy::Binding;
use crate::proof::trailer::{ProofTrailer, ProofTrailers};
use crate::proof::verify::CommitFacts;

/// Longest range that is taken for a squash, in commits.
const MAX_RANGE: usize = 1000;

/// A range that a commit is the whole of, and how it stands.
pub(super) struct Squash {
    pub(super) verdict: Verdict,
    pub(super) sessions: Vec<SessionVerdict>,
    pub(super) findings: Vec<Finding>,
    pub(super) base: CommitId,
    pub(super) head: CommitId,
}

impl Squash {
    /// Whether nothing is wrong with it but that parts of it have no anchor.
    pub(super) fn lacks_only_anchors(&self) -> bool {
        let severe = |finding: &&Finding| finding.severity > Severity::Warning;
        self.findings.iter().filter(severe).all(|finding| finding.code == FindingCode::AnchorMissing)
    }

    pub(super) fn conclude<'a>(
        &self,
        trailers: &ProofTrailers,
        others: impl Iterator<Item = &'a Finding>,
        must_be_anchored: bool,
    ) -> Outcome {
        let mut findings = self.findings.clone();
        findings.extend(others.cloned().map(Finding::softened));
        let mut verdict = self.verdict;
        let strays: Vec<Finding> = trailers.strays.iter().map(conclude::stray).collect();
        if strays.iter().any(|stray| stray.severity == Severity::Error) {
            verdict = Verdict::Fail;
        }
        findings.extend(strays);
        for trailer in &trailers.trailers {
            let ProofTrailer::Root(root) = trailer else { continue };
            let proven = self.sessions.iter().any(|session| {
                session.holds
                    && session.session_id == root.session_id
                    && session.root == root.root
                    && session.count == root.count
                    && session.scheme == root.scheme
            });
            if !proven {
                verdict = Verdict::Fail;
                let message = format!(
                    "Proof-Root names session {}, which explains nothing in the squashed range {}..{}",
                    root.session_id, self.base, self.head
                );
                findings.push(Finding::error(FindingCode::TrailerMismatch, message));
            }
        }
        if verdict == Verdict::Exempt && !self.sessions.iter().any(|session| session.holds) {
            let finding =
                Finding::error(FindingCode::AnchorMissing, "no commit of the squashed range has an anchor that holds");
            findings.push(if must_be_anchored { finding } else { finding.softened() });
        }
        if verdict == Verdict::Exempt && must_be_anchored {
            verdict = Verdict::Fail;
        }
        let binding = (verdict == Verdict::Pass).then_some(Binding::Squashed);
        Outcome { verdict, binding, findings }
    }
}

impl Judge<'_> {
    /// A range that this commit is the whole of.
    pub(super) fn by_range(&self, facts: &CommitFacts, depth: u32) -> Option<Squash> {
        let change = facts.change?;
        let mut failed = None;
        for sighting in self.gatherer.sightings(&change) {
            let Sighting::Range { base, head } = sighting else { continue };
            if head == facts.id {
                continue;
            }
            match self.range(&base, &head, facts, depth) {
                Some(squash) if squash.verdict == Verdict::Pass => return Some(squash),
                Some(squash) => failed = failed.or(Some(squash)),
                None => {}
            }
        }
        failed
    }

    fn range(&self, base: &CommitId, head: &CommitId, facts: &CommitFacts, depth: u32) -> Option<Squash> {
        let git = &self.gatherer.git;
        let (from, till) = (self.gatherer.commit(base).ok()?.tree, self.gatherer.commit(head).ok()?.tree);
        let whole = git.change_between(Some(&from), &till).ok()?;
        if whole != facts.change {
            return None;
        }
        let commits = git.commits(&[&format!("{base}..{head}")]).ok()?;
        if commits.is_empty() || commits.len() > MAX_RANGE || commits.contains(&facts.id) {
            return None;
        }
        let left = self.budget.get().checked_sub(commits.len())?;
        self.budget.set(left);
        let mut squash =
            Squash { verdict: Verdict::Exempt, sessions: Vec::new(), findings: Vec::new(), base: *base, head: *head };
        let mut known = HashSet::new();
        let (mut parents, mut unproven) = (Vec::new(), false);
        // From the oldest on, as they were made.
        for id in commits.iter().rev() {
            let commit = self.commit(id, depth + 1);
            squash.verdict = squash.verdict.max(commit.verdict);
            unproven |= commit.proof_grade && commit.verdict == Verdict::Exempt;
            parents.extend(commit.parents);
            for session in commit.sessions {
                if known.insert(session.anchor_id) {
                    squash.sessions.push(session);
                }
            }
            let short = &id.to_string()[..12];
            squash.findings.extend(commit.findings.into_iter().map(|mut finding| {
                finding.message = format!("in the squashed commit {short}: {}", finding.message);
                finding
            }));
        }
        // A part that must be proven and is not: neither is the whole.
        if unproven && squash.verdict == Verdict::Pass {
            squash.verdict = Verdict::Exempt;
        }
        let ends = Ends { tips: vec![*head], excluded: vec![*base] };
        let listed = commits.iter().copied().collect();
        // A range of which git shows only a part is none.
        ends.unexplained(self.gatherer, &listed, parents.iter().chain([head])).is_empty().then_some(squash)
    }
}
