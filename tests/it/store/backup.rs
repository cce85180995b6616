//! `backup` and `import FILE`: the whole store in one file, and back into a clone.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;

use super::scratch::{Scratch, text};
use crate::retention::with_cold;

/// Another repository in the same scratch directory, without a store.
fn other(scratch: &Scratch, name: &str) -> PathBuf {
    let path = scratch.around().join(name);
    scratch.git(["init", "--quiet", path.to_str().unwrap()]);
    path
}

/// Where the backup goes.
fn file(scratch: &Scratch) -> String {
    scratch.around().join("store.backup").to_str().unwrap().to_owned()
}

/// A store with every kind of content: a closed session, a private text, an ended one, an open one, notes packed and not.
fn filled() -> Scratch {
    let scratch = Scratch::with_session();
    scratch.record("plan", "the first needle");
    scratch.json(&["record", "--type", "analysis", "--content", "a whisper", "--private"]);
    scratch.json(&["memory", "put", "--text", "packed note"]);
    scratch.json(&["memory", "pack"]);
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
    scratch.start("ended", &["--not-proof-grade"]);
    scratch.record("plan", "the second needle");
    scratch.json(&["end"]);
    scratch.start("open", &[]);
    scratch.record("decision", "the third needle");
    scratch.json(&["memory", "put", "--text", "waiting note"]);
    scratch
}

/// Everything in a store that does not depend on how it numbers things.
fn content(database: &rusqlite::Connection) -> Vec<String> {
    let mut all = Vec::new();
    for sql in [
        "SELECT session_id, opening, hex(genesis), ended_at FROM audit_sessions ORDER BY 1",
        "SELECT session_id, position, id, parent_id, type, hex(chain_hash), private, line, hex(nodes) \
         FROM thought_records ORDER BY 1, 2",
        "SELECT session_id, level, node_index, hex(hash) FROM merkle_nodes ORDER BY 1, 2, 3",
        "SELECT session_id, hex(root), record_count, finalized_at, hex(head) FROM merkle_roots ORDER BY 1",
        "SELECT session_id, tool, hex(arguments), detail, at FROM audit_events ORDER BY session_id, event_id",
        "SELECT session_id, text FROM memory_short_term ORDER BY 1, 2",
        "SELECT session_id, record_id, hex(salt) FROM memory_long_term ORDER BY 1, 2",
        "SELECT session_id, commit_id FROM session_commits ORDER BY 1, 2",
        "SELECT commit_id, line FROM anchors ORDER BY 1, 2",
        "SELECT hex(change_id), line FROM sightings ORDER BY 1, 2",
    ] {
        let mut statement = database.prepare(sql).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let row: Vec<rusqlite::types::Value> = (0..columns).map(|column| row.get(column).unwrap()).collect();
            all.push(format!("{row:?}"));
        }
    }
    all
}

fn in_other(scratch: &Scratch, name: &str, arguments: &[&str]) -> super::scratch::Ran {
    let mut command = scratch.proof(["--json"].iter().chain(arguments));
    command.current_dir(scratch.around().join(name)).output().unwrap().into()
}

#[test]
fn backup_becomes_the_store_of_a_clone_without_one() {
    let scratch = filled();
    let written = scratch.json(&["backup", &file(&scratch)]);
    assert_eq!((written["sessions"].as_u64(), written["restored"].as_u64()), (Some(3), Some(0)), "{written}");
    let metadata = std::fs::metadata(file(&scratch)).unwrap();
    assert_eq!((metadata.mode() & 0o7777, Some(metadata.len())), (0o600, written["bytes"].as_u64()));
    other(&scratch, "new");
    let imported = in_other(&scratch, "new", &["import", &file(&scratch)]).json();
    assert_eq!(imported["added"], serde_json::json!(["s", "ended", "open"]));
    let restored = rusqlite::Connection::open(scratch.around().join("new/.git/proof/store.db")).unwrap();
    assert_eq!(content(&restored), content(&scratch.database()));
    for session in ["s", "ended", "open"] {
        assert_eq!(in_other(&scratch, "new", &["check", "--session", session]).json()["valid"], true);
    }
    let log = in_other(&scratch, "new", &["log"]).json();
    assert_eq!((text(&log["session"], "session_id"), &log["session"]["imported"]), ("open", &Value::Bool(false)));
    in_other(&scratch, "new", &["memory", "pack"]).json();
    in_other(&scratch, "new", &["record", "--type", "reflection", "--content", "done"]).json();
    in_other(&scratch, "new", &["finalize"]).json();
    let found = in_other(&scratch, "new", &["search", "needle"]).json();
    assert_eq!(found["hits"].as_array().unwrap().len(), 3);
    let left: Vec<_> = std::fs::read_dir(scratch.around().join("new/.git/proof")).unwrap().collect();
    assert!(!format!("{left:?}").contains("import.db"), "{left:?}");
}

