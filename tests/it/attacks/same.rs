//! One verdict, byte for byte, wherever it is asked for.

use std::path::Path;

use super::{Proven, STRICT};
use crate::store::scratch::Ran;

/// What a place says of a range, as it is printed.
fn said(proven: &Proven, place: &Path, range: [&str; 2]) -> (Option<i32>, String) {
    let mut command = proven.scratch.proof(["-C", place.to_str().unwrap(), "--json", "gate"]);
    let ran: Ran = command.args(["--base", range[0], "--head", range[1]]).output().unwrap().into();
    (ran.exit, ran.out)
}

#[test]
fn author_clone_server_and_worktree_say_the_same() {
    let proven = Proven::with_policy(STRICT);
    proven.write("b.txt", "b\n");
    proven.commit("Bad");
    proven.write("c.txt", "c\n");
    proven.prove("t", "Good");
    let around = proven.scratch.around();
    let (server, clone, tree) = (around.join("server.git"), around.join("clone"), around.join("tree"));
    proven.git(&["init", "--quiet", "--bare", server.to_str().unwrap()]);
    proven.git(&["remote", "add", "origin", server.to_str().unwrap()]);
    proven.git(&["push", "--quiet", "origin", "main"]);
    proven.scratch.json(&["sync"]);
    proven.git(&["clone", "--quiet", "--branch", "main", server.to_str().unwrap(), clone.to_str().unwrap()]);
    proven.scratch.json(&["-C", clone.to_str().unwrap(), "sync"]);
    proven.git(&["worktree", "add", "--quiet", "--detach", tree.to_str().unwrap(), &proven.base]);
    let bad = proven.tip("HEAD");
    for range in [[&*proven.base, &*proven.head], [&*proven.base, &*bad]] {
        let author = said(&proven, &proven.scratch.place, range);
        assert_eq!(author.0, Some(i32::from(range[1] == bad)), "{}", author.1);
        for place in [&server, &clone, &tree] {
            assert_eq!(said(&proven, place, range), author, "{}", place.display());
        }
    }
}

#[test]
fn clone_that_borrows_its_objects_says_the_same() {
    let proven = Proven::with_policy(STRICT);
    let borrowed = proven.scratch.around().join("borrowed.git");
    proven.git(&["clone", "--quiet", "--mirror", "--shared", ".", borrowed.to_str().unwrap()]);
    assert!(borrowed.join("objects/info/alternates").is_file());
    let range = [&*proven.base, &*proven.head];
    assert_eq!(said(&proven, &borrowed, range), said(&proven, &proven.scratch.place, range));
    // Without what it borrowed it knows nothing, and says so.
    std::fs::remove_file(borrowed.join("objects/info/alternates")).unwrap();
    let (exit, out) = said(&proven, &borrowed, range);
    assert!(!matches!(exit, Some(0 | 1 | 101) | None), "{exit:?} {out}");
}
