//! One of the team: a clone with the hooks in place, what is done there next, and how it goes on after a kill.

use std::collections::BTreeMap;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::told::Told;
use super::{Game, unlock};
use crate::anchoring::clones::Clone;
use crate::store::scratch::{Dice, Ran, text};

/// How often a command is run again that a lock keeps from its work.
const TRIES: usize = 6;

/// How a command ended.
#[derive(Debug, PartialEq)]
enum End {
    Done(Value),
    /// It said that there was nothing to do.
    Nothing,
    Killed,
}

pub(super) struct Member<'a> {
    game: &'a Game<'a>,
    pub(super) clone: Clone<'a>,
    pub(super) branch: String,
    dice: Dice,
    /// How many names were given.
    number: usize,
    session: Option<String>,
    last: Option<String>,
    /// Commits of the present session that were made by a git that was killed.
    doubtful: Vec<String>,
    /// How long a command takes that is not killed.
    usual: BTreeMap<String, Duration>,
    pub(super) steps: usize,
    pub(super) told: Told,
    /// What was run and how it ended, for whoever must find out what went wrong.
    journal: Vec<String>,
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("what {} did:\n  {}", self.branch, self.journal.join("\n  "));
        }
    }
}

impl<'a> Member<'a> {
    pub(super) fn join(game: &'a Game<'a>, at: usize, seed: u64) -> Self {
        let clone = game.remote.clone(&format!("clone-{at}"), &[]);
        let branch = format!("w{at}");
        clone.git(&["checkout", "--quiet", "-b", &branch]);
        for (name, value) in [("gc.auto", "0"), ("maintenance.auto", "false"), ("proof.warmRounds", "0")] {
            clone.git(&["config", name, value]);
        }
        if at == 0 {
            clone.signs_as("ada");
            clone.git(&["config", "proof.sign", "true"]);
        }
        let mut member = Self {
            game,
            clone,
            branch,
            dice: Dice(seed.wrapping_add(at as u64)),
            number: 0,
            session: None,
            last: None,
            doubtful: Vec::new(),
            usual: BTreeMap::new(),
            steps: 0,
            told: Told::default(),
            journal: Vec::new(),
        };
        member.surely(&["init"], "");
        member
    }

    fn name(&mut self, what: &str) -> String {
        self.number += 1;
        format!("{}-{what}-{}", self.branch, self.number)
    }

    /// Does something, anything.
    pub(super) fn step(&mut self) {
        let Some(session) = self.session.clone() else { return self.between() };
        match self.dice.below(12) {
            0..=3 => {
                let content = self.name("thought");
                self.maybe(&["record", "--type", "plan", "--content", &content], &session);
            }
            4 => {
                let note = self.name("note");
                if let End::Done(_) = self.maybe(&["memory", "put", "--text", &note], &session) {
                    self.told.notes.push((session, note));
                }
            }
            5 => {
                if self.maybe(&["memory", "pack"], &session) == End::Killed {
                    self.again(&["memory", "pack"], &session);
                }
            }
            6..=8 => self.commit(),
            9 => self.share(),
            _ => self.finish(&session, true),
        }
    }

    /// Something that is done while no session is open.
    fn between(&mut self) {
        match self.dice.below(8) {
            0..=2 => {
                let session = self.name("session");
                let words = ["start", "--intent", "try it", "--session-id", &session];
                let mut end = self.run_proof(&words, "", true);
                if end == End::Killed {
                    end = self.insist(&words, "");
                }
                if end == End::Nothing {
                    // It was killed after it was there, perhaps before it was the current one.
                    self.surely(&["end"], &session);
                } else {
                    self.session = Some(session);
                }
            }
            3 => {
                // Without a commit of its own it would be anchored on one that no branch of the team is judged by.
                let Some(last) = self.last.clone().filter(|_| !self.told.commits.is_empty()) else { return };
                if self.maybe(&["anchor"], &last) == End::Killed {
                    self.again(&["anchor"], &last);
                }
            }
            4 => {
                if self.maybe(&["seal"], "") == End::Killed {
                    self.again(&["seal"], "");
                }
            }
            5 => {
                if self.maybe(&["retain"], "") == End::Killed {
                    self.again(&["retain"], "");
                }
            }
            6 => self.share(),
            _ => self.push(true),
        }
    }

