//! A repository with hooks of git, a remote, and agents that send what real ones send.

use std::process::Command;

use serde_json::{Value, json};

use crate::store::scratch::{Ran, Scratch};

/// A repository in which agents work.
pub(super) struct Stage {
    pub(super) scratch: Scratch,
}

impl Stage {
    /// A repository with one commit, a remote that has it, and the hooks of git.
    pub(super) fn new() -> Self {
        Self::of(Scratch::new())
    }

    /// One with refs in files, and one with refs in reftables, if this git knows them.
    pub(super) fn with_refs_of_each_kind() -> Vec<Self> {
        let tables = Scratch::without_repository();
        let format = ["init", "--quiet", "--initial-branch=main", "--ref-format=reftable"];
        let made = tables.command("git").args(format).output().unwrap();
        let said = String::from_utf8_lossy(&made.stderr).into_owned();
        assert!(made.status.success() || said.contains("ref-format"), "{said}");
        let mut stages = vec![Self::new()];
        stages.extend(made.status.success().then(|| Self::of(tables)));
        stages
    }

    fn of(scratch: Scratch) -> Self {
        scratch.git(["init", "-q", "--bare", "../remote"]);
        scratch.git(["remote", "add", "origin", "../remote"]);
        std::fs::write(scratch.place.join("a.txt"), "a\n").unwrap();
        scratch.git(["add", "a.txt"]);
        scratch.git(["commit", "-qm", "Base"]);
        scratch.git(["push", "-q", "origin", "HEAD:refs/heads/main"]);
        scratch.json(&["init"]);
        Self { scratch }
    }

    /// An agent of a kind, whose session has this id.
    pub(super) fn agent<'s>(&'s self, kind: &'static str, id: &str) -> Worker<'s> {
        Worker { stage: self, kind, id: id.to_owned(), calls: std::cell::Cell::new(0), part: None }
    }

    /// Writes a file of the worktree.
    pub(super) fn write(&self, path: &str, text: &str) {
        std::fs::write(self.scratch.place.join(path), text).unwrap();
    }

    /// Commits a file as a person does.
    pub(super) fn commit(&self, path: &str, message: &str) -> String {
        self.scratch.git(["add", path]);
        self.scratch.git(["commit", "-qm", message]);
        self.head()
    }

    pub(super) fn head(&self) -> String {
        self.scratch.git(["rev-parse", "HEAD"]).trim().to_owned()
    }

    #[track_caller]
    pub(super) fn push(&self) {
        self.scratch.git(["push", "-q", "origin", "HEAD:refs/heads/main"]);
    }

    /// The verdict on a commit, as a fresh clone of the remote has it.
    #[track_caller]
    pub(super) fn judged(&self, commit: &str) -> Value {
        let clone = self.scratch.around().join("clone");
        let _ = std::fs::remove_dir_all(&clone);
        self.scratch.git(["clone", "-q", "../remote", clone.to_str().unwrap()]);
        let at = clone.to_str().unwrap();
        self.scratch.run(["-C", at, "sync", "--json"]).json();
        let ran = self.scratch.run(["-C", at, "show", "--json", "--full", commit]);
        serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"))
    }

    /// The sessions in the store: id, caller, whether it is open.
    pub(super) fn sessions(&self) -> Vec<Value> {
        self.scratch.json(&["log", "--all"])["sessions"].as_array().unwrap().clone()
    }

    /// The id of the session that a commit's message names.
    pub(super) fn named_by(&self, commit: &str) -> Option<String> {
        let message = self.scratch.git(["log", "-1", "--format=%B", commit]);
        message.lines().find_map(|line| line.strip_prefix("Proof-Session: ").map(str::to_owned))
    }

    /// The texts of a session's entries.
    pub(super) fn texts(&self, session: &str) -> Vec<String> {
        let log = self.scratch.json(&["log", "--session", session]);
        let entries = log["entries"].as_array().unwrap();
        let text =
            |entry: &Value| entry["content"].as_str().or(entry["attest"].as_str()).unwrap_or_default().to_owned();
        entries.iter().map(text).collect()
    }

    /// The sessions that are open.
    pub(super) fn open(&self) -> Vec<Value> {
        let open = |session: &Value| session["ended_at"].is_null() && session["finalized"] == json!(false);
        self.sessions().into_iter().filter(open).collect()
    }
}

/// An agent at work.
pub(super) struct Worker<'s> {
    stage: &'s Stage,
    kind: &'static str,
    pub(super) id: String,
    calls: std::cell::Cell<u32>,
    /// The id of a subagent.
    pub(super) part: Option<String>,
}

