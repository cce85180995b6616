//! Names that mean two things: whoever may push a tag or a branch does not decide what is judged, or against what.

use super::{Proven, STRICT};

/// A clone with `origin/main` at the base, and an unproven commit on top. The remote was asked, and has no proofs.
fn unproven() -> Proven {
    let proven = Proven::with_policy(STRICT);
    proven.git(&["init", "--quiet", "--bare", "../empty"]);
    proven.git(&["remote", "add", "origin", "../empty"]);
    proven.git(&["update-ref", "refs/remotes/origin/main", &proven.base]);
    proven.scratch.json(&["sync", "--fetch-only"]);
    proven.write("b.txt", "unproven\n");
    proven.commit("Unproven");
    proven
}

#[test]
fn tag_named_like_the_base_is_refused_with_both_names() {
    let proven = unproven();
    proven.judge(&["gate", "--base", "origin/main", "--head", "HEAD"]).fails("ANCHOR_MISSING");
    proven.git(&["tag", "origin/main", "HEAD"]);
    let judged = proven.judge(&["gate", "--base", "origin/main", "--head", "HEAD"]);
    judged.refused("NAME_AMBIGUOUS", 2);
    assert!(
        judged.err.contains("refs/tags/origin/main") && judged.err.contains("refs/remotes/origin/main"),
        "{judged:?}"
    );
    // The whole name means one thing.
    proven.judge(&["gate", "--base", "refs/remotes/origin/main", "--head", "HEAD"]).fails("ANCHOR_MISSING");
}

#[test]
fn name_that_means_two_things_is_refused_wherever_it_stands() {
    let proven = unproven();
    proven.git(&["tag", "origin/main", "HEAD"]);
    for words in [
        &["verify", "origin/main"][..],
        &["verify", "origin/main..HEAD"],
        &["verify", "origin/main~1..HEAD"],
        &["verify", "HEAD...origin/main"],
        &["verify", "^origin/main", "HEAD"],
        &["log", "origin/main..HEAD"],
        &["log", "origin/main"],
        &["show", "origin/main^{commit}"],
        &["report", "origin/main..HEAD", "--html", "page.html"],
        &["gate", "--base", "main", "--head", "origin/main"],
        &["cover", "origin/main"],
        &["anchor", "--session", "s", "--commit", "origin/main"],
        &["verify", "--rules", "origin/main"],
    ] {
        proven.judge(words).refused("NAME_AMBIGUOUS", 2);
    }
}

#[test]
fn branch_named_like_a_tag_or_like_another_branch_is_refused() {
    let proven = unproven();
    proven.git(&["branch", "release", &proven.base]);
    proven.git(&["tag", "release", "HEAD"]);
    proven.judge(&["gate", "--base", "release", "--head", "HEAD"]).refused("NAME_AMBIGUOUS", 2);
    proven.git(&["update-ref", "refs/heads/origin/main", "HEAD"]);
    proven.judge(&["gate", "--base", "origin/main", "--head", "HEAD"]).refused("NAME_AMBIGUOUS", 2);
    proven.git(&["update-ref", "-d", "refs/heads/origin/main"]);
    proven.git(&["update-ref", "refs/remotes/base/HEAD", &proven.base]);
    proven.git(&["branch", "base", "HEAD"]);
    proven.judge(&["gate", "--base", "base", "--head", "HEAD"]).refused("NAME_AMBIGUOUS", 2);
}

#[test]
fn branch_named_like_the_beginning_of_a_commits_id_is_refused() {
    let proven = unproven();
    let short = &proven.base[..8];
    proven.judge(&["gate", "--base", short, "--head", "HEAD"]).fails("ANCHOR_MISSING");
    proven.git(&["update-ref", &format!("refs/heads/{short}"), "HEAD"]);
    proven.judge(&["gate", "--base", short, "--head", "HEAD"]).refused("NAME_AMBIGUOUS", 2);
    // A whole id is an id, whatever is named like it.
    proven.git(&["update-ref", &format!("refs/heads/{}", proven.base), "HEAD"]);
    proven.judge(&["gate", "--base", &proven.base, "--head", "HEAD"]).fails("ANCHOR_MISSING");
}

#[test]
fn two_names_of_one_commit_are_no_trap() {
    let proven = unproven();
    proven.git(&["tag", "origin/main", &proven.base]);
    proven.judge(&["gate", "--base", "origin/main", "--head", "HEAD"]).fails("ANCHOR_MISSING");
}

#[test]
fn verdict_names_the_ids_that_it_judged() {
    let proven = unproven();
    let (base, head) = (proven.base.clone(), proven.tip("HEAD"));
    let judged = proven.judge(&["gate", "--base", "origin/main", "--head", "main"]);
    assert_eq!(
        (&judged.said["range"]["base"], &judged.said["range"]["head"]),
        (&base.clone().into(), &head.clone().into())
    );
    let said = proven.scratch.run(["gate", "--base", "origin/main", "--head", "main"]).out;
    assert!(said.contains(&format!("Judged {base}..{head}")), "{said}");
}

/// `git describe` ends in the beginning of an id, and git takes a tag of that name before the commit.
#[test]
fn tag_named_like_what_describe_prints_is_refused() {
    let proven = unproven();
    proven.git(&["tag", "-a", "-m", "v1", "v1", &proven.base]);
    let described = proven.git(&["describe", "--long", &proven.base]);
    proven.judge(&["gate", "--base", &described, "--head", "HEAD"]).fails("ANCHOR_MISSING");
    proven.git(&["tag", &described, &proven.base]);
    proven.judge(&["gate", "--base", &described, "--head", "HEAD"]).fails("ANCHOR_MISSING");
    proven.git(&["tag", "--force", &described, "HEAD"]);
    proven.judge(&["gate", "--base", &described, "--head", "HEAD"]).refused("NAME_AMBIGUOUS", 2);
}
