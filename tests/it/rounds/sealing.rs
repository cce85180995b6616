//! What a seal holds, and what keeps a round from being sealed.

use std::process::Stdio;

use git_proof::proof::digest::sha256;
use serde_json::{Value, json};

use super::{begun, with_rounds};
use crate::anchoring::clones::two_clones;
use crate::store::independent::hex;
use crate::store::scratch::{Scratch, text};

/// The seal as the design defines it, computed anew from what is sealed.
fn expected(seals: &[Value], sessions: &[Value], opened_at: &Value, sealed_at: &Value) -> Value {
    let canonical = |value: &Value| git_proof::proof::canonical::to_text(value).unwrap();
    let hash = |bytes: &[u8]| hex(&sha256(bytes));
    let previous = seals.last().map(|seal| hash(canonical(seal).as_bytes()));
    let parents: Vec<Value> = seals.last().map_or(Vec::new(), |seal| {
        let sessions = seal["sessions"].as_array().unwrap();
        sessions.iter().map(|session| json!({ "root": session["root"], "session_id": session["session_id"] })).collect()
    });
    let round = seals.len() + 1;
    let genesis = json!({ "parents": parents, "previous": previous, "round": round });
    let mut leaves: Vec<Vec<u8>> = Vec::new();
    for seal in seals.iter().map(|seal| seal["sessions"].as_array().unwrap()).chain([&sessions.to_vec()]) {
        leaves.extend(seal.iter().map(|session| sha256(&[b"\0", canonical(session).as_bytes()].concat()).to_vec()));
    }
    let size = leaves.len();
    let roots = sessions.iter().map(|session| unhex(text(session, "root"))).collect();
    json!({
        "genesis": hash(canonical(&genesis).as_bytes()),
        "log": { "root": hex(&tree(leaves, true)), "size": size },
        "opened_at": opened_at,
        "parents": parents,
        "previous": previous,
        "root": hex(&tree(roots, false)),
        "round": round,
        "sealed_at": sealed_at,
        "sessions": sessions,
        "type": "git-proof/seal@1",
    })
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// The tree over leaves: that of RFC 9162, or the one that pairs the last node with itself.
fn tree(mut level: Vec<Vec<u8>>, rfc9162: bool) -> Vec<u8> {
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| match pair {
                [left, right] if rfc9162 => sha256(&[b"\x01", &left[..], right].concat()).to_vec(),
                [left, right] => sha256(&[&left[..], right].concat()).to_vec(),
                [lone] if rfc9162 => lone.clone(),
                [lone] => sha256(&[&lone[..], lone].concat()).to_vec(),
                _ => unreachable!(),
            })
            .collect();
    }
    level.remove(0)
}

#[test]
fn seal_is_what_the_design_makes_of_its_sessions() {
    let scratch = Scratch::new();
    let repo = begun(&scratch);
    let mut seals: Vec<Value> = Vec::new();
    for sessions in [["a", "b", "c"], ["d", "e", "f"]] {
        for session in &sessions {
            repo.explain(session);
        }
        let outcome = repo.json(&["seal"]);
        let seal: Value = serde_json::from_str(&repo.seal_text(0)).unwrap();
        let sealed = seal["sessions"].as_array().unwrap();
        let ids: Vec<&str> = sealed.iter().map(|session| text(session, "session_id")).collect();
        assert_eq!(ids, sessions, "in the order in which they were finalized");
        assert_eq!(seal, expected(&seals, sealed, &seal["opened_at"], &seal["sealed_at"]));
        assert_eq!(text(&outcome, "seal"), hex(&sha256(repo.seal_text(0).as_bytes())));
        assert_eq!(outcome["log_size"], 3 * (seals.len() + 1));
        seals.push(seal);
    }
    assert_eq!(seals[1]["opened_at"], seals[0]["sealed_at"], "a round begins where the one before ends");
    repo.is_whole();
}

#[test]
fn one_person_seals_what_others_pushed() {
    let scratch = Scratch::new();
    let (_, one, two) = two_clones(&scratch);
    one.explain("of-one");
    one.git(&["push", "--quiet", "origin", "HEAD:refs/heads/one"]);
    one.json(&["sync"]);
    two.git(&["fetch", "--quiet"]);
    two.explain("of-two");
    two.json(&["sync"]);
    let sealed = two.json(&["seal"]);
    assert_eq!(sealed["sessions"].as_array().unwrap().len(), 2, "{sealed}");
    two.json(&["sync"]);
    one.json(&["sync"]);
    assert_eq!(one.json(&["verify", "HEAD"])["commits"][0]["sessions"][0]["round"], 1);
}

#[test]
fn open_session_keeps_a_round_open_unless_it_is_deferred() {
    let scratch = Scratch::new();
    let repo = begun(&scratch);
    repo.explain("done");
    repo.json(&["start", "--intent", "still at it", "--session-id", "open"]);
    let refused = repo.run(&["--json", "seal"]).error("ERR_OPEN_SESSIONS", 1);
    assert_eq!(refused["details"]["open"], json!(["open"]));
    let sealed = repo.json(&["seal", "--defer"]);
    assert_eq!((&sealed["deferred"], sealed["sessions"].as_array().unwrap().len()), (&json!(["open"]), 1));
    repo.json(&["record", "--session", "open", "--type", "plan", "--content", "go on"]);
    repo.json(&["end", "--session", "open"]);
    assert_eq!(repo.json(&["seal"])["round"], json!(null));
}

#[test]
fn empty_round_is_not_made_and_nothing_is_sealed_twice() {
    let scratch = Scratch::new();
    let repo = begun(&scratch);
    assert_eq!(repo.json(&["seal"])["round"], json!(null));
    repo.explain("once");
    repo.json(&["seal"]);
    assert_eq!(repo.json(&["seal"])["round"], json!(null));
    assert_eq!(repo.sealed(), [["once"]]);
}

