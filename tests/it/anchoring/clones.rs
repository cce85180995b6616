//! Repositories that share a remote, and what the tests ask of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::change::scratch::output;
use crate::store::scratch::{Ran, Scratch, text};

pub(crate) const NOTES: &str = "refs/notes/proof";
pub(crate) const EVIDENCE: &str = "refs/proof/evidence";
pub(crate) const CHANGES: &str = "refs/proof/changes";

/// A repository, bare or not, in a scratch directory.
pub(crate) struct Clone<'a> {
    pub(crate) scratch: &'a Scratch,
    pub(crate) path: PathBuf,
}

impl<'a> Clone<'a> {
    /// The repository of a scratch directory itself.
    pub(crate) fn of(scratch: &'a Scratch) -> Self {
        Self { scratch, path: scratch.place.clone() }
    }

    pub(crate) fn at(scratch: &'a Scratch, name: &str) -> Self {
        Self { scratch, path: scratch.around().join(name) }
    }

    /// A repository that is made with these options.
    #[track_caller]
    pub(crate) fn init(scratch: &'a Scratch, name: &str, options: &[&str]) -> Self {
        let made = Self::at(scratch, name);
        let path = made.path.to_str().unwrap();
        scratch.git([&["init", "--quiet", "--initial-branch=main"], options, &[path]].concat());
        made
    }

    /// A bare repository that others share.
    pub(crate) fn remote(scratch: &'a Scratch) -> Self {
        Self::init(scratch, "remote.git", &["--bare"])
    }

