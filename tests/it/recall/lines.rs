//! `why` and `blame`: from lines to decisions, wherever the lines went.

use super::{OTHER, OURS, Team, contents};
use crate::store::scratch::text;

const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

/// Two sessions: one changed two lines, the other one.
fn two_sessions() -> Team {
    let team = Team::new();
    let decision = ["Shout; rejected: whisper, nobody hears it"];
    team.decide(OURS, "loud", &decision, "a.txt", &LINES.replace("one", "ONE").replace("two", "TWO"));
    team.decide(
        OURS,
        "last",
        &["Count"],
        "a.txt",
        &LINES.replace("one", "ONE").replace("two", "TWO").replace("six", "6"),
    );
    team
}

#[test]
fn a_line_leads_to_the_decision_behind_it() {
    let team = two_sessions();
    let why = team.why(&["a.txt:2"]);
    assert_eq!(contents(&why), ["Shout; rejected: whisper, nobody hears it"]);
    let decision = &why["decisions"][0];
    assert_eq!(decision["rejected"][0], "whisper, nobody hears it");
    assert_eq!(decision["uncertain"][0], "doubt of loud");
    assert_eq!(
        (&decision["verdict"], &decision["stated"], &decision["own"]),
        (&"pass".into(), &true.into(), &true.into())
    );
    assert_eq!(why["commits"][0]["binding"], "exact");
    assert_eq!(why["sessions"][0]["intent"], "intent of loud");
    assert_eq!(contents(&team.why(&["a.txt:3,6"])), ["Count"]);
    assert_eq!(contents(&team.why(&["a.txt:3"])), Vec::<&str>::new());
    let shown = team.scratch.run(["why", "a.txt:2"]).text().to_owned();
    for expected in ["a.txt, line 2", "Shout", "rejected   whisper", "doubt of loud", "proven", "stated"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
}

#[test]
fn of_a_whole_file_the_decision_behind_most_lines_comes_first_and_of_lines_the_newest() {
    let team = two_sessions();
    let first = |arguments: &[&str]| contents(&team.why(arguments))[0].to_owned();
    assert!(first(&["a.txt"]).starts_with("Shout"));
    assert_eq!(first(&["a.txt:1,6"]), "Count");
    let whole = team.why(&["a.txt"]);
    assert_eq!((&whole["decisions"][0]["lines"], &whole["commits"][0]["lines"]), (&2.into(), &3.into()));
}

#[test]
fn lines_that_moved_were_set_in_or_were_copied_are_followed() {
    let team = two_sessions();
    let long: String = (0..8).map(|number| format!("a line of some length, number {number}\n")).collect();
    team.decide(OURS, "long", &["Long lines"], "b.txt", &format!("{long}end\n"));
    let at = |arguments: &[&str]| contents(&team.why(arguments)).join(",");
    // Set in.
    team.write(OURS, "a.txt", &LINES.replace("one", "    ONE").replace("two", "TWO").replace("six", "6"));
    team.commit(OURS, "Set in");
    assert_eq!(at(&["a.txt:1"]), "");
    assert!(at(&["-w", "a.txt:1"]).starts_with("Shout"));
    // Moved within the file.
    team.write(OURS, "b.txt", &format!("end\n{long}"));
    team.commit(OURS, "Moved");
    assert_eq!(at(&["-M", "b.txt:4"]), "Long lines");
    // Moved to another file.
    team.write(OURS, "b.txt", "end\n");
    team.write(OURS, "c.txt", &long);
    team.commit(OURS, "Copied");
    assert_eq!(at(&["c.txt:4"]), "");
    let copied = team.why(&["--copies", "--copies", "c.txt"]);
    assert_eq!(contents(&copied), ["Long lines"]);
    assert_eq!(copied["commits"][0]["path"], "b.txt");
}

#[test]
fn revisions_that_git_is_told_to_ignore_are_ignored() {
    let team = two_sessions();
    team.write(OURS, "a.txt", &LINES.replace("one", "ONE;").replace("two", "TWO").replace("six", "6"));
    let commit = team.commit(OURS, "Semicolons");
    assert_eq!(contents(&team.why(&["a.txt:1"])), Vec::<&str>::new());
    team.write(OURS, ".ignored-revs", &format!("{commit}\n"));
    team.git(OURS, &["config", "blame.ignoreRevsFile", ".ignored-revs"]);
    assert_eq!(contents(&team.why(&["a.txt:1"])).len(), 1);
}

#[test]
fn a_squash_leads_to_the_decisions_of_its_commits() {
    let team = Team::with_other();
    team.git(OURS, &["checkout", "-q", "-b", "feature"]);
    team.decide(OURS, "s1", &["Decision one"], "a.txt", &LINES.replace("one", "ONE"));
    team.decide(OURS, "s2", &["Decision two"], "a.txt", &LINES.replace("one", "ONE").replace("six", "SIX"));
    team.push(OURS, "feature");
    // A server makes the squash, without any hook of ours.
    team.git(OTHER, &["fetch", "-q"]);
    team.git(OTHER, &["config", "core.hooksPath", "/dev/null"]);
    team.git(OTHER, &["merge", "-q", "--squash", "origin/feature"]);
    let squash = team.commit(OTHER, "All of it");
    team.git(OTHER, &["push", "-q", "origin", "HEAD:refs/heads/main"]);
    team.git(OURS, &["checkout", "-q", "main"]);
    team.pull();
    let why = team.why(&["a.txt:1"]);
    assert!(contents(&why).contains(&"Decision one"), "{why}");
    assert_eq!((text(&why["commits"][0], "commit"), &why["commits"][0]["binding"]), (&*squash, &"squashed".into()));
    assert!(team.scratch.run(["why", "a.txt:1"]).text().contains("proven, squashed"));
}

#[test]
fn lines_that_are_not_committed_and_commits_without_a_session_are_said_to_be_so() {
    let team = Team::new();
    team.scratch.json(&["sync", "--fetch-only"]);
    team.write(OURS, "a.txt", &LINES.replace("one", "ONE"));
    let why = team.why(&["a.txt"]);
    assert_eq!((&why["uncommitted"], why["decisions"].as_array().unwrap().len()), (&1.into(), 0));
    let shown = team.scratch.run(["why", "a.txt"]).text().to_owned();
    assert!(shown.contains("1 line not committed yet") && shown.contains("No recorded decision"), "{shown}");
}

#[test]
fn decisions_are_unknown_where_the_proofs_were_not_fetched() {
    let team = two_sessions();
    team.push(OURS, "main");
    team.git(OURS, &["clone", "-q", "../remote", "../late"]);
    let why = || team.scratch.run(["-C", "../late", "why", "a.txt:1"]);
    let before = why().out;
    assert!(!before.contains("No recorded decision"), "{before}");
    assert!(before.contains(", so the decisions behind it are unknown.\n"), "{before}");
    assert!(before.contains("\nhint: git proof sync --fetch-only brings refs/notes/proof"), "{before}");
    team.scratch.json(&["-C", "../late", "sync", "--fetch-only"]);
    let after = why().out;
    assert!(after.contains("Shout") && !after.contains("hint: "), "{after}");
}

#[test]
fn decisions_are_unknown_in_a_clone_that_is_too_shallow() {
    let team = two_sessions();
    team.push(OURS, "main");
    let remote = format!("file://{}", team.scratch.place.join("../remote").display());
    team.git(OURS, &["clone", "-q", "--depth", "1", &remote, "../late"]);
    team.scratch.json(&["-C", "../late", "sync", "--fetch-only"]);
    let shown = team.scratch.run(["-C", "../late", "why", "a.txt"]);
    assert_eq!(shown.exit, Some(3), "{shown:?}");
    assert!(!shown.out.contains("No recorded decision"), "{}", shown.out);
    assert!(shown.out.contains("unknown.\nhint: if the clone is shallow: git fetch --unshallow"), "{}", shown.out);
}

#[test]
fn a_commit_or_a_record_is_shown_as_show_does() {
    let team = two_sessions();
    assert_eq!(team.scratch.run(["why", "HEAD"]).text(), team.scratch.run(["show", "HEAD"]).text());
    let record = text(&team.why(&["a.txt:1"])["decisions"][0], "id").to_owned();
    assert_eq!(team.scratch.run(["why", &record]).text(), team.scratch.run(["show", &record]).text());
}

#[test]
fn files_are_named_from_the_directory_that_one_is_in() {
    let team = Team::new();
    team.decide(OURS, "s1", &["Below"], "sub/ü b:3.txt", "x\n");
    std::fs::create_dir_all(team.scratch.place.join("sub/deeper")).unwrap();
    for (at, name) in [(".", "sub/ü b:3.txt"), ("sub", "ü b:3.txt:1"), ("sub/deeper", "../ü b:3.txt")] {
        let why = team.scratch.json(&["-C", at, "why", name]);
        assert_eq!((contents(&why), text(&why, "path")), (vec!["Below"], "sub/ü b:3.txt"));
    }
}

#[test]
fn what_is_no_file_no_line_or_ambiguous_is_refused() {
    let team = Team::new();
    for (place, code) in [
        ("nothing.txt", "ERR_RECORD_NOT_FOUND"),
        ("a.txt:0", "INVALID_PARAMS"),
        ("a.txt:3,2", "INVALID_PARAMS"),
        ("a.txt:99", "INVALID_PARAMS"),
        ("a.txt:,", "INVALID_PARAMS"),
        ("../x.txt:1", "INVALID_PARAMS"),
    ] {
        let error = team.scratch.refused(&["why", place], code, 2);
        assert!(!error.to_string().contains("hint: Support"), "{error}");
    }
    team.git(OURS, &["branch", "a.txt"]);
    team.scratch.refused(&["why", "a.txt"], "NAME_AMBIGUOUS", 2);
    assert_eq!(text(&team.why(&["./a.txt"]), "path"), "a.txt");
}

#[test]
fn a_file_that_is_gone_is_looked_at_in_a_commit() {
    let team = two_sessions();
    team.git(OURS, &["rm", "-q", "a.txt"]);
    team.commit(OURS, "Gone");
    assert_eq!(contents(&team.why(&["--at", "HEAD~1", "a.txt:6"])), ["Count"]);
}

#[test]
fn the_margin_names_a_decision_once_where_its_lines_follow() {
    let team = two_sessions();
    let shown = team.scratch.run(["blame", "a.txt"]).text().to_owned();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 6, "{shown}");
    assert!(lines[0].starts_with("Shout") && lines[0].ends_with("1 ONE"), "{shown}");
    assert!(lines[1].starts_with("   ") && lines[1].ends_with("2 TWO"), "{shown}");
    assert!(lines[5].starts_with("Count") && lines[5].ends_with("6 6"), "{shown}");
    let mut command = team.scratch.proof(["blame", "a.txt"]);
    let wide = command.env("COLUMNS", "200").env("LC_ALL", "C.UTF-8").output().unwrap();
    assert!(String::from_utf8_lossy(&wide.stdout).lines().next().unwrap().len() > lines[0].len());
}

#[test]
fn text_of_records_and_files_does_nothing_to_a_terminal() {
    let team = Team::new();
    let hostile = "red \u{1b}[31m \u{202e}right\u{9b}2J";
    team.decide(OURS, "s1", &[hostile], "a.txt", &format!("{hostile}\n{LINES}"));
    for command in ["why", "blame"] {
        let shown = team.scratch.run([command, "a.txt"]).text().to_owned();
        assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{9b}']), "{shown:?}");
    }
}
