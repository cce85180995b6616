//! `why`: which decisions stand behind lines of a file, by git's own blame.

use std::collections::HashMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::correcting::correcting;
use super::decision::Decision;
use super::explain::{Explained, Explainer};
use super::points::Label;
use super::trail::StepKind;
use super::trust::Allowed;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::{Following, Git, path_text};
use crate::hint::{Hint, Step, hint};
use crate::judge::{FileSeen, RulesView, not_fetched};
use crate::proof::digest::CommitId;
use crate::proof::finding::Verdict;
use crate::proof::policy::Binding;
use crate::proof::record::Id;
use crate::store::Store;

/// What `why` and `blame` are asked for.
#[derive(Debug, Clone, Default)]
pub struct WhyRequest {
    /// The file, from the top of the repository.
    pub path: Vec<u8>,
    /// The first and the last line; the whole file if not given.
    pub lines: Option<Lines>,
    /// The commit in which the file is looked at; the worktree if not given.
    pub revision: Option<String>,
    /// How lines are followed.
    pub following: Following,
    /// Whether an agent asks: then only what may be told to one is answered.
    pub for_agent: bool,
}

/// The decisions behind lines of a file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WhyOutcome {
    /// The file, from the top of the repository.
    pub path: String,
    /// The first and the last line that was asked about; null for the whole file.
    #[schemars(skip)]
    pub lines: Option<Lines>,
    /// The worst of the commits.
    pub verdict: Verdict,
    /// Newest first; for a whole file, the one behind most lines first.
    pub decisions: Vec<Decision>,
    /// The commits that the lines come from, that of most lines first.
    #[schemars(skip)]
    pub commits: Vec<WhyCommit>,
    /// The sessions behind them.
    #[schemars(skip)]
    pub sessions: Vec<WhySession>,
    /// Lines that are not committed yet.
    #[schemars(skip)]
    pub uncommitted: u64,
    /// Warnings about decisions that correct a record which no session behind this file has.
    #[schemars(skip)]
    pub warnings: Vec<String>,
    /// How to get what is missing, where no decision was found because it is not in this clone.
    #[schemars(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
    /// Whose rules the commits were judged by.
    #[schemars(skip)]
    pub rules: Option<RulesView>,
    /// Each line, for `blame`.
    #[serde(skip)]
    pub blamed: Vec<WhyLine>,
}

/// A commit that lines come from.
#[derive(Debug, Clone, Serialize)]
pub struct WhyCommit {
    pub commit: CommitId,
    /// The first line of its message.
    pub subject: String,
    /// How it stands.
    pub verdict: Verdict,
    /// How its proof belongs to it.
    pub binding: Option<Binding>,
    /// How many of the lines come from it.
    pub lines: u64,
    /// The name of the file in that commit, if it was another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The sessions that explain it.
    pub sessions: Vec<Id>,
    /// Whether a recorded edit wrote the file as it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileSeen>,
}

/// A session behind the lines.
#[derive(Debug, Clone, Serialize)]
pub struct WhySession {
    pub session_id: Id,
    pub intent: String,
    pub caller: String,
    pub reflection: Option<String>,
    /// The uncertainties that the reflection names.
    pub uncertain: Vec<String>,
}

/// A line of the file.
#[derive(Debug, Clone)]
pub struct WhyLine {
    pub number: u64,
    pub text: Vec<u8>,
    /// The commit that it comes from.
    pub commit: Option<CommitId>,
}

/// The first and the last of some lines, counted from 1.
pub type Lines = (u64, u64);

/// Splits an argument like `src/a.rs:12,20` into a path and lines. If a file has the whole argument as its name, that
/// file is meant.
pub fn place(git: &Git, argument: &str) -> Result<(Vec<u8>, Option<Lines>)> {
    let whole = git.path_here(Path::new(argument));
    if whole.as_ref().is_ok_and(|path| git.has_file(path)) {
        return whole.map(|path| (path, None));
    }
    let Some((file, lines)) = argument.rsplit_once(':').filter(|(file, lines)| {
        !file.is_empty() && !lines.is_empty() && lines.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
    }) else {
        return whole.map(|path| (path, None));
    };
    let wrong = || {
        Error::new(Code::InvalidParams, format!("{lines:?} is not a line, or two: FROM,TO"))
            .hint(hint!("lines count from 1: ", Step::Why("src/main.rs:12,20".into())))
    };
    let number = |text: &str| text.parse::<u64>().ok().filter(|number| *number > 0).ok_or_else(wrong);
    let (from, to) = match lines.split_once(',') {
        Some((from, to)) => (number(from)?, number(to)?),
        None => (number(lines)?, number(lines)?),
    };
    if from > to {
        return Err(wrong());
    }
    Ok((git.path_here(Path::new(file))?, Some((from, to))))
}

