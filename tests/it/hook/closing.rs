//! Closing by itself: at the end, at a push, after a crash; and what comes after.

use serde_json::json;

use super::stage::Stage;
use crate::store::scratch::text;

#[test]
fn push_in_the_middle_of_a_turn_closes_and_the_next_commit_opens_a_successor() {
    let stage = Stage::new();
    let agent = stage.agent("claude-code", "x");
    agent.start();
    let call = agent.begin("commit and push and commit");
    agent.run("echo 1 > b.txt && git add b.txt && git commit -qm One && git push -q origin HEAD:refs/heads/main");
    let first = stage.head();
    agent.run("echo 2 > b.txt && git commit -qam Two");
    let second = stage.head();
    agent.end(&call);
    agent.stop("Both are done.");
    agent.leave();
    stage.push();
    let (one, two) = (stage.named_by(&first).unwrap(), stage.named_by(&second).unwrap());
    assert_ne!(one, two);
    for commit in [&first, &second] {
        let judged = stage.judged(commit);
        assert_eq!(judged["verdict"], "pass", "{judged:#}");
        assert_eq!(judged["sessions"].as_array().unwrap().len(), 1, "nothing is attested twice");
    }
    let link = stage.scratch.json(&["log", "--session", &two])["entries"][0]["metadata"]["continues"].clone();
    let last = stage.scratch.json(&["log", "--session", &one])["entries"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(link, last["chain_hash"]);
}

#[test]
fn session_that_is_resumed_goes_on_in_a_successor() {
    let stage = Stage::new();
    let agent = stage.agent("claude-code", "x");
    agent.start();
    let first = agent.commit("b.txt", "One");
    agent.leave();
    agent.leave();
    agent.start();
    let second = agent.commit("b.txt", "Two");
    agent.leave();
    stage.push();
    assert_ne!(stage.named_by(&first), stage.named_by(&second));
    assert_eq!(stage.judged(&second)["verdict"], "pass");
    assert_eq!(stage.sessions().len(), 2, "closing twice does nothing");
}

#[test]
fn session_without_a_commit_is_ended_and_published_nowhere() {
    let stage = Stage::new();
    let agent = stage.agent("claude-code", "x");
    agent.edit("b.txt", "b\n");
    agent.leave();
    assert!(stage.open().is_empty());
    assert_eq!(stage.sessions()[0]["finalized"], json!(false));
    assert!(!stage.scratch.git(["for-each-ref"]).contains("refs/proof/evidence"));
}

#[test]
fn agent_that_was_killed_is_closed_by_the_push() {
    let stage = Stage::new();
    let agent = stage.agent("claude-code", "x");
    agent.start();
    agent.begin("never ends");
    agent.run("echo 1 > b.txt && git add b.txt && git commit -qm One");
    let commit = stage.head();
    stage.push();
    assert_eq!(stage.judged(&commit)["verdict"], "pass");
    assert!(stage.open().is_empty());
}

#[test]
fn agent_that_no_longer_runs_is_found_by_the_next_command() {
    let stage = Stage::new();
    let agent = stage.agent("claude-code", "x");
    agent.start();
    agent.edit("b.txt", "b\n");
    stage.scratch.database().execute("UPDATE agents SET process = '4194304:1'", []).unwrap();
    if !std::path::Path::new("/proc/self/stat").exists() {
        return;
    }
    let status = stage.scratch.json(&["status"]);
    assert_eq!(status["open_sessions"], json!([]));
    assert_eq!(stage.scratch.rows("agent_calls"), 0);
}

#[test]
fn amend_rebase_and_reset_leave_every_commit_proven() {
    let stage = Stage::new();
    let agent = stage.agent("claude-code", "x");
    agent.start();
    agent.commit("b.txt", "Wip");
    agent.shell("git commit -q --amend -m 'Importer: two lines'");
    agent.commit("c.txt", "Other");
    agent.shell("git rebase -q --force-rebase HEAD~2");
    agent.shell("git reset -q --soft HEAD~1 && git commit -qm 'Other, again'");
    agent.stop("Finished.");
    agent.leave();
    stage.push();
    for commit in stage.scratch.git(["rev-list", "-2", "HEAD"]).lines() {
        let judged = stage.judged(commit);
        assert_eq!(judged["verdict"], "pass", "{judged:#}");
    }
    assert_eq!(stage.sessions().len(), 1);
}

#[test]
fn status_says_whose_session_it_is_and_what_comes_next() {
    let stage = Stage::new();
    let status = stage.scratch.json(&["status"]);
    assert_eq!((status["session"].clone(), status["unpublished"].clone()), (json!(null), json!([])));
    assert!(status["hooks"].as_array().unwrap().iter().all(|hook| hook["wired"] == json!(true)), "{status:#}");
    assert!(text(&status, "next").starts_with("git proof start"));
    stage.scratch.start("s", &[]);
    let status = stage.scratch.json(&["status"]);
    assert_eq!(status["session"]["session_id"], "s");
    assert_eq!(status["session"]["missing"], json!(["a commit", "a closing reflection", "finalizing"]));
    let agent = stage.agent("claude-code", "x");
    agent.edit("b.txt", "b\n");
    let status = stage.scratch.json(&["status"]);
    assert_eq!(status["open_sessions"].as_array().unwrap().len(), 2);
    assert_eq!(status["session"]["session_id"], "s", "the agent's session is nobody else's");
}
