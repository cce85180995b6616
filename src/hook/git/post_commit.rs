//! `post-commit`: the open session attests the commit; a finalized one that attested the change is anchored on it.

use super::{Answer, GitHook, is_replay, mended, restored, workspace};
use crate::context::Context;
use crate::error::Result;
use crate::publish::{self, Moment};

pub(super) fn run(context: &Context) -> Result<Answer> {
    let Some(mut workspace) = workspace(context)? else { return Ok(Answer::default()) };
    let git = workspace.git()?;
    if is_replay(context, &git, true)? {
        return Ok(Answer::default());
    }
    let done = publish::after_commit(&mut workspace, &git)?;
    let mut answer = Answer::default();
    if let Some(anchored) = &done.anchored
        && anchored.anchors.iter().any(|anchor| anchor.created)
    {
        answer.say.push(format!("git proof: anchored session {}", anchored.session_id));
    }
    if let Some(guarded) = done.anchored.as_ref().map(|anchored| anchored.guarded).filter(|guarded| *guarded > 0) {
        answer
            .say
            .push(format!("git proof: withheld {guarded} of its entries, which hold what looks like a credential"));
    }
    if let Some(session) = &done.lent {
        answer.say.push(format!("git proof: the message names session {session}, which explains another change"));
        answer.say.push("git proof: git commit --amend, and take its Proof-Root out".to_owned());
    }
    answer.say.extend(restored(done.restored));
    let moment = done.head.as_ref().map_or(Moment::Between, Moment::After);
    let found = publish::mend(&mut workspace, &git, moment);
    workspace.leave();
    match found {
        Ok(commits) => answer.say.extend(mended(&commits)),
        Err(error) => answer.say.push(GitHook::PostCommit.complaint(&error)),
    }
    Ok(answer)
}
