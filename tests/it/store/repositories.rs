//! The kinds of repositories, the places in them, and what is wrong with some.

use std::path::Path;

use super::scratch::{Ran, Scratch, text};

fn run_in(scratch: &Scratch, directory: &Path, arguments: &[&str]) -> Ran {
    scratch.proof(["--json"]).args(arguments).current_dir(directory).output().unwrap().into()
}

fn commit(scratch: &Scratch) {
    scratch.git(["commit", "--quiet", "--allow-empty", "--message", "first"]);
}

#[test]
fn outside_a_repository_says_what_to_do() {
    let scratch = Scratch::without_repository();
    for arguments in [&["start", "--intent", "x"][..], &["log"], &["check", "--session", "s"]] {
        let error = scratch.refused(arguments, "ERR_NO_REPOSITORY", 3);
        assert!(text(&error, "hint").contains("git init"));
    }
}

#[test]
fn repository_without_a_store_says_what_to_do() {
    let scratch = Scratch::new();
    let error = scratch.refused(&["log"], "ERR_NO_STORE", 3);
    assert!(text(&error, "hint").contains("git proof start"));
    assert!(!scratch.store().exists());
}

#[test]
fn store_lies_in_the_git_directory_and_leaves_the_worktree_clean() {
    let scratch = Scratch::with_session();
    assert!(scratch.store().is_file());
    assert_eq!(scratch.git(["status", "--porcelain"]), "");
}

#[test]
fn bare_repository_has_a_store() {
    let scratch = Scratch::without_repository();
    scratch.git(["init", "--quiet", "--bare"]);
    scratch.start("s", &[]);
    assert!(scratch.place.join("proof/store.db").is_file());
    let below = scratch.place.join("objects");
    assert_eq!(run_in(&scratch, &below, &["check"]).json()["session_id"], "s");
}

#[test]
fn linked_worktree_shares_the_store_and_has_its_own_current_session() {
    let scratch = Scratch::new();
    commit(&scratch);
    let linked = scratch.around().join("linked");
    scratch.git(["worktree", "add", "--quiet", linked.to_str().unwrap()]);
    scratch.start("main", &[]);
    run_in(&scratch, &linked, &["check"]).error("ERR_SESSION_NOT_FOUND", 2);
    run_in(&scratch, &linked, &["start", "--intent", "x", "--session-id", "linked"]).json();
    assert_eq!(run_in(&scratch, &linked, &["check"]).json()["session_id"], "linked");
    assert_eq!(scratch.json(&["check"])["session_id"], "main");
    assert_eq!(run_in(&scratch, &linked, &["check", "--session", "main"]).json()["session_id"], "main");
}

#[test]
fn linked_worktree_whose_repository_is_gone_is_told_so() {
    let scratch = Scratch::without_repository();
    std::fs::write(scratch.place.join(".git"), "gitdir: /nowhere/at/all\n").unwrap();
    let error = scratch.refused(&["log"], "ERR_NO_REPOSITORY", 3);
    assert!(text(&error, "hint").contains("git worktree repair"));
}

#[test]
fn submodule_has_a_store_of_its_own() {
    let scratch = Scratch::with_session();
    commit(&scratch);
    let other = scratch.around().join("other");
    scratch.git(["init", "--quiet", other.to_str().unwrap()]);
    scratch.git(["-C", other.to_str().unwrap(), "commit", "--quiet", "--allow-empty", "--message", "x"]);
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.to_str().unwrap(), "sub"];
    scratch.git(add);
    let below = scratch.place.join("sub");
    run_in(&scratch, &below, &["log"]).error("ERR_NO_STORE", 3);
    run_in(&scratch, &below, &["start", "--intent", "x", "--session-id", "inside"]).json();
    assert!(scratch.place.join(".git/modules/sub/proof/store.db").is_file());
}

#[test]
fn repository_with_sha256_objects_has_a_store() {
    let scratch = Scratch::without_repository();
    scratch.git(["init", "--quiet", "--object-format=sha256"]);
    scratch.start("s", &[]);
    assert_eq!(scratch.record("plan", "x")["index"], 0);
}

