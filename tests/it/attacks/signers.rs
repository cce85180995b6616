//! Signatures of an anchor: by whom, for what, over what, and until when.

use git_proof::proof::sshsig::from_armour;
use serde_json::Value;

use super::Proven;
use crate::common;

/// A proven commit under a policy that asks for signatures, and who may sign.
struct Signed {
    proven: Proven,
}

impl Signed {
    /// `signers` are lines in which `{ada}`, `{ada2}`, `{bob}`, `{eve}` stand for public keys.
    fn new(needed: u32, signers: &str, revoked: &str) -> Self {
        let mut signed = Self { proven: Proven::new() };
        let proven = &signed.proven;
        let mut keys = Vec::new();
        for name in ["ada", "ada2", "bob", "eve"] {
            let file = proven.scratch.around().join(name);
            let made = common::run(common::command("ssh-keygen", proven.scratch.around()).args([
                "-q",
                "-N",
                "",
                "-C",
                "",
                "-t",
                "ed25519",
                "-f",
                file.to_str().unwrap(),
            ]));
            assert_eq!(made.code, Some(0), "{}", made.stderr);
            let key = std::fs::read_to_string(file.with_extension("pub")).unwrap();
            keys.push((format!("{{{name}}}"), key.trim().to_owned()));
        }
        let fill = |text: &str| keys.iter().fold(text.to_owned(), |text, (name, key)| text.replace(name, key));
        proven.git(&["checkout", "--quiet", "-b", "rules", &proven.base]);
        proven.write(".proof/policy.toml", format!("[proof]\nsignatures = {needed}\n"));
        proven.write(".proof/allowed_signers", fill(signers));
        proven.write(".proof/revoked_signers", fill(revoked));
        let base = proven.commit("Who may sign");
        proven.git(&["checkout", "--quiet", "main"]);
        signed.proven.base = base;
        signed
    }

    /// The anchor's line with a signature.
    fn line(&self, who: &str, namespace: &str, over: Option<&str>) -> String {
        let mut line: Value = serde_json::from_str(&self.proven.note(&self.proven.head)).unwrap();
        let text = over.map_or_else(|| line["anchor"].to_string(), str::to_owned);
        let around = self.proven.scratch.around();
        let signed = common::run_with_input(
            common::command("ssh-keygen", around).args(["-Y", "sign", "-n", namespace, "-f", who]),
            text.as_bytes(),
        );
        assert_eq!(signed.code, Some(0), "{}", signed.stderr);
        line["signature"] = from_armour(&signed.stdout).unwrap().to_base64().into();
        line.to_string()
    }

    fn good(&self, who: &str) -> String {
        self.line(who, "git-proof", None)
    }

    fn gate_with(&self, lines: &[String]) -> super::Judged {
        self.proven.set_note(&self.proven.head, lines.join("\n"));
        self.proven.gate()
    }
}

#[test]
fn signature_of_one_who_may_sign_passes_and_none_does_not() {
    let signed = Signed::new(1, "ada@x {ada}\n", "");
    signed.proven.gate().fails("SIGNATURE_MISSING");
    let good = signed.good("ada");
    let judged = signed.gate_with(&[good]);
    judged.passes();
    assert_eq!(judged.said["commits"][0]["sessions"][0]["signers"], serde_json::json!(["ada@x"]), "{judged:?}");
}

#[test]
fn signature_for_another_namespace_does_not_count() {
    let signed = Signed::new(1, "ada@x {ada}\n", "");
    let other = signed.line("ada", "git", None);
    signed.gate_with(&[other]).fails("SIGNATURE_INVALID").fails("SIGNATURE_MISSING");
}

#[test]
fn key_that_is_listed_for_another_namespace_does_not_count() {
    let signed = Signed::new(1, "ada@x namespaces=\"git\" {ada}\n", "");
    let good = signed.good("ada");
    signed.gate_with(&[good]).fails("SIGNER_UNKNOWN");
}

#[test]
fn signature_over_other_bytes_does_not_count() {
    let signed = Signed::new(1, "ada@x {ada}\n", "");
    let other = signed.line("ada", "git-proof", Some("{}"));
    signed.gate_with(&[other]).fails("SIGNATURE_INVALID");
}

#[test]
fn signature_of_the_anchor_before_it_was_changed_does_not_count() {
    let signed = Signed::new(1, "ada@x {ada}\n", "");
    let good = signed.good("ada");
    let forged = good.replace("\"anchored_at\":\"20", "\"anchored_at\":\"19");
    assert_ne!(good, forged);
    signed.gate_with(&[forged]).fails("SIGNATURE_INVALID");
}

