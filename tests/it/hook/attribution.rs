//! Whose commit is it. A wrong attribution is worse than none.

use serde_json::json;

use super::stage::Stage;

#[test]
fn two_agents_in_one_worktree_each_attest_their_own_commits() {
    let stage = Stage::new();
    let (one, two) = (stage.agent("claude-code", "one"), stage.agent("codex", "two"));
    one.start();
    two.start();
    one.edit("one.txt", "1\n");
    two.edit("two.txt", "2\n");
    let first = one.commit("one.txt", "One");
    let second = two.commit("two.txt", "Two");
    one.stop("I made one.");
    two.stop("I made two.");
    one.leave();
    two.leave();
    stage.push();
    for (commit, own, other) in [(&first, "I made one.", "I made two."), (&second, "I made two.", "I made one.")] {
        let judged = stage.judged(commit);
        assert_eq!((judged["verdict"].clone(), judged["trails"].as_array().unwrap().len()), (json!("pass"), 1));
        let told = judged["trails"][0].to_string();
        assert!(told.contains(own) && !told.contains(other), "{told}");
    }
}

#[test]
fn person_who_commits_while_or_after_an_agent_works_is_not_drawn_in() {
    let stage = Stage::new();
    let agent = stage.agent("claude-code", "one");
    agent.start();
    agent.edit("one.txt", "1\n");
    stage.write("mine.txt", "mine\n");
    let call = agent.begin("sleep 9");
    let during = stage.commit("mine.txt", "Mine, while the agent works");
    agent.end(&call);
    agent.commit("one.txt", "One");
    agent.stop("Done.");
    agent.leave();
    stage.write("mine.txt", "mine again\n");
    let after = stage.commit("mine.txt", "Mine, after it");
    stage.push();
    for commit in [&during, &after] {
        assert_eq!(stage.named_by(commit), None);
        let judged = stage.judged(commit);
        assert_eq!(judged["sessions"], json!([]), "{judged:#}");
    }
}

#[test]
fn session_of_a_person_is_not_an_agents_and_the_other_way_round() {
    let stage = Stage::new();
    stage.scratch.start("mine", &[]);
    let agent = stage.agent("claude-code", "one");
    agent.start();
    let commit = agent.commit("one.txt", "One");
    assert_ne!(stage.named_by(&commit).as_deref(), Some("mine"));
    stage.write("mine.txt", "mine\n");
    let own = stage.commit("mine.txt", "Mine");
    assert_eq!(stage.named_by(&own).as_deref(), Some("mine"));
}

#[test]
fn commits_without_hooks_are_found_in_the_reflog() {
    for storage in ["files", "reftable"] {
        let stage = Stage::new();
        if storage == "reftable" {
            let migrated =
                stage.scratch.command("git").args(["refs", "migrate", "--ref-format=reftable"]).output().unwrap();
            if !migrated.status.success() {
                continue; // a git that has no reftables
            }
        }
        let agent = stage.agent("gemini", "g");
        agent.start();
        let first = agent.commit("one.txt", "One");
        agent.shell("git commit -q --amend -m 'One, amended'");
        let amended = stage.head();
        let second = agent.commit("two.txt", "Two");
        agent.stop("Two commits.");
        agent.leave();
        stage.push();
        assert_ne!(first, amended);
        for commit in [&amended, &second] {
            let judged = stage.judged(commit);
            assert_eq!(judged["verdict"], "pass", "{storage}: {judged:#}");
            assert_eq!(judged["trails"].as_array().unwrap().len(), 1, "{storage}");
        }
    }
}

#[test]
fn commit_without_hooks_is_nobodys_while_two_agents_have_calls_open() {
    let stage = Stage::new();
    let (one, two) = (stage.agent("gemini", "one"), stage.agent("gemini", "two"));
    let call = one.begin("sleep 1");
    let commit = two.commit("two.txt", "Two");
    one.end(&call);
    two.stop("Done.");
    two.leave();
    one.leave();
    stage.push();
    assert_eq!(stage.judged(&commit)["sessions"], json!([]));
    assert!(stage.open().is_empty());
}

#[test]
fn merges_pulls_and_resets_are_no_commits_of_an_agent() {
    let stage = Stage::new();
    stage.scratch.git(["checkout", "-q", "-b", "side"]);
    stage.write("side.txt", "side\n");
    let side = stage.commit("side.txt", "Side");
    stage.scratch.git(["checkout", "-q", "-"]);
    let agent = stage.agent("gemini", "g");
    agent.start();
    agent.shell("git merge -q --ff-only side && git reset -q --hard HEAD~1 && git merge -q --ff-only side");
    agent.leave();
    assert_eq!((stage.head(), stage.sessions().len()), (side, 0));
}

#[test]
fn subagents_keep_their_own_commits() {
    let stage = Stage::new();
    let main = stage.agent("claude-code", "root");
    let mut helper = stage.agent("claude-code", "root");
    helper.part = Some("a83344a294680329d".to_owned());
    main.start();
    main.prompt("Do two things");
    let call = helper.begin("git commit");
    helper.run("echo h > h.txt && git add h.txt && git commit -qm Helper");
    let of_helper = stage.head();
    helper.end(&call);
    helper.send("SubagentStop", json!({ "last_assistant_message": "Finished the work of helper." }));
    let of_main = main.commit("m.txt", "Main");
    main.stop("Finished the work of main.");
    main.leave();
    stage.push();
    for (commit, own) in [(&of_helper, "work of helper."), (&of_main, "work of main.")] {
        let judged = stage.judged(commit);
        assert_eq!(judged["trails"].as_array().unwrap().len(), 1);
        assert!(judged["trails"][0].to_string().contains(own), "{judged:#}");
    }
}

#[test]
fn what_a_subagent_wrote_and_left_to_its_parent_is_in_the_parents_session() {
    let stage = Stage::new();
    let main = stage.agent("claude-code", "root");
    let mut helper = stage.agent("claude-code", "root");
    helper.part = Some("a1".to_owned());
    main.start();
    helper.edit("h.txt", "written by the helper\n");
    helper.send("SubagentStop", json!({ "last_assistant_message": "Written." }));
    main.shell("git add h.txt && git commit -qm H");
    let commit = stage.head();
    main.leave();
    stage.push();
    let blob = stage.scratch.git(["rev-parse", "HEAD:h.txt"]);
    assert_eq!(stage.judged(&commit)["trails"][0]["observed"]["wrote"], json!([blob.trim()]));
    assert!(stage.open().is_empty());
}
