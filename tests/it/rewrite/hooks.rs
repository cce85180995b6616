//! The hooks wherever git runs them, whatever is broken, and what they cost others: nothing.

use super::project::Project;
use crate::store::scratch::Ran;

/// Line 10 is changed in a session and committed by this command.
#[track_caller]
fn is_proven_by(project: &Project, commit: impl FnOnce()) {
    project.start("s");
    project.edit(10, "changed");
    commit();
    project.close();
    project.verify("HEAD").is("exact", &["s"]);
}

#[test]
fn commit_from_a_subdirectory_is_proven() {
    let project = Project::new();
    let below = project.place.join("some where/ünder \"quotes\" 'and' more");
    std::fs::create_dir_all(&below).unwrap();
    is_proven_by(&project, || {
        let mut command = project.command_in(&below, "git");
        let ran: Ran = command.args(["commit", "--quiet", "--all", "-m", "from below"]).output().unwrap().into();
        assert_eq!((ran.exit, ran.err.as_str()), (Some(0), ""));
    });
}

#[test]
fn commit_from_elsewhere_is_proven() {
    let project = Project::new();
    is_proven_by(&project, || {
        let mut command = project.command_in(project.around(), "git");
        command.args(["-C", "place", "commit", "--quiet", "--all", "-m", "from elsewhere"]);
        let ran: Ran = command.output().unwrap().into();
        assert_eq!((ran.exit, ran.err.as_str()), (Some(0), ""));
    });
}

#[test]
fn commit_of_paths_with_every_kind_of_letter_is_proven() {
    let project = Project::new();
    for name in ["with space", "with \"quotes\"", "ünïcödé", "new\nline", "-dash", "tab\there"] {
        project.write(name, "text\n");
    }
    is_proven_by(&project, || {
        project.commit("names");
    });
}

#[test]
fn linked_worktree_has_a_session_of_its_own() {
    let project = Project::new();
    let other = project.around().join("linked ünd other");
    project.git(["worktree", "add", "--quiet", "-b", "side", other.to_str().unwrap()]);
    let proof = |arguments: &[&str]| {
        let ran: Ran = project.command_in(&other, "git-proof").args(arguments).output().unwrap().into();
        assert_eq!(ran.exit, Some(0), "{ran:?}");
    };
    project.start("here");
    proof(&["start", "--intent", "there", "--session-id", "there"]);
    std::fs::write(other.join("new"), "there\n").unwrap();
    let git = |arguments: &[&str]| {
        let ran: Ran = project.command_in(&other, "git").args(arguments).output().unwrap().into();
        assert_eq!(ran.exit, Some(0), "{ran:?}");
    };
    git(&["add", "new"]);
    git(&["commit", "--quiet", "-m", "there"]);
    project.edit(10, "here");
    project.commit("here");
    project.close();
    proof(&["record", "--type", "reflection", "--content", "Done there."]);
    proof(&["finalize"]);
    project.verify("main").is("exact", &["here"]);
    project.verify("side").is("exact", &["there"]);
}

#[test]
fn commit_without_a_terminal_is_proven() {
    let project = Project::new();
    is_proven_by(&project, || {
        let mut command = project.command("setsid");
        let ran: Ran = command.args(["git", "commit", "--quiet", "-am", "alone"]).output().unwrap().into();
        assert_eq!((ran.exit, ran.err.as_str()), (Some(0), ""));
    });
}

#[test]
fn damaged_store_lets_the_commit_through_and_says_so() {
    let project = Project::new();
    project.start("s");
    std::fs::write(project.place.join(".git/proof/store.db"), "this is not a database, and never was one").unwrap();
    for leftover in ["store.db-wal", "store.db-shm"] {
        let _ = std::fs::remove_file(project.place.join(".git/proof").join(leftover));
    }
    project.edit(10, "changed");
    let ran = project.commit_staged(&["--all", "-m", "all the same"]);
    for hook in ["git proof commit-msg: ", "git proof post-commit: "] {
        assert_eq!(ran.err.matches(hook).count(), 1, "{}", ran.err);
    }
    assert_eq!(ran.err.lines().count(), 2, "{}", ran.err);
    assert_eq!(project.message("HEAD"), "all the same");
    assert_eq!(project.git(["for-each-ref", "refs/notes", "refs/proof"]), "");
    project.rewrite(&["commit", "--quiet", "--amend", "-m", "again"]);
    assert_eq!(project.message("HEAD"), "again");
}

#[test]
fn repository_where_nothing_was_recorded_is_left_as_it_is() {
    let project = Project::new();
    // As in the clone of someone who has the hooks for all repositories.
    std::fs::remove_dir_all(project.place.join(".git/proof")).unwrap();
    project.edit(10, "changed");
    let ran = project.commit_staged(&["--all", "-m", "nothing of ours"]);
    assert_eq!(ran.err, "");
    project.git(["push", "--quiet", "origin", "main"]);
    assert!(!project.place.join(".git/proof").exists());
    assert_eq!(project.git(["for-each-ref", "refs/notes", "refs/proof"]), "");
}

