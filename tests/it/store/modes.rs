//! Who may read the store: its owner alone, whatever the umask; and those with whom git shares the repository.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::scratch::{Ran, Scratch};

/// Every path in the store's directory, itself included, with its mode. Directories end in a slash.
fn modes(scratch: &Scratch) -> BTreeMap<String, u32> {
    let proof = scratch.place.join(".git/proof");
    let mut found = BTreeMap::new();
    let mut left = vec![proof.clone()];
    while let Some(path) = left.pop() {
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        let name = path.strip_prefix(&proof).unwrap().to_str().unwrap().to_owned();
        if metadata.is_dir() {
            left.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            found.insert(format!("{name}/"), metadata.mode() & 0o7777);
        } else {
            found.insert(name, metadata.mode() & 0o7777);
        }
    }
    found
}

#[track_caller]
fn assert_modes(scratch: &Scratch, directory: u32, file: u32) {
    for (name, mode) in modes(scratch) {
        let expected = if name.ends_with('/') { directory } else { file };
        assert_eq!(format!("{mode:o}"), format!("{expected:o}"), "{name}");
    }
}

/// Runs the commands of a shell script under a umask; `proof` is the program under test.
#[track_caller]
fn under(scratch: &Scratch, umask: &str, script: &str) {
    let program = env!("CARGO_BIN_EXE_git-proof");
    let script = format!("set -e; umask {umask}; proof() {{ '{program}' \"$@\" > /dev/null; }}; {script}");
    let ran: Ran = scratch.command("sh").args(["-c", &script]).output().unwrap().into();
    assert_eq!(ran.exit, Some(0), "{}{}", ran.out, ran.err);
}

/// Leaves every kind of file that there is beside a store: the store, its log, marks, archives and locks.
const EVERYTHING: &str = "
    proof start --intent x --session-id first; proof record --type plan --content x --private
    git commit --quiet --allow-empty --message first; proof hook post-commit
    proof record --type reflection --content done; proof finalize
    proof seal; git config proof.warmRounds 0; proof retain
    echo x > file; git add file
    proof start --intent x --session-id second; proof record --type reflection --content done; proof finalize
    echo message > message; GIT_AUTHOR_DATE='1700000000 +0000' proof hook commit-msg message
    proof import --from-refs";

const KINDS: [&str; 10] = [
    "active",
    "evidence.db",
    "import.lock",
    "next",
    "pending/",
    "retain.lock",
    "rounds.lock",
    "store.db",
    "store.db-shm",
    "store.db-wal",
];

#[test]
fn store_is_for_its_owner_alone_whatever_the_umask() {
    for umask in ["000", "022", "077", "0277"] {
        let scratch = Scratch::new();
        under(&scratch, umask, EVERYTHING);
        assert_modes(&scratch, 0o700, 0o600);
        let found = modes(&scratch);
        for kind in KINDS {
            assert!(found.contains_key(kind), "{kind} is not there: {found:?}");
        }
        assert!(found.keys().any(|name| name.ends_with(".jsonl.zst")), "no archive: {found:?}");
        assert!(found.keys().any(|name| name.starts_with("pending/2")), "nothing pending: {found:?}");
    }
}

#[test]
fn store_is_shared_as_git_shares_the_repository() {
    for (setting, directory, file) in [
        ("umask", 0o700, 0o600),
        ("false", 0o700, 0o600),
        ("0", 0o700, 0o600),
        ("group", 0o2770, 0o660),
        ("true", 0o2770, 0o660),
        ("1", 0o2770, 0o660),
        ("0660", 0o2770, 0o660),
        ("0640", 0o2750, 0o640),
        ("all", 0o2775, 0o664),
        ("world", 0o2775, 0o664),
        ("everybody", 0o2775, 0o664),
        ("2", 0o2775, 0o664),
        ("0644", 0o2755, 0o644),
    ] {
        for umask in ["000", "022", "077"] {
            let scratch = Scratch::new();
            scratch.git(["config", "core.sharedRepository", setting]);
            under(&scratch, umask, EVERYTHING);
            assert_modes(&scratch, directory, file);
        }
    }
}

#[test]
fn what_we_write_into_a_shared_repository_has_the_modes_that_git_gives() {
    for setting in ["group", "all", "0660", "0640"] {
        for umask in ["022", "077"] {
            let scratch = Scratch::without_repository();
            let shared = format!("umask {umask}; git init --quiet --initial-branch=main --shared={setting}");
            assert!(scratch.command("sh").args(["-c", &shared]).status().unwrap().success());
            under(&scratch, umask, "git commit --quiet --allow-empty --message first; git update-ref refs/of/git HEAD");
            under(
                &scratch,
                umask,
                "proof start --intent x; proof hook post-commit; proof record --type reflection --content done; \
                 proof finalize",
            );
            let mode = |path: &str| {
                format!("{:o}", std::fs::metadata(scratch.place.join(".git").join(path)).unwrap().mode() & 0o7777)
            };
            assert_eq!(mode("refs/notes"), mode("refs/of"), "{setting} {umask}");
            assert_eq!(mode("refs/proof"), mode("refs/of"), "{setting} {umask}");
            assert_eq!(mode("refs/proof/evidence"), mode("refs/of/git"), "{setting} {umask}");
            let evidence = scratch.git(["rev-parse", "refs/proof/evidence"]);
            let folder = format!("objects/{}", &evidence[..2]);
            assert_eq!(mode(&folder), mode("objects/info"), "{setting} {umask}");
        }
    }
}

