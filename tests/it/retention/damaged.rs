//! Archives that are missing, cut off, altered or another's: what can still be proven is, what cannot be shown is said, and
//! nothing that is not the session's own ever comes back into the store.

use std::path::Path;

use serde_json::{Value, json};

use super::{archives, bodies, ids, with_cold, zone_of};
use crate::store::scratch::{Ran, Scratch, text};

/// Everything that the loss of an archive must and must not do.
#[track_caller]
fn assert_reported(scratch: &Scratch, what: &str) {
    let record = ids(scratch, "one").remove(0);
    let root = scratch.json(&["root", "--session", "one"]);
    for arguments in
        [&["log", "--session", "one"][..], &["show", &record], &["trail", &record], &["check", "--session", "one"]]
    {
        let error = scratch.refused(arguments, "ERR_ARCHIVE_DAMAGED", 4);
        let details = &error["details"];
        assert_eq!(
            (&details["root"], &details["count"], &details["lost"]),
            (&root["root"], &json!(5), &json!(4)),
            "{what}: {error}"
        );
        assert!(text(details, "archive").ends_with(".jsonl.zst"), "{what}: {error}");
        assert!(text(&error, "message").contains("can still be proven"), "{what}: {error}");
    }
    let proof = scratch.run(["prove", "--record", &record]);
    let trusted = ["check-proof", "-", "--root", text(&root, "root"), "--count", "5"];
    assert_eq!(scratch.run_with(&trusted, proof.text().as_bytes()).json()["valid"], true, "{what}");
    assert_eq!(scratch.json(&["verify", "HEAD~1"])["verdict"], "pass", "{what}");
    assert_eq!((zone_of(scratch, "one").as_str(), bodies(scratch, "one")), ("cold", 1), "{what}");
}

fn zstd(scratch: &Scratch, text: &[u8]) -> Vec<u8> {
    let plain = scratch.around().join("plain");
    std::fs::write(&plain, text).unwrap();
    let packed = scratch.command("zstd").args(["-qc"]).arg(&plain).output().unwrap();
    assert!(packed.status.success());
    packed.stdout
}

#[test]
fn damaged_archive_is_reported_with_what_can_still_be_proven() {
    let scratch = with_cold(&["one", "two"]);
    let file = archives(&scratch).remove(0);
    let good = std::fs::read(&file).unwrap();
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    let mut cases = vec![
        ("empty", Vec::new()),
        ("no archive", b"no archive".to_vec()),
        ("cut off", good[..good.len() - 1].to_vec()),
        ("half", good[..good.len() / 2].to_vec()),
        ("first byte", flipped(0)),
        ("a byte within", flipped(good.len() / 2)),
        ("last byte", flipped(good.len() - 1)),
        ("more after it", [&good[..], b"x"].concat()),
        ("twice", [&good[..], &good[..]].concat()),
    ];
    if crate::store::scratch::has("zstd") {
        cases.push(("another text", zstd(&scratch, b"{}\n")));
        cases.push(("one endless line", zstd(&scratch, &vec![b'x'; 40 << 20])));
    }
    for (what, bytes) in cases {
        std::fs::write(&file, bytes).unwrap();
        assert_reported(&scratch, what);
    }
    std::fs::remove_file(&file).unwrap();
    assert_reported(&scratch, "missing");
    std::fs::create_dir(&file).unwrap();
    assert_reported(&scratch, "a directory");
    std::fs::remove_dir(&file).unwrap();
    // As soon as it is back, everything is.
    std::fs::write(&file, &good).unwrap();
    assert_eq!(scratch.json(&["log", "--session", "one"])["entries"][1]["content"], "a whisper of one");
}

#[test]
fn archive_of_another_session_does_not_come_back_as_this_one() {
    let scratch = super::sealed(&["one", "two", "three"]);
    scratch.git(["config", "proof.warmRounds", "1"]);
    scratch.json(&["retain"]);
    let files = archives(&scratch);
    let [first, second] = [0, 1].map(|at: usize| std::fs::read(&files[at]).unwrap());
    std::fs::write(&files[0], second).unwrap();
    std::fs::write(&files[1], first).unwrap();
    for session in ["one", "two"] {
        scratch.refused(&["log", "--session", session], "ERR_ARCHIVE_DAMAGED", 4);
        assert_eq!(bodies(&scratch, session), 1);
    }
}

#[test]
fn row_that_was_changed_takes_no_text_back() {
    let scratch = with_cold(&["one", "two"]);
    scratch
        .without_triggers()
        .execute("UPDATE thought_records SET id = 'x' WHERE session_id = 'one' AND position = 1", [])
        .unwrap();
    scratch.refused(&["log", "--session", "one"], "ERR_STORE_FAILED", 4);
    assert_eq!(super::lines(&scratch, "one")[1], None);
}

#[test]
fn missing_archive_is_told_by_retain_and_doctor() {
    let scratch = with_cold(&["one", "two"]);
    let doctor = |scratch: &Scratch| -> Value {
        let ran: Ran = scratch.run(["--json", "doctor"]);
        let outcome: Value = serde_json::from_str(&ran.out).unwrap();
        let checks = outcome["checks"].as_array().unwrap();
        checks.iter().find(|check| text(check, "name") == "archives").unwrap().clone()
    };
    assert_eq!(doctor(&scratch)["state"], "ok");
    let file = archives(&scratch).remove(0);
    let good = std::fs::read(&file).unwrap();
    let damage: [&dyn Fn(&Path); 2] =
        [&|file| std::fs::remove_file(file).unwrap(), &|file| std::fs::write(file, b"short").unwrap()];
    for damage in damage {
        std::fs::write(&file, &good).unwrap();
        damage(&file);
        assert_eq!(doctor(&scratch)["state"], "missing");
        let ran = scratch.run(["--json", "retain"]);
        let outcome: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((ran.exit, text(&outcome["problems"][0], "code")), (Some(4), "ERR_ARCHIVE_DAMAGED"), "{ran:?}");
    }
}

#[test]
fn lost_texts_can_be_taken_as_lost() {
    let scratch = with_cold(&["one", "two"]);
    std::fs::remove_file(&archives(&scratch)[0]).unwrap();
    let frozen = scratch.json(&["retain", "--yes", "--freeze", "one"]);
    assert_eq!((&frozen["moved"], &frozen["problems"]), (&json!(1), &json!([])), "{frozen}");
    assert_eq!(scratch.json(&["log", "--session", "one"])["entries"][0]["blanked"], true);
    assert_eq!(scratch.json(&["check", "--session", "one"])["valid"], true);
}
