//! What the first version made: its store, notes, evidence and seals are read, and their bytes never change.
//!
//! `tests/fixtures/first-version` was made once, by a script around the release binary of the first version:
//! `git proof init`, then one session after the other with `start`, `record`, `attest`, `git commit` and `finalize`.
//! `cold` was sealed in round 1 and archived by `retain`. `of-v1`, `of-v1-sorted`, `of-v1-rfc9162` and `of-ams-v0` have
//! one private record each. `branched` has a private record with a child, `packed` was closed by `memory pack`.
//! `whispered`, `whispered-kept` and `whispered-open` are proof-grade and end in a private reflection: the first one was
//! anchored and so published, the second was finalized without a commit, the third is open. `informal` is not
//! proof-grade. All of these were sealed in round 2, pushed and synced; `third-round` was sealed later and not synced.
//! `ended` was ended, `open` is open and has a note in its working memory.
//!
//! `repository.bundle` is `git bundle create --all`, `store.db.zst` the store after a checkpoint, `archive` its archives,
//! `roots.jsonl` what `git proof root --json` said of each finalized session.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::scratch::{Scratch, text};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/first-version").join(name)
}

/// The repository and the store as the first version left them.
fn first_version() -> Scratch {
    let scratch = Scratch::new();
    let bundle = fixture("repository.bundle");
    scratch.git(["fetch", "--quiet", "--update-head-ok", bundle.to_str().unwrap(), "+refs/*:refs/*"]);
    scratch.git(["reset", "--quiet", "--hard"]);
    let proof = scratch.place.join(".git/proof");
    std::fs::create_dir(&proof).unwrap();
    let store = zstd::decode_all(std::fs::File::open(fixture("store.db.zst")).unwrap()).unwrap();
    std::fs::write(scratch.store(), store).unwrap();
    for folder in std::fs::read_dir(fixture("archive")).unwrap() {
        let folder = folder.unwrap();
        let target = proof.join("archive").join(folder.file_name());
        std::fs::create_dir_all(&target).unwrap();
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), target.join(file.file_name())).unwrap();
        }
    }
    scratch
}

/// What the first version said of each finalized session.
fn roots() -> Vec<Value> {
    let roots = std::fs::read_to_string(fixture("roots.jsonl")).unwrap();
    roots.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Every published object: the notes, evidence files and seals by their names, and the refs that hold them.
fn published(scratch: &Scratch) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for line in scratch.git(["for-each-ref", "--format=%(refname) %(objectname)"]).lines() {
        let (name, id) = line.split_once(' ').unwrap();
        all.insert(name.to_owned(), id.to_owned());
        if name.starts_with("refs/notes/") || name.starts_with("refs/proof/") {
            for file in scratch.git(["ls-tree", "-r", name]).lines() {
                let (blob, path) = file.split_once('\t').unwrap();
                all.insert(format!("{name}:{path}"), blob.to_owned());
            }
        }
    }
    all
}

/// Session, position, line, content hash, and whether it is private.
type Row = (String, i64, Option<String>, Vec<u8>, bool);

