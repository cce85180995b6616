//! `init`: sets up agents to use the MCP server and the hooks, by editing their configuration in the worktree, and
//! takes exactly that out again.

mod agents;
mod files;
mod json;
mod layout;
mod lines;
mod render;

use serde::Serialize;

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git;
use agents::Target;
use files::{Found, Staged};

pub use agents::InitAgent;

/// What is to be set up.
#[derive(Debug, Clone, Default)]
pub struct InitRequest {
    /// The agents.
    pub agents: Vec<InitAgent>,
    /// Whether AGENTS.md is to tell the order of calls.
    pub agents_md: bool,
    /// Whether to take out instead of putting in.
    pub uninstall: bool,
    /// Whether only to say what would be done.
    pub dry_run: bool,
}

/// What was done, or would be.
#[derive(Debug, Clone, Serialize)]
pub struct InitOutcome {
    /// The files, in order.
    pub files: Vec<FileChange>,
    /// Whether nothing was written.
    pub dry_run: bool,
}

/// What was done to a file.
#[derive(Debug, Clone, Serialize)]
pub struct FileChange {
    /// From the top of the worktree.
    pub path: &'static str,
    /// What was done.
    pub action: Action,
    /// The change as a unified diff; empty if there is none.
    pub diff: String,
}

/// What can be done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It was not there.
    Created,
    /// It was edited.
    Updated,
    /// There was nothing to do.
    Unchanged,
    /// Only ours was in it.
    Removed,
}

/// Edits the configuration of agents. All files are read and understood before any is written.
pub fn init(context: &Context, request: &InitRequest) -> Result<InitOutcome> {
    let root = git::worktree_root(context).ok_or_else(|| {
        Error::new(Code::NoRepository, "there is no worktree here to set an agent up in")
            .hint("run it inside the worktree of a repository, or name one with -C DIR")
    })?;
    let mut targets = Vec::new();
    for agent in InitAgent::ALL.into_iter().filter(|agent| request.agents.contains(agent)) {
        targets.extend(agent.targets());
    }
    targets.extend(request.agents_md.then(agents::agents_md));
    let mut planned = Vec::new();
    for target in &targets {
        let found = files::find(&root, target.path)?;
        let text = edited(target, found.text.as_deref(), request.uninstall)?;
        planned.push((target, found, text));
    }
    let outcome = InitOutcome {
        files: planned.iter().map(|(target, found, text)| change(target, found, text.as_deref())).collect(),
        dry_run: request.dry_run,
    };
    if !request.dry_run {
        let changed = planned.iter().filter(|(_, found, text)| found.text != *text);
        let (written, removed): (Vec<_>, Vec<_>) = changed.partition(|(_, _, text)| text.is_some());
        // Every new text is on disk before the first file is replaced.
        let staged: Vec<Staged> = written
            .into_iter()
            .filter_map(|(_, found, text)| Some(Staged::write(context, &found.path, text.as_deref()?)))
            .collect::<Result<_>>()?;
        for file in staged {
            file.replace()?;
        }
        for (_, found, _) in removed {
            files::remove(&root, &found.path)?;
        }
    }
    Ok(outcome)
}

/// What a file is to hold; `None` if it is not to be there.
fn edited(target: &Target, found: Option<&str>, uninstall: bool) -> Result<Option<String>> {
    let wrong = |why: String| files::invalid(target.path, &why);
    let Some(found) = found else {
        if uninstall {
            return Ok(None);
        }
        let made = target.edits.iter().try_fold(target.blank.to_owned(), |text, edit| edit.add(&text));
        return made.map(Some).map_err(wrong);
    };
    // Editors on some systems begin a file with a mark that no parser wants to see.
    let (mark, text) = match found.strip_prefix('\u{feff}') {
        Some(text) => ("\u{feff}", text),
        None => ("", found),
    };
    let text = match (text.trim().is_empty(), uninstall) {
        (true, true) => return Ok(Some(found.to_owned())), // nothing of ours is in it, and no JSON either
        (true, false) => target.blank,
        (false, _) => text,
    };
    let text = if uninstall {
        // In reverse, so that each edit is undone in the file that it made.
        target.edits.iter().rev().try_fold(text.to_owned(), |text, edit| edit.take_out(&text))
    } else {
        target.edits.iter().try_fold(text.to_owned(), |text, edit| edit.add(&text))
    };
    let text = format!("{mark}{}", text.map_err(wrong)?);
    Ok((!uninstall || text == found || text != target.blank).then_some(text))
}

fn change(target: &Target, found: &Found, text: Option<&str>) -> FileChange {
    let action = match (&found.text, text) {
        (None, Some(_)) => Action::Created,
        (Some(_), None) => Action::Removed,
        (Some(old), Some(new)) if old != new => Action::Updated,
        _ => Action::Unchanged,
    };
    let old = found.text.as_deref().unwrap_or_default();
    let header =
        |there: bool, side: &str| if there { format!("{side}/{}", target.path) } else { "/dev/null".to_owned() };
    let diff = similar::TextDiff::from_lines(old, text.unwrap_or_default())
        .unified_diff()
        .header(&header(found.text.is_some(), "a"), &header(text.is_some(), "b"))
        .to_string();
    FileChange { path: target.path, action, diff }
}
