//! `decisions_for`: the decisions that are in force for files, for an agent that is about to work on them.

use std::collections::HashMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::decision::Decision;
use super::explain::Explainer;
use super::index::touching;
use super::trust::Allowed;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::{Git, path_text};
use crate::proof::digest::CommitId;
use crate::proof::record::RecordType;
use crate::store::Store;

/// Newest commits that touched a file and are looked at.
const MOST_COMMITS: usize = 64;
/// How many of them first, where a few decisions are enough.
const FIRST_LOOK: usize = 4;
/// Decisions that are answered where nobody says how many.
const DEFAULT: usize = 10;
/// Most files of one call.
const MOST_PATHS: usize = 32;

/// What `decisions_for` is asked for.
#[derive(Debug, Clone, Default)]
pub struct PathRequest {
    /// The files, as seen from the working directory.
    pub paths: Vec<String>,
    /// Words of which one must occur.
    pub query: Option<String>,
    /// At most so many decisions.
    pub limit: Option<usize>,
    /// Whether decisions that are no longer in force are wanted, too.
    pub include_superseded: bool,
}

/// The decisions for files.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PathOutcome {
    /// The files, from the top of the repository.
    pub paths: Vec<String>,
    /// Newest first.
    pub decisions: Vec<Decision>,
    /// How many more there are.
    pub more: usize,
}

/// The decisions for files that may be told to an agent.
pub fn decisions_for(
    context: &Context,
    git: &Git,
    store: Option<&Store>,
    request: &PathRequest,
) -> Result<PathOutcome> {
    if request.paths.is_empty() || request.paths.len() > MOST_PATHS {
        return Err(Error::new(Code::InvalidParams, format!("paths takes 1 to {MOST_PATHS} files"))
            .hint("name the files that you are about to read or change"));
    }
    let mut paths = Vec::new();
    for path in &request.paths {
        paths.push(git.path_here(Path::new(path))?);
    }
    let mut outcome =
        PathOutcome { paths: paths.iter().map(|path| path_text(path)).collect(), decisions: Vec::new(), more: 0 };
    let Some(allowed) = Allowed::of(git)? else { return Ok(outcome) };
    let mut found = find(context, git, store, allowed, &paths, usize::MAX)?;
    if !request.include_superseded {
        found.retain(|decision| decision.in_force);
    }
    if let Some(query) = &request.query {
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        found.retain(|decision| {
            let content = decision.content.to_lowercase();
            words.is_empty() || words.iter().any(|word| content.contains(word))
        });
    }
    let limit = request.limit.unwrap_or(DEFAULT);
    outcome.more = found.len().saturating_sub(limit);
    found.truncate(limit);
    outcome.decisions = found;
    Ok(outcome)
}

/// The decisions behind the newest commits of the base branch that touched these files, newest first. What a session corrects
/// counts only if the session may be told itself and touched the same file. Where so many in force are enough, older
/// commits are not looked at: what corrects a decision comes after it.
pub(crate) fn find(
    context: &Context,
    git: &Git,
    store: Option<&Store>,
    allowed: Allowed,
    paths: &[Vec<u8>],
    enough: usize,
) -> Result<Vec<Decision>> {
    if allowed.is_nothing() {
        return Ok(Vec::new());
    }
    let explainer = Explainer { context, git, store, filter: Some(allowed) };
    let mut decisions: Vec<Decision> = Vec::new();
    for path in paths {
        let mut commits = touching(git, store, &allowed.tip, path, MOST_COMMITS)?;
        commits.retain(|commit| git.has(&commit.0));
        let mut found = Vec::new();
        let mut looked_at = 0;
        while looked_at < commits.len()
            && found.iter().filter(|decision: &&Decision| decision.in_force).count() < enough
        {
            let next = if enough > FIRST_LOOK { MOST_COMMITS } else { FIRST_LOOK.max(looked_at * 4) };
            looked_at = next.min(commits.len());
            found = behind(&explainer, &commits[..looked_at])?;
        }
        found.retain(|decision| !decisions.iter().any(|known| known.content_hash == decision.content_hash));
        decisions.append(&mut found);
    }
    decisions.sort_by_key(|decision| std::cmp::Reverse((decision.decided_at, decision.index)));
    Ok(decisions)
}

/// The decisions behind commits, each once. Reflections are for people, and one that was only observed is no decision of
/// anybody.
fn behind(explainer: &Explainer<'_>, commits: &[CommitId]) -> Result<Vec<Decision>> {
    let explained = explainer.explain(commits)?;
    let all: HashMap<CommitId, u64> = commits.iter().map(|commit| (*commit, 0)).collect();
    let mut decisions: Vec<Decision> = Vec::new();
    for decision in explainer.decisions(&explained, &all) {
        let decided = decision.kind == RecordType::Decision && decision.stated;
        if decided && !decisions.iter().any(|known| known.content_hash == decision.content_hash) {
            decisions.push(decision);
        }
    }
    Ok(decisions)
}
