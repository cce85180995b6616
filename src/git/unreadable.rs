//! Explains why git cannot follow a name or a range. If there is no such commit, the user made a mistake; if a commit
//! cannot be read, something could not be checked.

use super::object::ObjectError;
use super::open::Git;
use crate::error::{Code, Error, Result};
use crate::proof::digest::CommitId;

impl Git {
    /// The commit that keeps git from following a name; `None` if there is no such name.
    pub(super) fn unreadable_name(&self, revision: &str) -> Result<Option<Error>> {
        let ask =
            |revision: &str| self.run(&mut self.plumbing(["rev-parse", "--verify", "--end-of-options", revision]));
        let peeled = ask(&format!("{revision}^{{commit}}"))?;
        if let Some(error) = self.unreadable_in(&String::from_utf8_lossy(&peeled.stderr), &[revision]) {
            return Ok(Some(error));
        }
        // A ref can name what is not here.
        let named = ask(revision)?;
        let id = named.status.success().then(|| CommitId::parse(String::from_utf8_lossy(&named.stdout).trim_end()));
        Ok(id.flatten().filter(|id| !self.has(&id.0)).map(|id| unchecked(ObjectError::Missing(id.0))))
    }

    /// The same of a range, which git has said something about.
    pub(super) fn unreadable_range(&self, arguments: &[&str], said: &str) -> Result<Option<Error>> {
        if let Some(error) = self.unreadable_in(said, arguments) {
            return Ok(Some(error));
        }
        for end in arguments.iter().flat_map(|range| range.split("..")) {
            let end = end.trim_start_matches(['^', '.']);
            if !end.is_empty()
                && CommitId::parse(end).is_none()
                && let Some(error) = self.unreadable_name(end)?
            {
                return Ok(Some(error));
            }
        }
        Ok(None)
    }

    /// The first commit that git has named in what it said, and that cannot be read. What is not here and was asked for by
    /// its id is not that: there is no such commit.
    fn unreadable_in(&self, said: &str, asked: &[&str]) -> Option<Error> {
        // Git prints this when `GIT_ALLOC_LIMIT` stops it.
        if said.contains("attempting to allocate") {
            let error = Error::new(Code::LimitReached, "git met an object that is too large to be read");
            return Some(error.because(said.trim()).hint("docs/threat-model.md lists the limits"));
        }
        let ids = said.split(|letter: char| !letter.is_ascii_hexdigit()).filter_map(CommitId::parse);
        for id in ids {
            match self.commit(&id) {
                Ok(_) => {}
                Err(ObjectError::Missing(_)) if asked.iter().any(|asked| asked.contains(&id.to_string())) => {}
                Err(error) => return Some(unchecked(error)),
            }
        }
        None
    }
}

/// The error for an object that cannot be read, missing or damaged: the verdict is "could not check".
pub(crate) fn unchecked(error: ObjectError) -> Error {
    let code = if matches!(error, ObjectError::Limit(..)) { Code::LimitReached } else { Code::ObjectMissing };
    Error { code, ..error.into() }
}
