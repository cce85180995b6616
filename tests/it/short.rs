//! The short forms: a text without an option, `decide`, and `done`, which closes a session in one step.

use git_proof::context::Context;
use git_proof::flow;
use git_proof::proof::timestamp::Timestamp;
use git_proof::record::Workspace;
use serde_json::Value;

use crate::store::scratch::{Scratch, text};

fn commit(scratch: &Scratch, name: &str) {
    commit_without_hooks(scratch, name);
    scratch.run(["hook", "post-commit"]).text();
}

fn commit_without_hooks(scratch: &Scratch, name: &str) {
    std::fs::write(scratch.place.join(name), format!("{name}\n")).unwrap();
    scratch.git(["add", "--all"]);
    scratch.git(["commit", "--quiet", "-m", name]);
}

#[test]
fn session_is_opened_decided_and_done_without_an_option() {
    let scratch = Scratch::new();
    let session = scratch.json(&["start", "make it idempotent"]);
    assert_eq!(session["intent"], "make it idempotent");
    assert_eq!(scratch.json(&["decide", "WAL; rejected: a journal"])["type"], "decision");
    commit(&scratch, "a");
    let done = scratch.json(&["done", "it is; not tried on network file systems"]);
    assert_eq!((&done["session_id"], &done["record_count"]), (&session["session_id"], &3.into()), "{done}");
    let judged = scratch.json(&["verify", "HEAD"]);
    assert_eq!((&judged["verdict"], &judged["commits"][0]["sessions"][0]["rooted"]), (&"pass".into(), &true.into()));
}

#[test]
fn record_takes_type_and_text_as_words_or_as_options() {
    let scratch = Scratch::new();
    scratch.start("s", &[]);
    for arguments in [
        &["record", "analysis", "the same"][..],
        &["record", "analysis", "-m", "the same"],
        &["record", "--type", "analysis", "--content", "the same"],
    ] {
        let record: Value = scratch.json(arguments);
        assert_eq!((&record["type"], &record["content"]), (&"analysis".into(), &"the same".into()), "{record}");
    }
}

#[test]
fn text_that_is_given_twice_is_refused_as_wrong_usage() {
    let scratch = Scratch::new();
    for arguments in [
        &["start", "a", "--intent", "b"][..],
        &["record", "plan", "a", "-m", "b"],
        &["record", "plan", "--type", "plan"],
    ] {
        assert_eq!(scratch.run(arguments.iter().copied()).exit, Some(2), "{arguments:?}");
    }
}

#[test]
fn session_that_is_done_cannot_be_done_again() {
    let scratch = Scratch::new();
    scratch.start("s", &[]);
    scratch.json(&["done", "nothing to do"]);
    let again = scratch.run(["--json", "done", "once more", "--session", "s"]);
    assert_eq!(again.exit, Some(1), "{again:?}");
    assert!(again.out.contains("ERR_ALREADY_FINALIZED") || again.err.contains("ERR_ALREADY_FINALIZED"), "{again:?}");
}

#[test]
fn status_in_a_line_says_only_what_there_is_to_say() {
    let scratch = Scratch::new();
    assert_eq!(scratch.run(["status", "--short"]).text(), "");
    assert!(!scratch.store().exists(), "a look made a store");
    scratch.json(&["start", "make it \u{1b}[31mfast"]);
    let line = scratch.run(["status", "-s"]).text().to_owned();
    assert_eq!(
        line,
        "session: make it \\u{1b}[31mfast; 0 commits; missing: a commit, a closing reflection, finalizing\n"
    );
    commit(&scratch, "a");
    scratch.json(&["anchor", "--session", text(&scratch.json(&["done", "it is fast"]), "session_id")]);
    assert_eq!(scratch.run(["status", "--short"]).text(), "unpublished: 1\n");
    assert_eq!(scratch.json(&["status", "--short"])["unpublished"], 1);
}

#[test]
fn second_start_says_that_the_first_session_is_still_open() {
    let scratch = Scratch::new();
    let first = scratch.json(&["start", "one thing"]);
    assert!(first.get("warnings").is_none(), "{first}");
    let id = text(&first, "session_id").to_owned();
    let ran = scratch.run(["start", "another thing"]);
    let hint = format!("git proof done --session {id} \"what was done, what is uncertain\" closes it");
    assert!(ran.exit == Some(0) && ran.err.contains(&hint), "{ran:?}");
    scratch.json(&["done", "--session", &id, "nothing came of it"]);
    let third = scratch.run(["start", "a third thing"]);
    assert!(third.err.contains("is still open"), "{third:?}");
}

#[test]
fn status_says_that_a_session_was_left_open_or_behind_on_another_branch() {
    let scratch = Scratch::new();
    scratch.json(&["init"]);
    commit(&scratch, "before");
    scratch.json(&["start", "one thing"]);
    commit(&scratch, "a");
    let said = scratch.run(["status"]).text().to_owned();
    assert!(!said.contains("  branch ") && !said.contains(", for "), "{said}");
    scratch.git(["checkout", "--quiet", "-b", "other", "HEAD~1"]);
    let said = scratch.run(["status"]).text().to_owned();
    assert!(said.contains("  branch     its commits are not on this branch; did you switch branches?\n"), "{said}");
    assert_eq!(scratch.json(&["status"])["session"]["is_elsewhere"], true);
}

