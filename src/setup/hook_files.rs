//! The files in a repository's own hooks directory: which of them can take our block, and why others cannot.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::script::GitHook;
use super::{block, files};
use crate::access;
use crate::context::read_regular;
use crate::error::{Code, Error, Result};

/// A hook's file as it is.
#[derive(Debug)]
pub(super) struct HookFile {
    pub(super) path: PathBuf,
    /// What is in it; `None` if it is not there.
    pub(super) text: Option<Vec<u8>>,
    /// Why it is left alone, if it is.
    pub(super) refusal: Option<String>,
    /// Whether git runs it, and it calls ours without our block.
    pub(super) calls: bool,
}

impl HookFile {
    /// Reads the file of a hook.
    pub(super) fn read(directory: &Path, hook: GitHook) -> Result<Self> {
        let path = directory.join(hook.as_str());
        let unreadable = |error: &io::Error| {
            Error::new(Code::Unreadable, format!("cannot read {}; nothing was changed", path.display()))
                .because(error)
                .hint("check who owns the file, then run it again")
        };
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { path, text: None, refusal: None, calls: false });
            }
            Err(error) => return Err(unreadable(&error)),
        };
        let calls = |text: &[u8]| is_executable(&path) && hook.is_called_in(&String::from_utf8_lossy(text));
        if metadata.is_symlink() {
            // The target may be anybody's: a tracked file, or one that many repositories share.
            let target = fs::read_link(&path).unwrap_or_default();
            let refusal = format!("it is a link to {}, which may not be this repository's alone", target.display());
            // Here a block in the target is a call like any other: it is not ours to edit.
            let calls = calls(&read_regular(&path).unwrap_or_default());
            return Ok(Self { path, text: Some(Vec::new()), refusal: Some(refusal), calls });
        }
        if !metadata.is_file() {
            let refusal = Some("it is not a file".to_owned());
            return Ok(Self { path, text: Some(Vec::new()), refusal, calls: false });
        }
        let text = read_regular(&path).map_err(|error| unreadable(&error))?;
        let refusal = if !block::is_shell(&text) {
            Some("it is not a shell script".to_owned())
        } else if !access::is_executable(&metadata) {
            // Someone switched the hook off, so do not switch it on.
            Some("it is not executable, so git does not run it".to_owned())
        } else {
            None
        };
        let calls = !block::is_in(&text) && calls(&text);
        Ok(Self { path, text: Some(text), refusal, calls })
    }

    /// Whether our block is in it.
    pub(super) fn is_ours(&self) -> bool {
        self.text.as_deref().is_some_and(block::is_in)
    }

    /// The text of the file with our block.
    pub(super) fn with(&self, line: &[u8]) -> Result<Vec<u8>> {
        block::add(self.text.as_deref(), line).map_err(|why| self.invalid(&why))
    }

    /// The text of the file without our block; `None` if it is to be deleted.
    pub(super) fn without(&self) -> Result<Option<Vec<u8>>> {
        let Some(text) = self.text.as_deref() else { return Ok(None) };
        block::take_out(text).map_err(|why| self.invalid(&why))
    }

    fn invalid(&self, why: &str) -> Error {
        files::invalid(&self.path.to_string_lossy(), why)
    }
}

/// Whether git would run it.
pub(super) fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| access::is_executable(&found))
}
