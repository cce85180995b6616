//! Removes locks that a killed process of ours left on a ref. libgit2 takes a ref's lock as git does, by making
//! `<ref>.lock`, and a process that is killed meanwhile leaves that file behind. The file does not tell whose it is. So
//! a process first writes the name of the ref into a file of ours and holds a kernel lock on it, which ends with the
//! process: another process that finds a name there and gets the kernel lock knows that the writer is dead.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use super::open::Git;
use crate::access::{Access, identity, lock_within};
use crate::context::read_regular;
use crate::proof::digest::CommitId;

/// How long a lock must stay as it is before it is removed. A git that is alive holds one for much less.
const QUIET: Duration = Duration::from_millis(100);

/// Held while libgit2 moves a ref.
pub(super) struct Moving {
    file: File,
}

impl Moving {
    /// Announces that a ref is about to be moved, and removes the lock that a dead process of ours left. `None` where that
    /// cannot be announced: then a lock that is left behind is removed by hand, as one of git's.
    pub(super) fn announce(git: &Git, name: &str, new: &CommitId) -> Option<Self> {
        let mut file = open(git, true)?;
        let _ = remove_left_lock(git, &mut file);
        file.rewind().ok()?;
        file.write_all(format!("{name} {new}\n").as_bytes()).ok()?;
        Some(Self { file })
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        let _ = self.file.set_len(0); // what stays is taken for a lock that was left, and there is none
    }
}

impl Git {
    /// Removes the lock that a dead process of ours left on a ref; the answer is its file.
    pub fn remove_left_lock(&self) -> Option<PathBuf> {
        let announced = fs::metadata(self.place.store_path().with_file_name("moving"));
        if announced.is_ok_and(|file| file.len() > 0) { remove_left_lock(self, &mut open(self, false)?) } else { None }
    }
}

/// The file, locked. Others hold it for as long as a ref takes to be moved.
fn open(git: &Git, create: bool) -> Option<File> {
    let store = git.place.store_path();
    let path = store.with_file_name("moving");
    let mut options = File::options();
    let file =
        Access::beside(&store).open(&path, options.create(create).truncate(false).read(true).write(true)).ok()?;
    lock_within(&file, git.context.patience()).ok()?.then_some(file)
}

/// Removes the lock of the ref that the file names, if it is the one that the writer of the file made: that has the new
/// id in it, or nothing yet. The writer may have been killed just before it made one, and a git may hold one since: so it
/// must not change for a while.
fn remove_left_lock(git: &Git, file: &mut File) -> Option<PathBuf> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    let _ = file.set_len(0);
    let (name, id) = text.strip_suffix('\n')?.split_once(' ')?;
    if !git2::Reference::is_valid_name(name) || CommitId::parse(id).is_none() {
        return None;
    }
    let lock = git.place.common_dir.join(format!("{name}.lock"));
    let state = || {
        let (found, content) = (fs::symlink_metadata(&lock).ok()?, read_regular(&lock).ok()?);
        let ours = content.is_empty() || content == format!("{id}\n").as_bytes();
        ours.then_some((identity(&found), found.modified().ok()?, content))
    };
    let before = state()?;
    thread::sleep(QUIET);
    (state()? == before && fs::remove_file(&lock).is_ok()).then_some(lock)
}
