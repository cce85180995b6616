//! What `init` answers with.

use crate::hint::Hint;
use crate::proof::schema::names;
use serde::Serialize;

use super::files;
use super::hooks::HookChange;
use super::managers::HookManager;

/// What was done, or would be.
#[derive(Debug, Clone, Default, Serialize)]
pub struct InitOutcome {
    /// The files in the worktree, in order: those of agents, and the policy.
    pub files: Vec<FileChange>,
    pub store: Option<FileChange>,
    /// The hooks of git.
    pub hooks: Vec<HookChange>,
    /// The settings of git.
    pub settings: Vec<SettingChange>,
    /// Another manager of the hooks, if there is one, and how to make it run ours.
    pub manager: Option<HookManager>,
    /// What a person should know.
    pub notices: Vec<Notice>,
    /// The hook of a server; only where the repository is bare.
    pub pre_receive: Option<&'static str>,
    /// Whether nothing was written.
    pub dry_run: bool,
}

/// What was done to a file.
#[derive(Debug, Clone, Serialize)]
pub struct FileChange {
    /// From the top of the worktree if it is in it.
    pub path: String,
    pub action: Action,
    /// The change as a unified diff; empty if there is none.
    pub diff: String,
}

/// What was done to a setting.
#[derive(Debug, Clone, Serialize)]
pub struct SettingChange {
    /// Its name.
    pub key: &'static str,
    /// The value of ours among others that it may have.
    pub value: &'static str,
    pub action: Action,
    /// The change as a command; empty if there is none.
    pub diff: String,
}

/// What a person should know.
#[derive(Debug, Clone, Serialize)]
pub struct Notice {
    /// What it is.
    pub message: String,
    /// What to do: a command where there is one.
    pub hint: Hint,
}

names! {
    /// What can be done.
    pub enum Action {
        /// It was not there.
        Created = "created",
        /// It was edited.
        Updated = "updated",
        /// There was nothing to do.
        Unchanged = "unchanged",
        /// Only ours was in it.
        Removed = "removed",
    }
}

impl InitOutcome {
    /// Whether nothing was to be done.
    pub fn is_unchanged(&self) -> bool {
        let mut actions = (self.files.iter().chain(&self.store).map(|file| file.action))
            .chain(self.hooks.iter().map(|hook| hook.action))
            .chain(self.settings.iter().map(|setting| setting.action));
        actions.all(|action| action == Action::Unchanged)
    }
}

impl FileChange {
    pub(super) fn new(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> Self {
        let action = match (old, new) {
            (None, Some(_)) => Action::Created,
            (Some(_), None) => Action::Removed,
            (Some(old), Some(new)) if old != new => Action::Updated,
            _ => Action::Unchanged,
        };
        let diff = if action == Action::Unchanged { String::new() } else { files::diff(path, old, new) };
        Self { path: path.to_owned(), action, diff }
    }
}
