//! Whoever else manages the hooks of a repository: husky, lefthook, pre-commit, or a `core.hooksPath` of its own. Their
//! files are theirs; this says what to paste into them, and sees whether it was.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::script::GitHook;
use crate::context::read_regular;

/// Who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ManagerName {
    /// husky.
    Husky,
    /// lefthook.
    Lefthook,
    /// pre-commit.
    PreCommit,
    /// A directory of hooks that git was told to use.
    HooksPath,
}

/// A manager that was found, and what to do for it to run our hooks.
#[derive(Debug, Clone, Serialize)]
pub struct HookManager {
    /// Who it is.
    pub name: ManagerName,
    /// By what it was found: a file, or the value of `core.hooksPath`.
    pub found: String,
    /// What to paste where; only what is not there yet.
    pub paste: Vec<Paste>,
    /// What to run afterwards, if anything.
    pub run: Option<String>,
}

/// Lines for a file that is not ours.
#[derive(Debug, Clone, Serialize)]
pub struct Paste {
    /// The file.
    pub file: String,
    /// The lines.
    pub lines: String,
}

/// Where a manager keeps what it runs.
#[derive(Debug)]
pub(crate) struct Manager {
    pub(crate) name: ManagerName,
    found: String,
    /// Its configuration, or its directory of scripts.
    path: PathBuf,
    /// The directory from which git runs hooks.
    hooks: PathBuf,
}

/// How one of our hooks stands with a manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Managed {
    /// It runs.
    Wired,
    /// It is configured, but git does not run the manager for it.
    NotInstalled,
    /// It is not there.
    Missing,
}

const LEFTHOOK: [&str; 3] = ["lefthook", ".lefthook", ".config/lefthook"];
const LEFTHOOK_FORMS: [&str; 5] = ["yml", "yaml", "toml", "json", "jsonc"];
const PRE_COMMIT: [&str; 2] = [".pre-commit-config.yaml", ".pre-commit-config.yml"];

/// Finds who manages the hooks of a worktree. `hooks` is where git looks for them, `elsewhere` whether that is not the
/// repository's own directory.
pub(crate) fn find(root: &Path, hooks: &Path, elsewhere: bool) -> Option<Manager> {
    let manager =
        |name, found: &str| Manager { name, found: found.to_owned(), path: root.join(found), hooks: hooks.to_owned() };
    if is_below_husky(hooks) || !elsewhere && root.join(".husky").is_dir() {
        return Some(manager(ManagerName::Husky, ".husky"));
    }
    let forms = LEFTHOOK.iter().flat_map(|name| LEFTHOOK_FORMS.map(|form| format!("{name}.{form}")));
    if let Some(name) = forms.into_iter().find(|name| root.join(name).is_file()) {
        return Some(manager(ManagerName::Lefthook, &name));
    }
    if elsewhere {
        let found = hooks.to_string_lossy().into_owned();
        return Some(Manager { name: ManagerName::HooksPath, found, path: hooks.to_owned(), hooks: hooks.to_owned() });
    }
    PRE_COMMIT.iter().find(|name| root.join(name).is_file()).map(|name| manager(ManagerName::PreCommit, name))
}

fn is_below_husky(hooks: &Path) -> bool {
    hooks.components().any(|part| part.as_os_str() == ".husky")
}

impl Manager {
    /// How a hook stands.
    pub(crate) fn state(&self, hook: GitHook) -> Managed {
        let script = self.hooks.join(hook.as_str());
        let text = |path: &Path| String::from_utf8_lossy(&read_regular(path).unwrap_or_default()).into_owned();
        let (called, runs) = match self.name {
            ManagerName::HooksPath => (hook.is_called_in(&text(&script)), super::hook_files::is_executable(&script)),
            // Git runs what husky keeps below its directory, which runs what is in it.
            ManagerName::Husky => {
                (hook.is_called_in(&text(&self.path.join(hook.as_str()))), is_below_husky(&self.hooks))
            }
            ManagerName::Lefthook => (hook.is_called_in(&text(&self.path)), super::hook_files::is_executable(&script)),
            ManagerName::PreCommit => {
                let id = format!("git-proof-{}", hook.as_str());
                let named = text(&self.path).lines().any(|line| {
                    let line = line.split('#').next().unwrap_or_default();
                    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(|word| word == id)
                });
                (named, super::hook_files::is_executable(&script))
            }
        };
        match (called, runs) {
            (true, true) => Managed::Wired,
            (true, false) => Managed::NotInstalled,
            (false, _) => Managed::Missing,
        }
    }

    /// Whether one of ours is in it.
    pub(super) fn names_any(&self) -> bool {
        GitHook::ALL.into_iter().any(|hook| self.state(hook) != Managed::Missing)
    }

