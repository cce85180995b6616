//! Several processes at once: two that move texts, those that read what is being moved, and those that go on recording.

use std::process::Stdio;

use super::{archives, bodies, lines, sealed, zone_of};
use crate::store::scratch::{Ran, Scratch};

/// Runs these at the same time.
fn at_once(scratch: &Scratch, commands: &[&[&str]]) -> Vec<Ran> {
    let start = |arguments: &&[&str]| {
        let mut command = scratch.proof(["--json"].iter().chain(arguments.iter()));
        command.env("GIT_PROOF_PATIENCE", "30000").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<_> = commands.iter().map(start).collect();
    running.into_iter().map(|child| child.wait_with_output().unwrap().into()).collect()
}

#[test]
fn two_at_once_move_every_session_once() {
    let scratch = sealed(&["one", "two", "three"]);
    scratch.git(["config", "proof.warmRounds", "0"]);
    let ran = at_once(&scratch, &[&["retain"], &["retain"], &["retain"]]);
    let moved: u64 = ran.iter().map(|ran| ran.json()["moved"].as_u64().unwrap()).sum();
    assert_eq!((moved, archives(&scratch).len()), (3, 3));
    let cold = "SELECT count(*) FROM audit_events WHERE tool = 'retention_run'";
    assert_eq!(scratch.database().query_row(cold, [], |row| row.get::<_, i64>(0)).unwrap(), 3);
}

#[test]
fn reading_moving_and_recording_at_once_lose_nothing() {
    let scratch = sealed(&["one", "two"]);
    let whole = [lines(&scratch, "one"), lines(&scratch, "two")];
    scratch.git(["config", "proof.warmRounds", "0"]);
    scratch.start("open", &["--not-proof-grade"]);
    for round in 0..6 {
        let ran = at_once(
            &scratch,
            &[
                &["retain"],
                &["log", "--session", "one"],
                &["log", "--session", "two"],
                &["record", "--type", "plan", "--content", "meanwhile", "--session", "open"],
                &["check", "--session", "one"],
            ],
        );
        for ran in &ran {
            assert_eq!(ran.exit, Some(0), "{round}: {ran:?}");
        }
    }
    assert_eq!(bodies(&scratch, "open"), 6);
    for (session, whole) in ["one", "two"].into_iter().zip(whole) {
        scratch.json(&["log", "--session", session]);
        assert_eq!((zone_of(&scratch, session).as_str(), lines(&scratch, session)), ("warm", whole));
    }
}

#[test]
fn who_waits_too_long_is_told() {
    let scratch = super::with_cold(&["one", "two"]);
    let lock = std::fs::File::open(scratch.place.join(".git/proof/retain.lock")).unwrap();
    lock.lock().unwrap();
    for arguments in [&["retain"][..], &["log", "--session", "one"]] {
        let mut command = scratch.proof(["--json"].iter().chain(arguments));
        Ran::from(command.env("GIT_PROOF_PATIENCE", "10").output().unwrap()).error("ERR_STORE_BUSY", 4);
    }
    lock.unlock().unwrap();
    scratch.json(&["log", "--session", "one"]);
}
