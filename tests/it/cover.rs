//! `cover`: commits that exist already are explained afterwards, and every verdict says that it was so.

use serde_json::Value;

use crate::store::scratch::{Ran, Scratch, text};

const POLICY: &str = "[proof_grade]\nrequire = \"all\"\n";

/// A repository in which nothing but the policy is proven.
fn forgotten() -> Scratch {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.place.join(".proof")).unwrap();
    std::fs::write(scratch.place.join(".proof/policy.toml"), POLICY).unwrap();
    commit(&scratch, "Policy");
    std::fs::write(scratch.place.join("a"), "a\n").unwrap();
    commit(&scratch, "Add a");
    scratch
}

fn commit(scratch: &Scratch, message: &str) -> String {
    scratch.git(["add", "--all"]);
    scratch.git(["commit", "--quiet", "--allow-empty", "-m", message]);
    scratch.git(["rev-parse", "HEAD"]).trim_end().to_owned()
}

fn verify(scratch: &Scratch, revision: &str) -> (Option<i32>, Value) {
    let ran: Ran = scratch.run(["--json", "verify", revision]);
    let outcome: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    (ran.exit, outcome["commits"][0].clone())
}

#[test]
fn forgotten_commit_is_proven_with_one_command_and_the_verdict_says_afterwards() {
    let scratch = forgotten();
    let (exit, before) = verify(&scratch, "HEAD");
    assert_eq!((exit, &before["verdict"]), (Some(1), &"missing".into()), "{before}");
    let covered = scratch.json(&["cover", "HEAD", "-m", "a was missing; not tried on Windows"]);
    assert_eq!((&covered["opened"], &covered["commits"][0]["attested"]), (&true.into(), &true.into()), "{covered}");
    let (exit, after) = verify(&scratch, "HEAD");
    assert_eq!((exit, &after["verdict"], &after["binding"]), (Some(0), &"pass".into(), &"exact".into()), "{after}");
    for arguments in [&["verify", "HEAD"][..], &["show", "HEAD"], &["report", "--markdown", "-", "HEAD"]] {
        let said = scratch.run(arguments).out;
        assert!(said.contains(", recorded afterwards"), "{arguments:?}: {said}");
    }
    assert_eq!((&after["sessions"][0]["rooted"], &after["sessions"][0]["afterwards"]), (&true.into(), &true.into()));
}

#[test]
fn commit_of_an_open_session_is_not_afterwards() {
    let scratch = forgotten();
    scratch.start("s", &[]);
    std::fs::write(scratch.place.join("b"), "b\n").unwrap();
    commit(&scratch, "Add b");
    scratch.run(["hook", "post-commit"]).text();
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
    let (_, judged) = verify(&scratch, "HEAD");
    assert_eq!((&judged["verdict"], &judged["sessions"][0]["afterwards"]), (&"pass".into(), &false.into()), "{judged}");
}

#[test]
fn open_session_takes_the_commits_and_stays_open() {
    let scratch = forgotten();
    scratch.start("s", &[]);
    let covered = scratch.json(&["cover", "HEAD~1..HEAD"]);
    assert_eq!((text(&covered, "session_id"), &covered["opened"]), ("s", &false.into()), "{covered}");
    let again = scratch.json(&["cover", "HEAD"]);
    assert_eq!(again["commits"][0]["attested"], false, "{again}");
    scratch.record("reflection", "done");
    scratch.json(&["finalize"]);
    assert_eq!(verify(&scratch, "HEAD").1["verdict"], "pass");
}

#[test]
fn without_a_reflection_it_says_what_to_type_and_that_works() {
    let scratch = forgotten();
    let said = scratch.run(["cover", "HEAD"]);
    let commands: Vec<&str> = said.text().lines().filter_map(|line| line.strip_prefix("  git proof ")).collect();
    assert!(matches!(commands.as_slice(), [one] if one.starts_with("done --session ")), "{said:?}");
    for command in commands {
        let line = format!("'{}' {command}", env!("CARGO_BIN_EXE_git-proof"));
        let ran: Ran = scratch.command("sh").args(["-c", &line]).output().unwrap().into();
        assert_eq!(ran.exit, Some(0), "{command}: {ran:?}");
    }
    assert_eq!(verify(&scratch, "HEAD").1["verdict"], "pass");
}

#[test]
fn closing_reflection_of_a_cover_attests_nothing_that_is_staged() {
    let scratch = forgotten();
    std::fs::write(scratch.place.join("b"), "somebody's\n").unwrap();
    scratch.git(["add", "b"]);
    let covered = scratch.json(&["cover", "HEAD", "-m", "only a"]);
    assert_eq!(covered["finalized"]["record_count"], 2, "{covered}");
    commit(&scratch, "Add b");
    scratch.run(["hook", "post-commit"]).text();
    assert_eq!(verify(&scratch, "HEAD").1["verdict"], "missing");
}

#[test]
fn several_commits_and_ranges_are_covered_by_one_session() {
    let scratch = forgotten();
    for name in ["b", "c", "d"] {
        std::fs::write(scratch.place.join(name), "x\n").unwrap();
        commit(&scratch, &format!("Add {name}"));
    }
    let covered = scratch.json(&["cover", "HEAD~3", "HEAD~2..HEAD", "HEAD", "-m", "letters"]);
    assert_eq!(covered["commits"].as_array().unwrap().len(), 3, "{covered}");
    for (revision, verdict) in [("HEAD~3", "pass"), ("HEAD~2", "missing"), ("HEAD~1", "pass"), ("HEAD", "pass")] {
        assert_eq!(verify(&scratch, revision).1["verdict"], verdict, "{revision}");
    }
}

#[test]
fn bad_input_is_refused_and_nothing_is_recorded() {
    let scratch = forgotten();
    scratch.refused(&["cover", "nowhere"], "ERR_COMMIT_NOT_FOUND", 2);
    scratch.refused(&["cover", "HEAD..HEAD"], "INVALID_PARAMS", 2);
    scratch.refused(&["cover", "HEAD", "-m", ""], "INVALID_PARAMS", 2);
    scratch.refused(&["cover", "HEAD", "--session", "never"], "ERR_SESSION_NOT_FOUND", 2);
    assert_eq!(scratch.run(["cover"]).exit, Some(2));
    assert_eq!(scratch.json(&["log", "--all"])["sessions"].as_array().unwrap().len(), 0);
}

#[test]
fn finalized_session_takes_no_commit_and_an_ended_one_neither() {
    let scratch = forgotten();
    let covered = scratch.json(&["cover", "HEAD", "-m", "done"]);
    let session = text(&covered, "session_id");
    scratch.refused(&["cover", "HEAD~1", "--session", session], "ERR_ALREADY_FINALIZED", 1);
    // Without a name a new session is opened.
    assert_eq!(scratch.json(&["cover", "HEAD~1", "-m", "the policy"])["opened"], true);
}
