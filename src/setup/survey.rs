//! How a repository stands before anything is done to it: the git at hand, its configuration, and who runs its hooks.

use std::fs;
use std::path::{Path, PathBuf};

use super::managers::{self, Manager};
use super::settings::{Settings, git};
use super::version::GitVersion;
use crate::access::owned_name;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::{Repository, worktree_root};

/// The state of a repository's setup.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) repository: Repository,
    /// The top of the worktree; `None` in a bare repository.
    pub(crate) root: Option<PathBuf>,
    pub(crate) settings: Settings,
    pub(crate) version: GitVersion,
    /// Another manager of the hooks, if there is one.
    pub(crate) manager: Option<Manager>,
    /// Whether git looks for hooks in another directory than the repository's own.
    pub(crate) elsewhere: bool,
}

impl Survey {
    /// Looks around. Nothing is written.
    pub(crate) fn take(context: &Context) -> Result<Self> {
        let repository = Repository::discover(context)?;
        let version = GitVersion::ask(context).map_err(|error| {
            Error::new(Code::Unreadable, "git does not say its version").because(error).hint("install git")
        })?;
        let settings = Settings::read(context)?;
        let Some(root) = worktree_root(context) else {
            let said = git(context, ["rev-parse", "--is-bare-repository"]).map_err(|error| {
                Error::new(Code::NoRepository, "git does not take this for a repository")
                    .because(error)
                    .hint("do what git says, then run it again")
            })?;
            if said.trim_ascii() != b"true" {
                return Err(no_worktree());
            }
            return Ok(Self { repository, root: None, settings, version, manager: None, elsewhere: false });
        };
        let own = repository.common_dir.join("hooks");
        let hooks = effective_hooks(context, &root).unwrap_or_else(|| own.clone());
        let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        // A directory of ours that is a link is somebody else's too.
        let elsewhere = real(&hooks) != own;
        let manager = managers::find(&root, &hooks, elsewhere);
        Ok(Self { repository, root: Some(root), settings, version, manager, elsewhere })
    }

    /// The repository's own directory of hooks, one for all its worktrees.
    pub(crate) fn hooks(&self) -> PathBuf {
        self.repository.common_dir.join("hooks")
    }

    /// A path for a person: from the top of the worktree where it is in it.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let real = self.root.as_deref().and_then(|root| fs::canonicalize(root).ok());
        let below = real.as_deref().and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        below.to_string_lossy().into_owned()
    }
}

/// The directory in which git looks for hooks, `core.hooksPath` included.
fn effective_hooks(context: &Context, root: &Path) -> Option<PathBuf> {
    // A relative path counts from where hooks run, which is the top of the worktree.
    let top = Context::new(context.path(root));
    let mut path = git(&top, ["rev-parse", "--git-path", "hooks"]).ok()?;
    path.pop_if(|byte| *byte == b'\n');
    (!path.is_empty()).then(|| root.join(owned_name(path)))
}

/// The error of a command that needs a worktree in a repository without one.
pub(super) fn no_worktree() -> Error {
    Error::new(Code::NoRepository, "there is no worktree here to set up")
        .hint("run it inside the worktree of a repository, or name one with -C DIR")
}
