//! What working memory does not take, and who may not pack.

use super::waiting;
use crate::store::scratch::{Scratch, text};

#[test]
fn packing_nothing_is_an_error_that_names_the_next_command() {
    let scratch = Scratch::with_session();
    let error = scratch.refused(&["memory", "pack"], "ERR_NOTHING_TO_PACK", 1);
    assert!(text(&error, "hint").contains("git proof memory put"), "{error}");
    assert_eq!(scratch.rows("thought_records"), 0);
}

#[test]
fn closed_session_takes_no_note_and_packs_none() {
    let scratch = Scratch::with_session();
    scratch.json(&["memory", "put", "--text", "left"]);
    scratch.json(&["end"]);
    scratch.refused(&["memory", "put", "--text", "x"], "ERR_SESSION_ENDED", 1);
    scratch.refused(&["memory", "pack"], "ERR_SESSION_ENDED", 1);
    scratch.start("done", &[]);
    scratch.json(&["memory", "put", "--text", "left too"]);
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
    scratch.refused(&["memory", "put", "--text", "x"], "ERR_ALREADY_FINALIZED", 1);
    scratch.refused(&["memory", "pack"], "ERR_ALREADY_FINALIZED", 1);
    assert_eq!((waiting(&scratch, "s"), waiting(&scratch, "done")), (vec!["left".into()], vec!["left too".into()]));
}

#[test]
fn who_goes_around_the_program_cannot_put_a_note_into_a_closed_session_or_change_one() {
    let scratch = Scratch::with_session();
    scratch.json(&["memory", "put", "--text", "one"]);
    scratch.json(&["memory", "pack"]);
    scratch.json(&["memory", "put", "--text", "two"]);
    let refused = |sql: &str| scratch.database().execute(sql, []).unwrap_err().to_string();
    assert!(refused("UPDATE memory_short_term SET text = 'other'").contains("cannot be changed"));
    assert!(refused("UPDATE memory_long_term SET text_hash = zeroblob(32)").contains("cannot be changed"));
    assert!(refused("DELETE FROM memory_long_term").contains("cannot be deleted"));
    scratch.json(&["end"]);
    let put = "INSERT INTO memory_short_term (session_id, text, put_at) VALUES ('s', 'x', 'y')";
    assert!(refused(put).contains("takes no note"));
}

#[test]
fn credential_is_refused_in_text_key_and_analysis() {
    let scratch = Scratch::with_session();
    let secret = ["gh", "p_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    scratch.refused(&["memory", "put", "--text", &secret], "ERR_SECRET_DETECTED", 2);
    scratch.refused(&["memory", "put", "--text", "x", "--key", &secret], "ERR_SECRET_DETECTED", 2);
    assert_eq!(scratch.rows("memory_short_term"), 0);
    scratch.json(&["memory", "put", "--text", "x"]);
    scratch.refused(&["memory", "pack", "--content", &secret], "ERR_SECRET_DETECTED", 2);
    assert_eq!(waiting(&scratch, "s"), ["x"]);
}

#[test]
fn text_is_held_to_the_limits_of_a_record() {
    let scratch = Scratch::with_session();
    let put = |bytes: &[u8]| scratch.run_with(&["memory", "put", "--text-file", "-"], bytes);
    put("x".repeat(1 << 20).as_bytes()).json();
    put("x".repeat((1 << 20) + 1).as_bytes()).error("ERR_TOO_LARGE", 2);
    put(b"").error("INVALID_PARAMS", 2);
    put(b"a\0b").error("INVALID_PARAMS", 2);
    put(b"\xff").error("INVALID_PARAMS", 2);
    scratch.refused(&["memory", "put", "--text", "x", "--key", ""], "INVALID_PARAMS", 2);
    scratch.refused(&["memory", "put", "--text", "x", "--key", &"k".repeat(1025)], "ERR_TOO_LARGE", 2);
    scratch.refused(&["memory", "put"], "INVALID_PARAMS", 2);
    scratch.refused(&["memory", "put", "--text-file", "nowhere"], "ERR_UNREADABLE", 3);
    scratch.refused(&["memory", "put", "--text", "x", "--session", "none"], "ERR_SESSION_NOT_FOUND", 2);
    assert_eq!(scratch.rows("memory_short_term"), 1);
}

#[test]
fn nobody_attests_by_hand_what_was_in_working_memory() {
    let scratch = Scratch::with_session();
    for key in ["memory", "note"] {
        for claim in [format!("{{\"{key}\":{{}}}}"), format!(" {{\"{key}\" :1"), format!("{{\"a\":1,\"{key}\":\"x\"}}")]
        {
            scratch.refused(&["attest", &claim], "INVALID_PARAMS", 2);
        }
    }
    scratch.json(&["attest", "the memory was packed, says this note"]);
}
