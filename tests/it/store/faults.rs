//! System calls that fail: whatever the moment, a command that did not record says so, and the store stays whole.

use std::process::Command;

use super::scratch::{Ran, Scratch, no_strace, with_fault};
use crate::anchoring::killed::moments;

const CALLS: [&str; 8] = ["write", "pwrite64", "fsync", "fdatasync", "rename", "unlink", "openat", "ftruncate"];
const MOST_RUNS: usize = 400;

/// Fails each call of each kind once. `done` says whether the command's work is in the store.
fn fail_each_call(scratch: &Scratch, arguments: &[&str], mut prepare: impl FnMut(), done: impl Fn() -> bool) {
    let mut runs = 0;
    for call in CALLS {
        for nth in moments() {
            prepare();
            let (ran, hit) =
                with_fault(scratch, scratch.command("strace").arg("-f"), ("error=EIO", call, nth), arguments);
            runs += 1;
            assert!(runs < MOST_RUNS, "more calls of {call} than expected");
            if !hit {
                assert_eq!(ran.exit, Some(0), "{call} {nth}: {ran:?}");
                break;
            }
            assert_ne!(ran.exit, Some(101), "{call} {nth}: {ran:?}");
            let done = done();
            if ran.exit == Some(0) {
                assert!(done, "{call} {nth}: said to be done and is not: {ran:?}");
            } else if ran.err.starts_with("{\"error\"") {
                ran_with_code(&ran, call, nth);
            }
            scratch.json(&["check"]);
        }
    }
    assert!(runs > 2 * CALLS.len(), "faults did not come about");
}

#[track_caller]
fn ran_with_code(ran: &Ran, call: &str, nth: usize) {
    let error: serde_json::Value = serde_json::from_str(&ran.err).unwrap();
    let code = error["error"]["code"].as_str().unwrap();
    let known = git_proof::error::Code::ALL.iter().find(|known| known.as_str() == code).unwrap();
    assert_eq!(ran.exit, Some(i32::from(known.exit_code())), "{call} {nth}");
    assert!(error["error"]["hint"].is_string(), "{call} {nth}: {}", ran.err);
}

#[test]
fn record_with_a_failing_call_is_recorded_or_says_that_it_is_not() {
    let scratch = Scratch::with_session();
    if no_strace(&scratch) {
        return;
    }
    let before = std::cell::Cell::new(0);
    let arguments = ["--json", "record", "--type", "plan", "--content", "with a fault"];
    fail_each_call(
        &scratch,
        &arguments,
        || before.set(scratch.rows("thought_records")),
        || scratch.rows("thought_records") == before.get() + 1,
    );
}

#[test]
fn finalize_with_a_failing_call_is_finalized_or_says_that_it_is_not() {
    let scratch = Scratch::new();
    if no_strace(&scratch) {
        return;
    }
    let round = std::cell::Cell::new(0);
    let prepare = || {
        round.set(round.get() + 1);
        scratch.start(&format!("s{}", round.get()), &["--not-proof-grade"]);
        scratch.json(&["attest", "a", "b", "c"]);
    };
    let done = || scratch.json(&["log"])["session"]["finalized"] == true;
    fail_each_call(&scratch, &["--json", "finalize"], prepare, done);
}

#[test]
fn memory_pack_with_a_failing_call_has_packed_all_or_says_that_it_has_not() {
    let scratch = Scratch::with_session();
    if no_strace(&scratch) {
        return;
    }
    let (put, packed) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let prepare = || {
        // Those that were not packed wait for the next try.
        for _ in scratch.rows("memory_short_term")..2 {
            put.set(put.get() + 1);
            scratch.json(&["memory", "put", "--text", &format!("note {}", put.get())]);
        }
        packed.set(scratch.rows("memory_long_term"));
    };
    let done = || {
        let (waiting, now) = (scratch.rows("memory_short_term"), scratch.rows("memory_long_term"));
        assert!(waiting == 0 && now == put.get() || now == packed.get() && waiting == put.get() - now, "half packed");
        waiting == 0
    };
    fail_each_call(&scratch, &["--json", "memory", "pack"], prepare, done);
    for note in 1..=put.get() {
        scratch.json(&["memory", "prove", "--text", &format!("note {note}")]);
    }
}

/// Runs a command that may not make any file longer than so many blocks of 512 bytes.
fn with_little_room(scratch: &Scratch, blocks: u64, arguments: &[&str]) -> Ran {
    let script = format!("ulimit -f {blocks}; trap '' XFSZ; exec \"$@\"");
    let mut command = scratch.command("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_git-proof")]).args(arguments);
    command.output().unwrap().into()
}

#[test]
fn disk_without_room_is_a_clear_error_and_recording_goes_on_when_there_is_some() {
    let scratch = Scratch::with_session();
    scratch.record("plan", "before");
    let large = "x".repeat(400_000);
    std::fs::write(scratch.place.join("large"), &large).unwrap();
    let arguments = ["--json", "record", "--type", "plan", "--content-file", "large"];
    with_little_room(&scratch, 200, &arguments).error("ERR_STORE_FAILED", 4);
    assert_eq!(scratch.json(&["check"])["records"], 1);
    assert_eq!(scratch.json(&arguments[1..])["index"], 1);
    assert_eq!(scratch.json(&["check"])["records"], 2);
}

#[test]
fn full_file_system_is_a_clear_error_and_recording_goes_on_when_there_is_room() {
    let scratch = Scratch::with_session();
    let disk = scratch.around().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mounted = scratch.command("mount").args(["-t", "tmpfs", "-o", "size=2m", "none"]).arg(&disk).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        return eprintln!("left out: a small file system cannot be mounted here");
    }
    // Gone again whatever happens, and before the directory around it is removed.
    let _unmount = Unmount(&disk);
    std::fs::rename(scratch.place.join(".git"), disk.join("git")).ok().unwrap_or_else(|| {
        let ran = scratch.command("cp").args(["-a", ".git"]).arg(disk.join("git")).status().unwrap();
        assert!(ran.success());
    });
    let run = |arguments: &[&str]| -> Ran {
        scratch.proof(["--json"]).args(arguments).env("GIT_DIR", disk.join("git")).output().unwrap().into()
    };
    let text = "x".repeat(100_000);
    let arguments = ["record", "--type", "plan", "--content", &text];
    std::fs::write(disk.join("ballast"), vec![0; 1 << 20]).unwrap();
    let mut recorded = 0;
    let refused = loop {
        let ran = run(&arguments);
        if ran.exit != Some(0) {
            break ran;
        }
        recorded += 1;
        assert!(recorded < 100, "two megabytes hold no hundred of these");
    };
    let error = refused.error("ERR_STORE_FAILED", 4);
    assert!(error["message"].as_str().unwrap().contains("no room"), "{error}");
    std::fs::remove_file(disk.join("ballast")).unwrap();
    assert_eq!(run(&arguments).json()["index"], recorded);
    assert_eq!(run(&["check"]).json()["records"], recorded + 1);
}

struct Unmount<'a>(&'a std::path::Path);

impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0).status(); // the test has said what there is to say
    }
}
