//! Files and processes as Unix has them: who may touch our files, names that are bytes, and which file a file is. The one file
//! that names Unix: a port to another platform begins here.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{
    DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, chown,
};
use std::os::unix::process::CommandExt as _;
pub(crate) use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Once;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, accessat};
use rustix::process::{Pid, Signal, geteuid, kill_process_group, umask};

const ROOT: u32 = 0;
/// On Linux a directory hands its group on only where this bit is set; elsewhere it always does.
const HAND_ON_GROUP: u32 = if cfg!(target_os = "linux") { 0o2000 } else { 0 };

/// The bytes of a name or a path.
pub(crate) fn bytes_of<T: AsRef<OsStr> + ?Sized>(name: &T) -> &[u8] {
    name.as_ref().as_bytes()
}

/// The name or path of these bytes.
pub(crate) fn name_of(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

/// The same, owned.
pub(crate) fn owned_name(bytes: Vec<u8>) -> OsString {
    OsString::from_vec(bytes)
}

/// The identity of a file, independent of its name: its device and inode.
pub(crate) fn identity(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

/// Whether it is a file that can be run.
pub(crate) fn is_executable(found: &Metadata) -> bool {
    found.is_file() && found.mode() & 0o111 != 0
}

/// Reads at a place, as much as there is.
pub(crate) fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(into, at)
}

/// Reads at a place until `into` is full.
pub(crate) fn read_exact_at(file: &File, into: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(into, at)
}

/// Makes a file that was not there, with as much of this mode as the umask allows.
pub(crate) fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

/// Waits for a lock on a file, but no longer than this. `false` if another process has it still.
pub(crate) fn lock_within(file: &File, patience: Duration) -> io::Result<bool> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if begun.elapsed() >= patience => return Ok(false),
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_micros(200)),
        }
    }
}

/// Makes directories for nobody else.
pub(crate) fn private_directories() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

/// Opens a file for reading. A pipe does not make the call wait; for regular files the flag means nothing.
pub(crate) fn open_without_waiting(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)
}

/// Lets a program run so that [`kill_all_of`] reaches what it starts, too.
pub(crate) fn in_own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Ends a program that was started in its own group, with all that it started.
pub(crate) fn kill_all_of(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL); // it may have ended by itself
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Whether a path belongs to whoever runs this, by git's rule: to the effective user; where that is root, also to the user
/// who called sudo. A link counts as itself.
pub(crate) fn is_own(path: &Path, called_sudo: Option<u32>) -> bool {
    let Ok(owner) = fs::symlink_metadata(path).map(|found| found.uid()) else { return false };
    let user = geteuid().as_raw();
    owner == user || (user == ROOT && Some(owner) == called_sudo)
}

/// Whether files can be made in a directory: by its mode, and because its file system is not mounted read-only.
pub(crate) fn is_writable(directory: &Path) -> bool {
    accessat(CWD, directory, rustix::fs::Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

/// Opens a file for reading. It must be regular, our own, and no link, because the owner of a link decides what is
/// read.
pub(crate) fn open_own(path: &Path, called_sudo: Option<u32>) -> io::Result<File> {
    let refused = |why| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    let found = fs::symlink_metadata(path)?;
    if found.is_symlink() {
        return refused("it is a link");
    }
    if !found.is_file() {
        return refused("it is no regular file");
    }
    // A pipe that stands there by now does not make the call wait.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let opened = file.metadata()?;
    if identity(&opened) != identity(&found) {
        return refused("it was replaced meanwhile");
    }
    if is_own(path, called_sudo) { Ok(file) } else { refused("it belongs to someone else") }
}

/// With whom a repository is shared, by git's setting `core.sharedRepository`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sharing {
    /// The mode of a file.
    bits: u32,
    /// Whether files have exactly this mode; else what the umask allows comes on top.
    exact: bool,
}

impl Sharing {
    /// Shared with nobody.
    pub const NONE: Self = Self { bits: 0o600, exact: false };

    /// Reads the setting as git does. A value that git refuses shares nothing.
    pub fn of_setting(value: Option<&str>) -> Self {
        let shared = |bits| Self { bits, exact: false };
        let (group, all) = (shared(0o660), shared(0o664));
        match value.unwrap_or_default().to_ascii_lowercase().as_str() {
            "group" | "true" | "yes" | "on" => group,
            "all" | "world" | "everybody" => all,
            value => match u32::from_str_radix(value, 8) {
                Ok(1) => group,
                Ok(2) => all,
                Ok(mode) if mode & 0o600 == 0o600 => Self { bits: mode & 0o666, exact: true },
                _ => Self::NONE,
            },
        }
    }

    /// The mode of a file of ours.
    const fn file(self) -> u32 {
        self.bits
    }

    /// The mode of a directory: who may read a file may enter it.
    const fn directory(self) -> u32 {
        let bits = self.bits | (self.bits & 0o444) >> 2;
        if bits & 0o060 == 0 { bits } else { bits | HAND_ON_GROUP }
    }

    /// Lets what this process writes into the repository be shared. Git changes the mode of each file that it writes;
    /// libgit2 knows the umask alone.
    pub(crate) fn set_umask(self) {
        static SET: Once = Once::new();
        if self == Self::NONE {
            return;
        }
        SET.call_once(|| {
            let wanted = Mode::from_raw_mode(self.directory() & 0o777);
            let before = umask(!wanted & Mode::from_raw_mode(0o777));
            if !self.exact {
                umask(before & !wanted);
            }
        });
    }
}

/// The mode and the owner of new files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    sharing: Sharing,
    /// Set where root runs this: otherwise root would leave files that the owner of the repository cannot open.
    owner: Option<(u32, u32)>,
}

