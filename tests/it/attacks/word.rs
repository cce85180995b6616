//! A person's word for a squash that no anchor fits: by whom, for what, over what, and what it cannot make up for.

use git_proof::proof::change::change_id;
use git_proof::proof::sshsig::from_armour;
use serde_json::{Value, json};

use super::{Judged, Proven};
use crate::common;

/// A proven branch `topic`, and `main`, where the line beside it was changed before the branch was squashed onto it by hand.
pub(super) struct Squashed {
    pub(super) proven: Proven,
    /// The squash.
    pub(super) commit: String,
    /// Where the branch began, and its last commit.
    pub(super) range: (String, String),
}

/// What most tests need: Ada may vouch, Bob may sign.
pub(super) const PEOPLE: &str = "ada@x {ada}\nbob@x {bob}\n";
pub(super) const POLICY: &str = "[proof]\nvouchers = [\"ada@x\"]\n";

impl Squashed {
    pub(super) fn new() -> Self {
        Self::with(POLICY, PEOPLE, "", "Squash (#7)\n\nProof-Grade: true")
    }

    /// `signers` and `revoked` are lines in which `{ada}`, `{bob}`, `{eve}` stand for public keys; in `message`, `{root}`
    /// stands for the root of the session.
    pub(super) fn with(policy: &str, signers: &str, revoked: &str, message: &str) -> Self {
        let mut proven = Proven::new();
        let mut keys = Vec::new();
        for name in ["ada", "bob", "eve"] {
            let file = proven.scratch.around().join(name);
            let made = common::run(
                common::command("ssh-keygen", proven.scratch.around())
                    .args(["-q", "-N", "", "-C", "", "-t", "ed25519", "-f"])
                    .arg(&file),
            );
            assert_eq!(made.code, Some(0), "{}", made.stderr);
            let key = std::fs::read_to_string(file.with_extension("pub")).unwrap();
            keys.push((format!("{{{name}}}"), key.trim().to_owned()));
        }
        let fill = |text: &str| keys.iter().fold(text.to_owned(), |text, (name, key)| text.replace(name, key));
        let range = (proven.base.clone(), proven.head.clone());
        proven.git(&["branch", "topic"]);
        proven.git(&["checkout", "--quiet", "-B", "main", &range.0]);
        proven.write("a.txt", "one\ntwo\nthree\nFOUR\nfive\nsix\nseven\neight\nnine\n");
        proven.write(".proof/policy.toml", policy);
        proven.write(".proof/allowed_signers", fill(signers));
        proven.write(".proof/revoked_signers", fill(revoked));
        proven.base = proven.commit("Meanwhile");
        // Git cannot merge two lines that touch: a person has.
        proven.write("a.txt", "one\ntwo\nthree\nFOUR\nFIVE\nsix\nseven\neight\nnine\n");
        let commit = proven.commit(&message.replace("{root}", &proven.root));
        Self { proven, commit, range }
    }

    /// A good word, with some fields set to other values.
    pub(super) fn word(&self, fields: &[(&str, Value)]) -> Value {
        let mut word = json!({
            "base": self.range.0,
            "commit": self.commit,
            "head": self.range.1,
            "reason": "main had changed a line beside it",
            "said_at": "2026-03-01T09:05:00.000Z",
            "sessions": [{ "count": 5, "root": self.proven.root }],
            "tree": self.proven.tip(&format!("{}^{{tree}}", self.commit)),
            "type": "git-proof/word@1",
        });
        for (field, value) in fields {
            word[*field] = value.clone();
        }
        word
    }

    /// The line of a word with a signature over some text.
    fn signed(&self, who: &str, namespace: &str, over: &str, word: &Value) -> String {
        let signed = common::run_with_input(
            common::command("ssh-keygen", self.proven.scratch.around())
                .args(["-Y", "sign", "-n", namespace, "-f", who]),
            over.as_bytes(),
        );
        assert_eq!(signed.code, Some(0), "{}", signed.stderr);
        json!({ "signature": from_armour(&signed.stdout).unwrap().to_base64(), "word": word }).to_string()
    }

    pub(super) fn good(&self, who: &str) -> String {
        self.said(who, &[])
    }

    fn said(&self, who: &str, fields: &[(&str, Value)]) -> String {
        let word = self.word(fields);
        self.signed(who, "git-proof", &word.to_string(), &word)
    }

    /// Judges the squash with these lines in its note.
    fn gate_with(&self, lines: &[String]) -> Judged {
        self.proven.set_note(&self.commit, lines.join("\n"));
        self.proven.gate()
    }
}

