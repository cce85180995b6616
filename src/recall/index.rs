//! Which commits of the base branch changed a path: kept in the store, so that an agent does not wait for git to walk the
//! history. Only a finder: it is used where it is up to the newest commit of that branch, and commits that it leads to are judged.

use super::trust::Base;
use crate::error::Result;
use crate::git::{Git, History};
use crate::proof::digest::CommitId;
use crate::store::Store;

/// Newest commits of the base branch whose paths are kept, where nothing is known yet.
const MOST_COMMITS: usize = 20_000;

/// Brings the index up to the newest commit of the base branch. Costs nothing where that did not move.
pub(crate) fn refresh(git: &Git, store: &mut Store) -> Result<()> {
    match Base::find(git)? {
        Some(base) => bring_up(git, store, &base.tip),
        None => Ok(()),
    }
}

fn bring_up(git: &Git, store: &mut Store, tip: &CommitId) -> Result<()> {
    let known = store.paths_tip()?;
    if known == Some(*tip) {
        return Ok(());
    }
    // A branch that was rewritten, or is another one now, is read anew.
    let from = known.filter(|known| git.has(&known.0) && History::default().reaches(git, tip, known) == Ok(true));
    let commits = git.paths_since(from.as_ref(), tip, MOST_COMMITS)?;
    store.add_paths(tip, &commits, from.is_none())
}

/// The newest commits of the base branch that changed a path: by the index where it is up to date, else by git.
pub(super) fn touching(
    git: &Git,
    store: Option<&Store>,
    base: &CommitId,
    path: &[u8],
    most: usize,
) -> Result<Vec<CommitId>> {
    match store.filter(|store| store.paths_tip().is_ok_and(|tip| tip == Some(*base))) {
        Some(store) => store.commits_of_path(path, most),
        None => git.newest_touching(base, path, most),
    }
}