#[test]
fn push_runs_its_hook_once() {
    let project = Project::new();
    project.prove("s", 10);
    project.hook("pre-push", "echo ran >>../count; exec git-proof hook pre-push \"$@\"");
    project.git(["push", "--quiet", "origin", "main"]);
    assert_eq!(std::fs::read_to_string(project.around().join("count")).unwrap(), "ran\n");
    let shared = project.git(["ls-remote", "origin", "refs/notes/*", "refs/proof/*"]);
    assert_eq!(shared.lines().count(), 3, "{shared}");
}

#[test]
fn sync_runs_no_hook_of_a_push() {
    let project = Project::new();
    project.prove("s", 10);
    project.hook("pre-push", "echo ran >>../count; exit 1");
    project.proof(&["sync"]);
    assert!(!project.around().join("count").exists());
}

/// A project whose remote has a policy: without one, what a push would bring is only remarked upon.
fn guarded() -> Project {
    let project = Project::new();
    std::fs::create_dir(project.place.join(".proof")).unwrap();
    project.write(".proof/policy.toml", "[proof]\nrooted = true\n");
    project.commit("policy");
    project.git(["push", "--quiet", "--no-verify", "origin", "main"]);
    project
}

#[test]
fn push_of_a_broken_proof_is_stopped() {
    let project = guarded();
    let proven = project.prove("s", 10);
    project.edit(30, "another");
    project.commit("another\n\nProof-Grade: true");
    project.git(["notes", "--ref=proof", "copy", &proven, "HEAD"]);
    let ran = project.try_git(["push", "--quiet", "origin", "main"]);
    assert_ne!(ran.exit, Some(0));
    assert!(ran.err.contains("BINDING_MISMATCH") && ran.err.contains("the push was stopped"), "{}", ran.err);
    assert_ne!(project.git(["ls-remote", "origin", "refs/heads/main"]).split('\t').next().unwrap(), project.head());
}

#[test]
fn push_that_cannot_be_judged_is_stopped() {
    let project = guarded();
    project.prove("s", 10);
    project.git(["update-ref", "-d", "refs/proof/evidence"]);
    // With the store it would be published again.
    std::fs::remove_dir_all(project.place.join(".git/proof")).unwrap();
    let ran = project.try_git(["push", "--quiet", "origin", "main"]);
    assert_ne!(ran.exit, Some(0));
    assert!(ran.err.contains("REF_NOT_FETCHED"), "{}", ran.err);
}

#[test]
fn first_push_while_the_session_is_open_goes_through() {
    let project = Project::new();
    project.start("s");
    project.edit(10, "not closed yet");
    project.commit("not closed yet");
    project.git(["push", "--quiet", "origin", "main"]);
}

#[test]
fn deleting_a_branch_is_nothing_to_judge() {
    let project = Project::new();
    project.git(["push", "--quiet", "origin", "main:topic"]);
    project.prove("s", 10);
    project.git(["push", "--quiet", "origin", "--delete", "topic"]);
}

#[test]
fn push_to_an_address_shares_the_proofs() {
    let project = Project::new();
    project.prove("s", 10);
    project.git(["push", "--quiet", "../remote.git", "main"]);
    let shared = project.git(["ls-remote", "origin", "refs/notes/proof"]);
    assert_eq!(shared.lines().count(), 1, "{shared}");
}

#[test]
fn rebase_with_an_open_session_attests_nothing() {
    for dates in [false, true] {
        let project = Project::new();
        project.git(["switch", "--quiet", "-c", "topic"]);
        for line in [10, 20, 30] {
            project.edit(line, "by someone");
            project.commit("by someone");
        }
        project.git(["switch", "--quiet", "main"]);
        project.edit(38, "on main");
        project.commit("on main");
        project.git(["switch", "--quiet", "topic"]);
        project.start("s");
        let mut command = project.command("git");
        command.args(["rebase", "--quiet", "-i", "main"]);
        command.env("GIT_SEQUENCE_EDITOR", "sed -i -e '2s/^pick/reword/;3s/^pick/squash/'").env("GIT_EDITOR", "true");
        if dates {
            command.env("GIT_AUTHOR_DATE", "@1800000000 +0000");
        }
        let ran: Ran = command.output().unwrap().into();
        assert_eq!(ran.exit, Some(0), "{ran:?}");
        let messages = project.git(["log", "--format=%B", "main..HEAD"]);
        assert!(!messages.contains("Proof-"), "{messages}");
        let log = project.proof(&["log"]);
        assert!(!log.to_string().contains("change_id"), "{log}");
    }
}

#[test]
fn commit_made_by_hand_while_a_rebase_stands_still_is_attested() {
    let project = Project::new();
    for line in [10, 20] {
        project.edit(line, "by someone");
        project.commit("by someone");
    }
    project.replan("HEAD~2", "1s/^pick/edit/", "");
    project.start("s");
    project.edit(30, "by hand");
    project.commit("by hand");
    project.close();
    project.rewrite(&["rebase", "--continue"]);
    project.verify("HEAD~1").is("exact", &["s"]);
}
