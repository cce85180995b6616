//! `kill -9` and other writers at any moment: a note is raw or packed, never both and never neither.

use std::process::Stdio;
use std::thread;
use std::time::Instant;

use super::{entries, waiting};
use crate::store::scratch::{Dice, Scratch};

const NOTES: usize = 3;

#[test]
fn killed_pack_leaves_all_notes_or_the_packed_state() {
    let scratch = Scratch::new();
    let mut dice = Dice(7);
    let pack = || scratch.proof(["memory", "pack"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let put = |session: &str| {
        scratch.start(session, &[]);
        for number in 0..NOTES {
            scratch.json(&["memory", "put", "--text", &format!("note {number} of {session}")]);
        }
    };
    put("not-killed");
    let begun = Instant::now();
    assert!(pack().wait().unwrap().success());
    let whole = begun.elapsed();
    let mut left_raw = 0;
    for round in 0..20 {
        let session = format!("s{round}");
        put(&session);
        let mut child = pack();
        let moment = whole * u32::try_from(dice.below(1300)).unwrap() / 1000;
        thread::sleep(moment); // what is tested is any moment, so the length of it does not matter
        child.kill().unwrap();
        child.wait().unwrap();
        let (raw, leaves) = (waiting(&scratch, &session).len(), entries(&scratch, &session).len());
        assert!(
            (raw, leaves) == (NOTES, 0) || (raw, leaves) == (0, NOTES + 1),
            "{session}: {raw} raw, {leaves} entries"
        );
        scratch.json(&["check"]);
        if raw > 0 {
            left_raw += 1;
            scratch.json(&["memory", "pack"]);
        }
        for number in 0..NOTES {
            scratch.json(&["memory", "prove", "--text", &format!("note {number} of {session}"), "--session", &session]);
        }
    }
    assert!(left_raw > 0, "no pack was killed in time");
}

#[test]
fn two_who_pack_and_one_who_puts_lose_no_note_and_pack_none_twice() {
    let scratch = Scratch::with_session();
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..20 {
                scratch.json(&["memory", "put", "--text", &format!("note {number}")]);
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..8 {
                    let ran = scratch.run(["--json", "memory", "pack"]);
                    if ran.exit != Some(0) {
                        ran.error("ERR_NOTHING_TO_PACK", 1);
                    }
                }
            });
        }
    });
    if !waiting(&scratch, "s").is_empty() {
        scratch.json(&["memory", "pack"]);
    }
    let leaves = entries(&scratch, "s").iter().filter(|entry| entry.starts_with("{\"note\"")).count();
    assert_eq!((leaves, scratch.rows("memory_long_term")), (20, 20));
    for number in 0..20 {
        scratch.json(&["memory", "prove", "--text", &format!("note {number}")]);
    }
    scratch.json(&["check"]);
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
}
