//! Commits that are about to be made: commit-msg leaves a small file for each, and post-commit takes it away. Where
//! post-commit was killed or could not do its work, the file is still there, and the next command does it instead. A
//! process claims a file by a lock on it, which ends with the process, so that each commit is worked on by one of them.
//!
//! A file says how the commit will be known: by where HEAD was, and by its author's date, which git tells its hooks. Nobody
//! else can know that before. How many files there are, and how far each looks, is limited: nothing here grows with history.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::commit_hooks::AfterCommit;
use super::{commit_hooks as committing, squash as squashing};
use crate::access::{Access, identity, lock_within};
use crate::context::{Context, read_text};
use crate::error::{Code, Error, Result};
use crate::git::{Commit, Git, Read, Repository};
use crate::proof::digest::CommitId;
use crate::proof::record::Id;
use crate::record::Workspace;

/// Most commits that are waited for. Those that were never made after all are soon forgotten.
const MOST: usize = 16;
/// How many commits may have been made since, on the branch where one is looked for.
const FAR: usize = 16;

/// A commit that is about to be made.
#[derive(Debug, PartialEq, Eq)]
struct Pending {
    /// The session that is to know of it.
    session: Id,
    /// The author's date, as a commit has it.
    date: String,
    /// The commit that HEAD was at before.
    before: Option<CommitId>,
    /// The branch that it goes to; empty where there is none.
    branch: String,
    /// The worktree where it is made. Another worktree may have a commit with the same parent and the same second, and that
    /// one is not of this session.
    worktree: String,
}

impl Pending {
    fn to_text(&self) -> String {
        let before = self.before.map(|before| before.to_string()).unwrap_or_default();
        format!("{}\n{}\n{before}\n{}\n{}\n", self.session, self.date, self.branch, self.worktree)
    }

    fn parse(text: &str) -> Option<Self> {
        let lines: Vec<&str> = text.strip_suffix('\n')?.split('\n').collect();
        let [session, date, before, branch, worktree] = lines[..] else { return None };
        let before = if before.is_empty() { None } else { Some(CommitId::parse(before)?) };
        let (date, branch, worktree) = (date.to_owned(), branch.to_owned(), worktree.to_owned());
        Some(Self { session: Id::parse(session)?, date, before, branch, worktree })
    }

    /// Whether a commit is the one: made on top of what HEAD was, or in its place.
    fn is(&self, commit: &Commit, before: Option<&Commit>) -> bool {
        commit.author_time == self.date.as_bytes()
            && match before {
                Some(before) => commit.parents.contains(&before.id) || commit.parents == before.parents,
                None => commit.parents.is_empty(),
            }
    }
}

/// The outcome of a search for a commit that a hook announced.
enum Sought {
    Made(CommitId),
    /// Others were made where it would be.
    Never,
    /// It may be on its way, or on a branch that is not looked at.
    NotSeen,
}

/// Leaves word that a commit is about to be made. Without the author's date, which git gives to the hooks of
/// `git commit`, there will be no post-commit either.
pub fn expect_commit(context: &Context, git: &Git, session: &Id) -> Result<()> {
    let Some(date) = context.variable("GIT_AUTHOR_DATE").and_then(|date| date.into_string().ok()) else {
        return Ok(());
    };
    let place = git.place();
    // In a repository with reftables this names no branch; then only HEAD is looked at.
    let head = read_text(&place.git_dir.join("HEAD")).unwrap_or_default();
    let branch = head.strip_prefix("ref: ").unwrap_or_default().trim_end().to_owned();
    let before = git.tip("HEAD")?;
    let date = date.trim_start_matches('@').to_owned();
    let pending = Pending { session: session.clone(), date, before, branch, worktree: name_of(place) };
    let folder = folder(place);
    // By name they are in the order of time.
    let file = folder.join(format!("{}.{}", context.now(), std::process::id()));
    let access = Access::beside(&place.store_path());
    let written = access.ensure_directory(&folder).and_then(|()| access.write(&file, pending.to_text().as_bytes()));
    written.map_err(|error| {
        Error::new(Code::StoreFailed, format!("cannot make {}", file.display()))
            .because(error)
            .hint("check who owns the .git/proof directory, and that the disk is writable and has room")
    })
}

/// Whether there are commits that are waited for.
pub fn is_waiting(git: &Git) -> bool {
    files(git.place()).next().is_some()
}

/// How many commits are waited for, in any worktree.
pub(crate) fn waiting_commits(place: &Repository) -> usize {
    files(place).count()
}

/// When pending commits are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment<'a> {
    /// Before a commit: what would have been made on top of HEAD was not.
    Before,
    /// After this one, of which its session knows.
    After(&'a CommitId),
    /// At any other time.
    Between,
}

/// Lets the sessions know of commits whose post-commit did not get to it; the answer are those commits.
pub fn mend(workspace: &mut Workspace, git: &Git, moment: Moment<'_>) -> Result<Vec<(Id, CommitId)>> {
    mend_where(workspace, git, moment, None)
}

/// The same for one session alone.
pub(crate) fn mend_of(workspace: &mut Workspace, session: &Id) -> Result<()> {
    if files(&workspace.repository).next().is_none() {
        return Ok(());
    }
    let git = workspace.git()?;
    mend_where(workspace, &git, Moment::Between, Some(session)).map(|_| ())
}