    fn share(&mut self) {
        if self.maybe(&["sync"], "") == End::Killed {
            self.again(&["sync"], "");
        }
    }

    /// Half of the time, what was killed is run again at once; else something else comes first.
    fn again(&mut self, words: &[&str], session: &str) {
        if self.dice.below(2) == 0 {
            self.insist(words, session);
        }
    }

    /// Runs it until it is not killed. The last time nobody tries.
    fn insist(&mut self, words: &[&str], session: &str) -> End {
        for _ in 0..2 {
            let end = self.run_proof(words, session, true);
            if end != End::Killed {
                return end;
            }
        }
        self.surely(words, session)
    }

    fn maybe(&mut self, words: &[&str], session: &str) -> End {
        self.run_proof(words, session, true)
    }

    fn surely(&mut self, words: &[&str], session: &str) -> End {
        self.run_proof(words, session, false)
    }

    /// A change, committed with the hooks.
    fn commit(&mut self) {
        let file = self.name("file");
        std::fs::write(self.clone.path.join(&file), &file).unwrap();
        let before = self.clone.tip("HEAD").unwrap();
        if self.run_git(&["add", "--all"], true) == End::Killed {
            return;
        }
        let end = self.run_git(&["commit", "--quiet", "--message", &file], true);
        let head = self.clone.tip("HEAD").unwrap();
        match end {
            End::Done(_) => self.told.commits.push(head),
            End::Killed if head != before => self.doubtful.push(head),
            End::Killed | End::Nothing => {}
        }
    }

    fn push(&mut self, kill: bool) {
        let branch = self.branch.clone();
        self.run_git(&["push", "--quiet", "origin", &branch], kill);
    }

    /// Ends a session with a reflection and a root.
    fn finish(&mut self, session: &str, kill: bool) {
        let words = ["record", "--type", "reflection", "--content", "it is done"];
        if self.run_proof(&words, session, kill) == End::Killed {
            return;
        }
        if kill {
            self.insist(&["finalize"], session);
        } else {
            self.surely(&["finalize"], session);
        }
        // A commit whose hook was killed is attested by whoever came next.
        for commit in std::mem::take(&mut self.doubtful) {
            let (_, verdict) = self.clone.verdict(&commit);
            let sessions = verdict["commits"][0]["sessions"].as_array().unwrap();
            assert!(!sessions.is_empty(), "{commit} was never attested: {verdict}");
        }
        self.last = self.session.take();
    }

    /// Ends whatever is open and shares it.
    pub(super) fn close(&mut self) {
        if let Some(session) = self.session.clone() {
            self.finish(&session, false);
        }
        self.push(false);
        self.surely(&["sync"], "");
    }

    pub(super) fn gather(&mut self) {
        self.run_git(&["fetch", "--quiet", "origin"], false);
        self.surely(&["sync"], "");
    }

    pub(super) fn seal_the_rest(&mut self) {
        self.surely(&["seal"], "");
        self.surely(&["sync"], "");
    }

    /// Runs the program, and again where a lock was left behind that its hint names.
    fn run_proof(&mut self, words: &[&str], session: &str, kill: bool) -> End {
        let named = ["--session", session];
        let named: &[&str] = if session.is_empty() { &[] } else { &named };
        for _ in 0..TRIES {
            let Some(ran) = self.run("git-proof", &[&["--json"], words, named].concat(), kill) else {
                return End::Killed;
            };
            if ran.exit == Some(0) {
                let answer = ran.json();
                self.told.take(words[0], session, &answer);
                return End::Done(answer);
            }
            let error: Value = serde_json::from_str(&ran.err).unwrap_or_else(|_| panic!("{words:?}: {ran:?}"));
            let hint = error["error"]["hint"].as_str().unwrap();
            match text(&error["error"], "code") {
                "ERR_NOTHING_TO_SEAL" | "ERR_NOTHING_TO_PACK" => return End::Nothing,
                "ERR_SESSION_EXISTS" if words[0] == "start" => return End::Nothing,
                "ERR_REMOTE_FAILED" => {
                    self.unlock();
                    self.game.unlock_remote();
                }
                _ => {
                    let lock = hint.split('\'').nth(1).map(PathBuf::from).filter(|path| path.exists());
                    let lock = lock.unwrap_or_else(|| panic!("{}: {words:?}: {error}", self.branch));
                    assert_eq!(lock.extension().and_then(|end| end.to_str()), Some("lock"), "{error}");
                    std::fs::remove_file(lock).unwrap();
                    self.game.locks.fetch_add(1, Relaxed);
                }
            }
        }
        panic!("{}: {words:?} does not come to an end", self.branch);
    }