#[test]
fn only_anchors_that_verify_are_sealed() {
    let scratch = Scratch::new();
    let repo = begun(&scratch);
    let good = repo.explain("good");
    let bad = repo.explain("bad");
    // The line of one commit on another, in place of its own.
    let line = repo.git(&["notes", "--ref=proof", "show", &good]);
    repo.git(&["notes", "--ref=proof", "add", "--force", "--message", &line, &bad]);
    // A clone: the author's store would put the line back.
    let clone = repo.clone("clone", &[]);
    clone.git(&["fetch", "--quiet", "origin", "refs/notes/proof:refs/notes/proof", "refs/proof/*:refs/proof/*"]);
    let sealed = clone.json(&["seal"]);
    let ids: Vec<&str> = sealed["sessions"].as_array().unwrap().iter().map(|one| text(one, "session_id")).collect();
    assert_eq!(ids, ["good"]);
    let evidence = clone.evidence().iter().map(|path| format!("100644 {path}")).count();
    assert_eq!(evidence, 2);
}

#[test]
fn anchor_that_does_not_hold_is_left_out_and_named() {
    let scratch = Scratch::new();
    let repo = begun(&scratch);
    repo.explain("good");
    let bad = repo.explain("bad");
    let note = repo.git(&["notes", "--ref=proof", "show", &bad]);
    let mut line: Value = serde_json::from_str(&note).unwrap();
    line["anchor"]["count"] = 99.into();
    let clone = repo.clone("clone", &[]);
    clone.git(&["fetch", "--quiet", "origin", "refs/notes/proof:refs/notes/proof", "refs/proof/*:refs/proof/*"]);
    clone.git(&["notes", "--ref=proof", "add", "--force", "--message", &line.to_string(), &bad]);
    let sealed = clone.json(&["seal"]);
    assert_eq!(sealed["sessions"].as_array().unwrap().len(), 1);
    let left = &sealed["left_out"][0];
    assert_eq!((text(left, "commit"), text(left, "session_id")), (bad.as_str(), "bad"), "{sealed}");
    assert!(left["codes"].as_array().unwrap().contains(&"ROOT_MISMATCH".into()), "{sealed}");
}

#[test]
fn anchors_that_are_left_out_take_one_line_and_can_be_listed() {
    let scratch = Scratch::new();
    let repo = begun(&scratch);
    repo.explain("good");
    let clone = {
        let bad = ["one", "two", "three"].map(|session| repo.explain(session));
        let clone = repo.clone("clone", &[]);
        clone.git(&["fetch", "--quiet", "origin", "refs/notes/proof:refs/notes/proof", "refs/proof/*:refs/proof/*"]);
        for bad in bad {
            let mut line: Value = serde_json::from_str(&clone.git(&["notes", "--ref=proof", "show", &bad])).unwrap();
            line["anchor"]["count"] = 99.into();
            clone.git(&["notes", "--ref=proof", "add", "--force", "--message", &line.to_string(), &bad]);
        }
        clone
    };
    let sealed = clone.run(&["seal"]);
    assert_eq!(
        sealed.err, "git proof seal: left out 3 anchors (3 ROOT_MISMATCH); git proof seal --json lists them\n",
        "{sealed:?}"
    );
    let error = clone.run(&["--json", "seal"]).error("ERR_NOTHING_TO_SEAL", 1);
    assert_eq!(error["details"]["left_out"].as_array().unwrap().len(), 3, "{error}");
}

#[test]
fn rounds_are_listed_and_drawn() {
    let scratch = Scratch::new();
    let repo = with_rounds(&scratch, 2);
    let (exit, found) = repo.rounds();
    assert_eq!((exit, text(&found, "verdict")), (Some(0), "pass"), "{found}");
    assert_eq!(found["rounds"][1]["previous"], found["rounds"][0]["seal"]);
    let drawn = repo.run(&["rounds"]);
    let (first, second) = (drawn.text().find("round 2"), drawn.text().find("round 1 "));
    assert!(first.is_some() && first < second, "{}", drawn.out);
    assert!(drawn.out.starts_with("The chain holds: 2 rounds."), "{}", drawn.out);
    let shown = repo.run(&["rounds", "show", "2"]);
    assert!(shown.text().contains("session s2"), "{}", shown.out);
    repo.run(&["--json", "rounds", "show", "3"]).error("ERR_ROUND_NOT_FOUND", 2);
    repo.run(&["--json", "rounds", "show", "0"]).error("ERR_ROUND_NOT_FOUND", 2);
}

#[test]
fn rounds_of_a_repository_without_any_are_no_error() {
    let scratch = Scratch::new();
    let repo = begun(&scratch);
    let (exit, found) = repo.rounds();
    assert_eq!((exit, text(&found, "verdict")), (Some(0), "exempt"), "{found}");
    assert!(repo.run(&["rounds"]).text().contains("git proof seal"));
}

#[test]
fn two_processes_that_seal_at_once_make_one_chain() {
    let scratch = Scratch::new();
    let repo = begun(&scratch);
    for round in 0..3 {
        repo.explain(&format!("a{round}"));
        let mut running: Vec<_> = (0..4)
            .map(|_| repo.proof(&["--json", "seal"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
            .collect();
        let ended = running.drain(..).map(|child| child.wait_with_output().unwrap());
        let sealed = ended.filter(|output| String::from_utf8_lossy(&output.stdout).contains("\"seal\":")).count();
        assert_eq!(sealed, 1, "one of them seals, the others find nothing to seal");
    }
    assert_eq!(repo.sealed(), [["a0"], ["a1"], ["a2"]]);
}