/// Tells which decisions stand behind lines of a file.
pub fn why(context: &Context, request: &WhyRequest) -> Result<WhyOutcome> {
    let git = Git::discover(context)?;
    let revision = request.revision.as_deref().map(|revision| git.resolve(revision)).transpose()?;
    let blamed = git.blame(&request.path, request.lines, revision.as_ref(), request.following)?;
    let mut counts: HashMap<CommitId, u64> = HashMap::new();
    let mut paths: HashMap<CommitId, &[u8]> = HashMap::new();
    for line in &blamed {
        if let Some(commit) = line.commit {
            *counts.entry(commit).or_default() += 1;
            paths.entry(commit).or_insert(&line.path);
        }
    }
    let tip = match revision {
        Some(revision) => Some(revision),
        None => git.tip("HEAD")?,
    };
    let store = Store::open(&git.place().store_path(), context.patience()).ok();
    let mut commits = match &tip {
        Some(tip) => correcting(&git, store.as_ref(), tip, &request.path, &counts)?,
        None => Vec::new(),
    };
    let mut blamed_only: Vec<CommitId> = counts.keys().filter(|commit| !commits.contains(commit)).copied().collect();
    blamed_only.sort_unstable();
    commits.extend(blamed_only);
    let filter = if request.for_agent { Allowed::of(&git)? } else { None };
    if let Some(allowed) = &filter {
        let outside = git.outside(&commits, &allowed.tip)?;
        commits.retain(|commit| !outside.contains(commit));
    }
    let explainer = Explainer { context, git: &git, store: store.as_ref(), filter };
    let lines = blamed.iter().map(|line| WhyLine { number: line.number, text: line.text.clone(), commit: line.commit });
    let mut outcome = WhyOutcome {
        path: path_text(&request.path),
        lines: request.lines,
        verdict: Verdict::Exempt,
        decisions: Vec::new(),
        commits: Vec::new(),
        sessions: Vec::new(),
        uncommitted: blamed.iter().filter(|line| line.commit.is_none()).count() as u64,
        warnings: Vec::new(),
        hint: None,
        rules: None,
        blamed: lines.collect(),
    };
    if !commits.is_empty() && (!request.for_agent || explainer.filter.is_some()) {
        let explained = explainer.explain(&commits)?;
        fill(&mut outcome, &explainer, &explained, &counts, &paths);
    }
    // An agent has no tool that fetches proofs.
    if !request.for_agent
        && outcome.decisions.is_empty()
        && !outcome.commits.is_empty()
        && let Some(name) = not_fetched(&git, store.as_ref())?
    {
        let brings = format!(" brings {name}, or finds out that the remote has none");
        outcome.hint = Some(hint!(Step::SyncFetchOnly, brings));
    }
    Ok(outcome)
}

fn fill(
    outcome: &mut WhyOutcome,
    explainer: &Explainer<'_>,
    explained: &Explained,
    counts: &HashMap<CommitId, u64>,
    paths: &HashMap<CommitId, &[u8]>,
) {
    outcome.rules = Some(explained.outcome.rules.clone());
    outcome.decisions = explainer.decisions(explained, counts);
    let newest = |decision: &Decision| std::cmp::Reverse((decision.decided_at, decision.index));
    outcome.decisions.sort_by_key(newest);
    if outcome.lines.is_none() {
        outcome.decisions.sort_by_key(|decision| std::cmp::Reverse(decision.lines));
    }
    for commit in &explained.outcome.commits {
        let Some(lines) = counts.get(&commit.commit) else { continue };
        if commit.verdict == Verdict::Unchecked && outcome.decisions.is_empty() && outcome.hint.is_none() {
            outcome.hint = commit.findings.iter().find_map(|finding| finding.hint.clone());
        }
        let mut sessions = Vec::new();
        for trail in explained.trails_of(commit) {
            sessions.push(trail.session_id.clone());
            if outcome.sessions.iter().any(|known| known.session_id == trail.session_id) {
                continue;
            }
            let last = trail.steps.iter().rfind(|step| step.kind == StepKind::Reflection);
            let open = last.iter().flat_map(|step| &step.said.points);
            let open = open.filter(|point| point.label == Label::Uncertain).map(|point| point.text.clone());
            outcome.sessions.push(WhySession {
                session_id: trail.session_id.clone(),
                intent: trail.intent.clone(),
                caller: trail.caller.clone(),
                reflection: last.and_then(|step| step.content.clone()),
                uncertain: open.collect(),
            });
        }
        let there = paths.get(&commit.commit).map(|path| path_text(path));
        let file = commit.files.iter().find(|file| Some(&file.path) == there.as_ref()).cloned();
        outcome.commits.push(WhyCommit {
            commit: commit.commit,
            subject: commit.subject.clone(),
            verdict: commit.verdict,
            binding: commit.binding,
            lines: *lines,
            path: there.filter(|there| *there != outcome.path),
            sessions,
            file,
        });
    }
    outcome.commits.sort_by_key(|commit| std::cmp::Reverse(commit.lines));
    outcome.verdict = outcome.commits.iter().map(|commit| commit.verdict).max().unwrap_or(Verdict::Exempt);
    for decision in &outcome.decisions {
        if let Some(superseded) = decision.supersedes.filter(|superseded| !explained.knows(superseded)) {
            outcome.warnings.push(format!(
                "record {} supersedes {superseded:.12}, which no session behind this file has",
                decision.id
            ));
        }
    }
}