    /// A clone that is made with these options.
    #[track_caller]
    pub(crate) fn clone(&self, name: &str, options: &[&str]) -> Self {
        let made = Self::at(self.scratch, name);
        let url = format!("file://{}", self.path.display());
        self.scratch.git([&["clone", "--quiet"], options, &[&url, made.path.to_str().unwrap()]].concat());
        made
    }

    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.scratch.command(program);
        command.current_dir(&self.path);
        command
    }

    pub(crate) fn proof(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_git-proof"));
        command.args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.proof(arguments).output().unwrap().into()
    }

    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[&["--json"], arguments].concat()).json()
    }

    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let ran: Ran = self.command("git").args(arguments).output().unwrap().into();
        assert_eq!(ran.exit, Some(0), "git {arguments:?}: {}", ran.err);
        ran.out.trim_end().to_owned()
    }

    /// Runs git with bytes on its standard input; the answer is what it prints.
    #[track_caller]
    pub(crate) fn git_with(&self, arguments: &[&str], input: &[u8]) -> String {
        String::from_utf8(output(self.command("git").args(arguments), input)).unwrap().trim_end().to_owned()
    }

    /// The object that a name means; `None` if there is none.
    pub(crate) fn tip(&self, name: &str) -> Option<String> {
        let ran: Ran = self.command("git").args(["rev-parse", "--verify", "--quiet", name]).output().unwrap().into();
        (ran.exit == Some(0)).then(|| ran.out.trim_end().to_owned())
    }

    /// A change that a session explains: recorded, committed, attested, reflected on, finalized and anchored.
    #[track_caller]
    pub(crate) fn explain(&self, session: &str) -> String {
        self.json(&["start", "--intent", "try it", "--session-id", session]);
        self.json(&["record", "--type", "plan", "--content", "change a file"]);
        std::fs::write(self.path.join(session), format!("{session}\n")).unwrap();
        self.git(&["add", session]);
        self.git(&["commit", "--quiet", "--message", session]);
        let hook = self.run(&["hook", "post-commit"]);
        assert_eq!((hook.exit, hook.err.as_str()), (Some(0), ""));
        self.json(&["record", "--type", "reflection", "--content", "it is changed"]);
        self.json(&["finalize"]);
        let anchored = self.json(&["anchor"]);
        assert_eq!(anchored["anchors"][0]["rooted"], true, "{anchored}");
        self.tip("HEAD").unwrap()
    }

    /// A finalized session that explains no commit by itself.
    #[track_caller]
    pub(crate) fn session(&self, id: &str) {
        self.json(&["start", "--intent", "try it", "--session-id", id, "--not-proof-grade"]);
        self.json(&["attest", "something was done"]);
        self.json(&["finalize"]);
    }

    /// Commits on the main branch, one after the other, each with a change of its own.
    pub(crate) fn commits(&self, number: usize) -> Vec<String> {
        let name = self.path.file_name().unwrap().to_str().unwrap();
        let mut stream = String::from("feature done\n");
        for at in 0..number {
            let who = format!("n <e> {} +0000", 1_700_000_000 + at);
            write!(stream, "commit refs/heads/main\ncommitter {who}\ndata 1\nx").unwrap();
            if at == 0 && self.tip("refs/heads/main").is_some() {
                stream.push_str("\nfrom refs/heads/main^0");
            }
            let content = format!("{at} of {name}");
            write!(stream, "\nM 100644 inline file\ndata {}\n{content}\n", content.len()).unwrap();
        }
        stream.push_str("done\n");
        self.git_with(&["fast-import", "--quiet"], stream.as_bytes());
        let list = self.git(&["rev-list", "--reverse", &format!("--max-count={number}"), "main"]);
        list.lines().map(str::to_owned).collect()
    }

    /// Anchors a session on a commit.
    #[track_caller]
    pub(crate) fn anchor(&self, session: &str, commit: &str) -> Value {
        self.json(&["anchor", "--session", session, "--commit", commit])
    }

    /// How a commit stands, and with which exit code `verify` says so.
    pub(crate) fn verdict(&self, commit: &str) -> (Option<i32>, Value) {
        let ran = self.run(&["--json", "verify", commit]);
        let answer = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        (ran.exit, answer)
    }

    /// That a commit is proven by a session that attests it.
    #[track_caller]
    pub(crate) fn passes(&self, commit: &str) {
        let (exit, answer) = self.verdict(commit);
        assert_eq!((exit, text(&answer, "verdict")), (Some(0), "pass"), "{answer}");
        assert_eq!(answer["commits"][0]["sessions"][0]["rooted"], true, "{answer}");
    }

    /// The codes of what there is to say about a commit.
    pub(crate) fn codes(&self, commit: &str) -> BTreeSet<String> {
        let (_, answer) = self.verdict(commit);
        let findings = answer["commits"][0]["findings"].as_array().unwrap();
        findings.iter().map(|finding| text(finding, "code").to_owned()).collect()
    }

    /// The lines of all notes as git reads them, by commit.
    #[track_caller]
    pub(crate) fn notes(&self) -> BTreeMap<String, Vec<String>> {
        let mut notes = BTreeMap::new();
        let list = self.git(&["notes", "--ref=proof", "list"]);
        let blobs: Vec<&str> = list.lines().map(|line| line.split_once(' ').unwrap().0).collect();
        let batch = output(self.command("git").args(["cat-file", "--batch"]), (blobs.join("\n") + "\n").as_bytes());
        let mut rest = batch.as_slice();
        for line in list.lines() {
            // A line with id, kind and size; the content; a newline.
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap();
            let size: usize = std::str::from_utf8(&rest[..end]).unwrap().rsplit(' ').next().unwrap().parse().unwrap();
            let text = String::from_utf8_lossy(&rest[end + 1..][..size]).into_owned();
            rest = &rest[end + size + 2..];
            let commit = line.split_once(' ').unwrap().1;
            let before = notes.insert(commit.to_owned(), text.lines().map(str::to_owned).collect());
            assert_eq!(before, None, "{commit} is listed twice");
        }
        notes
    }

    /// That git lists one note of one line for each of these commits, and no other.
    #[track_caller]
    pub(crate) fn has_one_line_each<'b>(&self, commits: impl IntoIterator<Item = &'b String>) {
        let notes = self.notes();
        assert!(notes.values().all(|lines| lines.len() == 1), "{notes:?}");
        let listed: BTreeSet<&String> = notes.keys().collect();
        assert_eq!(listed, commits.into_iter().collect());
    }

    /// The paths of the evidence that a ref holds.
    pub(crate) fn evidence(&self) -> Vec<String> {
        self.git(&["ls-tree", "-r", "--name-only", EVIDENCE]).lines().map(str::to_owned).collect()
    }

    /// That git finds nothing wrong in the whole repository.
    #[track_caller]
    pub(crate) fn is_whole(&self) {
        let ran: Ran =
            self.command("git").args(["fsck", "--strict", "--full", "--no-dangling"]).output().unwrap().into();
        assert_eq!((ran.exit, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    }

    /// Writes a blob.
    pub(crate) fn blob(&self, content: &[u8]) -> String {
        self.git_with(&["hash-object", "-w", "--stdin"], content)
    }

    /// Writes a tree of entries as `git ls-tree` prints them.
    pub(crate) fn tree(&self, entries: &[String]) -> String {
        self.git_with(&["mktree", "--missing"], entries.concat().as_bytes())
    }

    /// Lets a ref name a new commit of this tree.
    pub(crate) fn plant(&self, name: &str, tree: &str, parents: &[&str]) -> String {
        let parents = parents.iter().flat_map(|parent| ["-p", parent]);
        let arguments: Vec<&str> = ["commit-tree", "-m", "planted", tree].into_iter().chain(parents).collect();
        let commit = self.git(&arguments);
        self.git(&["update-ref", name, &commit]);
        commit
    }

    /// A script that git runs at some event.
    pub(crate) fn hook(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = Path::new(&self.git(&["rev-parse", "--absolute-git-dir"])).join("hooks").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Two clones of a remote that has a first commit.
pub(crate) fn two_clones(scratch: &Scratch) -> (Clone<'_>, Clone<'_>, Clone<'_>) {
    let remote = Clone::remote(scratch);
    let one = remote.clone("one", &[]);
    one.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
    one.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    let two = remote.clone("two", &[]);
    (remote, one, two)
}

/// An entry of a tree, as `git ls-tree` prints it.
pub(crate) fn entry(mode: &str, id: &str, name: &str) -> String {
    let kind = match mode {
        "040000" => "tree",
        "160000" => "commit",
        _ => "blob",
    };
    format!("{mode} {kind} {id}\t{name}\n")
}
