//! Stores that cannot be written to are read all the same: in a read-only directory, with a log that was left or without.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::modes::{as_user, copied_program};
use super::scratch::{Ran, Scratch, text};

/// A user that nobody is. Root is not kept out by modes, so it acts for this one.
const USER: &str = "12345";

/// A repository with a session, with entries that the index of the search has and one that it lacks.
fn recorded() -> (Scratch, String) {
    let scratch = Scratch::with_session();
    let operations: Vec<String> = (0..70).map(|number| format!("step {number}")).collect();
    let mut arguments = vec!["attest"];
    arguments.extend(operations.iter().map(String::as_str));
    scratch.json(&arguments);
    let last = scratch.record("decision", "the last needle");
    std::fs::set_permissions(scratch.around(), std::fs::Permissions::from_mode(0o755)).unwrap();
    (scratch, text(&last, "id").to_owned())
}

/// Lets the directory be removed again.
struct Unseal<'a>(&'a Path);

impl Drop for Unseal<'_> {
    fn drop(&mut self) {
        let _ = std::process::Command::new("chmod").args(["-R", "u+w"]).arg(self.0).status();
    }
}

/// Takes the right to write to the store from everyone. The answer runs commands as a user who owns it: root would not
/// be kept out by modes, so it acts for another one.
fn sealed(scratch: &Scratch) -> impl Fn(&[&str]) -> Ran {
    let unseal = Unseal(&scratch.place);
    let root = scratch.command("chown").args(["-R", USER]).arg(&scratch.place).output().unwrap().status.success();
    let proof = scratch.place.join(".git/proof");
    assert!(scratch.command("chmod").args(["-R", "a-w"]).arg(proof).status().unwrap().success());
    let program = copied_program(scratch);
    move |arguments| {
        let _ = &unseal;
        let arguments = [&["--json"], arguments].concat();
        if root { as_user(scratch, USER, USER, program.to_str().unwrap(), &arguments) } else { scratch.run(arguments) }
    }
}

#[track_caller]
fn everything_can_be_read(scratch: &Scratch, last: &str) {
    let run = sealed(scratch);
    for arguments in [
        &["log"][..],
        &["log", "--all"],
        &["show", last],
        &["tree"],
        &["trail", last],
        &["check"],
        &["prove", "--record", last],
    ] {
        let ran = run(arguments);
        assert_eq!(ran.exit, Some(0), "{arguments:?}: {ran:?}");
    }
    assert_eq!(run(&["check"]).json()["records"], 71);
    let found = run(&["search", "needle"]).json();
    assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(run(&["search", "step", "-n", "100"]).json()["hits"].as_array().unwrap().len(), 70);
    let refused = run(&["attest", "x"]).error("ERR_STORE_FAILED", 4);
    assert!(text(&refused, "message").contains("writing"), "{refused}");
    assert_eq!(run(&["check"]).json()["records"], 71);
}

#[test]
fn store_in_a_read_only_directory_is_read() {
    let (scratch, last) = recorded();
    assert!(scratch.place.join(".git/proof/store.db-shm").exists());
    everything_can_be_read(&scratch, &last);
}

#[test]
fn log_that_was_left_without_its_index_is_read_too() {
    let (scratch, last) = recorded();
    std::fs::remove_file(scratch.place.join(".git/proof/store.db-shm")).unwrap();
    assert!(std::fs::metadata(scratch.place.join(".git/proof/store.db-wal")).unwrap().len() > 0);
    everything_can_be_read(&scratch, &last);
}

#[test]
fn store_without_a_log_is_read() {
    let (scratch, last) = recorded();
    scratch.database().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    for name in ["store.db-wal", "store.db-shm"] {
        let _ = std::fs::remove_file(scratch.place.join(".git/proof").join(name));
    }
    everything_can_be_read(&scratch, &last);
}

#[test]
fn finalized_session_of_a_read_only_store_has_its_root() {
    let (scratch, last) = recorded();
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
    std::fs::set_permissions(scratch.around().join("home"), std::fs::Permissions::from_mode(0o777)).unwrap();
    let run = sealed(&scratch);
    assert_eq!(run(&["root"]).json()["record_count"], 72, "{last}");
    // A copy is as good as the store itself.
    let backup = scratch.around().join("home/backup");
    assert_eq!(run(&["backup", backup.to_str().unwrap()]).json()["records"], 72);
}

#[test]
fn cold_session_of_a_read_only_store_is_read_from_its_archive() {
    let scratch = crate::retention::with_cold(&["one", "two"]);
    std::fs::set_permissions(scratch.around(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = sealed(&scratch);
    for _ in 0..2 {
        let log = run(&["log", "--session", "one"]).json();
        assert_eq!(text(&log["entries"][1], "content"), "a whisper of one");
        let id = text(&log["entries"][1], "id");
        assert_eq!(text(&run(&["show", id]).json(), "content"), "a whisper of one");
        let trail = run(&["trail", id]).json();
        assert_eq!(text(&trail[0], "content"), "a needle of one");
    }
}
