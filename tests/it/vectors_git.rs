//! The repository of the vectors: cloned from its bundle, brought into each state that the vectors describe, and judged.
//! `tests/spec/verdict.py` holds a second implementation to the same file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use git_proof::proof::finding::FindingCode;
use git_proof::proof::policy::Policy;
use serde_json::Value;

use crate::common::{command, git_proof, run, run_with_input};

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors");

fn vectors() -> Value {
    serde_json::from_slice(&std::fs::read(format!("{VECTORS}/verdicts.json")).unwrap()).unwrap()
}

#[track_caller]
fn git(place: &Path, arguments: &[&str], input: &[u8]) -> String {
    let ran = run_with_input(command("git", place).args(arguments), input);
    assert_eq!(ran.code, Some(0), "git {arguments:?}: {}", ran.stderr);
    ran.stdout.trim_end().to_owned()
}

/// A clone of the bundle with all its refs, in the state that a view describes.
fn clone(folder: &Path, view: &Value) {
    let bundle = format!("{VECTORS}/repository.bundle");
    git(folder, &["clone", "--quiet", "--mirror", &bundle, "clone.git"], b"");
    let place = folder.join("clone.git");
    for (name, target) in view["refs"].as_object().unwrap() {
        match target.as_str() {
            Some(target) => git(&place, &["update-ref", name, target], b""),
            None => git(&place, &["update-ref", "-d", name], b""),
        };
    }
    let without = view["without"].as_array().unwrap();
    if without.is_empty() {
        return;
    }
    // As loose objects, of which one can be taken away.
    let packs = place.join("objects/pack");
    std::fs::rename(&packs, folder.join("packs")).unwrap();
    std::fs::create_dir(&packs).unwrap();
    for file in std::fs::read_dir(folder.join("packs")).unwrap() {
        let file = file.unwrap().path();
        if file.extension().is_some_and(|extension| extension == "pack") {
            git(&place, &["unpack-objects", "-q"], &std::fs::read(file).unwrap());
        }
    }
    for object in without {
        let object = object.as_str().unwrap();
        std::fs::remove_file(place.join("objects").join(&object[..2]).join(&object[2..])).unwrap();
    }
}

/// The worst severity of each code.
fn worst(findings: &Value) -> BTreeMap<String, String> {
    let rank = |severity: &str| ["warning", "unchecked", "error"].iter().position(|known| *known == severity).unwrap();
    let mut worst: BTreeMap<String, String> = BTreeMap::new();
    for finding in findings.as_array().unwrap() {
        let severity = finding["severity"].as_str().unwrap();
        let known = worst.entry(finding["code"].as_str().unwrap().to_owned()).or_insert_with(|| severity.to_owned());
        if rank(known) < rank(severity) {
            severity.clone_into(known);
        }
    }
    worst
}

#[test]
fn every_commit_of_the_bundle_has_the_verdict_of_the_vectors() {
    let vectors = vectors();
    let judgements = vectors["judgements"].as_array().unwrap();
    let mut wrong = Vec::new();
    for (name, view) in vectors["views"].as_object().unwrap() {
        let folder = tempfile::tempdir().unwrap();
        clone(folder.path(), view);
        for expected in judgements.iter().filter(|judgement| judgement["view"] == name.as_str()) {
            let (rules, id) = (view["rules"].as_str().unwrap(), expected["commit"].as_str().unwrap());
            let place = folder.path().join("clone.git");
            let ran = run(git_proof(&place).args(["--json", "verify", "--rules", rules, id]));
            let said: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
            let found = &said["commits"][0];
            let codes: BTreeMap<String, String> = serde_json::from_value(expected["findings"].clone()).unwrap();
            let code = match expected["verdict"].as_str().unwrap() {
                "missing" | "fail" => 1,
                "unchecked" => 3,
                _ => 0,
            };
            if found["verdict"] != expected["verdict"]
                || found["binding"] != expected["binding"]
                || worst(&found["findings"]) != codes
                || ran.code != Some(code)
            {
                wrong.push(format!("expected {expected}\nfound exit code {:?}, {found}", ran.code));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn rules_that_cannot_be_read_let_nothing_be_judged() {
    let vectors = vectors();
    let view = &vectors["views"]["unreadable"];
    let folder = tempfile::tempdir().unwrap();
    clone(folder.path(), view);
    let place = folder.path().join("clone.git");
    let rules = view["rules"].as_str().unwrap();
    let ran = run(git_proof(&place).args(["--json", "verify", "--rules", rules, "refs/heads/main"]));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""));
    assert!(ran.stderr.contains("POLICY_UNREADABLE"), "{}", ran.stderr);
}

#[test]
fn bundle_shows_every_binding_verdict_and_finding_and_judges_every_commit_of_its_branches() {
    let vectors = vectors();
    let judgements = vectors["judgements"].as_array().unwrap();
    let all =
        |field: &str| -> BTreeSet<&str> { judgements.iter().filter_map(|judged| judged[field].as_str()).collect() };
    assert_eq!(all("binding"), BTreeSet::from(["exact", "moved", "reworded", "squashed"]));
    assert_eq!(all("verdict"), BTreeSet::from(["exempt", "fail", "missing", "pass", "unchecked", "vouched"]));
    let shown = judgements.iter().flat_map(|judged| judged["findings"].as_object().unwrap().keys().map(String::as_str));
    let cannot = vectors["cannot"].as_object().unwrap().keys().map(String::as_str);
    let known: BTreeSet<&str> = FindingCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(shown.chain(cannot).collect::<BTreeSet<_>>(), known);

    let folder = tempfile::tempdir().unwrap();
    clone(folder.path(), &vectors["views"]["plain"]);
    let listed = git(&folder.path().join("clone.git"), &["rev-list", "--branches"], b"");
    let plain = judgements.iter().filter(|judged| judged["view"] == "plain");
    let judged: BTreeSet<&str> = plain.map(|judged| judged["commit"].as_str().unwrap()).collect();
    assert!(judged.len() >= 30);
    assert_eq!(listed.lines().collect::<BTreeSet<_>>(), judged);
    assert!(std::fs::metadata(format!("{VECTORS}/repository.bundle")).unwrap().len() < 300 << 10);
}

/// The table of findings of the page has them all.
#[test]
fn page_of_the_verdict_names_every_finding() {
    let page = include_str!("../../src/proof/FORMAT-GIT.md");
    let (_, section) = page.split_once("\n## Verdict\n").unwrap();
    let table: String = section.lines().filter(|line| line.starts_with("| `")).collect();
    for code in FindingCode::ALL {
        assert!(table.contains(&format!("`{code}`")), "{code}");
    }
}

#[test]
fn defaults_on_the_page_are_those_of_the_policy() {
    let page = include_str!("../../src/proof/FORMAT-GIT.md");
    let (_, block) = page.split_once("\n```toml\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    // TOML 1.0 has inline tables on one line.
    let block = block.replace(",\n          ", ", ");
    let mut policy = Policy::parse(block.as_bytes()).unwrap();
    assert_eq!(policy.proof_grade.trailers, ["…"]);
    policy.proof_grade.trailers = Policy::default().proof_grade.trailers;
    assert_eq!(policy, Policy::default());
}
