//! Messages that imitate trailers, or hide them.

use super::{Judged, Proven};

/// What a message makes of a commit on top, by the default policy. `{}` is a trailer that names the session of the commit
/// below, and so must fail if it is read.
fn judged(message: &str) -> Judged {
    let proven = Proven::new();
    let root = format!("Proof-Root: s:v1:{}:5", proven.root);
    let message = message.replace("{}", &root);
    let tree = proven.tip("HEAD^{tree}");
    let raw =
        format!("tree {tree}\nparent {}\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\n{message}", proven.head);
    let commit = proven.git_with(&["hash-object", "-t", "commit", "-w", "--stdin", "--literally"], raw);
    proven.git(&["update-ref", "HEAD", &commit]);
    proven.gate()
}

#[test]
fn trailer_that_names_a_root_of_another_change_is_refused() {
    judged("Subject\n\n{}\n").fails("TRAILER_MISMATCH");
}

#[test]
fn trailer_with_lines_ended_as_on_windows_is_read() {
    judged("Subject\r\n\r\n{}\r\n").fails("TRAILER_MISMATCH");
}

#[test]
fn trailer_after_a_divider_is_read() {
    judged("Subject\n\nBody\n---\n\n{}\n").fails("TRAILER_MISMATCH");
}

#[test]
fn trailer_with_a_leading_zero_in_its_count_is_refused() {
    let proven = Proven::new();
    proven.git(&["commit", "--quiet", "--amend", "-m", &format!("Shout five\n\nProof-Root: s:v1:{}:5", proven.root)]);
    proven.gate().passes();
    proven.git(&["commit", "--quiet", "--amend", "-m", &format!("Shout five\n\nProof-Root: s:v1:{}:05", proven.root)]);
    proven.gate().fails("TRAILER_MISMATCH");
}

#[test]
fn trailer_with_another_root_than_the_anchor_is_refused() {
    let proven = Proven::new();
    for wrong in [
        format!("s:v1:{}:5", "0".repeat(64)),
        format!("s:v1:{}:6", proven.root),
        format!("t:v1:{}:5", proven.root),
        format!("s:v1-rfc9162:{}:5", proven.root),
        format!("s:v1:{}:5 x", proven.root),
        format!("s:v1:{}:5", proven.root.to_uppercase()),
    ] {
        proven.git(&["commit", "--quiet", "--amend", "-m", &format!("Shout five\n\nProof-Root: {wrong}")]);
        proven.gate().fails("TRAILER_MISMATCH");
    }
}

#[test]
fn line_in_the_body_is_no_trailer_and_asks_for_a_proof() {
    let said = judged("Subject\n\nProof-Grade: true\n\nMore text that is no trailer.\n");
    said.fails("ANCHOR_MISSING");
    assert!(said.codes("warning").contains(&"TRAILER_MISMATCH"), "{said:?}");
}

#[test]
fn line_in_a_comment_is_no_trailer() {
    let said = judged("Subject\n\n# {}\n");
    assert_eq!(said.exit, Some(0), "{said:?}");
}

#[test]
fn folded_line_is_no_trailer_of_its_own() {
    let said = judged("Subject\n\nSigned-off-by: a\n {}\n");
    assert!(!said.codes("warning").is_empty(), "{said:?}");
    said.fails("ANCHOR_MISSING");
}

#[test]
fn trailer_folded_over_two_lines_is_not_another_spelling() {
    judged("Subject\n\nProof-Root:\n s:v1:0\n").fails("TRAILER_MISMATCH");
}

#[test]
fn what_follows_a_nul_is_reported_and_proves_nothing() {
    let said = judged("Subject\n\0\n\n{}\n");
    assert!(said.codes("warning").contains(&"TRAILER_MISMATCH"), "{said:?}");
    said.fails("ANCHOR_MISSING");
}

#[test]
fn message_that_is_not_text_is_judged_all_the_same() {
    let proven = Proven::new();
    let raw = [
        format!("tree {}\nparent {}\n", proven.tip("HEAD^{tree}"), proven.head).as_bytes(),
        b"author \xff\xfe <\xff> 1 +0000\ncommitter x <x> 1 +0000\nencoding \xff\n\n\xff\xfe\x80\n\nProof-Grade: true\n",
    ]
    .concat();
    let commit = proven.git_with(&["hash-object", "-t", "commit", "-w", "--stdin", "--literally"], raw);
    proven.git(&["update-ref", "HEAD", &commit]);
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn escapes_for_the_terminal_are_spelled_out() {
    let proven = Proven::new();
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}";
    proven.write("b.txt", "b\n");
    proven.scratch.json(&["start", "--intent", &format!("intent {evil}"), "--session-id", "t"]);
    proven.scratch.record("decision", &format!("decision {evil}"));
    let commit = proven.commit(&format!("Subject {evil}\n\nProof-Session: t\nProof-Other{evil}: x"));
    proven.scratch.run(["hook", "post-commit"]).text();
    proven.scratch.record("reflection", &format!("reflection {evil}"));
    proven.scratch.json(&["finalize"]);
    let line = proven.note(&commit);
    proven.set_note(&commit, format!("{line}\n{{\"x{evil}\":{{\"type\":\"{evil}\"}}}}\n"));
    let ran = proven.scratch.run(["verify"]);
    let text = ran.text();
    for word in ["Subject", "intent", "decision", "reflection"] {
        assert!(text.contains(&format!("{word} \\u{{1b}}")), "{word}: {text}");
    }
    let plain =
        |text: &str| text.chars().all(|letter| letter == '\n' || !(letter.is_control() || letter == '\u{202e}'));
    assert!(plain(text) && plain(&ran.err), "{text:?}");
}