    /// By what it was found.
    pub(crate) fn found(&self) -> &str {
        &self.found
    }

    /// What is left to do for it, for a person.
    pub(crate) fn instructions(&self) -> HookManager {
        let missing: Vec<GitHook> =
            GitHook::ALL.into_iter().filter(|hook| self.state(*hook) == Managed::Missing).collect();
        let installed = GitHook::ALL.into_iter().all(|hook| self.state(hook) == Managed::Wired);
        let into = |lines: String| {
            let paste = Paste { file: self.found.clone(), lines };
            if missing.is_empty() { Vec::new() } else { vec![paste] }
        };
        let (paste, run) = match self.name {
            ManagerName::Husky | ManagerName::HooksPath => (
                missing.iter().map(|hook| self.script(*hook)).collect(),
                (self.name == ManagerName::Husky && !is_below_husky(&self.hooks)).then(|| "npx husky".to_owned()),
            ),
            ManagerName::Lefthook => (into(lefthook(&missing)), Some("lefthook install".to_owned())),
            ManagerName::PreCommit => {
                let types = GitHook::ALL.map(|hook| format!(" --hook-type {}", hook.as_str())).concat();
                (into(pre_commit(&missing)), Some(format!("pre-commit install{types}")))
            }
        };
        HookManager { name: self.name, found: self.found.clone(), paste, run: run.filter(|_| !installed) }
    }

    /// Our block for a script of theirs.
    fn script(&self, hook: GitHook) -> Paste {
        let path = self.path.join(hook.as_str());
        let shebang = if self.name == ManagerName::HooksPath && !path.exists() { super::script::SHEBANG } else { "" };
        let file = match self.name {
            ManagerName::Husky => format!("{}/{}", self.found, hook.as_str()),
            _ => path.to_string_lossy().into_owned(),
        };
        Paste { file, lines: format!("{shebang}{}", hook.block()) }
    }
}

/// `{1}` is the first argument that git gives; only hooks that read standard input ask for it.
fn lefthook(hooks: &[GitHook]) -> String {
    let lines = hooks.iter().map(|hook| {
        let (arguments, stdin) = match hook {
            GitHook::CommitMsg => (" {1}", ""),
            GitHook::PostCommit => ("", ""),
            GitHook::PostRewrite => (" {1}", "      use_stdin: true\n"),
            GitHook::PrePush => (" {1} {2}", "      use_stdin: true\n"),
        };
        let name = hook.as_str();
        format!("{name}:\n  commands:\n    git-proof:\n      run: git-proof hook {name}{arguments}\n{stdin}")
    });
    lines.collect()
}

/// What `.pre-commit-hooks.yaml` says, as local hooks: they need no address to fetch it from.
fn pre_commit(hooks: &[GitHook]) -> String {
    let lines = hooks.iter().map(|hook| {
        let name = hook.as_str();
        let entry = manifest_entry(*hook);
        let files = if *hook == GitHook::CommitMsg { "" } else { "\n        pass_filenames: false" };
        format!(
            "      - id: git-proof-{name}\n        name: git-proof {name}\n        entry: {entry}\n        language: system\n        \
             stages: [{name}]\n        always_run: true{files}\n        verbose: true\n"
        )
    });
    format!("  - repo: local\n    hooks:\n{}", lines.collect::<String>())
}

/// The command of a hook under pre-commit, as YAML. A push comes in variables there, not on standard input.
const fn manifest_entry(hook: GitHook) -> &'static str {
    match hook {
        GitHook::CommitMsg => "git-proof hook commit-msg",
        GitHook::PostCommit => "git-proof hook post-commit",
        GitHook::PostRewrite => r#"sh -c 'git-proof hook post-rewrite "$PRE_COMMIT_REWRITE_COMMAND" </dev/null'"#,
        GitHook::PrePush => {
            r#"sh -c 'printf "%s %s %s %s\n" "$PRE_COMMIT_LOCAL_BRANCH" "${PRE_COMMIT_TO_REF:-$(git rev-parse "$PRE_COMMIT_LOCAL_BRANCH")}" "$PRE_COMMIT_REMOTE_BRANCH" "${PRE_COMMIT_FROM_REF:-0000000000000000000000000000000000000000}" | git-proof hook pre-push "$PRE_COMMIT_REMOTE_NAME" "$PRE_COMMIT_REMOTE_URL"'"#
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_has_the_commands_that_are_pasted() {
        let manifest = include_str!("../../.pre-commit-hooks.yaml");
        for hook in GitHook::ALL {
            let name = hook.as_str();
            for line in [
                format!("- id: git-proof-{name}"),
                format!("  entry: {}", manifest_entry(hook)),
                format!("  stages: [{name}]"),
            ] {
                assert!(manifest.lines().any(|found| found == line), "no {line:?}");
            }
        }
    }
}
