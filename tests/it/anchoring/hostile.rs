//! A remote whose proof refs are not what they should be: an error or no matter, and never harm to what is here.

use super::clones::{CHANGES, Clone, EVIDENCE, NOTES, entry, two_clones};
use crate::store::scratch::{Scratch, text};

const SHARED: [&str; 4] = [NOTES, EVIDENCE, CHANGES, "refs/proof/rounds"];

/// A clone with a proven commit, all of it shared, and one that has not fetched any of it.
fn shared(scratch: &Scratch) -> (Clone<'_>, Clone<'_>, Clone<'_>, String) {
    let (remote, one, two) = two_clones(scratch);
    let commit = one.explain("first");
    one.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    one.json(&["sync"]);
    (remote, one, two, commit)
}

fn tips(repo: &Clone<'_>) -> Vec<Option<String>> {
    SHARED.iter().map(|name| repo.tip(name)).collect()
}

#[test]
fn ref_that_names_no_commit_is_refused_and_not_taken_over() {
    let scratch = Scratch::without_repository();
    let (remote, one, two, commit) = shared(&scratch);
    let blob = remote.blob(b"no commit");
    let tree = remote.tree(&[]);
    remote.git(&["tag", "--annotate", "--message", "x", "tagged", "main"]);
    let tag = remote.tip("refs/tags/tagged").unwrap();
    let before = tips(&one);
    for name in SHARED {
        let was = remote.tip(name);
        for wrong in [&blob, &tree, &tag] {
            remote.git(&["update-ref", name, wrong]);
            for clone in [&one, &two] {
                let ours = clone.tip(name);
                let ran = clone.run(&["--json", "sync"]);
                // Broken rounds do not keep the rest from being shared.
                let said = if name == "refs/proof/rounds" {
                    let said: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
                    assert_eq!((ran.exit, text(&said["findings"][0], "code")), (Some(1), "SEAL_BROKEN"), "{said}");
                    said["findings"][0].clone()
                } else {
                    ran.error("ERR_REMOTE_FAILED", 4)
                };
                let message = text(&said, "message");
                assert!(message.contains(name) && message.contains("origin"), "{said}");
                assert_eq!(clone.tip(name), ours);
            }
            assert_eq!(tips(&one), before);
        }
        match was {
            Some(was) => remote.git(&["update-ref", name, &was]),
            None => remote.git(&["update-ref", "-d", name]),
        };
    }
    one.json(&["sync"]);
    one.passes(&commit);
}

#[test]
fn odd_entries_in_the_trees_of_a_remote_do_no_harm() {
    let scratch = Scratch::without_repository();
    let (remote, one, _, commit) = shared(&scratch);
    let path = remote.evidence().remove(0);
    let blob = remote.blob(b"odd");
    let folder = &path[..2];
    for name in [NOTES, EVIDENCE, CHANGES] {
        let tip = remote.tip(name);
        for mode in ["100644", "120000", "160000"] {
            let id = if mode == "160000" { &commit } else { &blob };
            let mut odd = vec![entry(mode, id, folder), entry(mode, id, "odd")];
            odd.extend((commit[..2] != *folder).then(|| entry(mode, id, &commit[..2])));
            let tree = remote.tree(&odd);
            let parents: Vec<&str> = tip.iter().map(String::as_str).collect();
            remote.plant(name, &tree, &parents);
            let ran = one.run(&["--json", "sync"]);
            assert_eq!(ran.exit, Some(0), "{name} {mode}: {ran:?}");
            one.passes(&commit);
            remote.passes(&commit);
        }
    }
}

#[test]
fn unrelated_histories_are_united() {
    let scratch = Scratch::without_repository();
    let (remote, one, two, commit) = shared(&scratch);
    for name in [NOTES, EVIDENCE, CHANGES] {
        remote.git(&["update-ref", "-d", name]);
    }
    let second = two.explain("second");
    two.git(&["push", "--quiet", "origin", "HEAD:refs/heads/other"]);
    two.json(&["sync"]);
    one.json(&["sync"]);
    one.git(&["fetch", "--quiet", "origin"]);
    for place in [&one, &remote] {
        place.passes(&commit);
        place.passes(&second);
        place.is_whole();
    }
}

#[test]
fn ref_in_the_way_of_ours_is_an_error_at_once() {
    let scratch = Scratch::without_repository();
    let (remote, one, _) = two_clones(&scratch);
    remote.git(&["update-ref", "refs/proof/evidence/in-the-way", "main"]);
    let commit = one.explain("first");
    let error = one.run(&["--json", "sync"]).error("ERR_REMOTE_FAILED", 4);
    assert!(text(&error, "message").contains("does not take"), "{error}");
    one.passes(&commit);
}

#[test]
fn damaged_object_here_is_an_error_and_no_wrong_answer() {
    let scratch = Scratch::without_repository();
    let (remote, one, _, commit) = shared(&scratch);
    let path = one.evidence().remove(0);
    let blob = one.git(&["rev-parse", &format!("{EVIDENCE}:{path}")]);
    let forged = one.blob(b"forged");
    let file = |id: &str| one.path.join(".git/objects").join(&id[..2]).join(&id[2..]);
    std::fs::remove_file(file(&blob)).unwrap();
    std::fs::copy(file(&forged), file(&blob)).unwrap();
    let (exit, answer) = one.verdict(&commit);
    assert_ne!((exit, text(&answer, "verdict")), (Some(0), "pass"), "{answer}");
    remote.passes(&commit);
}
