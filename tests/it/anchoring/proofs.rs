//! What is proven against the anchors of a repository, and what is staged as git itself would write it.

use git_proof::context::Context;
use git_proof::git::Git;

use crate::store::scratch::{Scratch, text};

fn committed(scratch: &Scratch) {
    scratch.git(["config", "user.name", "A"]);
    scratch.git(["config", "user.email", "a@b"]);
    std::fs::write(scratch.place.join("file"), "one\n").unwrap();
    scratch.git(["add", "file"]);
    scratch.git(["commit", "-q", "-m", "one"]);
}

#[test]
fn proof_holds_against_an_anchor_of_the_repository_and_not_without_one() {
    let scratch = Scratch::with_session();
    std::fs::create_dir(scratch.place.join(".proof")).unwrap();
    std::fs::write(scratch.place.join(".proof/policy.toml"), "[proof]\nrooted = false\n").unwrap();
    scratch.git(["add", ".proof"]);
    scratch.git(["config", "proof.rules", "HEAD"]);
    committed(&scratch);
    let record = scratch.record("plan", "read first");
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
    let proof = scratch.run(["prove", "--record", text(&record, "id")]).out;
    std::fs::write(scratch.place.join("proof.json"), &proof).unwrap();
    scratch.run(["--json", "check-proof", "proof.json"]).error("ERR_NO_TRUSTED_ROOT", 3);
    scratch.json(&["anchor"]);
    assert_eq!(scratch.json(&["check-proof", "proof.json"])["valid"], true);
    // The anchor knows the count; a proof that lies about it is refused.
    let forged = proof.replace("\"count\":2", "\"count\":3");
    assert_ne!(forged, proof);
    std::fs::write(scratch.place.join("proof.json"), forged).unwrap();
    scratch.run(["--json", "check-proof", "proof.json"]).error("ERR_PROOF_INVALID", 1);
}

#[test]
fn staged_tree_is_the_one_that_git_writes() {
    let scratch = Scratch::new();
    committed(&scratch);
    let same = |what: &str| {
        let git = Git::discover(&Context::new(scratch.place.clone())).unwrap();
        let ours = git.staged_tree().unwrap().map(|tree| tree.to_string());
        assert_eq!(ours.as_deref(), Some(scratch.git(["write-tree"]).trim()), "{what}");
    };
    same("nothing staged");
    std::fs::create_dir_all(scratch.place.join("a/b")).unwrap();
    std::fs::write(scratch.place.join("a/b/c"), "deep").unwrap();
    std::os::unix::fs::symlink("file", scratch.place.join("link")).unwrap();
    scratch.git(["add", "."]);
    scratch.git(["update-index", "--chmod=+x", "file"]);
    same("files, a link, a program");
    std::fs::write(scratch.place.join("later"), "announced").unwrap();
    scratch.git(["add", "--intent-to-add", "later"]);
    same("a file that is only announced");
    for version in ["4", "2"] {
        scratch.git(["update-index", "--index-version", version]);
        same("another version of the index");
    }
    scratch.git(["update-index", "--split-index"]);
    std::fs::write(scratch.place.join("file"), "two\n").unwrap();
    scratch.git(["add", "file"]);
    same("an index in two parts");
    scratch.git(["rm", "-q", "-r", "--cached", "a"]);
    same("a directory less");
}

#[test]
fn range_that_git_does_not_know_is_refused_in_one_line() {
    let scratch = Scratch::new();
    committed(&scratch);
    let error = scratch.run(["--json", "verify", "here..there"]).error("ERR_COMMIT_NOT_FOUND", 2);
    assert!(text(&error, "message").contains("\"here\" is not a commit"), "{error}");
    assert!(!text(&error, "message").contains('\n'), "{error}");
}
