//! Merging what two clones have: the better evidence wins whichever way it goes, and nothing that was there gets lost.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::clones::{Clone, EVIDENCE, NOTES, entry, two_clones};
use crate::change::scratch::output;
use crate::naive::hex;
use crate::store::scratch::{Scratch, text};

/// Where the only evidence of a repository is, and its text.
fn only_evidence(repo: &Clone<'_>) -> (String, Vec<u8>) {
    let path = repo.evidence().remove(0);
    let text = output(repo.command("git").args(["cat-file", "blob", &format!("{EVIDENCE}:{path}")]), b"");
    (path, text)
}

/// The same evidence with these lines withheld; the first line is the opening.
fn withholding(evidence: &[u8], lines: impl Fn(usize) -> bool) -> Vec<u8> {
    let mut text = Vec::new();
    for (number, line) in evidence.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if number == 0 || !lines(number) {
            text.extend_from_slice(line);
            continue;
        }
        let line = &line[..line.len() - 1];
        let hash: [u8; 32] = Sha256::digest(line).into();
        let entry: Value = serde_json::from_slice(line).unwrap();
        let withheld = format!("{{\"prev_hash\":\"{}\",\"withheld\":\"{}\"}}\n", text_of(&entry), hex(&hash));
        text.extend_from_slice(withheld.as_bytes());
    }
    text
}

fn text_of(entry: &Value) -> &str {
    text(entry, "prev_hash")
}

/// What someone could put in the place of evidence: what it is called, its mode, and its content.
fn bad_ones(good: &[u8]) -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let mut changed = good.to_vec();
    let last = changed.len() - 10;
    changed[last] ^= 1;
    vec![
        ("truncated", "100644", good[..good.len() / 2].to_vec()),
        (
            "without its last line",
            "100644",
            good[..good.len() - 1].rsplitn(2, |byte| *byte == b'\n').last().unwrap().to_vec(),
        ),
        ("all withheld", "100644", withholding(good, |_| true)),
        ("partly withheld", "100644", withholding(good, |number| number == 1)),
        ("empty", "100644", Vec::new()),
        ("changed", "100644", changed),
        ("a link", "120000", b"elsewhere".to_vec()),
        ("a program", "100755", good.to_vec()),
        ("a directory", "040000", Vec::new()),
    ]
}

/// The tree of evidence with this in the place of the good file.
fn tree_with(repo: &Clone<'_>, path: &str, mode: &str, content: &[u8]) -> String {
    let (folder, name) = path.split_once('/').unwrap();
    let blob = repo.blob(content);
    let id = if mode == "040000" { repo.tree(&[entry("100644", &blob, "inside")]) } else { blob };
    let below = repo.tree(&[entry(mode, &id, name)]);
    repo.tree(&[entry("040000", &below, folder)])
}

/// Plants each bad one on the remote by `parents`, lets a clone with the good one sync, and asks for the good one on both.
fn good_one_comes_back(parents: impl Fn(&str) -> Vec<String>) {
    let scratch = Scratch::without_repository();
    let (remote, one, _) = two_clones(&scratch);
    let commit = one.explain("first");
    one.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    one.json(&["sync"]);
    let (path, good) = only_evidence(&one);
    for (what, mode, content) in bad_ones(&good) {
        let tip = remote.tip(EVIDENCE).unwrap();
        let parents = parents(&tip);
        let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
        remote.plant(EVIDENCE, &tree_with(&remote, &path, mode, &content), &parents);
        let ran = one.run(&["sync"]);
        assert_eq!(ran.exit, Some(0), "{what}: {ran:?}");
        for place in [&one, &remote] {
            assert_eq!(only_evidence(place).1, good, "{what}");
            place.passes(&commit);
        }
    }
    remote.is_whole();
}

#[test]
fn good_evidence_wins_over_bad_evidence_that_was_put_on_top_of_it() {
    good_one_comes_back(|tip| vec![tip.to_owned()]);
}