#[test]
fn two_keys_of_one_person_are_one_person() {
    let signed = Signed::new(2, "ada@x {ada}\nada@x {ada2}\nbob@x {bob}\n", "");
    let (one, two, bob) = (signed.good("ada"), signed.good("ada2"), signed.good("bob"));
    signed.gate_with(&[one.clone(), two.clone()]).fails("SIGNATURE_MISSING");
    signed.gate_with(&[one, two, bob]).passes();
}

#[test]
fn one_signature_twice_is_one_person() {
    let signed = Signed::new(2, "ada@x {ada}\nbob@x {bob}\n", "");
    let one = signed.good("ada");
    signed.gate_with(&[one.clone(), one]).fails("SIGNATURE_MISSING");
}

#[test]
fn unknown_signer_does_not_count() {
    let signed = Signed::new(1, "ada@x {ada}\n", "");
    let eve = signed.good("eve");
    signed.gate_with(&[eve]).fails("SIGNER_UNKNOWN");
}

#[test]
fn revoked_key_does_not_count() {
    let signed = Signed::new(1, "ada@x {ada}\n", "{ada}\n");
    let good = signed.good("ada");
    signed.gate_with(&[good]).fails("SIGNER_EXPIRED");
}

#[test]
fn expired_key_does_not_count_however_old_the_commit_says_it_is() {
    let signed = Signed::new(1, "ada@x valid-before=\"20200101Z\" {ada}\n", "");
    let proven = &signed.proven;
    let backdated = proven.scratch.command("git");
    let mut command = backdated;
    let date = "2019-06-01T00:00:00Z";
    command.env("GIT_AUTHOR_DATE", date).env("GIT_COMMITTER_DATE", date);
    let ran: crate::store::scratch::Ran =
        command.args(["commit", "--quiet", "--amend", "--no-edit", "--date", date]).output().unwrap().into();
    ran.text();
    let line = proven.anchor_with(&[("anchored_at", "2019-06-01T00:00:00.000Z".into())]);
    proven.set_note(&proven.head, line);
    let good = signed.good("ada");
    proven.set_note("HEAD", good);
    proven.gate().fails("SIGNER_EXPIRED");
}

#[test]
fn junk_signature_beside_a_good_one_is_a_warning() {
    let signed = Signed::new(1, "ada@x {ada}\n", "");
    let (good, eve, wrong) = (signed.good("ada"), signed.good("eve"), signed.line("ada", "file", None));
    signed.gate_with(&[eve, wrong, good]).passes().warns("SIGNATURE_INVALID").warns("SIGNER_UNKNOWN");
}

#[test]
fn junk_signature_does_no_harm_where_nobody_must_sign() {
    let signed = Signed::new(0, "ada@x {ada}\n", "");
    let (good, wrong, nobodys) =
        (signed.good("ada"), signed.line("ada", "file", None), signed.line("eve", "file", None));
    signed.gate_with(&[good, wrong.clone()]).passes().warns("SIGNATURE_INVALID");
    signed.gate_with(std::slice::from_ref(&wrong)).fails("SIGNATURE_INVALID");
    // Nobody asks whether the signature of a key that is not listed is one.
    signed.gate_with(std::slice::from_ref(&nobodys)).passes().warns("SIGNER_UNKNOWN");
    signed.gate_with(&[wrong, nobodys]).passes().warns("SIGNATURE_INVALID");
}

#[test]
fn change_that_lists_its_own_key_is_not_signed_by_anyone() {
    let signed = Signed::new(1, "ada@x {ada}\n", "");
    let proven = &signed.proven;
    let key = std::fs::read_to_string(proven.scratch.around().join("eve.pub")).unwrap();
    proven.git(&["merge", "--quiet", "-m", "Merge", "rules"]);
    proven.write(".proof/allowed_signers", format!("eve@x {key}"));
    let (commit, _) = proven.prove("t", "Let eve sign");
    proven.git(&["config", "gpg.format", "ssh"]);
    proven.git(&["config", "user.signingkey", proven.scratch.around().join("eve").to_str().unwrap()]);
    proven.scratch.json(&["sign", &commit]);
    let judged = proven.judge(&["gate", "--base", "rules", "--head", "HEAD"]);
    judged.fails("SIGNER_UNKNOWN").fails("SIGNATURE_MISSING");
}
