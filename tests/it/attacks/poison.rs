//! Poison: what others wrote into the notes or the rounds does not spoil what needs no proof, or what comes later.

use super::{Proven, STRICT};

#[test]
fn commit_that_needs_no_proof_does_not_fail_by_what_others_wrote_into_its_note() {
    let proven = Proven::new();
    proven.write("b.txt", "b\n");
    let other = proven.commit("Nothing to prove");
    let copied = proven.note(&proven.head);
    let missing = proven.anchor_with(&[("root", "0".repeat(64).into())]);
    for junk in ["junk", "{}", "{\"anchor\":{}}", &copied, &missing, &format!("{copied}\njunk\n{missing}")] {
        proven.set_note(&other, junk);
        for words in [&["verify"][..], &["gate", "--base", "HEAD^", "--head", "HEAD"]] {
            let judged = proven.judge(words);
            assert_eq!((judged.exit, judged.said["verdict"].as_str()), (Some(0), Some("exempt")), "{junk}: {judged:?}");
        }
    }
}

#[test]
fn what_is_wrong_with_such_a_note_is_still_reported() {
    let proven = Proven::new();
    proven.write("b.txt", "b\n");
    let other = proven.commit("Nothing to prove");
    proven.set_note(&other, "junk");
    proven.judge(&["verify"]).warns("ANCHOR_MALFORMED");
}

#[test]
fn junk_beside_an_anchor_that_holds_is_a_remark() {
    let proven = Proven::with_policy(STRICT);
    let good = proven.note(&proven.head);
    proven.set_note(&proven.head, format!("{good}\njunk\n"));
    proven.gate().passes().warns("ANCHOR_MALFORMED");
}

/// Anyone may record a session about a commit of somebody else, seal its anchor and push the seal without the note.
#[test]
fn seal_of_an_anchor_that_is_in_no_note_does_not_fail_a_commit_that_needs_no_proof() {
    let proven = Proven::new();
    proven.write("b.txt", "b\n");
    let other = proven.commit("Nothing to prove");
    proven.scratch.json(&["cover", &other, "--reflection", "made up"]);
    proven.scratch.json(&["seal"]);
    proven.git(&["notes", "--ref=proof", "remove", &other]);
    for words in [&["verify"][..], &["gate", "--base", "HEAD^", "--head", "HEAD"]] {
        let judged = proven.judge(words);
        judged.warns("ANCHOR_DELETED");
        assert_eq!(judged.said["verdict"], "exempt", "{judged:?}");
    }
}

#[test]
fn seal_from_the_future_is_not_taken_over_by_sync() {
    let proven = Proven::new();
    let server = proven.scratch.around().join("server.git");
    proven.git(&["init", "--quiet", "--bare", "--initial-branch=main", server.to_str().unwrap()]);
    proven.git(&["remote", "add", "origin", server.to_str().unwrap()]);
    proven.scratch.json(&["seal"]);
    let ours = proven.tip("refs/proof/rounds");
    let seal = proven.git(&["cat-file", "blob", "refs/proof/rounds:seal.json"]);
    let mut seal: serde_json::Value = serde_json::from_str(&seal).unwrap();
    seal["sealed_at"] = "9999-01-01T00:00:00.000Z".into();
    let blob = proven.blob(seal.to_string());
    let tree = proven.git_with(&["mktree"], format!("100644 blob {blob}\tseal.json\n"));
    let forged = proven.git(&["commit-tree", &tree, "-m", "Round 1"]);
    proven.git(&["push", "--quiet", "--no-verify", "origin", &format!("{forged}:refs/proof/rounds")]);
    let ran = proven.scratch.run(["--json", "sync"]);
    assert_eq!(ran.exit, Some(1), "{ran:?}");
    assert!(ran.out.contains("which is still to come"), "{ran:?}");
    assert_eq!(proven.tip("refs/proof/rounds"), ours);
}

/// Only so many are verified. Somebody who adds more to a seal that is signed keeps nobody from a verdict.
#[test]
fn forged_signatures_beside_one_that_holds_do_no_harm() {
    let proven = Proven::new();
    let public = super::signing_key(&proven);
    proven.scratch.json(&["seal", "--sign"]);
    let policy = "[proof_grade]\nrequire = \"all\"\n[proof]\nsealed = true\nsealers = [\"ada@x\"]\n";
    let signers = format!("ada@x {public}\n");
    let tree = proven.tree_with("main", &[(".proof/policy.toml", policy), (".proof/allowed_signers", &signers)]);
    let rules = proven.made(&tree, &["main"], "Rules");
    let judge = || proven.judge(&["verify", "--rules", &rules, "main"]);
    judge().passes();
    let seal = proven.tip("refs/proof/rounds");
    let note = proven.note(&seal);
    let forged = super::forged_seals(&proven, &seal, 300);
    proven.set_note(&seal, format!("{note}\n{forged}"));
    judge().passes();
    proven.set_note(&seal, forged);
    assert!(judge().codes("unchecked").contains(&"LIMIT_REACHED"));
}
