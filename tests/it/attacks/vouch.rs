//! `vouch`: what it asks for, what it writes, and how a verdict shows it.

use serde_json::{Value, json};

use super::word::{PEOPLE, POLICY, Squashed};

const REASON: &str = "Squash of #7; main had changed a line beside it.";

impl Squashed {
    /// Git signs with the key of this person.
    fn signs_as(&self, who: &str) {
        self.proven.git(&["config", "gpg.format", "ssh"]);
        let key = self.proven.scratch.around().join(who);
        self.proven.git(&["config", "user.signingkey", key.to_str().unwrap()]);
    }

    #[track_caller]
    fn vouch(&self, more: &[&str]) -> Value {
        self.proven.scratch.json(&[&["vouch", &self.commit, "--reason", REASON], more].concat())
    }

    #[track_caller]
    fn refused(&self, more: &[&str], code: &str, exit: i32) -> Value {
        self.proven.scratch.refused(&[&["vouch", &self.commit], more].concat(), code, exit)
    }

    fn shown(&self, format: &str) -> String {
        let ran = self.proven.scratch.run(["gate", "--base", &self.proven.base, "--format", format]);
        assert_eq!(ran.exit, Some(0), "{ran:?}");
        ran.out
    }
}

/// A squash that Ada vouches for.
fn vouched() -> Squashed {
    let squashed = Squashed::new();
    squashed.proven.gate().fails("ANCHOR_MISSING");
    squashed.signs_as("ada");
    let said = squashed.vouch(&["--for", "main~1..topic"]);
    assert_eq!((&said["verdict"], &said["vouched"], &said["created"]), (&json!("vouched"), &json!(true), &json!(true)));
    squashed
}

#[test]
fn squash_whose_context_changed_passes_by_the_word_of_a_maintainer() {
    let squashed = vouched();
    let judged = squashed.proven.gate();
    judged.is_vouched().warns("VOUCHED").warns("ANCHOR_MISSING");
    let commit = &judged.said["commits"][0];
    assert_eq!(
        judged.said["summary"],
        json!({ "pass": 0, "vouched": 1, "missing": 0, "fail": 0, "exempt": 0, "unchecked": 0 })
    );
    assert_eq!((&commit["binding"], &commit["sessions"]), (&Value::Null, &json!([])), "{commit}");
    let mut word = commit["vouched"].clone();
    assert!(word.as_object_mut().unwrap().remove("said_at").is_some_and(|at| at.is_string()));
    let root = &squashed.proven.root;
    let expected = json!({
        "by": ["ada@x"],
        "reason": REASON,
        "base": squashed.range.0,
        "head": squashed.range.1,
        "sessions": [{ "session_id": "s", "root": root, "count": 5, "evidence": "verified" }],
    });
    assert_eq!(word, expected);
    // verify says the same; without the word it would be a commit without a proof.
    squashed.proven.judge(&["verify", &squashed.commit]).is_vouched().warns("VOUCHED");
}

