//! Ranges: git lists the commits, and what the commits themselves say decides whether the list is whole. A shallow
//! boundary, a graft, a commit-graph or an object that is not what its id says can make git leave some out.

use std::collections::{HashSet, VecDeque};

use serde::Serialize;

use super::gather::Gatherer;
use super::verdict::CommitVerdict;
use crate::error::{Code, Error, Result};
use crate::git::Git;
use crate::hint::{Step, hint};
use crate::proof::digest::CommitId;
use crate::proof::finding::{Finding, FindingCode, Verdict};

/// The ends of a range, as they were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct JudgedRange {
    /// Where the policy is; `None` for a branch that comes from nothing.
    pub base: Option<CommitId>,
    /// The newest commit.
    pub head: CommitId,
}

/// The ends of a range: all that `tips` reach and `excluded` do not.
#[derive(Debug, Clone, Default)]
pub(super) struct Ends {
    pub(super) tips: Vec<CommitId>,
    pub(super) excluded: Vec<CommitId>,
}

impl Ends {
    /// Reads what `git rev-list` would: `A..B`, `A...B`, `^A`.
    pub(super) fn parse(git: &Git, ranges: &[&str]) -> Result<Self> {
        let resolve = |name: &str| git.resolve(if name.is_empty() { "HEAD" } else { name });
        let mut ends = Self::default();
        for range in ranges {
            if let Some(name) = range.strip_prefix('^') {
                ends.excluded.push(resolve(name)?);
            } else if let Some((left, right)) = range.split_once("...") {
                let (left, right) = (resolve(left)?, resolve(right)?);
                ends.excluded.extend(git.merge_bases(&left, &right)?);
                ends.tips.extend([left, right]);
            } else if let Some((left, right)) = range.split_once("..") {
                ends.excluded.push(resolve(left)?);
                ends.tips.push(resolve(right)?);
            }
        }
        Ok(ends)
    }

    /// The same for `git rev-list`, by ids alone.
    pub(super) fn arguments(&self) -> Vec<String> {
        let tips = self.tips.iter().map(ToString::to_string);
        tips.chain(self.excluded.iter().map(|tip| format!("^{tip}"))).collect()
    }

    /// Lets those commits say so that git listed without their parents, though nothing excludes these.
    pub(super) fn check(&self, gatherer: &Gatherer<'_>, commits: &mut [CommitVerdict]) -> Result<()> {
        let listed: HashSet<CommitId> = commits.iter().map(|commit| commit.commit).collect();
        let parents = commits.iter().flat_map(|commit| commit.parents.iter());
        let unexplained = self.unexplained(gatherer, &listed, self.tips.iter().chain(parents));
        if let Some(tip) = self.tips.iter().find(|tip| unexplained.contains(tip)) {
            return Err(Error::new(Code::ObjectMissing, format!("git lists nothing of what leads to {tip}"))
                .hint(hint!(Step::GitFsck, " tells whether the repository is whole")));
        }
        for commit in commits {
            if let Some(parent) = commit.parents.iter().find(|parent| unexplained.contains(parent)) {
                let message =
                    format!("its parent {parent} is left out of the range, and is not in what it starts from");
                commit.findings.push(Finding::unchecked(FindingCode::ObjectMissing, message).hint(hint!(
                    "the clone may be shallow: ", Step::GitFetchUnshallow;
                    "else ", Step::GitFsck, " tells what is wrong"
                )));
                commit.verdict = commit.verdict.max(Verdict::Unchecked);
                commit.binding = None;
                commit.vouched = None;
            }
        }
        Ok(())
    }

    /// Those of some commits that are neither listed nor reached from what is excluded, by the commits' own word.
    fn unexplained<'a>(
        &self,
        gatherer: &Gatherer<'_>,
        listed: &HashSet<CommitId>,
        commits: impl Iterator<Item = &'a CommitId>,
    ) -> HashSet<CommitId> {
        let mut wanted: HashSet<CommitId> = commits.filter(|commit| !listed.contains(commit)).copied().collect();
        let mut seen: HashSet<CommitId> = self.excluded.iter().copied().collect();
        let mut queue: VecDeque<CommitId> = self.excluded.iter().copied().collect();
        wanted.retain(|commit| !seen.contains(commit));
        while !wanted.is_empty()
            && let Some(next) = queue.pop_front()
        {
            // What is not at hand explains nothing.
            let Ok(commit) = gatherer.git.commit(&next) else { continue };
            for parent in commit.parents {
                wanted.remove(&parent);
                if seen.insert(parent) {
                    queue.push_back(parent);
                }
            }
        }
        wanted
    }
}
