//! What each command answers, and that its hashes are those of the written formats.

use std::process::Stdio;

use serde_json::{Value, json};

use super::independent::{self, hex, unhex};
use super::scratch::{Ran, Scratch, has, text};

const SCHEMES: [&str; 4] = ["v1", "v1-sorted", "v1-rfc9162", "ams-v0"];
const RECORD: [&str; 12] = [
    "id",
    "session_id",
    "index",
    "parent_id",
    "type",
    "content",
    "metadata",
    "task_id",
    "timestamp",
    "prev_hash",
    "content_hash",
    "chain_hash",
];

#[track_caller]
fn has_fields(value: &Value, fields: &[&str]) {
    for field in fields {
        assert!(value.get(field).is_some(), "{field} is missing: {value}");
    }
}

#[test]
fn start_answers_with_the_session() {
    let scratch = Scratch::new();
    let session = scratch.json(&["start", "--intent", "fix the loop", "--task", "T-89"]);
    has_fields(
        &session,
        &["session_id", "intent", "task_id", "started_at", "genesis", "scheme", "caller", "proof_grade"],
    );
    assert_eq!(
        (&session["intent"], &session["task_id"], &session["scheme"], &session["caller"], &session["proof_grade"]),
        (&json!("fix the loop"), &json!("T-89"), &json!("v1"), &json!("Ada Tester <ada@example.org>"), &json!(true))
    );
}

#[test]
fn start_takes_caller_scheme_id_and_grade() {
    let scratch = Scratch::new();
    let session = scratch.start("mine", &["--caller", "agent/7", "--scheme", "v1-rfc9162", "--not-proof-grade"]);
    assert_eq!(
        (&session["session_id"], &session["caller"], &session["scheme"], &session["proof_grade"]),
        (&json!("mine"), &json!("agent/7"), &json!("v1-rfc9162"), &json!(false))
    );
}