#[test]
fn good_evidence_wins_over_bad_evidence_with_another_history() {
    good_one_comes_back(|_| Vec::new());
}

#[test]
fn good_evidence_of_a_remote_wins_over_bad_evidence_of_a_clone() {
    let scratch = Scratch::without_repository();
    let (_, one, two) = two_clones(&scratch);
    let commit = one.explain("first");
    one.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    one.json(&["sync"]);
    two.git(&["pull", "--quiet", "origin", "main"]);
    two.json(&["sync"]);
    let (path, good) = only_evidence(&one);
    for (number, (what, mode, content)) in bad_ones(&good).into_iter().enumerate() {
        let tip = two.tip(EVIDENCE).unwrap();
        let parents: &[&str] = if number % 2 == 0 { &[&tip] } else { &[] };
        two.plant(EVIDENCE, &tree_with(&two, &path, mode, &content), parents);
        two.json(&["sync"]);
        assert_eq!(only_evidence(&two).1, good, "{what}");
        two.passes(&commit);
    }
}

#[test]
fn less_withheld_wins_and_equals_come_to_the_same_in_both_clones() {
    let scratch = Scratch::without_repository();
    let (remote, one, two) = two_clones(&scratch);
    one.explain("first");
    let (path, good) = only_evidence(&one);
    let (left, right) = (withholding(&good, |number| number == 1), withholding(&good, |number| number == 2));
    one.plant(EVIDENCE, &tree_with(&one, &path, "100644", &left), &[]);
    two.plant(EVIDENCE, &tree_with(&two, &path, "100644", &right), &[]);
    one.json(&["sync"]);
    two.json(&["sync"]);
    one.json(&["sync"]);
    let settled = [one.tip(EVIDENCE), two.tip(EVIDENCE), remote.tip(EVIDENCE)];
    assert!(settled.iter().all(|tip| *tip == settled[0]), "{settled:?}");
    let again = two.json(&["sync"]);
    assert_eq!(again["pushed"].as_array().map(Vec::len), Some(0), "{again}");
}

/// A commit whose anchor, and evidence, both the clone and the remote have.
fn shared(one: &Clone<'_>) -> String {
    let commit = one.explain("first");
    one.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    one.json(&["sync"]);
    commit
}

#[test]
fn line_that_was_deleted_on_the_remote_comes_back() {
    let scratch = Scratch::without_repository();
    let (remote, one, _) = two_clones(&scratch);
    let commit = shared(&one);
    let lines = remote.notes();
    remote.git(&["notes", "--ref=proof", "remove", &commit]);
    one.json(&["sync"]);
    assert_eq!((one.notes(), remote.notes()), (lines.clone(), lines));
    remote.passes(&commit);
}

#[test]
fn line_that_was_deleted_here_comes_back_and_is_not_deleted_there() {
    let scratch = Scratch::without_repository();
    let (remote, one, _) = two_clones(&scratch);
    let commit = shared(&one);
    let lines = remote.notes();
    one.git(&["notes", "--ref=proof", "remove", &commit]);
    one.json(&["sync"]);
    assert_eq!((one.notes(), remote.notes()), (lines.clone(), lines));
}

#[test]
fn evidence_that_was_deleted_on_the_remote_comes_back() {
    let scratch = Scratch::without_repository();
    let (remote, one, _) = two_clones(&scratch);
    let commit = shared(&one);
    let empty = remote.tree(&[]);
    remote.plant(EVIDENCE, &empty, &[&remote.tip(EVIDENCE).unwrap()]);
    one.json(&["sync"]);
    remote.passes(&commit);
}

#[test]
fn refs_that_were_deleted_on_the_remote_come_back() {
    let scratch = Scratch::without_repository();
    let (remote, one, _) = two_clones(&scratch);
    let commit = shared(&one);
    for name in [NOTES, EVIDENCE] {
        remote.git(&["update-ref", "-d", name]);
        one.json(&["sync"]);
        remote.passes(&commit);
    }
}
