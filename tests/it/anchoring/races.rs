//! Many who anchor at once, and git itself among them, which overwrites what it has not seen.

use std::process::Stdio;
use std::thread;

use super::clones::{Clone, NOTES};
use crate::store::scratch::{Ran, Scratch};

/// Anchors of each writer. `GIT_PROOF_TEST_RACE` asks for more.
fn rounds() -> usize {
    std::env::var("GIT_PROOF_TEST_RACE").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

/// Anchors a session on each of these commits, one process after the other. The answer is all they said.
fn anchors(repo: &Clone<'_>, commits: &[String]) -> String {
    let mut said = String::new();
    for commit in commits {
        let mut command = repo.proof(&["anchor", "--session", "s", "--commit", commit]);
        let ran: Ran = command.env("GIT_PROOF_PATIENCE", "60000").output().unwrap().into();
        assert_eq!(ran.exit, Some(0), "{}", ran.err);
        said.push_str(&ran.err);
    }
    said
}

/// A repository with a finalized session and commits for two writers.
fn with_commits(scratch: &Scratch) -> (Clone<'_>, Vec<String>, Vec<String>) {
    let repo = Clone::of(scratch);
    let mut ours = repo.commits(2 * rounds());
    repo.session("s");
    let others = ours.split_off(rounds());
    (repo, ours, others)
}

#[test]
fn two_processes_that_anchor_at_once_lose_no_line() {
    let scratch = Scratch::new();
    let (repo, one, two) = with_commits(&scratch);
    let said = thread::scope(|scope| {
        let other = scope.spawn(|| anchors(&repo, &two));
        anchors(&repo, &one) + &other.join().unwrap()
    });
    assert!(!said.contains("overwritten"), "{said}");
    repo.has_one_line_each(one.iter().chain(&two));
    repo.is_whole();
}

#[test]
fn session_that_is_anchored_on_one_commit_by_many_at_once_is_there_once() {
    let scratch = Scratch::new();
    let repo = Clone::of(&scratch);
    let commits = repo.commits(8);
    repo.session("s");
    for commit in &commits {
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| anchors(&repo, std::slice::from_ref(commit)));
            }
        });
    }
    repo.has_one_line_each(&commits);
}

#[test]
fn race_with_notes_of_git_loses_no_line_of_ours() {
    let scratch = Scratch::new();
    let (repo, ours, others) = with_commits(&scratch);
    let mut said = thread::scope(|scope| {
        scope.spawn(|| {
            for commit in &others {
                let mut command = repo.command("git");
                command.args(["notes", "--ref=proof", "add", "--force", "--message", "of git", commit]);
                // Where we hold the ref it fails, and where it does not it overwrites.
                let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
            }
        });
        anchors(&repo, &ours)
    });
    let before = repo.notes();
    let lost = ours.iter().filter(|commit| !before.contains_key(*commit)).count();
    said.push_str(&anchors(&repo, &ours[..1]));
    let notes = repo.notes();
    for commit in &ours {
        assert_eq!(notes.get(commit).map(Vec::len), Some(1), "{commit}");
    }
    assert!(lost == 0 || said.contains("overwritten"), "{lost} lines were put back without a word: {said}");
    let back = said.matches("overwritten").count();
    eprintln!("{0} of {0} lines of ours are there; {back} times some were put back, {lost} at the end", ours.len());
    repo.is_whole();
}

/// A repository in which git has overwritten the anchor on the last of three commits.
fn overwritten(scratch: &Scratch) -> (Clone<'_>, Vec<String>) {
    let repo = Clone::of(scratch);
    let commits = repo.commits(3);
    repo.session("s");
    repo.anchor("s", &commits[0]);
    let before = repo.tip(NOTES).unwrap();
    repo.anchor("s", &commits[2]);
    // What a `git notes add` that began before does: it puts its own on top of what it had read.
    repo.git(&["update-ref", NOTES, &before]);
    repo.git(&["notes", "--ref=proof", "add", "--message", "of git", &commits[1]]);
    assert!(!repo.notes().contains_key(&commits[2]));
    (repo, commits)
}

#[track_caller]
fn is_back(repo: &Clone<'_>, commits: &[String], said: &Ran) {
    assert_eq!(said.exit, Some(0), "{said:?}");
    assert!(said.err.contains("another writer had overwritten"), "{said:?}");
    repo.has_one_line_each(commits);
}

#[test]
fn next_anchor_puts_back_what_git_has_overwritten_and_says_so() {
    let scratch = Scratch::new();
    let (repo, commits) = overwritten(&scratch);
    is_back(&repo, &commits, &repo.run(&["anchor", "--session", "s", "--commit", &commits[0]]));
}

#[test]
fn next_sync_puts_back_what_git_has_overwritten_and_says_so() {
    let scratch = Scratch::new();
    let (repo, commits) = overwritten(&scratch);
    let remote = Clone::remote(&scratch);
    is_back(&repo, &commits, &repo.run(&["sync", remote.path.to_str().unwrap()]));
    remote.has_one_line_each(&commits);
}

#[test]
fn next_hook_puts_back_what_git_has_overwritten_and_says_so() {
    let scratch = Scratch::new();
    let (repo, commits) = overwritten(&scratch);
    is_back(&repo, &commits, &repo.run(&["hook", "post-commit"]));
}

#[test]
fn anchors_come_back_when_the_whole_ref_is_gone() {
    let scratch = Scratch::new();
    let (repo, commits) = overwritten(&scratch);
    repo.git(&["update-ref", "-d", NOTES]);
    let ran = repo.run(&["anchor", "--session", "s", "--commit", &commits[0]]);
    assert!(ran.err.contains("2 lines are back"), "{ran:?}");
    repo.has_one_line_each([&commits[0], &commits[2]]);
}

#[test]
fn reftable_loses_no_line_in_a_race() {
    let scratch = Scratch::without_repository();
    let made = scratch.command("git").args(["init", "--quiet", "--ref-format=reftable"]).output().unwrap();
    if !made.status.success() {
        return eprintln!("left out: this git knows no reftable");
    }
    scratch.git(["symbolic-ref", "HEAD", "refs/heads/main"]);
    let repo = Clone::of(&scratch);
    let commits = repo.commits(30);
    repo.session("s");
    thread::scope(|scope| {
        scope.spawn(|| anchors(&repo, &commits[..15]));
        anchors(&repo, &commits[15..]);
    });
    repo.has_one_line_each(&commits);
}
