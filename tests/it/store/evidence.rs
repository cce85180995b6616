//! `import --from-refs`: a newcomer reads and searches what others published.

use serde_json::Value;

use super::scratch::{Scratch, text};
use crate::anchoring::clones::{Clone, EVIDENCE, NOTES, two_clones};
use crate::naive;

/// Two clones: in the first a session was recorded and published, one entry of which is private; the second has fetched it.
fn published(scratch: &Scratch) -> (Clone<'_>, Clone<'_>) {
    let (_, one, two) = two_clones(scratch);
    one.json(&["start", "--intent", "find the needle", "--session-id", "theirs"]);
    one.json(&["record", "--type", "decision", "--content", "the needle is in the haystack"]);
    one.json(&["record", "--type", "analysis", "--content", "a whispered needle", "--private"]);
    one.git(&["commit", "--quiet", "--allow-empty", "--message", "work"]);
    one.run(&["hook", "post-commit"]).text();
    one.json(&["record", "--type", "reflection", "--content", "found the needle"]);
    one.json(&["finalize"]);
    one.json(&["sync"]);
    two.json(&["sync"]);
    (one, two)
}

fn store(clone: &Clone<'_>, name: &str) -> rusqlite::Connection {
    rusqlite::Connection::open(clone.path.join(".git/proof").join(name)).unwrap()
}

