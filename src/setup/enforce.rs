//! `policy enforce`: turns an advisory policy into one that refuses, after saying what it would have refused of late.

use serde::Serialize;

use super::files::{self, Staged};
use super::policy_file::POLICY;
use super::survey;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::worktree_root;
use crate::hint::{Step, hint};
use crate::judge::{CommitVerdict, Summary, try_policy};
use crate::proof::digest::CommitId;
use crate::proof::finding::Verdict;
use crate::proof::policy::{GateMode, Policy};

/// How many of the newest commits are judged.
pub const TRIED: usize = 50;

/// What a policy would have refused, and whether it refuses now.
#[derive(Debug, Clone, Serialize)]
pub struct EnforceOutcome {
    pub file: &'static str,
    /// Whether the file was changed.
    pub changed: bool,
    /// How many commits stand how by it.
    pub summary: Summary,
    /// The commits that it would have refused, newest first.
    pub refused: Vec<RefusedCommit>,
}

/// A commit that would have been refused.
#[derive(Debug, Clone, Serialize)]
pub struct RefusedCommit {
    pub commit: CommitId,
    /// The first line of its message.
    pub subject: String,
    /// How it stands.
    pub verdict: Verdict,
}

/// Judges the newest commits by the policy in the worktree, and lets it refuse from now on.
pub fn enforce(context: &Context, dry_run: bool) -> Result<EnforceOutcome> {
    let root = worktree_root(context).ok_or_else(survey::no_worktree)?;
    let found = files::find(&root, POLICY)?;
    let Some(text) = found.text else {
        return Err(Error::new(Code::ConfigInvalid, format!("there is no {POLICY}"))
            .hint(hint!(Step::InitPolicy, " writes an advisory one"; "commit it first")));
    };
    let parse = |text: &str| {
        Policy::parse(text.as_bytes()).map_err(|error| {
            Error::new(Code::ConfigInvalid, format!("{POLICY} is not a policy"))
                .because(error)
                .hint(hint!(Step::PolicyCheck, " tells what is wrong"))
        })
    };
    let policy = parse(&text)?;
    let is_advisory = policy.gate.mode == GateMode::Advisory;
    let outcome = try_policy(context, policy, TRIED)?;
    let is_refused = |commit: &&CommitVerdict| !commit.verdict.is_accepted();
    let refused = outcome.commits.iter().filter(is_refused).map(|commit| RefusedCommit {
        commit: commit.commit,
        subject: commit.subject.clone(),
        verdict: commit.verdict,
    });
    let refused = refused.collect();
    if is_advisory && !dry_run {
        let enforcing = with_enforce(&text);
        if parse(&enforcing)?.gate.mode != GateMode::Enforce {
            return Err(Error::new(
                Code::ConfigInvalid,
                format!("{POLICY} does not have its mode on a line of its own"),
            )
            .hint("set mode = \"enforce\" in its section [gate] by hand"));
        }
        Staged::write(context, &found.path, enforcing.as_bytes(), 0o666)?.replace()?;
    }
    Ok(EnforceOutcome { file: POLICY, changed: is_advisory && !dry_run, summary: outcome.summary, refused })
}

/// The text with the first value of a `mode` line replaced; comments and everything else stay.
fn with_enforce(text: &str) -> String {
    let mut done = false;
    let lines = text.split_inclusive('\n').map(|line| {
        let (key, _) = line.split_once('=').unwrap_or_default();
        if done || !matches!(key.trim(), "mode" | "gate.mode") {
            return line.to_owned();
        }
        done = true;
        line.replacen("\"advisory\"", "\"enforce\"", 1).replacen("'advisory'", "\"enforce\"", 1)
    });
    lines.collect()
}