impl Worker<'_> {
    /// Sends an event.
    pub(super) fn send(&self, name: &str, more: Value) -> Ran {
        let transcript = self.stage.scratch.around().join(format!("{}.jsonl", self.id));
        let mut event = json!({
            "hook_event_name": name, "session_id": self.id, "cwd": self.stage.scratch.place, "transcript_path": transcript,
        });
        if self.kind == "codex" {
            event["turn_id"] = json!("turn");
            event["model"] = json!("gpt-6.1-sol");
        }
        if let Some(part) = &self.part {
            event["agent_id"] = json!(part);
        }
        let Value::Object(more) = more else { panic!("{more}") };
        for (key, value) in more {
            event[key.as_str()] = value;
        }
        let ran = super::send(&self.stage.scratch, self.kind, &event);
        assert_eq!((ran.exit, ran.err.as_str()), (Some(0), ""), "{event}");
        ran
    }

    pub(super) fn start(&self) -> Ran {
        self.send("SessionStart", json!({ "source": "startup" }))
    }

    pub(super) fn prompt(&self, text: &str) {
        let name = if self.kind == "gemini" { "BeforeAgent" } else { "UserPromptSubmit" };
        self.send(name, json!({ "prompt": text }));
    }

    fn next(&self) -> String {
        self.calls.set(self.calls.get() + 1);
        format!("call-{}-{}", self.part.as_deref().unwrap_or_default(), self.calls.get())
    }

    /// Writes a file by an edit tool.
    pub(super) fn edit(&self, path: &str, text: &str) {
        self.stage.write(path, text);
        let (name, tool) = if self.kind == "gemini" { ("AfterTool", "write_file") } else { ("PostToolUse", "Write") };
        let path = self.stage.scratch.place.join(path);
        self.send(
            name,
            json!({
                "tool_name": tool, "tool_input": { "file_path": path }, "tool_response": { "type": "create" },
                "tool_use_id": self.next(),
            }),
        );
    }

    /// A shell call begins.
    pub(super) fn begin(&self, command: &str) -> Value {
        let (name, tool) = match self.kind {
            "gemini" => ("BeforeTool", "run_shell_command"),
            _ => ("PreToolUse", "Bash"),
        };
        let call = json!({ "tool_name": tool, "tool_input": { "command": command }, "tool_use_id": self.next() });
        self.send(name, call.clone());
        call
    }

    /// A shell call ends well.
    pub(super) fn end(&self, call: &Value) {
        let mut call = call.clone();
        let name = if self.kind == "gemini" { "AfterTool" } else { "PostToolUse" };
        call["tool_response"] = match self.kind {
            "gemini" => json!({ "llmContent": "Output: (empty)\nProcess Group PGID: 1" }),
            _ => json!({ "stdout": "", "interrupted": false }),
        };
        self.send(name, call);
    }

    /// Runs a command in the agent's shell, with the events around it.
    #[track_caller]
    pub(super) fn shell(&self, command: &str) {
        let call = self.begin(command);
        self.run(command);
        self.end(&call);
    }

    /// The agent's shell, without events.
    #[track_caller]
    pub(super) fn run(&self, command: &str) {
        let output = self.command(command).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn command(&self, command: &str) -> Command {
        let mut shell = self.stage.scratch.command("sh");
        shell.args(["-c", command]);
        match self.kind {
            "claude-code" => shell.env("CLAUDE_CODE_SESSION_ID", &self.id),
            "codex" => shell.env("CODEX_SESSION_ID", &self.id).env("CODEX_THREAD_ID", &self.id),
            // Gemini switches git's hooks off.
            _ => shell
                .env("GIT_CONFIG_COUNT", "1")
                .env("GIT_CONFIG_KEY_0", "core.hooksPath")
                .env("GIT_CONFIG_VALUE_0", ""),
        };
        shell
    }

    /// Commits a file that it writes through its shell.
    #[track_caller]
    pub(super) fn commit(&self, path: &str, message: &str) -> String {
        self.shell(&format!("echo '{message}' >> {path} && git add {path} && git commit -qm '{message}'"));
        self.stage.head()
    }

    pub(super) fn stop(&self, message: &str) -> Ran {
        match self.kind {
            "gemini" => self.send("AfterAgent", json!({ "prompt": "", "prompt_response": message })),
            _ => self.send("Stop", json!({ "last_assistant_message": message, "background_tasks": [] })),
        }
    }

    pub(super) fn leave(&self) {
        self.send("SessionEnd", json!({ "reason": "other" }));
    }
}
