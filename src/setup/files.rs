//! Reading and replacing files: those of a worktree never outside of it, and none of them half.

use std::fs::{self};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::access::create_new;
use crate::context::{Context, read_regular};
use crate::error::{Code, Error, Result};

/// A file as it is.
pub(super) struct Found {
    /// Where it really is, behind any link.
    pub(super) path: PathBuf,
    /// What is in it; `None` if it is not there.
    pub(super) text: Option<String>,
}

/// Finds a file of the worktree. A link may lead to it, but not out of the worktree.
pub(super) fn find(root: &Path, relative: &str) -> Result<Found> {
    let wrong = |why: String| invalid(relative, &why);
    let root = fs::canonicalize(root).map_err(|error| wrong(error.to_string()))?;
    let path = root.join(relative);
    // Resolve links in the part of the path that exists. The rest does not exist, so it has no links.
    let existing = path.ancestors().find(|path| fs::symlink_metadata(path).is_ok()).unwrap_or(&root);
    let real = fs::canonicalize(existing).map_err(|error| wrong(format!("{}: {error}", existing.display())))?;
    if !real.starts_with(&root) || real.starts_with(root.join(".git")) {
        return Err(wrong(format!("it leads to {}, which is not in the worktree", real.display())));
    }
    if existing != path {
        if !real.is_dir() {
            return Err(wrong(format!("{} is not a directory", real.display())));
        }
        let rest = path.strip_prefix(existing).unwrap_or(Path::new(""));
        return Ok(Found { path: real.join(rest), text: None });
    }
    if !real.is_file() {
        return Err(wrong("it is not a file".to_owned()));
    }
    let bytes = read_regular(&real).map_err(|error| wrong(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8".to_owned()))?;
    Ok(Found { path: real, text: Some(text) })
}

/// A file that cannot be edited as it is.
pub(super) fn invalid(path: &str, why: &str) -> Error {
    Error::new(Code::ConfigInvalid, format!("{path} cannot be edited; no file was changed"))
        .because(why)
        .hint(format!("correct {path}, then run it again"))
}

/// A new text beside the file that it will replace; gone unless it does.
pub(crate) struct Staged {
    temporary: PathBuf,
    path: PathBuf,
}

impl Staged {
    /// Writes the text to disk, with the permissions of the file that it will replace; a new file gets `mode`, as far as
    /// the umask allows.
    pub(crate) fn write(context: &Context, path: &Path, text: &[u8], mode: u32) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.git-proof-{}", context.new_id()));
        let staged = Self { temporary, path: path.to_owned() };
        staged.fill(text, mode).map_err(|error| unwritable(path, &error))?;
        Ok(staged)
    }

    fn fill(&self, text: &[u8], mode: u32) -> io::Result<()> {
        if let Some(directory) = self.path.parent() {
            fs::create_dir_all(directory)?;
        }
        let mut file = create_new(&self.temporary, mode)?;
        if let Ok(old) = fs::metadata(&self.path) {
            file.set_permissions(old.permissions())?;
        }
        file.write_all(text)?;
        file.sync_all()
    }

    /// Puts it in the place of the file.
    pub(crate) fn replace(self) -> Result<()> {
        fs::rename(&self.temporary, &self.path).map_err(|error| unwritable(&self.path, &error))
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary); // not there once it has replaced the file
    }
}

/// Removes a file, and the directories above it in which nothing else is.
pub(super) fn remove(root: &Path, path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(|error| unwritable(path, &error))?;
    let root = fs::canonicalize(root).ok();
    for directory in
        path.ancestors().skip(1).take_while(|directory| root.as_deref().is_some_and(|root| root != *directory))
    {
        if fs::remove_dir(directory).is_err() {
            break; // refused by the system unless it is empty
        }
    }
    Ok(())
}

/// The change of a file as a unified diff; `None` is a file that is not there.
pub(super) fn diff(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> String {
    let header = |there: bool, side: &str| if there { format!("{side}/{path}") } else { "/dev/null".to_owned() };
    let [from, to] = [old, new].map(|text| String::from_utf8_lossy(text.unwrap_or_default()));
    similar::TextDiff::from_lines(&*from, &*to)
        .unified_diff()
        .header(&header(old.is_some(), "a"), &header(new.is_some(), "b"))
        .to_string()
}

pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Error {
    Error::new(Code::OutputFailed, format!("cannot write {}", path.display()))
        .because(error)
        .hint("check who owns the file and its directory, and that the disk has room; then run it again")
}
