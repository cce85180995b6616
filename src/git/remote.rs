//! The network, which is git's own: `git ls-remote`, `git fetch` and `git push` as child processes, so that credentials,
//! proxies and ssh settings work.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::open::Git;
use super::refs::{CHANGES, EVIDENCE, NOTES, ROUNDS, left_behind};
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::digest::CommitId;

/// The refs that clones share, in the order in which they must arrive where they cannot arrive at once: what a note rests
/// on comes before the note.
pub(crate) const SHARED: [&str; 4] = [EVIDENCE, CHANGES, ROUNDS, NOTES];

/// The setting that names the remote for proofs: a name or an address.
const PROOF_REMOTE: &str = "proof.remote";

/// Says to our own hooks that a push is ours.
pub(crate) const SYNCING: &str = "GIT_PROOF_SYNCING";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Its name, or its address where it has none.
    pub name: String,
}

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
    /// The ref that keeps the remote's state of a shared ref.
    pub fn tracking(&self, shared: &str) -> String {
        let last = shared.rsplit('/').next().unwrap_or(shared);
        let last = if shared == NOTES { "notes" } else { last };
        format!("refs/proof/remote/{}/{last}", self.slug())
    }

    /// The name for people: an address without the user and the password that may be in it.
    pub fn shown(&self) -> String {
        let Some((scheme, rest)) = self.name.split_once("://") else { return self.name.clone() };
        let (place, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        format!("{scheme}://{}{path}", place.rsplit('@').next().unwrap_or(place))
    }

    /// The name, fit to be part of a ref's or a file's. A password is left out: `git push --mirror` would publish it.
    pub(crate) fn slug(&self) -> String {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        let shown = self.shown();
        let slug: String = shown.chars().map(|letter| if plain(letter) { letter } else { '-' }).collect();
        if slug == self.name { slug } else { format!("{slug}-{:08x}", checksum(&shown)) }
    }
}

/// Tells two addresses apart that have the same slug.
fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

impl Git {
    /// The remote that is meant: the one named, the one of the setting `proof.remote`, that of the present branch, `origin`,
    /// or the only one.
    pub fn remote(&self, named: Option<&str>) -> Result<Remote> {
        if let Some(name) = named {
            if name.is_empty() || name.starts_with('-') {
                return Err(Error::new(Code::InvalidParams, format!("{name:?} is not a remote"))
                    .hint(hint!(Step::GitRemotes, " lists them")));
            }
            return Ok(Remote { name: name.to_owned() });
        }
        match self.setting(PROOF_REMOTE) {
            Some(name) => self.remote(Some(&name)),
            None => self.branch_remote(),
        }
    }

    /// The remote to which the proofs for a remote's commits go: that of the setting `proof.remote`, else the same one.
    pub fn proof_remote(&self, remote: &Remote) -> Remote {
        self.setting(PROOF_REMOTE).map_or_else(|| remote.clone(), |name| Remote { name })
    }

    /// The remote that has the branches whose proofs a remote has: another one where `proof.remote` is for proofs alone.
    pub fn code_remote(&self, remote: &Remote) -> Remote {
        let for_proofs = self.setting(PROOF_REMOTE).is_some_and(|name| name == remote.name);
        if for_proofs { self.branch_remote().unwrap_or_else(|_| remote.clone()) } else { remote.clone() }
    }

    pub(super) fn proof_remotes(&self) -> Vec<String> {
        self.setting(PROOF_REMOTE).map_or_else(|| self.remote_names(), |name| vec![name])
    }

