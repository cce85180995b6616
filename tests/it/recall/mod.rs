//! Decisions come back: `why`, `blame`, corrections, and what the next agent is told.

mod delivery;
mod edits;
mod files;
mod index;
mod lines;
mod log;
mod poison;
mod served;
mod superseding;

use std::cell::Cell;

use serde_json::{Value, json};

use crate::store::scratch::{Scratch, text};

/// A clone of a remote in which sessions are recorded, and a second one of somebody else.
struct Team {
    scratch: Scratch,
    asked: Cell<u32>,
}

/// Our own clone, and that of somebody else.
const OURS: &str = ".";
const OTHER: &str = "../other";

impl Team {
    /// A repository with a file of six lines on `main`, which the remote has, and the hooks of git.
    fn new() -> Self {
        let team = Self { scratch: Scratch::new(), asked: Cell::new(0) };
        team.scratch.git(["init", "-q", "--bare", "--initial-branch=main", "../remote"]);
        team.scratch.git(["remote", "add", "origin", "../remote"]);
        team.write(OURS, "a.txt", "one\ntwo\nthree\nfour\nfive\nsix\n");
        team.scratch.git(["add", "--all"]);
        team.scratch.git(["commit", "-qm", "Begin"]);
        team.scratch.git(["push", "-q", "origin", "HEAD:refs/heads/main"]);
        team.scratch.json(&["init"]);
        team
    }

    /// The same, with a second clone.
    fn with_other() -> Self {
        let team = Self::new();
        team.scratch.git(["clone", "-q", "../remote", OTHER]);
        team.scratch.json(&["-C", OTHER, "init"]);
        team
    }

    fn write(&self, at: &str, path: &str, text: &str) {
        let path = self.scratch.place.join(at).join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn git(&self, at: &str, arguments: &[&str]) -> String {
        self.scratch.git([&["-C", at], arguments].concat()).trim_end().to_owned()
    }

    /// Commits everything there is.
    fn commit(&self, at: &str, message: &str) -> String {
        self.git(at, &["add", "--all"]);
        self.git(at, &["commit", "-qm", message]);
        self.git(at, &["rev-parse", "HEAD"])
    }

    /// A session with one decision and one commit; the id of the decision.
    #[track_caller]
    fn decide(&self, at: &str, session: &str, decision: &[&str], path: &str, text_of: &str) -> String {
        let proof = |arguments: &[&str]| self.scratch.json(&[&["-C", at], arguments].concat());
        proof(&["start", "--intent", &format!("intent of {session}"), "--session-id", session]);
        let decided = proof(&[&["decide"], decision].concat());
        self.write(at, path, text_of);
        self.commit(at, &format!("Commit of {session}"));
        proof(&["done", &format!("Reflection of {session}; uncertain: doubt of {session}")]);
        text(&decided, "id").to_owned()
    }

    /// Pushes a branch with its proofs.
    #[track_caller]
    fn push(&self, at: &str, branch: &str) {
        self.git(at, &["push", "-q", "origin", &format!("HEAD:refs/heads/{branch}")]);
        self.scratch.json(&["-C", at, "sync"]);
    }

    /// Brings our clone up to date.
    #[track_caller]
    fn pull(&self) {
        self.git(OURS, &["pull", "-q", "--no-rebase", "origin", "main"]);
        self.scratch.json(&["sync"]);
    }

    /// `why` as JSON, whatever the verdict.
    #[track_caller]
    fn why(&self, arguments: &[&str]) -> Value {
        let ran = self.scratch.run([&["--json", "why"], arguments].concat());
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }

    /// What an agent of Claude Code is told by the answer to an event.
    #[track_caller]
    fn told(&self, session: &str, event: &str, more: &Value) -> Option<String> {
        self.asked.set(self.asked.get() + 1);
        let mut input = json!({
            "hook_event_name": event, "session_id": session, "cwd": self.scratch.place,
            "tool_use_id": format!("call-{}", self.asked.get()),
        });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let ran = self.scratch.run_with(&["hook", "claude-code"], input.to_string().as_bytes());
        assert_eq!((ran.exit, ran.err.as_str()), (Some(0), ""), "{input}");
        let answer: Value = if ran.out.is_empty() { Value::Null } else { serde_json::from_str(&ran.out).unwrap() };
        answer["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned)
    }

    /// What an agent is told that reads a file.
    #[track_caller]
    fn told_reading(&self, session: &str, path: &str) -> Option<String> {
        let path = self.scratch.place.join(path);
        let call = json!({ "tool_name": "Read", "tool_input": { "file_path": path }, "tool_response": {} });
        self.told(session, "PostToolUse", &call)
    }

    /// What a new agent is told that reads a file.
    #[track_caller]
    fn told_anew(&self, path: &str) -> Option<String> {
        self.told_reading(&format!("agent-{}", self.asked.get()), path)
    }
}

/// The contents of the decisions in an answer.
fn contents(answer: &Value) -> Vec<&str> {
    answer["decisions"].as_array().unwrap().iter().map(|decision| text(decision, "content")).collect()
}
