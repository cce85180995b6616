//! What moves and when, what is said of it, and that a second run finds nothing to do.

use serde_json::json;

use super::{archives, bodies, lines, sealed, summary, with_cold, zone_of};
use crate::store::scratch::{Scratch, has, text};

#[test]
fn session_is_warm_for_three_rounds_and_then_cold() {
    let scratch = sealed(&["one", "two", "three"]);
    let retained = scratch.json(&["retain"]);
    assert_eq!((&retained["moved"], &retained["rounds"]), (&json!(0), &json!(3)), "{retained}");
    super::anchored(&scratch, "four");
    scratch.json(&["seal"]);
    let retained = scratch.json(&["retain"]);
    let moved = &retained["moves"][0];
    assert_eq!((&retained["moved"], text(moved, "session_id"), text(moved, "because")), (&json!(1), "one", "rounds"));
    assert_eq!((text(moved, "from"), text(moved, "to")), ("warm", "cold"));
    for (zone, sessions, records) in [("hot", 0, 0), ("warm", 3, 15), ("cold", 1, 5), ("frozen", 0, 0)] {
        let row = summary(&retained, zone);
        assert_eq!((&row["sessions"], &row["records"]), (&json!(sessions), &json!(records)), "{zone}: {retained}");
    }
    let file = std::fs::metadata(&archives(&scratch)[0]).unwrap().len();
    assert_eq!(summary(&retained, "cold")["archive_bytes"], file);
}

#[test]
fn dry_run_lists_what_would_move_and_moves_nothing() {
    let scratch = sealed(&["one", "two"]);
    scratch.git(["config", "proof.warmRounds", "1"]);
    let before = [lines(&scratch, "one"), lines(&scratch, "two")];
    let listed = scratch.json(&["retain", "--dry-run"]);
    assert_eq!(
        (&listed["dry_run"], &listed["moved"], text(&listed["moves"][0], "session_id")),
        (&json!(true), &json!(1), "one")
    );
    let frozen = scratch.json(&["retain", "--dry-run", "--freeze", "two"]);
    assert_eq!(frozen["moved"], 2, "{frozen}");
    assert_eq!((archives(&scratch), zone_of(&scratch, "one")), (vec![], String::new()));
    assert_eq!([lines(&scratch, "one"), lines(&scratch, "two")], before);
    let retained = scratch.json(&["retain"]);
    assert_eq!(retained["moves"], listed["moves"]);
}

#[test]
fn second_run_has_nothing_to_do() {
    let scratch = with_cold(&["one", "two"]);
    let (store, files) = (lines(&scratch, "one"), archives(&scratch));
    let events = scratch.rows("audit_events");
    let again = scratch.json(&["retain"]);
    assert_eq!((&again["moved"], &again["resumed"], &again["problems"]), (&json!(0), &json!(0), &json!([])));
    assert_eq!((lines(&scratch, "one"), archives(&scratch), scratch.rows("audit_events")), (store, files, events));
}

#[test]
fn table_and_moves_are_shown() {
    let scratch = sealed(&["one", "two"]);
    scratch.git(["config", "proof.warmRounds", "1"]);
    let said = scratch.run(["retain"]);
    let without_sizes: String = said
        .text()
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["warm" | "cold", ..] => words[..3].join(" ") + "\n",
                _ => line.to_owned() + "\n",
            }
        })
        .collect();
    insta::assert_snapshot!(without_sizes, @r"
    moved one from warm to cold: 5 entries, sealed in round 1 of 2

    zone      sessions     records  in the store   in archives
    hot              0           0           0 B             –
    warm 1 5
    cold 1 5
    frozen           0           0           0 B           0 B
    ");
    assert_eq!(said.err, "");
}

#[test]
fn archive_is_evidence_that_anyone_can_check() {
    let scratch = sealed(&["one"]);
    let whole = lines(&scratch, "one");
    let root = scratch.json(&["root", "--session", "one"]);
    scratch.git(["config", "proof.warmRounds", "0"]);
    scratch.json(&["retain"]);
    let files = archives(&scratch);
    assert_eq!(files.len(), 1);
    if !has("zstd") {
        return eprintln!("left out: zstd is not here");
    }
    let unpacked = scratch.command("zstd").arg("-dc").arg(&files[0]).output().unwrap();
    assert!(unpacked.status.success());
    let name = crate::store::independent::hex(&crate::store::independent::sha256(&unpacked.stdout));
    assert_eq!(files[0].file_name().unwrap().to_str().unwrap(), format!("{name}.jsonl.zst"));
    assert_eq!(files[0].parent().unwrap().file_name().unwrap().to_str().unwrap(), &name[..2]);
    // The first line is the opening; nothing is withheld.
    let text = String::from_utf8(unpacked.stdout).unwrap();
    let archived: Vec<Option<String>> = text.lines().skip(1).map(|line| Some(line.to_owned())).collect();
    assert_eq!(archived, whole);
    let checked = scratch.run_with(&["check-evidence", "-"], text.as_bytes()).json();
    assert_eq!((&checked["root"], &checked["count"], &checked["withheld"]), (&root["root"], &json!(5), &json!(0)));
}