/// A copy of the program that every user can run. It is made by another process: a child that another test starts would
/// otherwise hold the copy open for writing, and then nobody can run it.
pub(crate) fn copied_program(scratch: &Scratch) -> PathBuf {
    let program = scratch.around().join("git-proof");
    assert!(scratch.command("cp").arg(env!("CARGO_BIN_EXE_git-proof")).arg(&program).status().unwrap().success());
    program
}

/// Runs a program as another user of a group, with an ordinary umask.
pub(crate) fn as_user(scratch: &Scratch, user: &str, group: &str, program: &str, arguments: &[&str]) -> Ran {
    let mut command = scratch.command("sh");
    command.args(["-c", "umask 022; exec setpriv --reuid \"$0\" --regid \"$0\" --groups \"$@\"", user, group, program]);
    command.args(arguments).output().unwrap().into()
}

#[test]
fn two_users_of_one_group_record_and_anchor_in_a_shared_repository() {
    let (ada, ben, group) = ("12345", "12346", "12399");
    let scratch = Scratch::without_repository();
    let ran = |command: &mut Command| command.output().unwrap().status.success();
    // The home must be readable for both; only root can act for two users.
    let home = scratch.around().to_owned();
    if !ran(scratch.command("chown").args([ada, scratch.place.to_str().unwrap()]))
        || !ran(scratch.command("chgrp").args([group, scratch.place.to_str().unwrap()]))
    {
        // Only root can act for two users. Anyone can see whether the modes would let them in.
        let scratch = Scratch::new();
        scratch.git(["config", "core.sharedRepository", "group"]);
        under(&scratch, "077", EVERYTHING);
        return assert_modes(&scratch, 0o2770, 0o660);
    }
    assert!(ran(scratch.command("chmod").arg("755").arg(&home)));
    assert!(ran(scratch.command("chmod").arg("2775").arg(&scratch.place)));
    let trusting = home.join("home/trusting");
    std::fs::write(&trusting, "[safe]\n\tdirectory = *\n").unwrap();
    std::fs::set_permissions(&trusting, std::fs::Permissions::from_mode(0o644)).unwrap();
    std::fs::set_permissions(home.join("home"), std::fs::Permissions::from_mode(0o777)).unwrap();
    let program = copied_program(&scratch);
    let trusted = |user: &str, program: &str, arguments: &[&str]| -> Ran {
        let mut all = vec!["GIT_CONFIG_GLOBAL=".to_owned() + trusting.to_str().unwrap(), program.to_owned()];
        all.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        as_user(&scratch, user, group, "env", &all)
    };
    let git = |user: &str, arguments: &[&str]| trusted(user, "git", arguments).text().to_owned();
    let proof = |user: &str, arguments: &[&str]| {
        trusted(user, program.to_str().unwrap(), &[&["--json"], arguments].concat()).json()
    };
    git(ada, &["init", "--quiet", "--initial-branch=main", "--shared=group"]);
    for (session, opens, closes) in [("one", ada, ben), ("two", ben, ada), ("three", ada, ada), ("four", ben, ben)] {
        proof(opens, &["start", "--intent", "x", "--session-id", session]);
        // Not by `git commit`, whose own files beside the index git does not share.
        let tree = git(closes, &["write-tree"]);
        let commit = git(closes, &["commit-tree", tree.trim_end(), "-m", session]);
        git(closes, &["update-ref", "HEAD", commit.trim_end()]);
        proof(closes, &["record", "--type", "plan", "--content", "x", "--private"]);
        proof(closes, &["cover", "HEAD"]);
        proof(opens, &["record", "--type", "reflection", "--content", "done"]);
        proof(closes, &["finalize"]);
        proof(opens, &["anchor", "--commit", "HEAD"]);
        proof(closes, &["seal"]);
        // One moves the texts out, the other reads them back.
        git(opens, &["config", "proof.warmRounds", "0"]);
        let moved = proof(opens, &["retain"])["moved"].as_u64();
        assert!(moved.is_some_and(|moved| moved > 0), "{moved:?}");
        let log = proof(closes, &["log", "--session", session]);
        assert_eq!(log["entries"][0]["content"], "x", "{log}");
        assert_eq!(proof(closes, &["retain"])["problems"], serde_json::json!([]));
        assert_eq!(proof(opens, &["log", "--session", session])["entries"][0]["content"], "x");
        // What waits for a commit of one is found by the other.
        let message = home.join(format!("message-{session}"));
        std::fs::write(&message, "message\n").unwrap();
        std::fs::set_permissions(&message, std::fs::Permissions::from_mode(0o666)).unwrap();
        proof(opens, &["start", "--intent", "x", "--session-id", &format!("{session}-pending")]);
        trusted(opens, program.to_str().unwrap(), &["hook", "commit-msg", message.to_str().unwrap()]).text();
        trusted(closes, program.to_str().unwrap(), &["hook", "post-commit"]).text();
        proof(closes, &["record", "--type", "reflection", "--content", "done"]);
        proof(opens, &["finalize"]);
        // Backups belong to whoever writes them; imports are shared.
        let backup = home.join(format!("home/backup-{session}"));
        proof(opens, &["backup", backup.to_str().unwrap()]);
        proof(opens, &["import", backup.to_str().unwrap()]);
        let foreign = trusted(closes, program.to_str().unwrap(), &["--json", "import", backup.to_str().unwrap()]);
        assert_eq!(foreign.exit, Some(if opens == closes { 0 } else { 3 }), "{foreign:?}");
        proof(opens, &["import", "--from-refs"]);
        proof(closes, &["import", "--from-refs"]);
        proof(closes, &["search", "done"]);
    }
}

