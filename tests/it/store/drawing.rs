//! What people see: the drawings as they are, and that no recorded text acts on a terminal.

use serde_json::Value;

use super::scratch::{Ran, Scratch, text};

/// Ids, digests and times out of the way.
fn redacted(text: &str) -> String {
    let word = |word: &str| {
        let hex = word.len() >= 36 && word.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        match (hex, word.contains('-')) {
            (true, true) => "[id]".to_owned(),
            (true, false) => "[digest]".to_owned(),
            (false, _) => word.to_owned(),
        }
    };
    let mut out = String::new();
    let mut run = String::new();
    for character in text.chars() {
        if character.is_ascii_alphanumeric() || character == '-' {
            run.push(character);
        } else {
            out += &word(&std::mem::take(&mut run));
            out.push(character);
        }
    }
    // How long ago is not of interest, and on a slow machine not always the same.
    (out + &word(&run)).replace("just now", "[ago]").replace("1 minute ago", "[ago]")
}

/// What a command draws in a locale that has the signs for it.
fn drawn(scratch: &Scratch, arguments: &[&str]) -> String {
    let ran: Ran = scratch.proof(arguments).env("LC_ALL", "C.UTF-8").output().unwrap().into();
    redacted(ran.text())
}

/// A session with a branch, an attested operation, a private record and several lines.
fn session() -> Scratch {
    let scratch = Scratch::new();
    scratch.start("t-89", &["--task", "T-89"]);
    let plan = scratch.record("plan", "find the loop\nthen cut it");
    scratch.record("analysis", "the cookie has no path");
    scratch.json(&["record", "--type", "decision", "--content", "set the path", "--private"]);
    scratch.json(&["record", "--type", "decision", "--content", "drop the cookie", "--parent", text(&plan, "id")]);
    scratch.json(&["attest", "ran the tests"]);
    scratch
}