/// It does not pass for want of an anchor, the word was seen, and this is why it does not count.
#[track_caller]
fn does_not_count(judged: &Judged, why: &str) {
    judged.fails("ANCHOR_MISSING");
    is_refused(judged, why);
}

#[track_caller]
fn is_refused(judged: &Judged, why: &str) {
    assert!(judged.codes("warning").contains(&"WORD_NOT_TAKEN"), "{judged:?}");
    assert!(judged.said.to_string().contains(why), "{judged:?}");
    assert_eq!(judged.said["commits"][0].get("vouched"), None, "{judged:?}");
    assert_eq!(judged.said["summary"]["vouched"], 0, "{judged:?}");
}

#[test]
fn word_of_a_listed_voucher_passes_and_nothing_else_does() {
    let squashed = Squashed::new();
    squashed.proven.gate().fails("ANCHOR_MISSING");
    let judged = squashed.gate_with(&[squashed.good("ada")]);
    judged.is_vouched().warns("VOUCHED").warns("ANCHOR_MISSING");
    let commit = &judged.said["commits"][0];
    assert_eq!((&commit["binding"], &commit["vouched"]["by"]), (&Value::Null, &json!(["ada@x"])), "{judged:?}");
    squashed.gate_with(&[]).fails("ANCHOR_MISSING");
}

