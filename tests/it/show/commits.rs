//! What is told of commits, and how a command ends that tells it.

use serde_json::Value;

use super::{Explained, redacted};
use crate::store::scratch::{Ran, text};

#[test]
fn plain_clone_shows_the_same() {
    let explained = Explained::new();
    let here = explained.shown(80, &["show", "--full"]);
    let clone = explained.scratch.around().join("clone");
    explained.scratch.git(["clone", "--quiet", ".", clone.to_str().unwrap()]);
    for name in ["refs/notes/proof", "refs/proof/evidence", "refs/proof/rounds"] {
        explained.scratch.git(["-C", clone.to_str().unwrap(), "fetch", "--quiet", "origin", &format!("{name}:{name}")]);
    }
    let ran: Ran = explained.proof(80, &["show", "--full"]).current_dir(&clone).output().unwrap().into();
    assert_eq!(redacted(ran.text()), redacted(&here));
    assert!(!clone.join(".git/proof").exists(), "showing made a store");
}

#[test]
fn broken_proof_is_said_so_and_ends_in_1() {
    let explained = Explained::new();
    explained.forge("a second cookie", "a third cookie");
    for arguments in [&["show"][..], &["log", "HEAD"], &["log", "HEAD~1.."]] {
        let ran: Ran = explained.proof(80, arguments).output().unwrap().into();
        assert_eq!(ran.exit, Some(1), "{ran:?}");
        assert!(ran.out.contains("failed: CHAIN_BROKEN"), "{}", ran.out);
        // What does not add up to the root is not told as if it did.
        assert!(!ran.out.contains("third cookie"), "{}", ran.out);
    }
}

#[test]
fn copied_note_tells_nothing_of_another_commit() {
    let explained = Explained::new();
    explained.scratch.git(["commit", "--quiet", "--allow-empty", "-m", "Another\n\nProof-Grade: true"]);
    explained.scratch.git(["notes", "--ref=proof", "copy", "HEAD~1", "HEAD"]);
    let ran: Ran = explained.proof(80, &["show"]).output().unwrap().into();
    assert_eq!(ran.exit, Some(1), "{ran:?}");
    assert!(ran.out.contains("failed: BINDING_MISMATCH") && !ran.out.contains("cookie"), "{}", ran.out);
}

#[test]
fn what_was_not_fetched_could_not_be_checked_and_ends_in_3() {
    let explained = Explained::new();
    explained.scratch.git(["update-ref", "-d", "refs/proof/evidence"]);
    let ran: Ran = explained.proof(80, &["show"]).output().unwrap().into();
    assert_eq!(ran.exit, Some(3), "{ran:?}");
    assert!(ran.out.contains("could not check: REF_NOT_FETCHED"), "{}", ran.out);
}

