//! What events become: nothing while nothing changes, and a record worth reading otherwise.

use serde_json::{Value, json};

use super::stage::Stage;
use super::{AGENTS, MARKERS, input, inputs, send};
use crate::store::scratch::{Scratch, text};

/// Agents that have a shell here: two with an id in it, one that switches git's hooks off.
const WORKERS: [&str; 3] = ["claude-code", "codex", "gemini"];

#[test]
fn silent_agent_leaves_a_proof_worth_reading_with_nothing_but_a_push() {
    for kind in WORKERS {
        let stage = Stage::new();
        let agent = stage.agent(kind, "silent");
        let transcript = stage.scratch.around().join("silent.jsonl");
        std::fs::write(&transcript, "{\"model\":\"m-1\",\"version\":\"1.2\",\"message\":{\"model\":\"m-1\"}}\n")
            .unwrap();
        agent.start();
        agent.prompt("Make the importer idempotent");
        agent.edit("importer.txt", "one\n");
        agent.shell("true");
        let call = agent.begin("make check");
        agent.end(&call);
        agent.shell("git add importer.txt && git commit -qm 'Importer: one transaction'");
        let commit = stage.head();
        agent.stop("Finished: one transaction; rejected savepoints.");
        agent.leave();
        stage.push();
        let judged = stage.judged(&commit);
        assert_eq!(judged["verdict"], "pass", "{kind}: {judged:#}");
        let session = &judged["sessions"][0];
        assert_eq!(
            (session["rooted"].clone(), session["reflection"].clone()),
            (json!(true), json!("observed")),
            "{kind}"
        );
        let trail = &judged["trails"][0];
        assert_eq!(
            text(trail, "intent"),
            format!("{kind} on {}", stage.scratch.git(["branch", "--show-current"]).trim())
        );
        let seen = &trail["observed"];
        assert_eq!(text(&seen["agent"], "name"), kind);
        let exit = if kind == "codex" { Value::Null } else { json!(0) };
        assert_eq!(seen["checks"], json!([{ "command": "make check", "exit": exit }]), "{kind}");
        let blob = stage.scratch.git(["rev-parse", "HEAD:importer.txt"]);
        assert_eq!(seen["wrote"], json!([blob.trim()]), "{kind}");
        assert_eq!(seen["transcript"]["bytes"], json!(std::fs::metadata(&transcript).unwrap().len()));
        let steps = trail["steps"].as_array().unwrap();
        let last = steps.last().unwrap();
        assert_eq!(text(last, "content"), "Finished: one transaction; rejected savepoints.");
        assert_eq!((text(last, "type"), text(last, "observed")), ("reflection", "final_message"));
        assert!(!judged.to_string().contains("idempotent"), "the prompt is withheld");
        assert!(stage.open().is_empty());
    }
}

#[test]
fn withheld_prompt_can_be_disclosed_and_root_and_proofs_stay() {
    let stage = Stage::new();
    let agent = stage.agent("claude-code", "x");
    agent.start();
    agent.prompt("Make the importer idempotent");
    let commit = agent.commit("importer.txt", "Importer");
    agent.leave();
    stage.push();
    let before = stage.judged(&commit);
    let session = stage.named_by(&commit).unwrap();
    let log = stage.scratch.json(&["log", "--session", &session]);
    let prompt = log["entries"].as_array().unwrap().iter().find(|entry| entry["private"] == json!(true)).unwrap();
    let id = text(prompt, "id");
    let proof = stage.scratch.json(&["prove", "--record", id]);
    let told = stage.scratch.json(&["disclose", id]);
    assert_eq!(told["records"][0]["published"], json!(true));
    stage.scratch.json(&["sync"]);
    let after = stage.judged(&commit);
    assert_eq!(after["verdict"], "pass");
    assert_eq!(before["sessions"][0]["root"], after["sessions"][0]["root"]);
    assert_eq!(stage.scratch.json(&["prove", "--record", id]), proof);
    assert!(!before.to_string().contains("idempotent") && after.to_string().contains("idempotent"));
}