    /// Sets `proof.remote`, or takes it out.
    pub fn set_proof_remote(&self, name: Option<&str>) -> Result<()> {
        let mut command = self.porcelain(["config", "--local"]);
        match name {
            Some(name) => command.args(["--replace-all", PROOF_REMOTE, name]),
            None => command.args(["--unset-all", PROOF_REMOTE]),
        };
        let output = self.run(&mut command)?;
        // Git ends with 5 where there was nothing to take out.
        if output.status.success() || name.is_none() && output.status.code() == Some(5) {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(Error::new(Code::RepositoryFailed, format!("cannot set {PROOF_REMOTE}")).because(said.trim()))
    }

    /// The remote of the present branch, `origin`, or the only one.
    pub fn branch_remote(&self) -> Result<Remote> {
        let branch = self.text_of(&mut self.plumbing(["symbolic-ref", "--quiet", "--short", "HEAD"]))?;
        let upstream = branch.and_then(|branch| self.setting(&format!("branch.{}.remote", branch.trim_end())));
        let remotes = self.text_of(&mut self.plumbing(["remote"]))?.unwrap_or_default();
        let remotes: Vec<&str> = remotes.lines().collect();
        let name = upstream
            .filter(|name| remotes.contains(&name.as_str()))
            .or_else(|| remotes.iter().find(|name| **name == "origin").map(|name| (*name).to_owned()))
            .or_else(|| if let [only] = remotes.as_slice() { Some((*only).to_owned()) } else { None });
        name.map(|name| Remote { name }).ok_or_else(|| {
            Error::new(Code::InvalidParams, "there is no remote to share with").hint(hint!(
                Step::GitRemoteAdd,
                ", or name one: ",
                Step::SyncWith
            ))
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

    /// The branch that a remote's HEAD is, as far as this clone knows.
    pub fn branch_of_head(&self, remote: &str) -> Result<Option<String>> {
        let name = format!("refs/remotes/{remote}/HEAD");
        let text = self.text_of(&mut self.plumbing(["symbolic-ref", "--quiet", &name]))?;
        let prefix = format!("refs/remotes/{remote}/");
        Ok(text.and_then(|text| text.trim_end().strip_prefix(&prefix).map(str::to_owned)))
    }

    /// Deletes shared refs of a remote, all or none, if they are where they were last seen.
    pub fn delete_remote(
        &self,
        remote: &Remote,
        refs: &BTreeMap<&'static str, CommitId>,
    ) -> Result<std::result::Result<(), PushRefusal>> {
        let mut command = self.pushing();
        command.arg("--atomic");
        command.args(refs.iter().map(|(shared, tip)| format!("--force-with-lease={shared}:{tip}")));
        command.args(["--", &remote.name]).args(refs.keys().map(|shared| format!(":{shared}")));
        self.refusal_of(&mut command)
    }

    /// The shared refs that a remote has.
    pub fn list_remote(&self, remote: &Remote) -> Result<BTreeMap<&'static str, CommitId>> {
        let mut command = self.network(["ls-remote", "--refs", "--", &remote.name]);
        let output = self.run(command.args(SHARED))?;
        if !output.status.success() {
            return Err(unreachable(remote, &output.stderr));
        }
        Ok(listed_refs(&output.stdout, &SHARED))
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
        let mut command = self.pushing();
        if atomic {
            command.arg("--atomic");
        }
        command.args(["--", &remote.name]).args(refs.iter().map(|(shared, tip)| format!("{tip}:{shared}")));
        self.refusal_of(&mut command)
    }

    /// A push of what its arguments say, and of nothing else.
    fn pushing(&self) -> Command {
        // With its sparse algorithm git goes through trees path by path, which never ends where someone has pushed trees
        // that hold each other many times over.
        let mut command = self.network(["-c", "push.followTags=false", "-c", "pack.useSparse=false", "push"]);
        command.args(["--quiet", "--porcelain", "--no-verify"]);
        command.args(["--no-follow-tags", "--recurse-submodules=no", "--no-signed"]);
        command
    }

    /// Pushes; why that was refused, if it was.
    fn refusal_of(&self, command: &mut Command) -> Result<std::result::Result<(), PushRefusal>> {
        let output = self.run(command)?;
        if output.status.success() {
            return Ok(Ok(()));
        }
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        Ok(Err(refusal(&said)))
    }

    pub(super) fn network<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = self.porcelain(arguments);
        command.env(SYNCING, "1").stdin(Stdio::null());
        command
    }
}

/// Reads what `git ls-remote` lists of some refs.
pub(super) fn listed_refs(listed: &[u8], among: &[&'static str]) -> BTreeMap<&'static str, CommitId> {
    let text = String::from_utf8_lossy(listed);
    let read = |line: &str| {
        let (id, name) = line.split_once('\t')?;
        Some((*among.iter().find(|shared| **shared == name)?, CommitId::parse(id)?))
    };
    text.lines().filter_map(read).collect()
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
        None => error.hint(hint!("another ", Step::Sync, " may be running"; "try again")),
    }
}

pub(super) fn unreachable(remote: &Remote, said: &[u8]) -> Error {
    let said = String::from_utf8_lossy(said);
    let line = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("git said nothing");
    // Git quotes the name itself here if no remote has it, because it then takes the name for an address.
    let (code, hint) = if line.contains(&format!("'{}' does not appear", remote.name)) {
        let hint = if remote.name.contains(['/', ':']) {
            hint!("there is no repository, or you may not read it: check the address")
        } else {
            hint!("no remote has this name"; Step::GitRemotes, " lists those that there are")
        };
        (Code::InvalidParams, hint)
    } else {
        (
            Code::RemoteFailed,
            hint!(Step::GitFetch, " must work first: check the address, the network and your credentials"),
        )
    };
    Error::new(code, format!("{} cannot be reached", remote.shown()))
        .because(line.trim_start_matches("fatal: "))
        .hint(hint)
}
