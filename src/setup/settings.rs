//! Git's configuration: read in one go, from all the places that git reads, and changed by git itself.

use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

use crate::access::{bytes_of, name_of};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::hint::{Hint, Step};

/// Everything that is configured, weakest first.
#[derive(Debug)]
pub(crate) struct Settings {
    entries: Vec<Setting>,
}

/// One value.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    /// `system`, `global`, `local`, `worktree` or `command`.
    pub(crate) scope: String,
    /// In the form that git prints: section and name in small letters.
    pub(crate) key: String,
    /// What it is; empty where only the name is given.
    pub(crate) value: Vec<u8>,
}

impl Setting {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.value).into_owned()
    }

    /// The command that takes it away.
    pub(crate) fn removal(&self) -> Hint {
        match self.scope.as_str() {
            "command" => format!("take {} out of the environment or the command line", self.key).into(),
            scope => Step::GitConfigRemove(scope.to_owned(), self.key.clone(), self.text()).into(),
        }
    }
}

/// A word of a command, for a person: quoted where it has to be.
fn word(bytes: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=:".contains(byte);
    let bytes = if bytes.iter().all(is_plain) { bytes.to_vec() } else { super::script::quoted(bytes) };
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Settings {
    /// Reads all of it.
    pub(crate) fn read(context: &Context) -> Result<Self> {
        let listed = git(context, ["config", "--list", "--show-scope", "-z"]).map_err(|error| {
            Error::new(Code::ConfigInvalid, "git's configuration cannot be read; nothing was changed")
                .because(error)
                .hint("correct what git complains about, then run it again")
        })?;
        let mut fields = listed.split(|byte| *byte == 0);
        let mut entries = Vec::new();
        while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
            let at = entry.iter().position(|byte| *byte == b'\n').unwrap_or(entry.len());
            entries.push(Setting {
                scope: String::from_utf8_lossy(scope).into_owned(),
                key: String::from_utf8_lossy(&entry[..at]).into_owned(),
                value: entry.get(at + 1..).unwrap_or_default().to_vec(),
            });
        }
        Ok(Self { entries })
    }

    /// All values of a key.
    pub(crate) fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a Setting> {
        self.entries.iter().filter(move |entry| entry.key == key)
    }

    /// The value of a key that counts.
    pub(crate) fn last(&self, key: &str) -> Option<&Setting> {
        self.entries.iter().rfind(|entry| entry.key == key)
    }

    /// All values whose key begins and ends like this.
    pub(crate) fn like<'a>(&'a self, begin: &'a str, end: &'a str) -> impl Iterator<Item = &'a Setting> {
        self.entries.iter().filter(move |entry| entry.key.starts_with(begin) && entry.key.ends_with(end))
    }

    /// The values that this repository alone has.
    pub(super) fn local<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a Setting> {
        self.all(key).filter(|entry| entry.scope == "local")
    }
}

/// A change to the configuration of this repository: what follows `git config --local`.
#[derive(Debug, Clone)]
pub(super) struct SettingEdit(Vec<OsString>);

impl SettingEdit {
    pub(super) fn new<const N: usize>(arguments: [&[u8]; N]) -> Self {
        Self(arguments.iter().map(|argument| name_of(argument).to_owned()).collect())
    }

    pub(super) fn apply(&self, context: &Context) -> Result<()> {
        let fixed = ["config", "--local"].map(OsStr::new);
        git(context, fixed.into_iter().chain(self.0.iter().map(OsString::as_os_str))).map(drop).map_err(|error| {
            Error::new(Code::OutputFailed, "git's configuration cannot be changed").because(error).hint(
                "check who owns .git/config, then run it again; if no git is running here, one was killed and left its \
                     lock behind: rm '.git/config.lock'",
            )
        })
    }

    /// The command, for a person.
    pub(super) fn shown(&self) -> String {
        let words = self.0.iter().map(|argument| word(bytes_of(argument)));
        ["git", "config", "--local"].map(str::to_owned).into_iter().chain(words).collect::<Vec<_>>().join(" ")
    }
}

/// Runs git; what it printed, or what it complained about.
pub(crate) fn git<A: AsRef<OsStr>>(
    context: &Context,
    arguments: impl IntoIterator<Item = A>,
) -> Result<Vec<u8>, String> {
    let run = Command::new("git").args(arguments).current_dir(&context.directory).stdin(Stdio::null()).output();
    let output = run.map_err(|error| format!("git cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(if said.is_empty() { format!("git ended with {}", output.status) } else { said })
}
