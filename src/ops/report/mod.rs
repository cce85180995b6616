//! `report`: all that a page about a range needs, gathered from git alone. The text of records comes from the published
//! evidence and never from the store: what was withheld from others is withheld here, too.

mod commit;
mod evidence;
mod file;
mod rounds;

use std::collections::HashMap;

use super::verify::{VerifyOutcome, VerifyRequest, verify};
use crate::context::Context;
use crate::error::Result;
use crate::git::{EVIDENCE, Git};
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
    pub revisions: Vec<String>,
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
    /// The root.
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
pub fn report(context: &Context, revisions: &[String]) -> Result<ReportOutcome> {
    let outcome = verify(context, &VerifyRequest { revisions: revisions.to_vec(), with_story: false })?;
    let git = Git::discover(context)?;
    let commits = outcome.commits.iter().map(|verdict| commit::read(&git, verdict)).collect();
    let sessions = sessions(&git, &outcome)?;
    let rounds = rounds::read(&git)?;
    Ok(ReportOutcome { outcome, revisions: revisions.to_vec(), commits, sessions, rounds, made_at: context.now() })
}

fn sessions(git: &Git, outcome: &VerifyOutcome) -> Result<Vec<ReportedSession>> {
    let tree = git.tip(EVIDENCE)?.map(|tip| git.commit(&tip).map(|commit| commit.tree)).transpose()?;
    let mut shelf = evidence::Shelf::new(git, tree);
    let mut positions: HashMap<RootHash, usize> = HashMap::new();
    let mut sessions: Vec<ReportedSession> = Vec::new();
    for verdict in outcome.commits.iter().flat_map(|commit| &commit.sessions) {
        let at = *positions.entry(verdict.root).or_insert_with(|| {
            let evidence = shelf.take(&verdict.root);
            sessions.push(ReportedSession { root: verdict.root, anchors: Vec::new(), evidence });
            sessions.len() - 1
        });
        if !sessions[at].anchors.contains(&verdict.anchor) {
            sessions[at].anchors.push(verdict.anchor.clone());
        }
    }
    Ok(sessions)
}
