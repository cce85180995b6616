//! Lines of notes: malformed, spelled otherwise, of unknown types, too many, too large, in two places, or not files.

use serde_json::json;

use super::{Proven, STRICT};

#[test]
fn note_that_was_taken_away_is_missed() {
    let proven = Proven::new();
    proven.git(&["notes", "--ref=proof", "remove", &proven.head]);
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn notes_that_were_never_fetched_could_not_be_checked() {
    let proven = Proven::new();
    proven.git(&["update-ref", "-d", "refs/notes/proof"]);
    proven.git(&["remote", "add", "origin", "../nowhere"]);
    proven.gate().unchecked("REF_NOT_FETCHED");
}

#[test]
fn notes_that_cannot_be_fetched_from_anywhere_are_missing() {
    let proven = Proven::new();
    proven.git(&["update-ref", "-d", "refs/notes/proof"]);
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn another_spelling_of_an_anchor_is_malformed() {
    let proven = Proven::new();
    let line = proven.note(&proven.head);
    for forged in [
        line.replacen(':', ": ", 1),
        line.replacen("\"count\"", "\"\\u0063ount\"", 1),
        format!(" {line}"),
        format!("{line}\r\n"),
        line.replacen("\"count\":5", "\"count\":5.0", 1),
        line.replacen("\"count\":5", "\"count\":05", 1),
        line.replacen("\"count\":5", "\"count\":5,\"count\":5", 1),
        line.replacen("\"type\":\"git-proof/anchor@1\"", "\"type\":\"git-proof/anchor@1\",\"x\":1", 1),
        line.replacen("git-proof/anchor@1", "Git-Proof/anchor@1 ", 1),
        line.replacen("Z\"", "+00:00\"", 1),
        line[..line.len() - 1].to_owned(),
        line[line.len() / 2..].to_owned(),
    ] {
        assert_ne!(forged, line);
        proven.set_note(&proven.head, &forged);
        proven.gate().fails("ANCHOR_MALFORMED");
    }
}

#[test]
fn line_of_an_unknown_type_is_reported_and_never_an_answer() {
    let proven = Proven::new();
    let line = proven.note(&proven.head);
    let unknown = line.replace("anchor@1", "anchor@2");
    proven.set_note(&proven.head, format!("{line}\n{unknown}\n"));
    proven.gate().passes().warns("ANCHOR_MALFORMED");
    proven.set_note(&proven.head, unknown);
    let judged = proven.gate();
    judged.fails("ANCHOR_MISSING");
    assert!(judged.codes("warning").contains(&"ANCHOR_MALFORMED"), "{judged:?}");
}

#[test]
fn signature_of_a_seal_on_a_commit_is_never_an_answer() {
    let proven = Proven::new();
    proven.set_note(&proven.head, json!({"seal": "0".repeat(64), "signature": "TWFu"}).to_string());
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn blank_note_is_no_anchor() {
    let proven = Proven::new();
    proven.set_note(&proven.head, "\n \t\n\n");
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn bad_anchor_beside_a_good_one_is_a_warning() {
    let proven = Proven::with_policy(STRICT);
    let line = proven.note(&proven.head);
    let bad = proven.anchor_with(&[("root", json!("0".repeat(64)))]);
    proven.set_note(&proven.head, format!("{bad}\nnot even JSON\n{line}\n"));
    proven.gate().passes().warns("EVIDENCE_MISSING").warns("ANCHOR_MALFORMED");
}

#[test]
fn two_bad_anchors_fail_with_the_codes_of_both() {
    let proven = Proven::new();
    let one = proven.anchor_with(&[("root", json!("0".repeat(64)))]);
    let two = proven.anchor_with(&[("session_id", json!("t"))]);
    proven.set_note(&proven.head, format!("{one}\n{two}\n"));
    proven.gate().fails("EVIDENCE_MISSING").fails("CHAIN_BROKEN");
}

#[test]
fn note_of_fifty_megabytes_is_not_read() {
    let proven = Proven::new();
    let mut note = proven.note(&proven.head).into_bytes();
    note.resize(50 << 20, b'\n');
    proven.set_note(&proven.head, note);
    proven.gate().unchecked("LIMIT_REACHED");
}

#[test]
fn thousands_of_junk_lines_beside_a_good_one_are_warnings() {
    let proven = Proven::new();
    let line = proven.note(&proven.head);
    let junk: String = (0..1500)
        .map(|number| line.replace("\"session_id\":\"s\"", &format!("\"session_id\":\"s{number}\"")) + "\n")
        .collect();
    proven.set_note(&proven.head, format!("{junk}{line}\n"));
    proven.gate().passes().warns("CHAIN_BROKEN");
}

#[test]
fn note_stored_flat_and_fanned_is_reported() {
    let proven = Proven::new();
    let good = proven.blob(proven.note(&proven.head));
    let bad = proven.blob("bad\n");
    let fanned = format!("{}/{}", &proven.head[..2], &proven.head[2..]);
    proven.put("refs/notes/proof", &fanned, "100644", &bad);
    proven.gate().passes().warns("ANCHOR_MALFORMED");
    proven.put("refs/notes/proof", &fanned, "100644", &good);
    proven.put("refs/notes/proof", &proven.head.clone(), "100644", &bad);
    proven.gate().passes().warns("ANCHOR_MALFORMED");
    proven.put("refs/notes/proof", &fanned, "100644", &bad);
    proven.gate().fails("ANCHOR_MALFORMED");
}

#[test]
fn directory_or_submodule_in_the_place_of_a_note_is_no_anchor() {
    let proven = Proven::new();
    proven.put("refs/notes/proof", &proven.head.clone(), "160000", &proven.head);
    assert!(matches!(proven.gate().exit, Some(1 | 3)), "{:?}", proven.gate());
    proven.git(&["update-ref", "-d", "refs/notes/proof"]);
    let blob = proven.blob("x");
    proven.put("refs/notes/proof", &format!("{}/x", proven.head), "100644", &blob);
    proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn only_a_plain_file_is_evidence() {
    let proven = Proven::new();
    let path = Proven::evidence_path(&proven.root);
    let good = proven.git(&["rev-parse", &format!("refs/proof/evidence:{path}")]);
    let put = |path: &str, mode: &str, id: &str| {
        proven.put("refs/proof/evidence", path, mode, id);
        proven.gate().fails("EVIDENCE_MISSING");
    };
    put(&path, "120000", &good);
    put(&path, "160000", &proven.head);
    put(&path, "100755", &good);
    put(&format!("{path}/inner"), "100644", &good);
    put(&path[..2], "100644", &good);
    proven.put("refs/proof/evidence", &path, "100644", &good);
    proven.gate().passes();
}

#[test]
fn ref_of_notes_that_names_no_commit_is_an_error() {
    let proven = Proven::new();
    let blob = proven.blob(proven.note(&proven.head));
    proven.git(&["update-ref", "refs/notes/proof", &blob]);
    let judged = proven.gate();
    assert!(matches!(judged.exit, Some(3 | 4)), "{judged:?}");
}

#[test]
fn note_that_cannot_be_read_does_not_hide_that_another_was_deleted() {
    let proven = Proven::new();
    proven.scratch.json(&["seal"]);
    proven.git(&["notes", "--ref=proof", "remove", &proven.head]);
    proven.gate().fails("ANCHOR_DELETED");
    proven.set_note(&proven.base, "x".repeat(17 << 20));
    proven.gate().fails("ANCHOR_DELETED");
}
