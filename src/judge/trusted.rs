//! Whose rules count: those of a branch that is trusted, and never those of the branch under review, which would choose
//! its own judges.

use super::range::Ends;
use super::rules::Rules;
use crate::error::{Error, Result};
use crate::git::{self, Git, History};
use crate::hint::{Step, hint};
use crate::proof::digest::CommitId;
use crate::proof::timestamp::Timestamp;

/// The setting that names the trusted branch.
const SETTING: &str = "proof.rules";

/// The branch whose rules are trusted, and the name that led to it: the one that is named, else the one of the setting,
/// else the remote's default branch. `None` if there is none.
fn branch(git: &Git, named: Option<&str>) -> Result<Option<(String, CommitId)>> {
    if let Some(name) = named {
        return Ok(Some((name.to_owned(), git.resolve(name)?)));
    }
    if let Some(name) = git.setting(SETTING) {
        let wrong = |error: Error| {
            error.hint(hint!(Step::GitConfigShow(SETTING.into()), " names the branch whose policy counts"))
        };
        let tip = git.resolve(&name).map_err(wrong)?;
        return Ok(Some((name, tip)));
    }
    let Some(remote) = git.main_remote() else { return Ok(None) };
    for name in ["HEAD", "main", "master"] {
        let name = format!("refs/remotes/{remote}/{name}");
        if let Some(tip) = git.tip(&name)? {
            return Ok(Some((name, tip)));
        }
    }
    Ok(None)
}

/// The branch whose rules are trusted, if one is known.
pub(crate) fn trusted_branch(git: &Git) -> Result<Option<(String, CommitId)>> {
    branch(git, None)
}

/// The rules for commits that were named. The base of a range gives them where the trusted branch has it. Where no branch
/// is trusted, what the commits were made on has to do.
pub(super) fn rules(
    git: &Git,
    now: Timestamp,
    named: Option<&str>,
    ends: Option<&Ends>,
    tip: &CommitId,
) -> Result<Rules> {
    let base = ends.and_then(|ends| match ends.excluded[..] {
        [base] => Some(base),
        _ => None,
    });
    if let Some((name, trusted)) = branch(git, named)? {
        let base = base.filter(|base| named.is_none() && *base != trusted);
        return match base.filter(|base| History::default().reaches(git, &trusted, base) == Ok(true)) {
            Some(base) => Ok(Rules::of(git, &base, now)?.named(format!("{base:.12}, which is in {name}"))),
            None => Ok(Rules::of(git, &trusted, now)?.named(name)),
        };
    }
    let first = git.commit(tip).map_err(git::unchecked)?.parents.first().copied();
    let mut rules = match base.or(first) {
        Some(commit) => Rules::of(git, &commit, now)?,
        None => Rules::defaults(now)?,
    };
    rules.source.trusted = false;
    Ok(rules)
}

/// The rules of the trusted branch for no commit in particular; else those of HEAD, or the defaults.
pub(super) fn rules_here(git: &Git, now: Timestamp) -> Result<Rules> {
    match (branch(git, None)?, git.tip("HEAD")?) {
        (Some((name, tip)), _) => Ok(Rules::of(git, &tip, now)?.named(name)),
        (None, Some(head)) => Rules::of(git, &head, now),
        (None, None) => Rules::defaults(now),
    }
}