impl Access {
    /// Shared as `sharing` says. Where root runs this, new files go to the owner of the directory.
    pub(crate) fn new(sharing: Sharing, directory: &Path) -> Self {
        let owner = fs::metadata(directory).ok().filter(|_| geteuid().as_raw() == ROOT);
        Self { sharing, owner: owner.map(|found| (found.uid(), found.gid())) }
    }

    /// New files get the mode of the store. SQLite does the same for the files that it makes beside the store.
    pub(crate) fn beside(store: &Path) -> Self {
        let bits = fs::metadata(store).map_or(0, |found| found.mode()) & 0o666 | 0o600;
        Self::new(Sharing { bits, exact: true }, store)
    }

    pub(crate) fn make_directory(&self, path: &Path) -> io::Result<()> {
        let mode = self.sharing.directory();
        DirBuilder::new().mode(mode & 0o700).create(path)?;
        self.settle(path, mode);
        Ok(())
    }

    /// The same, unless something of that name is there.
    pub(crate) fn ensure_directory(&self, path: &Path) -> io::Result<()> {
        match self.make_directory(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    }

    /// Opens a file that may be new, and is no link.
    pub(crate) fn open(&self, path: &Path, options: &mut OpenOptions) -> io::Result<File> {
        let mode = self.sharing.file();
        let file = options.mode(mode & 0o600).custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(path)?;
        let found = file.metadata()?;
        if found.mode() & 0o7777 != mode || self.owner.is_some_and(|(user, _)| user != found.uid()) {
            self.settle(path, mode);
        }
        Ok(file)
    }

    /// Writes a file from its beginning.
    pub(crate) fn write(&self, path: &Path, text: &[u8]) -> io::Result<()> {
        self.open(path, OpenOptions::new().write(true).create(true).truncate(true))?.write_all(text)
    }

    /// Sets mode and owner, whatever the umask. A file system without permissions refuses, and so does a file of another
    /// user of the group: `doctor` reports a mode that is still wrong.
    fn settle(&self, path: &Path, mode: u32) {
        if let Some((user, group)) = self.owner {
            let _ = chown(path, Some(user), Some(group)); // before the mode: it takes bits away
        }
        let _ = fs::set_permissions(path, Permissions::from_mode(mode));
    }
}

/// A path whose mode is not the one that it should have.
#[derive(Debug, Clone)]
pub(crate) struct Misfit {
    pub(crate) path: PathBuf,
    /// The mode that it should have.
    pub(crate) mode: u32,
    /// Whether others may do more than they should; else those with whom it is shared may do less.
    pub(crate) exposed: bool,
}

impl Misfit {
    /// Compares a path with what it should be. Links have no mode.
    pub(crate) fn find(path: PathBuf, sharing: Sharing) -> Option<Self> {
        let found = fs::symlink_metadata(&path).ok().filter(|found| !found.is_symlink())?;
        let mode = if found.is_dir() { sharing.directory() } else { sharing.file() };
        let exposed = found.mode() & 0o777 & !mode != 0;
        (exposed || mode & !found.mode() != 0).then_some(Self { path, mode, exposed })
    }

    /// Sets the mode that the path should have.
    pub(crate) fn repair(&self) -> io::Result<()> {
        fs::set_permissions(&self.path, Permissions::from_mode(self.mode))
    }
}

/// A directory and everything below it, directories first. Links are not followed.
pub(crate) fn everything_in(directory: &Path) -> Vec<PathBuf> {
    let mut found = vec![directory.to_owned()];
    let mut at = 0;
    while let Some(path) = found.get(at) {
        if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
            let below: Vec<PathBuf> =
                fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
            found.extend(below);
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_is_read_as_git_reads_it() {
        let modes = |value| {
            let sharing = Sharing::of_setting(value);
            (sharing.file(), sharing.directory() & 0o777)
        };
        for nobody in [None, Some(""), Some("umask"), Some("false"), Some("0"), Some("0400"), Some("none of these")] {
            assert_eq!(modes(nobody), (0o600, 0o700), "{nobody:?}");
        }
        for group in ["group", "GROUP", "true", "1", "0660"] {
            assert_eq!(modes(Some(group)), (0o660, 0o770), "{group}");
        }
        assert_eq!(modes(Some("everybody")), (0o664, 0o775));
        assert_eq!(modes(Some("0640")), (0o640, 0o750));
        assert_eq!(modes(Some("0751")), (0o640, 0o750));
    }
}