#[test]
fn word_copied_to_another_commit_does_not_count() {
    let squashed = Squashed::new();
    let good = squashed.good("ada");
    squashed.gate_with(std::slice::from_ref(&good)).is_vouched();
    let proven = &squashed.proven;
    // The same tree and the same change, in other words.
    proven.git(&["commit", "--quiet", "--amend", "-m", "Squash again\n\nProof-Grade: true"]);
    proven.set_note("HEAD", &good);
    does_not_count(&proven.gate(), "says nothing of this one");
    // The change index leads to a word no more than to anything else that is not an anchor.
    proven.git(&["notes", "--ref=proof", "remove", "HEAD"]);
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn word_is_not_carried_to_a_rewritten_commit() {
    let squashed = Squashed::new();
    let proven = &squashed.proven;
    proven.set_note(&squashed.commit, squashed.good("ada"));
    proven.git(&["commit", "--quiet", "--amend", "-m", "Squash again\n\nProof-Grade: true"]);
    let carried = proven.scratch.json(&["carry", "--from", &squashed.commit, "--to", "HEAD"]);
    assert_eq!(carried["carried"][0]["lines"], 0, "{carried}");
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn word_that_names_another_tree_does_not_count() {
    let squashed = Squashed::new();
    let tree = squashed.proven.tip("topic^{tree}");
    let judged = squashed.gate_with(&[squashed.said("ada", &[("tree", tree.into())])]);
    does_not_count(&judged, "another tree");
}

#[test]
fn word_of_an_unlisted_key_does_not_count() {
    let squashed = Squashed::new();
    let judged = squashed.gate_with(&[squashed.good("eve")]);
    does_not_count(&judged, "is not in .proof/allowed_signers");
    assert!(!judged.said.to_string().contains("beside it"), "whose reason this is nobody knows: {judged:?}");
}

#[test]
fn word_of_a_listed_signer_who_is_no_voucher_does_not_count() {
    let squashed = Squashed::new();
    does_not_count(&squashed.gate_with(&[squashed.good("bob")]), "proof.vouchers does not list bob@x");
}

#[test]
fn no_word_counts_where_policy_lists_nobody() {
    for policy in ["", "[proof]\nvouchers = []\n", "[proof]\nsealers = [\"ada@x\"]\n"] {
        let squashed = Squashed::with(policy, PEOPLE, "", "Squash\n\nProof-Grade: true");
        does_not_count(&squashed.gate_with(&[squashed.good("ada")]), "policy lists nobody in proof.vouchers");
    }
}

#[test]
fn signature_over_other_bytes_or_for_another_namespace_does_not_count() {
    let squashed = Squashed::new();
    let word = squashed.word(&[]);
    let other = squashed.word(&[("reason", "something else".into())]).to_string();
    for line in [
        squashed.signed("ada", "git-proof", &other, &word),
        squashed.signed("ada", "git-proof", "{}", &word),
        squashed.signed("ada", "git", &word.to_string(), &word),
        squashed.signed("ada", "file", &word.to_string(), &word),
    ] {
        does_not_count(&squashed.gate_with(&[line]), "is not one of that word");
    }
}

#[test]
fn key_that_is_expired_not_yet_valid_revoked_or_for_another_namespace_does_not_count() {
    for (signers, revoked, why) in [
        ("ada@x valid-before=\"20200101Z\" {ada}\n", "", "not valid any more"),
        ("ada@x valid-after=\"29990101Z\" {ada}\n", "", "not valid yet"),
        ("ada@x namespaces=\"git\" {ada}\n", "", "not for the namespace"),
        ("ada@x {ada}\n", "{ada}\n", "was revoked"),
    ] {
        let squashed = Squashed::with(POLICY, signers, revoked, "Squash\n\nProof-Grade: true");
        // However old it says that it is.
        let old = squashed.said("ada", &[("said_at", "2019-06-01T00:00:00.000Z".into())]);
        does_not_count(&squashed.gate_with(&[old]), why);
    }
}

#[test]
fn voucher_that_the_change_itself_brings_does_not_count() {
    let mut squashed = Squashed::with("", "bob@x {bob}\n", "", "Squash\n\nProof-Grade: true");
    let proven = &squashed.proven;
    let key = std::fs::read_to_string(proven.scratch.around().join("eve.pub")).unwrap();
    proven.write(".proof/policy.toml", "[proof]\nvouchers = [\"eve@x\"]\n");
    proven.write(".proof/allowed_signers", format!("eve@x {key}"));
    proven.git(&["add", "--all"]);
    proven.git(&["commit", "--quiet", "--amend", "--no-edit"]);
    let tip = proven.tip("HEAD");
    squashed.commit = tip;
    does_not_count(&squashed.gate_with(&[squashed.good("eve")]), "is not in .proof/allowed_signers");
}

#[test]
fn unsigned_word_or_one_with_another_field_is_malformed() {
    let squashed = Squashed::new();
    let good: Value = serde_json::from_str(&squashed.good("ada")).unwrap();
    let unsigned = json!({ "word": good["word"] }).to_string();
    let empty = json!({ "signature": "", "word": good["word"] }).to_string();
    let beside = json!({ "signature": good["signature"], "word": good["word"], "x": 1 }).to_string();
    let mut lines = vec![unsigned, empty, beside];
    for (field, value) in [
        ("x", json!(1)),
        ("base", Value::Null),
        ("reason", json!("")),
        ("reason", json!("x".repeat(4097))),
        ("sessions", json!([{ "count": 0, "root": squashed.proven.root }])),
        (
            "sessions",
            json!([{ "count": 5, "root": squashed.proven.root }, { "count": 5, "root": squashed.proven.root }]),
        ),
        ("tree", json!("0".repeat(64))),
    ] {
        lines.push(squashed.said("ada", &[(field, value)]));
    }
    let pretty = squashed.good("ada").replace("\"word\":", "\"word\": ");
    lines.push(pretty);
    for line in lines {
        squashed.gate_with(std::slice::from_ref(&line)).fails("ANCHOR_MALFORMED");
        // Nor does a good word make up for it.
        let judged = squashed.gate_with(&[squashed.good("ada"), line]);
        judged.fails("ANCHOR_MALFORMED");
        is_refused(&judged, "cannot make up for ANCHOR_MALFORMED");
    }
}

#[test]
fn word_of_a_later_version_is_reported_and_no_answer() {
    let squashed = Squashed::new();
    let judged = squashed.gate_with(&[squashed.said("ada", &[("type", "git-proof/word@2".into())])]);
    judged.fails("ANCHOR_MISSING");
    assert!(judged.codes("warning").contains(&"ANCHOR_MALFORMED"), "{judged:?}");
}

#[test]
fn copied_anchor_beside_a_word_is_only_mentioned() {
    for policy in [POLICY, "[proof]\nrooted = true\nvouchers = [\"ada@x\"]\n"] {
        let squashed = Squashed::with(policy, PEOPLE, "", "Squash\n\nProof-Grade: true");
        let copied = squashed.proven.note(&squashed.range.1);
        squashed.gate_with(std::slice::from_ref(&copied)).fails("BINDING_MISMATCH");
        squashed.gate_with(&[copied, squashed.good("ada")]).is_vouched().warns("VOUCHED").warns("BINDING_MISMATCH");
    }
}

#[test]
fn anchor_that_is_bound_too_loosely_beside_a_word_is_only_mentioned() {
    let policy = "[proof]\nbinding = \"exact\"\nvouchers = [\"ada@x\"]\n";
    let mut squashed = Squashed::with(policy, PEOPLE, "", "Squash\n\nProof-Grade: true");
    // The same change in another place: moved, and no more.
    let proven = &mut squashed.proven;
    proven.git(&["checkout", "--quiet", "-b", "side", &squashed.range.0]);
    proven.git(&["checkout", "--quiet", "main", "--", ".proof"]);
    proven.base = proven.commit("Who may vouch");
    proven.git(&["cherry-pick", "topic"]);
    squashed.commit = proven.tip("HEAD");
    proven.gate().fails("BINDING_TOO_WEAK");
    squashed.gate_with(&[squashed.good("ada")]).is_vouched().warns("VOUCHED").warns("BINDING_TOO_WEAK");
}

#[test]
fn word_stands_for_all_that_an_anchor_of_the_commit_would_show() {
    let policy = "[proof]\nrooted = true\nsealed = true\nsealers = [\"bob@x\"]\nvouchers = [\"ada@x\"]\n";
    let squashed = Squashed::with(policy, PEOPLE, "", "Squash\n\nProof-Grade: true");
    squashed.gate_with(&[squashed.good("ada")]).is_vouched().warns("VOUCHED");
    // But not for the evidence of what it names.
    squashed.proven.git(&["update-ref", "-d", "refs/proof/evidence"]);
    squashed.proven.gate().unchecked("REF_NOT_FETCHED");
}

#[test]
fn forged_anchor_is_not_made_good_by_a_word() {
    let squashed = Squashed::new();
    let proven = &squashed.proven;
    let forge = |fields: &[(&str, Value)]| {
        let line: Value = serde_json::from_str(&proven.note(&squashed.range.1)).unwrap();
        let mut anchor = line["anchor"].clone();
        for (field, value) in fields {
            anchor[*field] = value.clone();
        }
        json!({ "anchor": anchor }).to_string()
    };
    let own = ("commit", Value::from(squashed.commit.clone()));
    for (line, code) in [
        // It misstates its own commit, which is this one, or the one that it was made for.
        (forge(std::slice::from_ref(&own)), "BINDING_MISMATCH"),
        (forge(&[("tree", squashed.word(&[])["tree"].clone())]), "BINDING_MISMATCH"),
        (forge(&[("count", 4.into())]), "ROOT_MISMATCH"),
        (forge(&[("head", "0".repeat(64).into())]), "CHAIN_BROKEN"),
        (forge(&[("root", "0".repeat(64).into())]), "EVIDENCE_MISSING"),
    ] {
        let judged = squashed.gate_with(&[line, squashed.good("ada")]);
        judged.fails(code);
        is_refused(&judged, "cannot make up for");
    }
}

#[test]
fn root_that_is_lent_to_the_commit_is_not_made_good_by_a_word() {
    let policy = "[proof]\nrooted = true\nvouchers = [\"ada@x\"]\n";
    let squashed = Squashed::with(policy, PEOPLE, "", "Squash\n\nProof-Grade: true");
    squashed.proven.scratch.json(&["anchor", "--session", "s", "--commit", &squashed.commit]);
    let lent = squashed.proven.note(&squashed.commit);
    let judged = squashed.gate_with(&[lent, squashed.good("ada")]);
    judged.fails("NOT_ROOTED");
    is_refused(&judged, "an anchor that is not what it says");
}

#[test]
fn bad_signature_of_an_anchor_is_not_made_good_by_a_word() {
    let squashed = Squashed::new();
    let mut anchor: Value = serde_json::from_str(&squashed.proven.note(&squashed.range.1)).unwrap();
    let word: Value = serde_json::from_str(&squashed.good("ada")).unwrap();
    anchor["signature"] = word["signature"].clone();
    let judged = squashed.gate_with(&[anchor.to_string(), word.to_string()]);
    judged.fails("SIGNATURE_INVALID");
    is_refused(&judged, "cannot make up for SIGNATURE_INVALID");
}

#[test]
fn evidence_that_a_word_names_must_hold() {
    let squashed = Squashed::new();
    let root = &squashed.proven.root;
    for (session, code) in [
        (json!({ "count": 4, "root": root }), "ROOT_MISMATCH"),
        (json!({ "count": 5, "root": "0".repeat(64) }), "EVIDENCE_MISSING"),
    ] {
        squashed.gate_with(&[squashed.said("ada", &[("sessions", json!([session]))])]).fails(code);
    }
    squashed.gate_with(&[squashed.said("ada", &[("sessions", json!([]))])]).is_vouched().warns("VOUCHED");
    let lines = squashed.proven.evidence();
    squashed.proven.set_evidence(&lines[..lines.len() - 1]);
    squashed.gate_with(&[squashed.good("ada")]).fails("ROOT_MISMATCH");
    let forged = lines.join("\n").replace("five is loud now", "five is quiet now");
    squashed.proven.set_evidence(&[forged]);
    squashed.gate_with(&[squashed.good("ada")]).fails("ROOT_MISMATCH");
    squashed.proven.git(&["update-ref", "-d", "refs/proof/evidence"]);
    squashed.gate_with(&[squashed.good("ada")]).unchecked("REF_NOT_FETCHED");
}

#[test]
fn root_that_the_message_names_must_be_named_by_the_word() {
    let message = "Squash\n\nProof-Root: s:v1:{root}:5";
    let squashed = Squashed::with(POLICY, PEOPLE, "", message);
    squashed.proven.gate().fails("TRAILER_MISMATCH");
    squashed.gate_with(&[squashed.good("ada")]).is_vouched().warns("VOUCHED").warns("TRAILER_MISMATCH");
    let judged = squashed.gate_with(&[squashed.said("ada", &[("sessions", json!([]))])]);
    judged.fails("TRAILER_MISMATCH");
    is_refused(&judged, "the message names the root of session s, and no word does");
    let unreadable = Squashed::with(POLICY, PEOPLE, "", "Squash\n\nProof-Root: s:v1:{root}");
    let judged = unreadable.gate_with(&[unreadable.good("ada")]);
    judged.fails("TRAILER_MISMATCH");
    is_refused(&judged, "a trailer that cannot be read");
}

#[test]
fn as_many_people_must_vouch_as_must_sign() {
    let policy = "[proof]\nsignatures = 2\nvouchers = [\"ada@x\", \"bob@x\"]\n";
    let squashed = Squashed::with(policy, PEOPLE, "", "Squash\n\nProof-Grade: true");
    let (ada, bob) = (squashed.good("ada"), squashed.said("bob", &[("said_at", "2026-03-02T00:00:00.000Z".into())]));
    let again = squashed.said("ada", &[("reason", "once more".into())]);
    does_not_count(&squashed.gate_with(&[ada.clone(), again]), "1 of the 2 people");
    let judged = squashed.gate_with(&[bob, ada]);
    judged.is_vouched();
    assert_eq!(judged.said["commits"][0]["vouched"]["by"], json!(["ada@x", "bob@x"]), "{judged:?}");
}

#[test]
fn deleted_anchor_is_not_made_good_by_a_word() {
    let squashed = Squashed::with(POLICY, PEOPLE, "", "Squash\n\nProof-Root: s:v1:{root}:5");
    let proven = &squashed.proven;
    proven.scratch.json(&["seal"]);
    squashed.gate_with(&[squashed.good("ada")]).is_vouched();
    proven.git(&["notes", "--ref=proof", "remove", "topic"]);
    let judged = proven.gate();
    judged.fails("ANCHOR_DELETED");
    is_refused(&judged, "cannot make up for ANCHOR_DELETED");
}

#[test]
fn squash_of_a_commit_that_is_only_vouched_for_is_not_proven() {
    let squashed = Squashed::new();
    let proven = &squashed.proven;
    squashed.gate_with(&[squashed.good("ada")]).is_vouched();
    proven.write("b.txt", "b\n");
    proven.prove("t", "Add b\n\nProof-Grade: true");
    proven.gate().is_vouched();
    let head = proven.tip("HEAD");
    proven.git(&["reset", "--quiet", "--soft", &proven.base]);
    proven.commit("Both\n\nProof-Grade: true");
    let options = ["-p", "-r", "--no-commit-id", "--full-index", "--no-renames", "-U3"];
    let diff = proven.git(&[&["diff-tree"], &options[..], &[proven.base.as_str(), "HEAD"]].concat()) + "\n";
    let change = change_id(diff.as_bytes()).unwrap().to_string();
    let sighting = proven.blob(format!("{{\"base\":\"{}\",\"head\":\"{head}\"}}\n", proven.base));
    proven.put("refs/proof/changes", &format!("{}/{change}", &change[..2]), "100644", &sighting);
    let judged = proven.gate();
    judged.fails("ANCHOR_MISSING");
    assert!(judged.said.to_string().contains("in the squashed commit"), "{judged:?}");
    assert!(!judged.said.to_string().contains("VOUCHED"), "{judged:?}");
}

#[test]
fn note_full_of_words_is_told_in_a_few_lines() {
    let squashed = Squashed::new();
    let eve = squashed.good("eve");
    let (digits, _) = squashed.commit.split_at(20);
    let copies = (0..1000).map(|number| eve.replace(&squashed.commit, &format!("{digits}{number:020x}")));
    let judged = squashed.gate_with(&copies.collect::<Vec<_>>());
    judged.fails("ANCHOR_MISSING");
    let said = judged.codes("warning").iter().filter(|code| **code == "WORD_NOT_TAKEN").count();
    assert_eq!(said, 6, "{judged:?}");
}
