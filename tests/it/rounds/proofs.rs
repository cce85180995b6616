//! Proofs from the log of sealed sessions, checked without a repository, and checkpoints, read by a reader of others.

use git_proof::proof::logged::{ConsistencyProof, LoggedProof};
use serde_json::Value;
use signed_note::{StandardVerifier, Verifier as _, VerifierList};
use tlog_tiles::Checkpoint;

use super::{make_key, with_rounds};
use crate::anchoring::clones::Clone;
use crate::store::scratch::{Ran, Scratch, text};

/// Root and size of the log at a round.
fn log_at(repo: &Clone<'_>, round: u64) -> (String, String) {
    let shown = repo.json(&["rounds", "show", &round.to_string()]);
    (text(&shown, "log_root").to_owned(), shown["log_size"].to_string())
}

/// Checks a proof where there is no repository.
fn check(line: &str, root: &str, count: &str) -> Ran {
    let scratch = Scratch::without_repository();
    std::fs::write(scratch.place.join("proof.json"), line).unwrap();
    scratch.run(["--json", "check-proof", "proof.json", "--root", root, "--count", count])
}

#[test]
fn consistency_proof_between_any_two_rounds_holds_without_a_repository() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 5);
    for to in 1..=5 {
        let (root, count) = log_at(&repo, to);
        for from in 1..=to {
            let proof = repo.run(&["rounds", "prove", "--from", &from.to_string(), "--to", &to.to_string()]);
            let checked = check(proof.text(), &root, &count).json();
            assert_eq!(checked["from_root"].as_str().unwrap(), log_at(&repo, from).0);
        }
    }
    let newest = repo.run(&["rounds", "prove", "--from", "2"]);
    assert_eq!(newest.text(), repo.run(&["rounds", "prove", "--from", "2", "--to", "5"]).text());
    repo.run(&["--json", "rounds", "prove", "--from", "3", "--to", "2"]).error("INVALID_PARAMS", 2);
    repo.run(&["--json", "rounds", "prove", "--from", "6"]).error("ERR_ROUND_NOT_FOUND", 2);
}

#[test]
fn sealed_session_is_proven_to_be_in_the_log_without_a_repository() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 5);
    let (root, count) = log_at(&repo, 5);
    for round in 1..=5 {
        let id = format!("s{round}");
        let proof = repo.run(&["prove", "--round", "--session", &id]);
        let checked = check(proof.text(), &root, &count).json();
        assert_eq!((text(&checked, "session_id"), &checked["index"]), (id.as_str(), &(round - 1).into()));
        assert_eq!(text(&checked, "session_root"), text(&repo.json(&["root", "--session", &id]), "root"));
        // In the repository nobody has to name a root.
        std::fs::write(repo.path.join("proof.json"), proof.text()).unwrap();
        repo.run(&["check-proof", "proof.json"]).text();
    }
    repo.run(&["--json", "prove", "--round", "--session", "nobody"]).error("ERR_SESSION_NOT_FOUND", 2);
}

#[test]
fn proof_against_another_log_or_without_a_trusted_one_is_refused() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 3);
    let (root, count) = log_at(&repo, 3);
    let (old_root, old_count) = log_at(&repo, 2);
    for proof in [
        repo.run(&["rounds", "prove", "--from", "1"]).text().to_owned(),
        repo.run(&["prove", "--round", "--session", "s1"]).text().to_owned(),
    ] {
        check(&proof, &root, &count).json();
        check(&proof, &old_root, &old_count).error("ERR_PROOF_INVALID", 1);
        check(&proof, &root, &old_count).error("ERR_PROOF_INVALID", 1);
        let elsewhere = Scratch::without_repository();
        std::fs::write(elsewhere.place.join("proof.json"), &proof).unwrap();
        elsewhere.refused(&["check-proof", "proof.json"], "ERR_NO_TRUSTED_ROOT", 3);
    }
}

