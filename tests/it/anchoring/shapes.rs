//! Notes trees are cut into directories exactly as git cuts them, so that neither rewrites what the other has written.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use git_proof::git::Git;
use git_proof::proof::digest::{CommitId, ObjectId, TreeId};

use super::clones::Clone;
use crate::change::scratch::open;
use crate::store::scratch::{Dice, Scratch};

/// A repository with a commit that has a note, from which git copies it to others.
fn with_note(scratch: &Scratch, format: &str) -> (String, ObjectId) {
    let repo = Clone::at(scratch, "repo");
    Clone::init(scratch, "repo", &[&format!("--object-format={format}")]);
    let commit = repo.commits(1).remove(0);
    repo.git(&["notes", "--ref=seed", "add", "--message", "a note", &commit]);
    let blob = repo.git(&["notes", "--ref=seed", "list", &commit]);
    (commit, ObjectId::parse(&blob).unwrap())
}

/// Ids that look random.
fn ids(number: usize, length: usize) -> Vec<String> {
    let mut dice = Dice(7);
    let mut id = || {
        let mut text = String::new();
        while text.len() < length {
            write!(text, "{:016x}", dice.roll()).unwrap();
        }
        text.truncate(length);
        text
    };
    (0..number).map(|_| id()).collect()
}

/// How many of these ids it takes until each digit begins two of them.
fn boundary(ids: &[String]) -> usize {
    let mut counts = BTreeMap::new();
    let full = |counts: &BTreeMap<u8, usize>| counts.len() == 16 && counts.values().all(|count| *count >= 2);
    let at = ids.iter().position(|id| {
        *counts.entry(id.as_bytes()[0]).or_insert(0) += 1;
        full(&counts)
    });
    at.unwrap() + 1
}

/// The tree in which git itself keeps the notes of these commits.
#[track_caller]
fn by_git(repo: &Clone<'_>, from: &str, ids: &[String]) -> String {
    repo.git(&["update-ref", "refs/notes/by-git", "refs/notes/seed"]);
    add_by_git(repo, "by-git", from, ids)
}

fn add_by_git(repo: &Clone<'_>, name: &str, from: &str, ids: &[String]) -> String {
    let pairs: Vec<String> = ids.iter().filter(|id| *id != from).map(|id| format!("{from} {id}\n")).collect();
    repo.git_with(&["notes", &format!("--ref={name}"), "copy", "--stdin"], pairs.concat().as_bytes());
    repo.tip(&format!("refs/notes/{name}^{{tree}}")).unwrap()
}

fn notes<'a>(ids: impl IntoIterator<Item = &'a String>, blob: ObjectId) -> BTreeMap<CommitId, ObjectId> {
    ids.into_iter().map(|id| (CommitId::parse(id).unwrap(), blob)).collect()
}

fn by_us(git: &Git, ids: &[String], blob: ObjectId) -> TreeId {
    git.put_notes(None, &notes(ids, blob)).unwrap()
}

/// Compares at the number of notes where the tree is first cut, and around it.
fn same_around_the_boundary(format: &str, length: usize) {
    let scratch = Scratch::without_repository();
    let (from, blob) = with_note(&scratch, format);
    let repo = Clone::at(&scratch, "repo");
    let git = open(&repo.path);
    let mut ids = ids(600, length);
    ids.insert(0, from.clone());
    let boundary = boundary(&ids);
    for number in [1, 2, boundary - 1, boundary, boundary + 1, 600] {
        let tree = by_us(&git, &ids[..number], blob);
        assert_eq!(tree.to_string(), by_git(&repo, &from, &ids[..number]), "{number} notes");
    }
    let one_by_one = ids[..boundary + 5]
        .iter()
        .fold(None, |tree: Option<TreeId>, id| Some(git.put_notes(tree.as_ref(), &notes([id], blob)).unwrap()));
    assert_eq!(one_by_one, Some(by_us(&git, &ids[..boundary + 5], blob)));
}

#[test]
fn tree_of_notes_is_the_one_that_git_writes() {
    same_around_the_boundary("sha1", 40);
}

#[test]
fn tree_of_notes_is_the_one_that_git_writes_with_sha256() {
    same_around_the_boundary("sha256", 64);
}