#[test]
fn status_names_what_closes_a_session_that_was_left_open() {
    let scratch = Scratch::new();
    scratch.json(&["init"]);
    commit(&scratch, "before");
    scratch.json(&["start", "one thing", "--session-id", "one"]);
    commit(&scratch, "a");
    scratch.json(&["start", "another thing", "--session-id", "two"]);
    let said = scratch.run(["status"]).text().to_owned();
    let [one, two] =
        ["git proof done --session one \"what was done, what is uncertain\"", "git proof end --session two"];
    assert!(said.contains(&format!("  to close   {one}\n")) && !said.contains(two), "{said}");
    assert!(said.ends_with("Next: git commit\n"), "{said}");
    let years_later = || {
        let later = Timestamp::parse("2099-01-02T03:04:05.678Z").unwrap();
        let context = Context::new(scratch.place.clone()).with_clock(later);
        flow::status(&mut Workspace::open(context).unwrap()).unwrap()
    };
    let status = years_later();
    assert_eq!(status.next.to_string(), two);
    assert_eq!(status.open_sessions[0].close.as_ref().unwrap().to_string(), one);
}

#[test]
fn session_that_explains_no_commit_says_so_when_it_is_done() {
    let scratch = Scratch::new();
    let started = scratch.run(["start", "before init"]).text().to_owned();
    assert!(started.ends_with("will not know of its commits.\nNext: git proof init\n"), "{started}");
    commit_without_hooks(&scratch, "a");
    let done = scratch.run(["done", "nobody saw the commit"]);
    assert!(done.err.contains("no commit, because git runs no hooks of ours here\nhint: git proof init "), "{done:?}");
    scratch.json(&["init"]);
    let started = scratch.run(["start", "too early"]).text().to_owned();
    assert!(started.ends_with("\nNext: git proof decide \"what was chosen, and what was rejected\"\n"), "{started}");
    let done = scratch.run(["done", "nothing is staged"]);
    assert!(done.err.contains("hint: to explain a commit that was made: git proof cover HEAD "), "{done:?}");
    assert_eq!(scratch.json(&["status"])["waiting"], Value::Null);
}

#[test]
fn session_that_was_closed_before_the_commit_says_what_it_waits_for() {
    let scratch = Scratch::new();
    scratch.json(&["init"]);
    commit(&scratch, "before");
    scratch.json(&["start", "one thing", "--session-id", "one"]);
    std::fs::write(scratch.place.join("a"), "a\n").unwrap();
    scratch.git(["add", "--all"]);
    let done = scratch.run(["done", "it is staged"]);
    assert!(done.err.contains("explains what is staged, and no commit yet\nhint: git commit\n"), "{done:?}");
    let said = scratch.run(["status"]).text().to_owned();
    assert!(said.contains("Session one is finalized and explains what is staged; commit exactly that.\n"), "{said}");
    assert!(said.ends_with("Next: git commit\n"), "{said}");
    std::fs::write(scratch.place.join("b"), "b\n").unwrap();
    scratch.git(["add", "--all"]);
    assert_eq!(scratch.json(&["status"])["waiting"], Value::Null, "something else is staged");
    scratch.git(["reset", "--quiet", "b"]);
    scratch.git(["commit", "--quiet", "-m", "a"]);
    assert_eq!(scratch.json(&["status"])["waiting"], Value::Null, "it is committed");
    let again = scratch.run(["finalize", "--session", "one"]);
    assert!(!again.err.contains("no commit yet"), "{again:?}");
}

#[test]
fn start_says_that_the_environment_names_another_session() {
    let said = |named: &str| {
        let scratch = Scratch::new();
        let mut start = scratch.command(env!("CARGO_BIN_EXE_git-proof"));
        start.env("GIT_PROOF_SESSION", named).args(["start", "one thing", "--session-id", "s-1"]);
        String::from_utf8(start.output().unwrap().stderr).unwrap()
    };
    assert!(said("gone").ends_with("to work in the new one: unset GIT_PROOF_SESSION\n"));
    assert_eq!(said("s-1"), "");
}

#[test]
fn commit_that_adds_the_policy_is_known_to_need_a_proof() {
    let scratch = Scratch::new();
    scratch.json(&["init"]);
    commit(&scratch, "before");
    let ran = scratch.run(["init", "--policy"]);
    assert!(ran.err.contains("needs a proof itself\nhint: git proof start "), "{ran:?}");
    scratch.git(["add", "--all"]);
    scratch.git(["commit", "--quiet", "-m", "Add the policy"]);
    let next = text(&scratch.json(&["status"]), "next").to_owned();
    assert!(next.starts_with("git proof cover "), "{next}");
}

#[test]
fn what_end_prints_can_be_typed_for_the_session_that_has_ended() {
    let scratch = Scratch::new();
    scratch.json(&["start", "one", "--session-id", "s"]);
    scratch.json(&["record", "reflection", "nothing came of it"]);
    let ended = scratch.run(["end", "--session", "s"]).text().to_owned();
    assert_eq!(ended, "Session s has ended. To finalize it: git proof finalize --session s\n");
    scratch.json(&["finalize", "--session", "s"]);
    scratch.json(&["start", "two", "--session-id", "t"]);
    scratch.json(&["record", "plan", "look around"]);
    let ended = scratch.run(["end"]).text().to_owned();
    assert!(ended.ends_with(": git proof start \"what you are about to do\" --continues t\n"), "{ended}");
    scratch.json(&["start", "what you are about to do", "--continues", "t", "--session-id", "u"]);
    scratch.json(&["end", "--session", "u"]);
    scratch.json(&["start", "three", "--session-id", "v"]);
    let ended = scratch.run(["end"]).text().to_owned();
    assert!(ended.ends_with("no entries. To open another: git proof start \"what you are about to do\"\n"), "{ended}");
}
