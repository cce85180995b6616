//! Squashes: a commit that is the whole of a range, and stands as the commits of that range do.

use std::collections::HashSet;

use super::bond::{cover_as_it_is, unchecked};
use super::commit::Judge;
use super::facts::Facts;
use super::merges::{Brought, is_setting};
use super::replay::Before;
use super::verdict::SessionVerdict;
use crate::git::{Allowance, ObjectError, Read};
use crate::proof::change::{ChangeIds, Sighting};
use crate::proof::conclude::{self, Outcome};
use crate::proof::digest::CommitId;
use crate::proof::finding::{Finding, FindingCode, Severity, Verdict};
use crate::proof::merge::PathChange;
use crate::proof::policy::Binding;
use crate::proof::trailer::{ProofTrailer, ProofTrailers, Stray};

/// Longest range that is taken for a squash, in commits.
const MAX_RANGE: usize = 1000;

/// A range that a commit is the whole of, and how it stands.
pub(super) struct Squash {
    pub(super) verdict: Verdict,
    pub(super) sessions: Vec<SessionVerdict>,
    pub(super) findings: Vec<Finding>,
    /// The lines of the index by which anchors of its commits were found.
    pub(super) found_by: Vec<(ChangeIds, Sighting)>,
    pub(super) base: CommitId,
    pub(super) head: CommitId,
    /// The commits of the range, newest first.
    pub(super) commits: Vec<CommitId>,
}

impl Squash {
    /// A range of which no commit was judged yet.
    fn new(base: CommitId, head: CommitId, commits: Vec<CommitId>) -> Self {
        let (sessions, findings, found_by) = (Vec::new(), Vec::new(), Vec::new());
        Self { verdict: Verdict::Exempt, sessions, findings, found_by, base, head, commits }
    }

    /// Whether nothing is wrong with it but that parts of it have no anchor.
    pub(super) fn lacks_only_anchors(&self) -> bool {
        let severe = |finding: &&Finding| finding.severity > Severity::Warning;
        self.findings.iter().filter(severe).all(|finding| finding.code == FindingCode::AnchorMissing)
    }

    pub(super) fn conclude<'a>(&self, trailers: &ProofTrailers, others: impl Iterator<Item = &'a Finding>) -> Outcome {
        let mut findings = self.findings.clone();
        findings.extend(others.cloned().map(Finding::softened));
        let mut verdict = self.verdict;
        // A forge puts the messages of the commits that it squashed into the new one, trailers and all.
        let told = |stray: &&Stray| verdict != Verdict::Pass || !matches!(stray, Stray::Outside { .. });
        let strays: Vec<Finding> = trailers.strays.iter().filter(told).map(conclude::stray).collect();
        match strays.iter().map(|stray| stray.severity).max() {
            Some(Severity::Error) => verdict = Verdict::Fail,
            Some(Severity::Unchecked) => verdict = verdict.max(Verdict::Unchecked),
            _ => {}
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
            // Where something could not be checked, the session may be in what was not seen.
            if !proven && self.verdict != Verdict::Unchecked {
                verdict = Verdict::Fail;
                let message = format!(
                    "Proof-Root names session {}, which explains nothing in the squashed range {}..{}",
                    root.session_id, self.base, self.head
                );
                findings.push(Finding::error(FindingCode::TrailerMismatch, message));
            }
        }
        if verdict == Verdict::Exempt {
            let message = "no commit of the squashed range has an anchor that holds";
            findings.push(Finding::error(FindingCode::AnchorMissing, message));
            verdict = Verdict::Missing;
        }
        let binding = (verdict == Verdict::Pass).then_some(Binding::Squashed);
        Outcome { verdict, binding, findings }
    }
}