#[test]
fn session_that_does_not_verify_stays_and_the_others_go() {
    let scratch = sealed(&["one", "two"]);
    scratch.git(["config", "proof.warmRounds", "0"]);
    scratch
        .without_triggers()
        .execute("UPDATE thought_records SET line = replace(line, 'needle', 'noodle') WHERE session_id = 'one'", [])
        .unwrap();
    let ran = scratch.run(["--json", "retain"]);
    assert_eq!(ran.exit, Some(1), "{ran:?}");
    let outcome: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (text(&outcome["problems"][0], "session_id"), text(&outcome["problems"][0], "code")),
        ("one", "ERR_CHAIN_BROKEN")
    );
    assert_eq!(
        (bodies(&scratch, "one"), zone_of(&scratch, "one"), zone_of(&scratch, "two")),
        (5, String::new(), "cold".into())
    );
    assert!(ran.err.contains("stays as it is"), "{}", ran.err);
    let frozen = scratch.run(["--json", "retain", "--yes", "--freeze", "one"]);
    assert_eq!((frozen.exit, bodies(&scratch, "one")), (Some(1), 5));
}

#[test]
fn nothing_moves_while_the_chain_of_rounds_does_not_hold() {
    let scratch = sealed(&["one", "two"]);
    scratch.git(["config", "proof.warmRounds", "0"]);
    let first = scratch.git(["rev-parse", "refs/proof/rounds~1"]);
    scratch.git(["update-ref", "refs/proof/rounds", first.trim()]);
    scratch.refused(&["retain"], "ERR_ROUNDS_ROLLED_BACK", 1);
    scratch.git(["update-ref", "refs/proof/rounds", "HEAD"]);
    scratch.refused(&["retain"], "ERR_SEAL_BROKEN", 1);
    assert_eq!((zone_of(&scratch, "one"), archives(&scratch)), (String::new(), vec![]));
}

#[test]
fn store_without_rounds_is_all_hot() {
    let scratch = Scratch::with_session();
    scratch.record("plan", "x");
    let retained = scratch.json(&["retain"]);
    assert_eq!((&retained["rounds"], &summary(&retained, "hot")["records"]), (&json!(0), &json!(1)));
    Scratch::new().refused(&["retain"], "ERR_NO_STORE", 3);
}

#[test]
fn moving_is_in_the_ledger() {
    let scratch = with_cold(&["one", "two"]);
    scratch.json(&["log", "--session", "one"]);
    scratch.json(&["retain", "--yes", "--freeze", "one"]);
    let database = scratch.database();
    let mut rows = database
        .prepare("SELECT tool || ' ' || detail FROM audit_events WHERE tool GLOB 'retention*' ORDER BY event_id")
        .unwrap();
    let told: Vec<String> = rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(told, ["retention_run cold", "retention_restore warm", "retention_run frozen"]);
}

#[test]
fn room_of_what_is_gone_is_given_back() {
    let scratch = Scratch::new();
    scratch.start("one", &[]);
    std::fs::write(scratch.place.join("long"), "a word or two\n".repeat(60_000)).unwrap();
    for _ in 0..6 {
        scratch.json(&["record", "--type", "plan", "--content-file", "long"]);
    }
    std::fs::write(scratch.place.join("file"), "x").unwrap();
    scratch.git(["add", "file"]);
    scratch.git(["commit", "--quiet", "--message", "x"]);
    scratch.run(["hook", "post-commit"]).text();
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
    scratch.json(&["seal"]);
    scratch.json(&["search", "word"]);
    let size = || std::fs::metadata(scratch.store()).unwrap().len();
    let before = size();
    scratch.git(["config", "proof.warmRounds", "0"]);
    scratch.json(&["retain"]);
    assert!(size() < before / 4, "{before} then {}", size());
    assert_eq!(scratch.json(&["check", "--session", "one"])["archived"], 7);
    assert_eq!(scratch.json(&["log", "--session", "one"])["entries"][0]["blanked"], false);
}
