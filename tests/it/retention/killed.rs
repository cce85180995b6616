//! `kill -9` and a full disk at every step of `retain`, `retain --freeze` and of a restore: nothing is lost, and running it
//! again finishes the work.

use std::path::Path;
use std::process::Command;

use super::{archives, bodies, lines, sealed, zone_of};
use crate::anchoring::killed::moments;
use crate::store::scratch::{Scratch, no_strace, with_fault};

/// The calls by which something is written.
const CALLS: [&str; 10] =
    ["openat", "write", "pwrite64", "rename", "unlink", "mkdir", "fsync", "fdatasync", "ftruncate", "flock"];
const MOST_RUNS: usize = 600;

/// A copy of the repository as it was before, for one more try.
fn again(scratch: &Scratch, saved: &Path) {
    let git = scratch.place.join(".git");
    std::fs::remove_dir_all(&git).unwrap();
    assert!(scratch.command("cp").arg("-a").args([saved, &git]).status().unwrap().success());
}

fn save(scratch: &Scratch) -> std::path::PathBuf {
    let saved = scratch.around().join("saved");
    assert!(scratch.command("cp").arg("-a").arg(scratch.place.join(".git")).arg(&saved).status().unwrap().success());
    saved
}

/// Does something to each call of each kind, once, in a fresh copy each time. `whole` must hold right after it, `done`
/// after one more run.
fn at_each_call(
    scratch: &Scratch,
    (fault, calls): (&str, &[&str]),
    arguments: &[&str],
    whole: impl Fn(&str),
    done: impl Fn(&str),
) {
    let saved = save(scratch);
    let mut runs = 0;
    for call in calls {
        // Before a program comes to its own work it opens libraries; where those are not there is nothing of ours to see.
        for nth in moments() {
            again(scratch, &saved);
            let what = format!("{fault} at {call} {nth}");
            let mut strace = scratch.command("strace");
            strace.arg("-f").env("GIT_PROOF_PATIENCE", "500");
            let (ran, hit) = with_fault(scratch, &mut strace, (fault, call, nth), arguments);
            runs += 1;
            assert!(runs < MOST_RUNS, "more calls of {call} than expected");
            assert_ne!(ran.exit, Some(101), "{what}: {ran:?}");
            if !hit {
                assert_eq!(ran.exit, Some(0), "{what}: {ran:?}");
                break;
            }
            whole(&what);
            scratch.json(&arguments[1..]);
            done(&what);
        }
    }
    assert!(runs > 2 * calls.len(), "faults did not come about");
    eprintln!("{runs} runs with {fault}");
}

/// A repository whose one session is sealed, and what its lines are.
fn to_be_moved() -> (Scratch, Vec<Option<String>>) {
    let scratch = sealed(&["one"]);
    scratch.json(&["search", "needle"]);
    scratch.git(["config", "proof.warmRounds", "0"]);
    let whole = lines(&scratch, "one");
    (scratch, whole)
}

/// That every text is in the store, or in the archive that the store names; and that the rest holds as ever. It is looked at
/// in a copy, for to read is to restore.
fn assert_whole(scratch: &Scratch, whole: &[Option<String>], what: &str) {
    let (git, kept) = (scratch.place.join(".git"), scratch.around().join("kept"));
    let _ = std::fs::remove_dir_all(&kept); // the first time there is none
    assert!(scratch.command("cp").arg("-a").args([&git, &kept]).status().unwrap().success());
    let check = scratch.run(["--json", "check", "--session", "one"]);
    assert_eq!(check.exit, Some(0), "{what}: {check:?}");
    let log = scratch.run(["--json", "log", "--session", "one"]);
    assert_eq!(log.exit, Some(0), "{what}: {log:?}");
    assert_eq!(lines(scratch, "one"), whole, "{what}");
    again(scratch, &kept);
}

#[track_caller]
fn assert_cold(scratch: &Scratch, what: &str) {
    assert_eq!((zone_of(scratch, "one").as_str(), bodies(scratch, "one")), ("cold", 1), "{what}");
    assert_eq!(scratch.json(&["check", "--session", "one"])["archived"], 4, "{what}");
    // Nothing unfinished is left lying about.
    let files = archives(scratch);
    assert!(files.len() == 1 && files[0].to_str().unwrap().ends_with(".jsonl.zst"), "{what}: {files:?}");
    let unsettled = "SELECT count(*) FROM zones WHERE settled = 0";
    assert_eq!(scratch.database().query_row(unsettled, [], |row| row.get::<_, i64>(0)).unwrap(), 0, "{what}");
}

fn retain_with(fault: &str, calls: &[&str]) {
    let (scratch, whole) = to_be_moved();
    if no_strace(&scratch) {
        return;
    }
    at_each_call(
        &scratch,
        (fault, calls),
        &["--json", "retain"],
        |what| assert_whole(&scratch, &whole, what),
        |what| assert_cold(&scratch, what),
    );
}

#[test]
fn retain_that_is_killed_at_any_call_loses_nothing_and_is_finished_by_the_next() {
    retain_with("signal=KILL", &CALLS);
}

#[test]
fn retain_on_a_disk_that_is_full_at_any_call_loses_nothing_and_is_finished_by_the_next() {
    retain_with("error=ENOSPC", &["openat", "write", "pwrite64", "rename", "mkdir", "fsync", "fdatasync", "ftruncate"]);
}

