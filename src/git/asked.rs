//! Remembers which shared refs each remote had when it was last asked. A ref that this clone lacks may be on a remote,
//! unless that remote was asked and did not have it. Each answer is a small file beside the store, `proof/asked/NAME`.
//! It is not a ref, so that no remote can serve it, and so that a clone without a store can have it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use super::open::Git;
use super::refs::NOTES;
use super::remote::{Remote, SHARED};
use crate::access::Access;
use crate::context::read_text;
use crate::error::{Code, Error, Result};
use crate::proof::digest::{CommitId, ContentHash, sha256};

impl Git {
    /// Remembers which of the shared refs a remote has. The address is part of it: another server has not been asked.
    pub fn remember_answer(&self, remote: &Remote, theirs: &BTreeMap<&'static str, CommitId>) -> Result<()> {
        let had: String = theirs.keys().map(|name| format!("{name}\n")).collect();
        let text = format!("{}\n{had}", self.address(&remote.name));
        let path = self.answer_path(remote);
        if read_text(&path).as_deref() == Some(text.as_str()) {
            return Ok(());
        }
        let access = Access::beside(&self.place().store_path());
        // The name of the process keeps two writers apart until the file is whole.
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let folders = path.ancestors().skip(1).take(2).collect::<Vec<_>>();
        let made = folders.iter().rev().try_for_each(|folder| access.ensure_directory(folder));
        made.and_then(|()| access.write(&new, text.as_bytes())).and_then(|()| fs::rename(&new, &path)).map_err(
            |error| {
                Error::new(Code::StoreFailed, format!("cannot write {}", path.display()))
                    .because(error)
                    .hint("check who owns the .git/proof directory, and that the disk is writable and has room")
            },
        )
    }

    /// Whether there are remotes, and none of them was ever asked for the shared refs.
    pub fn was_never_synced(&self) -> bool {
        let names = self.proof_remotes();
        let tracked = || self.refs_below("refs/proof/remote").is_ok_and(|refs| !refs.is_empty());
        !names.is_empty() && !names.iter().any(|name| self.answer(name).is_some()) && !tracked()
    }

    /// Whether a shared ref that this clone lacks may be on a remote.
    pub fn may_be_elsewhere(&self, shared: &str) -> bool {
        let names = self.proof_remotes();
        let lacked = |name: &String| self.answer(name).is_some_and(|had| !had.contains(&shared));
        !names.is_empty() && !names.iter().any(lacked)
    }

    /// Whether a remote that has notes was seen without another ref, so that there is nowhere to fetch that one from. A
    /// remote without notes says nothing of it: the notes that this clone has came from elsewhere.
    pub fn is_known_to_lack(&self, shared: &str) -> bool {
        let lacked =
            |name: &String| self.answer(name).is_some_and(|had| had.contains(&NOTES) && !had.contains(&shared));
        self.proof_remotes().iter().any(lacked)
    }

    /// The shared refs that a remote had when it was last asked; `None` if it never was.
    fn answer(&self, name: &str) -> Option<Vec<&'static str>> {
        let text = read_text(&self.answer_path(&Remote { name: name.to_owned() }))?;
        let (address, had) = text.split_once('\n')?;
        if address != self.address(name).to_string() {
            return None;
        }
        Some(SHARED.into_iter().filter(|shared| had.lines().any(|line| line == *shared)).collect())
    }

    fn answer_path(&self, remote: &Remote) -> PathBuf {
        self.place().store_path().with_file_name("asked").join(remote.slug())
    }

    /// A digest of the address of a remote: addresses can have a password in them.
    fn address(&self, name: &str) -> ContentHash {
        let address = self.setting(&format!("remote.{name}.url")).unwrap_or_else(|| name.to_owned());
        ContentHash::new(sha256(address.as_bytes()))
    }
}
