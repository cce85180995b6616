//! `pre-receive`: the gate on a server. It fails closed: what cannot be judged is not let in.

use super::{Answer, GitHook};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::judge::{self, RefUpdate};
use crate::present;
use crate::proof::digest::CommitId;
use crate::proof::finding::Severity;

/// Most findings that are printed; whoever pushes can see all with `git proof verify`.
const SHOWN: usize = 20;

pub(super) fn run(context: &Context, input: &[u8]) -> Answer {
    judged(context, input)
        .unwrap_or_else(|error| Answer { say: vec![GitHook::PreReceive.complaint(&error)], stop: true })
}

fn judged(context: &Context, input: &[u8]) -> Result<Answer> {
    let received = judge::receive(context, &updates(input)?)?;
    let mut answer = Answer::default();
    for refusal in &received.refusals {
        answer.stop = true;
        answer.say.push(format!("git proof: {refusal}"));
    }
    for (name, outcome) in &received.judged {
        if outcome.verdict.is_accepted() {
            continue;
        }
        answer.stop |= outcome.enforced;
        let refused = if outcome.enforced { "is not let in" } else { "is let in, because the policy is advisory" };
        let why = present::range_headline(outcome.verdict, &outcome.summary);
        answer.say.push(format!("git proof: {name} {refused}: {why}"));
        let findings = outcome.commits.iter().flat_map(|commit| {
            let id = commit.commit.to_string()[..12].to_owned();
            let said = commit.findings.iter().filter(|finding| finding.severity > Severity::Warning);
            said.map(move |finding| format!("git proof: {id}: {} {}", finding.code, finding.message))
        });
        answer.say.extend(findings.take(SHOWN));
        answer.say.push("git proof: push the proofs first: git proof sync".to_owned());
    }
    Ok(answer)
}

/// `<old id> <new id> <ref>` a line. One that cannot be read is not one that changes nothing.
fn updates(input: &[u8]) -> Result<Vec<RefUpdate>> {
    let text = String::from_utf8_lossy(input);
    text.lines()
        .map(|line| {
            update(line).ok_or_else(|| {
                Error::new(Code::InvalidParams, format!("{line:?} is not a line that git receive-pack writes"))
            })
        })
        .collect()
}

fn update(line: &str) -> Option<RefUpdate> {
    // Zeros, as many as an id has digits, stand for no commit.
    let id = |text: &str| -> Option<Option<CommitId>> {
        let id = CommitId::parse(text)?;
        Some((!text.bytes().all(|byte| byte == b'0')).then_some(id))
    };
    let mut words = line.splitn(3, ' ');
    let (old, new) = (id(words.next()?)?, id(words.next()?)?);
    Some(RefUpdate { name: words.next()?.to_owned(), old, new })
}