#[test]
fn transcript_is_checked_against_the_commitment() {
    let stage = Stage::new();
    let agent = stage.agent("claude-code", "x");
    let transcript = stage.scratch.around().join("x.jsonl");
    std::fs::write(&transcript, "{\"a\":1}\n").unwrap();
    agent.commit("b.txt", "B");
    agent.leave();
    let path = transcript.to_str().unwrap();
    assert_eq!(stage.scratch.json(&["check-transcript", path])["matches"], json!(true));
    std::fs::write(&transcript, "{\"a\":1}\n{\"and\":\"more\"}\n").unwrap();
    assert_eq!(stage.scratch.json(&["check-transcript", path])["matches"], json!(true), "it may grow");
    std::fs::write(&transcript, "{\"a\":2}\n").unwrap();
    assert_eq!(stage.scratch.run(["check-transcript", path]).exit, Some(1));
}

#[test]
fn question_records_nothing_and_the_answer_is_the_models_own() {
    for kind in WORKERS {
        let stage = Stage::new();
        let agent = stage.agent(kind, "ask");
        let told = agent.start().json();
        assert!(told["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("git-proof"));
        agent.prompt("How many files?");
        agent.shell("ls");
        let stopped = agent.stop("One.");
        assert_eq!(stopped.out, "", "{kind}: nothing stands in for the answer");
        agent.leave();
        assert_eq!((stage.sessions().len(), stage.scratch.rows("thought_records")), (0, 0), "{kind}");
        assert_eq!(stage.scratch.rows("agent_held"), 0);
    }
}

#[test]
fn stated_reflection_closes_one_session_as_stated() {
    for kind in ["claude-code", "codex"] {
        let stage = Stage::new();
        let agent = stage.agent(kind, "talks");
        agent.start();
        agent.prompt("Do it");
        let program = env!("CARGO_BIN_EXE_git-proof");
        agent.run(&format!("{program} record --type decision --content 'WAL; rejected: a journal'"));
        let commit = agent.commit("b.txt", "B");
        agent.run(&format!("{program} record --type reflection --content 'Done. Unsure about NFS.'"));
        agent.stop("All done.");
        agent.leave();
        stage.push();
        let judged = stage.judged(&commit);
        assert_eq!(
            (judged["verdict"].clone(), judged["sessions"][0]["reflection"].clone()),
            (json!("pass"), json!("stated"))
        );
        let steps = judged["trails"][0]["steps"].as_array().unwrap().clone();
        assert_eq!(text(steps.last().unwrap(), "content"), "Done. Unsure about NFS.");
        assert_eq!(text(steps.last().unwrap(), "observed"), "restated");
        assert_eq!(stage.sessions().len(), 1, "{kind}: one session, not two");
    }
}

#[test]
fn final_message_with_a_credential_is_kept_back_and_commit_messages_close() {
    let stage = Stage::new();
    let agent = stage.agent("claude-code", "leaks");
    let token = ["gh", "p_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    agent.prompt(&format!("use {token}"));
    let commit = agent.commit("b.txt", "B: better");
    agent.stop(&format!("Done with {token}."));
    agent.leave();
    stage.push();
    let judged = stage.judged(&commit);
    assert_eq!(judged["verdict"], "pass", "{judged:#}");
    assert!(!judged.to_string().contains(&token));
    let steps = judged["trails"][0]["steps"].as_array().unwrap().clone();
    assert_eq!(
        (text(steps.last().unwrap(), "content"), text(steps.last().unwrap(), "observed")),
        ("B: better", "commit_message")
    );
}

#[test]
fn what_was_written_and_not_committed_is_withheld() {
    let stage = Stage::new();
    let agent = stage.agent("claude-code", "x");
    agent.edit("b.txt", "draft\n");
    agent.edit("b.txt", "final\n");
    agent.edit(".git/info/note", "no file of the worktree\n");
    stage.write(".gitignore", "*.log\n");
    agent.edit("x.log", "ignored\n");
    agent.shell("git add b.txt && git commit -qm B");
    let commit = stage.head();
    agent.leave();
    stage.push();
    let blob = stage.scratch.git(["rev-parse", "HEAD:b.txt"]);
    assert_eq!(stage.judged(&commit)["trails"][0]["observed"]["wrote"], json!([blob.trim()]));
    assert_eq!(stage.texts(&stage.named_by(&commit).unwrap()).iter().filter(|text| text.contains("wrote")).count(), 2);
}

#[test]
fn written_blobs_have_the_id_that_git_add_would_give() {
    let stage = Stage::new();
    stage.write(".gitattributes", "*.crlf text eol=crlf\n*.big filter=lfs\n");
    let agent = stage.agent("claude-code", "x");
    agent.edit("a.crlf", "one\r\ntwo\r\n");
    agent.edit("b.big", "left to the filter\n");
    agent.shell("git -c filter.lfs.required=false add a.crlf && git commit -qm A");
    let commit = stage.head();
    agent.leave();
    stage.push();
    let blob = stage.scratch.git(["rev-parse", "HEAD:a.crlf"]);
    assert_eq!(stage.judged(&commit)["trails"][0]["observed"]["wrote"], json!([blob.trim()]));
}

#[test]
fn event_that_fires_twice_is_recorded_once() {
    let stage = Stage::new();
    let agent = stage.agent("copilot", "x");
    agent.prompt("go");
    stage.write("b.txt", "b\n");
    let event = json!({
        "timestamp": "2026-11-18T02:22:22.869Z", "tool_name": "Write",
        "tool_input": { "path": stage.scratch.place.join("b.txt") }, "tool_result": { "result_type": "success" },
    });
    agent.send("PostToolUse", event.clone());
    let mut again = event;
    again["hook_event_name"] = json!("PostToolUse");
    again["session_id"] = json!("x");
    assert_eq!(send(&stage.scratch, "claude-code", &again).err, "", "the file of another agent fired it");
    let session = stage.sessions()[0]["session_id"].as_str().unwrap().to_owned();
    assert_eq!(stage.texts(&session).iter().filter(|text| text.contains("wrote")).count(), 1);
    assert!(stage.texts(&session)[0].contains("\"name\":\"copilot\""));
}

#[test]
fn prompts_are_published_only_where_a_setting_says_so() {
    let stage = Stage::new();
    stage.scratch.git(["config", "proof.prompts", "publish"]);
    let agent = stage.agent("claude-code", "x");
    agent.prompt("Make the importer idempotent");
    let commit = agent.commit("b.txt", "B");
    agent.leave();
    stage.push();
    let trail = &stage.judged(&commit)["trails"][0];
    assert_eq!(text(trail, "intent"), "Make the importer idempotent");
    assert_eq!((text(&trail["steps"][1], "type"), text(&trail["steps"][1], "observed")), ("plan", "prompt"));
}

#[test]
fn reminder_comes_only_where_a_setting_asks_for_it_and_once() {
    let stage = Stage::new();
    let agent = stage.agent("claude-code", "x");
    agent.edit("b.txt", "b\n");
    assert_eq!(agent.stop("Done.").out, "");
    stage.scratch.git(["config", "proof.remind", "true"]);
    agent.edit("b.txt", "c\n");
    assert_eq!(agent.stop("Done.").json()["decision"], "block");
    agent.edit("b.txt", "d\n");
    assert_eq!(agent.stop("Done.").out, "");
}

#[test]
fn raw_input_and_output_are_never_stored() {
    let scratch = Scratch::new();
    let mut sent = 0;
    for file in std::fs::read_dir(inputs()).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let agent = AGENTS.into_iter().find(|agent| name.starts_with(agent)).unwrap();
        let ran = send(&scratch, agent, &input(name.trim_end_matches(".json")));
        assert!(MARKERS.iter().all(|marker| !ran.out.contains(marker) && !ran.err.contains(marker)), "{name}");
        sent += 1;
    }
    assert!(sent > 20);
    for file in std::fs::read_dir(scratch.store().parent().unwrap()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        for marker in MARKERS {
            let found = bytes.windows(marker.len()).any(|window| window == marker.as_bytes());
            assert!(!found, "{marker} in {}", path.display());
        }
    }
}

/// Cursor gives an id to a turn and none to a call.
#[test]
fn second_edit_of_a_file_in_a_turn_of_cursor_is_recorded_and_the_same_event_is_not() {
    let stage = Stage::new();
    let path = stage.scratch.place.join("a.txt");
    let edit = |text: &str| {
        let event = json!({
            "conversation_id": "c", "generation_id": "g", "cursor_version": "2.0.77", "hook_event_name": "afterFileEdit",
            "file_path": path, "edits": [{ "old_string": "", "new_string": text }],
        });
        std::fs::write(&path, text).unwrap();
        for _ in 0..2 {
            assert_eq!(super::send(&stage.scratch, "cursor", &event).exit, Some(0));
        }
    };
    edit("one\n");
    edit("two\n");
    let session = stage.sessions()[0]["session_id"].as_str().unwrap().to_owned();
    let wrote = stage.texts(&session).iter().filter(|text| text.contains("\"wrote\"")).count();
    assert_eq!(wrote, 2, "{:?}", stage.texts(&session));
}
