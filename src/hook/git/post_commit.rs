//! `post-commit`: the open session attests the commit; a finalized one that attested the change is anchored on it.

use super::{Answer, restored, workspace};
use crate::context::Context;
use crate::error::Result;
use crate::ops;

pub(super) fn run(context: &Context) -> Result<Answer> {
    let Some(mut workspace) = workspace(context)? else { return Ok(Answer::default()) };
    if is_replay(context, &workspace.repository.git_dir) {
        return Ok(Answer::default());
    }
    let done = ops::after_commit(&mut workspace)?;
    let mut answer = Answer::default();
    if let Some(anchored) = &done.anchored
        && anchored.anchors.iter().any(|anchor| anchor.created)
    {
        answer.say.push(format!("git proof: anchored session {}", anchored.session_id));
    }
    answer.say.extend(restored(done.restored));
    Ok(answer)
}

/// Whether a rebase makes the commit. It was made before, by someone or by this session; what it proves is carried along
/// by post-rewrite. Git gives a person's commit its author's date, and one of its own making none.
fn is_replay(context: &Context, git_dir: &std::path::Path) -> bool {
    let rebasing = git_dir.join("rebase-merge").exists() || git_dir.join("rebase-apply").exists();
    let action = context.variable("GIT_REFLOG_ACTION").and_then(|action| action.into_string().ok());
    rebasing
        && (context.variable("GIT_AUTHOR_DATE").is_none() || action.is_some_and(|action| action.starts_with("rebase")))
}
