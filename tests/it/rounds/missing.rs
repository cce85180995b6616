//! Seals that were altered, and what they list and is gone.

use super::{ROUNDS, with_rounds};
use crate::anchoring::clones::{EVIDENCE, NOTES, entry};
use crate::store::scratch::Scratch;

#[test]
fn every_altered_field_of_a_seal_breaks_the_chain() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 2);
    let seal = repo.seal_text(0);
    let first = repo.tip(&format!("{ROUNDS}~1")).unwrap();
    let flip = |field: &str| {
        let at = seal.find(&format!("\"{field}\":\"")).unwrap() + field.len() + 4;
        let other = if seal.as_bytes()[at] == b'0' { "1" } else { "0" };
        format!("{}{other}{}", &seal[..at], &seal[at + 1..])
    };
    let altered = [
        flip("genesis"),
        flip("previous"),
        flip("root"),
        seal.replace("\"round\":2", "\"round\":3"),
        seal.replace("\"size\":2", "\"size\":3"),
        seal.replace("\"count\":3", "\"count\":4"),
        seal.replace("\"s2\"", "\"s3\""),
        seal.replace("\"parents\":[{", "\"parents\":[{\"extra\":1,"),
        seal.replace("git-proof/seal@1", "git-proof/seal@2"),
        seal.replace("\"sealed_at\":\"2", "\"sealed_at\":\"1"),
        format!("{seal}\n"),
        format!(" {seal}"),
    ];
    for text in altered {
        assert_ne!(text, seal);
        let clone = repo.clone("clone", &[]);
        clone.git(&["fetch", "--quiet", "origin", "refs/notes/proof:refs/notes/proof", "refs/proof/*:refs/proof/*"]);
        clone.plant_seal(&text, &[&first]);
        clone.does_not_hold("SEAL_BROKEN");
        std::fs::remove_dir_all(&clone.path).unwrap();
    }
}

#[test]
fn seal_with_two_parents_or_other_files_is_none() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 2);
    let (newest, first) = (repo.tip(ROUNDS).unwrap(), repo.tip(&format!("{ROUNDS}~1")).unwrap());
    let seal = repo.seal_text(0);
    repo.plant_seal(&seal, &[&first, &newest]);
    repo.does_not_hold("SEAL_BROKEN");
    let blob = repo.blob(seal.as_bytes());
    for entries in [
        vec![entry("100644", &blob, "other"), entry("100644", &blob, "seal.json")],
        vec![entry("100755", &blob, "seal.json")],
        vec![entry("120000", &blob, "seal.json")],
        vec![entry("100644", &blob, "Seal.json")],
    ] {
        let tree = repo.tree(&entries);
        repo.plant(ROUNDS, &tree, &[&first]);
        repo.does_not_hold("SEAL_BROKEN");
    }
}

#[test]
fn ref_that_names_any_other_history_is_refused_quickly() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 1);
    repo.commits(500);
    repo.git(&["update-ref", ROUNDS, "refs/heads/main"]);
    repo.does_not_hold("SEAL_BROKEN");
}

#[test]
fn session_that_is_sealed_twice_breaks_the_chain() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 1);
    let first: serde_json::Value = serde_json::from_str(&repo.seal_text(0)).unwrap();
    let mut rounds = git_proof::proof::seal::Rounds::new();
    let sealed = rounds.push(repo.seal_text(0).as_bytes()).unwrap().clone();
    let again = rounds.seal(sealed.sessions.clone(), sealed.opened_at, sealed.sealed_at).unwrap();
    assert_eq!(first["round"], 1);
    repo.plant_seal(&again.to_text(), &[ROUNDS]);
    repo.does_not_hold("SEAL_BROKEN");
}

#[test]
fn deleted_note_is_found_although_a_later_seal_lists_its_anchor_with_another_root() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 1);
    let commit = repo.tip("HEAD").unwrap();
    repo.lists_again(0);
    repo.git(&["notes", "--ref=proof", "remove", &commit]);
    assert!(repo.codes(&commit).contains("ANCHOR_DELETED"));
}

#[test]
fn deleted_note_that_a_seal_lists_is_found() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 2);
    let commit = repo.tip("HEAD").unwrap();
    let clone = repo.clone("clone", &[]);
    clone.git(&["fetch", "--quiet", "origin", "refs/notes/proof:refs/notes/proof", "refs/proof/*:refs/proof/*"]);
    assert!(clone.codes(&commit).is_empty());
    clone.git(&["notes", "--ref=proof", "remove", &commit]);
    let (exit, said) = clone.verdict(&commit);
    // Nobody asks for a proof of that commit, and anyone could have pushed the seal.
    assert_eq!(exit, Some(0), "{said}");
    assert!(clone.codes(&commit).contains("ANCHOR_DELETED"), "{said}");
    clone.does_not_hold("ANCHOR_DELETED");
}

#[test]
fn deleted_evidence_that_a_seal_lists_is_found() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 1);
    let tree = repo.tree(&[]);
    repo.plant(EVIDENCE, &tree, &[EVIDENCE]);
    repo.does_not_hold("EVIDENCE_MISSING");
}

#[test]
fn clone_without_notes_could_not_check_what_seals_list() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 1);
    let clone = repo.clone("clone", &[]);
    clone.git(&["fetch", "--quiet", "origin", &format!("{ROUNDS}:{ROUNDS}")]);
    let (exit, found) = clone.rounds();
    assert_eq!((exit, found["verdict"].as_str()), (Some(3), Some("unchecked")), "{found}");
    assert_eq!(clone.tip(NOTES), None);
}

#[test]
fn shallow_chain_could_not_be_checked() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 3);
    let clone = repo.clone("clone", &[]);
    let all =
        ["fetch", "--quiet", "origin", "refs/notes/proof:refs/notes/proof", "refs/proof/evidence:refs/proof/evidence"];
    clone.git(&all);
    clone.git(&["fetch", "--quiet", "--depth=1", "origin", &format!("{ROUNDS}:{ROUNDS}")]);
    let (exit, found) = clone.rounds();
    assert_eq!((exit, found["findings"][0]["code"].as_str()), (Some(3), Some("OBJECT_MISSING")), "{found}");
}
