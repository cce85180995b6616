//! Clones that do not have everything: what is missing could not be checked, which is another thing than broken.

use super::clones::{Clone, EVIDENCE};
use crate::store::scratch::{Scratch, text};

/// A remote with two proven commits and their proofs.
fn proven(scratch: &Scratch) -> (Clone<'_>, Vec<String>) {
    let remote = Clone::remote(scratch);
    remote.git(&["config", "uploadpack.allowFilter", "true"]);
    let repo = remote.clone("repo", &[]);
    // A file that both commits change: the first version is in no checkout of the second.
    let mut commits = Vec::new();
    for (session, content) in [("first", "1\n"), ("second", "2\n")] {
        std::fs::write(repo.path.join("changed"), content).unwrap();
        repo.git(&["add", "changed"]);
        commits.push(repo.explain(session));
    }
    repo.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    repo.json(&["sync"]);
    (remote, commits)
}

/// The objects that a clone lacks, as git lists them.
fn missing(clone: &Clone<'_>) -> usize {
    let list = clone.git(&["rev-list", "--objects", "--missing=print", "--all"]);
    list.lines().filter(|line| line.starts_with('?')).count()
}

#[test]
fn partial_clone_syncs_all_that_was_proven_and_needs_no_file_to_check_it() {
    let scratch = Scratch::without_repository();
    let (remote, commits) = proven(&scratch);
    let partial = remote.clone("partial", &["--filter=blob:none"]);
    partial.json(&["sync"]);
    let lacking = missing(&partial);
    assert!(lacking > 0, "the clone is not partial");
    let evidence = partial.git(&["rev-list", "--objects", "--missing=print", EVIDENCE]);
    assert!(!evidence.contains('?'), "{evidence}");
    for commit in &commits {
        let (exit, answer) = partial.verdict(commit);
        // The evidence names each commit by its id.
        assert_eq!((exit, text(&answer, "verdict")), (Some(0), "pass"), "{answer}");
    }
    assert_eq!(missing(&partial), lacking, "something was fetched on the way");
}

#[test]
fn partial_clone_can_check_what_it_has_fetched() {
    let scratch = Scratch::without_repository();
    let (remote, commits) = proven(&scratch);
    let partial = remote.clone("partial", &["--filter=blob:none"]);
    partial.json(&["sync"]);
    // The gc that would follow deletes empty folders while git itself makes the next commit, which then fails.
    partial.git(&["fetch", "--quiet", "--refetch", "--no-filter", "--no-auto-maintenance", "origin"]);
    for commit in &commits {
        partial.passes(commit);
    }
    let third = partial.explain("third");
    partial.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    partial.json(&["sync"]);
    remote.passes(&third);
}

#[test]
fn partial_clone_whose_proofs_are_filtered_out_cannot_check() {
    let scratch = Scratch::without_repository();
    let (remote, commits) = proven(&scratch);
    let partial = remote.clone("partial", &["--filter=blob:none"]);
    partial.git(&["fetch", "--quiet", "origin", "refs/proof/*:refs/proof/*", "refs/notes/*:refs/notes/*"]);
    let lacking = missing(&partial);
    let (exit, answer) = partial.verdict(&commits[1]);
    assert_eq!((exit, text(&answer, "verdict")), (Some(0), "exempt"), "no proof is required: {answer}");
    std::fs::create_dir(partial.path.join(".proof")).unwrap();
    std::fs::write(partial.path.join(".proof/policy.toml"), "[proof_grade]\nrequire = \"all\"\n").unwrap();
    partial.git(&["add", ".proof"]);
    partial.git(&["commit", "--quiet", "--message", "All of them"]);
    partial.git(&["config", "proof.rules", "HEAD"]);
    let (exit, answer) = partial.verdict(&commits[1]);
    assert_eq!((exit, text(&answer, "verdict")), (Some(3), "unchecked"), "{answer}");
    assert_eq!(missing(&partial), lacking, "something was fetched on the way");
}

#[test]
fn shallow_clone_cannot_check_what_is_cut_off_and_never_fails_it() {
    let scratch = Scratch::without_repository();
    let (remote, commits) = proven(&scratch);
    let shallow = remote.clone("shallow", &["--depth=1"]);
    shallow.git(&["fetch", "--quiet", "origin", "refs/proof/evidence:refs/proof/evidence"]);
    shallow.git(&["fetch", "--quiet", "origin", "refs/notes/proof:refs/notes/proof"]);
    let (exit, answer) = shallow.verdict(&commits[1]);
    assert_eq!((exit, text(&answer, "verdict")), (Some(3), "unchecked"), "{answer}");
    let hint = text(&answer["commits"][0]["findings"][0], "hint");
    assert!(hint.contains("--unshallow"), "{answer}");
    shallow.git(&["fetch", "--quiet", "--unshallow"]);
    shallow.passes(&commits[1]);
    shallow.passes(&commits[0]);
}

#[test]
fn shallow_clone_anchors_and_syncs_its_own_commits() {
    let scratch = Scratch::without_repository();
    let (remote, _) = proven(&scratch);
    let shallow = remote.clone("shallow", &["--depth=1"]);
    let third = shallow.explain("third");
    shallow.passes(&third);
    shallow.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    shallow.json(&["sync"]);
    remote.passes(&third);
    remote.is_whole();
}