#[test]
fn import_adds_what_is_missing_and_skips_what_is_there() {
    let scratch = filled();
    scratch.json(&["backup", &file(&scratch)]);
    scratch.record("analysis", "recorded since");
    let before = content(&scratch.database());
    let again = scratch.json(&["import", &file(&scratch)]);
    assert_eq!((again["added"].as_array().unwrap().len(), again["known"].as_u64()), (0, Some(3)));
    assert_eq!(content(&scratch.database()), before);
    // A store with sessions, events and notes of its own.
    other(&scratch, "busy");
    let run = |arguments: &[&str]| in_other(&scratch, "busy", arguments).json();
    run(&["start", "--intent", "mine", "--session-id", "mine"]);
    run(&["memory", "put", "--text", "my note"]);
    run(&["memory", "pack"]);
    run(&["memory", "put", "--text", "my other note"]);
    run(&["record", "--type", "plan", "--content", "my own needle"]);
    let imported = run(&["import", &file(&scratch)]);
    assert_eq!(imported["added"], serde_json::json!(["s", "ended", "open"]));
    assert_eq!(text(&run(&["log"])["session"], "session_id"), "mine");
    for session in ["mine", "s", "ended", "open"] {
        assert_eq!(run(&["check", "--session", session])["valid"], true);
    }
    let whisper = run(&["log", "--session", "s"])["entries"][1].clone();
    assert_eq!((text(&whisper, "content"), &whisper["private"]), ("a whisper", &Value::Bool(true)));
    let shown = run(&["show", text(&whisper, "id")]);
    assert_eq!(shown["provenance"]["tools"], serde_json::json!(["thought_record"]), "{shown}");
    assert_eq!(run(&["search", "needle"])["hits"].as_array().unwrap().len(), 4);
    run(&["memory", "pack", "--session", "open"]);
    run(&["memory", "pack"]);
    assert_eq!(run(&["import", &file(&scratch)])["added"], serde_json::json!([]));
}

#[test]
fn session_that_differs_is_named_and_nothing_is_imported() {
    let scratch = filled();
    scratch.json(&["backup", &file(&scratch)]);
    other(&scratch, "busy");
    let run = |arguments: &[&str]| in_other(&scratch, "busy", arguments);
    run(&["start", "--intent", "another", "--session-id", "ended"]).json();
    let store = scratch.around().join("busy/.git/proof/store.db");
    let before = content(&rusqlite::Connection::open(&store).unwrap());
    let refused = run(&["import", &file(&scratch)]).error("ERR_IMPORT_CONFLICT", 1);
    assert_eq!(refused["details"]["session_ids"], serde_json::json!(["ended"]));
    assert_eq!(content(&rusqlite::Connection::open(&store).unwrap()), before);
    // A backup that goes further than the store.
    let scratch = Scratch::with_session();
    scratch.json(&["backup", &file(&scratch)]);
    let older = file(&scratch);
    scratch.record("plan", "since");
    let newer = scratch.around().join("newer").to_str().unwrap().to_owned();
    scratch.json(&["backup", &newer]);
    other(&scratch, "old");
    in_other(&scratch, "old", &["import", &older]).json();
    in_other(&scratch, "old", &["import", &newer]).error("ERR_IMPORT_CONFLICT", 1);
}

