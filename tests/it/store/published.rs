//! What is published: nothing that is private, nothing that holds a credential, and nothing that the entries do not add
//! up to.

use std::time::Duration;

use git_proof::proof::record::{Id, Opening, RecordType};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::timestamp::Timestamp;
use git_proof::store::{NewAttestation, NewEntry, NewEvent, NewSession, NewThought, Store};
use serde_json::Value;

use super::independent::{hex, sha256};
use super::scratch::{Ran, Scratch, text};

/// A token that no one has, put together at run time.
fn token() -> String {
    ["gh", "p_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat()
}

fn commit(scratch: &Scratch) {
    scratch.git(["commit", "--quiet", "--allow-empty", "--message", "a commit"]);
}

/// Every object in the repository's git, one after the other.
fn objects(scratch: &Scratch) -> String {
    let ran: Ran = {
        let list = "git cat-file --batch-all-objects --batch-check='%(objectname)' | git cat-file --batch";
        let output = scratch.command("sh").args(["-c", list]).output().unwrap();
        Ran {
            exit: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::new(),
        }
    };
    ran.text().to_owned()
}

/// The published evidence of a session, line by line.
fn evidence(scratch: &Scratch, session: &str) -> Vec<Value> {
    let root = text(&scratch.json(&["root", "--session", session]), "root").to_owned();
    let lines = scratch.git(["cat-file", "blob", &format!("refs/proof/evidence:{}/{root}.jsonl", &root[..2])]);
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn has_ref(scratch: &Scratch, name: &str) -> bool {
    scratch.command("git").args(["rev-parse", "--verify", "--quiet", name]).output().unwrap().status.success()
}

/// A session as an older version recorded it: whatever its guard let through.
struct Old {
    scratch: Scratch,
    session: Id,
}

impl Old {
    fn new(intent: &str, proof_grade: bool, entries: &[(Option<RecordType>, &str, Option<&str>, bool)]) -> Self {
        let scratch = Scratch::new();
        commit(&scratch);
        scratch.json(&["init", "--no-hooks"]);
        let session = Id::parse("old").unwrap();
        let now = Timestamp::parse("2026-03-01T09:00:00.000Z").unwrap();
        let event = NewEvent { tool: "thought_record", arguments: b"", at: now };
        let opening = Opening {
            caller: "a tester".to_owned(),
            intent: intent.to_owned(),
            proof_grade,
            scheme: Scheme::V1,
            session_id: session.clone(),
            started_at: now,
            task_id: None,
        };
        let mut store = Store::open(&scratch.store(), Duration::from_secs(5)).unwrap();
        store.start(&NewSession { opening: &opening, worktree: Some("") }, &event).unwrap();
        for (number, (kind, content, metadata, private)) in entries.iter().enumerate() {
            let id = Id::parse(&format!("entry-{number}")).unwrap();
            let entry = match kind {
                Some(kind) => NewEntry::Thought(NewThought {
                    id,
                    kind: *kind,
                    content,
                    metadata: *metadata,
                    parent: None,
                    private: *private,
                    timestamp: now,
                }),
                None => {
                    NewEntry::Attestation(NewAttestation { id, operation: content, metadata: None, timestamp: now })
                }
            };
            store.append(&session, &[entry], &event).unwrap();
        }
        Self { scratch, session }
    }

    fn finalized(self) -> Self {
        let now = Timestamp::parse("2026-03-01T10:00:00.000Z").unwrap();
        let event = NewEvent { tool: "merkle_finalize", arguments: b"", at: now };
        let mut store = Store::open(&self.scratch.store(), Duration::from_secs(5)).unwrap();
        store.finalize(&self.session, &event).unwrap();
        self
    }
}

const PLAN: Option<RecordType> = Some(RecordType::Plan);
const END: Option<RecordType> = Some(RecordType::Reflection);

#[test]
fn private_reflection_is_refused_in_a_proof_grade_session() {
    let scratch = Scratch::with_session();
    let record = ["record", "--type", "reflection", "--content", "x", "--private"];
    let error = scratch.refused(&record, "INVALID_PARAMS", 2);
    assert!(text(&error, "hint").contains("private analysis"), "{error}");
    assert_eq!(scratch.rows("thought_records"), 0);
}

#[test]
fn private_reflection_of_a_session_that_is_not_proof_grade_is_withheld() {
    let scratch = Scratch::new();
    scratch.start("s", &["--not-proof-grade"]);
    scratch.record("plan", "a plan");
    scratch.json(&["record", "--type", "reflection", "--content", "a private end", "--private"]);
    scratch.json(&["finalize"]);
    commit(&scratch);
    scratch.json(&["anchor", "--commit", "HEAD"]);
    assert!(evidence(&scratch, "s")[2]["withheld"].is_string());
    assert!(!objects(&scratch).contains("a private end"));
}

#[test]
fn reflection_with_a_credential_is_refused_whether_private_or_not() {
    let scratch = Scratch::with_session();
    let content = format!("the token was {}", token());
    let record = ["record", "--type", "reflection", "--content", &content];
    let error = scratch.refused(&record, "ERR_SECRET_DETECTED", 2);
    assert!(!text(&error, "hint").contains("--private"), "{error}");
    scratch.refused(&[&record[..], &["--private"]].concat(), "INVALID_PARAMS", 2);
}

#[test]
fn opening_with_a_credential_is_refused_wherever_it_is() {
    let scratch = Scratch::new();
    let token = token();
    for arguments in [
        &["--intent", &token][..],
        &["--intent", "x", "--task", &token],
        &["--intent", "x", "--caller", &token],
        &["--intent", "x", "--session-id", &token],
    ] {
        scratch.refused(&[&["start"], arguments].concat(), "ERR_SECRET_DETECTED", 2);
    }
    let mut command = scratch.proof(["--json", "start", "--intent", "x"]);
    let ran: Ran = command.env("GIT_AUTHOR_NAME", &token).output().unwrap().into();
    ran.error("ERR_SECRET_DETECTED", 2);
    assert_eq!(scratch.rows("audit_sessions"), 0);
    // An agent cannot be asked: its session is opened without what holds the credential.
    std::fs::write(scratch.place.join("a.txt"), "a\n").unwrap();
    let event = serde_json::json!({
        "hook_event_name": "PostToolUse", "session_id": "a-session", "tool_name": "Write", "tool_use_id": "1",
        "tool_input": { "file_path": scratch.place.join("a.txt"), "content": "a\n" }, "tool_response": {},
    });
    let mut command = scratch.proof(["hook", "claude-code"]);
    let ran = crate::common::run_with_input(command.env("GIT_AUTHOR_NAME", &token), event.to_string().as_bytes());
    assert_eq!((ran.code, scratch.rows("audit_sessions")), (Some(0), 1), "{ran:?}");
    let listed = scratch.run(["log", "--all", "--json"]).out;
    assert!(listed.contains("claude-code") && !listed.contains(&token), "{listed}");
}

#[test]
fn old_entry_with_a_credential_is_withheld_when_it_is_first_published() {
    let said = format!("I used {}", token());
    let metadata = format!("{{\"token\":\"{}\"}}", token());
    let old = Old::new(
        "what it is for",
        true,
        &[
            (PLAN, &said, None, false),
            (PLAN, "harmless", Some(&metadata), false),
            (None, &said, None, false),
            (PLAN, "a plan", None, false),
            (END, "done", None, false),
        ],
    )
    .finalized();
    let anchored = old.scratch.json(&["anchor", "--session", "old", "--commit", "HEAD"]);
    assert_eq!(anchored["guarded"], 3);
    let lines = evidence(&old.scratch, "old");
    let withheld: Vec<bool> = lines.iter().map(|line| line["withheld"].is_string()).collect();
    assert_eq!(withheld, [false, true, true, true, false, false]);
    assert!(!objects(&old.scratch).contains(&token()));
    assert!(old.scratch.run(["anchor", "--session", "old"]).err.contains("credential"));
}

#[test]
fn old_session_whose_opening_holds_a_credential_is_not_published() {
    let old = Old::new(&format!("use {}", token()), true, &[(END, "done", None, false)]).finalized();
    let error = old.scratch.refused(&["anchor", "--session", "old", "--commit", "HEAD"], "ERR_SECRET_DETECTED", 2);
    assert!(!error.to_string().contains(&token()), "{error}");
    assert!(!has_ref(&old.scratch, "refs/proof/evidence") && !has_ref(&old.scratch, "refs/notes/proof"));
    assert!(!objects(&old.scratch).contains(&token()));
    type_hint(&old.scratch, &error);
}

#[test]
fn old_session_whose_closing_reflection_holds_a_credential_is_not_published() {
    let said = format!("it was {}", token());
    let old = Old::new("x", true, &[(PLAN, "x", None, false), (END, &said, None, false)]).finalized();
    let error = old.scratch.refused(&["anchor", "--session", "old", "--commit", "HEAD"], "ERR_SECRET_DETECTED", 2);
    assert!(!has_ref(&old.scratch, "refs/proof/evidence") && !has_ref(&old.scratch, "refs/notes/proof"));
    type_hint(&old.scratch, &error);
}

#[test]
fn closing_line_of_a_session_that_is_not_proof_grade_may_be_withheld() {
    let said = format!("it was {}", token());
    let old = Old::new("x", false, &[(PLAN, "x", None, false), (END, &said, None, false)]).finalized();
    old.scratch.json(&["anchor", "--session", "old", "--commit", "HEAD"]);
    assert!(evidence(&old.scratch, "old")[2]["withheld"].is_string());
}

#[test]
fn session_that_could_not_be_published_is_not_finalized() {
    let said = format!("it was {}", token());
    let closing = Old::new("x", true, &[(END, &said, None, false)]);
    let error = closing.scratch.refused(&["finalize"], "ERR_SECRET_DETECTED", 2);
    type_hint(&closing.scratch, &error);
    closing.scratch.json(&["finalize"]);
    let opening = Old::new(&said, true, &[(END, "done", None, false)]);
    let error = opening.scratch.refused(&["finalize"], "ERR_SECRET_DETECTED", 2);
    type_hint(&opening.scratch, &error);
    let whispered = Old::new("x", true, &[(END, "done", None, true)]);
    let error = whispered.scratch.refused(&["finalize"], "ERR_REFLECTION_REQUIRED", 1);
    type_hint(&whispered.scratch, &error);
    whispered.scratch.json(&["finalize"]);
}

/// Types the command that ends a hint.
#[track_caller]
fn type_hint(scratch: &Scratch, error: &Value) {
    let hint = text(error, "hint");
    let command = &hint[hint.find("git proof ").unwrap_or_else(|| panic!("no command: {hint}"))..];
    let program = env!("CARGO_BIN_EXE_git-proof");
    let typed = command.replace("git proof ", &format!("'{program}' "));
    let ran: Ran = scratch.command("sh").args(["-c", &typed]).output().unwrap().into();
    assert_eq!(ran.exit, Some(0), "{command}: {}", ran.err);
}

/// A finalized session without an anchor, and a commit.
fn to_be_anchored(scheme: &str) -> Scratch {
    let scratch = Scratch::new();
    commit(&scratch);
    scratch.start("s", &["--scheme", scheme, "--task", "T-1"]);
    for number in 0..5 {
        scratch.record("plan", &format!("number {number}"));
    }
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
    scratch
}

#[test]
fn anchor_says_what_the_entries_add_up_to_and_not_what_a_row_says() {
    for scheme in ["v1", "v1-sorted", "v1-rfc9162", "ams-v0"] {
        for change in [
            "UPDATE merkle_roots SET root = zeroblob(32)",
            "UPDATE merkle_roots SET head = zeroblob(32)",
            "UPDATE merkle_roots SET genesis = randomblob(32)",
            "UPDATE merkle_roots SET record_count = 5",
            "UPDATE merkle_roots SET scheme = CASE scheme WHEN 'v1' THEN 'v1-rfc9162' ELSE 'v1' END",
            "UPDATE thought_records SET line = replace(line, 'number 3', 'number 7')",
            "DELETE FROM thought_records WHERE position = 5",
            "UPDATE thought_records SET position = 9 WHERE position = 5; \
             UPDATE thought_records SET position = 5 WHERE position = 4; \
             UPDATE thought_records SET position = 4 WHERE position = 9",
        ] {
            // The order of sibling leaves is not part of a sorted tree, but that of a chain is.
            let scratch = to_be_anchored(scheme);
            scratch.without_triggers().execute_batch(change).unwrap();
            let error = scratch.refused(&["anchor", "--commit", "HEAD"], "ERR_CHAIN_BROKEN", 1);
            assert!(!has_ref(&scratch, "refs/notes/proof"), "{scheme}: {change}: {error}");
            assert!(!has_ref(&scratch, "refs/proof/evidence"), "{scheme}: {change}: {error}");
        }
        // The nodes of a tree are a shortcut, and nothing that is published rests on them.
        let scratch = to_be_anchored(scheme);
        scratch
            .without_triggers()
            .execute_batch("UPDATE merkle_nodes SET hash = zeroblob(32); UPDATE thought_records SET nodes = NULL")
            .unwrap();
        scratch.json(&["anchor", "--commit", "HEAD"]);
        let note = scratch.git(["notes", "--ref=proof", "show", "HEAD"]);
        let anchor: Value = serde_json::from_str(&note).unwrap();
        let checked = evidence_root(&scratch, text(&anchor["anchor"], "root"));
        assert_eq!(checked["root"], anchor["anchor"]["root"]);
    }
}

/// What `check-evidence` says of published evidence.
fn evidence_root(scratch: &Scratch, root: &str) -> Value {
    let blob = scratch.git(["cat-file", "blob", &format!("refs/proof/evidence:{}/{root}.jsonl", &root[..2])]);
    scratch.run_with(&["check-evidence", "-"], blob.as_bytes()).json()
}

#[test]
fn remembered_anchor_that_was_changed_is_not_put_back() {
    let scratch = to_be_anchored("v1");
    scratch.json(&["anchor", "--commit", "HEAD"]);
    let line: String = scratch.database().query_row("SELECT line FROM anchors", [], |row| row.get(0)).unwrap();
    let root = text(&scratch.json(&["root"]), "root").to_owned();
    let forged = line.replace(&root, &"ab".repeat(32));
    assert_ne!(forged, line);
    for hash in [sha256(line.as_bytes()), sha256(forged.as_bytes())] {
        let change = "UPDATE anchors SET line = ?1, line_hash = ?2, seen_on = NULL";
        scratch.database().execute(change, (&forged, hash)).unwrap();
        scratch.git(["update-ref", "-d", "refs/notes/proof"]);
        // Whether it is refused or left out: it is not published.
        let _ = scratch.run(["anchor", "--commit", "HEAD"]);
        let _ = scratch.run(["hook", "post-commit"]);
        assert!(!objects(&scratch).contains(&"ab".repeat(32)), "{}", hex(&hash));
    }
}

#[test]
fn remembered_anchor_that_is_true_is_put_back() {
    let scratch = to_be_anchored("v1");
    scratch.json(&["anchor", "--commit", "HEAD"]);
    let note = scratch.git(["notes", "--ref=proof", "show", "HEAD"]);
    scratch.git(["update-ref", "-d", "refs/notes/proof"]);
    scratch.run(["hook", "post-commit"]).text();
    assert_eq!(scratch.git(["notes", "--ref=proof", "show", "HEAD"]), note);
}

#[test]
fn private_record_is_refused_in_ams_v0() {
    let scratch = Scratch::new();
    scratch.start("s", &["--scheme", "ams-v0", "--not-proof-grade"]);
    for kind in ["plan", "analysis", "decision", "reflection"] {
        let error = scratch.refused(&["record", "--type", kind, "--content", "4711", "--private"], "INVALID_PARAMS", 2);
        assert!(text(&error, "message").contains("guess"), "{error}");
    }
    assert_eq!(scratch.rows("thought_records"), 0);
}

/// The id of a private record is random and published nowhere: without it nobody can hash guesses of the text.
#[test]
fn id_of_a_private_record_is_in_no_published_object() {
    for scheme in ["v1", "v1-sorted", "v1-rfc9162"] {
        let scratch = Scratch::new();
        commit(&scratch);
        scratch.json(&["init"]);
        scratch.start("s", &["--scheme", scheme]);
        scratch.record("plan", "a plan");
        let record = ["record", "--type", "analysis", "--content", "4711", "--private"];
        let private: Vec<Value> = (0..3).map(|_| scratch.json(&record)).collect();
        // Its children name it by its hash.
        let parent = text(&private[0], "id");
        scratch.json(&["record", "--type", "decision", "--content", "a child", "--parent", parent]);
        scratch.json(&["memory", "put", "--text", "a note"]);
        scratch.json(&["memory", "pack"]);
        std::fs::write(scratch.place.join("file"), "x").unwrap();
        scratch.git(["add", "file"]);
        let mut command = scratch.command("git");
        let path = std::path::Path::new(env!("CARGO_BIN_EXE_git-proof")).parent().unwrap().to_str().unwrap();
        let path = format!("{path}:{}", std::env::var("PATH").unwrap());
        assert!(command.args(["commit", "--quiet", "--message", "x"]).env("PATH", path).status().unwrap().success());
        scratch.record("reflection", "done");
        scratch.json(&["finalize"]);
        let _ = scratch.run(["seal"]); // in v1-sorted there is nothing to seal
        let published = objects(&scratch) + &scratch.git(["for-each-ref"]);
        assert!(published.contains("\"withheld\"") && published.contains("a child"), "{scheme}");
        for record in &private {
            let id = text(record, "id");
            assert!(!published.contains(id), "{scheme}: {id}");
            // Version 4, variant 1: 122 random bits.
            assert!(id.len() == 36 && &id[14..15] == "4" && "89ab".contains(&id[19..20]), "{id}");
        }
        let ids: std::collections::BTreeSet<&str> = private.iter().map(|record| text(record, "id")).collect();
        assert_eq!(ids.len(), 3);
    }
}
