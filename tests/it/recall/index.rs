//! The index by which decisions are found: no agent waits for it, `sync` completes it, and it holds nothing but the base
//! branch.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{OURS, Team, contents};
use crate::common::run_with_input;

const DECISION: &str = "Keep six lines; rejected: seven";

fn decided() -> Team {
    let team = Team::new();
    team.decide(OURS, "s1", &[DECISION], "a.txt", "1\n2\n3\n4\n5\n6\n");
    team
}

/// Puts so many commits on top of the branch, none of which touches the file.
fn bury(team: &Team, count: usize) {
    let mut stream = String::from("reset refs/heads/main\nfrom refs/heads/main^0\n\n");
    for number in 0..count {
        let time = 1_900_000_000 + number;
        stream += "commit refs/heads/main\n";
        stream += &format!("committer A <a@b> {time} +0000\ndata 1\nc\nM 100644 inline b.txt\ndata 6\n{number:06}\n");
    }
    let mut import = team.scratch.command("git");
    let ran = run_with_input(import.args(["fast-import", "--quiet"]), stream.as_bytes());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    team.git(OURS, &["reset", "-q", "--hard", "main"]);
    team.git(OURS, &["push", "-q", "--no-verify", "origin", "HEAD:refs/heads/main"]);
}

/// A PATH with a git that has not got one of its commands.
fn without(team: &Team, command: &str) -> String {
    let programs = team.scratch.around().join("programs");
    std::fs::create_dir(&programs).unwrap();
    let path = std::env::var("PATH").unwrap();
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *\" {command} \"*) exit 1;; esac\nPATH='{path}'\nexport PATH\nexec git \"$@\"\n"
    );
    std::fs::write(programs.join("git"), script).unwrap();
    std::fs::set_permissions(programs.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{path}", programs.display())
}

fn forget_index(team: &Team) {
    team.scratch.database().execute_batch("DELETE FROM path_commits; DELETE FROM path_commits_tip").unwrap();
}

#[test]
fn where_nothing_is_anchored_nothing_is_indexed() {
    let team = Team::new();
    assert_eq!(team.told_anew("a.txt"), None);
    assert_eq!(team.scratch.rows("path_commits"), 0);
}

#[test]
fn an_agent_waits_for_a_few_commits_and_sync_looks_at_the_others() {
    let team = decided();
    bury(&team, 300);
    forget_index(&team);
    assert_eq!(team.told_anew("a.txt"), None, "more commits were looked at than an agent waits for");
    assert_eq!(team.scratch.rows("path_commits"), 200);
    team.scratch.json(&["sync"]);
    assert!(team.told_anew("a.txt").unwrap().contains(DECISION));
    // What was left out for an agent is looked at when there is time, not only what came later.
    bury(&team, 300);
    assert!(team.told_anew("a.txt").unwrap().contains(DECISION));
    assert_eq!(team.scratch.rows("path_commits"), 302 + 200);
    team.scratch.json(&["sync"]);
    assert_eq!(team.scratch.rows("path_commits"), 302 + 300);
}

#[test]
fn a_correction_among_the_commits_that_were_left_for_later_is_not_passed_over() {
    let team = Team::new();
    let old = team.decide(OURS, "s1", &[DECISION], "a.txt", "1\n2\n3\n4\n5\n6\n");
    team.push(OURS, "main");
    assert!(team.told_anew("a.txt").unwrap().contains(DECISION));
    team.decide(OURS, "s2", &["Seven after all", "--supersedes", &old], "a.txt", "1\n2\n3\n4\n5\n6\n7\n");
    bury(&team, 300);
    let told = team.told_anew("a.txt").unwrap();
    assert_eq!(team.scratch.rows("path_commits"), 2 + 200);
    assert!(told.contains("Seven after all") && !told.contains(DECISION), "{told}");
}

#[test]
fn a_file_that_the_index_cannot_answer_for_yet_is_told_once_it_can() {
    let team = decided();
    bury(&team, 300);
    forget_index(&team);
    assert_eq!(team.told_reading("agent", "a.txt"), None);
    team.scratch.json(&["sync"]);
    assert!(team.told_reading("agent", "a.txt").unwrap().contains(DECISION));
    assert_eq!(team.told_reading("agent", "a.txt"), None);
}

