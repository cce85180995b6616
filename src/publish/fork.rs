//! Where a pushed branch left the branches that the remote has.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::git::{Git, Remote};
use crate::proof::digest::CommitId;

/// Commits of a branch among which its fork point is looked for.
pub(super) const MAX_BRANCH: usize = 1000;

/// A branch that is being pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    /// Its name on the remote, such as `refs/heads/topic`.
    pub name: String,
    /// The commit that it is set to.
    pub head: CommitId,
    /// The commit where it was on the remote, if it was there.
    pub was: Option<CommitId>,
}

/// The commits from which a branch counts as a range: where it left the remote's main branch, and where it left the
/// nearest other branch; if there is neither, where it left the remote's own copy of it.
pub(super) fn bases_of(git: &Git, remote: &Remote, branch: &Pushed) -> Result<BTreeSet<CommitId>> {
    let prefix = format!("refs/remotes/{}", remote.name);
    let own = branch.name.replacen("refs/heads", &prefix, 1);
    let mut others = git.refs_below(&prefix)?;
    others.retain(|(name, tip)| *name != own && *tip != branch.head && git.has(&tip.0));
    let mut bases = BTreeSet::new();
    let main = ["HEAD", "main", "master"].iter().find_map(|name| {
        let name = format!("{prefix}/{name}");
        others.iter().find(|(other, _)| *other == name).map(|(_, tip)| *tip)
    });
    if let Some(main) = main {
        bases.extend(git.merge_base(&main, &branch.head)?);
    }
    bases.extend(nearest_fork(git, branch, &others)?);
    if bases.is_empty()
        && let Some(was) = branch.was.filter(|was| git.has(&was.0))
    {
        bases.extend(git.merge_base(&was, &branch.head)?);
    }
    bases.remove(&branch.head);
    Ok(bases)
}

/// The commit at which a branch left the others; of several, the one with the fewest commits after it.
fn nearest_fork(git: &Git, branch: &Pushed, others: &[(String, CommitId)]) -> Result<Option<CommitId>> {
    if others.is_empty() {
        return Ok(None);
    }
    let mut arguments = vec![branch.head.to_string()];
    arguments.extend(others.iter().map(|(_, tip)| format!("^{tip}")));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let alone: BTreeSet<CommitId> = git.commits(&arguments)?.into_iter().collect();
    if alone.len() > MAX_BRANCH {
        return Ok(None);
    }
    let mut forks = BTreeSet::new();
    for commit in &alone {
        forks.extend(git.commit(commit)?.parents.into_iter().filter(|parent| !alone.contains(parent)));
    }
    let mut nearest = None;
    for fork in forks {
        let after = git.commits(&[&format!("{fork}..{}", branch.head)])?.len();
        if nearest.is_none_or(|(least, _)| after < least) {
            nearest = Some((after, fork));
        }
    }
    Ok(nearest.map(|(_, fork)| fork))
}
