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
fn person_in_a_terminal_that_an_agent_left_behind_is_not_drawn_in() {
    let stage = Stage::new();
    let agent = stage.agent("claude-code", "x");
    agent.start();
    let of_agent = agent.commit("b.txt", "Of the agent");
    agent.stop("done");
    agent.leave();
    if !std::path::Path::new("/proc/self/stat").exists() {
        return;
    }
    stage.scratch.database().execute("UPDATE agents SET process = '4194304:1'", []).unwrap();
    // Its environment is still there, as in a terminal multiplexer that it started.
    agent.run("echo 1 > c.txt && git add c.txt && git commit -qm Person");
    let of_person = stage.head();
    stage.push();
    assert!(stage.named_by(&of_agent).is_some());
    assert_eq!(stage.named_by(&of_person), None);
    assert_eq!(stage.judged(&of_person)["sessions"], json!([]));
    assert!(stage.open().is_empty());
    // Once it is resumed, its commits are its own again.
    agent.start();
    let resumed = agent.commit("d.txt", "Resumed");
    assert!(stage.named_by(&resumed).is_some());
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
    for stage in Stage::with_refs_of_each_kind() {
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
            assert_eq!(judged["verdict"], "pass", "{judged:#}");
            assert_eq!(judged["trails"].as_array().unwrap().len(), 1);
        }
    }
}

#[test]
fn commit_that_was_there_when_a_call_began_is_not_of_that_call() {
    for _ in 0..3 {
        for stage in Stage::with_refs_of_each_kind() {
            let agent = stage.agent("gemini", "g");
            agent.start();
            // In the same second, most times, and without a hook that sees it.
            stage.write("mine.txt", "mine\n");
            stage.scratch.git(["add", "mine.txt"]);
            stage.scratch.git(["-c", "core.hooksPath=/dev/null", "commit", "-qm", "Mine"]);
            let mine = stage.head();
            agent.commit("one.txt", "One");
            agent.leave();
            let told: Vec<String> = stage
                .sessions()
                .iter()
                .flat_map(|session| stage.texts(session["session_id"].as_str().unwrap()))
                .collect();
            assert!(!told.iter().any(|text| text.contains(&mine)), "{told:?}");
        }
    }
}

#[test]
fn commit_of_a_person_whose_client_runs_no_hooks_is_not_of_an_agent_that_runs_its_tests_meanwhile() {
    let stage = Stage::new();
    let agent = stage.agent("claude-code", "c");
    agent.start();
    agent.edit("one.txt", "1\n");
    let call = agent.begin("cargo test --workspace");
    stage.write("mine.txt", "mine\n");
    stage.scratch.git(["add", "mine.txt"]);
    stage.scratch.git(["-c", "core.hooksPath=/dev/null", "commit", "-qm", "Mine"]);
    let mine = stage.head();
    agent.end(&call);
    let own = agent.commit("one.txt", "One");
    agent.stop("One.");
    agent.leave();
    stage.push();
    assert_eq!(stage.judged(&mine)["sessions"], json!([]));
    assert_eq!(stage.judged(&own)["verdict"], "pass");
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

/// The environment of an agent that another one started: it has the ids of both.
fn nested(stage: &Stage, script: &str) -> std::process::Command {
    let mut shell = stage.scratch.command("sh");
    shell.args(["-c", script]).env("CLAUDE_CODE_SESSION_ID", "outer");
    shell.env("CODEX_SESSION_ID", "inner").env("CODEX_THREAD_ID", "inner");
    shell
}

#[test]
fn commit_of_an_agent_that_another_started_is_the_inner_ones_by_its_process() {
    let stage = Stage::new();
    let program = env!("CARGO_BIN_EXE_git-proof");
    let event = |name: &str, session: &str, more: &str| {
        let codex = if session == "inner" { ",\"turn_id\":\"t\",\"model\":\"m\"" } else { "" };
        format!("{{\"hook_event_name\":\"{name}\",\"session_id\":\"{session}\"{codex}{more}}}")
    };
    let send = |agent: &str, event: String| format!("printf '%s' '{event}' | '{program}' hook {agent} >/dev/null");
    let call =
        |id: &str| format!(",\"tool_name\":\"Bash\",\"tool_input\":{{\"command\":\"make\"}},\"tool_use_id\":\"{id}\"");
    // The outer agent begins another call while the inner one works: its call is the newest.
    let inner = [
        send("codex", event("SessionStart", "inner", "")),
        send("codex", event("PreToolUse", "inner", &call("1"))),
        send("claude-code", event("PreToolUse", "outer", &call("2"))),
        "echo x > x.txt && git add x.txt && git commit -qm Inner".to_owned(),
    ];
    // awk stands for the programs of the agents; shells are passed over.
    let run = "awk 'BEGIN { exit system(ENVIRON[\"INNER\"]) }'";
    let outer = [send("claude-code", event("SessionStart", "outer", "")), run.to_owned()].join(" && ");
    let ran = stage
        .scratch
        .command("awk")
        .arg("BEGIN { exit system(ENVIRON[\"OUTER\"]) }")
        .env("OUTER", outer)
        .env("INNER", inner.join(" && "))
        .env("CLAUDE_CODE_SESSION_ID", "outer")
        .env("CODEX_SESSION_ID", "inner")
        .env("CODEX_THREAD_ID", "inner")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let session = stage.named_by("HEAD").unwrap();
    let callers: Vec<_> = stage.sessions().into_iter().filter(|row| row["session_id"] == json!(session)).collect();
    assert!(callers[0]["caller"].as_str().unwrap().starts_with("codex"), "{callers:?}");
}

#[test]
fn commit_is_nobodys_where_it_cannot_be_told_which_of_two_agents_started_the_other() {
    let stage = Stage::new();
    let (outer, inner) = (stage.agent("claude-code", "outer"), stage.agent("codex", "inner"));
    outer.start();
    inner.start();
    inner.begin("make one");
    outer.begin("make two");
    let ran = nested(&stage, "echo x > x.txt && git add x.txt && git commit -qm X").output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(stage.named_by("HEAD"), None);
    let refused = nested(&stage, &format!("'{}' start x", env!("CARGO_BIN_EXE_git-proof"))).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("claude-code or codex"), "{refused:?}");
}