fn restore_with(fault: &str, calls: &[&str]) {
    let (scratch, whole) = to_be_moved();
    if no_strace(&scratch) {
        return;
    }
    scratch.json(&["retain"]);
    at_each_call(
        &scratch,
        (fault, calls),
        &["--json", "log", "--session", "one"],
        |what| {
            // The last text and the zone come back together: `retain` moves out only what was never read.
            let back = bodies(&scratch, "one") == i64::try_from(whole.len()).unwrap();
            assert_eq!(zone_of(&scratch, "one"), if back { "warm" } else { "cold" }, "{what}");
            assert_whole(&scratch, &whole, what);
        },
        |what| {
            assert_eq!(
                (zone_of(&scratch, "one"), lines(&scratch, "one")),
                ("warm".to_owned(), whole.clone()),
                "{what}"
            );
        },
    );
}

#[test]
fn restore_that_is_killed_at_any_write_loses_nothing_and_is_finished_by_the_next() {
    restore_with("signal=KILL", &["pwrite64", "fsync", "fdatasync", "ftruncate"]);
}

#[test]
fn restore_on_a_disk_that_is_full_at_any_write_loses_nothing_and_is_finished_by_the_next() {
    restore_with("error=ENOSPC", &["pwrite64", "fsync", "fdatasync", "ftruncate"]);
}

#[test]
fn restore_that_was_killed_half_way_is_moved_out_again_by_retain() {
    let (scratch, whole) = to_be_moved();
    scratch.json(&["retain"]);
    let database = scratch.database();
    database.execute("UPDATE zones SET settled = 0", []).unwrap();
    database.execute("UPDATE thought_records SET line = ?1 WHERE position = 0", [&whole[0]]).unwrap();
    drop(database);
    let retained = scratch.json(&["retain"]);
    assert_eq!((retained["resumed"].as_u64(), retained["moved"].as_u64()), (Some(1), Some(0)), "{retained}");
    assert_cold(&scratch, "half way");
}

#[test]
fn freeze_that_is_killed_at_any_write_is_finished_by_the_next() {
    let (scratch, _) = to_be_moved();
    if no_strace(&scratch) {
        return;
    }
    scratch.json(&["retain"]);
    at_each_call(
        &scratch,
        ("signal=KILL", &["write", "pwrite64", "unlink", "fsync", "fdatasync", "ftruncate"]),
        &["--json", "retain", "--yes", "--freeze", "one"],
        |what| {
            // Whatever is left of the texts, what proves the session is there.
            let check = scratch.run(["--json", "check", "--session", "one"]);
            assert_eq!(check.exit, Some(0), "{what}: {check:?}");
        },
        |what| {
            assert_eq!((zone_of(&scratch, "one").as_str(), bodies(&scratch, "one")), ("frozen", 1), "{what}");
            assert_eq!(archives(&scratch), Vec::<std::path::PathBuf>::new(), "{what}");
        },
    );
}

#[test]
fn half_written_archives_are_swept_unless_someone_writes_them() {
    let (scratch, _) = to_be_moved();
    let folder = scratch.place.join(".git/proof/archive");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("writing-dead"), "half").unwrap();
    let alive = std::fs::File::create(folder.join("writing-alive")).unwrap();
    alive.lock().unwrap();
    scratch.json(&["retain"]);
    assert!(!folder.join("writing-dead").exists());
    assert!(folder.join("writing-alive").exists());
}

#[test]
fn full_file_system_loses_nothing_and_retain_goes_on_when_there_is_room() {
    let scratch = Scratch::new();
    let disk = scratch.around().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mounted = scratch.command("mount").args(["-t", "tmpfs", "-o", "size=64k", "none"]).arg(&disk).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        return eprintln!("left out: a small file system cannot be mounted here");
    }
    let _unmount = Unmount(&disk);
    super::anchored(&scratch, "small");
    scratch.start("one", &["--not-proof-grade"]);
    // What cannot be compressed: digits of hashes, far more than there is room for.
    let mut text = String::new();
    for number in 0..6000u32 {
        text.push_str(&crate::store::independent::hex(&crate::store::independent::sha256(&number.to_be_bytes())));
    }
    std::fs::write(scratch.place.join("long"), &text).unwrap();
    scratch.json(&["record", "--type", "plan", "--content-file", "long"]);
    scratch.json(&["cover", "HEAD", "--session", "one"]);
    scratch.json(&["finalize"]);
    scratch.json(&["seal"]);
    scratch.git(["config", "proof.warmRounds", "0"]);
    scratch.git(["config", "proof.archive", disk.to_str().unwrap()]);
    let whole = lines(&scratch, "one");
    let error = scratch.refused(&["retain"], "ERR_STORE_FAILED", 4);
    assert!(error["message"].as_str().unwrap().contains("no archive could be written"), "{error}");
    assert_eq!((zone_of(&scratch, "one"), lines(&scratch, "one")), (String::new(), whole.clone()));
    scratch.git(["config", "--unset", "proof.archive"]);
    scratch.json(&["retain"]);
    // What the session attests of its commit stays.
    assert_eq!((zone_of(&scratch, "one").as_str(), bodies(&scratch, "one")), ("cold", 1));
    scratch.json(&["log", "--session", "one"]);
    assert_eq!(lines(&scratch, "one"), whole);
}

struct Unmount<'a>(&'a Path);

impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0).status(); // the test has said what there is to say
    }
}
