//! Hooks of git. Those that record fail open: what goes wrong is said, and git goes on. Those that judge fail closed.

mod commit_msg;
mod post_commit;
mod post_rewrite;
mod pre_push;
mod pre_receive;

use std::ffi::OsString;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::git::{Git, Repository};
use crate::proof::digest::CommitId;
use crate::proof::record::Id;
use crate::proof::schema::names;
use crate::record::Workspace;

names! {
    pub enum GitHook {
        /// Before a commit: its message is at hand.
        CommitMsg = "commit-msg",
        /// After a commit.
        PostCommit = "post-commit",
        /// After an amend or a rebase.
        PostRewrite = "post-rewrite",
        /// Before a push.
        PrePush = "pre-push",
        /// On a server, before a push is let in.
        PreReceive = "pre-receive",
    }
}

/// How a hook ended.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// What to say to whoever is watching.
    pub say: Vec<String>,
    /// Whether git must stop.
    pub stop: bool,
}

impl Answer {
    fn say(line: impl Into<String>) -> Self {
        Self { say: vec![line.into()], stop: false }
    }
}

impl GitHook {
    /// Whether git writes something to its standard input.
    pub const fn reads_input(self) -> bool {
        matches!(self, Self::PostRewrite | Self::PrePush | Self::PreReceive)
    }

    /// Whether it judges: then what goes wrong stops git.
    pub const fn judges(self) -> bool {
        matches!(self, Self::PrePush | Self::PreReceive)
    }

    /// Runs the hook with what git gave it.
    pub fn run(self, context: &Context, arguments: &[OsString], input: &[u8]) -> Answer {
        let answer = match self {
            Self::CommitMsg => commit_msg::run(context, arguments),
            Self::PostCommit => post_commit::run(context),
            Self::PostRewrite => post_rewrite::run(context, input),
            Self::PrePush => return pre_push::run(context, arguments, input),
            Self::PreReceive => return pre_receive::run(context, input),
        };
        answer.unwrap_or_else(|error| Answer::say(self.complaint(&error)))
    }

    fn complaint(self, error: &Error) -> String {
        let hint = error.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("git proof {}: {error}{hint}", self.as_str())
    }
}

/// The workspace of the repository; `None` where nothing was ever recorded, so that there is nothing to do.
fn workspace(context: &Context) -> Result<Option<Workspace>> {
    let place = Repository::discover(context)?;
    if !place.store_path().exists() {
        return Ok(None);
    }
    Workspace::at(place, context.clone()).map(Some)
}

/// Whether a rebase makes the commit. It was made before, by someone or by this session; what it proves is carried along
/// by post-rewrite. A person's commit is made by `git commit`, which tells its hooks the author's date and is not told
/// that it is part of a rebase. `made`: the commit is HEAD, and its date must be the one that was told.
fn is_replay(context: &Context, git: &Git, made: bool) -> Result<bool> {
    let git_dir = &git.place().git_dir;
    if !git_dir.join("rebase-merge").exists() && !git_dir.join("rebase-apply").exists() {
        return Ok(false);
    }
    let text = |name: &str| context.variable(name).and_then(|text| text.into_string().ok());
    if text("GIT_REFLOG_ACTION").is_some_and(|action| action.starts_with("rebase")) {
        return Ok(true);
    }
    let Some(date) = text("GIT_AUTHOR_DATE") else { return Ok(true) };
    let Some(head) = git.tip("HEAD")?.filter(|_| made) else { return Ok(false) };
    Ok(date.trim_start_matches('@').as_bytes() != git.commit(&head)?.author_time)
}

/// Says that lines were put back.
fn restored(lines: u64) -> Option<String> {
    (lines > 0).then(|| format!("git proof: another writer had overwritten notes of ours; lines put back: {lines}"))
}

/// Says that commits were found of which their sessions had not heard.
fn mended(commits: &[(Id, CommitId)]) -> Vec<String> {
    let say = |(session, commit): &(Id, CommitId)| {
        format!("git proof: session {session} had not heard of {}, and now has", &commit.to_string()[..12])
    };
    commits.iter().map(say).collect()
}
