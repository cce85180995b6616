//! What agents and git write to the standard input of their hooks.

use git_proof::agents::{Outcome, run};
use git_proof::hook::GitHook;
use git_proof::record::Agent;
use serde_json::Value;

use super::scratch::Scratch;

/// The first byte says whose hook it is, the rest is its input; `@` in that of git stands for the commit that is there.
pub fn hook(data: &[u8]) {
    let Some((whose, input)) = data.split_first() else { return };
    let scratch = Scratch::recorded();
    match whose {
        b'0'..=b'8' => agent(&scratch, Agent::ALL[usize::from(whose - b'0')], input),
        b'r' => of_git(&scratch, GitHook::PostRewrite, input),
        b'p' => of_git(&scratch, GitHook::PrePush, input),
        b's' => of_git(&scratch, GitHook::PreReceive, input),
        _ => return,
    }
    scratch.assert_sound();
}

/// Whatever an agent says, it is answered with nothing or with what it understands; what is wrong is one line.
fn agent(scratch: &Scratch, agent: Agent, input: &[u8]) {
    match run(scratch.context(), agent, input) {
        Ok(Outcome { told: None, .. }) => {}
        Ok(Outcome { told: Some(answer), .. }) => {
            let places = [
                &answer["followup_message"],
                &answer["reason"],
                &answer["additionalContext"],
                &answer["additional_context"],
                &answer["hookSpecificOutput"]["additionalContext"],
            ];
            let told = places.iter().filter(|told| told.as_str().is_some_and(|told| !told.is_empty()));
            assert_eq!(told.count(), 1, "{answer}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    // What is no JSON, or does not say which event it is, is never taken for one.
    let event = serde_json::from_slice::<Value>(input)
        .ok()
        .filter(|input| input["hook_event_name"].is_string() || input["hookEventName"].is_string());
    if event.is_none() {
        assert!(run(scratch.context(), agent, input).is_err());
    }
}

/// Hooks that record let git go on. The gate of a server stops it unless every line can be read.
fn of_git(scratch: &Scratch, hook: GitHook, input: &[u8]) {
    let commit = scratch.commit();
    let mut text = Vec::new();
    for byte in input {
        match byte {
            b'@' => text.extend_from_slice(commit.as_bytes()),
            b'~' => text.extend_from_slice("0".repeat(commit.len()).as_bytes()),
            other => text.push(*other),
        }
    }
    let answer = hook.run(&scratch.context(), &["origin".into(), "nowhere".into()], &text);
    assert!(hook.judges() || !answer.stop, "{answer:?}");
    assert!(!answer.stop || !answer.say.is_empty(), "git is stopped without a word");
    assert!(answer.say.iter().all(|line| !line.is_empty()));
    let lines = String::from_utf8_lossy(&text);
    let readable = lines.lines().all(|line| line.splitn(3, ' ').count() == 3);
    assert!(hook != GitHook::PreReceive || readable || answer.stop, "{lines:?} is let in");
}