#[test]
fn every_changed_character_of_a_proof_about_the_log_is_refused() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 3);
    let logged = repo.run(&["prove", "--round", "--session", "s2"]).text().trim_end().to_owned();
    let consistency = repo.run(&["rounds", "prove", "--from", "1"]).text().trim_end().to_owned();
    let trusted = LoggedProof::parse(logged.as_bytes()).unwrap().head.log();
    // The number of a round in a proof is a label: it is not part of what the log hashes.
    let label = |line: &str, at: usize| line[..at].ends_with("\"round\":");
    let mut changed = 0;
    for (line, is_logged) in [(&logged, true), (&consistency, false)] {
        for at in 0..line.len() {
            for other in [b'0', b'1', b'a', b' ', b'"'] {
                let mut bytes = line.clone().into_bytes();
                if bytes[at] == other || label(line, at) {
                    continue;
                }
                bytes[at] = other;
                let holds = if is_logged {
                    LoggedProof::parse(&bytes).is_ok_and(|proof| proof.verify(&trusted).is_ok())
                } else {
                    // The earlier log is what is proven: one that differs is another claim, and must not hold either.
                    ConsistencyProof::parse(&bytes).is_ok_and(|proof| proof.verify(&trusted).is_ok())
                };
                assert!(!holds, "{}", String::from_utf8_lossy(&bytes));
                changed += 1;
            }
        }
    }
    assert!(changed > 3000, "{changed}");
}

/// The key of a checkpoint, as others know it, and the checkpoint.
fn checkpoint(repo: &Clone<'_>, more: &[&str]) -> Value {
    let key = make_key(repo.scratch, "checkpoint");
    let options = ["rounds", "checkpoint", "--origin", "example.org/proofs", "--key", key.to_str().unwrap()];
    repo.json(&[&options, more].concat())
}

#[test]
fn checkpoint_is_read_and_verified_by_a_reader_that_is_not_ours() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 3);
    for (round, more) in [(3, &[][..]), (2, &["--round", "2"])] {
        let made = checkpoint(&repo, more);
        let (root, count) = log_at(&repo, round);
        let verifier = StandardVerifier::new(text(&made, "verifier_key")).unwrap();
        assert_eq!(verifier.name(), "example.org/proofs");
        let note = signed_note::Note::from_bytes(text(&made, "checkpoint").as_bytes()).unwrap();
        let (verified, unverified) = note.verify(&VerifierList::new(vec![Box::new(verifier)])).unwrap();
        assert_eq!((verified.len(), unverified.len()), (1, 0));
        let read = Checkpoint::from_bytes(note.text()).unwrap();
        let hash: String = read.hash().0.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!((read.origin(), read.size().to_string(), hash), ("example.org/proofs", count, root));
    }
}

#[test]
fn forged_checkpoint_is_refused_by_that_reader() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 1);
    let made = checkpoint(&repo, &[]);
    let forged = text(&made, "checkpoint").replacen("\n1\n", "\n2\n", 1);
    let verifier = StandardVerifier::new(text(&made, "verifier_key")).unwrap();
    let note = signed_note::Note::from_bytes(forged.as_bytes()).unwrap();
    assert!(note.verify(&VerifierList::new(vec![Box::new(verifier)])).is_err());
}

#[test]
fn checkpoint_needs_a_name_and_a_key_that_can_be_used() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 1);
    let key = make_key(&scratch, "checkpoint");
    let key = key.to_str().unwrap();
    let refused = |more: &[&str], code, exit| {
        repo.run(&[&["--json", "rounds", "checkpoint"], more].concat()).error(code, exit);
    };
    refused(&["--key", key], "INVALID_PARAMS", 2);
    refused(&["--key", key, "--origin", "two words"], "INVALID_PARAMS", 2);
    refused(&["--origin", "example.org/x"], "INVALID_PARAMS", 2);
    refused(&["--origin", "example.org/x", "--key", "nowhere"], "ERR_SIGNING_FAILED", 4);
    refused(&["--origin", "example.org/x", "--key", &format!("{key}.pub")], "ERR_SIGNING_FAILED", 4);
    let keygen = |name: &str, options: &[&str]| {
        let file = scratch.around().join(name);
        let file = file.to_str().unwrap().to_owned();
        let made = crate::common::run(
            crate::common::command("ssh-keygen", scratch.around()).args(["-q", "-f", &file]).args(options),
        );
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        file
    };
    let locked = keygen("locked", &["-t", "ed25519", "-N", "secret"]);
    refused(&["--origin", "example.org/x", "--key", &locked], "ERR_SIGNING_FAILED", 4);
    let ecdsa = keygen("ecdsa", &["-t", "ecdsa", "-N", ""]);
    refused(&["--origin", "example.org/x", "--key", &ecdsa], "ERR_SIGNING_FAILED", 4);
    repo.git(&["config", "proof.origin", "example.org/x"]);
    repo.git(&["config", "proof.checkpointKey", key]);
    assert!(repo.run(&["rounds", "checkpoint"]).text().starts_with("example.org/x\n1\n"));
}
