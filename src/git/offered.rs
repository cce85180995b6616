//! Proofs that another repository offers, such as a fork of this one. They are fetched into a directory of objects of their
//! own, beside the store: no ref of this repository names them and none of its packs holds them. The directory is removed
//! at the end. If the process is killed, the next one that makes such a directory removes it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::open::Git;
use super::process::under;
use super::refs::{CHANGES, EVIDENCE, NOTES};
use super::remote::{Remote, listed_refs, unreachable};
use crate::access::{Access, bytes_of, in_own_group};
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::digest::{CommitId, TreeId};

/// The refs that are read from another repository. Rounds are not among them: nobody else's seals count here.
pub(crate) const OFFERED: [&str; 3] = [EVIDENCE, CHANGES, NOTES];

/// Most bytes that are fetched from one repository, unless `proof.offeredBytes` says otherwise.
const MOST_BYTES: u64 = 256 << 20;
/// Most seconds that one repository may take, unless `proof.offeredSeconds` says otherwise.
const MOST_SECONDS: u64 = 120;
/// Most bytes of memory of a git that reads what a stranger sends.
const MOST_MEMORY: u64 = 1 << 30;

/// A directory for objects of others.
#[derive(Debug)]
pub(crate) struct Quarantine {
    folder: PathBuf,
    /// Held as long as the directory is in use.
    _lock: File,
}

impl Drop for Quarantine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder); // the next one tries again
    }
}

/// Proofs that are judged together with the repository's own: the directory of their objects, and the trees that hold
/// both.
#[derive(Debug, Default)]
pub(crate) struct Offer {
    objects: PathBuf,
    trees: BTreeMap<&'static str, TreeId>,
}

impl Offer {
    /// Where the objects are.
    pub(super) fn objects(&self) -> &PathBuf {
        &self.objects
    }
}

impl Quarantine {
    /// Makes a directory whose objects are added to those of a repository.
    pub(crate) fn new(git: &Git) -> Result<Self> {
        let store = git.place().store_path();
        let all = store.with_file_name("offered");
        let failed = |error: io::Error| {
            Error::new(Code::Unreadable, format!("cannot make a directory in {}", all.display()))
                .because(error)
                .hint("proofs of others need a place: check who owns .git/proof, and that the disk has room")
        };
        let access = Access::beside(&store);
        let prepare = || -> io::Result<Self> {
            store.parent().map(|parent| access.ensure_directory(parent)).transpose()?;
            access.ensure_directory(&all)?;
            // Nobody removes a directory between its making and its locking.
            let turn = File::open(&all)?;
            turn.lock()?;
            for left in fs::read_dir(&all)?.filter_map(io::Result::ok) {
                if File::open(left.path()).is_ok_and(|folder| folder.try_lock().is_ok()) {
                    fs::remove_dir_all(left.path())?;
                }
            }
            let folder = all.join(git.context.new_id().as_str());
            access.ensure_directory(&folder)?;
            let lock = File::open(&folder)?;
            lock.lock()?;
            let quarantine = Self { folder, _lock: lock };
            let objects = quarantine.objects();
            fs::create_dir_all(objects.join("info"))?;
            fs::create_dir(objects.join("pack"))?;
            let own = fs::canonicalize(git.place().common_dir.join("objects"))?;
            if bytes_of(&own).contains(&b'\n') {
                return Err(io::Error::other("the path of the repository has a newline in it"));
            }
            fs::write(objects.join("info/alternates"), [bytes_of(&own), b"\n"].concat())?;
            Ok(quarantine)
        };
        prepare().map_err(failed)
    }

    fn objects(&self) -> PathBuf {
        self.folder.join("objects")
    }

    /// The repository with the objects that were fetched. What it writes is written beside them, and its refs stay as they
    /// are.
    pub(crate) fn open(&self, git: &Git) -> Result<Git> {
        Ok(git.again()?.with_offer(Arc::new(Offer { objects: self.objects(), trees: BTreeMap::new() })))
    }