#[test]
fn repository_with_reftable_has_a_store() {
    let scratch = Scratch::without_repository();
    let made = scratch.command("git").args(["init", "--quiet", "--ref-format=reftable"]).output().unwrap();
    if !made.status.success() {
        return eprintln!("left out: this git knows no reftable");
    }
    scratch.start("s", &[]);
    assert_eq!(scratch.record("plan", "x")["index"], 0);
}

#[test]
fn git_dir_names_the_repository() {
    let scratch = Scratch::with_session();
    let outside = scratch.around().join("home");
    let ran = |git_dir: &Path| -> Ran {
        let mut command = scratch.proof(["--json", "check"]);
        command.current_dir(&outside).env("GIT_DIR", git_dir).output().unwrap().into()
    };
    assert_eq!(ran(&scratch.place.join(".git")).json()["session_id"], "s");
    assert_eq!(ran(Path::new("../place/.git")).json()["session_id"], "s");
    ran(Path::new("nowhere")).error("ERR_NO_REPOSITORY", 3);
}

#[test]
fn subdirectory_finds_the_repository_above() {
    let scratch = Scratch::with_session();
    let below = scratch.place.join("a/b/c");
    std::fs::create_dir_all(&below).unwrap();
    assert_eq!(run_in(&scratch, &below, &["check"]).json()["session_id"], "s");
}

#[test]
fn inside_the_git_directory_finds_it() {
    let scratch = Scratch::with_session();
    let below = scratch.place.join(".git/objects");
    assert_eq!(run_in(&scratch, &below, &["check"]).json()["session_id"], "s");
}

#[test]
fn symbolic_link_into_a_repository_finds_it() {
    let scratch = Scratch::with_session();
    let below = scratch.place.join("a");
    std::fs::create_dir(&below).unwrap();
    let link = scratch.around().join("link");
    std::os::unix::fs::symlink(&below, &link).unwrap();
    assert_eq!(run_in(&scratch, &link, &["check"]).json()["session_id"], "s");
}

#[test]
fn odd_paths_are_fine() {
    let scratch = Scratch::without_repository();
    for name in
        ["with space", "quote\"s and 'such'", "ünïcödé-\u{1f600}", "new\nline", "-dash", "$HOME; true", "q?x#y%20"]
    {
        let place = scratch.place.join(name);
        std::fs::create_dir(&place).unwrap();
        let made = scratch.command("git").args(["init", "--quiet"]).current_dir(&place).status().unwrap();
        assert!(made.success());
        run_in(&scratch, &place, &["start", "--intent", "x", "--session-id", "s"]).json();
        assert_eq!(run_in(&scratch, &place, &["check"]).json()["session_id"], "s", "{name:?}");
        assert!(place.join(".git/proof/store.db").is_file(), "{name:?}");
    }
}

#[test]
fn path_that_is_not_utf8_is_fine() {
    use std::os::unix::ffi::OsStrExt as _;
    let scratch = Scratch::without_repository();
    let place = scratch.place.join(std::ffi::OsStr::from_bytes(b"latin-\xe9"));
    if std::fs::create_dir(&place).is_err() {
        return eprintln!("left out: this file system takes no such name");
    }
    assert!(scratch.command("git").args(["init", "--quiet"]).current_dir(&place).status().unwrap().success());
    run_in(&scratch, &place, &["start", "--intent", "x", "--session-id", "s"]).json();
    assert_eq!(run_in(&scratch, &place, &["check"]).json()["session_id"], "s");
}

#[test]
fn dash_c_counts_from_the_one_before() {
    let scratch = Scratch::with_session();
    std::fs::create_dir_all(scratch.place.join("a/b")).unwrap();
    let around = scratch.around().to_str().unwrap();
    let here = scratch.around().join("home");
    for arguments in [
        &["-C", "../place", "check"][..],
        &["-C", "..", "-C", "place/a", "-C", "b", "check"],
        &["-C", "nowhere", "-C", around, "-C", "place", "check"],
    ] {
        assert_eq!(run_in(&scratch, &here, arguments).json()["session_id"], "s", "{arguments:?}");
    }
}

#[test]
fn dash_c_to_nowhere_is_refused() {
    let scratch = Scratch::with_session();
    scratch.refused(&["-C", "nowhere", "check"], "INVALID_PARAMS", 2);
}

