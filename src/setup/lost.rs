//! Remembers beside the store which hooks `init` has wired. A manager of hooks that is set up later may replace them,
//! and without this nobody would notice until a proof is missing.

use std::fs;
use std::path::PathBuf;

use super::doctor::hook_states;
use super::survey::Survey;
use crate::access::Access;
use crate::context::{Context, read_text};
use crate::git::Repository;

fn file(repository: &Repository) -> PathBuf {
    repository.store_path().with_file_name("hooks")
}

/// Remembers the hooks that are wired now; none where they were taken out. Where that cannot be written, nothing is noticed
/// later, which is no harm.
pub(super) fn remember(context: &Context, survey: &Survey, uninstall: bool) {
    let path = file(&survey.repository);
    let states = if uninstall { Vec::new() } else { hook_states(context).unwrap_or_default() };
    let hooks: Vec<String> = states.into_iter().filter(|state| state.wired).map(|state| state.hook).collect();
    if hooks.is_empty() {
        let _ = fs::remove_file(path);
        return;
    }
    let text: String = hooks.iter().map(|hook| format!("{hook}\n")).collect();
    let _ = Access::beside(&survey.repository.store_path()).write(&path, text.as_bytes());
}

/// The hooks that were wired once and no longer are.
pub fn lost_hooks(context: &Context) -> Vec<String> {
    let Ok(repository) = Repository::discover(context) else { return Vec::new() };
    let Some(wired) = read_text(&file(&repository)) else { return Vec::new() };
    // If the hooks cannot be read, `doctor` reports it.
    let states = hook_states(context).unwrap_or_default();
    let lost = states.into_iter().filter(|state| !state.wired && wired.lines().any(|name| name == state.hook));
    lost.map(|state| state.hook).collect()
}