    /// Fetches what another repository offers. The answer is where its refs are.
    pub(crate) fn fetch(&self, git: &Git, remote: &Remote) -> Result<BTreeMap<&'static str, CommitId>> {
        let limits = Limits::of(git);
        let begun = Instant::now();
        let mut list = git.network(["-c", "protocol.ext.allow=never", "ls-remote", "--refs", "--", &remote.name]);
        list.args(OFFERED);
        let listed = limits.run(git, remote, &list, begun)?;
        if !listed.status.success() {
            return Err(unreachable(remote, &listed.stderr));
        }
        let tips = listed_refs(&listed.stdout, &OFFERED);
        if tips.is_empty() {
            return Ok(tips);
        }
        // One pack, so that its file has the size of all that came. No ref is written, and nothing runs afterwards.
        let mut fetch = git.network(["-c", "protocol.ext.allow=never", "-c", "fetch.unpackLimit=1", "fetch"]);
        fetch.args(["--quiet", "--no-tags", "--refmap=", "--no-recurse-submodules", "--no-write-fetch-head"]);
        fetch.args(["--no-filter", "--no-prune", "--no-auto-maintenance", "--", &remote.name]);
        fetch.args(tips.keys()).env("GIT_OBJECT_DIRECTORY", self.objects());
        let fetched = limits.run(git, remote, &fetch, begun)?;
        if !fetched.status.success() {
            return Err(if self.is_full(&limits) {
                limits.reached(remote, &format!("offers more than {} bytes of proofs", limits.bytes))
            } else {
                unreachable(remote, &fetched.stderr)
            });
        }
        let with = self.open(git)?;
        match tips.values().find(|tip| !with.has(&tip.0)) {
            None => Ok(tips),
            Some(_) => Err(Error::new(Code::RemoteFailed, format!("{} changed while it was read", remote.shown()))
                .hint("run it again")),
        }
    }

    /// Whether a file has grown as large as a file may.
    fn is_full(&self, limits: &Limits) -> bool {
        let Ok(files) = fs::read_dir(self.objects().join("pack")) else { return false };
        let size = |file: fs::DirEntry| file.metadata().map(|found| found.len()).unwrap_or_default();
        files.filter_map(io::Result::ok).any(|file| size(file) >= limits.bytes / 512 * 512)
    }
}

/// How much a stranger may send, and how long it may take.
struct Limits {
    bytes: u64,
    time: Duration,
}

impl Limits {
    fn of(git: &Git) -> Self {
        let setting = |key: &str| git.number_setting(key).filter(|number| *number > 0);
        Self {
            bytes: setting("proof.offeredBytes").unwrap_or(MOST_BYTES).max(512),
            time: Duration::from_secs(setting("proof.offeredSeconds").unwrap_or(MOST_SECONDS)),
        }
    }

    fn reached(&self, remote: &Remote, what: &str) -> Error {
        Error::new(Code::LimitReached, format!("{} {what}", remote.shown())).hint(hint!(
            "if that is right, raise the limits: ",
            Step::GitConfig("proof.offeredBytes".into(), (self.bytes * 4).to_string()),
            ", ",
            Step::GitConfig("proof.offeredSeconds".into(), (self.time.as_secs() * 4).to_string())
        ))
    }

    /// Runs a git that reads from a stranger. It asks nobody for a password, and it ends in time with all that it started.
    fn run(&self, git: &Git, remote: &Remote, command: &Command, begun: Instant) -> Result<Output> {
        let blocks = self.bytes / 512;
        let limits = format!("ulimit -f {blocks} 2>/dev/null; ulimit -d {} 2>/dev/null", MOST_MEMORY / 1024);
        let mut command = under(command, &limits);
        in_own_group(command.env("GIT_TERMINAL_PROMPT", "0"));
        git.run_until(&mut command, begun, self.time)?
            .ok_or_else(|| self.reached(remote, &format!("was not read within {} seconds", self.time.as_secs())))
    }
}

impl Git {
    /// The tree of a shared ref: with what others offer, where they do.
    pub(crate) fn proof_tree(&self, shared: &str) -> Result<Option<TreeId>> {
        if let Some(tree) = self.offer.as_ref().and_then(|offer| offer.trees.get(shared)) {
            return Ok(Some(*tree));
        }
        self.tip_tree(shared)
    }

    /// The same repository, with other trees for the shared refs.
    #[must_use]
    pub(crate) fn with_proof_trees(self, trees: BTreeMap<&'static str, TreeId>) -> Self {
        let objects = self.offer.as_ref().map(|offer| offer.objects.clone()).unwrap_or_default();
        self.with_offer(Arc::new(Offer { objects, trees }))
    }

    /// Copies commits that were offered, and all that leads to them, into this repository's own objects. `self` is the
    /// repository that sees them.
    pub(crate) fn take_over(&self, commits: &[CommitId]) -> Result<()> {
        let own = self.place.common_dir.join("objects");
        let mut wanted: Vec<String> = commits.iter().map(ToString::to_string).collect();
        wanted.extend(self.refs_below("refs")?.into_iter().map(|(_, tip)| format!("^{tip}")));
        let mut command = self.plumbing(["pack-objects", "--quiet", "--revs", "--non-empty", "--delta-base-offset"]);
        let output = self.run_with(command.arg(own.join("pack/pack")), &(wanted.join("\n") + "\n"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(Error::new(Code::RepositoryFailed, format!("cannot write a pack in {}", own.display()))
            .because(String::from_utf8_lossy(&output.stderr).trim())
            .hint("check who owns the repository, and that the disk has room"))
    }
}
