//! Which commits of the base branch changed a path: kept in the store, so that an agent does not wait for git to walk the
//! history. Only a finder: it is used where it is up to the newest commit of that branch, and commits that it leads to are judged.

use super::trust::Allowed;
use crate::error::Result;
use crate::git::{Git, NOTES};
use crate::proof::digest::CommitId;
use crate::store::{Extent, PathsTip, Store};

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
    let known = store.paths_tip()?.filter(|known| known.extent != Extent::Gap || pace == Pace::InPassing);
    if known.is_some_and(|known| known.tip == *tip) {
        return Ok(());
    }
    // A branch that was rewritten, or is another one now, is read anew: the index has no commit that the branch has not.
    let known = known.filter(|known| git.has(&known.tip.0) && git.is_ancestor(&known.tip, tip).unwrap_or(false));
    let commits = git.paths_since(known.map(|known| known.tip).as_ref(), tip, pace.most())?;
    let is_cut = commits.len() >= pace.most();
    let (extent, anew) = match pace {
        _ if !is_cut => (known.map_or(Extent::Whole, |known| known.extent), known.is_none()),
        // What is left out now is looked at later.
        Pace::InPassing => (Extent::Gap, known.is_none()),
        // Nobody looks at the others later, so what is known of still older commits must go: there would be a gap.
        Pace::AtLeisure => (Extent::Newest, true),
    };
    store.add_paths(PathsTip { tip: *tip, extent }, &commits, anew)
}

/// How far the index reaches, where it is up to the newest commit of the base branch.
fn extent(store: &Store, base: &CommitId) -> Option<Extent> {
    store.paths_tip().ok()?.filter(|known| known.tip == *base).map(|known| known.extent)
}

impl Allowed {
    /// Whether an agent may wait for the decisions for a file. Where commits were left for later and the others did not touch
    /// the file, only a walk through the history could tell, and a hook does not start one.
    pub(crate) fn is_answerable(&self, store: &Store, path: &[u8]) -> bool {
        let is_listed = || store.commits_of_path(path, 1).is_ok_and(|commits| !commits.is_empty());
        extent(store, &self.tip) != Some(Extent::Gap) || is_listed()
    }
}

/// The newest commits of the base branch that changed a path: by the index where it has all of them, else by git. An index with
/// a gap is not used: the commit that corrects a decision may be in the gap.
pub(super) fn touching(
    git: &Git,
    store: Option<&Store>,
    base: &CommitId,
    path: &[u8],
    most: usize,
) -> Result<Vec<CommitId>> {
    if let Some(store) = store {
        match extent(store, base) {
            Some(Extent::Whole) => return store.commits_of_path(path, most),
            Some(Extent::Newest) => {
                let commits = store.commits_of_path(path, most)?;
                if !commits.is_empty() {
                    return Ok(commits);
                }
            }
            Some(Extent::Gap) | None => {}
        }
    }
    git.newest_touching(base, None, path, most)
}
