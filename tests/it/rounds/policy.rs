//! Seals in verdicts: which count, for what, and since when.

use serde_json::Value;

use super::with_rounds;
use crate::anchoring::clones::Clone;
use crate::store::scratch::{Scratch, text};

/// Commits a policy and the signers; `{…}` stand for the public keys of that name.
fn rule(repo: &Clone<'_>, policy: &str, signers: &str) {
    std::fs::create_dir_all(repo.path.join(".proof")).unwrap();
    std::fs::write(repo.path.join(".proof/policy.toml"), policy).unwrap();
    std::fs::write(repo.path.join(".proof/allowed_signers"), signers).unwrap();
    repo.git(&["add", ".proof"]);
    repo.git(&["commit", "--quiet", "--message", "Rules"]);
}

/// How a commit stands by the policy of HEAD.
fn judged(repo: &Clone<'_>, commit: &str) -> (Option<i32>, Value) {
    let ran = repo.run(&["--json", "verify", "--rules", "HEAD", commit]);
    let said: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let one = said["commits"].as_array().unwrap().iter().find(|one| one["commit"] == commit).unwrap().clone();
    (ran.exit, one)
}

fn codes(judged: &Value) -> Vec<&str> {
    judged["findings"].as_array().unwrap().iter().map(|finding| text(finding, "code")).collect()
}

const SEALED: &str = "[proof_grade]\nrequire = \"all\"\n[proof]\nsealed = true\nsealers = [\"bob@x\"]\n";

#[test]
fn only_a_seal_of_a_listed_sealer_counts() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 1);
    let commit = repo.tip("HEAD").unwrap();
    let eve = repo.signs_as("eve");
    let bob = repo.signs_as("bob");
    rule(&repo, SEALED, &format!("bob@x {bob}\neve@x {eve}\n"));
    let (_, unsigned) = judged(&repo, &commit);
    assert_eq!((text(&unsigned, "verdict"), codes(&unsigned)), ("fail", vec!["SEAL_MISSING"]), "{unsigned}");
    repo.signs_as("eve");
    repo.json(&["sign", "--round", "1"]);
    assert_eq!(codes(&judged(&repo, &commit).1), ["SEAL_MISSING"], "eve is no sealer");
    repo.signs_as("bob");
    assert_eq!(repo.json(&["sign", "--round", "1"])["created"], true);
    let (_, sealed) = judged(&repo, &commit);
    assert_eq!(text(&sealed, "verdict"), "pass", "{sealed}");
    repo.git(&["config", "proof.rules", "HEAD"]);
    let (_, listed) = repo.rounds();
    assert_eq!(listed["rounds"][0]["counts"], true);
    assert_eq!(listed["rounds"][0]["signers"], serde_json::json!(["bob@x", "eve@x"]));
    assert_eq!(repo.json(&["sign", "--round", "1"])["created"], false, "one key signs once");
}

#[test]
fn later_signed_seal_vouches_for_the_rounds_before_it() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 1);
    let commit = repo.tip("HEAD").unwrap();
    let bob = repo.signs_as("bob");
    rule(&repo, SEALED, &format!("bob@x {bob}\n"));
    repo.explain("s2");
    assert_eq!(repo.json(&["seal", "--sign"])["signed"], true);
    assert_eq!(text(&judged(&repo, &commit).1, "verdict"), "pass");
}

#[test]
fn unsigned_seal_that_lists_an_anchor_again_does_not_take_its_cover() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 1);
    let commit = repo.tip("HEAD").unwrap();
    let bob = repo.signs_as("bob");
    rule(&repo, SEALED, &format!("bob@x {bob}\n"));
    repo.json(&["sign", "--round", "1"]);
    repo.lists_again(0);
    assert_eq!(text(&judged(&repo, &commit).1, "verdict"), "pass");
}

