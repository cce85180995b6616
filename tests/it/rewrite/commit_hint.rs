//! The commit that a finalized session waits for is told of it without the store; any other commit, as if there were no such
//! shortcut.

use std::fs;
use std::path::PathBuf;

use super::project::Project;

/// A session that is finalized and waits for what is staged.
fn waiting() -> Project {
    let project = Project::new();
    project.start("s");
    project.edit(10, "changed");
    project.git(["add", "file"]);
    project.close();
    project
}

fn next(project: &Project) -> PathBuf {
    project.place.join(".git/proof/next")
}

/// What the hook makes of a message.
#[track_caller]
fn message(project: &Project) -> String {
    project.write("../message", "subject\n");
    let ran = project.try_proof(&["hook", "commit-msg", "../message"]);
    assert_eq!((ran.exit, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    project.read("../message")
}

#[test]
fn commit_with_a_hint_gets_its_session_without_the_store() {
    let project = waiting();
    let store = project.place.join(".git/proof/store.db");
    let whole = fs::read(&store).unwrap();
    fs::write(&store, "nothing that could be opened").unwrap();
    let told = message(&project);
    fs::write(&store, whole).unwrap();
    fs::remove_file(next(&project)).unwrap();
    assert!(told.starts_with("subject\n\nProof-Root: s:v1:"), "{told}");
    assert_eq!(told, message(&project), "the store says the same");
    project.commit_staged(&["-m", "hinted"]);
    project.verify("HEAD").is("exact", &["s"]);
}

#[test]
fn commit_of_the_same_second_as_its_parent_is_told_of_its_session_unless_its_message_is_the_parents() {
    let project = waiting();
    let date = project.git(["log", "-1", "--format=@%at +0000"]);
    let told = |message: &str| {
        project.write("../message", message);
        let mut command = project.command("git-proof");
        let ran = command.args(["hook", "commit-msg", "../message"]).env("GIT_AUTHOR_DATE", &date).output().unwrap();
        assert_eq!((ran.status.code(), String::from_utf8(ran.stderr).unwrap()), (Some(0), String::new()));
        project.read("../message")
    };
    let ask = || (told("subject\n"), told("base\n# what an editor shows\n"));
    let hinted = ask();
    assert!(hinted.0.starts_with("subject\n\nProof-Root: s:v1:"), "{hinted:?}");
    assert_eq!(hinted.1, "base\n# what an editor shows\n");
    fs::remove_file(next(&project)).unwrap();
    assert_eq!(hinted, ask(), "the store says the same");
}

#[test]
fn commits_of_one_second_all_name_their_sessions() {
    let project = Project::new();
    for number in 1..=12 {
        project.start(&format!("s{number}"));
        project.edit(number, "changed");
        project.git(["add", "file"]);
        project.close();
        let mut command = project.command("git");
        command.args(["commit", "--quiet", "-m", "the same words"]);
        let date = "@1700000060 +0000";
        assert!(command.env("GIT_AUTHOR_DATE", date).env("GIT_COMMITTER_DATE", date).status().unwrap().success());
        let message = project.message("HEAD");
        assert!(message.contains(&format!("Proof-Root: s{number}:v1:")), "{number}: {message}");
        project.verify("HEAD").is("exact", &[&format!("s{number}")]);
    }
}

#[test]
fn amended_commit_names_the_session_that_attested_the_whole_of_it() {
    let project = Project::new();
    project.edit(3, "begun");
    project.commit("begun");
    project.git(["reset", "--quiet", "--soft", "HEAD~1"]);
    project.start("s");
    project.edit(4, "all of it");
    project.git(["add", "file"]);
    project.close();
    project.git(["reset", "--quiet", "--soft", "ORIG_HEAD"]);
    project.commit_staged(&["--amend", "--no-edit"]);
    assert!(project.message("HEAD").contains("Proof-Root: s:v1:"), "{}", project.message("HEAD"));
    project.verify("HEAD").is("exact", &["s"]);
}

#[test]
fn another_change_than_the_hinted_one_names_no_session() {
    let project = waiting();
    project.edit(11, "a formatter ran");
    let ran = project.commit_staged(&["--all", "-m", "other"]);
    assert!(ran.err.contains("session s is finalized and explains another change"), "{}", ran.err);
    assert_eq!(project.message("HEAD"), "other");
}

#[test]
fn the_same_tree_on_another_parent_names_no_session() {
    let project = waiting();
    let empty = project.git(["hash-object", "-t", "tree", "-w", "/dev/null"]);
    let parent = project.git(["commit-tree", &empty, "-p", "HEAD", "-m", "nothing is left"]);
    project.git(["update-ref", "HEAD", &parent]);
    assert_eq!(message(&project), "subject\n");
}

#[test]
fn session_that_was_started_since_is_the_one_that_is_named() {
    let project = waiting();
    project.start("later");
    assert!(!next(&project).exists());
    assert_eq!(message(&project), "subject\n\nProof-Session: later\n");
}

#[test]
fn session_of_another_worktree_is_not_hinted_here() {
    let project = waiting();
    let other = project.around().join("other");
    project.git(["worktree", "add", "--quiet", "-b", "side", other.to_str().unwrap()]);
    fs::copy(project.place.join("file"), other.join("file")).unwrap();
    fs::write(other.join("message"), "subject\n").unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let ran = project.command_in(&other, program).args(arguments).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
    };
    run("git", &["add", "file"]);
    run("git-proof", &["hook", "commit-msg", "message"]);
    assert_eq!(fs::read_to_string(other.join("message")).unwrap(), "subject\n");
}

#[test]
fn file_that_is_torn_or_of_another_store_is_no_answer() {
    let project = waiting();
    let told = message(&project);
    let whole = fs::read_to_string(next(&project)).unwrap();
    for length in 0..whole.len() {
        if whole.as_bytes()[..length].ends_with(b"\n") || length + 1 == whole.len() {
            fs::write(next(&project), &whole[..length]).unwrap();
            assert_eq!(message(&project), told, "cut off after {length} bytes");
        }
    }
    // Of another session, but of a store that is not this one.
    let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
    lines[1] = "1:1".to_owned();
    lines[3] = lines[3].replacen("s:", "forged:", 1);
    fs::write(next(&project), lines.join("\n")).unwrap();
    assert_eq!(message(&project), told);
}