    /// Runs git, and again where a lock was left behind.
    fn run_git(&mut self, words: &[&str], kill: bool) -> End {
        let mut said = String::new();
        for _ in 0..TRIES {
            let Some(ran) = self.run("git", words, kill) else { return End::Killed };
            match ran.exit {
                Some(0) => return End::Done(Value::Null),
                Some(1) if ran.out.contains("nothing to commit") || ran.out.contains("nothing added") => {
                    return End::Nothing;
                }
                _ => said = format!("{ran:?}"),
            }
            let left = self.game.locks.load(Relaxed);
            self.unlock();
            self.game.unlock_remote();
            if left == self.game.locks.load(Relaxed) && !said.contains("lock") {
                break;
            }
        }
        panic!("{}: git {words:?}: {said}", self.branch);
    }

    /// Takes away what locks a killed git left in this clone. Nothing runs here now.
    fn unlock(&self) {
        self.game.locks.fetch_add(unlock(&self.clone.path.join(".git")), Relaxed);
    }

    /// Runs a command to its end; or to some moment, when it is killed with all its processes, which is `None`.
    fn run(&mut self, program: &str, words: &[&str], kill: bool) -> Option<Ran> {
        let at_work = self.game.at_work.read().unwrap();
        self.steps += 1;
        let built = Path::new(env!("CARGO_BIN_EXE_git-proof")).parent().unwrap().to_owned();
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::env::join_paths(std::iter::once(built).chain(std::env::split_paths(&paths))).unwrap();
        let mut command = self.clone.command(program);
        command.args(words).env("PATH", paths).env("GIT_PROOF_PATIENCE", "1000").process_group(0);
        let kind = format!("{program} {}", words.iter().find(|word| !word.starts_with('-')).unwrap());
        let usual = self.usual.get(&kind).copied().filter(|_| kill && self.dice.below(3) == 0);
        let begun = Instant::now();
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let group = child.id();
        if let Some(usual) = usual {
            // What is tested is any moment, so the length of it does not matter.
            std::thread::sleep(usual * u32::try_from(self.dice.below(1100)).unwrap() / 1000);
            // It may have come to its end by itself; it is not waited for yet, so the number is still its own.
            let mut killer = Command::new("kill");
            killer.args(["-9", "--", &format!("-{group}")]).stderr(Stdio::null()).status().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        self.journal.push(format!(
            "{program} {words:?} {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ));
        if usual.is_some() && !output.status.success() {
            if output.status.signal().is_some() {
                self.game.kills.fetch_add(1, Relaxed);
            }
            while is_alive(group) {
                std::thread::yield_now();
            }
            drop(at_work);
            if words.iter().any(|word| ["sync", "push"].contains(word)) {
                self.game.unlock_remote();
            }
            return None;
        }
        let took = self.usual.entry(kind).or_insert(begun.elapsed());
        *took = (*took + begun.elapsed()) / 2;
        Some(output.into())
    }
}

/// Whether a process of this group is still there, one that has ended and was not asked for aside.
fn is_alive(group: u32) -> bool {
    let group = group.to_string();
    std::fs::read_dir("/proc").into_iter().flatten().flatten().any(|entry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The name of a program may hold anything, so it is counted from the last parenthesis: state, parent, group.
        let mut rest = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let state = rest.next();
        rest.nth(1) == Some(&group) && state != Some("Z")
    })
}
