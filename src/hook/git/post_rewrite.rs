//! `post-rewrite`: the anchors follow the commits that an amend or a rebase has made anew.

use super::{Answer, restored, workspace};
use crate::agents;
use crate::context::Context;
use crate::error::Result;
use crate::hint::Step;
use crate::proof::digest::CommitId;
use crate::publish;

pub(super) fn run(context: &Context, input: &[u8]) -> Result<Answer> {
    let Some(mut workspace) = workspace(context)? else { return Ok(Answer::default()) };
    let git = workspace.git()?;
    let rewritten = pairs(input);
    for (_, new) in &rewritten {
        agents::saw_commit(&mut workspace, new)?;
    }
    let outcome = publish::carry_rewritten(&mut workspace, &git, &rewritten)?;
    let mut answer = Answer::default();
    let left: Vec<String> = outcome
        .carried
        .iter()
        .filter(|carried| carried.lines == 0 && !carried.squashed)
        .map(|carried| carried.to.to_string()[..12].to_owned())
        .collect();
    if !left.is_empty() {
        answer.say.push(format!(
            "git proof: the change was rewritten, so its proof stays with the old commit. To explain the new one: {}",
            Step::Cover(left.join(" "))
        ));
    }
    answer.say.extend(restored(outcome.restored));
    Ok(answer)
}

/// `<old> <new>` a line, and perhaps more behind it.
fn pairs(input: &[u8]) -> Vec<(CommitId, CommitId)> {
    let text = String::from_utf8_lossy(input);
    text.lines()
        .filter_map(|line| {
            let mut words = line.split_ascii_whitespace();
            Some((CommitId::parse(words.next()?)?, CommitId::parse(words.next()?)?))
        })
        .collect()
}
