//! Every session that explains a commit, also those that its verdict can do without.
//!
//! The verdict needs one anchor that holds, and the search for it ends there. Recall asks for more: anyone who can write proof
//! refs can add an anchor to a commit that has none in its note, and must not hide the session that is found by its change or
//! as a squash.

use std::collections::HashSet;

use super::commit::{Judge, MAX_DEPTH};
use super::files;
use super::gather::{Gatherer, Wanted};
use super::verdict::{CommitVerdict, SessionVerdict};
use super::weigh::{Search, Weighed};
use crate::error::Result;
use crate::git::{Git, Read};
use crate::proof::change::Sighting;
use crate::proof::digest::{AnchorId, CommitId};
use crate::proof::finding::Verdict;
use crate::proof::policy::Binding;
use crate::proof::trailer::ProofTrailers;
use crate::store::Store;

/// Tells whether a session that is not in a commit's own note may explain the commit. Only a filter.
pub(crate) struct Elsewhere<'a>(Gatherer<'a>);

impl<'a> Elsewhere<'a> {
    /// For the commits of a repository.
    pub(crate) fn new(git: &'a Git, store: Option<&'a Store>) -> Result<Self> {
        Gatherer::new(git, store, Wanted::default()).map(Self)
    }

    /// Whether the index names another commit, or a range, for the change that a commit made. If that cannot be told, it may.
    pub(crate) fn may_explain(&self, id: &CommitId) -> bool {
        let leads = || {
            let ids = self.0.facts(id).and_then(|facts| facts.change(&self.0));
            let is_other = |sighting: &Sighting| *sighting != Sighting::Commit(*id);
            ids.map(|ids| ids.is_some_and(|ids| self.0.sightings(&ids).iter().any(is_other)))
        };
        if !self.0.has_sightings() {
            return false;
        }
        let (leads, limit) = self.0.within_limit(leads);
        limit.is_some() || leads.unwrap_or(true)
    }
}

/// Sessions, each anchor once.
struct Sessions {
    known: HashSet<AnchorId>,
    found: Vec<SessionVerdict>,
}

impl Judge<'_> {
    /// Adds to a verdict the sessions that it does not name yet. The verdict stays as it is.
    pub(super) fn add_sessions(&self, verdict: &mut CommitVerdict) {
        let known = verdict.sessions.iter().map(|session| session.anchor_id).collect();
        let mut sessions = Sessions { known, found: Vec::new() };
        // If something cannot be read, the sessions that were found before still count.
        let _ = self.collect(&verdict.commit, 0, &mut sessions);
        if sessions.found.is_empty() {
            return;
        }
        verdict.sessions.append(&mut sessions.found);
        if let Ok(facts) = self.gatherer.facts(&verdict.commit) {
            verdict.files = files::files(self.gatherer, &facts, &verdict.sessions);
        }
    }

    fn collect(&self, id: &CommitId, depth: u32, sessions: &mut Sessions) -> Read<()> {
        self.judging(id, || self.collect_inside(id, depth, sessions))
    }

    fn collect_inside(&self, id: &CommitId, depth: u32, sessions: &mut Sessions) -> Read<()> {
        let facts = self.gatherer.facts(id)?;
        let trailers = ProofTrailers::parse(&facts.commit.message);
        let proof_grade = self.grade(&facts)?.0.is_some();
        let mut search = Search::new(self, &facts, &trailers, proof_grade);
        for anchor in &self.gatherer.note(id).anchors {
            search.add_own(anchor);
            self.keep(&mut search.found, sessions);
        }
        search.by_trailers();
        self.keep(&mut search.found, sessions);
        if !self.gatherer.has_sightings() {
            return Ok(());
        }
        search.by_change()?;
        self.keep(&mut search.found, sessions);
        if depth >= MAX_DEPTH || self.rules.requirements.binding != Binding::Squashed {
            return Ok(());
        }
        let Some(ids) = facts.change(self.gatherer)? else { return Ok(()) };
        for sighting in self.gatherer.sightings(&ids) {
            let Sighting::Range { base, head } = sighting else { continue };
            if self.is_being_judged(&head) {
                continue;
            }
            // Anyone may add a range: one that cannot be read, or does not hold, must not hide another that does.
            let Ok(Some(range)) = self.range(&base, &head, &facts, depth) else { continue };
            if range.verdict != Verdict::Pass || self.gatherer.git.meter.is_spent() {
                continue;
            }
            for part in &range.commits {
                let _ = self.collect(part, depth + 1, sessions);
            }
        }
        Ok(())
    }

    /// Keeps the sessions whose anchors hold, or would if enough people had signed them. What was weighed when the limit of the
    /// work was reached does not count.
    fn keep(&self, weighed: &mut Vec<Weighed>, sessions: &mut Sessions) {
        let is_spent = self.gatherer.git.meter.is_spent();
        for one in weighed.drain(..) {
            let counts = one.standing.holds() || one.standing.is_sound();
            if counts && !is_spent && sessions.known.insert(one.id) {
                sessions.found.push(self.session(&one));
            }
        }
    }
}