#[test]
fn json_has_the_decisions_point_by_point() {
    let explained = Explained::new();
    let shown = explained.scratch.json(&["show"]);
    assert_eq!((&shown["verdict"], &shown["binding"]), (&"pass".into(), &"exact".into()), "{shown}");
    let trail = &shown["trails"][0];
    let left = serde_json::json!({ "plans": 1, "analyses": 0, "attested": 1, "withheld": 1 });
    assert_eq!(trail["left_away"], left, "{trail}");
    let steps = trail["steps"].as_array().unwrap();
    let kinds: Vec<&str> = steps.iter().map(|step| text(step, "type")).collect();
    assert_eq!(kinds, ["decision", "decision", "reflection"]);
    assert_eq!(steps[1]["content"], super::CHOSEN);
    assert_eq!(steps[1]["text"], "Set the cookie with Path=/.");
    let points: Vec<(&str, &str)> = steps[1]["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| (text(point, "label"), text(point, "text")))
        .collect();
    assert_eq!(points[1], ("rejected", "a second cookie, two truths about who is signed in."));
    assert_eq!(points[2], ("confidence", "0.9"));
    assert_eq!((&steps[0]["parent"], &steps[2]["parent"]), (&Value::Null, &1.into()));
    let full = explained.scratch.json(&["show", "--full"]);
    assert_eq!(full["trails"][0]["steps"].as_array().unwrap().len(), 6, "{full}");
    assert_eq!(full["trails"][0]["steps"][3]["type"], "withheld");
    assert_eq!(full["trails"][0]["steps"][3]["content"], Value::Null);
}

#[test]
fn content_hashes_of_show_are_those_of_the_store() {
    let explained = Explained::new();
    let full = explained.scratch.json(&["show", "--full"]);
    let log = explained.scratch.json(&["log"]);
    let entries = log["entries"].as_array().unwrap();
    for (step, entry) in full["trails"][0]["steps"].as_array().unwrap().iter().zip(entries) {
        assert_eq!((&step["content_hash"], &step["chain_hash"]), (&entry["content_hash"], &entry["chain_hash"]));
    }
    assert_eq!(entries.len(), 6);
}

#[test]
fn session_behind_several_commits_is_told_once() {
    let explained = Explained::new();
    explained.scratch.start("both", &[]);
    explained.scratch.record("decision", "two steps");
    for name in ["b.txt", "c.txt"] {
        std::fs::write(explained.scratch.place.join(name), name).unwrap();
        explained.scratch.git(["add", "--all"]);
        explained.scratch.git(["commit", "--quiet", "-m", name]);
        explained.scratch.run(["hook", "post-commit"]).text();
    }
    explained.scratch.record("reflection", "both done");
    explained.scratch.json(&["finalize"]);
    let log = explained.shown(80, &["log", "HEAD~2.."]);
    assert_eq!(log.matches("two steps").count(), 1, "{log}");
    let (session, commits) =
        (log.find("session    both").unwrap(), [log.find(" c.txt").unwrap(), log.find(" b.txt").unwrap()]);
    assert!(session < commits[0] && commits[0] < commits[1], "{log}");
}

#[test]
fn log_of_a_history_says_that_there_is_more() {
    let explained = Explained::new();
    let log = explained.shown(80, &["log", "-n", "1", "HEAD"]);
    assert!(log.contains("Cut the redirect loop") && !log.contains("Begin"), "{log}");
    assert!(log.contains("Older commits are not shown; -n 4 shows more."), "{log}");
    assert!(!explained.shown(80, &["log", "-n", "2", "HEAD"]).contains("Older commits"));
    let range = explained.scratch.json(&["log", "HEAD~1..HEAD"]);
    assert_eq!((range["commits"].as_array().unwrap().len(), &range["more"]), (1, &false.into()));
}

#[test]
fn empty_range_has_no_commits() {
    let explained = Explained::new();
    assert_eq!(explained.shown(80, &["log", "HEAD..HEAD"]), "Nothing to judge: no commits.\n");
    assert_eq!(explained.shown(80, &["log", "-n", "5", "HEAD..HEAD"]), "Nothing to judge: no commits.\n");
}

#[test]
fn list_of_commits_stays_short_where_much_was_decided() {
    let explained = Explained::with(&format!("A; {}", "rejected: x; ".repeat(30)), &[]);
    let log = explained.shown(80, &["log", "HEAD~1.."]);
    assert!(log.lines().count() < 25 && log.contains("more points"), "{log}");
    explained.scratch.start("many", &[]);
    for number in 0..9 {
        explained.scratch.record("decision", &format!("choice {number}"));
    }
    std::fs::write(explained.scratch.place.join("b.txt"), "b").unwrap();
    explained.scratch.git(["add", "--all"]);
    explained.scratch.record("reflection", "many");
    explained.scratch.git(["commit", "--quiet", "-m", "Many"]);
    explained.scratch.json(&["finalize"]);
    explained.scratch.json(&["anchor"]);
    let log = explained.shown(80, &["log", "HEAD~1.."]);
    assert!(log.contains("choice 4") && !log.contains("choice 5"), "{log}");
    assert!(log.contains("4 more: git proof show"), "{log}");
}

#[test]
fn branches_at_every_record_still_fit() {
    let explained = Explained::new();
    explained.scratch.start("deep", &[]);
    let mut last = text(&explained.scratch.record("plan", "begin"), "id").to_owned();
    for number in 0..45 {
        let branch = |content: &str| {
            let arguments = ["record", "--type", "decision", "--content", content, "--parent", &last];
            text(&explained.scratch.json(&arguments), "id").to_owned()
        };
        branch(&format!("left at {number}"));
        last = branch(&format!("right at {number}"));
    }
    std::fs::write(explained.scratch.place.join("b.txt"), "b").unwrap();
    explained.scratch.git(["add", "--all"]);
    explained.scratch.record("reflection", "the end of it");
    explained.scratch.git(["commit", "--quiet", "-m", "Deep"]);
    explained.scratch.json(&["finalize"]);
    explained.scratch.json(&["anchor"]);
    let shown = explained.shown(80, &["show"]);
    assert!(shown.contains("left at 44") && shown.contains("the end of it"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}
