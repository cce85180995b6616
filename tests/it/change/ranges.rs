//! Ranges, merges, commits that do nothing, and what cannot be read.

use std::fs;

use git_proof::git::{DIRECTORY, ObjectError, TreeEntry};
use git_proof::proof::digest::{ChangeId, CommitId, TreeId};

use super::scratch::{FILE, Scratch, output};
use crate::common::command;

/// A repository whose files are edited in its worktree.
struct Work {
    scratch: Scratch,
}

impl Work {
    /// With a first commit on `main` and a branch `feature` of two more.
    fn new() -> Self {
        let work = Self { scratch: Scratch::new() };
        work.write(&[]);
        work.commit();
        work.scratch.git(["checkout", "-q", "-b", "feature"]);
        work.write(&[50]);
        work.commit();
        work.write(&[50, 52]);
        work.commit();
        work.scratch.git(["checkout", "-q", "main"]);
        work
    }

    /// A hundred lines, of which these are changed.
    fn write(&self, changed: &[u32]) {
        let line = |number| format!("{} {number}\n", if changed.contains(&number) { "changed" } else { "line" });
        fs::write(self.scratch.path().join("file"), (0..100).map(line).collect::<String>()).unwrap();
    }

    fn commit(&self) {
        self.scratch.git(["add", "-A"]);
        self.scratch.git(["commit", "-q", "--allow-empty", "-m", "x"]);
    }

    fn change(&self, commit: &str) -> Option<ChangeId> {
        let git = self.scratch.open();
        let id = CommitId::parse(&self.scratch.git_line(["rev-parse", commit])).unwrap();
        git.change_id(&git.commit(&id).unwrap()).unwrap()
    }

    fn range(&self, base: &str, head: &str) -> Option<ChangeId> {
        let tree =
            |name: &str| TreeId::parse(&self.scratch.git_line(["rev-parse", &format!("{name}^{{tree}}")])).unwrap();
        let base = self.scratch.git_line(["merge-base", base, head]);
        self.scratch.open().change_between(Some(&tree(&base)), &tree(head)).unwrap()
    }

    fn squash(&self) {
        self.scratch.git(["merge", "-q", "--squash", "feature"]);
        self.commit();
    }
}

#[test]
fn squashed_range_is_the_change_of_the_squash() {
    let work = Work::new();
    let range = work.range("main", "feature");
    work.squash();
    assert!(range.is_some());
    assert_eq!(work.change("main"), range);
    assert_ne!(work.change("feature"), range);
}

#[test]
fn squashed_range_is_that_also_after_the_file_was_edited_elsewhere() {
    let work = Work::new();
    work.write(&[10, 90]);
    work.commit();
    work.squash();
    assert_eq!(work.change("main"), work.range("main~1", "feature"));
}

#[test]
fn squashed_range_is_another_change_after_an_edit_nearby() {
    let work = Work::new();
    work.write(&[54]);
    work.commit();
    // Git would call this a conflict; a person resolves it.
    work.write(&[50, 52, 54]);
    work.commit();
    assert_ne!(work.change("main"), work.range("main~1", "feature"));
}

#[test]
fn cherry_picked_change_is_the_same_change() {
    let work = Work::new();
    work.write(&[10]);
    work.commit();
    work.scratch.git(["cherry-pick", "feature~1"]);
    assert_eq!(work.change("main"), work.change("feature~1"));
}

#[test]
fn merge_and_empty_commit_have_no_change_id() {
    let work = Work::new();
    work.commit();
    assert_eq!(work.change("main"), None);
    work.scratch.git(["merge", "-q", "--no-ff", "-m", "merge", "feature"]);
    assert_eq!(work.change("main"), None);
    assert_eq!(work.range("main", "main"), None);
    assert!(work.change("feature").is_some());
}

#[test]
fn first_commit_is_a_change_of_the_empty_tree() {
    let scratch = Scratch::new();
    let commits = scratch.commits(&[vec![(b"a", FILE, b"1\n"), (b"b/c", FILE, b"2")], vec![], vec![]]);
    for id in &commits {
        scratch.check_commit(id);
    }
    // One without files, first and later.
    let scratch = Scratch::new();
    for id in scratch.commits(&[vec![], vec![(b"a", FILE, b"1\n")]]) {
        scratch.check_commit(&id);
    }
}

#[test]
fn permissions_that_git_does_not_see_are_no_change() {
    let scratch = Scratch::new();
    let blob = scratch.git_line(["rev-parse", &format!("{}:f", scratch.commits(&[vec![(b"f", FILE, b"x\n")]])[0])]);
    let raw = |mode: &str| {
        let id: Vec<u8> = (0..40).step_by(2).map(|at| u8::from_str_radix(&blob[at..at + 2], 16).unwrap()).collect();
        let tree = [mode.as_bytes(), b" f\0", &id].concat();
        let mut git = command("git", scratch.path());
        git.args(["hash-object", "-t", "tree", "--literally", "-w", "--stdin"]);
        String::from_utf8(output(&mut git, &tree)).unwrap().trim_end().to_owned()
    };
    let trees = ["100644", "100664", "100755", "100775", "100600"].map(raw);
    let mut parent = Vec::new();
    for tree in trees {
        let commit =
            scratch.git_line(["commit-tree", "-m", "x", &tree].into_iter().chain(parent.iter().map(String::as_str)));
        scratch.check_commit(&CommitId::parse(&commit).unwrap());
        parent = vec!["-p".to_owned(), commit];
    }
}

#[test]
fn what_is_not_in_the_clone_is_missing_and_not_empty() {
    let scratch = Scratch::new();
    let commits = scratch.commits(&[vec![(b"f", FILE, b"1\n")], vec![(b"f", FILE, b"2\n")]]);
    scratch.git(["config", "uploadpack.allowFilter", "true"]);
    let from = format!("file://{}", scratch.path().display());
    for (option, kind) in [("--depth=1", "commit"), ("--filter=blob:none", "blob")] {
        let folder = tempfile::tempdir().unwrap();
        output(command("git", folder.path()).args(["clone", "-q", "--bare", option, &from, "clone"]), b"");
        let git = super::scratch::open(&folder.path().join("clone"));
        let error = git.change_id(&git.commit(&commits[1]).unwrap()).unwrap_err();
        assert!(matches!(error, ObjectError::Missing(_)), "{kind}: {error}");
    }
}

#[test]
fn directories_in_directories_are_followed_as_far_as_git_goes() {
    let scratch = Scratch::new();
    let git = scratch.open();
    let id = git.write_blob(b"x\n").unwrap();
    let mut tree = git.write_tree(&mut [TreeEntry { mode: 0o100_644, name: b"f".to_vec(), id }]).unwrap();
    let mut deeper = || {
        let inner = tree;
        tree = git.write_tree(&mut [TreeEntry { mode: DIRECTORY, name: b"d".to_vec(), id: inner.0 }]).unwrap();
        tree
    };
    let deepest = (0..2048).map(|_| deeper()).last().unwrap();
    let path = [&b"d/".repeat(2048)[..], b"f"].concat();
    assert_eq!(git.paths_between(None, &deepest).unwrap(), [path]);
    assert!(matches!(git.paths_between(None, &deeper()), Err(ObjectError::Limit(..))));
}
