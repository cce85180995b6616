//! `check-proof` and `check-evidence` as a user meets them: arguments, exit codes, and what is said.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::os::unix::ffi::OsStringExt as _;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{self, Run, git_proof};

const ROOT: &str = "3a6d3c9ff4ab0e0ba9eb9bd6f0e6f1e5d8f0d0d8ab9c5c3a5d0e1c1f6a3b2c1d";

/// A directory with a proof and an evidence file out of the vectors, and what they must be held against.
struct Files {
    directory: TempDir,
    root: String,
    count: String,
}

impl Files {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let sessions = vectors("sessions");
        let session = &sessions.as_array().unwrap()[3]["schemes"]["v1"];
        let root = session["root"].as_str().unwrap().to_owned();
        let proofs = vectors("proofs");
        let of_session = |vector: &&Value| vector["valid"] == true && vector["proof"]["root"] == root.as_str();
        let proof = &proofs.as_array().unwrap().iter().find(of_session).unwrap()["proof"];
        let files = Self { root, count: session["count"].to_string(), directory };
        files.write("evidence", session["evidence"].as_str().unwrap());
        files.write("proof", &(proof_line(proof) + "\n"));
        files
    }

    fn write(&self, name: impl AsRef<std::path::Path>, text: impl AsRef<[u8]>) {
        std::fs::write(self.directory.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.directory.path().join(name)).unwrap()
    }

    fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = git_proof(self.directory.path());
        command.args(arguments);
        command
    }

    fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Run {
        common::run(&mut self.command(arguments))
    }

    /// Runs a check of a file against the trusted root and count.
    fn check(&self, verb: &str, file: &str) -> Run {
        self.run(&[verb, file, "--root", &self.root, "--count", &self.count])
    }
}

