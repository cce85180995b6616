//! Many at work at the same moment: worktrees that finalize first of all, agents and a person who commit, clones that push.
//! Nothing that was acknowledged is lost, and nothing is attested twice.
//!
//! `GIT_PROOF_TEST_TRIALS` and `GIT_PROOF_TEST_SECONDS` make it longer.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::clones::{Clone, EVIDENCE, NOTES};
use crate::rewrite::project::Project;
use crate::store::scratch::{Ran, Scratch};

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().map_or(usual, |value| value.parse().unwrap())
}

/// A session with one commit, closed but for its root. The commit is the answer.
fn to_be_finalized(clone: &Clone<'_>, session: &str) -> String {
    clone.json(&["start", "--intent", "try it", "--session-id", session]);
    std::fs::write(clone.path.join(session), session).unwrap();
    clone.git(&["add", session]);
    clone.git(&["commit", "--quiet", "--message", session]);
    assert_eq!(clone.run(&["hook", "post-commit"]).exit, Some(0));
    clone.json(&["record", "--type", "reflection", "--content", "it is changed"]);
    clone.tip("HEAD").unwrap()
}

#[test]
fn two_first_finalizes_in_two_worktrees_lose_nothing() {
    let scratch = Scratch::without_repository();
    let repo = Clone::init(&scratch, "repo", &[]);
    repo.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
    let trees = ["one", "two"].map(|name| {
        repo.git(&["worktree", "add", "--quiet", "-b", name, &format!("../{name}")]);
        Clone::at(&scratch, name)
    });
    for trial in 0..setting("GIT_PROOF_TEST_TRIALS", 20) {
        let _ = std::fs::remove_dir_all(repo.path.join(".git/proof")); // the first time there is none
        for name in [NOTES, EVIDENCE] {
            repo.git(&["update-ref", "-d", name]);
        }
        let commits = [0, 1].map(|at| to_be_finalized(&trees[at], &format!("s{trial}-{at}")));
        let running = [0, 1].map(|at: usize| {
            let mut finalize = trees[at].proof(&["--json", "finalize"]);
            finalize.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        });
        for child in running {
            let ran: Ran = child.wait_with_output().unwrap().into();
            assert_eq!(ran.json()["anchors"].as_array().map(Vec::len), Some(1), "trial {trial}: {ran:?}");
        }
        repo.has_one_line_each(&commits);
        assert_eq!(repo.evidence().len(), 2, "trial {trial}");
        for commit in &commits {
            repo.passes(commit);
        }
    }
}

/// Someone who works in a worktree of their own.
struct Worker<'a> {
    project: &'a Project,
    name: &'static str,
    place: PathBuf,
    /// The sessions that were finalized, and the commits that were made in them.
    sessions: Vec<(String, Vec<String>)>,
}