impl Judge<'_> {
    /// A range that this commit is the whole of.
    pub(super) fn by_range(&self, judged: &Facts, depth: u32) -> Read<Option<Squash>> {
        let Some(ids) = judged.change(self.gatherer)? else { return Ok(None) };
        let mut failed = None;
        for sighting in self.gatherer.sightings(&ids) {
            let Sighting::Range { base, head } = sighting else { continue };
            if self.is_being_judged(&head) {
                continue;
            }
            match self.range(&base, &head, judged, depth) {
                Ok(Some(squash)) if squash.verdict == Verdict::Pass => return Ok(Some(squash)),
                Ok(Some(squash)) => failed = failed.or(Some(squash)),
                Ok(None) => {}
                // Anyone may add a line: one that leads nowhere must not hide another that holds.
                Err(error) => {
                    let (verdict, findings) = (Verdict::Unchecked, vec![unchecked(&error)]);
                    failed = failed.or(Some(Squash { verdict, findings, ..Squash::new(base, head, Vec::new()) }));
                }
            }
        }
        Ok(failed)
    }

    /// What differs between the ends of a range, path by path.
    fn whole_change(&self, base: &CommitId, head: &CommitId) -> Read<Vec<PathChange>> {
        let (git, history) = (&self.gatherer.git, &self.gatherer.history);
        git.diff(Some(&history.node(git, base)?.tree), Some(&history.node(git, head)?.tree))
    }

    /// Whether a commit is what git makes of a whole range on top of the commit's parent.
    pub(super) fn is_squash(&self, judged: &Facts, base: &CommitId, head: &CommitId) -> Read<bool> {
        let (git, history) = (&self.gatherer.git, &self.gatherer.history);
        if judged.is_merge() || base == head || !history.reaches(git, head, base)? {
            return Ok(false);
        }
        let (change, made) = (self.whole_change(base, head)?, judged.diff(self.gatherer)?);
        if change.is_empty() || made.is_empty() {
            return Ok(false);
        }
        let ours = judged.first_tree(self.gatherer)?;
        git.is_merge(&change, ours.as_ref(), (&judged.tree(), &made), true, &mut Allowance::default())
    }

    pub(super) fn range(&self, base: &CommitId, head: &CommitId, judged: &Facts, depth: u32) -> Read<Option<Squash>> {
        let (git, history) = (&self.gatherer.git, &self.gatherer.history);
        if !self.is_squash(judged, base, head)? {
            return Ok(None);
        }
        let only = history.only(git, &[*head], &[*base]);
        only.complete()?;
        let commits = only.commits;
        if commits.iter().any(|id| self.is_being_judged(id)) {
            return Ok(None);
        }
        if commits.len() > MAX_RANGE {
            let why = format!("the range {base}..{head} has more than {MAX_RANGE} commits");
            return Err(ObjectError::Limit(head.0, why));
        }
        self.spend(commits.len())?;
        let mut squash = Squash::new(*base, *head, commits.clone());
        if let Some(replayed) = self.replayed_range(base, head, &commits, judged)? {
            squash.findings.push(replayed);
            squash.verdict = Verdict::Fail;
            return Ok(Some(squash));
        }
        let mut known = HashSet::new();
        let mut exact = Vec::new();
        let mut proven: HashSet<Vec<u8>> = HashSet::new();
        // From the oldest on, as they were made.
        for id in commits.iter().rev() {
            let commit = self.commit(id, depth + 1);
            squash.verdict = squash.verdict.max(commit.verdict);
            if commit.verdict == Verdict::Pass {
                let diff = self.gatherer.facts(id)?.diff(self.gatherer)?;
                proven.extend(diff.iter().map(|path| path.path.clone()));
            }
            let is_rooted = |session: &SessionVerdict| session.holds && session.rooted;
            if commit.binding == Some(Binding::Exact) && commit.sessions.iter().any(is_rooted) {
                exact.push(*id);
            }
            squash.found_by.extend(commit.found_by);
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
        // What needed no proof as one of many does not become proven by standing beside what is.
        let guarded = |path: &&PathChange| self.rules.grader.guards(&path.path) || is_setting(&path.path);
        let made = judged.diff(self.gatherer)?;
        if squash.verdict == Verdict::Pass
            && let Some(path) = made.iter().filter(guarded).find(|path| !proven.contains(&path.path))
        {
            let path = String::from_utf8_lossy(&path.path);
            let message =
                format!("no proven commit of the squashed range {base}..{head} changes {path:?}, which policy guards");
            squash.findings.push(Finding::error(FindingCode::AnchorMissing, message).hint(cover_as_it_is()));
            squash.verdict = Verdict::Missing;
        }
        if squash.verdict == Verdict::Pass && !self.is_known_base(base, &exact, judged)? {
            let message = format!(
                "the squashed range {base}..{head} starts from a commit that neither this commit's history nor a commit \
                 named by its session leads to, so nobody can tell where its changes belong"
            );
            squash.findings.push(Finding::error(FindingCode::PlaceAmbiguous, message).hint(cover_as_it_is()));
            squash.verdict = Verdict::Fail;
        }
        Ok(Some(squash))
    }

    /// Whether somebody else than who wrote down the range chose its base. Nobody judges what a base contains, and where
    /// the hunks of the range stand depends on it: with a base made for the purpose, or several in a row, a hunk can be led
    /// to another place of the file.
    fn is_known_base(&self, base: &CommitId, exact: &[CommitId], judged: &Facts) -> Read<bool> {
        let (git, history) = (&self.gatherer.git, &self.gatherer.history);
        let trusted = self.rules.source.commit.filter(|_| self.rules.source.trusted);
        for id in judged.commit.parents.iter().chain(exact).chain(trusted.as_ref()) {
            if history.reaches(git, id, base)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the range, or one of its commits, was applied to where it is squashed to, and undone there.
    fn replayed_range(
        &self,
        base: &CommitId,
        head: &CommitId,
        commits: &[CommitId],
        judged: &Facts,
    ) -> Read<Option<Finding>> {
        let (git, history) = (&self.gatherer.git, &self.gatherer.history);
        let Some(parent) = judged.commit.parents.first() else { return Ok(None) };
        let only = history.only(git, &[*parent], &[*head]);
        if let Some(by) = commits.iter().find(|id| only.shared.contains(id)) {
            return Ok(Some(Before::by_itself(*by).finding()));
        }
        let whole = self.whole_change(base, head)?;
        if let Some(before) = self.applied_before(&whole, head, parent)? {
            return Ok(Some(before.finding()));
        }
        let brought = Brought::new(&judged.diff(self.gatherer)?);
        for id in commits {
            let facts = self.gatherer.facts(id)?;
            if facts.is_merge() {
                // Clocks can keep the walk above from seeing that both sides reach it.
                if history.reaches(git, parent, id)? {
                    return Ok(Some(Before::by_itself(*id).finding()));
                }
                if let Some((before, _)) = self.merge_applied_before(&facts, &brought, parent, &|_| true)? {
                    return Ok(Some(before.finding()));
                }
                continue;
            }
            let change = facts.diff(self.gatherer)?;
            if let Some(before) = self.applied_before(&change, id, parent)? {
                return Ok(Some(before.finding()));
            }
        }
        Ok(None)
    }
}
