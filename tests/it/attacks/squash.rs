//! A range that is said to explain a commit: only if git would make the commit of it, and only if somebody else than the
//! author of that line chose where it starts.

use super::{Proven, STRICT};
use crate::rewrite::joined::{main_goes_on, topic};
use crate::rewrite::project::Project;

const PLAIN: &str = "one\ntwo\nthree\nfour\nFIVE\nsix\nseven\neight\nnine\n";
const CHECKED: &str = "one\ncheck\ntwo\nthree\nfour\nFIVE\nsix\nseven\neight\nnine\n";

/// A proven commit, a check that a proven commit adds after it, and a commit that removes the check again. The answer is
/// the commit with the check, and the one that removes it.
fn removed_check(proven: &Proven) -> (String, String) {
    proven.write("a.txt", CHECKED);
    let (checked, _) = proven.prove("check", "Check");
    proven.gate().passes();
    let evil = proven.made(&proven.tree_with(&checked, &[("a.txt", PLAIN)]), &[&checked], "Evil");
    (checked, evil)
}

/// The range is written down for the commit, and does not help.
#[track_caller]
fn is_refused(proven: &Proven, evil: &str, range: [&str; 2]) {
    proven.sight(evil, &[range]);
    proven.gate_of(&proven.tip(&format!("{evil}^")), evil).is_turned_away();
}

#[test]
fn squash_by_a_base_that_is_no_ancestor_is_refused() {
    let proven = Proven::with_policy(STRICT);
    let (checked, evil) = removed_check(&proven);
    let base = proven.made(&proven.tree_with(&checked, &[]), &[], "Made for the purpose");
    is_refused(&proven, &evil, [&base, &proven.head]);
}

#[test]
fn squash_by_a_base_that_is_a_descendant_of_the_head_is_refused() {
    let proven = Proven::with_policy(STRICT);
    let (checked, evil) = removed_check(&proven);
    is_refused(&proven, &evil, [&checked, &proven.head]);
    let later = proven.made(&proven.tip(&format!("{checked}^{{tree}}")), &[&checked], "Later");
    is_refused(&proven, &evil, [&later, &proven.head]);
}

#[test]
fn squash_by_a_base_that_a_merge_by_hand_makes_an_ancestor_is_refused() {
    let proven = Proven::with_policy(STRICT);
    let (checked, evil) = removed_check(&proven);
    let base = proven.made(&proven.tree_with(&checked, &[]), &[], "Made for the purpose");
    let tree = proven.tip(&format!("{}^{{tree}}", proven.head));
    for parents in [[&*base, &*proven.head], [&*proven.head, &*base]] {
        let head = proven.made(&tree, &parents, "Merge");
        is_refused(&proven, &evil, [&base, &head]);
    }
}

#[test]
fn squash_by_a_base_below_a_copy_of_a_proven_commit_is_refused() {
    let proven = Proven::with_policy(STRICT);
    let (checked, evil) = removed_check(&proven);
    // The copy has the proven tree, and a parent with the check.
    let base = proven.made(&proven.tree_with(&checked, &[]), &[&proven.base], "Made for the purpose");
    let head = proven.made(&proven.tip(&format!("{}^{{tree}}", proven.head)), &[&base], "Shout five");
    proven.git(&["notes", "--ref=proof", "copy", &proven.head, &head]);
    is_refused(&proven, &evil, [&base, &head]);
}

#[test]
fn squash_by_merges_that_cross_is_refused() {
    let proven = Proven::with_policy(STRICT);
    let (checked, evil) = removed_check(&proven);
    let (with, without) = (proven.tree_with(&checked, &[]), proven.tree_with(&checked, &[("a.txt", PLAIN)]));
    let doc = |content: &str| proven.tree_with(&checked, &[("a.txt", content), ("doc.txt", "doc\n")]);
    let one = proven.made(&doc(CHECKED), &[&checked], "Doc");
    let two = proven.made(&without, &[&checked], "No check");
    let base = proven.made(&doc(CHECKED), &[&one, &two], "Merge that keeps the check");
    let clean = proven.made(&doc(PLAIN), &[&one, &two], "Merge");
    let head = proven.made(&doc(PLAIN), &[&base, &clean], "Merge again");
    assert_ne!(with, without);
    is_refused(&proven, &evil, [&base, &head]);
}

#[test]
fn two_commits_do_not_prove_each_other() {
    let proven = Proven::with_policy(STRICT);
    proven.write("b.txt", "b\n");
    let one = proven.commit("One");
    proven.git(&["checkout", "--quiet", "--detach", &proven.base]);
    proven.write("b.txt", "b\n");
    let two = proven.commit("Two");
    proven.sight(&one, &[[&proven.base, &two], [&proven.head, &one], [&proven.base, &one]]);
    for commit in [&one, &two] {
        proven.judge(&["verify", commit]).fails("ANCHOR_MISSING");
    }
}

