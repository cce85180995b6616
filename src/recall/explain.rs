//! Commits with the sessions that explain them, judged once and read once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::decision::{Decision, Found};
use super::trail::{Trail, read_trail};
use super::trust::{Allowed, is_own};
use crate::context::Context;
use crate::error::Result;
use crate::git::Git;
use crate::judge::{CommitVerdict, SessionVerdict, VerifyOutcome, VerifyRequest, verify_in};
use crate::proof::digest::{CommitId, ContentHash, RootHash};
use crate::store::Store;

/// Who asks, and what may be told.
pub(super) struct Explainer<'a> {
    pub(super) context: &'a Context,
    pub(super) git: &'a Git,
    /// Tells which sessions are of this clone.
    pub(super) store: Option<&'a Store>,
    /// Which sessions may be told to an agent; `None` where a person asks, who sees how each of them stands.
    pub(super) filter: Option<Allowed>,
}

/// Commits that were judged, with what their sessions recorded.
pub(super) struct Explained {
    pub(super) outcome: VerifyOutcome,
    trails: HashMap<RootHash, Arc<Trail>>,
    /// The records that correct an entry, by its content hash.
    corrections: HashMap<ContentHash, Vec<ContentHash>>,
    known: HashSet<ContentHash>,
}

impl Explainer<'_> {
    /// Judges commits and reads what their sessions recorded. The first one should be the newest: where no branch is trusted,
    /// the rules are those that it was made under.
    pub(super) fn explain(&self, commits: &[CommitId]) -> Result<Explained> {
        let revisions = commits.iter().map(ToString::to_string).collect();
        let request = VerifyRequest { revisions, every_session: true, ..VerifyRequest::default() };
        let outcome = verify_in(self.context, self.git, self.store, &request)?;
        let mut explained =
            Explained { outcome, trails: HashMap::new(), corrections: HashMap::new(), known: HashSet::new() };
        let mut unreadable = HashSet::new();
        for commit in &explained.outcome.commits {
            for session in commit.sessions.iter().filter(|session| self.counts(commit, session)) {
                if explained.trails.contains_key(&session.root) || unreadable.contains(&session.root) {
                    continue;
                }
                let Some(trail) = read_trail(self.git, session, true) else {
                    unreadable.insert(session.root);
                    continue;
                };
                for step in &trail.steps {
                    explained.known.insert(step.content_hash);
                    if let Some(superseded) = step.supersedes {
                        explained.corrections.entry(superseded).or_default().push(step.content_hash);
                    }
                }
                explained.trails.insert(session.root, Arc::new(trail));
            }
        }
        Ok(explained)
    }

    /// Whether a session is told, and whether what it corrects counts as corrected.
    fn counts(&self, commit: &CommitVerdict, session: &SessionVerdict) -> bool {
        match &self.filter {
            None => session.holds || session.sound,
            Some(allowed) => allowed.lets_through(self.store, commit, session),
        }
    }

    /// The decisions behind commits of which so many lines come, each decision once.
    pub(super) fn decisions(&self, explained: &Explained, lines: &HashMap<CommitId, u64>) -> Vec<Decision> {
        let mut behind: HashMap<RootHash, (u64, &CommitVerdict, &SessionVerdict)> = HashMap::new();
        let mut order = Vec::new();
        for commit in &explained.outcome.commits {
            let Some(count) = lines.get(&commit.commit) else { continue };
            let mut seen = HashSet::new();
            for session in commit.sessions.iter().filter(|session| self.counts(commit, session)) {
                if !seen.insert(session.root) {
                    continue;
                }
                let (sum, most, _) = behind.entry(session.root).or_insert_with(|| {
                    order.push(session.root);
                    (0, commit, session)
                });
                *sum += count;
                if lines.get(&most.commit).is_some_and(|most| most < count) {
                    *most = commit;
                }
            }
        }
        let now = self.context.now();
        let superseded_by = |hash: &ContentHash| explained.corrections.get(hash).cloned().unwrap_or_default();
        let mut decisions = Vec::new();
        for root in order {
            let (Some(trail), Some((lines, commit, session))) = (explained.trails.get(&root), behind.get(&root)) else {
                continue;
            };
            let own = is_own(self.store, session);
            let found = Found { trail, commit, session, own, lines: *lines, now };
            decisions.extend(found.decisions(&superseded_by));
        }
        decisions
    }
}

impl Explained {
    /// The trails of the sessions behind a commit, each once.
    pub(super) fn trails_of<'a>(&'a self, commit: &'a CommitVerdict) -> Vec<&'a Trail> {
        let mut roots: Vec<RootHash> = commit.sessions.iter().map(|session| session.root).collect();
        let mut seen = HashSet::new();
        roots.retain(|root| seen.insert(*root));
        roots.iter().filter_map(|root| self.trails.get(root).map(|trail| &**trail)).collect()
    }

    /// Whether an entry was read.
    pub(super) fn knows(&self, entry: &ContentHash) -> bool {
        self.known.contains(entry)
    }
}
