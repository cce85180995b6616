//! A vouched commit is never taken for a proven one, whatever shows it.

use super::Project;
use crate::common;
use crate::store::scratch::Ran;

const REASON: &str = "Conflict solved by hand; Bob and I read it.";

/// A repository whose newest commit is a squash that fits no anchor, and that Ada vouches for.
struct Vouched {
    project: Project,
}

impl Vouched {
    fn new() -> Self {
        let project = Project::new();
        let key = project.scratch.around().join("ada");
        let mut keygen = common::command("ssh-keygen", project.scratch.around());
        let made = common::run(keygen.args(["-q", "-N", "", "-C", "", "-t", "ed25519", "-f"]).arg(&key));
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        let public = std::fs::read_to_string(key.with_extension("pub")).unwrap();
        project.git(&["checkout", "--quiet", "-b", "topic"]);
        project.proven("s1", "src/a.rs");
        project.git(&["checkout", "--quiet", "main"]);
        project.write(".proof/policy.toml", "[proof]\nvouchers = [\"ada@x\"]\n");
        project.write(".proof/allowed_signers", &format!("ada@x {public}"));
        project.git(&["commit", "--quiet", "--no-verify", "-m", "who may vouch"]);
        project.git(&["branch", "base"]);
        project.commit("src/a.rs", "not what was proven\n", "Squash (#7)\n\nProof-Grade: true");
        project.git(&["config", "gpg.format", "ssh"]);
        project.git(&["config", "user.signingkey", key.to_str().unwrap()]);
        let said = project.scratch.json(&["vouch", "HEAD", "--for", "base~1..topic", "--reason", REASON]);
        assert_eq!(said["verdict"], "vouched", "{said}");
        Self { project }
    }

    #[track_caller]
    fn shown(&self, arguments: &[&str]) -> String {
        let ran = self.project.scratch.run(arguments);
        assert_eq!(ran.exit, Some(0), "{arguments:?}: {ran:?}");
        assert_is_no_proof(&arguments.join(" "), &ran.out);
        assert_is_no_proof(&arguments.join(" "), &ran.err);
        ran.out
    }
}

/// Nothing in a text calls the commit proven or verified, or gives it a check mark.
#[track_caller]
fn assert_is_no_proof(what: &str, text: &str) {
    let lower = text.to_lowercase().replace("not proven", "");
    for word in ["proven", "verified", "passed", "✓", "✔", "☑", "✅", "mark pass", "\"commit pass"] {
        assert!(!lower.contains(word), "{what} says {word:?}: {text}");
    }
}

#[test]
fn the_terminal_says_vouched() {
    let vouched = Vouched::new();
    let verify = vouched.shown(&["verify", "base..main"]);
    assert!(verify.ends_with("\nVouched for, not proven: 1 vouched.\n"), "{verify}");
    assert!(verify.contains("vouched by ada@x: a person's word, not a proof\n"), "{verify}");
    assert!(verify.contains(&format!("\n  reason     {REASON}\n")), "{verify}");
    assert!(verify.contains("\n  session    s1 - 3 entries - evidence adds up - named by the person\n"), "{verify}");
    assert_eq!(vouched.shown(&["gate", "--base", "base"]).lines().last(), verify.lines().last());
    let show = vouched.shown(&["show", "HEAD"]);
    assert!(show.starts_with("~ ") && show.contains("vouched by ada@x: a person's word, not a proof"), "{show}");
    let log = vouched.shown(&["log", "base..main"]);
    assert!(log.starts_with("~ ") && log.ends_with("\nVouched for, not proven: 1 vouched.\n"), "{log}");
}

#[test]
fn a_comment_says_vouched() {
    let vouched = Vouched::new();
    for (form, arguments) in [
        ("git proof gate", &["gate", "--base", "base", "--format", "markdown"][..]),
        ("git proof", &["report", "base..main", "--markdown"]),
    ] {
        let text = vouched.shown(arguments);
        let top = format!("\n### {form}: 1 commit · 1 vouched\n\nVouched for, not proven. ");
        assert!(text.contains(&top), "{text}");
        assert!(text.contains("\n| **vouched** | "), "{text}");
        assert!(text.contains(&format!("vouched by `ada@x` (a person's word, not a proof): `{REASON}`<br>")), "{text}");
    }
}