impl<'a> Worker<'a> {
    fn new(project: &'a Project, name: &'static str) -> Self {
        project.git(["worktree", "add", "--quiet", "-b", name, &format!("../{name}")]);
        Self { project, name, place: project.around().join(name), sessions: Vec::new() }
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Ran {
        let mut command = self.project.command_in(&self.place, program);
        command.env("GIT_PROOF_PATIENCE", "60000").args(arguments).output().unwrap().into()
    }

    #[track_caller]
    fn done(&self, program: &str, arguments: &[&str]) -> String {
        let ran = self.run(program, arguments);
        assert_eq!(ran.exit, Some(0), "{}: {program} {arguments:?}: {}{}", self.name, ran.out, ran.err);
        ran.out.trim_end().to_owned()
    }

    fn commit(&self, number: usize) -> String {
        let file = format!("{}-{number}", self.name);
        std::fs::write(self.place.join(&file), &file).unwrap();
        self.done("git", &["add", &file]);
        self.done("git", &["commit", "--quiet", "-m", &file]);
        self.done("git", &["rev-parse", "HEAD"])
    }

    /// Sessions of some commits each. Another process of the same agent records and looks after what waits meanwhile.
    fn agent(&mut self, until: Instant) {
        let mut number = 0;
        while self.sessions.is_empty() || Instant::now() < until {
            let session = format!("{}-{}", self.name, self.sessions.len());
            self.done("git-proof", &["start", "--intent", "try it", "--session-id", &session]);
            let mut commits = Vec::new();
            for _ in 0..2 {
                number += 1;
                let record = ["record", "--type", "plan", "--content", "more", "--session", &session];
                thread::scope(|scope| {
                    scope.spawn(|| self.done("git-proof", &record));
                    commits.push(self.commit(number));
                });
            }
            self.done("git-proof", &["record", "--type", "reflection", "--content", "done", "--session", &session]);
            self.done("git-proof", &["finalize", "--session", &session]);
            self.sessions.push((session, commits));
        }
    }

    /// Commits without a session, and shares what everybody has.
    fn person(&self, until: Instant) {
        for number in 0.. {
            self.commit(number);
            self.done("git-proof", &["sync"]);
            if Instant::now() >= until {
                break;
            }
        }
    }
}

/// The commits that a session attests, as often as it does.
fn attested(project: &Project, place: &Path, session: &str) -> Vec<String> {
    let mut command = project.command_in(place, "git-proof");
    let log: Ran = command.args(["--json", "log", "--session", session]).output().unwrap().into();
    let log = log.json();
    let said = log["entries"].as_array().unwrap().iter().filter_map(|entry| entry["attest"].as_str());
    let commit = |text: &str| Some(serde_json::from_str::<Value>(text).ok()?["git"]["commit"].as_str()?.to_owned());
    said.filter_map(commit).collect()
}

#[test]
fn two_agents_and_a_person_who_commit_at_once_lose_nothing_and_attest_nothing_twice() {
    let project = Project::new();
    let mut workers = ["ada", "bob", "eve"].map(|name| Worker::new(&project, name));
    let until = Instant::now() + Duration::from_secs(setting("GIT_PROOF_TEST_SECONDS", 3));
    let [ada, bob, eve] = &mut workers;
    thread::scope(|scope| {
        scope.spawn(|| ada.agent(until));
        scope.spawn(|| bob.agent(until));
        scope.spawn(|| eve.person(until));
    });
    project.git(["push", "--quiet", "origin", "ada", "bob"]);
    project.git(["clone", "--quiet", "../remote.git", "../fresh"]);
    let fresh = project.around().join("fresh");
    let run = |arguments: &[&str]| -> Ran {
        project.command_in(&fresh, "git-proof").args(arguments).output().unwrap().into()
    };
    run(&["--json", "sync"]).json();
    let sessions: Vec<&(String, Vec<String>)> = workers.iter().flat_map(|worker| &worker.sessions).collect();
    for (session, commits) in &sessions {
        assert_eq!(attested(&project, &project.place, session), *commits, "{session}");
        for commit in commits {
            let verdict = run(&["--json", "verify", commit]).json();
            assert_eq!(verdict["commits"][0]["sessions"][0]["session_id"], session.as_str(), "{verdict}");
        }
    }
    eprintln!("{} sessions", sessions.len());
    assert!(sessions.len() > 1);
}

#[test]
fn six_clones_that_push_at_once_lose_nothing() {
    let scratch = Scratch::without_repository();
    let remote = Clone::remote(&scratch);
    let first = remote.clone("first", &[]);
    first.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
    first.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    let rounds = setting("GIT_PROOF_TEST_SECONDS", 2);
    let clones: Vec<Clone<'_>> = (0..6).map(|at| remote.clone(&format!("clone{at}"), &[])).collect();
    let work = |at: usize| {
        let (clone, branch) = (&clones[at], format!("HEAD:refs/heads/b{at}"));
        let mut commits = Vec::new();
        for round in 0..rounds {
            commits.push(clone.explain(&format!("s{at}-{round}")));
            clone.git(&["push", "--quiet", "origin", &branch]);
            clone.json(&["sync"]);
        }
        commits
    };
    let work = &work;
    let commits: Vec<String> = thread::scope(|scope| {
        let running: Vec<_> = (0..6).map(|at| scope.spawn(move || work(at))).collect();
        running.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    let fresh = remote.clone("fresh", &[]);
    fresh.json(&["sync"]);
    fresh.has_one_line_each(&commits);
    for commit in &commits {
        fresh.passes(commit);
    }
    fresh.is_whole();
}