fn vectors(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// A proof as its file has it: in reading order.
fn proof_line(proof: &Value) -> String {
    let steps: Vec<String> = proof["proof"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| format!("{{\"hash\":{},\"position\":{}}}", step["hash"], step["position"]))
        .collect();
    format!(
        "{{\"scheme\":{},\"leaf_hash\":{},\"index\":{},\"count\":{},\"proof\":[{}],\"root\":{}}}",
        proof["scheme"],
        proof["leaf_hash"],
        proof["index"],
        proof["count"],
        steps.join(","),
        proof["root"]
    )
}

/// Nothing on standard output, this exit code; the answer is what stands on standard error.
#[track_caller]
fn refused(run: Run, code: i32) -> String {
    assert_eq!((run.code, run.stdout.as_str()), (Some(code), ""), "{}", run.stderr);
    run.stderr
}

#[track_caller]
fn accepted(run: Run) -> String {
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    run.stdout
}

fn parsed(text: &str) -> Value {
    assert_eq!(text.matches('\n').count(), 1, "one line: {text}");
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_proof_that_holds_is_said_to_hold() {
    let files = Files::new();
    assert_snapshot!(accepted(files.check("check-proof", "proof")), @"
    The proof holds: entry 2938a6c3648ee73a48c1a178c0132f3c09c3939ed8eb4b5cae89469c772daa55
    is number 0 (from 0) of 4 under root 9c07a090a4c937e8da2a712c7939a98e72b15ea163fcbdd558f18d05a88479ec (v1).
    ");
}

#[test]
fn evidence_that_holds_is_summed_up() {
    let files = Files::new();
    assert_snapshot!(accepted(files.check("check-evidence", "evidence")), @"
    The evidence holds, and adds up to the root and count you gave.
      session  e4aadc9b-4794-4c44-9e38-d501f3d56d97 (v1)
      root     9c07a090a4c937e8da2a712c7939a98e72b15ea163fcbdd558f18d05a88479ec
      count    4
      withheld 0
      genesis  926ca867307d62c9abcdac98393d8e6727327ad34540f1fec7f8044e5c9e4df2
      head     faefffcfc19c5b7604ddb57ae5e048beecdc343b190cee49b822e620bec3d62e
      closing  closed by a reflection
    ");
}

#[test]
fn evidence_without_a_trusted_root_says_what_to_compare() {
    let files = Files::new();
    let said = accepted(files.run(&["check-evidence", "evidence"]));
    assert_snapshot!(said.lines().next().unwrap(), @"The evidence is whole. Compare root and count with ones that you trust.");
}

#[test]
fn a_proof_that_holds_is_json_on_request() {
    let files = Files::new();
    let run = files.run(&["check-proof", "proof", "--root", &files.root, "--count", &files.count, "--json"]);
    let proof: Value = serde_json::from_str(&files.read("proof")).unwrap();
    let expected = json!({
        "verdict": "pass",
        "valid": true,
        "scheme": "v1",
        "leaf_hash": proof["leaf_hash"],
        "index": proof["index"],
        "count": 4,
        "root": files.root,
    });
    assert_eq!(parsed(&accepted(run)), expected);
}

#[test]
fn evidence_that_holds_is_json_on_request() {
    let files = Files::new();
    let outcome = parsed(&accepted(files.run(&["--json", "check-evidence", "evidence"])));
    let keys: Vec<_> = outcome.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "closed_by_reflection",
            "count",
            "genesis",
            "head",
            "ignored",
            "proof_grade",
            "reflection",
            "root",
            "scheme",
            "session_id",
            "trusted",
            "verdict",
            "withheld"
        ]
    );
    assert_eq!((&outcome["root"], &outcome["count"]), (&json!(files.root), &json!(4)));
    assert_eq!((&outcome["withheld"], &outcome["trusted"]), (&json!(0), &json!(false)));
}

#[test]
fn a_dash_is_standard_input() {
    let files = Files::new();
    for verb in ["proof", "evidence"] {
        let arguments = [&format!("check-{verb}"), "-", "--root", &files.root, "--count", &files.count];
        let run = common::run_with_input(&mut files.command(&arguments), files.read(verb).as_bytes());
        assert!(!accepted(run).is_empty());
    }
}

#[test]
fn a_proof_may_lack_its_final_newline() {
    let files = Files::new();
    files.write("proof", files.read("proof").trim_end());
    accepted(files.check("check-proof", "proof"));
}

#[test]
fn a_proof_for_another_root_is_refused_by_field() {
    let files = Files::new();
    let run = files.run(&["check-proof", "proof", "--root", ROOT, "--count", "4"]);
    assert_snapshot!(refused(run, 1), @r#"
    error: the proof in proof is refused: line 1: field "root": the proof is for another root
    hint: take root and count from the anchor of the session that the record belongs to
    "#);
}

#[test]
fn a_proof_for_another_count_is_refused_by_field() {
    let files = Files::new();
    let run = files.run(&["check-proof", "proof", "--root", &files.root, "--count", "5"]);
    assert_snapshot!(refused(run, 1), @r#"
    error: the proof in proof is refused: line 1: field "count": the proof is for another number of entries
    hint: take root and count from the anchor of the session that the record belongs to
    "#);
}

#[test]
fn a_proof_that_was_reformatted_is_refused_by_line_and_field() {
    let files = Files::new();
    files.write("proof", files.read("proof").replace(",\"count\"", ", \"count\""));
    assert_snapshot!(refused(files.check("check-proof", "proof"), 1), @r#"
    error: the proof in proof is refused: line 1: field "count": expected here; a field is missing, unknown or out of order, or there is white space (byte 103)
    hint: pass on the file as it was printed: one line, nothing added, nothing reformatted
    "#);
}

#[test]
fn an_edited_entry_is_refused_by_line_and_field() {
    let files = Files::new();
    let evidence = files.read("evidence");
    let third = evidence.lines().nth(2).unwrap();
    files.write("evidence", evidence.replace(third, &third.replacen("\"content\":\"", "\"content\":\"x", 1)));
    // The entry itself is well-formed; the next one does not follow from it.
    assert_snapshot!(refused(files.check("check-evidence", "evidence"), 1), @r#"
    error: the evidence in evidence is refused: line 4: field "prev_hash": neither the genesis nor the chain hash of an earlier line
    hint: fetch the file anew; if it still does not hold, it is not what was anchored
    "#);
}

#[test]
fn an_entry_with_an_unknown_field_is_refused_by_line_and_field() {
    let files = Files::new();
    files.write("evidence", files.read("evidence").replacen(",\"prev_hash\"", ",\"new\":1,\"prev_hash\"", 1));
    assert_snapshot!(refused(files.check("check-evidence", "evidence"), 1), @r#"
    error: the evidence in evidence is refused: line 2: field "prev_hash": expected here; a field is missing, unknown or out of order, or there is white space (byte 152)
    hint: fetch the file anew; if it still does not hold, it is not what was anchored
    "#);
}

#[test]
fn evidence_cut_off_in_a_line_is_refused() {
    let files = Files::new();
    let evidence = files.read("evidence");
    files.write("evidence", &evidence[..evidence.len() - 1]);
    assert_snapshot!(refused(files.check("check-evidence", "evidence"), 1), @"
    error: the evidence in evidence is refused: line 5: does not end in a newline; the file may be cut off
    hint: fetch the file anew; if it still does not hold, it is not what was anchored
    ");
}

#[test]
fn evidence_cut_off_between_lines_is_refused_by_its_count() {
    let files = Files::new();
    let evidence = files.read("evidence");
    let lines: Vec<_> = evidence.split_inclusive('\n').collect();
    files.write("evidence", lines[..4].concat());
    assert_snapshot!(refused(files.check("check-evidence", "evidence"), 1), @r#"
    error: the evidence in evidence is refused: line 4: field "count": there are 3 entries
    hint: fetch the file anew; if it still does not hold, it is not what was anchored
    "#);
}

#[test]
fn evidence_for_another_root_is_refused() {
    let files = Files::new();
    let run = files.run(&["check-evidence", "evidence", "--root", ROOT, "--count", "4"]);
    assert_snapshot!(refused(run, 1), @r#"
    error: the evidence in evidence is refused: line 5: field "root": the lines up to here add up to 9c07a090a4c937e8da2a712c7939a98e72b15ea163fcbdd558f18d05a88479ec
    hint: fetch the file anew; if it still does not hold, it is not what was anchored
    "#);
}

#[test]
fn a_refusal_is_json_on_standard_error_on_request() {
    let files = Files::new();
    for verb in ["proof", "evidence"] {
        let run = files.run(&["--json", &format!("check-{verb}"), verb, "--root", ROOT, "--count", "4"]);
        let error = parsed(&refused(run, 1));
        let keys: Vec<_> = error["error"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["code", "details", "hint", "message"]);
        assert_eq!(error["error"]["code"], format!("ERR_{}_INVALID", verb.to_uppercase()));
        assert_eq!(error["error"]["details"]["field"], "root");
        assert!(error["error"]["details"]["line"].is_u64());
    }
}

#[test]
fn an_empty_file_is_refused() {
    let files = Files::new();
    files.write("empty", "");
    for verb in ["check-proof", "check-evidence"] {
        assert!(refused(files.check(verb, "empty"), 1).contains("line 1"));
    }
}

#[test]
fn binary_junk_is_refused() {
    let files = Files::new();
    let junk: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    files.write("junk", &junk);
    for verb in ["check-proof", "check-evidence"] {
        assert!(refused(files.check(verb, "junk"), 1).contains("line 1"));
    }
}

#[test]
fn a_line_without_an_end_is_refused_at_its_limit() {
    let files = Files::new();
    files.write("long", vec![b'x'; (8 << 20) + 1]);
    assert_snapshot!(refused(files.run(&["check-evidence", "long"]), 1), @"
    error: the evidence in long is refused: line 1: longer than 8388608 bytes
    hint: fetch the file anew; if it still does not hold, it is not what was anchored
    ");
}

#[test]
fn a_file_that_is_not_there_could_not_be_checked() {
    let files = Files::new();
    let said = refused(files.check("check-proof", "nowhere"), 3);
    assert_eq!(said, refused(files.check("check-evidence", "nowhere"), 3));
    assert_snapshot!(said, @"
    error: cannot read nowhere
      caused by: No such file or directory (os error 2)
    hint: name a file that exists, or - for standard input
    ");
}

#[test]
fn a_directory_could_not_be_checked() {
    let files = Files::new();
    let said = refused(files.check("check-proof", "."), 3);
    assert_eq!(said, refused(files.check("check-evidence", "."), 3));
    assert_snapshot!(said, @"
    error: cannot read .
      caused by: it is a directory
    hint: name a file that exists, or - for standard input
    ");
}

#[test]
fn a_proof_without_a_trusted_root_could_not_be_checked() {
    let files = Files::new();
    assert_snapshot!(refused(files.run(&["check-proof", "proof"]), 3), @"
    error: a proof can only be checked against a root and count that you trust
    hint: add --root and --count from an anchor or from `git proof root`; the proof's own are only a claim
    ");
}

#[test]
fn a_root_without_its_count_is_wrong_usage() {
    let files = Files::new();
    for verb in ["check-proof", "check-evidence"] {
        assert!(refused(files.run(&[verb, "proof", "--root", ROOT]), 2).contains("--count"));
        assert!(refused(files.run(&[verb, "proof", "--count", "4"]), 2).contains("--root"));
    }
}

#[test]
fn a_root_that_is_none_is_wrong_usage() {
    let files = Files::new();
    for root in ["", "abc", &ROOT.to_uppercase(), &format!("{ROOT} "), "\u{1b}[31m"] {
        let said = refused(files.run(&["check-evidence", "evidence", "--root", root, "--count", "4"]), 2);
        assert!(said.starts_with("error: --root takes 64 lower-case hex digits") && !said.contains('\u{1b}'), "{said}");
    }
}

#[test]
fn a_count_that_is_none_is_wrong_usage() {
    let files = Files::new();
    for count in ["", "0", "-1", "1.0", "four", "9007199254740992", "99999999999999999999"] {
        let count = format!("--count={count}");
        let said = refused(files.run(&["check-evidence", "evidence", "--root", ROOT, &count]), 2);
        assert!(said.starts_with("error: --count takes a number of entries, at least 1"), "{said}");
    }
}

#[test]
fn wrong_usage_is_json_on_standard_error_on_request() {
    let files = Files::new();
    for arguments in [&["check-proof", "--json"][..], &["--json", "no-such-verb"], &["--json", "check-proof", "--no"]] {
        let error = parsed(&refused(files.run(arguments), 2));
        assert_eq!(error["error"]["code"], "INVALID_PARAMS", "{arguments:?}");
    }
}

#[test]
fn no_arguments_are_wrong_usage() {
    let said = refused(Files::new().run::<&str>(&[]), 2);
    assert!(said.contains("Usage:"), "{said}");
}

#[test]
fn a_file_name_with_an_escape_sequence_is_shown_inert() {
    let files = Files::new();
    let name = "a\u{1b}[31mred\u{7}\u{202e}";
    let run = files.run(&["check-evidence", name]);
    assert_eq!(refused(run, 3).lines().next().unwrap(), r"error: cannot read a\u{1b}[31mred\u{7}\u{202e}");
    files.write(name, "junk\n");
    let said = refused(files.run(&["check-evidence", name]), 1);
    assert!(said.contains(r"a\u{1b}[31mred\u{7}\u{202e}") && !said.contains('\u{1b}'), "{said}");
}

#[test]
fn a_wrong_argument_with_an_escape_sequence_is_shown_inert() {
    let said = refused(Files::new().run(&["no\u{1b}]0;title\u{7}\u{9b}31m\u{202e}"]), 2);
    assert!(said.lines().all(|line| !line.contains(|c: char| c.is_control() || c == '\u{202e}')), "{said:?}");
}

#[test]
fn a_file_name_that_is_not_utf8_is_read() {
    let files = Files::new();
    let name = OsString::from_vec(b"evid\xffence".to_vec());
    files.write(&name, files.read("evidence"));
    accepted(files.run(&[OsStr::new("check-evidence"), &name]));
}

#[test]
fn an_answer_that_nobody_reads_is_no_success() {
    let files = Files::new();
    let mut child = files
        .command(&["check-evidence", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The reader is gone before the command has anything to say.
    drop(child.stdout.take());
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), files.read("evidence").as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4));
}

#[test]
#[cfg(target_os = "linux")]
fn an_answer_that_finds_no_space_is_no_success() {
    let files = Files::new();
    for arguments in
        [&["check-evidence", "evidence"][..], &["--json", "check-evidence", "evidence"], &["--help"], &["--version"]]
    {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let status = files.command(arguments).stdout(full).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(4), "{arguments:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_refusal_that_nobody_hears_is_still_a_refusal() {
    let files = Files::new();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = files.command(&["check-evidence", "nowhere"]).stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(3));
}

#[test]
fn help_and_version_are_answers() {
    let files = Files::new();
    for arguments in [&["--help"][..], &["help"], &["check-proof", "--help"], &["help", "check-evidence"], &["-h"]] {
        assert!(accepted(files.run(arguments)).contains("Usage: git proof"), "{arguments:?}");
    }
    assert_eq!(accepted(files.run(&["--version"])), format!("git-proof {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_help_of_each_command_has_examples() {
    let files = Files::new();
    for verb in ["check-proof", "check-evidence"] {
        assert!(accepted(files.run(&[verb, "--help"])).contains("Examples:"));
    }
}
