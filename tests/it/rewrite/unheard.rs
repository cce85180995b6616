//! Commits of which their session did not hear, because post-commit was killed or could not do its work: whoever comes next
//! makes up for it. And only for those: what was never committed, or came from elsewhere, is nobody's.

use super::project::Project;

const MISSED: &str = "kill -9 $$";

/// Commits line `line` while this is what post-commit does; the hook is as before afterwards.
#[track_caller]
fn commit_with(project: &Project, post_commit: &str, line: usize) -> String {
    let hook = project.read(".git/hooks/post-commit");
    project.hook("post-commit", post_commit);
    project.edit(line, &format!("line {line} changed"));
    let commit = project.commit(&format!("change {line}"));
    project.write(".git/hooks/post-commit", &hook);
    commit
}

/// A project in which session `s` is open and post-commit was killed, and the commit that was made.
#[track_caller]
pub(super) fn missed() -> (Project, String) {
    let project = Project::new();
    project.start("s");
    let commit = commit_with(&project, MISSED, 5);
    (project, commit)
}

/// A project in which session `s` is open and a change is staged, the one that [`commit_with`] makes of line 5.
fn staged() -> Project {
    let project = Project::new();
    project.start("s");
    project.edit(5, "line 5 changed");
    project.git(["add", "--all"]);
    project
}

/// Tries to make a commit that git gives up after its commit-msg: it cannot be signed.
#[track_caller]
fn commit_in_vain(project: &Project) {
    let fails = ["-c", "gpg.program=false", "commit", "--quiet", "--gpg-sign", "-m", "never"];
    assert_ne!(project.try_git(fails).exit, Some(0));
}

/// The commits that a session attests.
pub(super) fn attested(project: &Project, session: &str) -> Vec<String> {
    let log = project.proof(&["log", "--session", session]);
    let entries = log["entries"].as_array().unwrap();
    let said = entries.iter().filter_map(|entry| entry["attest"].as_str());
    let commit =
        |text: &str| Some(serde_json::from_str::<serde_json::Value>(text).ok()?["git"]["commit"].as_str()?.to_owned());
    said.filter_map(commit).collect()
}

/// How many commits are waited for.
fn pending(project: &Project) -> usize {
    std::fs::read_dir(project.place.join(".git/proof/pending")).map_or(0, Iterator::count)
}

#[test]
fn commit_whose_hook_was_killed_is_attested_by_the_next_commit() {
    let (project, missed) = missed();
    assert_eq!((attested(&project, "s"), pending(&project)), (Vec::new(), 1));
    project.edit(20, "changed");
    project.git(["add", "--all"]);
    let ran = project.commit_staged(&["-m", "next"]);
    assert!(ran.err.contains(&format!("session s had not heard of {}, and now has", &missed[..12])), "{}", ran.err);
    assert_eq!((attested(&project, "s"), pending(&project)), (vec![missed.clone(), project.head()], 0));
    project.close();
    project.verify(&missed).is("exact", &["s"]);
    project.verify("HEAD").is("exact", &["s"]);
}

#[test]
fn commit_whose_hook_was_killed_is_attested_by_the_next_commit_that_is_not_verified() {
    let (project, missed) = missed();
    project.edit(20, "changed");
    project.commit_staged(&["--all", "--no-verify", "-m", "next"]);
    assert_eq!((attested(&project, "s"), pending(&project)), (vec![project.head(), missed], 0));
}

#[test]
fn commit_whose_hook_was_killed_is_attested_before_the_reflection() {
    let (project, missed) = missed();
    project.close();
    assert_eq!((attested(&project, "s"), pending(&project)), (vec![missed.clone()], 0));
    project.verify(&missed).is("exact", &["s"]);
}

#[test]
fn commit_whose_hook_was_killed_is_attested_by_finalize() {
    let project = Project::new();
    project.proof(&["start", "--intent", "try it", "--session-id", "s", "--not-proof-grade"]);
    project.proof(&["record", "--type", "plan", "--content", "A change."]);
    let missed = commit_with(&project, MISSED, 5);
    project.proof(&["finalize"]);
    project.verify(&missed).is("exact", &["s"]);
}

#[test]
fn commit_of_what_was_reflected_on_is_anchored_by_finalize_though_its_hook_was_killed() {
    let project = staged();
    project.reflect();
    let missed = commit_with(&project, MISSED, 5);
    project.proof(&["finalize"]);
    project.verify(&missed).is("exact", &["s"]);
}

#[test]
fn commit_after_the_reflection_asks_for_another_one_though_its_hook_was_killed() {
    let project = Project::new();
    project.start("s");
    project.reflect();
    let missed = commit_with(&project, MISSED, 5);
    project.try_proof(&["--json", "finalize"]).error("ERR_REFLECTION_REQUIRED", 1);
    project.close();
    project.verify(&missed).is("exact", &["s"]);
}

