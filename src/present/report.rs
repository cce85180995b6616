//! Reports: a verdict over a range in the forms that forges and their tools read. Pure: an outcome in, text out. Every
//! word that comes from a commit or a record is hostile until it is escaped for the form it goes into.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use super::verdict;
use crate::flow::{Embedded, ReportedSession, oldest_first};
use crate::judge::{CommitVerdict, VerifyOutcome};
use crate::proof::digest::CommitId;
use crate::proof::finding::Finding;

/// The file that a finding points to if its commit touches no file that can be named.
const NOWHERE: &str = ".proof/policy.toml";

/// What is reported.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// The verdict.
    pub outcome: &'a VerifyOutcome,
    /// A file that each commit touches, for the forms that need a place.
    pub paths: &'a BTreeMap<CommitId, String>,
    /// The sessions behind the commits, for the forms that tell of them.
    pub sessions: &'a [ReportedSession],
}

impl<'a> Report<'a> {
    pub(super) fn path(&self, commit: &CommitId) -> &'a str {
        self.paths.get(commit).map_or(NOWHERE, String::as_str)
    }

    /// The commits, the worst first; equally bad ones the oldest first.
    pub(super) fn worst_first(&self) -> Vec<&'a CommitVerdict> {
        let mut commits: Vec<&CommitVerdict> = self.outcome.commits.iter().rev().collect();
        commits.sort_by_key(|commit| Reverse((commit.verdict, commit.findings.len().min(1))));
        commits
    }

    /// All findings, the worst first, each with its commit.
    pub(super) fn findings(&self) -> Vec<(&'a CommitVerdict, &'a Finding)> {
        let of = |commit: &'a CommitVerdict| commit.findings.iter().map(move |finding| (commit, finding));
        let mut findings: Vec<_> = self.outcome.commits.iter().flat_map(of).collect();
        findings.sort_by_key(|(_, finding)| Reverse(finding.severity));
        findings
    }

    /// The verdict as a headline.
    pub(super) fn headline(&self) -> &'static str {
        verdict::range_headline(self.outcome.verdict, &self.outcome.summary)
    }

    /// How many commits stand how, as a sentence without its full stop.
    pub(super) fn counts(&self) -> String {
        verdict::commits(&self.outcome.summary)
    }

    /// How it stands, in a line of numbers.
    pub(super) fn standing(&self) -> String {
        verdict::standing(&self.outcome.summary, open_questions(self.outcome, self.sessions))
    }

    /// A description of the policy that was used.
    pub(super) fn policy(&self) -> &'static str {
        if self.outcome.policy == "file" {
            "the policy at the tip of the base"
        } else {
            "the default policy: the base has no .proof/policy.toml"
        }
    }

    /// The ends of the range: `None` for a base that is nothing.
    pub(super) fn ends(&self) -> (Option<String>, Option<String>) {
        let range = self.outcome.range;
        let base = range.and_then(|range| range.base).map(|base| base.to_string());
        (base, range.map(|range| range.head.to_string()))
    }
}

/// The first digits of a commit's id, as people know it.
pub(super) fn short(commit: &CommitId) -> String {
    format!("{commit:.12}")
}

/// How many questions the sessions leave open whose anchors hold.
pub(super) fn open_questions(outcome: &VerifyOutcome, sessions: &[ReportedSession]) -> usize {
    let open = |place: usize| match &sessions[place].evidence {
        Embedded::Lines(lines) => lines.open_questions().len(),
        Embedded::Absent(_) => 0,
    };
    told(outcome, sessions).into_iter().map(open).sum()
}

/// The places of the sessions that are told, the oldest first: those that hold, or would if enough people had signed.
pub(super) fn told(outcome: &VerifyOutcome, sessions: &[ReportedSession]) -> Vec<usize> {
    let sound = outcome.commits.iter().flat_map(|commit| &commit.sessions);
    let sound: HashSet<_> =
        sound.filter(|session| session.holds || session.sound).map(|session| session.root).collect();
    let mut order = oldest_first(outcome, sessions);
    order.retain(|place| sound.contains(&sessions[*place].root));
    order
}
