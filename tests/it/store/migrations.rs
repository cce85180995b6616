//! Stores outlive versions of the program: migrations are frozen, old stores open, newer ones are refused.

use super::independent::{hex, sha256};
use super::scratch::{Scratch, no_strace, text};

/// Every migration, as released. A released one is never edited: add a new file and a line here.
const FROZEN: [(&str, &str); 10] = [
    ("0001_store.sql", "406d3631b2e26e9b0afbc9fc532a16d3faa9b0a2e58b76a20060de0b537252ef"),
    ("0002_agents.sql", "ea111dbdf4c4598b4ca4d0e9c0a5ba994cd6af54b26a0708d4586256f5235636"),
    ("0003_search.sql", "413974c3af872eda75d2f4cb74d154aabc3babb8d72f25a075084e9a32f13039"),
    ("0004_anchors.sql", "3229319417fedb49bd80ae76f2e4ad4f087209fddd87c946a9f97ba0f96f4c2c"),
    ("0005_rounds.sql", "21ba66dce425f4ad3da24a0be54685b190654d81ebe9443c4e17d39801e3ee6b"),
    ("0006_nodes.sql", "68d4fd932cf121bb6b84cf5c4ee2350cb5f2d04ce888683040505e62c4c59c28"),
    ("0007_salts.sql", "c8fd686571f1f27b6c93b03b84f3563a1a9c16aeee697ba75c9f7be907aebfa6"),
    ("0008_capture.sql", "9e037fd99bd73cdd69fd685c0190d6502f58b21eba085169b3972a73650223e0"),
    ("0009_recall.sql", "619719c9cd792284cc059caae0e60e7d811a1578daa65d482a66c923077c38b8"),
    ("0010_whole_index.sql", "3fd809b54fbcc1a7c15c9ed6f256767de45adcf62c0fcc5dd08f18b8bcedbec7"),
];

/// The stores of tests/fixtures, one for each level, and what is in them.
const FIXTURES: [&str; 10] = [
    "store-v1.db",
    "store-v2.db",
    "store-v3.db",
    "store-v4.db",
    "store-v5.db",
    "store-v6.db",
    "store-v7.db.zst",
    "store-v8.db.zst",
    "store-v9.db.zst",
    "store-v10.db.zst",
];

