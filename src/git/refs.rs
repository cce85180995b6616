//! Refs, moved by compare-and-swap only: whoever comes second finds out and does his work again.

use std::io::Write as _;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use git2::ErrorCode;

use super::open::Git;
use crate::error::{Code, Error, Result};
use crate::proof::digest::{CommitId, ObjectId};

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

    /// Moves a ref from `old` (`None`: it does not exist) to `new`. `false` if it was not at `old`.
    pub fn move_ref(&self, name: &str, old: Option<&CommitId>, new: &CommitId, why: &str) -> Result<bool> {
        self.must_be_writable()?;
        if self.refs_by_command {
            return self.move_by_command(name, old, new, why);
        }
        let to = self.oid(&new.0)?;
        let moved = match old {
            None => self.repository.reference(name, to, false, why),
            Some(old) => self.repository.reference_matching(name, to, true, self.oid(&old.0)?, why),
        };
        match moved {
            Ok(_) => Ok(true),
            Err(error) if lost(&error) => Ok(false),
            Err(error) => Err(self.failed(&format!("cannot move {name}"), &error)),
        }
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

    fn move_by_command(&self, name: &str, old: Option<&CommitId>, new: &CommitId, why: &str) -> Result<bool> {
        let order = match old {
            None => format!("create {name} {new}\n"),
            Some(old) => format!("update {name} {new} {old}\n"),
        };
        let failed =
            |why: String| Error::new(Code::RepositoryFailed, format!("cannot move {name}")).because(why.trim());
        let mut child = self
            .plumbing(["update-ref", "--no-deref", "-m", why, "--stdin"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        if let Some(mut input) = child.stdin.take() {
            // A git that ended early says why by its status.
            let _ = input.write_all(order.as_bytes());
        }
        let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
        if output.status.success() {
            return Ok(true);
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let raced = self.tip(name)?.as_ref() != old || said.contains("lock");
        if raced { Ok(false) } else { Err(failed(said)) }
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

/// What to do about a lock that nobody holds.
pub(super) fn left_behind(lock: &str) -> String {
    format!("if no git is running here, one was killed and left its lock behind: rm '{lock}'")
}

/// Whether a ref was moved, made or held by someone else.
fn lost(error: &git2::Error) -> bool {
    matches!(error.code(), ErrorCode::Modified | ErrorCode::Locked | ErrorCode::Exists)
        || (error.code() == ErrorCode::NotFound && error.class() == git2::ErrorClass::Reference)
}
