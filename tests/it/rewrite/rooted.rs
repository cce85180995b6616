//! The session itself must say that it explains the change: in every normal way of working it does, and a root that is lent
//! to another change does not.

use git_proof::proof::anchor::Anchor;
use git_proof::proof::change;
use git_proof::proof::digest::{CommitId, TreeId};
use git_proof::proof::note::NoteLine;
use serde_json::json;

use super::project::Project;
use crate::mcp::Agent;

/// A project whose policy takes only anchors that are rooted.
fn strict() -> Project {
    let project = Project::new();
    std::fs::create_dir(project.place.join(".proof")).unwrap();
    project.write(".proof/policy.toml", "[proof]\nrooted = true\n");
    project.commit("policy");
    project
}

/// Binds the real session of a proven commit to another one, in the only spelling that there is.
fn lend(project: &Project, proven: &str, to: &str) {
    let note = project.note(proven);
    let Ok(Some(NoteLine::Anchor { anchor, .. })) = NoteLine::parse(note[0].as_bytes()) else { panic!("{note:?}") };
    let tree = project.git(["rev-parse", &format!("{to}^{{tree}}")]);
    let diff = project.try_git([
        "diff-tree",
        "-p",
        "-r",
        "--no-commit-id",
        "--full-index",
        "--no-renames",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        &format!("{to}^"),
        to,
    ]);
    let lent = Anchor {
        commit: CommitId::parse(to).unwrap(),
        tree: TreeId::parse(&tree).unwrap(),
        change_id: change::change_id(diff.text().as_bytes()),
        ..*anchor
    };
    let line = NoteLine::Anchor { anchor: Box::new(lent), signature: None }.to_line().unwrap();
    project.git(["notes", "--ref=proof", "add", "-m", &line, to]);
}

#[test]
fn root_lent_to_another_change_is_reported_where_policy_takes_it() {
    let project = Project::new();
    std::fs::create_dir(project.place.join(".proof")).unwrap();
    project.write(".proof/policy.toml", "[proof]\nrooted = false\n");
    project.commit("policy");
    project.git(["config", "proof.rules", "HEAD"]);
    let proven = project.prove("s", 10);
    project.edit(30, "never seen by the session");
    let other = project.commit("another");
    lend(&project, &proven, &other);
    let judged = project.verify(&other);
    assert_eq!((judged.verdict.as_str(), judged.binding.as_str()), ("pass", "exact"), "{judged:#?}");
    assert!(!judged.rooted && judged.says("NOT_ROOTED"), "{judged:#?}");
}

#[test]
fn root_lent_to_another_change_fails_where_policy_says_rooted() {
    let project = strict();
    let proven = project.prove("s", 10);
    project.edit(30, "never seen by the session");
    let other = project.commit("another\n\nProof-Grade: true");
    lend(&project, &proven, &other);
    let judged = project.verify(&other);
    assert_eq!(judged.verdict, "fail");
    judged.is_another_change("NOT_ROOTED");
}

#[test]
fn root_lent_to_a_change_of_the_same_tree_fails_where_policy_says_rooted() {
    let project = strict();
    let proven = project.prove("s", 10);
    project.edit(30, "away");
    project.commit("away");
    project.edit(30, "line 30");
    let back = project.commit("and back");
    lend(&project, &proven, &back);
    project.verify(&back).is_another_change("NOT_ROOTED");
}

#[test]
fn commit_then_finalize_is_rooted() {
    let project = strict();
    project.prove("s", 10);
    project.verify("HEAD").is("exact", &["s"]);
}

#[test]
fn stage_reflect_commit_then_finalize_is_rooted() {
    let project = strict();
    project.start("s");
    project.edit(10, "staged");
    project.git(["add", "file"]);
    project.reflect();
    project.commit("while it is open");
    project.proof(&["finalize"]);
    project.verify("HEAD").is("exact", &["s"]);
}

#[test]
fn stage_reflect_finalize_then_commit_is_rooted_and_so_is_a_reword() {
    let project = strict();
    project.start("s");
    project.edit(10, "staged");
    project.git(["add", "file"]);
    project.close();
    project.commit("it");
    project.verify("HEAD").is("exact", &["s"]);
    project.rewrite(&["commit", "--quiet", "--amend", "-m", "in other words"]);
    assert_eq!(project.message("HEAD").matches("Proof-Root: s:").count(), 1);
    project.verify("HEAD").is("exact", &["s"]);
}

#[test]
fn several_commits_of_one_session_are_rooted() {
    let project = strict();
    project.start("s");
    for line in [10, 20, 30] {
        project.edit(line, "one of three");
        project.commit("one of three");
    }
    project.close();
    for revision in ["HEAD~2", "HEAD~1", "HEAD"] {
        project.verify(revision).is("exact", &["s"]);
    }
}

#[test]
fn commit_amended_while_the_session_is_open_is_rooted() {
    let project = strict();
    project.start("s");
    project.edit(10, "first try");
    project.commit("first try");
    project.edit(12, "second thoughts");
    project.rewrite(&["commit", "--quiet", "--amend", "--all", "--no-edit"]);
    project.close();
    project.verify("HEAD").is("exact", &["s"]);
}

#[test]
fn session_of_an_agent_is_rooted() {
    let project = strict();
    let agent = Agent::new(&project.place);
    agent.ok("audit_session_start", json!({ "intent": "try it", "session_id": "s" }));
    project.edit(10, "while it is open");
    project.commit("first");
    project.edit(20, "staged");
    project.git(["add", "file"]);
    let reflection = json!({ "session_id": "s", "type": "reflection", "content": "It works." });
    agent.ok("thought_record", reflection);
    agent.ok("merkle_finalize", json!({ "session_id": "s" }));
    project.commit("second");
    agent.leave();
    project.verify("HEAD~1").is("exact", &["s"]);
    project.verify("HEAD").is("exact", &["s"]);
}

#[test]
fn first_commit_of_a_repository_is_rooted() {
    let project = Project::new();
    project.git(["switch", "--quiet", "--orphan", "fresh"]);
    project.start("s");
    project.write("file", "from nothing\n");
    project.git(["add", "file"]);
    project.close();
    project.commit("first");
    project.verify("HEAD").is("exact", &["s"]);
}

#[test]
fn attestation_in_the_name_of_the_tool_is_refused() {
    let project = Project::new();
    project.start("s");
    let text = r#"{"git":{"change_id":null,"commit":null,"tree":"e8e7879e5e877d90b95909fa35fb3394ed8b4173"}}"#;
    assert_eq!(project.try_proof(&["attest", text]).exit, Some(2));
}