#[test]
fn commit_whose_hook_was_killed_is_attested_by_sync() {
    let (project, missed) = missed();
    project.proof(&["sync"]);
    assert_eq!((attested(&project, "s"), pending(&project)), (vec![missed], 0));
}

/// Two worktrees can have a commit on the same parent, made in the same second.
#[test]
fn commit_of_another_worktree_is_not_taken_for_the_one_whose_hook_was_killed() {
    const DATE: &str = "1700100000 +0000";
    let project = Project::new();
    let other = project.around().join("other");
    project.git(["worktree", "add", "--quiet", "-b", "other", "../other"]);
    let hook = project.read(".git/hooks/post-commit");
    let commit = |place: &std::path::Path, file: &str| {
        std::fs::write(place.join(file), file).unwrap();
        for arguments in [&["add", file][..], &["commit", "--quiet", "-m", file]] {
            let mut git = project.command_in(place, "git");
            assert!(git.args(arguments).env("GIT_AUTHOR_DATE", DATE).status().unwrap().success());
        }
    };
    project.start("s");
    project.hook("post-commit", MISSED);
    commit(&project.place, "ours");
    project.write(".git/hooks/post-commit", &hook);
    project.git(["checkout", "--quiet", "--detach"]);
    project.git(["branch", "--quiet", "-f", "main", "HEAD~1"]);
    // Neither what is there nor what is missing in the other worktree says anything about our commit.
    commit(&other, "theirs");
    commit(&other, "more");
    let sync = |place| project.command_in(place, "git-proof").arg("sync").output().unwrap();
    assert!(sync(&other).status.success());
    assert_eq!((attested(&project, "s"), pending(&project)), (Vec::new(), 1));
    assert!(sync(&project.place).status.success());
    assert_eq!((attested(&project, "s"), pending(&project)), (vec![project.head()], 0));
}

#[test]
fn commit_of_a_finalized_session_is_anchored_once_the_lock_is_gone() {
    for repair in [&["sync"][..], &["anchor"], &["finalize"]] {
        let project = staged();
        project.close();
        let lock = project.place.join(".git/refs/proof/evidence.lock");
        std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
        std::fs::write(&lock, "").unwrap();
        let mut command = project.command("git");
        let ran = command.args(["commit", "--quiet", "-m", "change"]).env("GIT_PROOF_PATIENCE", "50").output().unwrap();
        let said = String::from_utf8(ran.stderr).unwrap();
        assert!(said.contains("evidence.lock'"), "{said}");
        assert!(project.message("HEAD").contains("Proof-Root: s:"));
        std::fs::remove_file(&lock).unwrap();
        project.proof(repair);
        project.verify("HEAD").is("exact", &["s"]);
        assert_eq!(pending(&project), 0);
    }
}

#[test]
fn commit_of_a_finalized_session_whose_hook_was_killed_is_anchored_before_it_is_pushed() {
    let project = staged();
    project.close();
    commit_with(&project, MISSED, 5);
    assert!(project.message("HEAD").contains("Proof-Root: s:"));
    project.git(["push", "--quiet", "origin", "main"]);
    let clone = project.clone_of("main");
    clone.sync();
    clone.verify("HEAD").is("exact", &["s"]);
}

#[test]
fn commit_that_cannot_be_signed_is_anchored_by_hand_and_keeps_nobody_from_sharing() {
    let project = staged();
    project.close();
    project.git(["config", "proof.sign", "true"]);
    project.git(["config", "gpg.format", "ssh"]);
    project.git(["config", "user.signingkey", "/nowhere/there/is/no/key"]);
    let ran = project.commit_staged(&["-m", "change"]);
    assert!(ran.err.contains("git proof post-commit: "), "{}", ran.err);
    project.proof(&["sync"]);
    assert_eq!(pending(&project), 1);
    project.proof(&["anchor", "--no-sign"]);
    project.verify("HEAD").is("exact", &["s"]);
    project.proof(&["sync"]);
    assert_eq!(pending(&project), 0);
}

#[test]
fn commit_whose_hook_was_killed_is_found_after_it_was_left_or_rewritten() {
    let leave: [&[&[&str]]; 4] = [
        &[&["checkout", "--quiet", "-b", "other", "HEAD~1"]],
        &[
            &["checkout", "--quiet", "--detach", "HEAD"],
            &["commit", "--quiet", "--allow-empty", "--no-verify", "-m", "x"],
        ],
        &[&["reset", "--quiet", "--hard", "HEAD~1"]],
        &[
            &["checkout", "--quiet", "-b", "other", "HEAD~1"],
            &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--allow-empty", "-m", "other"],
            &["checkout", "--quiet", "main"],
            &["rebase", "--quiet", "other"],
        ],
    ];
    for steps in leave {
        let (project, missed) = missed();
        for step in steps {
            project.git(*step);
        }
        project.reflect();
        assert!(attested(&project, "s").contains(&missed), "{steps:?}");
    }
}

