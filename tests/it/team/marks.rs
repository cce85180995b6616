//! Projects that forbid marks in messages, and projects that ask for them.

use crate::rewrite::project::Project;

#[test]
fn without_trailers_a_session_is_proven_all_the_same() {
    let project = Project::new();
    project.git(["config", "proof.trailers", "false"]);
    project.prove("one", 10);
    assert!(!project.message("HEAD").contains("Proof-"), "{}", project.message("HEAD"));
    project.verify("HEAD").is("exact", &["one"]);
}

#[test]
fn without_trailers_a_finalized_session_names_itself_nowhere() {
    let project = Project::new();
    project.git(["config", "proof.trailers", "no"]);
    project.start("one");
    project.edit(10, "staged");
    project.git(["add", "file"]);
    project.reflect();
    project.proof(&["finalize"]);
    project.commit("staged");
    assert_eq!(project.message("HEAD"), "staged");
    project.verify("HEAD").is("exact", &["one"]);
}

#[test]
fn without_trailers_a_squash_on_the_server_is_found() {
    let project = Project::new();
    project.git(["config", "proof.trailers", "false"]);
    project.squash_two_on_the_server();
    let clone = project.clone_of("main");
    clone.sync();
    clone.verify("HEAD").is("squashed", &["one", "two"]);
}

/// What an agent sends when its session starts, and when it has written a file.
fn agent(project: &Project, event: &str) {
    let input = serde_json::json!({
        "session_id": "7d3a", "hook_event_name": event, "source": "startup", "model": "claude-opus-4-1",
        "cwd": project.place, "tool_name": "Write", "tool_response": {},
        "tool_input": { "file_path": project.place.join("file"), "content": "x" },
    });
    let mut command = project.command("git-proof");
    command.args(["hook", "claude-code"]);
    let ran = crate::common::run_with_input(&mut command, input.to_string().as_bytes());
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn agent_is_named_where_a_project_asks_for_it() {
    let project = Project::new();
    project.git(["config", "proof.assistedBy", "true"]);
    project.git(["config", "proof.trailers", "false"]);
    agent(&project, "SessionStart");
    project.edit(10, "by an agent");
    agent(&project, "PostToolUse");
    project.git(["add", "--all"]);
    let commit = |more: &[&str]| {
        let mut command = project.command("git");
        command.args(["commit", "--quiet"]).args(more).env("CLAUDE_CODE_SESSION_ID", "7d3a");
        assert!(command.status().unwrap().success());
    };
    commit(&["-m", "by an agent"]);
    assert_eq!(project.message("HEAD"), "by an agent\n\nAssisted-by: claude-code:claude-opus-4-1");
    // Once is enough.
    commit(&["--amend", "--no-edit"]);
    assert_eq!(project.message("HEAD").matches("Assisted-by").count(), 1);
    // A person's own commit names nobody.
    project.start("own");
    project.edit(20, "by a person");
    project.commit("by a person");
    assert_eq!(project.message("HEAD"), "by a person");
}