#[test]
fn annotations_say_vouched() {
    let text = Vouched::new().shown(&["gate", "--base", "base", "--format", "github"]);
    assert!(text.contains("title=VOUCHED in "), "{text}");
    assert!(text.ends_with("\ngit proof gate: vouched for, not proven. 1 commit: 1 vouched.\n"), "{text}");
}

/// Tools that show JUnit files paint a case green that has no element inside.
#[test]
fn junit_counts_a_vouched_commit_as_skipped() {
    let text = Vouched::new().shown(&["gate", "--base", "base", "--format", "junit"]);
    assert!(text.contains("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\" "), "{text}");
    assert!(text.contains("<skipped message=\"vouched by ada@x: a person&apos;s word, not a proof\"/>"), "{text}");
}

#[test]
fn sarif_says_vouched() {
    let text = Vouched::new().project.gate("base", &["--format", "sarif"]).out;
    let log: serde_json::Value = serde_json::from_str(&text).unwrap();
    let run = &log["runs"][0];
    assert_eq!(run["properties"]["verdict"], "vouched");
    assert_eq!(
        (&run["properties"]["summary"]["pass"], &run["properties"]["summary"]["vouched"]),
        (&0.into(), &1.into())
    );
    let results = run["results"].as_array().unwrap();
    assert!(results.iter().any(|result| result["ruleId"] == "VOUCHED" && result["level"] == "note"), "{results:?}");
    for result in results {
        assert_ne!(result["kind"], "pass");
        assert_is_no_proof("sarif", result["message"]["text"].as_str().unwrap());
    }
}

#[test]
fn a_page_says_vouched() {
    let vouched = Vouched::new();
    let page = vouched.project.scratch.run(["report", "base..main", "--html", "-"]).out;
    // The style and the script are the same for every page; what they show is for the browser's tests.
    let style = page.find("<style>").unwrap()..page.find("</style>").unwrap();
    let script = page.rfind("<script>").unwrap()..page.rfind("</script>").unwrap();
    let shown = [&page[..style.start], &page[style.end..script.start], &page[script.end..]].concat();
    assert_is_no_proof("the page", &shown);
    assert!(shown.contains("<details class=\"commit vouched\""), "{shown}");
    assert!(shown.contains(">1 commit · 1 vouched<"), "{shown}");
    assert!(shown.contains("vouched by ada@x: a person&#39;s word, not a proof"), "{shown}");
}

#[test]
fn hooks_do_not_call_it_proven() {
    let vouched = Vouched::new();
    let project = &vouched.project;
    let server = project.scratch.around().join("server.git");
    let server = server.to_str().unwrap();
    project.git(&["init", "--quiet", "--bare", "--initial-branch=main", server]);
    project.git(&["remote", "add", "origin", server]);
    project.git(&["push", "--quiet", "--no-verify", "origin", "base:main"]);
    project.git(&["fetch", "--quiet", "origin"]);
    project.scratch.json(&["sync"]);
    let (old, new) = (project.git(&["rev-parse", "base"]), project.head());
    let run = |arguments: &[&str], place: &str, line: String| -> Ran {
        let mut command = project.scratch.proof(arguments);
        command.current_dir(place);
        let ran = common::run_with_input(&mut command, line.as_bytes());
        Ran { exit: ran.code, out: ran.stdout, err: ran.stderr }
    };
    let here = project.scratch.place.to_str().unwrap();
    let ran =
        run(&["hook", "pre-push", "origin", server], here, format!("refs/heads/main {new} refs/heads/main {old}\n"));
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert_is_no_proof("pre-push", &(ran.out + &ran.err));
    project.git(&["push", "--quiet", "--no-verify", "origin", "main:refs/keep/main"]);
    let ran = run(&["hook", "pre-receive"], server, format!("{old} {new} refs/heads/main\n"));
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert_is_no_proof("pre-receive", &(ran.out + &ran.err));
}