#[test]
fn commit_whose_hook_was_killed_is_attested_before_it_is_amended() {
    let (project, _) = missed();
    project.edit(6, "more of it");
    project.rewrite(&["commit", "--quiet", "--amend", "--all", "--no-edit"]);
    project.close();
    project.verify("HEAD").is("exact", &["s"]);
    assert_eq!(pending(&project), 0);
}

#[test]
fn amended_commit_whose_hook_was_killed_is_attested() {
    let project = Project::new();
    project.start("s");
    project.edit(5, "changed");
    project.commit("change");
    let hook = project.read(".git/hooks/post-commit");
    project.hook("post-commit", MISSED);
    project.edit(6, "more of it");
    project.rewrite(&["commit", "--quiet", "--amend", "--all", "--no-edit"]);
    project.write(".git/hooks/post-commit", &hook);
    project.close();
    project.verify("HEAD").is("exact", &["s"]);
}

#[test]
fn commit_that_was_not_made_after_all_is_forgotten_and_nothing_is_attested_for_it() {
    let project = staged();
    commit_in_vain(&project);
    assert_eq!(pending(&project), 1);
    project.commit_staged(&["-m", "made"]);
    assert_eq!((attested(&project, "s"), pending(&project)), (vec![project.head()], 0));
}

#[test]
fn commit_from_elsewhere_that_names_the_session_is_not_attested() {
    let project = staged();
    commit_in_vain(&project);
    project.git(["reset", "--quiet", "--hard"]);
    // On top of the very same HEAD, by someone who knows the session's name and nothing else.
    let forge = project.forge();
    std::fs::write(forge.place.join("theirs"), "theirs").unwrap();
    forge.git(&["add", "--all"]);
    forge.git(&["commit", "--quiet", "--date=2001-02-03T04:05:06Z", "-m", "theirs\n\nProof-Session: s"]);
    forge.git(&["push", "--quiet", "origin", "main"]);
    project.git(["pull", "--quiet", "--ff-only", "origin", "main"]);
    project.reflect();
    assert_eq!(attested(&project, "s"), [""; 0]);
}

#[test]
fn commits_that_went_well_leave_nothing_behind() {
    let project = Project::new();
    project.prove("s", 5);
    project.start("t");
    for line in 10..13 {
        project.edit(line, "changed");
        project.commit("change");
    }
    project.rewrite(&["commit", "--quiet", "--amend", "-m", "in other words"]);
    project.edit(20, "changed");
    project.commit("fixup! in other words");
    assert_eq!(pending(&project), 0);
}

#[test]
fn what_is_waited_for_does_not_pile_up() {
    let project = staged();
    let folder = project.place.join(".git/proof/pending");
    std::fs::create_dir_all(&folder).unwrap();
    for number in 0..50 {
        let head = "00".repeat(20);
        std::fs::write(folder.join(format!("2001-02-03.{number}")), format!("s\n1 +0000\n{head}\nrefs/heads/no\n"))
            .unwrap();
    }
    std::fs::write(folder.join("2001"), "not what it should be").unwrap();
    project.commit_staged(&["-m", "change"]);
    assert!(pending(&project) <= 16, "{}", pending(&project));
    assert_eq!(attested(&project, "s"), [project.head()]);
}

#[test]
fn verify_names_the_command_that_repairs_a_commit_without_an_anchor() {
    let project = Project::new();
    project.prove("before", 30);
    project.start("s");
    let missed = commit_with(&project, MISSED, 5);
    project.reflect();
    let judged = project.verify(&missed);
    let finding = judged.findings.iter().find(|finding| finding["code"] == "ANCHOR_MISSING").unwrap();
    let hint = finding["hint"].as_str().unwrap();
    assert!(hint.starts_with("git proof done --session s "), "{hint}");
    project.proof(&["done", "--session", "s", "what was done"]);
    project.verify(&missed).is("exact", &["s"]);
}

#[test]
fn session_that_a_lock_keeps_from_being_anchored_is_finalized_and_says_what_to_do() {
    for again in ["finalize", "anchor", "sync"] {
        let project = Project::new();
        project.start("s");
        project.edit(5, "changed");
        project.commit("change");
        project.reflect();
        let lock = project.place.join(".git/refs/notes/proof.lock");
        std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
        std::fs::write(&lock, "").unwrap();
        for _ in 0..2 {
            let mut command = project.command("git-proof");
            let ran: crate::store::scratch::Ran =
                command.args(["--json", "finalize"]).env("GIT_PROOF_PATIENCE", "50").output().unwrap().into();
            let error = ran.error("ERR_REPOSITORY_FAILED", 4);
            let hint = error["hint"].as_str().unwrap();
            assert!(hint.contains("rm '") && hint.ends_with("; then git proof anchor --session s"), "{hint}");
            assert_eq!(error["details"]["root"], project.proof(&["root"])["root"]);
        }
        std::fs::remove_file(&lock).unwrap();
        project.proof(&[again]);
        project.verify("HEAD").is("exact", &["s"]);
    }
}