fn mend_where(
    workspace: &mut Workspace,
    git: &Git,
    moment: Moment<'_>,
    only: Option<&Id>,
) -> Result<Vec<(Id, CommitId)>> {
    let mut files: Vec<PathBuf> = files(&workspace.repository).collect();
    if files.is_empty() {
        return Ok(Vec::new());
    }
    files.sort_unstable();
    for file in files.drain(..files.len().saturating_sub(MOST)) {
        forget(&file);
    }
    let (head, here) = (git.tip("HEAD")?, name_of(&workspace.repository));
    let mut mended = Vec::new();
    let mut failed = None;
    // A hook leaves to others what they are working on. A command waits for them: it may be about to close the session.
    let patience = if moment == Moment::Between { workspace.context.patience() } else { Duration::ZERO };
    for file in &files {
        let Some(_claim) = claim(file, patience) else { continue };
        let Some(pending) = read_text(file).and_then(|text| Pending::parse(&text)) else {
            forget(file);
            continue;
        };
        if only.is_some_and(|only| *only != pending.session) {
            continue;
        }
        // Nothing is concluded from where another worktree stands.
        let head = head.filter(|_| pending.worktree == here);
        match seek(git, &pending, head)? {
            Sought::Made(commit) if moment == Moment::After(&commit) => {}
            Sought::Made(commit) => match told(workspace, git, &pending.session, &commit) {
                Ok(true) => mended.push((pending.session, commit)),
                Ok(false) => {}
                Err(error) => {
                    // One that fails does not keep the others from being heard of.
                    failed.get_or_insert(error);
                    continue;
                }
            },
            Sought::Never => {}
            Sought::NotSeen if moment == Moment::Before && pending.worktree == here && pending.before == head => {}
            Sought::NotSeen => continue,
        }
        forget(file);
    }
    failed.map_or(Ok(mended), Err)
}

/// Claims a file until the answer is dropped. `None` if it is gone, because another process has done the work, or if
/// another process keeps its claim.
fn claim(file: &Path, patience: Duration) -> Option<File> {
    let claimed = File::open(file).ok()?;
    // On a file system without locks, two that attest a commit make one entry all the same.
    if !lock_within(&claimed, patience).unwrap_or(true) {
        return None;
    }
    let which = |found: fs::Metadata| identity(&found);
    (fs::metadata(file).map(which).ok()? == claimed.metadata().map(which).ok()?).then_some(claimed)
}

/// Does what post-commit would have done; whether there was anything to do.
fn told(workspace: &mut Workspace, git: &Git, session: &Id, commit: &CommitId) -> Result<bool> {
    squashing::after_reset(workspace, git, commit)?;
    let row = match workspace.store.session(session) {
        Ok(row) => row,
        Err(error) if error.code == Code::SessionNotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    // The anchor is in the store already; if the note lacks it, the next command that writes notes adds it.
    if row.finalized && workspace.store.commits_of(session)?.contains(commit) {
        return Ok(false);
    }
    let mut done = AfterCommit::default();
    committing::bind(workspace, git, &row, commit, &mut done)?;
    Ok(done.attested.is_some() || done.anchored.is_some())
}

/// Looks for a commit where it would be: on its branch; and in its own worktree also at HEAD, or where HEAD was before a
/// rebase or a reset.
fn seek(git: &Git, pending: &Pending, head: Option<CommitId>) -> Result<Sought> {
    let before = pending.before.and_then(|before| git.commit(&before).ok());
    if before.is_none() && pending.before.is_some() {
        return Ok(Sought::NotSeen);
    }
    let branch = if pending.branch.starts_with("refs/") { git.tip(&pending.branch)? } else { None };
    let mut passed = false;
    // Without a HEAD this is another worktree, or has no commit yet.
    let reset = if head.is_some() { git.tip("ORIG_HEAD")? } else { None };
    for start in [head, branch, reset].into_iter().flatten() {
        match walk(git, pending, before.as_ref(), start) {
            Ok(Sought::Made(commit)) => return Ok(Sought::Made(commit)),
            Ok(Sought::Never) => passed |= Some(start) == head,
            // A commit that cannot be read now may be readable later, so it stays pending.
            Ok(Sought::NotSeen) | Err(_) => {}
        }
    }
    Ok(if passed { Sought::Never } else { Sought::NotSeen })
}

fn walk(git: &Git, pending: &Pending, before: Option<&Commit>, start: CommitId) -> Read<Sought> {
    let mut at = start;
    for _ in 0..FAR {
        if pending.before == Some(at) {
            return Ok(if at == start { Sought::NotSeen } else { Sought::Never });
        }
        let commit = git.commit(&at)?;
        if pending.is(&commit, before) {
            return Ok(Sought::Made(at));
        }
        let Some(parent) = commit.parents.first() else { break };
        at = *parent;
    }
    Ok(Sought::NotSeen)
}

/// The worktree, as one line.
fn name_of(place: &Repository) -> String {
    place.worktree().replace('\n', " ")
}

/// The files that are there. Mostly there is not even a folder.
fn files(place: &Repository) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder(place)).into_iter().flatten().filter_map(|file| Some(file.ok()?.path()))
}

fn folder(place: &Repository) -> PathBuf {
    place.store_path().with_file_name("pending")
}

/// Takes a file away. One that stays is found again, and its commit is known by then.
fn forget(file: &Path) {
    let _ = fs::remove_file(file);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use super::*;

    #[test]
    fn file_that_was_cut_off_says_nothing() {
        let pending = Pending {
            session: Id::parse("s").unwrap(),
            date: "1700000000 +0000".to_owned(),
            before: CommitId::parse(&"ab".repeat(20)),
            branch: "refs/heads/main".to_owned(),
            worktree: "worktrees/other".to_owned(),
        };
        let text = pending.to_text();
        assert_eq!(Pending::parse(&text), Some(pending));
        for length in 0..text.len() {
            assert_eq!(Pending::parse(&text[..length]), None, "{length}");
        }
    }
}