#[test]
fn a_file_that_was_changed_before_all_commits_of_the_index_is_looked_up_in_git() {
    let team = decided();
    bury(&team, 10_010);
    team.scratch.json(&["sync"]);
    assert_eq!(team.scratch.rows("path_commits"), 10_000);
    assert!(team.told_anew("a.txt").unwrap().contains(DECISION));
    // More of them than are looked at do not leave a gap behind, either.
    bury(&team, 10_010);
    team.scratch.json(&["sync"]);
    assert_eq!(team.scratch.rows("path_commits"), 10_000);
    assert!(team.told_anew("a.txt").unwrap().contains(DECISION));
}

#[test]
fn why_does_not_search_the_history_for_what_an_index_of_the_newest_commits_has() {
    let team = decided();
    bury(&team, 10_010);
    let old = team.decide(OURS, "s2", &["Six, spelled out"], "c.txt", "six\n");
    team.decide(OURS, "s3", &["Seven", "--supersedes", &old], "c.txt", "six\nseven\n");
    team.push(OURS, "main");
    assert_eq!(team.scratch.rows("path_commits"), 10_000 + 2);
    let mut command = team.scratch.proof(["--json", "why", "c.txt:1"]);
    let ran = command.env("PATH", without(&team, "rev-list")).output().unwrap();
    let why: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((contents(&why), &why["decisions"][0]["in_force"]), (vec!["Six, spelled out"], &json!(false)), "{why}");
    // The file that the index has no commit of is looked up in git.
    assert_eq!(contents(&team.why(&["a.txt:1"])), [DECISION]);
}

#[test]
fn a_file_that_was_renamed_keeps_its_decisions() {
    let team = decided();
    team.push(OURS, "main");
    team.git(OURS, &["mv", "a.txt", "b.txt"]);
    team.commit(OURS, "Rename");
    team.git(OURS, &["mv", "b.txt", "c.txt"]);
    team.commit(OURS, "Rename again");
    team.push(OURS, "main");
    assert!(team.told_anew("c.txt").unwrap().contains(DECISION));
    // Also where the index is made anew.
    forget_index(&team);
    team.scratch.json(&["sync"]);
    assert!(team.told_anew("c.txt").unwrap().contains(DECISION));
    // An empty file is the same as any other.
    team.decide(OURS, "s2", &["Nothing in it"], "d.txt", "");
    team.git(OURS, &["mv", "d.txt", "e.txt"]);
    team.commit(OURS, "Move nothing");
    team.push(OURS, "main");
    assert_eq!(team.told_anew("e.txt"), None);
}

#[test]
fn importing_what_others_published_completes_the_index() {
    let team = decided();
    team.push(OURS, "main");
    forget_index(&team);
    team.scratch.json(&["import", "--from-refs"]);
    assert_eq!(team.scratch.rows("path_commits"), 2);
}

#[test]
fn a_commit_that_the_base_branch_no_longer_has_is_not_told() {
    let team = decided();
    team.push(OURS, "main");
    assert!(team.told_anew("a.txt").unwrap().contains(DECISION));
    let tree = team.git(OURS, &["rev-parse", "HEAD^{tree}"]);
    let other = team.git(OURS, &["commit-tree", "-m", "Another beginning", &tree]);
    team.git(OURS, &["push", "-q", "--no-verify", "--force", "origin", &format!("{other}:refs/heads/main")]);
    assert_eq!(team.told_anew("a.txt"), None);
}

#[test]
fn an_index_that_cannot_be_brought_up_to_date_tells_nothing_of_what_was_rewritten() {
    let team = decided();
    team.push(OURS, "main");
    assert!(team.told_anew("a.txt").unwrap().contains(DECISION));
    let tree = team.git(OURS, &["rev-parse", "HEAD^{tree}"]);
    let other = team.git(OURS, &["commit-tree", "-m", "Another beginning", &tree]);
    team.git(OURS, &["push", "-q", "--no-verify", "--force", "origin", &format!("{other}:refs/heads/main")]);
    let mut hook = team.scratch.proof(["hook", "claude-code"]);
    hook.env("PATH", without(&team, "log"));
    let event = json!({
        "hook_event_name": "PostToolUse", "session_id": "another", "cwd": team.scratch.place, "tool_use_id": "call-9",
        "tool_name": "Read", "tool_input": { "file_path": team.scratch.place.join("a.txt") }, "tool_response": {},
    });
    let ran = run_with_input(&mut hook, event.to_string().as_bytes());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
}
