//! Other managers of a repository's hooks: husky, lefthook, pre-commit, simple-git-hooks, or a `core.hooksPath` of its
//! own. We never edit their files: this says what to paste into them, and checks whether it was pasted.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::script::GitHook;
use crate::context::read_regular;

/// Who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ManagerName {
    Husky,
    Lefthook,
    PreCommit,
    SimpleGitHooks,
    /// A directory of hooks that git was told to use.
    HooksPath,
}

/// A manager that was found, and what to do for it to run our hooks.
#[derive(Debug, Clone, Serialize)]
pub struct HookManager {
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
    pub file: String,
    pub lines: String,
}

/// A manager and the files in which it keeps its commands.
#[derive(Debug)]
pub(crate) struct Manager {
    pub(crate) name: ManagerName,
    found: String,
    /// Its configuration, or its directory of scripts.
    path: PathBuf,
    /// The directory from which git runs hooks.
    hooks: PathBuf,
    /// The top of the worktree.
    root: PathBuf,
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
/// Where simple-git-hooks looks for its settings, besides `package.json`.
const SIMPLE: [&str; 4] =
    [".simple-git-hooks.json", "simple-git-hooks.json", ".simple-git-hooks.cjs", ".simple-git-hooks.js"];
/// A script, because lefthook always runs scripts but skips the commands of a pre-push that changes no file.
const LEFTHOOK_SCRIPT: &str = ".lefthook/pre-push/git-proof";
const PRE_COMMIT: [&str; 2] = [".pre-commit-config.yaml", ".pre-commit-config.yml"];

/// Finds who manages the hooks of a worktree. `hooks` is where git looks for them, `elsewhere` whether that is not the
/// repository's own directory.
pub(crate) fn find(root: &Path, hooks: &Path, elsewhere: bool) -> Option<Manager> {
    let manager = |name, found: &str| Manager {
        name,
        found: found.to_owned(),
        path: root.join(found),
        hooks: hooks.to_owned(),
        root: root.to_owned(),
    };
    if is_below_husky(hooks) || !elsewhere && root.join(".husky").is_dir() {
        return Some(manager(ManagerName::Husky, ".husky"));
    }
    let forms = LEFTHOOK.iter().flat_map(|name| LEFTHOOK_FORMS.map(|form| format!("{name}.{form}")));
    if let Some(name) = forms.into_iter().find(|name| root.join(name).is_file()) {
        return Some(manager(ManagerName::Lefthook, &name));
    }
    if elsewhere {
        let found = hooks.to_string_lossy().into_owned();
        return Some(Manager { path: hooks.to_owned(), ..manager(ManagerName::HooksPath, &found) });
    }
    if let Some(name) = PRE_COMMIT.iter().find(|name| root.join(name).is_file()) {
        return Some(manager(ManagerName::PreCommit, name));
    }
    if let Some(name) = SIMPLE.iter().find(|name| root.join(name).is_file()) {
        return Some(manager(ManagerName::SimpleGitHooks, name));
    }
    let package = text(&root.join("package.json"));
    let settings: Option<serde_json::Value> = serde_json::from_str(&package).ok();
    let named = settings.is_some_and(|settings| settings.get("simple-git-hooks").is_some());
    named.then(|| manager(ManagerName::SimpleGitHooks, "package.json"))
}

fn is_below_husky(hooks: &Path) -> bool {
    hooks.components().any(|part| part.as_os_str() == ".husky")
}

/// The text of a file; empty if it cannot be read.
fn text(path: &Path) -> String {
    String::from_utf8_lossy(&read_regular(path).unwrap_or_default()).into_owned()
}

impl Manager {
    /// How a hook stands.
    pub(crate) fn state(&self, hook: GitHook) -> Managed {
        let script = self.hooks.join(hook.as_str());
        let (called, runs) = match self.name {
            ManagerName::HooksPath => (hook.is_called_in(&text(&script)), super::hook_files::is_executable(&script)),
            // Git runs what husky keeps below its directory, which runs what is in it.
            ManagerName::Husky => {
                (hook.is_called_in(&text(&self.path.join(hook.as_str()))), is_below_husky(&self.hooks))
            }
            ManagerName::Lefthook => {
                let named = hook.is_called_in(&text(&self.path)) || hook == GitHook::PrePush && self.has_script();
                (named, super::hook_files::is_executable(&script))
            }
            // It writes the command into the script of the hook.
            ManagerName::SimpleGitHooks => (hook.is_called_in(&text(&self.path)), hook.is_called_in(&text(&script))),
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

    /// Whether lefthook runs our script.
    fn has_script(&self) -> bool {
        let script = self.root.join(LEFTHOOK_SCRIPT);
        text(&self.path).contains("git-proof: {runner") && GitHook::PrePush.is_called_in(&text(&script))
    }

    /// Whether one of ours is in it.
    pub(super) fn names_any(&self) -> bool {
        GitHook::ALL.into_iter().any(|hook| self.state(hook) != Managed::Missing)
    }

    /// By what it was found.
    pub(crate) fn found(&self) -> &str {
        &self.found
    }

    /// The steps that are left for a person.
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
            ManagerName::Lefthook => {
                let mut pastes = into(lefthook(&missing));
                if missing.contains(&GitHook::PrePush) {
                    let lines = GitHook::PrePush.short_line(" \"$@\"") + "\n";
                    pastes.push(Paste { file: LEFTHOOK_SCRIPT.to_owned(), lines });
                }
                (pastes, Some("lefthook install".to_owned()))
            }
            ManagerName::SimpleGitHooks => (into(simple(&missing)), Some("npx simple-git-hooks".to_owned())),
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
        Paste { file, lines: format!("{shebang}{}\n", hook.shared_line()) }
    }
}

/// One line of YAML for each hook. `{1}` is the first argument that git gives; only hooks that read standard input ask for it.
fn lefthook(hooks: &[GitHook]) -> String {
    let lines = hooks.iter().map(|hook| {
        let command = |arguments: &str, more: &str| {
            format!("{{commands: {{git-proof: {{run: \"{}\"{more}}}}}}}", hook.short_line(arguments))
        };
        let value = match hook {
            GitHook::CommitMsg => command(" {1}", ""),
            GitHook::PostCommit => command("", ""),
            GitHook::PostRewrite => command(" {1}", ", use_stdin: true"),
            GitHook::PrePush => "{scripts: {git-proof: {runner: sh, use_stdin: true}}}".to_owned(),
        };
        format!("{}: {value}\n", hook.as_str())
    });
    lines.collect()
}

/// One line of JSON for each hook, for the object `simple-git-hooks`.
fn simple(hooks: &[GitHook]) -> String {
    let line = |hook: &GitHook| {
        let command = serde_json::Value::from(hook.short_line(" \"$@\""));
        format!("\"{}\": {command}", hook.as_str())
    };
    hooks.iter().map(line).collect::<Vec<_>>().join(",\n") + "\n"
}

/// The hooks of `.pre-commit-hooks.yaml` as local hooks, which need no address to fetch them from.
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

/// The command of a hook under pre-commit, as YAML. A push comes in variables there, not on standard input. Whoever has no
/// git-proof goes on without it.
const fn manifest_entry(hook: GitHook) -> &'static str {
    match hook {
        GitHook::CommitMsg => {
            r#"sh -c 'if command -v git-proof >/dev/null; then git-proof hook commit-msg "$@"; fi' git-proof"#
        }
        GitHook::PostCommit => "sh -c 'if command -v git-proof >/dev/null; then git-proof hook post-commit; fi'",
        GitHook::PostRewrite => {
            r#"sh -c 'if command -v git-proof >/dev/null; then git-proof hook post-rewrite "$PRE_COMMIT_REWRITE_COMMAND" </dev/null; fi'"#
        }
        GitHook::PrePush => {
            r#"sh -c 'command -v git-proof >/dev/null || exit 0; printf "%s %s %s %s\n" "$PRE_COMMIT_LOCAL_BRANCH" "${PRE_COMMIT_TO_REF:-$(git rev-parse "$PRE_COMMIT_LOCAL_BRANCH")}" "$PRE_COMMIT_REMOTE_BRANCH" "${PRE_COMMIT_FROM_REF:-0000000000000000000000000000000000000000}" | git-proof hook pre-push "$PRE_COMMIT_REMOTE_NAME" "$PRE_COMMIT_REMOTE_URL"'"#
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
