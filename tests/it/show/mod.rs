//! `show COMMIT`, `log RANGE`: what a reviewer sees of a commit, from a clone alone, and how it is shown.

mod commits;
mod looks;
mod names;
mod pager;

use std::process::Command;

use crate::store::scratch::{Ran, Scratch, text};

/// A repository with a commit that a session explains, with a branch in it, options that were rejected, and a round that
/// seals it; a commit before it that nobody explained.
struct Explained {
    scratch: Scratch,
    /// The record that branches.
    fork: String,
}

const PLAN: &str = "Reproduce the loop, find who drops the cookie, fix that one place.";
const CHOSEN: &str = "Set the cookie with Path=/. Rejected: to move the sign-in page below /home, which breaks every \
                      bookmark and the manuals of three customers; rejected: a second cookie, two truths about who is \
                      signed in.";
const LEFT: &str = "Keep the session in local storage\nbecause it has no path\n\nUncertain: any script can read it.";
const END: &str = "The loop is gone, and a test follows the redirect. 日本語の文章も端末の幅に合わせて折り返されるので、\
                   長い行は二つの行に分かれます。\nUncertain: Safari was not tried.";

impl Explained {
    fn new() -> Self {
        Self::with(CHOSEN, &[])
    }

    /// With other words in the decision, and more arguments for the session.
    fn with(chosen: &str, start: &[&str]) -> Self {
        let scratch = Scratch::new();
        std::fs::write(scratch.place.join("a.txt"), "one\n").unwrap();
        scratch.git(["add", "--all"]);
        scratch.git(["commit", "--quiet", "-m", "Begin"]);
        let intent = "People who sign in are sent back to the sign-in page: find out why, and end it";
        let begin = ["start", "--session-id", "t-89", "--intent", intent, "--caller", "agent 2.1"];
        scratch.json(&[&begin, start].concat());
        let fork = text(&scratch.record("plan", PLAN), "id").to_owned();
        scratch.record("decision", LEFT);
        let decision = ["record", "--type", "decision", "--content", chosen, "--parent", &fork];
        scratch.json(&[&decision, &["--metadata", r#"{"confidence":0.9}"#][..]].concat());
        scratch.json(&["record", "--type", "analysis", "--content", "Nobody else sets it.", "--private"]);
        std::fs::write(scratch.place.join("a.txt"), "two\n").unwrap();
        scratch.git(["commit", "--quiet", "--all", "-m", "Cut the redirect loop after sign-in\n\nProof-Grade: true"]);
        scratch.run(["hook", "post-commit"]).text();
        scratch.record("reflection", END);
        let finalized = scratch.json(&["finalize"]);
        assert_eq!(finalized["anchors"][0]["rooted"], true, "{finalized}");
        scratch.json(&["seal", "--no-sign"]);
        Self { scratch, fork }
    }

    /// The program in a UTF-8 locale, with so many columns.
    fn proof(&self, columns: usize, arguments: &[&str]) -> Command {
        let mut command = self.scratch.proof(arguments);
        command.env("LC_ALL", "C.UTF-8").env("COLUMNS", columns.to_string());
        command
    }

    #[track_caller]
    fn shown(&self, columns: usize, arguments: &[&str]) -> String {
        Ran::from(self.proof(columns, arguments).output().unwrap()).text().to_owned()
    }

    fn tip(&self, name: &str) -> String {
        self.scratch.git(["rev-parse", name]).trim_end().to_owned()
    }

    /// Puts other words into the published evidence.
    fn forge(&self, was: &str, is: &str) {
        let git = |arguments: &[&str]| self.scratch.git(arguments).trim_end().to_owned();
        let name = git(&["ls-tree", "-r", "--name-only", "refs/proof/evidence"]);
        let evidence = git(&["cat-file", "blob", &format!("refs/proof/evidence:{name}")]) + "\n";
        assert!(evidence.contains(was), "{evidence}");
        let hash = crate::common::run_with_input(
            self.scratch.command("git").args(["hash-object", "-w", "--stdin"]),
            evidence.replace(was, is).as_bytes(),
        );
        let index = self.scratch.around().join("index");
        let with_index = |arguments: &[&str]| {
            let output = self.scratch.command("git").args(arguments).env("GIT_INDEX_FILE", &index).output().unwrap();
            Ran::from(output).text().trim_end().to_owned()
        };
        with_index(&["read-tree", "refs/proof/evidence"]);
        with_index(&["update-index", "--cacheinfo", &format!("100644,{},{name}", hash.stdout.trim_end())]);
        let tree = with_index(&["write-tree"]);
        let commit = git(&["commit-tree", &tree, "-p", "refs/proof/evidence", "-m", "forged"]);
        git(&["update-ref", "refs/proof/evidence", &commit]);
    }
}

/// Ids, digests and times out of the way; short ids keep their width.
fn redacted(text: &str) -> String {
    let word = |word: &str| {
        let hex = word.len() >= 12 && word.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        match (hex, word.len(), word.contains('-')) {
            (true, 12, false) => "[--commit--]".to_owned(),
            (true, 40, false) => "[--a-commit-or-a-tree-of-forty-digits--]".to_owned(),
            (true, 64, false) => "[digest]".to_owned(),
            (true, 36, true) => "[id]".to_owned(),
            _ => word.to_owned(),
        }
    };
    let (mut out, mut run) = (String::new(), String::new());
    for character in text.chars() {
        if character.is_ascii_alphanumeric() || character == '-' {
            run.push(character);
        } else {
            out += &word(&std::mem::take(&mut run));
            out.push(character);
        }
    }
    out += &word(&run);
    let out = out.replace("just now", "[ago]").replace("1 minute ago", "[ago]");
    let time = |line: &str| match line.split_once("recorded   ") {
        Some((before, time)) if time.starts_with("20") => format!("{before}recorded   [time]\n"),
        _ => format!("{line}\n"),
    };
    out.lines().map(time).collect()
}
