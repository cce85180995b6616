//! Input that is refused, with its code and a hint, and input that is odd but fine.

use std::os::unix::ffi::OsStrExt as _;

use serde_json::Value;

use super::scratch::{Ran, Scratch, in_clean_environment, text};

const MIB: usize = 1 << 20;

/// Records with these arguments after `--type plan`; it must be refused and nothing written.
#[track_caller]
fn record_refused(more: &[&str], code: &str, exit: i32) -> Value {
    let scratch = Scratch::with_session();
    let error = scratch.refused(&[&["record", "--type", "plan"], more].concat(), code, exit);
    assert_eq!(scratch.rows("thought_records"), 0);
    error
}

/// Records this text from a file.
fn record_file(scratch: &Scratch, bytes: &[u8]) -> Ran {
    std::fs::write(scratch.place.join("text"), bytes).unwrap();
    scratch.run(["--json", "record", "--type", "plan", "--content-file", "text"])
}

#[test]
fn unknown_type_is_refused() {
    let scratch = Scratch::with_session();
    for kind in ["fact", "Plan", "", "attest"] {
        let error = scratch.refused(&["record", "--type", kind, "--content", "x"], "INVALID_PARAMS", 2);
        assert!(text(&error, "hint").contains("reflection"));
    }
}

#[test]
fn empty_content_is_refused() {
    record_refused(&["--content", ""], "INVALID_PARAMS", 2);
}

#[test]
fn nothing_to_record_is_refused_where_no_editor_can_open() {
    record_refused(&[], "INVALID_PARAMS", 2);
}

#[test]
fn content_of_one_mebibyte_is_recorded() {
    let scratch = Scratch::with_session();
    assert_eq!(text(&record_file(&scratch, &vec![b'x'; MIB]).json(), "content").len(), MIB);
    scratch.json(&["check"]);
}

#[test]
fn content_over_one_mebibyte_is_refused() {
    let scratch = Scratch::with_session();
    let error = record_file(&scratch, &vec![b'x'; MIB + 1]).error("ERR_TOO_LARGE", 2);
    assert_eq!(error["details"]["limit"], MIB);
    assert_eq!(scratch.rows("thought_records"), 0);
}

#[test]
fn content_that_is_cut_inside_a_character_by_the_limit_is_too_large_and_not_malformed() {
    let scratch = Scratch::with_session();
    record_file(&scratch, "é".repeat(MIB).as_bytes()).error("ERR_TOO_LARGE", 2);
}

#[test]
fn content_over_one_mebibyte_on_standard_input_is_refused() {
    let scratch = Scratch::with_session();
    let record = ["record", "--type", "plan", "--content-file", "-"];
    scratch.run_with(&record, &vec![b'x'; 3 * MIB]).error("ERR_TOO_LARGE", 2);
}

#[test]
fn file_that_is_not_utf8_is_refused() {
    let scratch = Scratch::with_session();
    let error = record_file(&scratch, b"good \xff bad").error("INVALID_PARAMS", 2);
    assert!(text(&error, "message").contains("byte 5"));
}

#[test]
fn standard_input_that_is_not_utf8_is_refused() {
    let scratch = Scratch::with_session();
    let record = ["record", "--type", "plan", "--content-file", "-"];
    scratch.run_with(&record, b"\xc3\x28").error("INVALID_PARAMS", 2);
}

#[test]
fn argument_that_is_not_utf8_is_wrong_usage() {
    let scratch = Scratch::with_session();
    let mut command = scratch.proof(["record", "--type", "plan", "--content"]);
    let status = command.arg(std::ffi::OsStr::from_bytes(b"\xff")).output().unwrap().status;
    assert_eq!(status.code(), Some(2));
}

#[test]
fn nul_is_refused() {
    let scratch = Scratch::with_session();
    record_file(&scratch, b"a\0b").error("INVALID_PARAMS", 2);
}

#[test]
fn missing_file_is_refused() {
    record_refused(&["--content-file", "nowhere"], "ERR_UNREADABLE", 3);
}

#[test]
fn directory_in_place_of_a_file_is_refused() {
    record_refused(&["--content-file", "."], "ERR_UNREADABLE", 3);
}

#[test]
fn unknown_parent_is_refused() {
    let error = record_refused(&["--content", "x", "--parent", "nobody"], "ERR_PARENT_NOT_FOUND", 2);
    assert_eq!(error["details"]["parent_id"], "nobody");
}

#[test]
fn parent_that_is_no_id_is_refused() {
    record_refused(&["--content", "x", "--parent", "no body"], "INVALID_PARAMS", 2);
}

#[test]
fn parent_of_another_session_is_refused() {
    let scratch = Scratch::with_session();
    let foreign = scratch.record("plan", "here");
    scratch.start("t", &[]);
    let record = ["record", "--type", "plan", "--content", "there", "--parent", text(&foreign, "id")];
    let error = scratch.refused(&record, "ERR_PARENT_NOT_FOUND", 2);
    assert!(text(&error, "message").contains("belongs to session s"));
}