#[test]
fn backup_holds_the_texts_of_cold_sessions() {
    let scratch = with_cold(&["one", "two"]);
    let written = scratch.json(&["backup", &file(&scratch)]);
    assert_eq!((written["restored"].as_u64(), written["problems"].as_array().unwrap().len()), (Some(1), 0));
    // The store itself stays as it was.
    let cold: i64 =
        scratch.database().query_row("SELECT count(*) FROM zones WHERE zone = 'cold'", [], |row| row.get(0)).unwrap();
    assert_eq!(cold, 1);
    other(&scratch, "new");
    in_other(&scratch, "new", &["import", &file(&scratch)]).json();
    let log = in_other(&scratch, "new", &["log", "--session", "one"]).json();
    assert_eq!(text(&log["entries"][1], "content"), "a whisper of one");
    assert_eq!(in_other(&scratch, "new", &["search", "whisper"]).json()["hits"].as_array().unwrap().len(), 2);
}

#[test]
fn backup_names_the_session_whose_archive_is_gone() {
    let scratch = with_cold(&["one", "two"]);
    std::fs::remove_dir_all(scratch.place.join(".git/proof/archive")).unwrap();
    let ran = scratch.run(["backup", &file(&scratch)]);
    assert_eq!(ran.exit, Some(4), "{ran:?}");
    assert!(ran.err.contains("ERR_ARCHIVE_DAMAGED") && ran.err.contains("session one"), "{ran:?}");
    other(&scratch, "new");
    in_other(&scratch, "new", &["import", &file(&scratch)]).json();
    in_other(&scratch, "new", &["log", "--session", "two"]).json();
}

