//! The gate's verdict in every form, over every kind of range, and as a CI run asks for it.

pub(crate) mod characters;
mod docs;
mod formats;
mod hostile;
mod limits;
mod page;
mod ranges;
mod runner;
mod server;
mod vouched;

use std::process::Command;

use crate::common::run_with_input;
use crate::store::scratch::{Ran, Scratch};

/// A branch with one commit that is proven, one that need not be, and one that must be and is not.
fn mixed() -> Project {
    let project = Project::new();
    project.git(&["checkout", "--quiet", "-b", "topic"]);
    project.proven("s1", "src/a.rs");
    project.commit("notes", "x\n", "a note");
    project.unproven("src/b.rs");
    project
}

/// A repository with a branch `main` of one commit, and time that stands still: ids are the same in every run.
pub(crate) struct Project {
    pub(crate) scratch: Scratch,
}

impl Project {
    pub(crate) fn new() -> Self {
        let project = Self { scratch: Scratch::new() };
        project.commit("readme", "hello\n", "first");
        // Notes without a single one: what is missing is missing, and not only left behind by a fetch.
        let empty = project.git(&["hash-object", "-t", "tree", "-w", "/dev/null"]);
        let notes = project.git(&["commit-tree", "-m", "notes", &empty]);
        project.git(&["update-ref", "refs/notes/proof", &notes]);
        project
    }

    /// Git, at a time that is always the same.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.scratch.command("git");
        let date = "1700000000 +0000";
        command.args(arguments).envs([("GIT_AUTHOR_DATE", date), ("GIT_COMMITTER_DATE", date)]);
        command
    }

    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let ran: Ran = self.command(arguments).output().unwrap().into();
        assert_eq!(ran.exit, Some(0), "{arguments:?}: {}", ran.err);
        ran.out.trim_end().to_owned()
    }

    pub(crate) fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.scratch.place.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self.git(&["add", "--", file]);
    }

    /// A commit that nobody has proven.
    pub(crate) fn commit(&self, file: &str, text: &str, message: &str) -> String {
        self.write(file, text);
        self.git(&["commit", "--quiet", "--no-verify", "-m", message]);
        self.head()
    }

    /// A commit that must be proven, and is not.
    pub(crate) fn unproven(&self, file: &str) -> String {
        self.commit(file, "unproven\n", &format!("change {file}\n\nAssisted-by: an agent"))
    }

    /// A commit that a session of its own explains.
    pub(crate) fn proven(&self, session: &str, file: &str) -> String {
        self.write(file, &format!("by {session}\n"));
        self.scratch.start(session, &[]);
        self.scratch.record("decision", "so and not otherwise");
        self.scratch.record("reflection", "done");
        self.scratch.json(&["finalize"]);
        self.git(&["commit", "--quiet", "-m", &format!("change {file}\n\nAssisted-by: an agent")]);
        self.scratch.json(&["anchor", "--session", session]);
        self.head()
    }

    /// A commit of these very bytes on top of HEAD, whatever git thinks of them.
    pub(crate) fn raw(&self, message: &[u8]) -> String {
        let (tree, parent) = (self.git(&["write-tree"]), self.head());
        let who = "Ada <ada@example.org> 1700000000 +0000";
        let mut object = format!("tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n\n").into_bytes();
        object.extend_from_slice(message);
        let mut command = self.command(&["hash-object", "-t", "commit", "-w", "--stdin", "--literally"]);
        let id = run_with_input(&mut command, &object).stdout.trim_end().to_owned();
        self.git(&["reset", "--quiet", "--soft", &id]);
        id
    }

    /// Judges what HEAD adds to a base.
    pub(crate) fn gate(&self, base: &str, more: &[&str]) -> Ran {
        self.scratch.run([&["gate", "--base", base], more].concat())
    }

    /// The exit code of the gate, and the codes of all findings.
    #[track_caller]
    pub(crate) fn verdict(&self, base: &str) -> (i32, Vec<String>) {
        let ran = self.gate(base, &["--json"]);
        let outcome: serde_json::Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        let codes = outcome["commits"].as_array().unwrap().iter().flat_map(|commit| {
            commit["findings"].as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap().to_owned())
        });
        (ran.exit.unwrap(), codes.collect())
    }
}