#[test]
fn unknown_scheme_is_refused() {
    Scratch::new().refused(&["start", "--intent", "x", "--scheme", "v2"], "INVALID_PARAMS", 2);
}

#[test]
fn session_id_that_is_no_id_is_refused() {
    let scratch = Scratch::new();
    let long = "x".repeat(129);
    for id in ["", ".x", "-x", "a b", "a/b", "é", "a\n", &long] {
        let start = ["start", "--intent", "x", &format!("--session-id={id}")];
        scratch.refused(&start, "INVALID_PARAMS", 2);
    }
    assert_eq!(scratch.rows("audit_sessions"), 0);
}

#[test]
fn session_id_of_128_characters_is_taken() {
    let id = format!("0.-_{}", "x".repeat(124));
    assert_eq!(Scratch::new().start(&id, &[])["session_id"], id.as_str());
}

#[test]
fn session_id_that_exists_is_refused() {
    let scratch = Scratch::with_session();
    let start = ["start", "--intent", "x", "--session-id", "s"];
    let error = scratch.refused(&start, "ERR_SESSION_EXISTS", 2);
    assert_eq!(error["details"]["session_id"], "s");
}

#[test]
fn unknown_session_is_refused_by_every_command() {
    let scratch = Scratch::with_session();
    let commands: [&[&str]; 8] = [
        &["record", "--type", "plan", "--content", "x"],
        &["attest", "x"],
        &["check"],
        &["finalize"],
        &["root"],
        &["end"],
        &["log"],
        &["tree"],
    ];
    for command in commands {
        scratch.refused(&[command, &["--session", "nowhere"]].concat(), "ERR_SESSION_NOT_FOUND", 2);
    }
    scratch.refused(&["search", "x", "--session", "nowhere"], "ERR_SESSION_NOT_FOUND", 2);
}

#[test]
fn variable_that_names_no_session_is_refused() {
    let scratch = Scratch::with_session();
    for (name, code) in [("nowhere", "ERR_SESSION_NOT_FOUND"), ("no where", "INVALID_PARAMS")] {
        let mut command = scratch.proof(["--json", "check"]);
        Ran::from(command.env("GIT_PROOF_SESSION", name).output().unwrap()).error(code, 2);
    }
}

#[test]
fn variable_that_is_not_utf8_is_refused() {
    let scratch = Scratch::with_session();
    let mut command = scratch.proof(["--json", "check"]);
    let ran: Ran = command.env("GIT_PROOF_SESSION", std::ffi::OsStr::from_bytes(b"\xff")).output().unwrap().into();
    ran.error("INVALID_PARAMS", 2);
}

#[test]
fn worktree_without_a_current_session_is_told_to_start_one() {
    let scratch = Scratch::with_session();
    scratch.database().execute("DELETE FROM worktree_sessions", []).unwrap();
    let error = scratch.refused(&["log"], "ERR_SESSION_NOT_FOUND", 2);
    assert!(text(&error, "hint").contains("git proof start"));
}

