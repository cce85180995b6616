//! Who makes the rules: the tip of the base and nobody else; and rules that cannot be read.

use super::{Proven, STRICT};

#[test]
fn change_that_weakens_the_policy_is_judged_by_the_old_one() {
    let proven = Proven::with_policy(STRICT);
    proven.write(".proof/policy.toml", "[proof_grade]\nrequire = \"none\"\n[proof]\nevidence = \"optional\"\n");
    proven.commit("Relax");
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn change_of_the_policy_must_be_proven_even_where_nothing_else_must() {
    let proven = Proven::with_policy("[proof_grade]\nrequire = \"none\"\n");
    proven.write("b.txt", "b\n");
    proven.commit("Add b");
    proven.gate().passes();
    proven.write(".proof/allowed_signers", "");
    proven.commit("Let nobody sign");
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn policy_that_came_to_the_base_after_the_branch_began_counts() {
    let proven = Proven::new();
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.base]);
    proven.write("b.txt", "b\n");
    let side = proven.commit("Add b");
    proven.git(&["checkout", "--quiet", "main"]);
    proven.judge(&["gate", "--base", "main", "--head", &side]).passes_or_exempt();
    proven.write(".proof/policy.toml", STRICT);
    proven.prove("t", "Be strict");
    proven.judge(&["gate", "--base", "main", "--head", &side]).fails("ANCHOR_MISSING");
}

#[test]
fn policy_of_the_worktree_and_the_index_has_no_say() {
    let proven = Proven::with_policy(STRICT);
    proven.write("b.txt", "b\n");
    proven.commit("Add b");
    proven.write(".proof/policy.toml", "[proof_grade]\nrequire = \"none\"\n");
    proven.git(&["add", "--all"]);
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn policy_that_cannot_be_read_could_not_be_checked() {
    let proven = Proven::new();
    let large = format!("# {}\n", "x".repeat(1 << 20));
    for bad in [
        large.as_bytes(),
        b"[proof]\nrooted = \"yes\"\n",
        b"[proof]\nroted = true\n",
        b"[proof_grade]\nauthors = [\"(\"]\n",
        b"# \xff\n",
        b"[proof]\nschemes = []\n",
        b"\0",
    ] {
        proven.git(&["checkout", "--quiet", "--detach", &proven.base]);
        proven.write(".proof/policy.toml", bad);
        let base = proven.commit("Policy");
        proven.judge(&["gate", "--base", &base, "--head", &proven.head]).refused("POLICY_UNREADABLE", 3);
    }
}

#[test]
fn only_a_plain_file_is_a_policy() {
    let proven = Proven::new();
    let policy = proven.blob(STRICT);
    let link = proven.blob("policy");
    for (path, mode, id) in [
        (".proof/policy.toml", "120000", &link),
        (".proof/policy.toml", "160000", &proven.base),
        (".proof/policy.toml/policy.toml", "100644", &policy),
        (".proof", "120000", &link),
        (".proof", "100644", &policy),
        (".proof", "160000", &proven.base),
    ] {
        proven.git(&["update-ref", "refs/heads/rules", &proven.base]);
        proven.put("refs/heads/rules", path, mode, id);
        proven.judge(&["gate", "--base", "rules", "--head", &proven.head]).refused("POLICY_UNREADABLE", 3);
    }
}

#[test]
fn signers_that_cannot_be_read_could_not_be_checked() {
    let proven = Proven::new();
    for path in [".proof/allowed_signers", ".proof/revoked_signers"] {
        proven.git(&["checkout", "--quiet", "--detach", &proven.base]);
        proven.write(path, "ada@example.org ssh-ed25519 AAAA\n");
        let base = proven.commit("Signers");
        proven.judge(&["gate", "--base", &base, "--head", &proven.head]).refused("POLICY_UNREADABLE", 3);
    }
}

#[test]
fn base_without_a_policy_is_an_error_where_one_is_asked_for() {
    let proven = Proven::new();
    let judged = proven.judge(&["gate", "--base", &proven.base, "--head", "HEAD", "--require-policy"]);
    judged.refused("POLICY_UNREADABLE", 3);
}

#[test]
fn commit_made_around_the_hooks_is_caught() {
    let proven = Proven::with_policy(STRICT);
    let tree = proven.git_with(&["mktree"], format!("100644 blob {}\tevil\n", proven.blob("evil\n")));
    let evil = proven.git(&["commit-tree", &tree, "-p", &proven.head, "-m", "plumbing"]);
    proven.git(&["update-ref", "HEAD", &evil]);
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn marks_of_an_agent_ask_for_a_proof_in_any_case_of_letters() {
    let proven = Proven::new();
    for (number, trailer) in
        ["Co-authored-by: Claude <x@y>", "CO-AUTHORED-BY: codex <x@y>", "assisted-by: anyone", "Proof-Grade: true"]
            .into_iter()
            .enumerate()
    {
        proven.git(&["checkout", "--quiet", "--detach", &proven.head]);
        proven.write("b.txt", format!("{number}\n"));
        proven.commit(&format!("Add b\n\n{trailer}"));
        proven.gate().fails("ANCHOR_MISSING");
    }
}

impl super::Judged {
    #[track_caller]
    fn passes_or_exempt(&self) {
        assert_eq!(self.exit, Some(0), "{self:?}");
    }
}
