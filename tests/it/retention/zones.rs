//! At every zone everything that can be proven still is: check, verify, root, prove, and proofs that were made before.

use super::{anchored, bodies, ids, lines, sealed, zone_of};
use crate::store::scratch::{Scratch, text};

/// What is promised of a session, whatever its zone.
struct Promise {
    commit: String,
    root: serde_json::Value,
    proofs: Vec<(String, String)>,
}

impl Promise {
    fn of(scratch: &Scratch, session: &str, commit: String) -> Self {
        let root = scratch.json(&["root", "--session", session]);
        let prove = |id: String| {
            let proof = scratch.run(["prove", "--record", &id]).text().to_owned();
            (id, proof)
        };
        Self { commit, root, proofs: ids(scratch, session).into_iter().map(prove).collect() }
    }

    #[track_caller]
    fn holds(&self, scratch: &Scratch) {
        let session = text(&self.root, "session_id");
        let check = scratch.json(&["check", "--session", session]);
        assert_eq!((&check["valid"], &check["root"]), (&true.into(), &self.root["root"]), "{check}");
        assert_eq!(scratch.json(&["root", "--session", session]), self.root);
        let verdict = scratch.json(&["verify", &self.commit]);
        assert_eq!(text(&verdict, "verdict"), "pass", "{verdict}");
        assert_eq!(verdict["commits"][0]["sessions"][0]["rooted"], true, "{verdict}");
        let count = self.root["record_count"].to_string();
        let trusted = ["check-proof", "-", "--root", text(&self.root, "root"), "--count", &count];
        for (id, proof) in &self.proofs {
            assert_eq!(scratch.run(["prove", "--record", id]).text(), proof);
            assert_eq!(scratch.run_with(&trusted, proof.as_bytes()).json()["valid"], true);
        }
    }
}

#[test]
fn proofs_hold_in_every_zone_and_on_the_way_back() {
    let scratch = Scratch::new();
    let commit = anchored(&scratch, "one");
    let promise = Promise::of(&scratch, "one", commit);
    promise.holds(&scratch); // hot
    scratch.json(&["seal"]);
    promise.holds(&scratch); // warm
    let before = lines(&scratch, "one");
    scratch.git(["config", "proof.warmRounds", "0"]);
    assert_eq!(scratch.json(&["retain"])["moved"], 1);
    promise.holds(&scratch);
    assert_eq!((zone_of(&scratch, "one").as_str(), bodies(&scratch, "one")), ("cold", 1));
    scratch.json(&["log", "--session", "one"]);
    assert_eq!((zone_of(&scratch, "one").as_str(), lines(&scratch, "one")), ("warm", before));
    promise.holds(&scratch);
    scratch.json(&["retain", "--yes", "--freeze", "one"]);
    promise.holds(&scratch);
    assert_eq!((zone_of(&scratch, "one").as_str(), bodies(&scratch, "one")), ("frozen", 1));
}

#[test]
fn check_says_how_many_texts_are_archived_and_leaves_them_there() {
    let scratch = super::with_cold(&["one", "two"]);
    let check = scratch.json(&["check", "--session", "one"]);
    assert_eq!(
        (check["records"].as_u64(), check["blanked"].as_u64(), check["archived"].as_u64()),
        (Some(5), Some(4), Some(4))
    );
    let said = scratch.run(["check", "--session", "one"]);
    assert!(said.text().contains("The texts of 4 are in an archive, which holds as well."), "{said:?}");
    assert_eq!(zone_of(&scratch, "one"), "cold");
}

#[test]
fn commits_that_a_session_attests_stay_known_in_every_zone() {
    let scratch = sealed(&["one"]);
    scratch.git(["config", "proof.warmRounds", "0"]);
    for arguments in [&["retain"][..], &["retain", "--yes", "--freeze", "one"]] {
        scratch.json(arguments);
        // Finalizing once more anchors on the commits attested, if that is still to be done.
        let again = scratch.json(&["finalize", "--session", "one"]);
        assert_eq!((&again["anchors"][0]["created"], &again["anchors"][0]["rooted"]), (&false.into(), &true.into()));
    }
}

#[test]
fn sessions_that_no_round_has_sealed_never_move() {
    let scratch = sealed(&["one"]);
    anchored(&scratch, "anchored");
    scratch.start("ended", &["--not-proof-grade"]);
    scratch.record("plan", "x");
    scratch.json(&["end"]);
    scratch.start("open", &[]);
    scratch.record("plan", "x");
    for (key, value) in [("proof.warmRounds", "0"), ("proof.warmDays", "0"), ("proof.warnDays", "0")] {
        scratch.git(["config", key, value]);
    }
    let retained = scratch.json(&["retain", "--yes", "--freeze"]);
    assert_eq!(retained["moves"].as_array().unwrap().len(), 1, "{retained}");
    for session in ["anchored", "ended", "open"] {
        assert_eq!(zone_of(&scratch, session), "", "{session}");
        assert!(lines(&scratch, session).iter().all(Option::is_some), "{session}");
    }
    assert_eq!(super::summary(&retained, "hot")["sessions"], 3);
}

#[test]
fn only_what_is_on_its_way_out_can_be_blanked_and_only_what_is_cold_put_back() {
    let scratch = super::with_cold(&["one", "two"]);
    let database = scratch.database();
    for (statement, session) in [
        ("UPDATE thought_records SET line = NULL WHERE session_id = ?1", "two"),
        ("UPDATE thought_records SET line = '{}' WHERE session_id = ?1 AND line IS NULL", "one"),
        ("UPDATE zones SET settled = 0 WHERE session_id = ?1", "two"),
        ("UPDATE thought_records SET line = '{}' WHERE session_id = ?1 AND line IS NOT NULL", "two"),
        ("DELETE FROM zones WHERE session_id = ?1", "one"),
        ("INSERT INTO zones VALUES (?1, 'cold', '', NULL, NULL, 0, 0)", "two"),
    ] {
        let changed = database.execute(statement, [session]);
        assert!(changed.as_ref().is_err() || *changed.as_ref().unwrap() == 0, "{statement}: {changed:?}");
    }
    scratch.start("open", &[]);
    let open = "INSERT INTO zones VALUES ('open', 'frozen', '', NULL, NULL, 0, 0)";
    assert!(database.execute(open, []).unwrap_err().to_string().contains("only a finalized session"));
    scratch.json(&["retain", "--yes", "--freeze", "one"]);
    let thawed = database.execute("UPDATE zones SET zone = 'warm', archive = zeroblob(32)", []);
    assert!(thawed.unwrap_err().to_string().contains("what is frozen stays so"));
}