#[test]
fn metadata_that_cannot_be_recorded_is_refused() {
    let deep = format!("{}1{}", r#"{"a":"#.repeat(65), "}".repeat(65));
    let bad = [
        "{",
        "",
        "nonsense",
        "[1]",
        "\"text\"",
        "7",
        r#"{"a":1,"a":2}"#,
        r#"{"a":{"b":1,"b":2}}"#,
        r#"{"a":9007199254740993}"#,
        r#"{"a":-9007199254740993}"#,
        r#"{"a":1e400}"#,
        r#"{"a":"\ud800"}"#,
        r#"{"a":1} {"b":2}"#,
        r#"{"observed":{"tests":"passed"}}"#,
        &deep,
    ];
    let scratch = Scratch::with_session();
    for metadata in bad {
        let record = ["record", "--type", "plan", "--content", "x", "--metadata", metadata];
        scratch.refused(&record, "INVALID_PARAMS", 2);
    }
    assert_eq!(scratch.rows("thought_records"), 0);
}

#[test]
fn metadata_with_a_nul_is_recorded_escaped() {
    let scratch = Scratch::with_session();
    let record = ["record", "--type", "plan", "--content", "x", "--metadata", r#"{"a":"\u0000"}"#];
    assert_eq!(scratch.json(&record)["metadata"]["a"], "\0");
    scratch.json(&["check"]);
}

#[test]
fn empty_metadata_is_none() {
    let scratch = Scratch::with_session();
    for metadata in ["{}", " { } ", "null"] {
        let entry = scratch.json(&["record", "--type", "plan", "--content", "x", "--metadata", metadata]);
        assert_eq!(entry["metadata"], Value::Null);
    }
    scratch.json(&["check"]);
}

#[test]
fn attestation_of_a_change_by_hand_is_refused() {
    let scratch = Scratch::with_session();
    for operation in [r#"{"git":{}}"#, r#"{"git":{"commit":null}}"#] {
        scratch.refused(&["attest", operation], "INVALID_PARAMS", 2);
    }
    assert_eq!(scratch.rows("thought_records"), 0);
}

#[test]
fn empty_query_is_refused() {
    let scratch = Scratch::with_session();
    for query in ["", "  \t"] {
        scratch.refused(&["search", query], "INVALID_PARAMS", 2);
    }
}

#[test]
fn unknown_record_is_refused() {
    let scratch = Scratch::with_session();
    for command in [&["show", "nobody"][..], &["trail", "nobody"], &["prove", "--record", "nobody"]] {
        scratch.refused(command, "ERR_RECORD_NOT_FOUND", 2);
    }
}

#[test]
fn record_id_that_is_no_id_is_refused() {
    let scratch = Scratch::with_session();
    for command in [&["show", "no body"][..], &["trail", "no body"], &["prove", "--record", "no body"]] {
        scratch.refused(command, "INVALID_PARAMS", 2);
    }
}

#[test]
fn intent_task_and_caller_have_limits() {
    let scratch = Scratch::new();
    let (intent, name) = ("x".repeat((64 << 10) + 1), "x".repeat((1 << 10) + 1));
    scratch.refused(&["start", "--intent", &intent], "ERR_TOO_LARGE", 2);
    scratch.refused(&["start", "--intent", "x", "--task", &name], "ERR_TOO_LARGE", 2);
    scratch.refused(&["start", "--intent", "x", "--caller", &name], "ERR_TOO_LARGE", 2);
    scratch.refused(&["start", "--intent", ""], "INVALID_PARAMS", 2);
}

#[test]
fn session_without_records_is_not_finalized() {
    Scratch::with_session().refused(&["finalize"], "ERR_NO_RECORDS", 1);
}

#[test]
fn proof_grade_session_is_not_finalized_without_a_closing_reflection() {
    let scratch = Scratch::with_session();
    scratch.record("reflection", "too early");
    scratch.record("decision", "after it");
    scratch.refused(&["finalize"], "ERR_REFLECTION_REQUIRED", 1);
    scratch.record("reflection", "in time");
    assert_eq!(scratch.json(&["finalize"])["record_count"], 3);
}

#[test]
fn attestation_after_the_reflection_does_not_close_a_session() {
    let scratch = Scratch::with_session();
    scratch.record("reflection", "done");
    scratch.json(&["attest", "one more thing"]);
    scratch.refused(&["finalize"], "ERR_REFLECTION_REQUIRED", 1);
}

#[test]
fn root_of_an_open_session_is_refused() {
    Scratch::with_session().refused(&["root"], "ERR_NOT_FINALIZED", 1);
}

#[test]
fn finalizing_twice_in_the_library_is_refused_with_the_stored_row() {
    let scratch = Scratch::with_session();
    if !in_clean_environment(
        &scratch,
        "store::bad_input::finalizing_twice_in_the_library_is_refused_with_the_stored_row",
    ) {
        return;
    }
    scratch.record("reflection", "done");
    let row = scratch.json(&["finalize"]);
    let context = git_proof::context::Context::new(scratch.place.clone());
    let mut workspace = git_proof::record::Workspace::open(context).unwrap();
    let error = git_proof::flow::finalize(&mut workspace, Some("s"), false).unwrap_err();
    assert_eq!((error.code.as_str(), error.details), ("ERR_ALREADY_FINALIZED", Some(row)));
    assert!(error.hint.is_some());
}

#[test]
fn odd_text_is_recorded_as_it_is() {
    let scratch = Scratch::with_session();
    let texts = ["-", "--", "- a list item", "--json", "-C", "ünïcödé", "\u{1f600}\u{10ffff}", "a\r\nb\r\n", " ", "\n"];
    for content in texts {
        assert_eq!(scratch.record("plan", content)["content"], content);
    }
    let log = scratch.json(&["log"]);
    for (entry, content) in log["entries"].as_array().unwrap().iter().zip(texts) {
        assert_eq!(entry["content"], content);
    }
    scratch.json(&["check"]);
}

#[test]
fn wrong_usage_ends_in_2() {
    let scratch = Scratch::with_session();
    let wrong: [&[&str]; 6] =
        [&[], &["nonsense"], &["record"], &["log", "--nonsense"], &["log", "--all", "--session", "s"], &["attest"]];
    for arguments in wrong {
        let ran = scratch.run(arguments);
        assert_eq!((ran.exit, ran.out.as_str()), (Some(2), ""), "{arguments:?}");
    }
}

#[test]
fn help_and_version_are_answers() {
    let scratch = Scratch::without_repository();
    for arguments in [&["--help"][..], &["--version"], &["record", "--help"], &["help", "start"]] {
        assert!(!scratch.run(arguments).text().is_empty());
    }
}
