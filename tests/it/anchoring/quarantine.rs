//! Inside of a push: the server's hooks see what it brings, and write nothing.

use super::clones::{Clone, EVIDENCE, NOTES};
use crate::store::scratch::Scratch;

/// A remote whose pre-receive hook runs the program and keeps what it said, and a clone with a proven commit.
fn with_hook<'a>(scratch: &'a Scratch, command: &str) -> (Clone<'a>, Clone<'a>, String) {
    let remote = Clone::remote(scratch);
    let repo = remote.clone("repo", &[]);
    let commit = repo.explain("first");
    repo.json(&["sync"]);
    let program = env!("CARGO_BIN_EXE_git-proof");
    let said = scratch.around().join("said");
    let script = format!(
        "read old new name\ntest \"$name\" = refs/heads/main || exit 0\n\
         '{program}' --json {command} >'{said}' 2>&1\necho $? >'{said}.exit'\nexit 0",
        said = said.display()
    );
    remote.hook("pre-receive", &script);
    (remote, repo, commit)
}

fn said(scratch: &Scratch) -> (String, String) {
    let read = |name: &str| std::fs::read_to_string(scratch.around().join(name)).unwrap();
    (read("said"), read("said.exit").trim_end().to_owned())
}

#[test]
fn verify_in_a_hook_of_the_server_sees_what_is_being_pushed() {
    let scratch = Scratch::without_repository();
    let (remote, repo, commit) = with_hook(&scratch, "verify $new");
    repo.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    let (answer, exit) = said(&scratch);
    assert_eq!(exit, "0", "{answer}");
    assert!(answer.contains("\"verdict\":\"pass\"") && answer.contains(&commit), "{answer}");
    assert_eq!(remote.tip("main"), Some(commit));
}

#[test]
fn nothing_is_written_in_a_hook_of_the_server() {
    let scratch = Scratch::without_repository();
    let (remote, repo, _) = with_hook(&scratch, "anchor --session there --commit $new");
    remote.json(&["start", "--intent", "x", "--session-id", "there", "--not-proof-grade"]);
    remote.json(&["attest", "x"]);
    remote.json(&["finalize"]);
    let before = (remote.tip(NOTES), remote.tip(EVIDENCE));
    repo.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    let (answer, exit) = said(&scratch);
    assert_eq!(exit, "3", "{answer}");
    assert!(answer.contains("ERR_REPOSITORY_REFUSED"), "{answer}");
    assert_eq!((remote.tip(NOTES), remote.tip(EVIDENCE)), before);
    assert_eq!(scratch_rows(&remote), 0);
}

#[test]
fn sync_is_refused_in_a_hook_of_the_server() {
    let scratch = Scratch::without_repository();
    let (remote, repo, _) = with_hook(&scratch, "sync '../repo'");
    let before = (remote.tip(NOTES), remote.tip(EVIDENCE));
    repo.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    let (answer, exit) = said(&scratch);
    assert_eq!(exit, "3", "{answer}");
    assert_eq!((remote.tip(NOTES), remote.tip(EVIDENCE)), before);
}

/// The lines that the store of a bare repository remembers.
fn scratch_rows(remote: &Clone<'_>) -> i64 {
    let store = rusqlite::Connection::open(remote.path.join("proof/store.db")).unwrap();
    store.query_row("SELECT count(*) FROM anchors", [], |row| row.get(0)).unwrap()
}