#[test]
fn every_format_tells_a_word_from_a_proof() {
    let squashed = vouched();
    let human = squashed.shown("human");
    assert!(human.ends_with("\nVouched for, not proven: 1 vouched.\n"), "{human}");
    assert!(human.contains("vouched by ada@x: a person's word, not a proof\n"), "{human}");
    assert!(human.contains(&format!("\n  reason     {REASON}\n")), "{human}");
    assert!(human.contains("\n  session    s - 5 entries - evidence adds up - named by the person\n"), "{human}");
    assert!(human.contains("\n  note       VOUCHED: ada@x vouches for the commit as the squash of"), "{human}");
    let counts = "1 commit: 1 vouched.";
    let github = squashed.shown("github");
    assert!(github.contains("::warning title=VOUCHED in "), "{github}");
    assert!(github.contains("a person's word, not a proof") && github.contains(counts), "{github}");
    let markdown = squashed.shown("markdown");
    assert!(markdown.contains("\n### git proof gate: 1 commit · 1 vouched\n"), "{markdown}");
    assert!(markdown.contains("\n| **vouched** | "), "{markdown}");
    assert!(
        markdown.contains(&format!("| vouched by `ada@x` (a person's word, not a proof): `{REASON}`<br>")),
        "{markdown}"
    );
    let sarif: Value = serde_json::from_str(&squashed.shown("sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let result = results.iter().find(|result| result["ruleId"] == "VOUCHED").unwrap();
    assert_eq!(result["level"], "note");
    assert!(result["message"]["text"].as_str().unwrap().contains("a person's word, not a proof"), "{result}");
    assert_eq!(sarif["runs"][0]["properties"]["summary"]["vouched"], 1);
    let junit = squashed.shown("junit");
    assert!(junit.contains("<property name=\"vouched\" value=\"1\"/>"), "{junit}");
    assert!(junit.contains("<system-out>VOUCHED ada@x vouches for the commit"), "{junit}");
}

#[test]
fn verify_tells_what_the_sessions_decided() {
    let squashed = vouched();
    let told = squashed.proven.scratch.run(["verify", &squashed.commit]);
    let session = "  session    s - 5 entries - evidence adds up - named by the person\n  intent     try it\n  decision   shout five and nothing else\n";
    assert!(told.text().contains(session), "{told:?}");
}

#[test]
fn reason_is_only_shown() {
    let squashed = Squashed::new();
    squashed.signs_as("ada");
    let reason = "\u{1b}[31mx\n::error::y|<b>`z`]]>##[group]\u{202e}";
    squashed.proven.scratch.json(&["vouch", &squashed.commit, "--reason", reason]);
    for format in ["human", "github", "markdown", "junit", "sarif"] {
        let shown = squashed.shown(format);
        for bad in ["\u{1b}", "\u{202e}", "\n::error", "##[group]"] {
            assert!(!shown.contains(bad), "{format}: {shown}");
        }
    }
    assert!(!squashed.shown("junit").contains("<b>"));
    assert!(squashed.proven.judge(&["verify"]).is_vouched().said["commits"][0]["vouched"]["reason"] == reason);
}

#[test]
fn verdict_is_the_same_in_a_fresh_clone() {
    let squashed = vouched();
    let here = squashed.proven.scratch.run(["--json", "gate", "--base", &squashed.proven.base]);
    let clone = squashed.proven.scratch.around().join("clone");
    let clone = clone.to_str().unwrap();
    squashed.proven.git(&["clone", "--quiet", "--mirror", ".", clone]);
    // The repository here has no index of changes, and the clone knows that only after it has asked.
    squashed.proven.scratch.run(["-C", clone, "--json", "sync", "--fetch-only"]).json();
    let there =
        squashed.proven.scratch.run(["-C", clone, "--json", "gate", "--base", &squashed.proven.base, "--head", "main"]);
    assert_eq!((here.exit, here.out), (there.exit, there.out));
}

#[test]
fn vouching_twice_is_said_once() {
    let squashed = vouched();
    let note = squashed.proven.note(&squashed.commit);
    assert_eq!(squashed.vouch(&["--for", "main~1..topic"])["created"], false);
    assert_eq!(squashed.proven.note(&squashed.commit), note);
    let other = squashed.proven.scratch.json(&["vouch", &squashed.commit, "--reason", "And I read it."]);
    assert_eq!(other["created"], true);
    assert_eq!(squashed.proven.note(&squashed.commit).lines().count(), 2);
    squashed.proven.gate().is_vouched();
}

#[test]
fn word_that_another_writer_overwrote_is_put_back() {
    let squashed = vouched();
    squashed.proven.set_note(&squashed.commit, "");
    squashed.proven.gate().fails("ANCHOR_MISSING");
    let anchored = squashed.proven.scratch.json(&["anchor", "--session", "s", "--commit", "topic"]);
    assert_eq!(anchored["restored"], 1, "{anchored}");
    squashed.proven.gate().is_vouched().warns("VOUCHED");
}

#[test]
fn without_a_signing_key_nothing_is_written() {
    let squashed = Squashed::new();
    let before = squashed.proven.tip("refs/notes/proof");
    let error = squashed.refused(&["--reason", REASON], "ERR_SIGNING_UNSET", 2);
    assert!(error["hint"].as_str().unwrap().contains("gpg.format ssh"), "{error}");
    squashed.proven.git(&["config", "gpg.format", "ssh"]);
    let error = squashed.refused(&["--reason", REASON], "ERR_SIGNING_UNSET", 2);
    assert!(error["hint"].as_str().unwrap().contains("user.signingkey"), "{error}");
    assert_eq!(squashed.proven.tip("refs/notes/proof"), before);
}

#[test]
fn it_says_whether_the_gate_will_take_it() {
    let squashed = Squashed::with("", PEOPLE, "", "Squash\n\nProof-Grade: true");
    squashed.signs_as("ada");
    let said = squashed.vouch(&[]);
    assert_eq!((&said["verdict"], &said["vouched"]), (&json!("missing"), &json!(false)), "{said}");
    let ran = squashed.proven.scratch.run(["vouch", &squashed.commit, "--reason", "Again."]);
    assert!(ran.text().contains("The gate does not accept it, by the policy of the commit's parent:\n"), "{ran:?}");
    assert!(ran.text().contains("WORD_NOT_TAKEN ada@x vouches for the commit, and policy lists nobody"), "{ran:?}");
    let listed = Squashed::new();
    listed.signs_as("ada");
    let ran = listed.proven.scratch.run(["vouch", "HEAD", "--for", "main~1..topic", "--reason", REASON]);
    assert!(ran.text().starts_with("Vouched for "), "{ran:?}");
    assert!(ran.text().contains(": 1 proven, 0 not required\n"), "{ran:?}");
    assert!(ran.text().ends_with("a person's word, not a proof. git proof sync shares it.\n"), "{ran:?}");
}

#[test]
fn range_in_which_something_is_not_proven_is_refused() {
    let squashed = Squashed::new();
    let proven = &squashed.proven;
    squashed.signs_as("ada");
    proven.git(&["checkout", "--quiet", "topic"]);
    proven.write("b.txt", "b\n");
    let commit = proven.commit("Add b\n\nProof-Grade: true");
    let before = proven.tip("refs/notes/proof");
    let error = squashed.refused(&["--for", "main~1..topic", "--reason", REASON], "ERR_NOT_PROVEN", 1);
    assert_eq!(
        error["details"]["commits"],
        json!([{ "commit": commit, "verdict": "missing", "codes": ["ANCHOR_MISSING"] }])
    );
    assert!(error["message"].as_str().unwrap().starts_with("of main~1..topic, 1 proven, 0 not required"), "{error}");
    assert_eq!(proven.tip("refs/notes/proof"), before);
    // Nor does a word for the part help.
    proven.scratch.json(&["vouch", "topic", "--reason", "I read b."]);
    squashed.refused(&["--for", "main~1..topic", "--reason", REASON], "ERR_NOT_PROVEN", 1);
}

#[test]
fn bad_input_is_refused() {
    let squashed = vouched();
    let token = ["ghp_", "k3Jd8sQ2mXv7Lr9TzW4bN6cYh1PfGa5UeRt0"].concat();
    for (arguments, code) in [
        (&["--reason", ""][..], "INVALID_PARAMS"),
        (&["--reason", &"x".repeat(4097)], "ERR_TOO_LARGE"),
        (&["--reason", &token], "ERR_SECRET_DETECTED"),
        (&["--reason", REASON, "--for", "topic"], "INVALID_PARAMS"),
        (&["--reason", REASON, "--for", "main...topic"], "INVALID_PARAMS"),
        (&["--reason", REASON, "--for", "..topic"], "INVALID_PARAMS"),
        (&["--reason", REASON, "--for", "topic..topic"], "INVALID_PARAMS"),
        (&["--reason", REASON, "--for", "main~1..main"], "INVALID_PARAMS"),
        (&["--reason", REASON, "--for", "main~1..nowhere"], "ERR_COMMIT_NOT_FOUND"),
    ] {
        squashed.refused(arguments, code, 2);
    }
    // What is proven needs nobody's word.
    squashed.proven.scratch.refused(&["vouch", "topic", "--reason", REASON], "INVALID_PARAMS", 2);
    squashed.proven.scratch.refused(&["vouch", "nowhere", "--reason", REASON], "ERR_COMMIT_NOT_FOUND", 2);
    assert_eq!(squashed.proven.scratch.run(["vouch", "HEAD"]).exit, Some(2));
}

#[test]
fn word_for_a_commit_that_names_its_sessions_names_them_too() {
    let squashed = Squashed::with(POLICY, PEOPLE, "", "Squash\n\nProof-Root: s:v1:{root}:5");
    squashed.signs_as("ada");
    let said = squashed.vouch(&[]);
    assert_eq!(said["sessions"], json!([{ "root": squashed.proven.root, "count": 5 }]), "{said}");
    assert_eq!(said["verdict"], "vouched", "{said}");
}
