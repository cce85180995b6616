//! Writing objects as git writes them.

use std::sync::Arc;

use git2::{ObjectType, Oid};

use super::loose;
use super::object::{DIRECTORY, FILE, TreeEntry};
use super::open::Git;
use crate::error::{Code, Error, Result};
use crate::proof::digest::{CommitId, ObjectId, TreeId};
use crate::proof::timestamp::Timestamp;

impl Git {
    /// Writes an object, unless it is there.
    fn write(&self, kind: ObjectType, bytes: &[u8]) -> Result<ObjectId> {
        let directory = match &self.offer {
            Some(offer) => offer.objects().clone(),
            None => {
                self.must_be_writable()?;
                self.place.common_dir.join("objects")
            }
        };
        let failed = |error: &git2::Error| self.failed(&format!("cannot write a {kind}"), error);
        let oid = Oid::hash_object_ext(kind, bytes, self.repository.object_format()).map_err(|error| failed(&error))?;
        let id = ObjectId::from_bytes(oid.as_bytes())
            .ok_or_else(|| Error::new(Code::RepositoryFailed, "libgit2 gave an id of an unknown length"))?;
        if !self.freshen(&id) {
            let mut packer = self.packer.borrow_mut();
            loose::write(&mut packer, &directory, self.context.new_id().as_str(), &id, (kind, bytes))
                .map_err(|error| failed(&git2::Error::from_str(&error.to_string())))?;
        }
        Ok(id)
    }

    /// Whether an object is here and stays: the file that it is in counts as new from now on, so that a gc beside us leaves
    /// it alone. Git keeps no object for being in a cruft pack.
    fn freshen(&self, id: &ObjectId) -> bool {
        if self.loose.iter().any(|directory| loose::freshen(&loose::path(directory, id))) {
            return true;
        }
        let packs = Arc::clone(self.reader().packs());
        packs
            .all(id)
            .filter_map(|(pack, _)| packs.get(pack))
            .any(|pack| !pack.is_cruft() && loose::freshen(&pack.path()))
    }

    /// Writes a file.
    pub fn write_blob(&self, bytes: &[u8]) -> Result<ObjectId> {
        self.write(ObjectType::Blob, bytes)
    }

    /// Writes a tree; the entries are sorted as git sorts them.
    pub fn write_tree(&self, entries: &mut [TreeEntry]) -> Result<TreeId> {
        entries.sort_by(TreeEntry::order);
        let mut raw = Vec::with_capacity(entries.len() * 64);
        for entry in entries {
            match entry.mode {
                FILE => raw.extend_from_slice(b"100644 "),
                DIRECTORY => raw.extend_from_slice(b"40000 "),
                other => raw.extend_from_slice(format!("{other:o} ").as_bytes()),
            }
            raw.extend_from_slice(&entry.name);
            raw.push(0);
            raw.extend_from_slice(entry.id.as_bytes());
        }
        self.write(ObjectType::Tree, &raw).map(TreeId)
    }

    /// Writes a commit in the name of the user.
    pub fn write_commit(&self, tree: &TreeId, parents: &[CommitId], message: &str) -> Result<CommitId> {
        let who = self.committer();
        let when = seconds(&self.context.now());
        let mut raw = format!("tree {tree}\n");
        for parent in parents {
            raw.push_str(&format!("parent {parent}\n"));
        }
        raw.push_str(&format!("author {who} {when} +0000\ncommitter {who} {when} +0000\n\n{message}\n"));
        self.write(ObjectType::Commit, raw.as_bytes()).map(CommitId)
    }

    /// The committer from the environment or the configuration, else a name for this tool. It is not part of any proof.
    fn committer(&self) -> String {
        let part = |variable: &str, key: &str, otherwise: &str| {
            let set = self.context.variable(variable).and_then(|value| value.into_string().ok());
            let set = set.or_else(|| self.setting(key));
            let clean: String =
                set.unwrap_or_default().chars().filter(|letter| !matches!(letter, '<' | '>' | '\n' | '\0')).collect();
            if clean.trim().is_empty() { otherwise.to_owned() } else { clean.trim().to_owned() }
        };
        format!(
            "{} <{}>",
            part("GIT_COMMITTER_NAME", "user.name", "git-proof"),
            part("GIT_COMMITTER_EMAIL", "user.email", "git-proof@localhost")
        )
    }
}

/// Seconds since 1970 of a time; a clock before that counts as its beginning.
fn seconds(time: &Timestamp) -> i64 {
    chrono::DateTime::parse_from_rfc3339(time.as_str()).map_or(0, |time| time.timestamp().max(0))
}