#[test]
fn log_reads_like_this() {
    let scratch = session();
    insta::assert_snapshot!(drawn(&scratch, &["log"]), @r"
    session t-89: try it
    open · proof-grade · v1 · begun [ago] · task T-89 · by Ada Tester
      <ada@example.org>

    ● plan       find the loop
                 then cut it
                 [ago] · [id]
    ● analysis   the cookie has no path
                 [ago] · [id]
    ◆ decision   set the path
                 [ago] (private) · [id]
      ╭ branches off from [id]
    ◆ decision   drop the cookie
                 [ago] · [id]
    · attest     ran the tests
                 [ago] · [id]
    ");
}

#[test]
fn log_in_full_reads_like_this() {
    let scratch = session();
    let text = drawn(&scratch, &["log", "--full", "-n", "1"]).replace(&last_time(&scratch), "[time]");
    insta::assert_snapshot!(text, @r"
    session t-89: try it
    open · proof-grade · v1 · begun [ago] · task T-89 · by Ada Tester
      <ada@example.org>

    (4 earlier entries are not shown)

    attest [id]
      session       t-89, entry 4
      follows       [id]
      recorded      [time] ([ago])
      prev_hash     [digest]
      content_hash  [digest]
      chain_hash    [digest]

        ran the tests
    ");
}

/// The time of the last entry.
fn last_time(scratch: &Scratch) -> String {
    text(&scratch.json(&["log", "-n", "1"])["entries"][0], "timestamp").to_owned()
}

#[test]
fn tree_draws_branches() {
    let scratch = session();
    insta::assert_snapshot!(drawn(&scratch, &["tree"]), @r"
    session t-89: try it
    open · proof-grade · v1 · begun [ago] · task T-89 · by Ada Tester
      <ada@example.org>
    ● plan find the loop ([ago], [id])
    ├─● analysis the cookie has no path
    │            ([ago], [id])
    │ ◆ decision set the path ([ago], [id])
    └─◆ decision drop the cookie ([ago], [id])
      · attest ran the tests ([ago], [id])
    ");
}

#[test]
fn tree_without_unicode_is_drawn_in_ascii() {
    let scratch = session();
    insta::assert_snapshot!(redacted(scratch.run(["tree"]).text()), @r"
    session t-89: try it
    open - proof-grade - v1 - begun [ago] - task T-89 - by Ada Tester
      <ada@example.org>
    o plan find the loop ([ago], [id])
    |-o analysis the cookie has no path
    |            ([ago], [id])
    | * decision set the path ([ago], [id])
    `-* decision drop the cookie ([ago], [id])
      . attest ran the tests ([ago], [id])
    ");
}

#[test]
fn log_of_all_sessions_reads_like_this() {
    let scratch = session();
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
    scratch.start("t-90", &["--not-proof-grade"]);
    scratch.json(&["end"]);
    scratch.start("t-91", &["--scheme", "v1-sorted"]);
    insta::assert_snapshot!(drawn(&scratch, &["log", "--all"]), @r"
    session t-91: try it
    open · proof-grade · v1-sorted · begun [ago] · by Ada Tester
      <ada@example.org>

    session t-90: try it
    ended, not finalized · not proof-grade · v1 · begun [ago] · by Ada Tester
      <ada@example.org>

    session t-89: try it
    finalized · proof-grade · v1 · begun [ago] · task T-89 · by Ada Tester
      <ada@example.org>
    ");
}

#[test]
fn output_that_is_no_terminal_has_no_colour() {
    let scratch = session();
    assert!(!scratch.run(["log"]).text().contains('\u{1b}'));
}

/// Moves the cursor, paints, sets the title, turns the text around, hides, breaks lines.
const HOSTILE: &str = "a\u{1b}[2J\u{1b}]0;owned\u{7}b\u{202e}c\u{9b}31m\u{200b}\u{2066}\rd\u{8}\u{feff}\u{2028}e";

#[track_caller]
fn is_inert(text: &str) {
    let active = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    assert_eq!(text.chars().find(|c| active(*c)), None, "{text:?}");
}

fn hostile_session() -> (Scratch, Value) {
    let scratch = Scratch::new();
    let mut start = vec!["start", "--intent", HOSTILE, "--task", HOSTILE, "--caller", HOSTILE];
    start.extend(["--session-id", "s"]);
    is_inert(scratch.run(start).text());
    let metadata = serde_json::json!({ HOSTILE: HOSTILE }).to_string();
    let entry = scratch.json(&["record", "--type", "plan", "--content", HOSTILE, "--metadata", &metadata]);
    scratch.json(&["attest", HOSTILE]);
    (scratch, entry)
}

#[test]
fn hostile_text_is_inert_wherever_it_is_shown() {
    let (scratch, entry) = hostile_session();
    let id = text(&entry, "id");
    let commands: [&[&str]; 8] = [
        &["log"],
        &["log", "--full"],
        &["log", "--all"],
        &["tree"],
        &["show", id],
        &["trail", id],
        &["search", "owned"],
        &["search", "nowhere\u{1b}[2J\u{202e}"],
    ];
    for arguments in commands {
        let ran = scratch.run(arguments);
        assert!(!ran.text().is_empty());
        is_inert(&ran.out);
    }
}

#[test]
fn hostile_text_is_kept_as_it_was_recorded() {
    let (scratch, entry) = hostile_session();
    assert_eq!(scratch.json(&["show", text(&entry, "id")])["content"], HOSTILE);
}

#[test]
fn hostile_text_is_inert_in_errors() {
    let (scratch, _) = hostile_session();
    let arguments: [&[&str]; 8] = [
        &["log", "--session", HOSTILE],
        &["show", HOSTILE],
        &["record", "--type", HOSTILE, "--content", "x"],
        &["record", "--type", "plan", "--content", "x", "--metadata", HOSTILE],
        &["record", "--type", "plan", "--content-file", HOSTILE],
        &["start", "--intent", "x", "--scheme", HOSTILE],
        &["-C", HOSTILE, "log"],
        &["check-proof", HOSTILE, "--root", HOSTILE, "--count", HOSTILE],
    ];
    for arguments in arguments {
        let ran = scratch.run(arguments);
        assert_ne!(ran.exit, Some(0));
        is_inert(&ran.err);
    }
}

#[test]
fn hostile_directory_is_inert_in_errors() {
    let scratch = Scratch::without_repository();
    let folder = scratch.place.join("x\u{1b}[2J\u{202e}y");
    std::fs::create_dir(&folder).unwrap();
    let ran: Ran = scratch.proof(["log"]).current_dir(&folder).output().unwrap().into();
    assert_eq!(ran.exit, Some(3));
    is_inert(&ran.err);
}