#[test]
fn range_that_contains_the_commit_does_not_prove_it() {
    let proven = Proven::with_policy(STRICT);
    proven.write("b.txt", "b\n");
    let bad = proven.commit("Bad");
    proven.write("b.txt", "b\nc\n");
    proven.prove("t", "Good");
    proven.write("b.txt", "b\n");
    let (back, _) = proven.prove("u", "Good again");
    proven.sight(&bad, &[[&proven.head, &back], [&proven.head, &bad]]);
    proven.judge(&["verify", &bad]).fails("ANCHOR_MISSING");
}

#[test]
fn range_without_a_proof_in_it_proves_nothing() {
    let proven = Proven::new();
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.base]);
    for name in ["b.txt", "c.txt"] {
        proven.write(name, "new\n");
        proven.commit("Nobody asks");
    }
    let tree = proven.tree_with(&proven.head, &[("b.txt", "new\n"), ("c.txt", "new\n")]);
    let squash = proven.made(&tree, &[&proven.head], "Both\n\nProof-Grade: true");
    proven.sight(&squash, &[[&proven.base, &proven.tip("side")]]);
    proven.judge(&["verify", &squash]).fails("ANCHOR_MISSING");
}

#[test]
fn guarded_path_is_not_hidden_beside_a_proven_one() {
    let guarded = Proven::with_policy("[proof_grade]\npaths = [\"src/auth/**\"]\n");
    guarded.git(&["checkout", "--quiet", "-b", "side", &guarded.base]);
    guarded.write("b.txt", "b\n");
    guarded.prove("t", "Add b");
    guarded.write("src/auth/login.py", "evil\n");
    let head = guarded.commit("Nothing to see");
    let tree = guarded.tree_with(&guarded.head, &[("b.txt", "b\n"), ("src/auth/login.py", "evil\n")]);
    let squash = guarded.made(&tree, &[&guarded.head], "Both");
    guarded.sight(&squash, &[[&guarded.base, &head]]);
    guarded.gate_of(&guarded.head, &squash).fails("ANCHOR_MISSING");
}

#[test]
fn commit_from_advisory_times_lends_no_proof() {
    let proven = Proven::with_policy(STRICT);
    proven.write("a.txt", CHECKED);
    let unproven = proven.commit("While the gate was advisory");
    proven.write("a.txt", PLAIN);
    let (undone, _) = proven.prove("t", "Undo it");
    let tree = proven.tip(&format!("{unproven}^{{tree}}"));
    let again = proven.made(&tree, &[&undone], "Again");
    proven.sight(&again, &[[&proven.head, &unproven], [&proven.base, &unproven]]);
    proven.gate_of(&undone, &again).is_turned_away();
}

/// Two functions with the same body. A proven commit adds a line to the first one. By way of bases that are made for the
/// purpose, each of which has one function only, the line is led to the second.
#[test]
fn hunk_is_not_led_to_another_place_by_bases_made_for_the_purpose() {
    const BODY: &str = "l1\nl2\nl3\nl4\n";
    const SKIPPING: &str = "l1\nl2\nskip\nl3\nl4\n";
    let proven = Proven::with_files(&[
        (".proof/policy.toml", STRICT.as_bytes()),
        ("f.py", format!("def a\n{BODY}def b\n{BODY}").as_bytes()),
    ]);
    proven.write("f.py", format!("def a\n{SKIPPING}def b\n{BODY}"));
    let (original, _) = proven.prove("t", "Skip in a");
    let with = |content: String| proven.tree_with(&proven.head, &[("f.py", &content)]);
    let first = proven.made(&with(format!("def a\n{BODY}")), &[], "First base");
    let copy = proven.made(&with(format!("def a\n{SKIPPING}")), &[&first], "Copy");
    proven.git(&["notes", "--ref=proof", "copy", &original, &copy]);
    let second = proven.made(&with(format!("def b\n{BODY}")), &[&first], "Second base");
    let moved = proven.made(&with(format!("def b\n{SKIPPING}")), &[&second], "Moved");
    let evil = proven.made(&with(format!("def a\n{BODY}def b\n{SKIPPING}")), &[&proven.head], "Evil");
    proven.sight(&moved, &[[&first, &copy], [&second, &moved]]);
    proven.sight(&evil, &[[&first, &copy], [&second, &moved]]);
    proven.gate_of(&proven.head, &evil).fails("PLACE_AMBIGUOUS");
    // The very commit, elsewhere, is fine.
    let honest = proven.made(&with(format!("def a\n{SKIPPING}def b\n{BODY}")), &[&proven.head], "Pick");
    proven.gate_of(&proven.head, &honest).passes();
}

