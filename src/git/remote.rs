//! The network, which is git's own: `git ls-remote`, `git fetch` and `git push` as child processes, so that credentials,
//! proxies and ssh settings work.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::open::Git;
use super::refs::{CHANGES, EVIDENCE, NOTES, ROUNDS, left_behind};
use crate::error::{Code, Error, Result};
use crate::proof::digest::CommitId;

/// The refs that clones share, in the order in which they must arrive where they cannot arrive at once: what a note rests
/// on comes before the note.
pub(crate) const SHARED: [&str; 4] = [EVIDENCE, CHANGES, ROUNDS, NOTES];

/// Says to our own hooks that a push is ours.
pub(crate) const SYNCING: &str = "GIT_PROOF_SYNCING";

/// A remote of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Its name, or its address where it has none.
    pub name: String,
}

/// Why a push was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushRefusal {
    /// Someone else was faster: fetch, merge, try again.
    Raced(String),
    /// The remote cannot take several refs at once.
    NotAtomic,
    /// It will be refused again.
    Denied(String),
}

impl Remote {
    /// Where the remote's own state of a shared ref is kept.
    pub fn tracking(&self, shared: &str) -> String {
        let last = shared.rsplit('/').next().unwrap_or(shared);
        let last = if shared == NOTES { "notes" } else { last };
        format!("refs/proof/remote/{}/{last}", self.slug())
    }

    /// The name, fit to be part of a ref's or a file's.
    pub(super) fn slug(&self) -> String {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        let slug: String = self.name.chars().map(|letter| if plain(letter) { letter } else { '-' }).collect();
        if slug == self.name { slug } else { format!("{slug}-{:08x}", checksum(&self.name)) }
    }
}

/// Tells two addresses apart that have the same slug.
fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

impl Git {
    /// The remote that is meant: the one named, that of the present branch, `origin`, or the only one.
    pub fn remote(&self, named: Option<&str>) -> Result<Remote> {
        if let Some(name) = named {
            if name.is_empty() || name.starts_with('-') {
                return Err(
                    Error::new(Code::InvalidParams, format!("{name:?} is not a remote")).hint("git remote lists them")
                );
            }
            return Ok(Remote { name: name.to_owned() });
        }
        let branch = self.text_of(&mut self.plumbing(["symbolic-ref", "--quiet", "--short", "HEAD"]))?;
        let upstream = branch.and_then(|branch| self.setting(&format!("branch.{}.remote", branch.trim_end())));
        let remotes = self.text_of(&mut self.plumbing(["remote"]))?.unwrap_or_default();
        let remotes: Vec<&str> = remotes.lines().collect();
        let name = upstream
            .filter(|name| remotes.contains(&name.as_str()))
            .or_else(|| remotes.iter().find(|name| **name == "origin").map(|name| (*name).to_owned()))
            .or_else(|| if let [only] = remotes.as_slice() { Some((*only).to_owned()) } else { None });
        name.map(|name| Remote { name }).ok_or_else(|| {
            Error::new(Code::InvalidParams, "there is no remote to share with")
                .hint("git remote add origin URL, or name one: git proof sync REMOTE")
        })
    }

    /// The remote whose default branch is trusted: `origin`, or the only one. `None` where there is none, or where several
    /// have other names.
    pub fn main_remote(&self) -> Option<String> {
        let names = self.remote_names();
        match names.as_slice() {
            [only] => Some(only.clone()),
            names => names.iter().find(|name| *name == "origin").cloned(),
        }
    }

    /// The shared refs that a remote has.
    pub fn list_remote(&self, remote: &Remote) -> Result<BTreeMap<&'static str, CommitId>> {
        let mut command = self.network(["ls-remote", "--refs", "--", &remote.name]);
        let output = self.run(command.args(SHARED))?;
        if !output.status.success() {
            return Err(unreachable(remote, &output.stderr));
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let read = |line: &str| {
            let (id, name) = line.split_once('\t')?;
            Some((*SHARED.iter().find(|shared| **shared == name)?, CommitId::parse(id)?))
        };
        Ok(text.lines().filter_map(read).collect())
    }

