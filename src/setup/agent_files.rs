//! The files of agents in the worktree: what each is to hold, and what is there of ours already.

use std::path::Path;

use super::agents::{self, Target};
use super::files::{self, Found};
use super::outcome::FileChange;
use crate::error::Result;
use crate::record::Agent;

/// A file of an agent, and what it is to hold.
pub(super) struct AgentPlan {
    target: Target,
    pub(super) found: Found,
    /// `None` if it is not to be there.
    pub(super) text: Option<String>,
}

/// How an agent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentState {
    /// None of its files is here.
    Absent,
    /// It is used here, without us.
    Without,
    /// Some of our entries are there.
    Partly,
    /// All of them are.
    Complete,
}

/// Reads and understands every file before any is written.
pub(super) fn plan(root: &Path, agents: &[Agent], agents_md: bool, uninstall: bool) -> Result<Vec<AgentPlan>> {
    let named = Agent::ALL.into_iter().filter(|agent| agents.contains(agent));
    let targets = named.flat_map(Agent::targets).chain(agents_md.then(agents::agents_md));
    let plan = |target: Target| {
        let found = files::find(root, target.path)?;
        let text = edited(&target, found.text.as_deref(), uninstall)?;
        Ok(AgentPlan { target, found, text })
    };
    targets.map(plan).collect()
}

impl Agent {
    /// Its files, from the top of the worktree.
    pub fn files(self) -> Vec<&'static str> {
        self.targets().iter().map(|target| target.path).collect()
    }

    /// The new text of one of its files after our entries were added or removed; `None` if the file is to be deleted.
    pub fn edit(self, path: &str, text: Option<&str>, uninstall: bool) -> Result<Option<String>> {
        match self.targets().iter().find(|target| target.path == path) {
            Some(target) => edited(target, text, uninstall),
            None => Ok(text.map(str::to_owned)),
        }
    }
}

/// How an agent stands in a worktree; an error if one of its files cannot be read.
pub(crate) fn state(root: &Path, agent: Agent) -> Result<AgentState> {
    let installed = plan(root, &[agent], false, false)?;
    let without = plan(root, &[agent], false, true)?;
    let ours = without.iter().any(AgentPlan::is_changed);
    Ok(match (installed.iter().any(|plan| plan.found.text.is_some()), installed.iter().any(AgentPlan::is_changed)) {
        (false, _) => AgentState::Absent,
        (true, false) => AgentState::Complete,
        (true, true) if ours => AgentState::Partly,
        (true, true) => AgentState::Without,
    })
}

impl AgentPlan {
    pub(super) fn is_changed(&self) -> bool {
        self.found.text != self.text
    }

    pub(super) fn change(&self) -> FileChange {
        let [old, new] = [&self.found.text, &self.text].map(|text| text.as_deref().map(str::as_bytes));
        FileChange::new(self.target.path, old, new)
    }
}

/// The new text of a file; `None` if it is to be deleted.
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
