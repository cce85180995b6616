//! What the pre-push hook judges of a long history.

use super::running::with_remote;
use crate::store::scratch::Scratch;

/// A repository in which three commits need a proof and have none; the second of them brings the first policy.
fn unproven() -> (Scratch, [String; 3]) {
    let scratch = Scratch::with_session();
    with_remote(&scratch);
    let commit = |message: &str| {
        scratch.git(["commit", "--quiet", "--allow-empty", "-m", message]);
        scratch.git(["rev-parse", "HEAD"]).trim_end().to_owned()
    };
    let old = commit("Old\n\nProof-Grade: true");
    std::fs::create_dir_all(scratch.place.join(".proof")).unwrap();
    std::fs::write(scratch.place.join(".proof/policy.toml"), "[proof_grade]\nrequire = \"marked\"\n").unwrap();
    scratch.git(["add", ".proof"]);
    let commits = [old, commit("Policy"), commit("New\n\nProof-Grade: true")];
    (scratch, commits)
}

/// Which of these commits the hook names when HEAD is pushed to a remote that has nothing.
fn named(scratch: &Scratch, commits: &[String]) -> Vec<bool> {
    let head = scratch.git(["rev-parse", "HEAD"]);
    let input = format!("refs/heads/main {} refs/heads/main {}\n", head.trim_end(), "0".repeat(40));
    let ran = scratch.run_with(&["hook", "pre-push", "origin", "../remote.git"], input.as_bytes());
    assert_eq!(ran.exit, Some(0), "without a policy on the remote the hook only gives advice: {ran:?}");
    commits.iter().map(|commit| ran.err.contains(&commit[..12])).collect()
}

#[test]
fn commit_older_than_the_first_policy_is_not_judged_on_the_first_push() {
    let (scratch, commits) = unproven();
    assert_eq!(named(&scratch, &commits), [false, true, true]);
}

#[test]
fn commit_that_another_remote_has_is_not_judged_again() {
    let (scratch, commits) = unproven();
    scratch.git(["update-ref", "refs/remotes/upstream/main", &commits[1]]);
    assert_eq!(named(&scratch, &commits), [false, false, true]);
}