#[test]
fn commit_of_an_agent_that_was_never_heard_of_is_not_the_outer_ones() {
    let stage = Stage::new();
    let outer = stage.agent("claude-code", "outer");
    outer.start();
    let call = outer.begin("codex exec");
    let ran = nested(&stage, "echo x > x.txt && git add x.txt && git commit -qm X").output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    outer.end(&call);
    assert_eq!(stage.named_by("HEAD"), None);
}

#[test]
fn commit_without_hooks_is_nobodys_while_another_agent_has_a_command_in_the_background() {
    let stage = Stage::new();
    let (gemini, claude) = (stage.agent("gemini", "g"), stage.agent("claude-code", "c"));
    gemini.start();
    claude.start();
    let mut background = gemini.begin("sleep 9; git commit -qm Later &");
    background["tool_input"]["is_background"] = json!(true);
    gemini.end(&background);
    let call = claude.begin("make");
    gemini.run("echo g > g.txt && git add g.txt && git commit -qm Later");
    let commit = stage.head();
    claude.end(&call);
    claude.leave();
    gemini.leave();
    stage.push();
    assert_eq!(stage.judged(&commit)["sessions"], json!([]));
}

/// Cursor says no id in its shell, only that it is Cursor's. Which of its conversations commits is told by the call that is open.
#[test]
fn commit_in_a_shell_of_cursor_belongs_to_the_conversation_that_has_the_call_open() {
    let stage = Stage::new();
    let send = |conversation: &str, name: &str, more: serde_json::Value| {
        let mut event = json!({ "conversation_id": conversation, "generation_id": "g", "cursor_version": "2.0.77" });
        event["hook_event_name"] = json!(name);
        event["workspace_roots"] = json!([stage.scratch.place]);
        for (key, value) in more.as_object().unwrap() {
            event[key.as_str()] = value.clone();
        }
        assert_eq!(super::send(&stage.scratch, "cursor", &event).exit, Some(0));
    };
    let shell = |command: &str, marked: bool| {
        let mut shell = stage.scratch.command("sh");
        shell.args(["-c", command]).envs(marked.then_some(("CURSOR_AGENT", "1")));
        assert!(shell.status().unwrap().success());
        stage.head()
    };
    let call = |command: &str| json!({ "command": command, "output": "" });
    for conversation in ["one", "two"] {
        send(conversation, "sessionStart", json!({}));
        stage.write(&format!("{conversation}.txt"), "x\n");
        let path = stage.scratch.place.join(format!("{conversation}.txt"));
        send(conversation, "afterFileEdit", json!({ "file_path": path, "edits": [] }));
    }
    // One call is open.
    let command = "git add one.txt && git commit -qm One";
    send("one", "beforeShellExecution", call(command));
    let first = shell(command, true);
    // A person has a terminal of the editor, too; what is committed there meanwhile has no mark.
    stage.write("mine.txt", "mine\n");
    let mine = shell("git add mine.txt && git commit -qm Mine", false);
    send("one", "afterShellExecution", call(command));
    // Two are open, and the command line tells which one this is.
    let command = "git add two.txt && git commit -qm Two";
    send("one", "beforeShellExecution", call("sleep 100"));
    send("two", "beforeShellExecution", call(command));
    let second = shell(command, true);
    // Neither of them runs this one.
    stage.write("other.txt", "x\n");
    let other = shell("git add other.txt && git commit -qm Other", true);
    send("two", "afterShellExecution", call(command));
    for conversation in ["one", "two"] {
        send(conversation, "afterAgentResponse", json!({ "text": format!("I am {conversation}.") }));
        send(conversation, "stop", json!({ "status": "completed", "loop_count": 0 }));
        send(conversation, "sessionEnd", json!({}));
    }
    stage.push();
    for (conversation, commit) in [("one", &first), ("two", &second)] {
        let judged = stage.judged(commit);
        assert_eq!(judged["verdict"], "pass", "{judged:#}");
        let steps = judged["trails"][0]["steps"].to_string();
        assert!(steps.contains(&format!("I am {conversation}.")), "{steps}");
    }
    for commit in [&mine, &other] {
        assert_eq!(stage.named_by(commit), None);
        assert_eq!(stage.judged(commit)["sessions"], json!([]));
    }
}
