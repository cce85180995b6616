//! What is anchored stays: through clean-ups and repacking, when it is done twice, and in the order in which it is written.

use super::clones::{CHANGES, Clone, EVIDENCE, NOTES, two_clones};
use crate::store::scratch::{Scratch, text};

#[test]
fn clean_up_of_git_keeps_all_that_was_proven() {
    let scratch = Scratch::new();
    let repo = Clone::of(&scratch);
    let commits = [repo.explain("first"), repo.explain("second")];
    let before = (repo.notes(), repo.evidence());
    repo.git(&["gc", "--quiet", "--prune=now"]);
    repo.git(&["prune", "--expire=now"]);
    assert_eq!((repo.notes(), repo.evidence()), before);
    for commit in &commits {
        repo.passes(commit);
    }
    repo.is_whole();
}

#[test]
fn commits_of_a_deleted_branch_can_still_be_checked_on_the_remote() {
    let scratch = Scratch::without_repository();
    let (remote, one, _) = two_clones(&scratch);
    one.git(&["checkout", "--quiet", "-b", "topic"]);
    let commit = one.explain("first");
    one.git(&["push", "--quiet", "origin", "topic"]);
    one.json(&["sync"]);
    remote.git(&["branch", "--quiet", "-D", "topic"]);
    remote.git(&["gc", "--quiet", "--prune=now"]);
    remote.passes(&commit);
}

#[test]
fn packed_refs_and_objects_make_no_difference() {
    let scratch = Scratch::new();
    let repo = Clone::of(&scratch);
    let first = repo.explain("first");
    repo.git(&["pack-refs", "--all"]);
    repo.git(&["repack", "-a", "-d", "--quiet"]);
    assert!(!repo.path.join(".git").join(NOTES).exists(), "the refs are not packed");
    repo.passes(&first);
    let moved = (repo.tip(NOTES), repo.tip(EVIDENCE));
    assert_eq!(repo.anchor("first", &first)["anchors"][0]["created"], false);
    assert_eq!((repo.tip(NOTES), repo.tip(EVIDENCE)), moved);
    let second = repo.explain("second");
    repo.passes(&second);
    repo.has_one_line_each([&first, &second]);
    repo.is_whole();
}

#[test]
fn anchoring_twice_adds_nothing() {
    let scratch = Scratch::new();
    let repo = Clone::of(&scratch);
    let commit = repo.explain("first");
    let before = (repo.tip(NOTES), repo.tip(EVIDENCE), repo.notes());
    let again = repo.json(&["anchor"]);
    assert_eq!((&again["anchors"][0]["created"], &again["restored"]), (&false.into(), &0.into()), "{again}");
    repo.anchor("first", &commit);
    assert_eq!((repo.tip(NOTES), repo.tip(EVIDENCE), repo.notes()), before);
}

#[test]
fn syncing_twice_moves_nothing_and_says_so() {
    let scratch = Scratch::without_repository();
    let (remote, one, _) = two_clones(&scratch);
    one.explain("first");
    one.json(&["sync"]);
    let tips = |repo: &Clone<'_>| [NOTES, EVIDENCE, CHANGES].map(|name| repo.tip(name));
    let before = (tips(&one), tips(&remote));
    let again = one.json(&["sync"]);
    assert_eq!(
        (again["fetched"].as_array().map(Vec::len), again["pushed"].as_array().map(Vec::len)),
        (Some(0), Some(0))
    );
    assert_eq!((tips(&one), tips(&remote)), before);
    let said = one.run(&["sync"]);
    assert_eq!(said.text().matches("nothing").count(), 2, "{said:?}");
}

#[test]
fn evidence_that_cannot_be_written_leaves_no_note() {
    let scratch = Scratch::new();
    let repo = Clone::of(&scratch);
    let commit = repo.commits(1).remove(0);
    repo.session("s");
    let lock = repo.path.join(".git/refs/proof/evidence.lock");
    std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
    std::fs::write(&lock, "").unwrap();
    let mut command = repo.proof(&["--json", "anchor", "--session", "s", "--commit", &commit]);
    let ran: crate::store::scratch::Ran = command.env("GIT_PROOF_PATIENCE", "50").output().unwrap().into();
    ran.error("ERR_REPOSITORY_FAILED", 4);
    assert_eq!((repo.tip(NOTES), scratch.rows("anchors")), (None, 0));
    std::fs::remove_file(&lock).unwrap();
    repo.anchor("s", &commit);
    repo.has_one_line_each([&commit]);
}

#[test]
fn lock_that_a_killed_process_left_is_named_by_the_error() {
    let scratch = Scratch::without_repository();
    let kinds = [("files", format!(".git/{NOTES}.lock")), ("reftable", ".git/reftable/tables.list.lock".to_owned())];
    for (kind, lock) in kinds {
        let path = scratch.around().join(kind);
        let format = format!("--ref-format={kind}");
        if !scratch
            .command("git")
            .args(["init", "--quiet", "-b", "main", &format])
            .arg(&path)
            .status()
            .unwrap()
            .success()
        {
            return eprintln!("left out: this git cannot choose how refs are stored");
        }
        let repo = Clone::at(&scratch, kind);
        let commits = repo.commits(2);
        repo.session("s");
        repo.anchor("s", &commits[0]);
        let lock = repo.path.join(lock);
        std::fs::write(&lock, "").unwrap();
        let mut command = repo.proof(&["--json", "anchor", "--session", "s", "--commit", &commits[1]]);
        let ran: crate::store::scratch::Ran = command.env("GIT_PROOF_PATIENCE", "50").output().unwrap().into();
        let error = ran.error("ERR_REPOSITORY_FAILED", 4);
        let real = std::fs::canonicalize(&lock).unwrap();
        assert!(text(&error, "hint").contains(real.to_str().unwrap()), "{error}");
        std::fs::remove_file(&lock).unwrap();
        repo.anchor("s", &commits[1]);
        repo.has_one_line_each(&commits);
    }
}