/// A proven merge with content of its own is reverted, and comes back in a range with a harmless commit on top. The clock
/// of that commit keeps a walk by date from seeing that the merge is in both histories.
#[test]
fn clock_does_not_hide_a_merge_that_is_replayed_in_a_range() {
    let proven = Proven::with_policy(STRICT);
    let base = proven.head.clone();
    proven.git(&["checkout", "--quiet", "--detach", &proven.base]);
    proven.write("b.txt", "b\n");
    let (side, _) = proven.prove("t", "Add b");
    proven.git(&["checkout", "--quiet", "--detach", &base]);
    proven.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", &side]);
    let joined = proven.tip("HEAD");
    // Both parents are reached from the base of the range: only the merge itself is in it.
    proven.scratch.start("m", &[]);
    let merge = proven.made(&proven.tree_with(&joined, &[("evil.txt", "evil\n")]), &[&joined, &side], "By hand");
    proven.git(&["checkout", "--quiet", "-B", "main", &merge]);
    proven.scratch.run(["hook", "post-commit"]).text();
    proven.scratch.record("reflection", "by hand");
    proven.scratch.json(&["finalize"]);
    proven.judge(&["verify", &merge]).passes();
    proven.git(&["rm", "--quiet", "evil.txt"]);
    let (reverted, _) = proven.prove("r", "Revert");
    proven.git(&["checkout", "--quiet", "--detach", &merge]);
    proven.write("c.txt", "c\n");
    proven.scratch.start("c", &[]);
    proven.git(&["add", "--all"]);
    let tree = proven.git(&["write-tree"]);
    let raw = format!("tree {tree}\nparent {merge}\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\nHarmless\n");
    let head = proven.git_with(&["hash-object", "-t", "commit", "-w", "--stdin"], raw);
    proven.git(&["checkout", "--quiet", "--detach", &head]);
    proven.scratch.run(["hook", "post-commit"]).text();
    proven.scratch.record("reflection", "harmless");
    proven.scratch.json(&["finalize"]);
    proven.judge(&["verify", &head]).passes();
    let tree = proven.tree_with(&reverted, &[("c.txt", "c\n"), ("evil.txt", "evil\n")]);
    let evil = proven.made(&tree, &[&reverted], "Evil");
    proven.sight(&evil, &[[&joined, &head]]);
    proven.gate_of(&reverted, &evil).fails("REPLAYED");
}

#[test]
fn line_that_names_no_commits_does_no_harm() {
    let proven = Proven::with_policy(STRICT);
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.base]);
    proven.write("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n");
    let (side, _) = proven.prove("t", "Add ten");
    let blob = proven.blob("junk\n");
    proven.sight(&side, &[[&blob, &blob], [&side, &blob], [&blob, &side]]);
    proven.git(&["cherry-pick", &proven.head]);
    proven.sight("HEAD", &[[&blob, &blob]]);
    proven.gate_of(&proven.base, "HEAD").passes();
}

/// What a forge does to merge a branch.
fn squash(project: &Project, branch: &str) -> String {
    let forge = project.forge();
    forge.git(&["switch", "--quiet", "main"]);
    forge.git(&["merge", "--quiet", "--squash", &format!("origin/{branch}")]);
    forge.git(&["commit", "--quiet", "-m", &format!("{branch} (#7)\n\nProof-Grade: true")]);
    forge.git(&["push", "--quiet", "origin", "HEAD:main"]);
    forge.git(&["rev-parse", "HEAD"])
}

#[test]
fn stacked_branches_squashed_one_after_the_other_are_proven() {
    let project = Project::new();
    topic(&project, &["one", "two"]);
    // What the first commit did is changed further by the second branch, and within the first.
    project.prove("again", 10);
    project.git(["push", "--quiet", "origin", "topic"]);
    project.git(["switch", "--quiet", "-c", "second"]);
    project.prove("three", 30);
    project.prove("four", 35);
    project.git(["push", "--quiet", "origin", "second"]);
    squash(&project, "topic");
    squash(&project, "second");
    let clone = project.clone_of("main");
    clone.sync();
    clone.verify("HEAD~1").is("squashed", &["again", "one", "two"]);
    clone.verify("HEAD").is("squashed", &["four", "three"]);
}

#[test]
fn backport_of_a_squash_is_proven() {
    let project = Project::new();
    project.git(["switch", "--quiet", "-c", "release"]);
    project.edit(2, "only in the release");
    project.commit("release");
    project.git(["push", "--quiet", "origin", "release"]);
    main_goes_on(&project);
    project.git(["push", "--quiet", "origin", "main"]);
    topic(&project, &["one", "two"]);
    project.git(["push", "--quiet", "origin", "topic"]);
    let squashed = squash(&project, "topic");
    let forge = project.forge();
    forge.git(&["switch", "--quiet", "release"]);
    forge.git(&["cherry-pick", &squashed]);
    forge.git(&["push", "--quiet", "origin", "HEAD:release"]);
    let clone = project.clone_of("release");
    clone.sync();
    clone.verify("HEAD").is("squashed", &["one", "two"]);
}

#[test]
fn squash_of_a_branch_that_takes_something_back_is_proven() {
    let project = Project::new();
    topic(&project, &["one", "two", "three"]);
    project.start("back");
    project.edit(10, "line 10");
    project.commit("back");
    project.close();
    project.git(["push", "--quiet", "origin", "topic"]);
    main_goes_on(&project);
    project.git(["push", "--quiet", "origin", "main"]);
    squash(&project, "topic");
    let clone = project.clone_of("main");
    clone.sync();
    clone.verify("HEAD").is("squashed", &["back", "one", "three", "two"]);
}