#[test]
fn ceiling_is_not_passed() {
    let scratch = Scratch::with_session();
    let below = scratch.place.join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    let ran = |ceiling: &Path| -> Ran {
        let mut command = scratch.proof(["--json", "check"]);
        command.current_dir(&below).env("GIT_CEILING_DIRECTORIES", ceiling).output().unwrap().into()
    };
    ran(&scratch.place).error("ERR_NO_REPOSITORY", 3);
    ran(&scratch.place.join("a")).error("ERR_NO_REPOSITORY", 3);
    // As in git, the directory where one is may be a ceiling itself, and so may one above the repository.
    assert_eq!(ran(scratch.around()).json()["session_id"], "s");
    assert_eq!(ran(&below).json()["session_id"], "s");
}

#[test]
fn store_that_cannot_be_made_says_so() {
    let scratch = Scratch::new();
    // Permissions do not hold the superuser back; a file in the way holds everyone back.
    std::fs::write(scratch.place.join(".git/proof"), "in the way").unwrap();
    scratch.refused(&["start", "--intent", "x"], "ERR_STORE_FAILED", 4);
}

#[test]
fn git_directory_that_is_not_writable_says_so() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::new();
    let git = scratch.place.join(".git");
    let set = |mode| std::fs::set_permissions(&git, std::fs::Permissions::from_mode(mode)).unwrap();
    set(0o555);
    let holds = std::fs::write(git.join("probe"), "").is_err();
    let ran = holds.then(|| scratch.run(["--json", "start", "--intent", "x"]));
    set(0o755);
    match ran {
        Some(ran) => drop(ran.error("ERR_STORE_FAILED", 4)),
        None => eprintln!("left out: permissions do not hold this user back"),
    }
}

#[test]
fn store_that_is_a_directory_says_so() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.store()).unwrap();
    scratch.refused(&["log"], "ERR_STORE_FAILED", 4);
}

#[test]
fn store_of_random_bytes_says_so() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.place.join(".git/proof")).unwrap();
    let mut dice = super::scratch::Dice(3);
    let bytes: Vec<u8> = (0..8192).flat_map(|_| dice.roll().to_le_bytes()).collect();
    std::fs::write(scratch.store(), bytes).unwrap();
    for arguments in [&["log"][..], &["start", "--intent", "x"]] {
        let error = scratch.refused(arguments, "ERR_STORE_FAILED", 4);
        assert!(text(&error, "hint").contains("backup"));
    }
}

/// A store that has left its write-ahead log.
fn settled() -> Scratch {
    let scratch = Scratch::with_session();
    for number in 0..20 {
        scratch.record("plan", &format!("{number} {}", "x".repeat(2000)));
    }
    scratch.database().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    scratch
}

#[test]
fn truncated_store_says_so() {
    let scratch = settled();
    let whole = std::fs::read(scratch.store()).unwrap();
    for part in [1, 2, 3] {
        std::fs::write(scratch.store(), &whole[..whole.len() * part / 4]).unwrap();
        scratch.refused(&["check", "--session", "s"], "ERR_STORE_FAILED", 4);
    }
}

#[test]
fn store_with_garbage_inside_never_checks_as_whole_with_other_content() {
    let scratch = settled();
    let whole = std::fs::read(scratch.store()).unwrap();
    let head = scratch.json(&["check"])["head"].clone();
    let mut dice = super::scratch::Dice(4);
    for _ in 0..60 {
        let mut bytes = whole.clone();
        let at = usize::try_from(dice.below(whole.len() as u64 - 64)).unwrap();
        for byte in &mut bytes[at..at + 64] {
            *byte = dice.roll().to_le_bytes()[0];
        }
        for end in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", scratch.store().display())); // there may be none
        }
        std::fs::write(scratch.store(), bytes).unwrap();
        let ran = scratch.run(["--json", "check", "--session", "s"]);
        match ran.exit {
            Some(0) => assert_eq!(ran.json()["head"], head, "garbage at {at}"),
            Some(1 | 2 | 4) => assert!(ran.err.starts_with("{\"error\""), "garbage at {at}: {ran:?}"),
            _ => panic!("garbage at {at}: {ran:?}"),
        }
    }
}

#[test]
fn empty_file_in_place_of_the_store_becomes_one() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.place.join(".git/proof")).unwrap();
    std::fs::write(scratch.store(), "").unwrap();
    scratch.start("s", &[]);
    assert_eq!(scratch.json(&["check"])["records"], 0);
}