/// Makes the store readable for all, as the first version did.
fn expose(scratch: &Scratch) {
    for name in modes(scratch).keys() {
        let mode = if name.ends_with('/') { 0o755 } else { 0o644 };
        let path = scratch.place.join(".git/proof").join(name.trim_start_matches('/'));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
}

fn store_check(scratch: &Scratch) -> serde_json::Value {
    let ran = scratch.run(["--json", "doctor"]);
    let outcome: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let checks = outcome["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == "store").unwrap().clone()
}

#[test]
fn doctor_reports_a_store_that_others_can_read_and_init_repairs_it() {
    let scratch = Scratch::new();
    under(&scratch, "022", EVERYTHING);
    scratch.json(&["init"]);
    assert_eq!(store_check(&scratch)["state"], "ok");
    expose(&scratch);
    let before = modes(&scratch);
    let check = store_check(&scratch);
    assert_eq!((check["state"].as_str(), check["hint"].as_str()), (Some("wrong"), Some("git proof init")), "{check}");
    assert_eq!(scratch.json(&["init", "--dry-run"])["store"]["action"], "updated");
    assert_eq!(modes(&scratch), before);
    assert_eq!(scratch.json(&["init"])["store"]["action"], "updated");
    assert_modes(&scratch, 0o700, 0o600);
    assert_eq!(store_check(&scratch)["state"], "ok");
    assert_eq!(scratch.json(&["init"])["store"]["action"], "unchanged");
}

#[test]
fn init_shares_a_store_once_the_repository_is_shared_and_closes_it_again() {
    let scratch = Scratch::new();
    under(&scratch, "022", EVERYTHING);
    scratch.git(["config", "core.sharedRepository", "group"]);
    assert_eq!(store_check(&scratch)["state"], "stale");
    scratch.json(&["init"]);
    assert_modes(&scratch, 0o2770, 0o660);
    scratch.git(["config", "--unset", "core.sharedRepository"]);
    assert_eq!(store_check(&scratch)["state"], "wrong");
    scratch.json(&["init"]);
    assert_modes(&scratch, 0o700, 0o600);
}

#[test]
fn repair_follows_no_link_out_of_the_directory() {
    let scratch = Scratch::with_session();
    let outside = scratch.around().join("outside");
    std::fs::write(&outside, "of someone else").unwrap();
    std::fs::set_permissions(&outside, std::fs::Permissions::from_mode(0o644)).unwrap();
    std::os::unix::fs::symlink(&outside, scratch.place.join(".git/proof/link")).unwrap();
    scratch.json(&["init"]);
    assert_eq!(std::fs::metadata(&outside).unwrap().mode() & 0o777, 0o644);
}

#[test]
fn archives_elsewhere_are_for_their_owner_alone() {
    let scratch = Scratch::new();
    let archive = scratch.around().join("archives/of/mine");
    scratch.git(["config", "proof.archive", archive.to_str().unwrap()]);
    under(&scratch, "022", EVERYTHING);
    let mut files = 0;
    let mut left: Vec<PathBuf> = vec![archive];
    while let Some(path) = left.pop() {
        let metadata = std::fs::metadata(&path).unwrap();
        if metadata.is_dir() {
            assert_eq!(metadata.mode() & 0o7777, 0o700, "{}", path.display());
            left.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            assert_eq!(metadata.mode() & 0o7777, 0o600, "{}", path.display());
            files += 1;
        }
    }
    assert_eq!(files, 1);
}

#[test]
fn store_that_root_makes_in_the_repository_of_a_user_is_of_that_user() {
    let scratch = Scratch::new();
    let stranger = "12345";
    let given = scratch.command("chown").args(["-R", stranger]).arg(&scratch.place).output().unwrap();
    if !given.status.success() {
        return eprintln!("left out: only root can give a repository to someone else");
    }
    let owner = |path: &Path| std::fs::metadata(path).unwrap().uid();
    let mut command = scratch.proof(["start", "--intent", "x"]);
    assert!(command.env("SUDO_UID", stranger).output().unwrap().status.success());
    let proof = scratch.place.join(".git/proof");
    for name in modes(&scratch).keys() {
        assert_eq!(owner(&proof.join(name.trim_start_matches('/'))), 12345, "{name}");
    }
}
