//! Rounds: what goes into a seal, how the chain is checked, and what happens when two chains meet.

mod chain;
mod clocks;
mod meeting;
mod missing;
mod policy;
mod proofs;
mod sealing;
mod simulation;

use serde_json::Value;

use crate::anchoring::clones::Clone;
use crate::common;
use crate::store::scratch::{Scratch, text};

pub(crate) const ROUNDS: &str = "refs/proof/rounds";

impl Clone<'_> {
    /// The text of a round's seal, as git has it.
    pub(crate) fn seal_text(&self, back: usize) -> String {
        let raw =
            self.command("git").args(["cat-file", "blob", &format!("{ROUNDS}~{back}:seal.json")]).output().unwrap();
        String::from_utf8(raw.stdout).unwrap()
    }

    /// Puts a text in the place of the newest seal, or on top of it.
    fn plant_seal(&self, seal: &str, parents: &[&str]) {
        let blob = self.blob(seal.as_bytes());
        let tree = self.tree(&[format!("100644 blob {blob}\tseal.json\n")]);
        self.plant(ROUNDS, &tree, parents);
    }

    /// Somebody seals the anchors of a round once more, as those of another session and root.
    fn lists_again(&self, back: usize) {
        let rounds = self.git(&["rev-list", "--count", ROUNDS]).trim().parse::<usize>().unwrap();
        let mut chain = git_proof::proof::seal::Rounds::new();
        let mut sealed = Vec::new();
        for at in (0..rounds).rev() {
            let seal = chain.push(self.seal_text(at).as_bytes()).unwrap();
            if at == back {
                sealed.clone_from(&seal.sessions);
            }
        }
        for session in &mut sealed {
            session.session_id = git_proof::proof::record::Id::parse("another").unwrap();
            session.root = git_proof::proof::digest::RootHash::new(git_proof::proof::digest::sha256(b"another"));
        }
        let now = git_proof::proof::timestamp::Timestamp::parse("2999-01-01T00:00:00.000Z").unwrap();
        self.plant_seal(&chain.seal(sealed, now, now).unwrap().to_text(), &[ROUNDS]);
    }

    /// How the chain stands.
    pub(crate) fn rounds(&self) -> (Option<i32>, Value) {
        let ran = self.run(&["--json", "rounds"]);
        (ran.exit, serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}")))
    }

    /// The ids of the sessions of each round.
    pub(crate) fn sealed(&self) -> Vec<Vec<String>> {
        let (exit, found) = self.rounds();
        assert_eq!(exit, Some(0), "{found}");
        let rounds = found["rounds"].as_array().unwrap().len();
        (1..=rounds)
            .map(|round| {
                let shown = self.json(&["rounds", "show", &round.to_string()]);
                let sessions = shown["sealed"].as_array().unwrap();
                sessions.iter().map(|session| text(session, "session_id").to_owned()).collect()
            })
            .collect()
    }

    /// That the chain does not hold, for this reason.
    #[track_caller]
    fn does_not_hold(&self, code: &str) {
        let (exit, found) = self.rounds();
        assert_eq!((exit, text(&found, "verdict")), (Some(1), "fail"), "{found}");
        assert!(found["findings"].as_array().unwrap().iter().any(|finding| finding["code"] == code), "{found}");
    }

    /// Makes a key, and lets git sign with it. The answer is the public key.
    pub(crate) fn signs_as(&self, name: &str) -> String {
        let key = make_key(self.scratch, name);
        self.git(&["config", "gpg.format", "ssh"]);
        self.git(&["config", "user.signingkey", key.to_str().unwrap()]);
        std::fs::read_to_string(key.with_extension("pub")).unwrap().trim().to_owned()
    }
}

/// The file of an Ed25519 key.
fn make_key(scratch: &Scratch, name: &str) -> std::path::PathBuf {
    let file = scratch.around().join(name);
    if !file.exists() {
        let options = ["-q", "-N", "", "-C", "", "-t", "ed25519", "-f", file.to_str().unwrap()];
        let made = common::run(common::command("ssh-keygen", scratch.around()).args(options));
        assert_eq!(made.code, Some(0), "{}", made.stderr);
    }
    file
}

/// A repository with a commit.
fn begun(scratch: &Scratch) -> Clone<'_> {
    let repo = Clone::of(scratch);
    repo.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
    repo
}

/// A repository with so many rounds of one session each, `s1`, `s2`, ….
pub(crate) fn with_rounds(scratch: &Scratch, rounds: usize) -> Clone<'_> {
    let repo = begun(scratch);
    for round in 1..=rounds {
        repo.explain(&format!("s{round}"));
        repo.json(&["seal"]);
    }
    repo
}
