//! Refs are moved only by compare-and-swap: if two processes move one, the second notices and starts again.

use std::thread;
use std::time::{Duration, Instant};

use git2::ErrorCode;

use super::moving::Moving;
use super::object::Read;
use super::open::{Git, maybe_damaged};
use crate::error::{Code, Error, Result};
use crate::hint::{Hint, Step, hint};
use crate::proof::digest::{CommitId, ObjectId, TreeId};

/// Where anchors are.
pub const NOTES: &str = "refs/notes/proof";
/// Where evidence is.
pub const EVIDENCE: &str = "refs/proof/evidence";
/// Where the index of changes is.
pub const CHANGES: &str = "refs/proof/changes";
/// Where the seals are.
pub const ROUNDS: &str = "refs/proof/rounds";
/// One readable line for each anchored commit; of this clone alone.
pub const WHY: &str = "refs/notes/proof-why";
/// Keeps the commits of local squashes alive until they are published: `<onto>/<base>/<head>`; of this clone alone.
pub const ORIGINALS: &str = "refs/proof/local/originals";

impl Git {
    /// The commit that a ref names; `None` if there is no such ref.
    pub fn tip(&self, name: &str) -> Result<Option<CommitId>> {
        if self.refs_by_command {
            let mut command = self.plumbing(["rev-parse", "--verify", "--quiet", "--end-of-options", name]);
            return Ok(self.text_of(&mut command)?.and_then(|text| CommitId::parse(text.trim_end())));
        }
        match self.repository.refname_to_id(name) {
            Ok(oid) => Ok(ObjectId::from_bytes(oid.as_bytes()).map(CommitId)),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(self.failed(&format!("cannot read {name}"), &error)),
        }
    }

    /// The tree of the commit that a ref names; `None` if there is no such ref.
    pub fn tip_tree(&self, name: &str) -> Result<Option<TreeId>> {
        Ok(self.tree_of(self.tip(name)?)?)
    }

    /// The tree of a commit, if there is one.
    pub fn tree_of(&self, commit: Option<CommitId>) -> Read<Option<TreeId>> {
        commit.map(|id| Ok(self.commit(&id)?.tree)).transpose()
    }

    /// Moves a ref from `old` (`None`: it does not exist) to `new`. `false` if it was not at `old`.
    pub fn move_ref(&self, name: &str, old: Option<&CommitId>, new: &CommitId, why: &str) -> Result<bool> {
        self.must_be_writable()?;
        // A ref is made by git itself: libgit2 does not check under the ref's lock that it does not exist yet, so two
        // processes that make it at once both succeed, and the work of one is lost.
        let Some(old) = old.filter(|_| !self.refs_by_command) else {
            let order = match old {
                None => format!("create {name}\0{new}\0"),
                Some(old) => format!("update {name}\0{new}\0{old}\0"),
            };
            return self.move_by_command(name, old, &order, why);
        };
        let (from, to) = (self.oid(&old.0)?, self.oid(&new.0)?);
        let moving = Moving::announce(self, name, new);
        let moved = self.repository.reference_matching(name, to, true, from, why);
        drop(moving);
        match moved {
            Ok(_) => Ok(true),
            Err(error) if lost(&error) => Ok(false),
            Err(error) => Err(self.failed(&format!("cannot move {name}"), &error)),
        }
    }

    /// Deletes a ref that is at `old`. `false` if it is elsewhere.
    pub fn delete_ref(&self, name: &str, old: &CommitId) -> Result<bool> {
        self.must_be_writable()?;
        self.move_by_command(name, Some(old), &format!("delete {name}\0{old}\0"), "git-proof: no longer needed")
    }

    /// Like [`Git::move_ref`], but waits while the ref is where it was and only its lock is held. `false` if someone else
    /// has moved it.
    pub fn move_in_turn(&self, name: &str, old: Option<&CommitId>, new: &CommitId, why: &str) -> Result<bool> {
        let mut turn = Turn::new(self);
        loop {
            if self.move_ref(name, old, new, why)? {
                return Ok(true);
            }
            if self.tip(name)?.as_ref() != old {
                return Ok(false);
            }
            turn.wait(self, name)?;
        }
    }

    fn move_by_command(&self, name: &str, old: Option<&CommitId>, order: &str, why: &str) -> Result<bool> {
        let output =
            self.run_with(&mut self.plumbing(["update-ref", "--no-deref", "-m", why, "-z", "--stdin"]), order)?;
        if output.status.success() {
            return Ok(true);
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let locked = said.contains("Unable to create") || said.contains("cannot lock references");
        if locked || self.tip(name)?.as_ref() != old {
            return Ok(false);
        }
        let common_dir = self.place.common_dir.display();
        Err(Error::new(Code::RepositoryFailed, format!("cannot move {name} in {common_dir}"))
            .because(said.trim())
            .hint(maybe_damaged()))
    }

    /// Moves a ref to what `work` makes of its tip, again and again until nobody came between. `work` answers `None` for
    /// the new tip if there is nothing to do.
    pub fn update<T>(
        &self,
        name: &str,
        why: &str,
        mut work: impl FnMut(Option<CommitId>) -> Result<(Option<CommitId>, T)>,
    ) -> Result<T> {
        let mut turn = Turn::new(self);
        loop {
            let old = self.tip(name)?;
            let (new, done) = work(old)?;
            let Some(new) = new else { return Ok(done) };
            if self.move_ref(name, old.as_ref(), &new, why)? {
                return Ok(done);
            }
            turn.wait(self, name)?;
        }
    }

    /// Nobody but a process that was killed holds a lock for so long, and git itself would not get past it either.
    fn outpaced(&self, name: &str, patience: Duration) -> Error {
        let lock = if self.refs_by_command { "reftable/tables.list.lock".to_owned() } else { format!("{name}.lock") };
        let lock = self.place.common_dir.join(lock);
        let waited = format!("gave up after {} ms", patience.as_millis());
        if lock.exists() {
            let locked = Error::new(Code::RepositoryFailed, format!("{name} is locked")).because(waited);
            return locked.hint(left_behind(&lock.to_string_lossy()));
        }
        Error::new(Code::RepositoryFailed, format!("others kept moving {name}")).because(waited).hint("try again")
    }
}

/// The pauses of someone who waits for others to be done with a ref.
struct Turn {
    begun: Instant,
    patience: Duration,
    pause: Duration,
}

impl Turn {
    fn new(git: &Git) -> Self {
        Self { begun: Instant::now(), patience: git.context.patience(), pause: Duration::from_micros(200) }
    }

    /// Pauses; an error where that was done for too long.
    fn wait(&mut self, git: &Git, name: &str) -> Result<()> {
        if self.begun.elapsed() > self.patience {
            return Err(git.outpaced(name, self.patience));
        }
        thread::sleep(self.pause);
        self.pause = (self.pause * 2).min(Duration::from_millis(20));
        Ok(())
    }
}

/// The hint for a lock that may be left over from a killed process.
pub(crate) fn left_behind(lock: &str) -> Hint {
    hint!("if no git is running here, one was killed and left its lock behind: ", Step::RemoveLock(lock.to_owned()))
}

/// Whether a ref was moved, made or held by someone else.
fn lost(error: &git2::Error) -> bool {
    matches!(error.code(), ErrorCode::Modified | ErrorCode::Locked | ErrorCode::Exists)
        || (error.code() == ErrorCode::NotFound && error.class() == git2::ErrorClass::Reference)
}