/// Ids of which so many begin with the same two digits that this directory is cut as well.
fn crowded(length: usize) -> Vec<String> {
    let mut ids = ids(160, length);
    for (number, id) in ids.iter_mut().enumerate().take(60) {
        let digit = b"0123456789abcdef"[number % 16] as char;
        id.replace_range(..3, &format!("ab{digit}"));
    }
    ids
}

#[test]
fn directory_that_is_full_is_cut_again_as_git_does() {
    let scratch = Scratch::without_repository();
    let (from, blob) = with_note(&scratch, "sha1");
    let repo = Clone::at(&scratch, "repo");
    let git = open(&repo.path);
    let mut ids = crowded(40);
    ids.push(from.clone());
    let tree = by_us(&git, &ids, blob);
    assert_eq!(tree.to_string(), by_git(&repo, &from, &ids));
    let listed = repo.git(&["ls-tree", "-r", "--name-only", &tree.to_string()]);
    assert!(listed.lines().any(|path| path.starts_with("ab/") && path.matches('/').count() == 2), "{listed}");
    let mut found = Vec::new();
    git.each_note(&tree, &mut |commit, _| found.push(commit)).unwrap();
    assert_eq!(found.len(), ids.len());
    for id in &ids {
        assert_eq!(git.find_note(&tree, &CommitId::parse(id).unwrap()).unwrap(), [blob]);
    }
}

#[test]
fn git_leaves_the_shape_of_our_tree_as_it_is() {
    let scratch = Scratch::without_repository();
    let (from, blob) = with_note(&scratch, "sha1");
    let repo = Clone::at(&scratch, "repo");
    let git = open(&repo.path);
    let mut ids = crowded(40);
    ids.insert(0, from.clone());
    let boundary = boundary(&ids);
    for number in [20, boundary - 2, boundary - 1, boundary, ids.len() - 1] {
        let tree = by_us(&git, &ids[..number], blob);
        repo.plant("refs/notes/ours", &tree.to_string(), &[]);
        let after = add_by_git(&repo, "ours", &from, &ids[number..=number]);
        assert_eq!(after, by_us(&git, &ids[..=number], blob).to_string(), "{number} notes");
    }
}

#[test]
fn union_of_two_trees_has_the_shape_that_git_gives_all_their_notes() {
    let scratch = Scratch::without_repository();
    let (from, blob) = with_note(&scratch, "sha1");
    let repo = Clone::at(&scratch, "repo");
    let git = open(&repo.path);
    let mut ids = crowded(40);
    ids.push(from.clone());
    let all = by_us(&git, &ids, blob);
    assert_eq!(all.to_string(), by_git(&repo, &from, &ids));
    let mut never = |_, _| panic!("both have the same notes");
    for cut in [1, 40, 100, 150] {
        let (left, right) = (by_us(&git, &ids[..cut], blob), by_us(&git, &ids[cut - 1..], blob));
        assert_eq!(git.unite_notes(&left, &right, &mut never).unwrap(), all, "{cut}");
        assert_eq!(git.unite_notes(&right, &left, &mut never).unwrap(), all, "{cut}");
    }
    // Halves that are both flat, and full only together.
    let flat = ids[60..160].to_vec();
    let boundary = boundary(&flat);
    let (left, right) = flat[..boundary].split_at(boundary / 2);
    let united = git.unite_notes(&by_us(&git, left, blob), &by_us(&git, right, blob), &mut never).unwrap();
    assert_eq!(united, by_us(&git, &flat[..boundary], blob));
}

#[test]
fn tree_that_holds_itself_again_and_again_is_walked_once() {
    let scratch = Scratch::without_repository();
    let (_, blob) = with_note(&scratch, "sha1");
    let repo = Clone::at(&scratch, "repo");
    let git = open(&repo.path);
    let mut tree = repo.tree(&[super::clones::entry("100644", &blob.to_string(), &"0".repeat(32))]);
    for _ in 0..4 {
        let entries: Vec<String> =
            (0..256).map(|digits| super::clones::entry("040000", &tree, &format!("{digits:02x}"))).collect();
        tree = repo.tree(&entries);
    }
    let mut found = 0;
    let passed = git.each_note(&TreeId::parse(&tree).unwrap(), &mut |_, _| found += 1).unwrap();
    assert_eq!((found, passed.directories, passed.cut_short), (1, 4 * 255, false));
    assert!(passed.remark().unwrap().contains("stands there more than once"), "{passed:?}");
}
