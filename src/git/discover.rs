//! Finds the repository as git does, without reading its configuration: any object format and ref storage will do. A
//! repository that belongs to someone else is refused here, so that no command works in it.

use std::fs;
use std::path::{Path, PathBuf};

use super::process;
use crate::access::{identity, is_own};
use crate::context::{Context, read_text};
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};

/// The paths of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The directory of this worktree: HEAD and index are there.
    pub git_dir: PathBuf,
    /// The directory that all worktrees share: objects and refs are there.
    pub common_dir: PathBuf,
}

impl Repository {
    /// The repository of the working directory, or the one that `GIT_DIR` names. As in git, `GIT_DIR` may name one of
    /// any owner.
    pub fn discover(context: &Context) -> Result<Self> {
        if let Some(named) = context.variable("GIT_DIR") {
            let git_dir = context.directory.join(named);
            return Self::at(context, &git_dir).ok_or_else(|| {
                Error::new(
                    Code::NoRepository,
                    format!("GIT_DIR names {}, which is not a git repository", git_dir.display()),
                )
                .hint("unset GIT_DIR, or let it name a repository's .git directory")
            });
        }
        let start = fs::canonicalize(&context.directory).map_err(|error| {
            Error::new(Code::NoRepository, format!("cannot enter {}", context.directory.display()))
                .because(error)
                .hint("run it in a directory that exists, or name one with -C DIR")
        })?;
        let ceilings = ceilings(context);
        let across =
            context.variable("GIT_DISCOVERY_ACROSS_FILESYSTEM").is_some_and(|value| value != "0" && value != "false");
        let device = |path: &Path| fs::metadata(path).map(|found| identity(&found).0).ok();
        let home_device = device(&start);
        let mut missing = None;
        for directory in start.ancestors() {
            if directory != start && ceilings.iter().any(|ceiling| ceiling == directory) {
                break;
            }
            if !across && device(directory) != home_device {
                break;
            }
            if let Some((found, owned)) = Self::below(context, directory, &mut missing) {
                return found.of_own(context, &owned);
            }
            if missing.is_some() {
                break;
            }
        }
        Err(missing.unwrap_or_else(|| {
            Error::new(Code::NoRepository, format!("{} is not in a git repository", start.display()))
                .hint(hint!("run it inside a repository, name one with -C DIR, or make one with ", Step::GitInit))
        }))
    }

    /// The repository whose worktree, or whose bare self, is this very directory, and the paths whose owner counts: the
    /// one that git names in `safe.directory` comes first.
    fn below(context: &Context, directory: &Path, missing: &mut Option<Error>) -> Option<(Self, Vec<PathBuf>)> {
        let dot_git = directory.join(".git");
        let worktree = directory.to_owned();
        if let Some(link) = read_text(&dot_git)
            && let Some(target) = link.strip_prefix("gitdir:")
        {
            // A worktree or submodule: a file that names the directory.
            let target = directory.join(target.trim());
            let found = Self::at(context, &target);
            if found.is_none() {
                *missing = Some(
                    Error::new(
                        Code::NoRepository,
                        format!("{} names {}, which is gone", dot_git.display(), target.display()),
                    )
                    .hint(hint!(
                        Step::GitWorktreeRepair, " in the main worktree may bring it back";
                        "a submodule must be cloned anew"
                    )),
                );
            }
            return found.map(|found| (found, vec![worktree, dot_git, target]));
        }
        match Self::at(context, &dot_git) {
            Some(found) => Some((found, vec![worktree, dot_git])),
            None => Self::at(context, directory).map(|found| (found, vec![worktree])),
        }
    }

    /// Refuses a repository of someone else. Git is asked only then: it knows the settings `safe.directory`.
    fn of_own(self, context: &Context, owned: &[PathBuf]) -> Result<Self> {
        if owned.iter().all(|path| is_own(path, context.called_sudo())) || process::is_trusted(context) {
            return Ok(self);
        }
        let named = owned.first().unwrap_or(&self.git_dir).display();
        Err(Error::new(Code::RepositoryRefused, format!("{} belongs to someone else", self.git_dir.display()))
            .because("git refuses to work in it, and so does git-proof")
            .hint(hint!("if you trust it: ", Step::GitConfigSafe(named.to_string()))))
    }

    /// The repository kept in this very directory.
    fn at(context: &Context, git_dir: &Path) -> Option<Self> {
        let git_dir = fs::canonicalize(git_dir).ok()?;
        let common_dir = match context.variable("GIT_COMMON_DIR") {
            Some(named) => context.directory.join(named),
            None => match read_text(&git_dir.join("commondir")) {
                Some(relative) => git_dir.join(relative.trim_end()),
                None => git_dir.clone(),
            },
        };
        let common_dir = fs::canonicalize(common_dir).ok()?;
        let is_repository = fs::symlink_metadata(git_dir.join("HEAD")).is_ok()
            && (common_dir.join("objects").is_dir() || context.variable("GIT_OBJECT_DIRECTORY").is_some())
            && common_dir.join("refs").is_dir();
        is_repository.then_some(Self { git_dir, common_dir })
    }

    /// Where git-proof keeps its store: one for all worktrees.
    pub fn store_path(&self) -> PathBuf {
        self.common_dir.join("proof").join("store.db")
    }

    /// The name of this worktree among those that share a store: empty for the main one.
    pub fn worktree(&self) -> String {
        match self.git_dir.strip_prefix(&self.common_dir) {
            Ok(below) => below.to_string_lossy().into_owned(),
            Err(_) => self.git_dir.to_string_lossy().into_owned(),
        }
    }
}

fn ceilings(context: &Context) -> Vec<PathBuf> {
    let Some(list) = context.variable("GIT_CEILING_DIRECTORIES") else { return Vec::new() };
    std::env::split_paths(&list).filter_map(|path| fs::canonicalize(path).ok()).collect()
}
