//! `report`: all that a page about a range needs, gathered from git alone. The text of records comes from the published
//! evidence and never from the store: what was withheld from others is withheld here, too.

mod commit;
mod evidence;
mod file;
mod rounds;

use std::collections::HashMap;

use crate::context::Context;
use crate::error::Result;
use crate::git::{EVIDENCE, Git};
use crate::judge::{VerifyOutcome, VerifyRequest, verify};
use crate::proof::anchor::Anchor;
use crate::proof::digest::RootHash;
use crate::proof::timestamp::Timestamp;

pub use commit::{ReportedCommit, ReportedFile, Touch};
pub use evidence::{Embedded, EmbeddedLines, Telling};
pub use file::write_report;
pub use rounds::{ReportedRound, ReportedRounds};

/// What a report is made of.
#[derive(Debug, Clone)]
pub struct ReportOutcome {
    /// How the commits stand.
    pub outcome: VerifyOutcome,
    /// What was asked for, as it was written.
    pub asked: String,
    /// The same by the ids of commits, for those who read it elsewhere and later.
    pub range: String,
    /// More about each commit, in the order of the outcome.
    pub commits: Vec<ReportedCommit>,
    /// The sessions, each root once, in the order in which the commits name them.
    pub sessions: Vec<ReportedSession>,
    /// The chain of rounds.
    pub rounds: ReportedRounds,
    /// When the report was made.
    pub made_at: Timestamp,
}

/// A session as its root names it.
#[derive(Debug, Clone)]
pub struct ReportedSession {
    pub root: RootHash,
    /// All anchors that name it, each once.
    pub anchors: Vec<Anchor>,
    /// The lines behind it.
    pub evidence: Embedded,
}

impl ReportOutcome {
    /// The position of the session with a root.
    pub fn session(&self, root: &RootHash) -> Option<usize> {
        self.sessions.iter().position(|session| session.root == *root)
    }
}

/// Verifies commits and ranges, and gathers what there is to tell of them.
pub fn report(context: &Context, revisions: &[String], rules: Option<String>) -> Result<ReportOutcome> {
    let request = VerifyRequest { revisions: revisions.to_vec(), rules, ..VerifyRequest::default() };
    let outcome = verify(context, &request)?;
    let git = Git::discover(context)?;
    let commits = outcome.commits.iter().map(|verdict| commit::read(&git, verdict)).collect();
    let sessions = gather(&git, &outcome)?;
    let rounds = rounds::read(&git)?;
    let head = ["HEAD".to_owned()];
    let revisions = if revisions.is_empty() { &head } else { revisions };
    let asked = revisions.join(" ");
    let range = revisions.iter().map(|revision| fixed(&git, revision)).collect::<Vec<_>>().join(" ");
    Ok(ReportOutcome { outcome, asked, range, commits, sessions, rounds, made_at: context.now() })
}

/// A revision or a range by the ids of its commits: `main..HEAD` means something else tomorrow.
fn fixed(git: &Git, revision: &str) -> String {
    let id = |name: &str| {
        let name = if name.is_empty() { "HEAD" } else { name };
        git.resolve(name).map_or_else(|_| name.to_owned(), |id| format!("{id:.12}"))
    };
    if let Some(name) = revision.strip_prefix('^') {
        return format!("^{}", id(name));
    }
    for dots in ["...", ".."] {
        if let Some((from, to)) = revision.split_once(dots) {
            return format!("{}{dots}{}", id(from), id(to));
        }
    }
    id(revision)
}

/// The sessions that a verdict names, each root once, in the order in which the commits name them.
pub fn reported_sessions(context: &Context, outcome: &VerifyOutcome) -> Result<Vec<ReportedSession>> {
    gather(&Git::discover(context)?, outcome)
}

/// The places of the sessions in the order in which they led to commits, the oldest commit first. That is the order of the
/// history: the times in a record are the word of the one who recorded. Sessions that hold for no commit come last.
pub fn oldest_first(outcome: &VerifyOutcome, sessions: &[ReportedSession]) -> Vec<usize> {
    let places: HashMap<&RootHash, usize> =
        sessions.iter().enumerate().map(|(place, session)| (&session.root, place)).collect();
    let mut order: Vec<usize> = Vec::with_capacity(sessions.len());
    let mut listed = vec![false; sessions.len()];
    for sound in [true, false] {
        for session in outcome.commits.iter().rev().flat_map(|commit| &commit.sessions) {
            let place = places.get(&session.root).filter(|_| (session.holds || session.sound) == sound);
            if let Some(place) = place.filter(|place| !std::mem::replace(&mut listed[**place], true)) {
                order.push(*place);
            }
        }
    }
    order
}

fn gather(git: &Git, outcome: &VerifyOutcome) -> Result<Vec<ReportedSession>> {
    let tree = git.tip(EVIDENCE)?.map(|tip| git.commit(&tip).map(|commit| commit.tree)).transpose()?;
    let mut reader = evidence::EvidenceReader::new(git, tree);
    let mut positions: HashMap<RootHash, usize> = HashMap::new();
    let mut sessions: Vec<ReportedSession> = Vec::new();
    for verdict in outcome.commits.iter().flat_map(|commit| &commit.sessions) {
        let at = *positions.entry(verdict.root).or_insert_with(|| {
            let evidence = reader.read(&verdict.root);
            sessions.push(ReportedSession { root: verdict.root, anchors: Vec::new(), evidence });
            sessions.len() - 1
        });
        if !sessions[at].anchors.contains(&verdict.anchor) {
            sessions[at].anchors.push(verdict.anchor.clone());
        }
    }
    Ok(sessions)
}
