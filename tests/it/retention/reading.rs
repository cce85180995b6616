//! Reading what is cold brings it back, after it has been verified, and it stays for a while.

use serde_json::json;

use super::{anchored, archives, bodies, close, ids, lines, sealed, with_cold, zone_of};
use crate::store::scratch::{Scratch, text};

fn hits(scratch: &Scratch, query: &str) -> usize {
    scratch.json(&["search", query, "-n", "100"])["hits"].as_array().unwrap().len()
}

#[test]
fn every_way_to_read_a_text_brings_the_session_back() {
    let scratch = sealed(&["one"]);
    let whole = lines(&scratch, "one");
    let ids = ids(&scratch, "one");
    scratch.git(["config", "proof.warmRounds", "0"]);
    for arguments in [
        &["show", &ids[1]][..],
        &["log", "--session", "one"],
        &["tree", "--session", "one"],
        &["trail", &ids[4]],
        &["anchor", "--session", "one"],
    ] {
        scratch.json(&["retain"]);
        assert_eq!(zone_of(&scratch, "one"), "cold", "{arguments:?}");
        let read = scratch.json(arguments);
        assert!(arguments[0] == "anchor" || read.to_string().contains("a whisper of one"), "{arguments:?}: {read}");
        assert_eq!(
            (zone_of(&scratch, "one").as_str(), lines(&scratch, "one")),
            ("warm", whole.clone()),
            "{arguments:?}"
        );
    }
}

#[test]
fn what_needs_no_text_leaves_it_where_it_is() {
    let scratch = with_cold(&["one", "two"]);
    let record = ids(&scratch, "one").remove(0);
    for arguments in [
        &["prove", "--record", &record][..],
        &["root", "--session", "one"],
        &["check", "--session", "one"],
        &["log", "--all"],
        &["search", "needle"],
        &["verify", "HEAD~1"],
    ] {
        scratch.json(arguments);
        assert_eq!(zone_of(&scratch, "one"), "cold", "{arguments:?}");
    }
}

#[test]
fn cold_texts_are_not_found_and_those_that_came_back_are() {
    let scratch = sealed(&["one", "two"]);
    assert_eq!((hits(&scratch, "needle"), hits(&scratch, "whisper")), (2, 2));
    scratch.git(["config", "proof.warmRounds", "1"]);
    scratch.json(&["retain"]);
    assert_eq!((hits(&scratch, "needle"), hits(&scratch, "whisper")), (1, 1));
    scratch.json(&["log", "--session", "one"]);
    assert_eq!((hits(&scratch, "needle"), hits(&scratch, "whisper")), (2, 2));
    let check = "INSERT INTO thought_records_fts (thought_records_fts) VALUES ('integrity-check')";
    scratch.database().execute(check, []).unwrap();
}

#[test]
fn session_of_more_than_a_batch_comes_back_whole() {
    let scratch = Scratch::new();
    scratch.start("long", &[]);
    let steps: Vec<String> = (0..4200).map(|number| format!("needle{number}")).collect();
    let attest: Vec<&str> = ["attest"].into_iter().chain(steps.iter().map(String::as_str)).collect();
    scratch.json(&attest);
    close(&scratch, "long");
    scratch.json(&["seal"]);
    let before = lines(&scratch, "long");
    assert!(before.len() > 4200 && before.iter().all(Option::is_some));
    assert_eq!(hits(&scratch, "needle4199"), 1);
    scratch.git(["config", "proof.warmRounds", "0"]);
    assert_eq!(scratch.json(&["retain"])["moved"], 1);
    assert_eq!((bodies(&scratch, "long"), hits(&scratch, "needle4199")), (1, 0), "all but the attested commit");
    scratch.json(&["log", "--session", "long", "-n", "1"]);
    assert_eq!(lines(&scratch, "long"), before);
    assert_eq!((hits(&scratch, "needle0"), hits(&scratch, "needle4199")), (1, 1));
    let check = "INSERT INTO thought_records_fts (thought_records_fts) VALUES ('integrity-check')";
    scratch.database().execute(check, []).unwrap();
}

#[test]
fn texts_that_the_index_had_not_taken_up_come_back_into_it() {
    // Without a search nothing was indexed before the texts went.
    let scratch = with_cold(&["one", "two"]);
    assert_eq!(hits(&scratch, "needle"), 1);
    scratch.json(&["log", "--session", "one"]);
    assert_eq!(hits(&scratch, "needle"), 2);
}

#[test]
fn what_was_read_stays_until_the_limits_are_reached_again() {
    let scratch = with_cold(&["one", "two"]);
    scratch.json(&["log", "--session", "one"]);
    for _ in 0..2 {
        assert_eq!(scratch.json(&["retain"])["moved"], 0);
        assert_eq!(zone_of(&scratch, "one"), "warm");
    }
    anchored(&scratch, "three");
    scratch.json(&["seal"]);
    let retained = scratch.json(&["retain"]);
    let moved: Vec<&str> =
        retained["moves"].as_array().unwrap().iter().map(|moved| text(moved, "session_id")).collect();
    assert_eq!(moved, ["one", "two"]);
}

#[test]
fn archive_of_what_came_back_is_used_again_or_made_again() {
    let scratch = sealed(&["one"]);
    scratch.git(["config", "proof.warmRounds", "0"]);
    scratch.json(&["retain"]);
    let first = archives(&scratch);
    for damage in [false, true] {
        scratch.json(&["log", "--session", "one"]);
        if damage {
            std::fs::write(&first[0], "no archive").unwrap();
        }
        let retained = scratch.json(&["retain"]);
        assert_eq!((&retained["moved"], &retained["problems"]), (&json!(1), &json!([])), "{retained}");
        assert_eq!(archives(&scratch), first);
        assert_eq!(scratch.json(&["check", "--session", "one"])["archived"], 4);
    }
}

#[test]
fn cold_session_can_be_anchored_on_another_commit() {
    let scratch = with_cold(&["one", "two"]);
    std::fs::write(scratch.place.join("more"), "more").unwrap();
    scratch.git(["add", "more"]);
    scratch.git(["commit", "--quiet", "--message", "more"]);
    let anchored = scratch.json(&["anchor", "--session", "one", "--commit", "HEAD"]);
    assert_eq!(anchored["anchors"][0]["created"], true, "{anchored}");
    assert_eq!(bodies(&scratch, "one"), 5);
}

#[test]
fn agent_that_reads_a_cold_record_gets_its_text_and_is_written_down() {
    let scratch = with_cold(&["one", "two"]);
    let id = ids(&scratch, "one").remove(0);
    let calls = [
        json!({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}),
        json!({"jsonrpc":"2.0","method":"notifications/initialized"}),
        json!({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"thought_get","arguments":{"id":id}}}),
    ];
    let input: String = calls.iter().map(|call| call.to_string() + "\n").collect();
    let mut command = scratch.proof(["mcp"]);
    let ran = crate::common::run_with_input(&mut command, input.as_bytes());
    assert!(ran.stdout.contains("a needle of one"), "{ran:?}");
    let sql = "SELECT group_concat(tool) FROM (SELECT tool FROM audit_events ORDER BY event_id DESC LIMIT 2)";
    let told: String = scratch.database().query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(told, "thought_get,retention_restore");
}
