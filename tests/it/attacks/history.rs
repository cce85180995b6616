//! Merges: exempt only as git itself would have made them.

use super::{Proven, STRICT};

/// Two proven branches off the base, ready to be merged.
fn forked(policy: &str) -> Proven {
    let proven = Proven::with_policy(policy);
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.base]);
    proven.write("b.txt", "b\n");
    proven.prove("t", "Add b");
    proven.git(&["checkout", "--quiet", "main"]);
    proven
}

/// Replaces the merge at HEAD by one with what is in the worktree.
fn amend(proven: &Proven) {
    proven.git(&["add", "--all"]);
    proven.git(&["commit", "--quiet", "--amend", "--no-edit"]);
}

#[test]
fn clean_merge_is_exempt() {
    let proven = forked(STRICT);
    proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "side"]);
    let judged = proven.gate();
    judged.passes();
    assert_eq!(judged.said["commits"][0]["verdict"], "exempt", "{judged:?}");
}

#[test]
fn clean_merge_must_be_proven_where_policy_says_merges() {
    let proven = forked("[proof_grade]\nrequire = \"all\"\nmerges = true\n");
    proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "side"]);
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn merge_with_content_of_its_own_is_judged_like_any_commit() {
    let proven = forked(STRICT);
    proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "side"]);
    proven.write("evil.txt", "evil\n");
    amend(&proven);
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn merge_with_content_of_its_own_is_judged_by_the_paths_that_nobody_else_made() {
    let proven = forked("[proof_grade]\npaths = [\"src/**\"]\n");
    proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "side"]);
    proven.write("docs/x.txt", "harmless\n");
    amend(&proven);
    proven.gate().passes();
    proven.write("src/x.rs", "evil\n");
    amend(&proven);
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn merge_that_undoes_a_parent_is_judged_like_any_commit() {
    let proven = forked(STRICT);
    proven.git(&["merge", "--quiet", "--no-ff", "--strategy=ours", "-m", "Merge", "side"]);
    proven.gate().fails("ANCHOR_MISSING");
}

/// A merge that keeps the tree of a side with which main is in conflict, and so undoes what main did meanwhile. Its first
/// parent is the side: against that parent nothing has changed.
fn undone_by_a_conflict(mut proven: Proven, path: &str, text: &str) {
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.base]);
    proven.write("a.txt", "one\ntwo\nthree\nfour\nfünf\nsix\nseven\neight\nnine\n");
    proven.commit("Five in German");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.write(path, text);
    proven.prove("t", "What is undone");
    proven.base = proven.tip("HEAD");
    let tree = proven.tip("side^{tree}");
    let merge = proven.git(&["commit-tree", &tree, "-p", "side", "-p", "main", "-m", "Merge main"]);
    proven.git(&["checkout", "--quiet", "--detach", &merge]);
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn conflict_does_not_hide_what_a_merge_undoes() {
    let proven = Proven::with_policy("[proof_grade]\npaths = [\"src/**\"]\n");
    undone_by_a_conflict(proven, "src/fix.rs", "the fix\n");
}

#[test]
fn conflict_does_not_hide_that_a_merge_undoes_the_policy() {
    undone_by_a_conflict(Proven::new(), ".proof/policy.toml", "[proof]\nrooted = true\n");
}

#[test]
fn octopus_is_judged_like_any_commit() {
    let proven = forked(STRICT);
    proven.git(&["checkout", "--quiet", "-b", "third", &proven.base]);
    proven.write("c.txt", "c\n");
    proven.prove("u", "Add c");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "side", "third"]);
    assert_eq!(proven.git(&["show", "--no-patch", "--format=%P", "HEAD"]).split(' ').count(), 3);
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn octopus_with_a_session_of_its_own_passes_for_itself_and_for_no_other() {
    let proven = forked(STRICT);
    proven.git(&["checkout", "--quiet", "-b", "third", &proven.base]);
    proven.write("c.txt", "c\n");
    let bad = proven.commit("Add c");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.scratch.start("o", &[]);
    proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "side", "third"]);
    proven.scratch.run(["hook", "post-commit"]).text();
    proven.scratch.record("reflection", "three sides, no conflict");
    proven.scratch.json(&["finalize"]);
    let judged = proven.gate();
    judged.fails("ANCHOR_MISSING");
    let commits = judged.said["commits"].as_array().unwrap();
    let failed: Vec<_> = commits.iter().filter(|commit| commit["verdict"] == "missing").collect();
    assert_eq!((failed.len(), failed[0]["commit"].as_str()), (1, Some(bad.as_str())), "{judged:?}");
    let merge = commits.iter().find(|commit| commit["commit"] == proven.tip("HEAD")).unwrap();
    assert_eq!((&merge["verdict"], &merge["binding"]), (&"pass".into(), &"exact".into()), "{merge}");
}

#[test]
fn merge_of_histories_without_a_common_ancestor_is_judged_like_any_commit() {
    let proven = Proven::with_policy(STRICT);
    let tree = proven.tip("HEAD^{tree}");
    let root = proven.git(&["commit-tree", &tree, "-m", "Another beginning"]);
    let merge = proven.git(&["commit-tree", &tree, "-p", &proven.head, "-p", &root, "-m", "Merge"]);
    proven.git(&["update-ref", "HEAD", &merge]);
    let judged = proven.gate();
    judged.fails("ANCHOR_MISSING");
    assert_eq!(judged.said["summary"]["missing"], 2, "{judged:?}");
}

#[test]
fn settings_attributes_and_drivers_do_not_decide_what_a_clean_merge_is() {
    let proven = Proven::with_policy(STRICT);
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.base]);
    proven.write("a.txt", "one\ntwo\nthree\nfour\nfünf\nsix\nseven\neight\nnine\n");
    proven.prove("t", "Five in German");
    proven.git(&["checkout", "--quiet", "main"]);
    let canary = proven.scratch.around().join("canary");
    // A driver that takes what the attacker wants in the place of a conflict.
    let driver = format!("touch {}; echo evil > %A", canary.display());
    for (key, value) in [("merge.evil.driver", driver.as_str()), ("merge.default", "evil"), ("merge.renameLimit", "1")]
    {
        proven.git(&["config", key, value]);
    }
    proven.write(".git/info/attributes", "* merge=evil\n");
    proven.write(".gitattributes", "* merge=evil\n");
    let blob = proven.blob("evil\n");
    let policy = proven.git(&["rev-parse", "HEAD:.proof"]);
    let tree = proven.git_with(&["mktree"], format!("040000 tree {policy}\t.proof\n100644 blob {blob}\ta.txt\n"));
    let merge = proven.git(&["commit-tree", &tree, "-p", &proven.head, "-p", "side", "-m", "Merge"]);
    proven.git(&["update-ref", "HEAD", &merge]);
    proven.gate().fails("ANCHOR_MISSING");
    assert!(!canary.exists(), "a program was run");
}
