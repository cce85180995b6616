//! The branch under review does not choose its judges: policy and signers come from the trusted branch, whoever asks.

use git_proof::proof::sshsig::from_armour;
use serde_json::Value;

use super::{Judged, Proven, STRICT};
use crate::common;

/// A key, by its name, as a line of `allowed_signers` has it.
fn key(proven: &Proven, name: &str) -> String {
    let file = proven.scratch.around().join(name);
    let arguments = ["-q", "-N", "", "-C", "", "-t", "ed25519", "-f", file.to_str().unwrap()];
    let made = common::run(common::command("ssh-keygen", proven.scratch.around()).args(arguments));
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    std::fs::read_to_string(file.with_extension("pub")).unwrap().trim().to_owned()
}

/// Signs the anchor in the note of a commit.
fn sign(proven: &Proven, commit: &str, who: &str) {
    let mut line: Value = serde_json::from_str(&proven.note(commit)).unwrap();
    let mut command = common::command("ssh-keygen", proven.scratch.around());
    let text = line["anchor"].to_string();
    let signed = common::run_with_input(command.args(["-Y", "sign", "-n", "git-proof", "-f", who]), text.as_bytes());
    line["signature"] = from_armour(&signed.stdout).unwrap().to_base64().into();
    proven.set_note(commit, line.to_string());
}

/// A clone whose remote's main branch lists Ada, and a branch on which Eve puts her own key in the place of Ada's.
fn usurped() -> (Proven, String) {
    let proven = Proven::new();
    let (ada, eve) = (key(&proven, "ada"), key(&proven, "eve"));
    proven.write(".proof/policy.toml", "[proof]\nsignatures = 1\n");
    proven.write(".proof/allowed_signers", format!("ada@x {ada}\n"));
    let trusted = proven.commit("Rules");
    proven.git(&["remote", "add", "origin", "../nowhere"]);
    proven.git(&["update-ref", "refs/remotes/origin/main", &trusted]);
    proven.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    proven.git(&["checkout", "--quiet", "-b", "topic"]);
    proven.write(".proof/policy.toml", "[proof]\nsignatures = 1\n[proof_grade]\nrequire = \"none\"\n");
    proven.write(".proof/allowed_signers", format!("ada@x {eve}\n"));
    let (commit, _) = proven.prove("e", "Eve is Ada\n\nProof-Grade: true");
    sign(&proven, &commit, "eve");
    (proven, commit)
}

#[test]
fn signature_by_a_key_that_the_branch_brings_along_is_nobodys() {
    let (proven, commit) = usurped();
    for words in [
        &["verify", commit.as_str()][..],
        &["verify", "main..topic"],
        &["show", &commit],
        &["report", &commit, "--html", "page.html"],
        &["report", "main..topic", "--markdown", "page.md"],
        &["log", "main..topic"],
        &["gate", "--base", "origin/main", "--head", "topic"],
    ] {
        let ran = proven.scratch.run(words);
        assert_eq!(ran.exit, Some(1), "{words:?}: {ran:?}");
        assert!(!ran.out.contains("signed by ada"), "{words:?}: {ran:?}");
    }
    for file in ["page.html", "page.md"] {
        let text = std::fs::read_to_string(proven.scratch.place.join(file)).unwrap();
        assert!(!text.contains("signed by ada"), "{text}");
    }
    proven.judge(&["verify", &commit]).fails("SIGNER_UNKNOWN");
}

#[test]
fn verdict_says_whose_rules_it_was_made_by() {
    let (proven, commit) = usurped();
    let trusted = proven.tip("origin/main");
    let judged = proven.judge(&["verify", &commit]);
    let rules = &judged.said["rules"];
    assert_eq!(
        (&rules["commit"], &rules["policy"], &rules["trusted"]),
        (&trusted.clone().into(), &"file".into(), &true.into())
    );
    assert_eq!(rules["ref"], "refs/remotes/origin/HEAD");
    let said = proven.scratch.run(["verify", &commit]).out;
    assert!(said.contains(&format!("Rules: the policy of refs/remotes/origin/HEAD ({})", &trusted[..12])), "{said}");
    let shown: Value = serde_json::from_str(&proven.scratch.run(["--json", "show", &commit]).out).unwrap();
    assert_eq!(shown["rules"]["commit"], trusted, "{shown}");
}

#[test]
fn setting_and_argument_name_another_branch() {
    let (proven, commit) = usurped();
    let rules = |words: &[&str]| -> Value { Judged::said_by(proven.judge(words)) };
    assert_eq!(rules(&["verify", &commit, "--rules", "topic"])["rules"]["commit"], commit);
    proven.git(&["config", "proof.rules", "topic"]);
    assert_eq!(rules(&["verify", &commit])["rules"]["commit"], commit);
    proven.git(&["config", "proof.rules", "nowhere"]);
    proven.judge(&["verify", &commit]).refused("ERR_COMMIT_NOT_FOUND", 2);
}

#[test]
fn base_of_a_range_gives_the_rules_only_where_the_trusted_branch_has_it() {
    let (proven, commit) = usurped();
    let trusted = proven.tip("origin/main");
    let of = |range: &str| proven.judge(&["verify", range]).said["rules"]["commit"].clone();
    assert_eq!(of(&format!("{}..topic", proven.head)), proven.head, "an older commit of the trusted branch");
    proven.write("c.txt", "c\n");
    proven.commit("More");
    assert_eq!(of(&format!("{commit}..topic")), trusted, "a commit of the branch under review");
}

#[test]
fn without_a_trusted_branch_the_first_parent_counts_and_that_is_said() {
    let proven = Proven::with_policy(STRICT);
    let judged = proven.judge(&["verify"]);
    judged.passes();
    assert_eq!(
        (&judged.said["rules"]["commit"], &judged.said["rules"]["trusted"]),
        (&proven.base.clone().into(), &false.into())
    );
    let said = proven.scratch.run(["verify"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("no trusted branch is known here: git config proof.rules BRANCH"), "{said}");
    // A commit that relaxes the policy does not relax it for itself.
    proven.write(".proof/policy.toml", "[proof_grade]\nrequire = \"none\"\n");
    proven.commit("Relax");
    proven.judge(&["verify"]).fails("ANCHOR_MISSING");
}

impl Judged {
    fn said_by(judged: Self) -> Value {
        judged.said
    }
}