#[test]
fn start_writes_the_genesis_into_the_ledger() {
    let scratch = Scratch::new();
    let session = scratch.start("s", &[]);
    let (tool, detail): (String, String) = scratch
        .database()
        .query_row("SELECT tool, detail FROM audit_events", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert_eq!((tool.as_str(), detail), ("audit_session_start", format!("genesis {}", text(&session, "genesis"))));
}

#[test]
fn record_answers_with_the_entry() {
    let scratch = Scratch::new();
    scratch.start("s", &["--task", "T-1"]);
    let metadata = r#"{"b":1,"a":"x"}"#;
    let entry = scratch.json(&["record", "--type", "plan", "--content", "first", "--metadata", metadata]);
    has_fields(&entry, &RECORD);
    assert_eq!(
        (&entry["session_id"], &entry["index"], &entry["parent_id"], &entry["type"], &entry["content"]),
        (&json!("s"), &json!(0), &Value::Null, &json!("plan"), &json!("first"))
    );
    assert_eq!((&entry["metadata"], &entry["task_id"]), (&json!({"a": "x", "b": 1}), &json!("T-1")));
}

#[test]
fn record_is_read_back_as_it_was_answered() {
    let scratch = Scratch::with_session();
    let entry = scratch.record("analysis", "two\nlines");
    let mut shown = scratch.json(&["show", text(&entry, "id")]);
    let provenance = shown.as_object_mut().unwrap().remove("provenance").unwrap();
    assert_eq!(provenance["tools"], json!(["audit_session_start", "thought_record"]));
    assert_eq!(shown, entry);
}

#[test]
fn attest_answers_with_one_entry_for_each_operation() {
    let scratch = Scratch::with_session();
    let entries = scratch.json(&["attest", "ran the tests", "wrote the page"]);
    let entries = entries.as_array().unwrap();
    for entry in entries {
        has_fields(entry, &["id", "session_id", "index", "timestamp", "prev_hash", "content_hash", "chain_hash"]);
    }
    assert_eq!((entries.len(), &entries[1]["index"]), (2, &json!(1)));
    assert_eq!(entries[1]["prev_hash"], entries[0]["chain_hash"]);
}

#[test]
fn attest_records_all_or_none() {
    let scratch = Scratch::with_session();
    scratch.refused(&["attest", "fine", ""], "INVALID_PARAMS", 2);
    assert_eq!(scratch.rows("thought_records"), 0);
}

#[test]
fn check_answers_that_the_chain_holds() {
    let scratch = Scratch::with_session();
    let entry = scratch.record("plan", "first");
    let check = scratch.json(&["check"]);
    assert_eq!(
        (&check["valid"], &check["records"], &check["chain_length"], &check["head"]),
        (&json!(true), &json!(1), &json!(1), &entry["chain_hash"])
    );
}

#[test]
fn finalize_and_root_answer_with_the_same_row() {
    let scratch = Scratch::with_session();
    let entry = scratch.record("reflection", "done");
    let row = scratch.json(&["finalize"]);
    has_fields(&row, &["session_id", "scheme", "genesis", "head", "root", "record_count", "finalized_at"]);
    assert_eq!((&row["record_count"], &row["head"]), (&json!(1), &entry["chain_hash"]));
    assert_eq!(scratch.json(&["root"]), row);
}

#[test]
fn finalize_again_answers_with_the_stored_row() {
    let scratch = Scratch::with_session();
    scratch.record("reflection", "done");
    let first = scratch.json(&["finalize"]);
    assert_eq!(scratch.json(&["finalize"]), first);
}

#[test]
fn end_answers_how_the_session_stands() {
    let scratch = Scratch::with_session();
    scratch.record("plan", "first");
    let end = scratch.json(&["end"]);
    assert_eq!((&end["session_id"], &end["records"], &end["finalized"]), (&json!("s"), &json!(1), &json!(false)));
    assert!(end["ended_at"].is_string());
}

#[test]
fn end_again_keeps_the_first_time() {
    let scratch = Scratch::with_session();
    let first = scratch.json(&["end"]);
    assert_eq!(scratch.json(&["end"]), first);
}

#[test]
fn ended_session_can_be_finalized() {
    let scratch = Scratch::with_session();
    scratch.record("reflection", "done");
    scratch.json(&["end"]);
    assert_eq!(scratch.json(&["finalize"])["record_count"], 1);
}

#[test]
fn log_lists_the_entries_in_order() {
    let scratch = Scratch::with_session();
    let entries = vec![scratch.record("plan", "one"), scratch.record("decision", "two")];
    let log = scratch.json(&["log"]);
    assert_eq!((&log["session"]["records"], &log["root"]), (&json!(2), &Value::Null));
    assert_eq!(log["entries"], Value::Array(entries));
}

#[test]
fn log_with_a_limit_lists_the_newest() {
    let scratch = Scratch::with_session();
    scratch.record("plan", "one");
    let last = scratch.record("decision", "two");
    assert_eq!(scratch.json(&["log", "-n", "1"])["entries"], json!([last]));
}

#[test]
fn log_of_all_lists_the_sessions_newest_first() {
    let scratch = Scratch::new();
    scratch.start("a", &[]);
    scratch.start("b", &[]);
    let list = scratch.json(&["log", "--all"]);
    let ids: Vec<&str> = list["sessions"].as_array().unwrap().iter().map(|row| text(row, "session_id")).collect();
    assert_eq!(ids, ["b", "a"]);
}

#[test]
fn tree_nests_what_follows() {
    let scratch = Scratch::with_session();
    let first = scratch.record("plan", "one");
    scratch.record("decision", "two");
    scratch.json(&["record", "--type", "decision", "--content", "three", "--parent", text(&first, "id")]);
    let tree = scratch.json(&["tree"]);
    let below = &tree["children"][0];
    assert_eq!(below["id"], first["id"]);
    assert_eq!((&below["children"][0]["content"], &below["children"][1]["content"]), (&json!("two"), &json!("three")));
}

#[test]
fn trail_follows_the_parents_and_leaves_other_branches_out() {
    let scratch = Scratch::with_session();
    let first = scratch.record("plan", "one");
    scratch.record("decision", "another branch");
    let last = scratch.json(&["record", "--type", "decision", "--content", "three", "--parent", text(&first, "id")]);
    assert_eq!(scratch.json(&["trail", text(&last, "id")]), json!([first, last]));
}

#[test]
fn search_finds_words_in_content_and_metadata() {
    let scratch = Scratch::with_session();
    scratch.record("plan", "the journal is durable");
    scratch.json(&["record", "--type", "plan", "--content", "other", "--metadata", r#"{"agent":"zebra"}"#]);
    for (query, found) in [("durable", "the journal is durable"), ("zebra", "other")] {
        let hits = scratch.json(&["search", query]);
        assert_eq!(hits["hits"].as_array().unwrap().len(), 1);
        assert_eq!(hits["hits"][0]["content"], found);
    }
}

#[test]
fn search_takes_what_is_no_query_as_plain_words() {
    let scratch = Scratch::with_session();
    scratch.record("plan", "see foo(bar) AND \"baz");
    for query in ["foo(bar)", "\"baz", "AND", "foo:bar", "*", "'", "NEAR(", "-- see", "^", "{a} :"] {
        assert!(scratch.json(&["search", "--", query])["hits"].is_array(), "{query}");
    }
    assert_eq!(scratch.json(&["search", "foo(bar)"])["hits"].as_array().unwrap().len(), 1);
}

#[test]
fn search_can_be_held_to_a_session() {
    let scratch = Scratch::with_session();
    scratch.record("plan", "needle here");
    scratch.start("t", &[]);
    assert_eq!(scratch.json(&["search", "needle", "--session", "t"])["hits"], json!([]));
}

#[test]
fn session_is_the_one_named_then_the_variable_then_the_current_one() {
    let scratch = Scratch::new();
    for id in ["named", "variable", "current"] {
        scratch.start(id, &[]);
    }
    let end_of = |variable: Option<&str>, arguments: &[&str]| {
        let mut command = scratch.proof(["--json", "check"]);
        command.args(arguments);
        if let Some(variable) = variable {
            command.env("GIT_PROOF_SESSION", variable);
        }
        Ran::from(command.output().unwrap()).json()["session_id"].clone()
    };
    assert_eq!(end_of(Some("variable"), &["--session", "named"]), "named");
    assert_eq!(end_of(Some("variable"), &[]), "variable");
    assert_eq!(end_of(None, &[]), "current");
    assert_eq!(end_of(Some(""), &[]), "current");
}

#[test]
fn record_takes_its_text_from_a_file() {
    let scratch = Scratch::with_session();
    std::fs::write(scratch.place.join("findings.md"), "from a file\r\n").unwrap();
    let entry = scratch.json(&["record", "--type", "analysis", "--content-file", "findings.md"]);
    assert_eq!(entry["content"], "from a file\r\n");
}

#[test]
fn record_takes_its_text_from_standard_input() {
    let scratch = Scratch::with_session();
    let entry = scratch.run_with(&["record", "--type", "analysis", "--content-file", "-"], b"from a pipe\n").json();
    assert_eq!(entry["content"], "from a pipe\n");
}

#[test]
fn content_file_counts_from_the_directory_of_dash_c() {
    let scratch = Scratch::with_session();
    std::fs::create_dir(scratch.place.join("sub")).unwrap();
    std::fs::write(scratch.place.join("sub/note"), "below").unwrap();
    let entry = scratch.json(&["-C", "sub", "record", "--type", "plan", "--content-file", "note"]);
    assert_eq!(entry["content"], "below");
}

/// Runs `record --type plan` on a terminal, with an editor that runs this script on the file.
fn record_in_editor(scratch: &Scratch, editor: &str) -> Option<i32> {
    use std::os::unix::fs::PermissionsExt as _;
    let path = scratch.around().join("editor");
    std::fs::write(&path, format!("#!/bin/sh\n{editor}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = scratch.command("script");
    let line = format!("'{}' record --type plan", env!("CARGO_BIN_EXE_git-proof"));
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]).env("GIT_EDITOR", &path);
    command.env("TMPDIR", scratch.around()).stdout(Stdio::null()).status().unwrap().code()
}

fn no_terminal() -> bool {
    let missing = !has("script");
    if missing {
        eprintln!("left out: script(1) of util-linux, which makes a terminal, is not here");
    }
    missing
}

#[test]
fn editor_opens_on_a_terminal_and_its_comments_are_left_out() {
    if no_terminal() {
        return;
    }
    let scratch = Scratch::with_session();
    let exit = record_in_editor(&scratch, "printf '# no\\nfrom the editor\\n\\nsecond\\n#no\\n' > \"$1\"");
    assert_eq!(exit, Some(0));
    assert_eq!(scratch.json(&["log"])["entries"][0]["content"], "from the editor\n\nsecond");
}

#[test]
fn editor_that_leaves_nothing_or_fails_records_nothing() {
    if no_terminal() {
        return;
    }
    let scratch = Scratch::with_session();
    for editor in ["true", "echo text > \"$1\"; exit 1"] {
        assert_eq!(record_in_editor(&scratch, editor), Some(2), "{editor}");
    }
    assert_eq!(scratch.rows("thought_records"), 0);
    let left = std::fs::read_dir(scratch.around()).unwrap().flatten();
    assert!(!left.into_iter().any(|file| file.file_name().to_string_lossy().starts_with("git-proof-")));
}

#[test]
fn hashes_of_a_session_are_those_of_the_written_formats() {
    for scheme in SCHEMES {
        let scratch = Scratch::new();
        let session = scratch.start("s", &["--scheme", scheme, "--task", "T-\u{1f600}", "--caller", "a \"b\"\\"]);
        let genesis = independent::genesis(&session);
        assert_eq!(hex(&genesis), text(&session, "genesis"), "{scheme}");
        let first = scratch.record("plan", "tab\t, quote \", \u{1}, é and \u{1f600}\n");
        let mut entries = vec![first.clone()];
        entries.push(scratch.json(&[
            "record",
            "--type",
            "decision",
            "--content",
            "x",
            "--metadata",
            r#"{"\u20ac":1,"a":[true,null,"\u0007"],"B":{}}"#,
        ]));
        entries.push(scratch.json(&["record", "--type", "analysis", "--content", "b", "--parent", text(&first, "id")]));
        entries.extend(scratch.json(&["attest", "ran it"]).as_array().unwrap().clone());
        entries.push(scratch.record("reflection", "done"));

        let mut contents = Vec::new();
        let mut head = genesis;
        for (index, entry) in entries.iter().enumerate() {
            let content = independent::content_hash(scheme, entry);
            assert_eq!(hex(&content), text(entry, "content_hash"), "{scheme} {entry}");
            let prev = if index == 2 { unhex(text(&first, "chain_hash")) } else { head };
            assert_eq!(hex(&prev), text(entry, "prev_hash"), "{scheme} {entry}");
            head = independent::chain_hash(scheme, &content, &prev);
            assert_eq!(hex(&head), text(entry, "chain_hash"), "{scheme} {entry}");
            contents.push(content);
        }
        let row = scratch.json(&["finalize"]);
        assert_eq!(text(&row, "root"), hex(&independent::root(scheme, &contents)), "{scheme}");
        assert_eq!(text(&row, "head"), hex(&head), "{scheme}");
        assert_eq!(scratch.json(&["check"])["root"], row["root"], "{scheme}");
    }
}

/// Proves every entry and checks it against this root and count.
fn prove_all(scratch: &Scratch, entries: &[Value], root: &str) {
    let count = entries.len().to_string();
    for entry in entries {
        let proof = scratch.run(["prove", "--record", text(entry, "id")]);
        let checked =
            scratch.run_with(&["check-proof", "-", "--root", root, "--count", &count], proof.text().as_bytes());
        assert_eq!(checked.json()["leaf_hash"], entry["content_hash"]);
        assert_eq!(proof.out, scratch.run(["--json", "prove", "--record", text(entry, "id")]).out);
    }
}

#[test]
fn proofs_hold_before_and_after_finalizing_in_every_scheme() {
    for scheme in SCHEMES {
        let scratch = Scratch::new();
        scratch.start("s", &["--scheme", scheme, "--not-proof-grade"]);
        let entries: Vec<Value> = (0..5).map(|at| scratch.record("plan", &format!("entry {at}"))).collect();
        let contents: Vec<_> = entries.iter().map(|entry| unhex(text(entry, "content_hash"))).collect();
        let root = hex(&independent::root(scheme, &contents));
        prove_all(&scratch, &entries, &root);
        scratch.json(&["finalize"]);
        prove_all(&scratch, &entries, &root);
    }
}

#[test]
fn proof_does_not_hold_against_another_count() {
    let scratch = Scratch::with_session();
    scratch.record("plan", "one");
    let last = scratch.record("reflection", "two");
    let root = scratch.json(&["finalize"]);
    let proof = scratch.run(["prove", "--record", text(&last, "id")]);
    let trusted = ["check-proof", "-", "--root", text(&root, "root"), "--count", "3"];
    let checked = scratch.run_with(&trusted, proof.text().as_bytes());
    assert_eq!(checked.exit, Some(1), "{checked:?}");
}

#[test]
fn closed_pipe_ends_quietly_and_never_in_success() {
    let scratch = Scratch::with_session();
    let record = scratch.record("plan", "one");
    let id = text(&record, "id");
    for arguments in [
        &["log"][..],
        &["--json", "log"],
        &["log", "--all"],
        &["show", id],
        &["tree"],
        &["trail", id],
        &["search", "one"],
        &["prove", "--record", id],
        &["check"],
        &["doctor"],
        &["completions", "bash"],
        &["--help"],
        &["log", "-h"],
        &["--version"],
        &["demo", "../play", "--no-pause"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran: Ran = scratch.proof(arguments).stdout(writer).output().unwrap().into();
        assert_eq!((ran.exit, ran.err.as_str()), (Some(4), ""), "{arguments:?}");
    }
}

#[test]
fn closed_error_output_changes_no_answer() {
    let scratch = Scratch::with_session();
    scratch.record("plan", "one");
    for (arguments, exit) in [(&["log"][..], 0), (&["log", "--session", "nowhere"], 2), (&["nonsense"], 2)] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran: Ran = scratch.proof(arguments).stderr(writer).output().unwrap().into();
        assert_eq!(ran.exit, Some(exit), "{arguments:?}");
    }
}

#[test]
fn full_output_device_never_ends_in_success() {
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
        return eprintln!("left out: there is no /dev/full");
    };
    let scratch = Scratch::with_session();
    let ran: Ran = scratch.proof(["--json", "log"]).stdout(full).output().unwrap().into();
    ran.error("ERR_OUTPUT_FAILED", 4);
}

#[test]
fn long_chain_is_not_nested_deeper_than_readers_of_json_can_take() {
    let scratch = Scratch::with_session();
    let operations: Vec<String> = (0..200).map(|number| format!("step {number}")).collect();
    let mut arguments = vec!["attest"];
    arguments.extend(operations.iter().map(String::as_str));
    scratch.json(&arguments);
    let tree = scratch.json(&["tree"]);
    let entries = tree["entries"].as_array().unwrap();
    assert_eq!((entries.len(), &entries[199]["parent_id"]), (200, &entries[198]["id"]));
}

#[test]
fn every_record_is_found_at_once_however_many_were_taken_up_before() {
    let scratch = Scratch::with_session();
    let operations: Vec<String> = (0..150).map(|number| format!("needle n{number}")).collect();
    for part in operations.chunks(70) {
        let mut arguments = vec!["attest"];
        arguments.extend(part.iter().map(String::as_str));
        scratch.json(&arguments);
        let found = scratch.json(&["search", part.last().unwrap()]);
        assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    }
    assert_eq!(scratch.json(&["search", "needle", "-n", "200"])["hits"].as_array().unwrap().len(), 150);
}

#[test]
fn search_in_one_session_finds_its_first_and_last_entry_and_none_of_another() {
    let scratch = Scratch::new();
    for session in ["one", "two", "none"] {
        scratch.start(session, &["--not-proof-grade"]);
    }
    for round in 0..3 {
        for session in ["one", "two"] {
            let content = format!("needle {round} of {session}");
            scratch.json(&["record", "--type", "plan", "--content", &content, "--session", session]);
        }
    }
    let found = |session: &str| -> Vec<String> {
        let hits = scratch.json(&["search", "needle", "--session", session])["hits"].as_array().unwrap().clone();
        hits.iter().map(|hit| text(hit, "content").to_owned()).collect()
    };
    for session in ["one", "two"] {
        let mut all = found(session);
        all.sort_unstable();
        assert_eq!(all, (0..3).map(|round| format!("needle {round} of {session}")).collect::<Vec<_>>());
    }
    assert!(found("none").is_empty());
    assert_eq!(scratch.json(&["search", "needle"])["hits"].as_array().unwrap().len(), 6);
}