/// Every row that was hashed.
fn entries(scratch: &Scratch) -> Vec<Row> {
    let database = scratch.database();
    let mut statement = database
        .prepare("SELECT session_id, position, line, content_hash, private FROM thought_records ORDER BY seq")
        .unwrap();
    let rows =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn sessions_have_the_roots_that_they_had() {
    let scratch = first_version();
    for before in roots() {
        let session = text(&before, "session_id");
        let mut now = scratch.json(&["root", "--session", session]);
        // The name `count` came after the first version.
        assert_eq!(now.as_object_mut().unwrap().remove("count"), Some(before["record_count"].clone()));
        assert_eq!(now, before);
        assert_eq!(scratch.json(&["check", "--session", session])["root"], before["root"], "{session}");
    }
    for open in ["open", "ended", "whispered-open"] {
        scratch.json(&["check", "--session", open]);
    }
}

#[test]
fn every_record_of_every_session_is_proven() {
    let scratch = first_version();
    for before in roots() {
        let session = text(&before, "session_id");
        for entry in scratch.json(&["log", "--session", session])["entries"].as_array().unwrap() {
            let proof = scratch.run(["prove", "--record", text(entry, "id")]);
            let count = before["record_count"].to_string();
            let trusted = ["check-proof", "-", "--root", text(&before, "root"), "--count", &count];
            assert_eq!(scratch.run_with(&trusted, proof.text().as_bytes()).json()["valid"], true, "{session}");
        }
    }
}

#[test]
fn opening_the_store_changes_no_entry() {
    let scratch = first_version();
    let before = entries(&scratch);
    scratch.json(&["check", "--session", "of-v1"]);
    assert_eq!(entries(&scratch), before);
}

#[test]
fn evidence_files_verify() {
    let scratch = first_version();
    let mut files = 0;
    for line in scratch.git(["ls-tree", "-r", "refs/proof/evidence"]).lines() {
        let (_, path) = line.split_once('\t').unwrap();
        let evidence = scratch.git(["cat-file", "blob", &format!("refs/proof/evidence:{path}")]);
        let checked = scratch.run_with(&["check-evidence", "-"], evidence.as_bytes()).json();
        let root = path.rsplit('/').next().unwrap().trim_end_matches(".jsonl");
        assert_eq!(text(&checked, "root"), root);
        files += 1;
    }
    assert_eq!(files, 10);
}

#[test]
fn seals_hold() {
    let scratch = first_version();
    assert_eq!(scratch.json(&["rounds"])["rounds"].as_array().unwrap().len(), 3);
}

#[test]
fn anchoring_again_changes_no_published_byte() {
    let scratch = first_version();
    let before = published(&scratch);
    assert!(before.len() > 40, "{before:?}");
    for root in roots() {
        if text(&root, "session_id") != "whispered-kept" {
            scratch.json(&["anchor", "--session", text(&root, "session_id")]);
        }
    }
    assert_eq!(published(&scratch), before);
}

#[test]
fn init_repairs_the_modes_of_its_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = first_version();
    let proof = scratch.place.join(".git/proof");
    let archive = proof.join("archive");
    for (path, mode) in [(&proof, 0o755), (&scratch.store(), 0o644), (&archive, 0o755)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    scratch.json(&["init"]);
    for (path, mode) in [(&proof, 0o700), (&scratch.store(), 0o600), (&archive, 0o700)] {
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
    }
}

#[test]
fn session_closed_by_packing_still_verifies() {
    let scratch = first_version();
    let commit = scratch.git(["log", "--format=%H", "--grep=change of packed"]);
    let verdict = scratch.json(&["verify", commit.trim_end()]);
    assert_eq!(verdict["commits"][0]["sessions"][0]["evidence"], "verified", "{verdict}");
    assert_eq!(verdict["verdict"], "pass", "{verdict}");
    let proof = scratch.json(&["memory", "prove", "--text", "4711"]);
    assert_eq!((text(&proof, "session_id"), &proof["salt"]), ("packed", &Value::Null));
    let packed = scratch.json(&["memory", "list", "--session", "packed"])["packed"].clone();
    assert_eq!((&packed[1]["commitment"], &packed[1]["salt"]), (&Value::Null, &Value::Null));
}

#[test]
fn session_closed_by_a_private_reflection_still_verifies() {
    let scratch = first_version();
    let commit = scratch.git(["log", "--format=%H", "--grep=change of whispered"]);
    let verdict = scratch.json(&["verify", commit.trim_end()]);
    assert_eq!(verdict["verdict"], "pass", "{verdict}");
    scratch.json(&["check", "--session", "whispered"]);
}

#[test]
fn session_closed_by_a_private_reflection_is_not_published_again() {
    let scratch = first_version();
    scratch.git(["update-ref", "-d", "refs/proof/evidence"]);
    let notes = scratch.git(["rev-parse", "refs/notes/proof"]);
    let error = scratch.refused(&["anchor", "--session", "whispered"], "ERR_REFLECTION_REQUIRED", 1);
    assert!(text(&error, "hint").contains("--continues whispered"), "{error}");
    let evidence = scratch.command("git").args(["rev-parse", "--verify", "refs/proof/evidence"]).output().unwrap();
    assert!(!evidence.status.success());
    assert_eq!(scratch.git(["rev-parse", "refs/notes/proof"]), notes);
}

#[test]
fn session_closed_by_a_private_reflection_that_was_never_published_is_not_published() {
    let scratch = first_version();
    let before = published(&scratch);
    let error = scratch.refused(&["anchor", "--session", "whispered-kept"], "ERR_REFLECTION_REQUIRED", 1);
    assert!(text(&error, "hint").contains("--continues whispered-kept"), "{error}");
    assert_eq!(published(&scratch), before);
}

#[test]
fn open_session_that_ends_in_a_private_reflection_takes_one_that_can_be_published() {
    let scratch = first_version();
    let session = ["--session", "whispered-open"];
    scratch.refused(&[&["finalize"], &session[..]].concat(), "ERR_REFLECTION_REQUIRED", 1);
    scratch.json(&[&["record", "--type", "reflection", "--content", "what may be said"], &session[..]].concat());
    assert_eq!(scratch.json(&[&["finalize"], &session[..]].concat())["record_count"], 2);
}
