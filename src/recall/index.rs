//! Which commits of the base branch changed a path: kept in the store, so that an agent does not wait for git to walk the
//! history. Only a finder: it is used where it is up to the newest commit of that branch, and commits that it leads to are judged.

use super::trust::Allowed;
use crate::error::Result;
use crate::git::{Git, NOTES};
use crate::proof::digest::CommitId;
use crate::store::{PathsTip, Store};

/// How many commits are looked through to bring the index up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// An agent waits: a few. Commits between these and the ones before are left for later.
    InPassing,
    /// Somebody shares or asks: many.
    AtLeisure,
}

impl Pace {
    fn most(self) -> usize {
        match self {
            Self::InPassing => 200,
            Self::AtLeisure => 10_000,
        }
    }
}

/// Whether any commit of this clone is anchored. Where none is, there is nothing to find.
pub(crate) fn is_anything_anchored(git: &Git) -> bool {
    git.tip(NOTES).is_ok_and(|tip| tip.is_some())
}

/// Brings the index up to the newest commit of the base branch. Costs nothing where that did not move.
pub(crate) fn refresh(git: &Git, store: &mut Store, pace: Pace) -> Result<()> {
    if !is_anything_anchored(git) {
        return Ok(());
    }
    match Allowed::of(git)? {
        Some(allowed) => allowed.refresh(git, store, pace),
        None => Ok(()),
    }
}

impl Allowed {
    /// The same, where the branch is known.
    pub(crate) fn refresh(&self, git: &Git, store: &mut Store, pace: Pace) -> Result<()> {
        bring_up(git, store, &self.tip, pace)
    }
}

fn bring_up(git: &Git, store: &mut Store, tip: &CommitId, pace: Pace) -> Result<()> {
    let known = store.paths_tip()?.filter(|known| known.is_whole || pace == Pace::InPassing);
    if known.is_some_and(|known| known.tip == *tip) {
        return Ok(());
    }
    // A branch that was rewritten, or is another one now, is read anew: the index has no commit that the branch has not.
    let known = known.filter(|known| git.has(&known.tip.0) && git.is_ancestor(&known.tip, tip).unwrap_or(false));
    let commits = git.paths_since(known.map(|known| known.tip).as_ref(), tip, pace.most())?;
    let has_all = commits.len() < pace.most() && known.is_none_or(|known| known.is_whole);
    let is_whole = has_all || pace == Pace::AtLeisure;
    store.add_paths(PathsTip { tip: *tip, is_whole }, &commits, known.is_none())
}

/// The newest commits of the base branch that changed a path: by the index where it is up to date, else by git.
pub(super) fn touching(
    git: &Git,
    store: Option<&Store>,
    base: &CommitId,
    path: &[u8],
    most: usize,
) -> Result<Vec<CommitId>> {
    match store.filter(|store| store.paths_tip().is_ok_and(|known| known.is_some_and(|known| known.tip == *base))) {
        Some(store) => store.commits_of_path(path, most),
        None => git.newest_touching(base, None, path, most),
    }
}
