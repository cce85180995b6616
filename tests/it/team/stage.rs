//! A base that asks for proofs, a fork of it, and who works where: a contributor in a clone of the fork, a runner and a
//! maintainer in clones of the base.

use std::path::PathBuf;

use serde_json::Value;

use super::http::{Manner, Server};
use crate::rewrite::project::Project;
use crate::store::scratch::Ran;

/// A policy that asks every commit for a proof.
pub(super) const ALL: &str = "[proof_grade]\nrequire = \"all\"\n";

pub(super) struct Stage {
    /// The contributor, whose `origin` is the fork.
    pub(super) work: Project,
    pub(super) server: Server,
}

/// Somebody's clone of the base.
pub(super) struct Place<'a> {
    stage: &'a Stage,
    pub(super) path: PathBuf,
}

impl Stage {
    /// A base with a policy, and a fork that has nothing else yet.
    pub(super) fn new(policy: &str) -> Self {
        let work = Project::new();
        std::fs::create_dir(work.place.join(".proof")).unwrap();
        work.write(".proof/policy.toml", policy);
        work.commit("policy");
        work.git(["push", "--quiet", "origin", "main"]);
        work.git(["clone", "--quiet", "--bare", "../remote.git", "../base.git"]);
        for name in ["base.git", "remote.git"] {
            work.git(["-C", &format!("../{name}"), "config", "http.receivepack", "true"]);
        }
        let server = Server::new(work.around(), Manner::Well);
        work.git(["switch", "--quiet", "-c", "topic"]);
        Self { work, server }
    }

    /// A fork with a pull request: commits that are proven, pushed with their proofs.
    pub(super) fn proven(sessions: &[&str]) -> Self {
        let stage = Self::new(ALL);
        for (number, session) in sessions.iter().enumerate() {
            stage.work.prove(session, 10 * (number + 1));
        }
        stage.open();
        stage
    }

    /// Pushes to the fork and opens the pull request: the forge of the base has the commits of the branch, and no proofs.
    pub(super) fn open(&self) {
        self.work.git(["push", "--quiet", "origin", "topic"]);
        self.work.git(["-C", "../base.git", "fetch", "--quiet", "../remote.git", "+topic:refs/pull/7/head"]);
    }

    /// The address of the fork.
    pub(super) fn fork(&self) -> String {
        self.server.url("remote.git")
    }

    /// A fresh clone of the base by http, with a password for the forge.
    pub(super) fn clone_of_base(&self, name: &str) -> Place<'_> {
        let helper = "credential.helper=!f() { echo username=ada; echo password=secret; }; f";
        let url = self.server.url("base.git");
        self.work.git(["-c", helper, "clone", "--quiet", &url, &format!("../{name}")]);
        let place = Place { stage: self, path: self.work.around().join(name) };
        let (key, value) = helper.split_once('=').unwrap();
        place.git(&["config", key, value]);
        place.git(&["config", "user.name", "Forge"]);
        place.git(&["config", "user.email", "forge@example.org"]);
        place
    }

    /// A runner's checkout of the pull request.
    pub(super) fn runner(&self) -> Place<'_> {
        let place = self.clone_of_base("runner");
        place.git(&["fetch", "--quiet", "origin", "refs/pull/7/head"]);
        place.proof(&["sync", "--fetch-only"]);
        place
    }
}

impl Place<'_> {
    #[track_caller]
    pub(super) fn git(&self, arguments: &[&str]) -> String {
        let ran: Ran = self.stage.work.command_in(&self.path, "git").args(arguments).output().unwrap().into();
        assert_eq!(ran.exit, Some(0), "{arguments:?}: {}{}", ran.out, ran.err);
        ran.out.trim_end().to_owned()
    }

    pub(super) fn try_proof(&self, arguments: &[&str]) -> Ran {
        self.stage.work.command_in(&self.path, "git-proof").args(arguments).output().unwrap().into()
    }

    #[track_caller]
    pub(super) fn proof(&self, arguments: &[&str]) -> Value {
        self.try_proof(&[&["--json"], arguments].concat()).json()
    }

    /// Judges the pull request, with the proofs of some repositories.
    pub(super) fn gate(&self, proofs: &[&str]) -> Ran {
        let head = self.stage.work.git(["rev-parse", "topic"]);
        let mut arguments = vec!["--json", "gate", "--base", "origin/main", "--head", &head];
        for source in proofs {
            arguments.extend(["--proofs", source]);
        }
        self.try_proof(&arguments)
    }

    /// All refs and objects that it has.
    pub(super) fn everything(&self) -> String {
        self.git(&["for-each-ref"]) + &self.git(&["cat-file", "--batch-all-objects", "--batch-check"])
    }

    /// How many directories with proofs of others are left.
    pub(super) fn left(&self) -> usize {
        std::fs::read_dir(self.path.join(".git/proof/offered")).map_or(0, Iterator::count)
    }
}

/// The codes of all findings of a verdict.
pub(super) fn codes(outcome: &Value) -> Vec<String> {
    let commits = outcome["commits"].as_array().unwrap();
    let findings = commits.iter().flat_map(|commit| commit["findings"].as_array().unwrap());
    findings.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

/// The answer of a command, however it ended.
#[track_caller]
pub(super) fn answer(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}