    /// Fetches shared refs into their tracking refs, and nothing else.
    pub fn fetch(&self, remote: &Remote, refs: &[&str]) -> Result<()> {
        if refs.is_empty() {
            return Ok(());
        }
        let mut command = self.network([
            "fetch",
            "--quiet",
            "--no-tags",
            "--refmap=",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            // A partial clone leaves out files; but what is proven must be at hand to be checked and merged.
            "--no-filter",
        ]);
        command.args(["--no-auto-maintenance", "--", &remote.name]);
        command.args(refs.iter().map(|shared| format!("+{shared}:{}", remote.tracking(shared))));
        let patience = self.context.patience();
        let begun = Instant::now();
        loop {
            let output = self.run(&mut command)?;
            if output.status.success() {
                return Ok(());
            }
            let said = String::from_utf8_lossy(&output.stderr);
            if !said.contains("cannot lock ref") {
                return Err(unreachable(remote, &output.stderr));
            }
            // Another process of this clone fetches the same.
            if begun.elapsed() > patience {
                return Err(held(remote, &said));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sets shared refs of the remote, all or none, and never by force.
    pub fn push(
        &self,
        remote: &Remote,
        refs: &[(&str, CommitId)],
        atomic: bool,
    ) -> Result<std::result::Result<(), PushRefusal>> {
        // With its sparse algorithm git goes through trees path by path, which never ends where someone has pushed trees
        // that hold each other many times over.
        let mut command = self.network(["-c", "push.followTags=false", "-c", "pack.useSparse=false", "push"]);
        command.args(["--quiet", "--porcelain", "--no-verify"]);
        command.args(["--no-follow-tags", "--recurse-submodules=no", "--no-signed"]);
        if atomic {
            command.arg("--atomic");
        }
        command.args(["--", &remote.name]).args(refs.iter().map(|(shared, tip)| format!("{tip}:{shared}")));
        let output = self.run(&mut command)?;
        if output.status.success() {
            return Ok(Ok(()));
        }
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        Ok(Err(refusal(&said)))
    }

    fn network<const N: usize>(&self, arguments: [&str; N]) -> std::process::Command {
        let mut command = self.porcelain(arguments);
        command.env(SYNCING, "1").stdin(Stdio::null());
        command
    }
}

/// Reads why git did not push. Git has no codes for it; the words are those of its own sources and of the big forges.
fn refusal(said: &str) -> PushRefusal {
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if has(&["does not support --atomic", "does not support atomic"]) {
        return PushRefusal::NotAtomic;
    }
    let telling = |line: &&str| line.starts_with('!') || line.starts_with("fatal:") || line.starts_with("remote:");
    let mut lines = said.lines().map(str::trim);
    let line = lines.clone().find(|line| line.contains(".lock'")).or_else(|| lines.find(telling));
    let line = line.unwrap_or("git push failed").to_owned();
    let raced = [
        "fetch first",
        "non-fast-forward",
        "cannot lock ref",
        "failed to update ref",
        "failed to lock",
        "reference already exists",
        "incorrect old value",
        "stale info",
        "remote ref updated since checkout",
        "needs force",
        "atomic transaction failed",
    ];
    // A ref that is in the way of another stays there, however often one tries.
    if has(&raced) && !has(&["; cannot create"]) { PushRefusal::Raced(line) } else { PushRefusal::Denied(line) }
}

/// The tracking refs cannot be moved.
fn held(remote: &Remote, said: &str) -> Error {
    let line = said.lines().map(str::trim).find(|line| line.contains("cannot lock ref")).unwrap_or_default();
    let error =
        Error::new(Code::RepositoryFailed, format!("what {} has cannot be kept here", remote.name)).because(line);
    match line.split('\'').find(|part| part.strip_suffix(".lock").is_some()) {
        Some(lock) => error.hint(left_behind(lock)),
        None => error.hint("another git proof sync may be running; try again"),
    }
}

fn unreachable(remote: &Remote, said: &[u8]) -> Error {
    let said = String::from_utf8_lossy(said);
    let line = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("git said nothing");
    // What git takes for an address is then the name itself.
    let (code, hint) = if line.contains(&format!("'{}' does not appear", remote.name)) {
        (Code::InvalidParams, "no remote has this name: git remote -v lists those that there are")
    } else {
        (Code::RemoteFailed, "git fetch must work first: check the address, the network and your credentials")
    };
    Error::new(code, format!("{} cannot be reached", remote.name))
        .because(line.trim_start_matches("fatal: "))
        .hint(hint)
}