#[test]
fn backup_overwrites_nothing_unless_it_is_told_to() {
    let scratch = Scratch::with_session();
    std::fs::write(file(&scratch), "mine").unwrap();
    scratch.refused(&["backup", &file(&scratch)], "INVALID_PARAMS", 2);
    assert_eq!(std::fs::read_to_string(file(&scratch)).unwrap(), "mine");
    scratch.json(&["backup", "--force", &file(&scratch)]);
    assert_eq!(std::fs::metadata(file(&scratch)).unwrap().mode() & 0o777, 0o600);
    scratch.refused(&["backup", scratch.around().to_str().unwrap()], "INVALID_PARAMS", 2);
    scratch.refused(&["backup", "--force", ".git/proof/store.db"], "INVALID_PARAMS", 2);
    scratch.refused(&["backup", "nowhere/file"], "INVALID_PARAMS", 2);
    let names = |path: PathBuf| -> Vec<String> {
        let entries = std::fs::read_dir(path).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    assert!(!names(scratch.around().to_owned()).iter().any(|name| name.contains("git-proof-backup")));
}

#[test]
fn backup_removes_what_a_killed_one_left_and_nothing_that_is_being_written() {
    let scratch = filled();
    if super::scratch::no_strace(&scratch) {
        return;
    }
    let folder = scratch.around().join("backups");
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("store.backup");
    let left = || std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let arguments = ["backup", file.to_str().unwrap()];
    for nth in 1.. {
        let fault = ("signal=SIGKILL", "pwrite64", nth);
        let (_, hit) = super::scratch::with_fault(&scratch, scratch.command("strace").arg("-f"), fault, &arguments);
        assert!(hit, "it was killed while it wrote");
        if !left().is_empty() {
            break;
        }
    }
    assert_eq!(left().len(), 1);
    let at_work = std::fs::File::open(&left()[0]).unwrap();
    at_work.lock().unwrap();
    scratch.json(&arguments);
    assert_eq!(left().len(), 2, "the other one is being written");
    drop(at_work);
    scratch.json(&["backup", "--force", file.to_str().unwrap()]);
    assert_eq!(left(), [file]);
}

#[test]
fn backup_among_writers_is_consistent() {
    let scratch = Scratch::with_session();
    let writers: Vec<_> = (0..2)
        .map(|_| {
            let program = env!("CARGO_BIN_EXE_git-proof");
            let script =
                format!("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do '{program}' attest \"step $i\" || exit 1; done");
            scratch.command("sh").args(["-c", &script]).stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for number in 0..6 {
        let file = scratch.around().join(format!("backup-{number}"));
        scratch.json(&["backup", file.to_str().unwrap()]);
        let name = format!("clone-{number}");
        other(&scratch, &name);
        in_other(&scratch, &name, &["import", file.to_str().unwrap()]).json();
        assert_eq!(in_other(&scratch, &name, &["check"]).json()["valid"], true);
    }
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    assert_eq!(scratch.json(&["check"])["records"], 24);
}

#[test]
fn file_that_is_no_backup_of_ours_is_refused() {
    let scratch = filled();
    let path = PathBuf::from(file(&scratch));
    scratch.json(&["backup", path.to_str().unwrap()]);
    other(&scratch, "new");
    let around = scratch.around().to_owned();
    let import = |name: &str| in_other(&scratch, "new", &["import", around.join(name).to_str().unwrap()]);
    std::os::unix::fs::symlink(&path, around.join("link")).unwrap();
    import("link").error("ERR_UNREADABLE", 3);
    assert!(scratch.command("mkfifo").arg(around.join("pipe")).status().unwrap().success());
    import("pipe").error("ERR_UNREADABLE", 3);
    import("nowhere").error("ERR_UNREADABLE", 3);
    import("place").error("ERR_UNREADABLE", 3);
    std::fs::write(around.join("text"), "no store at all").unwrap();
    import("text").error("ERR_STORE_FAILED", 4);
    std::fs::write(around.join("empty"), "").unwrap();
    import("empty").error("ERR_STORE_FAILED", 4);
    // Somebody has the store open, and the newest of it is still in the log beside it.
    let in_use = rusqlite::Connection::open(scratch.store()).unwrap();
    let level: i64 = in_use.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    in_use.pragma_update(None, "user_version", level).unwrap();
    in_other(&scratch, "new", &["import", scratch.store().to_str().unwrap()]).error("INVALID_PARAMS", 2);
    drop(in_use);
    let changed = |name: &str, change: &dyn Fn(&rusqlite::Connection)| {
        std::fs::copy(&path, around.join(name)).unwrap();
        let database = rusqlite::Connection::open(around.join(name)).unwrap();
        change(&database);
    };
    changed("trigger", &|database| {
        database.execute_batch("CREATE TRIGGER spy AFTER INSERT ON anchors BEGIN SELECT 1; END").unwrap();
    });
    import("trigger").error("ERR_STORE_FAILED", 4);
    changed("later", &|database| database.pragma_update(None, "user_version", 99).unwrap());
    import("later").error("ERR_STORE_TOO_NEW", 4);
    changed("forged", &|database| {
        let database = rusqlite::Connection::open(database.path().unwrap()).unwrap();
        let without = super::scratch::WithoutTriggers::new(database);
        without.execute("UPDATE thought_records SET line = replace(line, 'first', 'other')", []).unwrap();
    });
    let broken = import("forged").error("ERR_CHAIN_BROKEN", 1);
    assert!(text(&broken, "message").contains("session s"), "{broken}");
    let mut bytes = std::fs::read(&path).unwrap();
    let page = bytes.len() / 2 / 4096 * 4096;
    bytes[page..page + 4096].fill(0xff);
    std::fs::write(around.join("damaged"), bytes).unwrap();
    assert_ne!(import("damaged").exit, Some(0));
    assert_eq!(in_other(&scratch, "new", &["log", "--all"]).json()["sessions"], serde_json::json!([]));
    // The file is only read.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o400)).unwrap();
    in_other(&scratch, "new", &["import", path.to_str().unwrap()]).json();
    if scratch.command("chown").arg("12345").arg(&path).status().unwrap().success() {
        import("store.backup").error("ERR_UNREADABLE", 3);
    }
}

#[test]
fn import_that_is_killed_leaves_nothing_half_done() {
    let scratch = filled();
    if super::scratch::no_strace(&scratch) {
        return;
    }
    scratch.json(&["backup", &file(&scratch)]);
    let backup = file(&scratch);
    let fresh = Scratch::new();
    for nth in (1..).step_by(7) {
        let mut strace = fresh.command("strace");
        strace.arg("-f");
        let fault = ("signal=SIGKILL", "pwrite64", nth);
        let (_, hit) = super::scratch::with_fault(&fresh, &mut strace, fault, &["import", &backup]);
        let sessions = fresh.json(&["log", "--all"])["sessions"].as_array().unwrap().len();
        assert!(sessions == 0 || sessions == 3, "{sessions} after write {nth}");
        if !hit {
            break;
        }
    }
    fresh.json(&["import", &backup]);
    assert_eq!(content(&fresh.database()), content(&scratch.database()));
}