fn folder(name: &str) -> String {
    format!("{}/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A repository whose store is this fixture.
fn with_fixture(name: &str) -> Scratch {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.place.join(".git/proof")).unwrap();
    let bytes = std::fs::read(folder(&format!("tests/fixtures/{name}"))).unwrap();
    let bytes = if name.contains(".zst") { zstd::decode_all(&bytes[..]).unwrap() } else { bytes };
    std::fs::write(scratch.store(), bytes).unwrap();
    scratch
}

#[test]
fn migrations_are_as_they_were_released() {
    let mut files: Vec<String> = std::fs::read_dir(folder("migrations"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort_unstable();
    let found: Vec<(String, String)> = files
        .into_iter()
        .map(|name| {
            let digest = hex(&sha256(&std::fs::read(folder(&format!("migrations/{name}"))).unwrap()));
            (name, digest)
        })
        .collect();
    let frozen: Vec<(String, String)> = FROZEN.map(|(name, digest)| (name.to_owned(), digest.to_owned())).to_vec();
    assert_eq!(found, frozen);
}

#[test]
fn program_takes_every_migration_in_order() {
    let texts: Vec<String> = FROZEN
        .iter()
        .map(|(name, _)| std::fs::read_to_string(folder(&format!("migrations/{name}"))).unwrap())
        .collect();
    assert_eq!(git_proof::store::MIGRATIONS, texts);
}

#[test]
fn there_is_a_fixture_for_every_level() {
    assert_eq!(FIXTURES.len(), FROZEN.len());
}

#[test]
fn fixture_of_a_level_is_at_that_level() {
    for (taken, fixture) in FIXTURES.iter().enumerate() {
        let level: usize =
            with_fixture(fixture).database().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(level, taken + 1, "{fixture}");
    }
}

#[test]
fn store_of_every_level_takes_notes_and_packs_them() {
    for fixture in FIXTURES {
        let scratch = with_fixture(fixture);
        scratch.json(&["memory", "put", "--text", "an old store", "--session", "open"]);
        assert_eq!(scratch.json(&["memory", "pack", "--session", "open"])["analysis"]["index"], 4, "{fixture}");
        scratch.json(&["check", "--session", "open"]);
    }
}

#[test]
fn store_of_every_level_verifies() {
    for fixture in FIXTURES {
        let scratch = with_fixture(fixture);
        for (session, records) in [("done", 6), ("open", 3), ("over", 2), ("old", 3)] {
            assert_eq!(scratch.json(&["check", "--session", session])["records"], records, "{fixture} {session}");
        }
    }
}

#[test]
fn store_of_every_level_is_imported_and_stays_as_it_is() {
    for fixture in FIXTURES {
        let old = with_fixture(fixture);
        let before = std::fs::read(old.store()).unwrap();
        let scratch = Scratch::new();
        scratch.json(&["import", old.store().to_str().unwrap()]);
        assert!(std::fs::read(old.store()).unwrap() == before, "{fixture}");
        for session in ["done", "open", "over", "old"] {
            assert_eq!(scratch.json(&["check", "--session", session])["valid"], true, "{fixture} {session}");
        }
    }
}

#[test]
fn store_of_every_level_proves() {
    for fixture in FIXTURES {
        let scratch = with_fixture(fixture);
        let root = scratch.json(&["root", "--session", "done"]);
        assert_eq!(text(&root, "root"), "63151a1950305dd6c9d6e4fbfcd72c8b77ee06647f8637dbaf3b8796dfc5bda2");
        for entry in scratch.json(&["log", "--session", "done"])["entries"].as_array().unwrap() {
            let proof = scratch.run(["prove", "--record", text(entry, "id")]);
            let trusted = ["check-proof", "-", "--root", text(&root, "root"), "--count", "6"];
            assert_eq!(scratch.run_with(&trusted, proof.text().as_bytes()).json()["valid"], true);
        }
    }
}

#[test]
fn store_of_every_level_is_searched_with_what_is_new() {
    for fixture in FIXTURES {
        let scratch = with_fixture(fixture);
        let before = scratch.json(&["search", "later OR recorded", "-n", "100"])["hits"].as_array().unwrap().len();
        scratch.json(&["record", "--type", "analysis", "--content", "recorded later", "--session", "open"]);
        let after = scratch.json(&["search", "later OR recorded", "-n", "100"])["hits"].as_array().unwrap().len();
        assert_eq!(after, before + 1, "{fixture}");
    }
}

#[test]
fn store_of_every_level_takes_new_records() {
    for fixture in FIXTURES {
        let scratch = with_fixture(fixture);
        let record = ["record", "--type", "reflection", "--content", "later", "--session", "open"];
        assert_eq!(scratch.json(&record)["index"], 3);
        assert_eq!(scratch.json(&["finalize", "--session", "open"])["record_count"], 4);
    }
}

/// The steps that a store has taken, and the nodes in its rows and beside them.
fn taken(scratch: &Scratch) -> (usize, i64, i64) {
    let database = scratch.database();
    let level: usize = database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let count = |sql: &str| database.query_row(sql, [], |row| row.get(0)).unwrap();
    let in_rows = if level < 6 { 0 } else { count("SELECT coalesce(sum(length(nodes)) / 32, 0) FROM thought_records") };
    (level, in_rows, count("SELECT count(*) FROM merkle_nodes"))
}

#[test]
fn migration_killed_at_any_write_leaves_the_old_store_or_the_new_one() {
    if no_strace(&Scratch::new()) {
        return;
    }
    let whole = with_fixture("store-v5.db");
    let old = taken(&whole);
    whole.json(&["check", "--session", "done"]);
    let new = taken(&whole);
    assert_eq!((old.0, new.0), (5, FROZEN.len()));
    for call in ["pwrite64", "fsync"] {
        let mut killed = 0;
        for nth in (1..).step_by(3) {
            let scratch = with_fixture("store-v5.db");
            let mut command = scratch.command("strace");
            command.args(["-f", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e"]);
            command.args([&format!("inject={call}:signal=KILL:when={nth}"), env!("CARGO_BIN_EXE_git-proof")]);
            let ended = command.args(["check", "--session", "done"]).output().unwrap().status;
            let found = taken(&scratch);
            assert!(found == old || found == new, "{call} {nth}: {found:?}");
            for session in ["done", "open", "over", "old"] {
                scratch.json(&["check", "--session", session]);
            }
            assert_eq!(taken(&scratch), new);
            if ended.success() {
                break;
            }
            killed += 1;
        }
        assert!(killed > 0, "{call} was never reached");
    }
}

#[test]
fn nodes_of_an_older_store_are_moved_into_the_rows() {
    let scratch = with_fixture("store-v5.db");
    scratch.json(&["check", "--session", "done"]);
    // Six leaves complete 3 + 1 nodes; three complete 1, and what finalizing added stays where it was.
    let database = scratch.database();
    let nodes: i64 = database
        .query_row("SELECT sum(length(nodes)) / 32 FROM thought_records WHERE session_id = 'done'", [], |row| {
            row.get(0)
        })
        .unwrap();
    let closing: i64 = database
        .query_row("SELECT count(*) FROM merkle_nodes WHERE session_id = 'done'", [], |row| row.get(0))
        .unwrap();
    assert_eq!((nodes, closing), (4, 2));
}

#[test]
fn store_of_a_later_version_is_refused() {
    let scratch = with_fixture(FIXTURES[0]);
    scratch.database().pragma_update(None, "user_version", 99).unwrap();
    for arguments in [&["check", "--session", "done"][..], &["start", "--intent", "x"]] {
        let error = scratch.refused(arguments, "ERR_STORE_TOO_NEW", 4);
        assert_eq!(text(&error, "hint"), "upgrade git-proof");
    }
}

#[test]
fn refused_store_is_left_as_it_was() {
    let scratch = with_fixture(FIXTURES[0]);
    scratch.database().pragma_update(None, "user_version", 99).unwrap();
    let before = std::fs::read(scratch.store()).unwrap();
    scratch.refused(&["start", "--intent", "x"], "ERR_STORE_TOO_NEW", 4);
    assert_eq!(std::fs::read(scratch.store()).unwrap(), before);
}

#[test]
fn agent_of_an_older_store_is_still_known() {
    let scratch = with_fixture("store-v2.db");
    let before = scratch.rows("audit_sessions");
    let event = br#"{"hook_event_name":"SessionStart","session_id":"a-session"}"#;
    scratch.run_with(&["hook", "claude-code"], event).text();
    assert_eq!(scratch.rows("audit_sessions"), before);
}