fn rows(clone: &Clone<'_>, table: &str) -> i64 {
    store(clone, "store.db").query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

/// Adds a file to the evidence of a clone, under the root that its lines have, or another name.
fn plant(clone: &Clone<'_>, name: &str, lines: &[String]) {
    let file: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let blob = clone.blob(file.as_bytes());
    let index = clone.path.join(".git/planted");
    let git = |arguments: &[&str]| -> String {
        let mut command = clone.command("git");
        let ran: super::scratch::Ran = command.env("GIT_INDEX_FILE", &index).args(arguments).output().unwrap().into();
        ran.text().trim_end().to_owned()
    };
    git(&["read-tree", EVIDENCE]);
    git(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{}/{name}.jsonl", &name[..2])]);
    let tree = git(&["write-tree"]);
    clone.plant(EVIDENCE, &tree, &[&clone.tip(EVIDENCE).unwrap()]);
}

/// The root that lines of evidence have.
fn root_of(clone: &Clone<'_>, lines: &[String]) -> String {
    let file = clone.scratch.around().join("lines");
    std::fs::write(&file, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    text(&clone.json(&["check-evidence", file.to_str().unwrap()]), "root").to_owned()
}

/// The lines of the first evidence file.
fn lines(clone: &Clone<'_>) -> Vec<String> {
    let path = clone.evidence().remove(0);
    clone.git(&["cat-file", "blob", &format!("{EVIDENCE}:{path}")]).lines().map(str::to_owned).collect()
}

#[test]
fn newcomer_reads_and_searches_what_others_published() {
    let scratch = Scratch::without_repository();
    let (one, two) = published(&scratch);
    let verdict = two.json(&["verify"]);
    let imported = two.json(&["import", "--from-refs"]);
    assert_eq!((imported["added"].as_u64(), imported["refused"].as_u64()), (Some(1), Some(0)), "{imported}");
    assert_eq!(imported["sessions"][0]["withheld"], 1);
    let (here, there) = (two.json(&["log", "--session", "theirs"]), one.json(&["log", "--session", "theirs"]));
    assert_eq!((&here["session"]["imported"], &here["session"]["finalized"]), (&Value::Bool(true), &Value::Bool(true)));
    assert_eq!((&here["root"]["root"], &here["root"]["head"]), (&there["root"]["root"], &there["root"]["head"]));
    let (mine, theirs) = (here["entries"].as_array().unwrap(), there["entries"].as_array().unwrap());
    assert_eq!((mine.len(), &mine[0]["content"], &mine[0]["id"]), (4, &theirs[0]["content"], &theirs[0]["id"]));
    assert_eq!(mine[3]["chain_hash"], theirs[3]["chain_hash"]);
    // What is withheld: its hashes, and nothing else.
    let withheld = &mine[1];
    assert_eq!((&withheld["withheld"], &withheld["blanked"]), (&Value::Bool(true), &Value::Bool(false)));
    assert_eq!((&withheld["content_hash"], &withheld["timestamp"]), (&theirs[1]["content_hash"], &Value::Null));
    assert!(withheld.get("type").is_none() && withheld.get("content").is_none(), "{withheld}");
    let id = text(withheld, "id");
    assert_ne!(id, text(&theirs[1], "id"));
    assert!(two.run(&["log", "--session", "theirs"]).text().contains("withheld"));
    assert!(two.run(&["show", id]).text().contains("withheld"));
    assert!(two.run(&["tree", "--session", "theirs"]).text().contains("withheld"));
    let proof = two.run(&["prove", "--record", id]);
    assert!(proof.err.contains("withheld"), "{proof:?}");
    assert_eq!(proof.text(), one.run(&["prove", "--record", text(&theirs[1], "id")]).text());
    // Search, check, root, trail.
    let found = two.json(&["search", "needle"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 2, "{found}");
    assert_eq!(two.json(&["search", "whispered"])["hits"], serde_json::json!([]));
    let check = two.json(&["check", "--session", "theirs"]);
    assert_eq!(
        (check["records"].as_u64(), check["withheld"].as_u64(), check["blanked"].as_u64()),
        (Some(4), Some(1), Some(0))
    );
    assert_eq!(two.json(&["root", "--session", "theirs"])["root"], there["root"]["root"]);
    assert_eq!(two.json(&["trail", text(&mine[3], "id")]).as_array().unwrap().len(), 4);
    assert_eq!(two.json(&["log", "--all"])["sessions"][0]["session_id"], "theirs");
    // Nothing of it is ours.
    assert_eq!((rows(&two, "audit_sessions"), rows(&two, "thought_records"), rows(&two, "anchors")), (0, 0, 0));
    assert_eq!(two.json(&["verify"]), verdict);
}

#[test]
fn imported_sessions_are_read_only_and_never_published() {
    let scratch = Scratch::without_repository();
    let (_, two) = published(&scratch);
    two.json(&["import", "--from-refs"]);
    let before = (two.tip(EVIDENCE), two.tip(NOTES));
    let refused = |arguments: &[&str]| two.run(&[&["--json"], arguments].concat()).error("ERR_SESSION_NOT_FOUND", 2);
    refused(&["record", "--type", "plan", "--content", "x", "--session", "theirs"]);
    refused(&["anchor", "--session", "theirs"]);
    refused(&["finalize", "--session", "theirs"]);
    refused(&["end", "--session", "theirs"]);
    refused(&["log"]);
    two.json(&["sync"]);
    assert_eq!((two.tip(EVIDENCE), two.tip(NOTES)), before);
    // Nor do they get into a backup.
    let file = scratch.around().join("backup");
    assert_eq!(two.json(&["backup", file.to_str().unwrap()])["sessions"], 0);
}

#[test]
fn import_is_idempotent_and_skips_sessions_of_this_clone() {
    let scratch = Scratch::without_repository();
    let (one, two) = published(&scratch);
    two.json(&["import", "--from-refs"]);
    let again = two.json(&["import", "--from-refs"]);
    assert_eq!(
        (again["found"].as_u64(), again["added"].as_u64(), again["known"].as_u64()),
        (Some(1), Some(0), Some(1))
    );
    let own = one.json(&["import", "--from-refs"]);
    assert_eq!((own["found"].as_u64(), own["added"].as_u64(), own["own"].as_u64()), (Some(1), Some(0), Some(1)));
    // New evidence is taken up, also what was only fetched.
    one.explain("second");
    one.json(&["sync"]);
    two.git(&["fetch", "--quiet", "origin", &format!("+{EVIDENCE}:refs/proof/remote/origin/evidence")]);
    let more = two.json(&["import", "--from-refs"]);
    assert_eq!((more["found"].as_u64(), more["added"].as_u64()), (Some(2), Some(1)), "{more}");
    assert_eq!(two.json(&["log", "--all"])["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn hostile_evidence_is_named_and_stops_nothing() {
    let scratch = Scratch::without_repository();
    let (_, two) = published(&scratch);
    let good = lines(&two);
    let named = |number: u8| format!("{:064x}", u128::from(number) + 1);
    // Another root than its name, a torn line, text that is none of ours, an empty file, and one whose entries are all
    // withheld.
    plant(&two, &named(1), &good);
    plant(&two, &named(2), &[good[0].clone(), good[1][..40].to_owned()]);
    plant(&two, &named(3), &["\u{1b}[31mno evidence".to_owned()]);
    plant(&two, &named(4), &[]);
    let hash = naive::hex(&naive::sha256(&[good[1].as_bytes()]));
    let genesis = naive::hex(&naive::sha256(&[good[0].as_bytes()]));
    let withheld = [good[0].clone(), serde_json::json!({"prev_hash": genesis, "withheld": hash}).to_string()];
    plant(&two, &root_of(&two, &withheld), &withheld);
    // The same entries under the name of another session.
    let mut opening: Value = serde_json::from_str(&good[0]).unwrap();
    opening["session_id"] = "squatter".into();
    let opening = opening.to_string();
    let mut entry: Value = serde_json::from_str(&good[1]).unwrap();
    entry["prev_hash"] = naive::hex(&naive::sha256(&[opening.as_bytes()])).into();
    let squatting = [opening, entry.to_string()];
    let first = two.run(&["import", "--from-refs"]);
    assert_eq!(first.exit, Some(1), "{first:?}");
    plant(&two, &root_of(&two, &squatting), &squatting);
    let ran = two.run(&["--json", "import", "--from-refs"]);
    assert_eq!(ran.exit, Some(1), "{ran:?}");
    let outcome: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((outcome["refused"].as_u64(), outcome["known"].as_u64()), (Some(6), Some(1)), "{outcome}");
    assert!(!ran.err.contains('\u{1b}'), "{ran:?}");
    assert_eq!(two.json(&["log", "--all"])["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(two.json(&["check", "--session", "theirs"])["valid"], true);
}

#[test]
fn own_session_goes_before_an_imported_one_of_the_same_id() {
    let scratch = Scratch::without_repository();
    let (_, two) = published(&scratch);
    two.json(&["import", "--from-refs"]);
    two.json(&["start", "--intent", "mine", "--session-id", "theirs"]);
    two.json(&["record", "--type", "plan", "--content", "my needle"]);
    let log = two.json(&["log", "--session", "theirs"]);
    assert_eq!((text(&log["session"], "intent"), &log["session"]["imported"]), ("mine", &Value::Bool(false)));
    assert_eq!(two.json(&["search", "needle"])["hits"].as_array().unwrap().len(), 1);
    assert_eq!(two.json(&["log", "--all"])["sessions"].as_array().unwrap().len(), 1);
    // And before evidence that claims its id.
    std::fs::remove_file(two.path.join(".git/proof/evidence.db")).unwrap();
    for end in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(two.path.join(format!(".git/proof/evidence.db{end}")));
    }
    let ran = two.run(&["import", "--from-refs"]);
    assert!(ran.exit == Some(1) && ran.err.contains("theirs"), "{ran:?}");
}

#[test]
fn clone_without_evidence_is_told_where_it_comes_from() {
    let scratch = Scratch::new();
    assert!(scratch.run(["import", "--from-refs"]).text().contains("git proof sync"));
    scratch.refused(&["import"], "INVALID_PARAMS", 2);
    scratch.refused(&["import", "--from-refs", "file"], "INVALID_PARAMS", 2);
}
