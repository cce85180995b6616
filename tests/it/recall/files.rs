//! Decision before edit, from the hooks of an agent to the verdict.

use serde_json::{Value, json};

use super::{OURS, Team};
use crate::store::scratch::text;

/// An agent of Claude Code at work in our clone.
struct Agent<'t> {
    team: &'t Team,
}

impl Agent<'_> {
    fn send(&self, event: &str, more: &Value) {
        self.team.told("c1", event, more);
    }

    fn decide(&self, decision: &str) -> Value {
        let mut command = self.team.scratch.proof(["--json", "decide", decision]);
        let output = command.env("CLAUDE_CODE_SESSION_ID", "c1").output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn edit(&self, path: &str, content: &str) {
        self.team.write(OURS, path, content);
        let path = self.team.scratch.place.join(path);
        let call = json!({ "tool_name": "Write", "tool_input": { "file_path": path }, "tool_response": {} });
        self.send("PostToolUse", &call);
    }

    /// Runs a command; what happens meanwhile is done by `during`.
    fn shell(&self, command: &str, passes: bool, during: impl FnOnce()) {
        let call = json!({ "tool_name": "Bash", "tool_use_id": command, "tool_input": { "command": command } });
        self.send("PreToolUse", &call);
        during();
        let mut after = call;
        if passes {
            after["tool_response"] = json!({ "stdout": "", "interrupted": false });
            self.send("PostToolUse", &after);
        } else {
            after["error"] = json!("Exit code 2");
            self.send("PostToolUseFailure", &after);
        }
    }

    fn commit(&self) -> Value {
        let commit = || {
            let mut git = self.team.scratch.command("git");
            git.args(["commit", "-qam", "Work"]).env("CLAUDE_CODE_SESSION_ID", "c1");
            self.team.git(OURS, &["add", "--all"]);
            assert!(git.status().unwrap().success());
        };
        self.shell("git commit -qam Work", true, commit);
        self.send("SessionEnd", &json!({}));
        let ran = self.team.scratch.run(["--json", "verify"]);
        let outcome: Value = serde_json::from_str(&ran.out).unwrap();
        outcome["commits"][0].clone()
    }
}

fn file<'a>(commit: &'a Value, path: &str) -> &'a Value {
    commit["files"].as_array().unwrap().iter().find(|file| file["path"] == path).unwrap_or_else(|| panic!("{commit}"))
}

#[test]
fn verdict_says_after_which_decision_a_file_was_written_and_whether_a_check_passed() {
    let team = Team::new();
    let agent = Agent { team: &team };
    agent.edit("early.txt", "early\n");
    let decision = agent.decide("Write late");
    agent.edit("late.txt", "late\n");
    team.write(OURS, "hand.txt", "hand\n");
    agent.shell("make check", true, || ());
    agent.edit("last.txt", "last\n");
    agent.edit("formatted.txt", "before\n");
    team.write(OURS, "formatted.txt", "after\n");
    let commit = agent.commit();
    assert_eq!(commit["verdict"], "pass", "{commit}");
    let early = file(&commit, "early.txt");
    assert_eq!(
        (&early["seen"], &early["after"], &early["checked_after"]),
        (&"written".into(), &Value::Null, &"passed".into())
    );
    let late = file(&commit, "late.txt");
    assert_eq!((&late["after"], &late["checked_after"]), (&decision["content_hash"], &"passed".into()));
    let last = file(&commit, "last.txt");
    assert_eq!((&last["after"], &last["checked_after"]), (&decision["content_hash"], &Value::Null));
    for path in ["hand.txt", "formatted.txt"] {
        let other = file(&commit, path);
        assert_eq!((&other["seen"], &other["after"]), (&"not_seen".into(), &Value::Null), "{path}");
    }
    let shown = team.scratch.run(["show"]).text().split_whitespace().collect::<Vec<_>>().join(" ");
    let number = decision["index"].as_u64().unwrap();
    assert!(
        shown.contains(&format!(
            "late.txt: written by a recorded edit, after decision {number}, make check passed afterwards"
        )),
        "{shown}"
    );
    assert!(shown.contains("hand.txt: not seen by an edit tool"), "{shown}");
    let page = team.scratch.run(["report", "--html", "-", "HEAD"]).text().to_owned();
    assert!(
        page.contains(&format!(
            "<code>late.txt</code><i> added; written by a recorded edit, after decision {number}, "
        ))
    );
    let why = team.why(&["late.txt"]);
    assert_eq!(why["commits"][0]["file"]["after"], decision["content_hash"]);
}

#[test]
fn a_check_that_failed_or_ran_while_a_file_was_written_has_not_passed() {
    let team = Team::new();
    let agent = Agent { team: &team };
    agent.edit("a.txt", "first\n");
    agent.shell("make test", false, || ());
    agent.shell("make check", true, || agent.edit("b.txt", "second\n"));
    let commit = agent.commit();
    assert_eq!(file(&commit, "a.txt")["checked_after"], "failed");
    assert_eq!(file(&commit, "b.txt")["checked_after"], Value::Null);
}

#[test]
fn a_commit_of_a_person_says_nothing_of_edits() {
    let team = Team::new();
    team.decide(OURS, "s1", &["x"], "b.txt", "x\n");
    let verified = team.scratch.json(&["verify"]);
    assert_eq!(verified["commits"][0]["files"], json!([]));
    assert_eq!(text(&verified, "verdict"), "pass");
}
