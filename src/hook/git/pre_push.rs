//! `pre-push`: judges what is about to be pushed, indexes it, and shares the proof refs first. Its own push runs no hook.

use std::ffi::OsString;

use super::{Answer, GitHook, restored};
use crate::agents;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::flow::{self, Extent, Repairs, SyncOutcome};
use crate::git::{Git, NOTES, Remote, Repository, SYNCING};
use crate::hint::{Step, hint};
use crate::judge::{self, GateRequest};
use crate::proof::digest::CommitId;
use crate::proof::finding::{FindingCode, Severity};
use crate::publish::{self, Indexed, Pushed};
use crate::record::Workspace;

pub(super) fn run(context: &Context, arguments: &[OsString], input: &[u8]) -> Answer {
    if context.variable(SYNCING).is_some() {
        return Answer::default();
    }
    match judged(context, arguments, input) {
        Ok(answer) => answer,
        // An advisory policy stops nothing, not even what could not be judged.
        Err(error) if is_advisory(context, arguments) => {
            Answer { say: vec![GitHook::PrePush.complaint(&error)], stop: false }
        }
        Err(error) => {
            let say = vec![
                GitHook::PrePush.complaint(&error),
                "git proof: the push was stopped because it could not be judged; git push --no-verify goes around it"
                    .to_owned(),
            ];
            Answer { say, stop: true }
        }
    }
}

fn is_advisory(context: &Context, arguments: &[OsString]) -> bool {
    let name = arguments.first().and_then(|name| name.to_str());
    name.is_some_and(|name| judge::push_is_advisory(context, name).unwrap_or(false))
}

fn judged(context: &Context, arguments: &[OsString], input: &[u8]) -> Result<Answer> {
    let place = Repository::discover(context)?;
    let git = Git::open(&place, context)?;
    if !place.store_path().exists() && git.tip(NOTES)?.is_none() {
        return Ok(Answer::default());
    }
    let name = arguments
        .first()
        .and_then(|name| name.to_str())
        .ok_or_else(|| Error::new(Code::InvalidParams, "git gives the name of the remote, and it was not given"))?;
    let remote = git.remote(Some(name))?;
    let proofs = git.proof_remote(&remote).name;
    let pushed = branches(input, &git);
    let mut answer = Answer::default();
    if !pushed.is_empty() && place.store_path().exists() {
        let repaired = Workspace::open(context.clone()).and_then(|mut here| {
            let heads: Vec<CommitId> = pushed.iter().map(|branch| branch.head).collect();
            answer.say.extend(closed(&mut here, &git, &heads));
            flow::reconcile(&mut here, Some(&remote), Extent::Unpublished)
        });
        // If the repair fails, the gate reports what is missing.
        answer.say.extend(repaired.unwrap_or_else(|error| Repairs::not_done(&error)).sentences());
    }
    if !pushed.is_empty() && (git.tip(NOTES)?.is_none() || git.was_never_synced()) {
        // Perhaps others have some. If that cannot be found out, the push itself will not get far.
        let _ = fetch(context, &proofs);
    }
    for branch in &pushed {
        let outcome = judge::gate_push(context, &GateRequest::of_push(&remote.name, branch))?;
        let mut serious = 0;
        let mut to_cover = Vec::new();
        for commit in outcome.commits.iter().rev() {
            let id = commit.commit.to_string()[..12].to_owned();
            for finding in commit.findings.iter().filter(|finding| finding.severity > Severity::Warning) {
                serious += 1;
                answer.say.push(format!("git proof: {id}: {} {}", finding.code, finding.message));
                match &finding.hint {
                    Some(_) if finding.code == FindingCode::AnchorMissing && finding.is_helped_by_cover() => {
                        to_cover.push(id.clone());
                    }
                    Some(hint) => answer.say.push(format!("git proof: hint: {hint}")),
                    None => {}
                }
            }
        }
        // One command for all of them.
        if !to_cover.is_empty() {
            let hint = hint!(Step::Cover(to_cover.join(" ")); "if somebody else has recorded why: ", Step::Sync);
            answer.say.push(format!("git proof: hint: {hint}"));
        }
        if serious > 0 && outcome.enforced && !outcome.verdict.is_accepted() {
            answer.say.push("git proof: the push was stopped; git proof verify tells more".to_owned());
            answer.stop = true;
            return Ok(answer);
        }
        if serious > 0 && !outcome.verdict.is_accepted() {
            let why = if outcome.policy == "file" { "the policy is advisory" } else { "there is no policy" };
            answer.say.push(format!("git proof: the push goes on, because {why} on {}", remote.name));
        }
    }
    if !pushed.is_empty() {
        match share(context, &git, (&remote, &proofs), &pushed) {
            Ok((indexed, shared)) => {
                let uncheckable = indexed.uncheckable.iter();
                answer.say.extend(uncheckable.map(|id| format!("git proof: {}", flow::uncheckable(id))));
                answer.say.extend(restored(shared.restored));
                answer.say.extend(
                    shared.findings.iter().map(|finding| format!("git proof: {} {}", finding.code, finding.message)),
                );
                if !shared.remade.is_empty() {
                    answer.say.push(
                        "git proof: someone else had sealed a round first; ours was made again on top of it".to_owned(),
                    );
                }
            }
            // The proofs are safe in this clone, and the next sync shares them.
            Err(error) => answer.say.push(format!("git proof: the proofs were not shared: {error}; git proof sync")),
        }
    }
    Ok(answer)
}

/// Closes the sessions of agents whose commits are pushed, and of those that no longer run. What keeps one open is said, and
/// the gate says what it means for the push.
fn closed(workspace: &mut Workspace, git: &Git, heads: &[CommitId]) -> Vec<String> {
    let gone = agents::close_abandoned(workspace);
    let pushed = agents::close_pushed(workspace, git, heads);
    let failed = |error: Error| format!("git proof: a session of an agent could not be closed: {error}");
    [gone, pushed].into_iter().filter_map(|done| done.err().map(failed)).collect()
}

fn fetch(context: &Context, remote: &str) -> Result<()> {
    flow::fetch(&mut Workspace::open_or_create(context.clone())?, Some(remote), &mut |_| ()).map(|_| ())
}

fn share(
    context: &Context,
    git: &Git,
    (remote, proofs): (&Remote, &str),
    pushed: &[Pushed],
) -> Result<(Indexed, SyncOutcome)> {
    let mut workspace = Workspace::open_or_create(context.clone())?;
    let indexed = publish::index_pushed(&workspace, git, remote, pushed)?;
    Ok((indexed, flow::sync(&mut workspace, Some(proofs), &mut |_| ())?))
}

/// `<local ref> <local id> <remote ref> <remote id>` a line; a branch that is deleted has zeros for its local id.
fn branches(input: &[u8], git: &Git) -> Vec<Pushed> {
    let zero = |text: &str| text.bytes().all(|byte| byte == b'0');
    let text = String::from_utf8_lossy(input);
    let read = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, local, name, remote] = words.as_slice() else { return None };
        if zero(local) || name.starts_with("refs/proof/") || name.starts_with("refs/notes/") {
            return None;
        }
        let head = CommitId::parse(local)?;
        // A tag may name anything.
        git.commit(&head).ok()?;
        let was = if zero(remote) { None } else { CommitId::parse(remote) };
        Some(Pushed { name: (*name).to_owned(), head, was })
    };
    text.lines().filter_map(read).collect()
}
