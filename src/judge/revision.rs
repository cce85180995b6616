//! A file for each commit, for reports that need a place to point to: forges show a finding at a line of a file or not
//! at all.

use std::collections::BTreeMap;

use super::range::JudgedRange;
use crate::context::Context;
use crate::error::Result;
use crate::git::{Git, Read};
use crate::proof::digest::{CommitId, TreeId};

/// Paths of a commit that are looked at.
const MOST: usize = 1000;

/// The first path that each of these commits touches, where it has a name that can be written: one that is still there at
/// the head of the range, if there is such a one. A commit whose files are not at hand is left out.
pub fn first_paths(
    context: &Context,
    range: &JudgedRange,
    commits: impl IntoIterator<Item = CommitId>,
) -> Result<BTreeMap<CommitId, String>> {
    let git = Git::discover(context)?;
    let head = git.commit(&range.head)?.tree;
    let named = commits.into_iter().filter_map(|id| Some((id, first_path(&git, &head, &id).ok()??)));
    Ok(named.collect())
}

fn first_path(git: &Git, head: &TreeId, id: &CommitId) -> Read<Option<String>> {
    let commit = git.commit(id)?;
    let parent = git.tree_of(commit.parents.first().copied())?;
    let paths = git.paths_between(parent.as_ref(), &commit.tree)?;
    let mut names = paths.into_iter().take(MOST).filter_map(|path| String::from_utf8(path).ok()).peekable();
    let first = names.peek().cloned();
    let still_there = names.find(|name| git.file(head, name).is_ok_and(|entry| entry.is_some()));
    Ok(still_there.or(first))
}