#[test]
fn unsigned_seal_fails_no_commit_that_needs_no_proof_where_sealers_are_named() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 1);
    let commit = repo.tip("HEAD").unwrap();
    let bob = repo.signs_as("bob");
    rule(&repo, "[proof]\nsealers = [\"bob@x\"]\n", &format!("bob@x {bob}\n"));
    repo.git(&["notes", "--ref=proof", "remove", &commit]);
    let (exit, unsigned) = judged(&repo, &commit);
    assert_eq!((exit, text(&unsigned, "verdict"), codes(&unsigned)), (Some(0), "exempt", vec!["ANCHOR_DELETED"]));
    repo.json(&["sign", "--round", "1"]); // which puts the note back
    repo.git(&["notes", "--ref=proof", "remove", &commit]);
    let (exit, signed) = judged(&repo, &commit);
    assert_eq!((exit, text(&signed, "verdict"), codes(&signed)), (Some(1), "fail", vec!["ANCHOR_DELETED"]));
}

#[test]
fn anchor_that_no_round_lists_is_not_sealed() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 0);
    let bob = repo.signs_as("bob");
    rule(&repo, SEALED, &format!("bob@x {bob}\n"));
    let sealed = repo.explain("s1");
    repo.json(&["seal", "--sign"]);
    let late = repo.explain("s2");
    assert_eq!(text(&judged(&repo, &sealed).1, "verdict"), "pass");
    assert_eq!(codes(&judged(&repo, &late).1), ["SEAL_MISSING"]);
}

#[test]
fn clone_without_the_rounds_cannot_check_a_policy_that_asks_for_a_seal() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 1);
    let bob = repo.signs_as("bob");
    rule(&repo, SEALED, &format!("bob@x {bob}\n"));
    let commit = repo.tip("HEAD~1").unwrap();
    let clone = repo.clone("clone", &[]);
    clone.git(&[
        "fetch",
        "--quiet",
        "origin",
        "refs/notes/proof:refs/notes/proof",
        "refs/proof/evidence:refs/proof/evidence",
    ]);
    let (exit, said) = judged(&clone, &commit);
    assert_eq!((exit, text(&said, "verdict"), codes(&said)), (Some(3), "unchecked", vec!["SEAL_MISSING"]), "{said}");
}

#[test]
fn key_that_has_expired_counts_where_a_sealer_vouches_for_the_time() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 0);
    let ada = repo.signs_as("ada");
    let commit = repo.explain("s1");
    repo.json(&["sign", &commit]);
    let bob = repo.signs_as("bob");
    let expired = format!("ada@x valid-before=\"20200101Z\" {ada}\nbob@x {bob}\n");
    rule(&repo, "[proof_grade]\nrequire = \"all\"\n[proof]\nsignatures = 1\nsealers = [\"bob@x\"]\n", &expired);
    assert!(codes(&judged(&repo, &commit).1).contains(&"SIGNER_EXPIRED"));
    // Sealed by an honest clock, that is long after the key had expired.
    repo.json(&["seal", "--sign"]);
    assert!(codes(&judged(&repo, &commit).1).contains(&"SIGNER_EXPIRED"));
    // By a key that expires tomorrow, and a seal of today, it was in time.
    let soon = format!("ada@x valid-before=\"20990101Z\" {ada}\nbob@x {bob}\n");
    rule(&repo, "[proof_grade]\nrequire = \"all\"\n[proof]\nsignatures = 1\nsealers = [\"bob@x\"]\n", &soon);
    assert_eq!(text(&judged(&repo, &commit).1, "verdict"), "pass");
}

#[test]
fn pinned_seal_must_be_in_the_chain() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 2);
    let commit = repo.tip("HEAD").unwrap();
    let (_, listed) = repo.rounds();
    let seal = text(&listed["rounds"][1], "seal").to_owned();
    rule(&repo, &format!("[proof]\npin = \"2:{seal}\"\n"), "");
    assert_eq!(text(&judged(&repo, &commit).1, "verdict"), "pass");
    let clone = repo.clone("clone", &[]);
    clone.git(&["fetch", "--quiet", "origin", "refs/notes/proof:refs/notes/proof", "refs/proof/*:refs/proof/*"]);
    clone.git(&["update-ref", super::ROUNDS, &format!("{}~1", super::ROUNDS)]);
    let ran = clone.run(&["--json", "verify", "HEAD", &commit]);
    assert_eq!(ran.exit, Some(1), "{ran:?}");
    assert!(ran.out.contains("ROUNDS_ROLLED_BACK"), "{ran:?}");
}
