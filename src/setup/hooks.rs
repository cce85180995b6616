//! Wires each hook: by a command in git's configuration if git supports that, else by a block in the file of the hook.
//! If another program manages the hooks, nothing is written, and the user is told what to paste.

use std::path::Path;

use serde::Serialize;

use super::files::diff;
use super::hook_files::HookFile;
use super::managers::Managed;
use super::outcome::Action;
use super::script::GitHook;
use super::settings::SettingEdit;
use super::survey::Survey;
use crate::error::Result;

/// What was done about a hook.
#[derive(Debug, Clone, Serialize)]
pub struct HookChange {
    /// Its name to git.
    pub hook: &'static str,
    /// How our hook is run, or will be.
    pub by: WiredBy,
    pub action: Action,
    /// The file, from the top of the worktree if it is in it; null for one in the configuration.
    pub path: Option<String>,
    /// The change, as a unified diff or as commands; empty if there is none.
    pub diff: String,
    /// Why it is not wired, or what is wrong with what there is.
    pub reason: Option<String>,
    /// The line to call from a hook that is not ours to edit.
    pub call: Option<String>,
}

/// What runs a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WiredBy {
    /// Our block in the file of the hook.
    File,
    /// A command in git's configuration.
    Config,
    /// A manager of hooks.
    Manager,
    /// A call in a hook that is somebody else's.
    Call,
    Nothing,
}

/// A change to a hook, and how to make it.
pub(crate) struct HookPlan {
    pub(crate) change: HookChange,
    /// Whether something of ours is there already.
    pub(crate) had: bool,
    /// The file and its new text; `None` to remove it.
    pub(super) file: Option<(std::path::PathBuf, Option<Vec<u8>>)>,
    pub(super) settings: Vec<SettingEdit>,
}

/// Plans what is to be done about every hook. `program` is where the running program is.
pub(crate) fn plan(survey: &Survey, program: Option<&Path>, uninstall: bool) -> Result<Vec<HookPlan>> {
    GitHook::ALL.into_iter().map(|hook| plan_one(survey, hook, program, uninstall)).collect()
}

fn plan_one(survey: &Survey, hook: GitHook, program: Option<&Path>, uninstall: bool) -> Result<HookPlan> {
    let file = HookFile::read(&survey.hooks(), hook)?;
    let configured = configured(survey, hook);
    let had = file.is_ours() || configured;
    let nothing = |reason: String, call: Option<String>| (WiredBy::Nothing, Some(reason), call);
    let managed = survey.manager.as_ref().map(|manager| (manager, manager.state(hook)));
    let (by, reason, call) = if uninstall {
        (WiredBy::Nothing, None, None)
    } else if let Some((_, Managed::Wired)) = managed {
        (WiredBy::Manager, None, None)
    } else if file.calls && !survey.elsewhere {
        (WiredBy::Call, None, None)
    } else if survey.version.runs_configured_hooks() && (survey.elsewhere || file.refusal.is_some() || !file.is_ours())
    {
        // A block that works is kept: an older git, such as one that comes with an editor, runs it too.
        (WiredBy::Config, None, None)
    } else if let Some((manager, state)) = managed
        && (survey.elsewhere || !file.is_ours())
    {
        let found = manager.found();
        nothing(
            match state {
                Managed::NotInstalled => format!("{found} names it, but git does not run it"),
                _ => format!("the hooks are those of {found}, which does not name it"),
            },
            None,
        )
    } else if let Some(refusal) = &file.refusal {
        let call = format!("git-proof hook {} \"$@\"", hook.as_str());
        nothing(format!("{}: {refusal}", survey.shown(&file.path)), Some(call))
    } else {
        let ignored = (configured && !survey.version.runs_configured_hooks())
            .then(|| format!("git {} ignores hooks in its configuration; newer ones run them", survey.version.text));
        (WiredBy::File, ignored, None)
    };

    // Only what is ours changes: a file that we leave alone stays as it is unless our block has to leave it.
    let text = match by {
        WiredBy::File => Some(file.with(&hook.line(program))?),
        _ if file.is_ours() && (uninstall || by != WiredBy::Nothing) => file.without()?,
        _ => file.text.clone(),
    };
    let settings = settings(survey, hook, program, by, configured, uninstall);
    let changed = text != file.text;
    let action = match (had, by) {
        _ if !changed && settings.is_empty() => Action::Unchanged,
        (_, WiredBy::Nothing) if text.is_none() => Action::Removed,
        (false, WiredBy::Config) => Action::Created,
        (false, _) if file.text.is_none() => Action::Created,
        _ => Action::Updated,
    };
    let shown = survey.shown(&file.path);
    let mut difference = if changed { diff(&shown, file.text.as_deref(), text.as_deref()) } else { String::new() };
    difference.extend(settings.iter().map(|edit| edit.shown() + "\n"));
    let in_file = matches!(by, WiredBy::File | WiredBy::Call) || changed || call.is_some();
    let change =
        HookChange { hook: hook.as_str(), by, action, path: in_file.then_some(shown), diff: difference, reason, call };
    Ok(HookPlan { change, had, file: changed.then_some((file.path, text)), settings })
}

/// Whether the hook has a section in this repository's configuration.
fn configured(survey: &Survey, hook: GitHook) -> bool {
    let section = hook.section();
    ["command", "event"].iter().any(|name| survey.settings.local(&format!("{section}.{name}")).next().is_some())
}

/// The changes to the configuration for a hook.
fn settings(
    survey: &Survey,
    hook: GitHook,
    program: Option<&Path>,
    by: WiredBy,
    configured: bool,
    uninstall: bool,
) -> Vec<SettingEdit> {
    let section = hook.section();
    if by != WiredBy::Config {
        let leave = configured && (uninstall || by != WiredBy::Nothing);
        return leave.then(|| SettingEdit::new([b"--remove-section", section.as_bytes()])).into_iter().collect();
    }
    let [command, event] = ["command", "event"].map(|name| format!("{section}.{name}"));
    let is = |key: &str, value: &[u8]| {
        let mut found = survey.settings.local(key);
        found.next().is_some_and(|found| found.value == value) && found.next().is_none()
    };
    let text = hook.command(program);
    // The command first: git refuses to run at all where there is an event without one.
    let mut edits = Vec::new();
    if !is(&command, &text) {
        edits.push(SettingEdit::new([b"--replace-all", command.as_bytes(), &text]));
    }
    if !is(&event, hook.as_str().as_bytes()) {
        edits.push(SettingEdit::new([b"--replace-all", event.as_bytes(), hook.as_str().as_bytes()]));
    }
    edits
}
