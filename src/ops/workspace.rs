//! Where a recording command works: the repository, its store, and the session that is meant.

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::{self, Git, Repository};
use crate::proof::record::Id;
use crate::store::{Store, Watcher};

/// A repository with its store.
#[derive(Debug)]
pub struct Workspace {
    /// Clock, ids and environment.
    pub context: Context,
    /// The repository.
    pub repository: Repository,
    pub(crate) store: Store,
    /// What the present call was given, canonical: the ledger keeps its digest. Where there is none, an op takes what it
    /// hashes or names.
    pub(super) given: Option<String>,
    /// Most bytes of entries that one answer may take.
    pub(super) most: usize,
}

impl Workspace {
    /// The repository of the working directory; its store is made if it is not there.
    pub fn open_or_create(context: Context) -> Result<Self> {
        let repository = Repository::discover(&context)?;
        let sharing = || git::sharing(&context);
        let store = Store::open_or_share(&repository.store_path(), context.patience(), sharing)?;
        Ok(Self { context, repository, store, given: None, most: usize::MAX })
    }

    /// The repository of the working directory; an error if it has no store.
    pub fn open(context: Context) -> Result<Self> {
        Self::at(Repository::discover(&context)?, context)
    }

    /// A repository that was found; an error if it has no store.
    pub fn at(repository: Repository, context: Context) -> Result<Self> {
        let store = Store::open(&repository.store_path(), context.patience())?;
        Ok(Self { context, repository, store, given: None, most: usize::MAX })
    }

    /// The repository's objects and refs.
    pub fn git(&self) -> Result<Git> {
        Git::open(&self.repository, &self.context)
    }

    /// Leaves the store open to a process that is about to end.
    pub fn leave(self) {
        self.store.leave();
    }

    /// Says what the next call is given, for the ledger.
    pub fn given(&mut self, arguments: Option<String>) {
        self.given = arguments;
    }

    /// From now on no answer takes more than so many bytes of entries.
    pub fn answers_at_most(&mut self, bytes: usize) {
        self.most = bytes;
    }

    /// From now on this one is told how far long work has come.
    pub fn watched_by(&mut self, watcher: Option<Watcher>) {
        self.store.watched_by(watcher);
    }

    /// The session that is meant: the one named, the one in `GIT_PROOF_SESSION`, or the worktree's current one.
    pub fn session(&self, named: Option<&str>) -> Result<Id> {
        if let Some(named) = named {
            return parse_id("session", named);
        }
        if let Some(named) = self.context.variable("GIT_PROOF_SESSION") {
            let named = named.to_str().ok_or_else(|| {
                Error::new(Code::InvalidParams, "GIT_PROOF_SESSION is not UTF-8")
                    .hint("let it name a session, or unset it to use the worktree's current one")
            })?;
            return parse_id("GIT_PROOF_SESSION", named);
        }
        self.store.current_session(&self.repository.worktree())?.ok_or_else(|| {
            Error::new(Code::SessionNotFound, "this worktree has no current session")
                .hint("git proof start --intent \"what you are about to do\", or name a session with --session")
        })
    }
}

/// Reads the id of a session or a record.
pub(super) fn parse_id(what: &str, text: &str) -> Result<Id> {
    Id::parse(text).ok_or_else(|| {
        Error::new(Code::InvalidParams, format!("{what} {text:?} is not {}", Id::RULE))
            .hint("git proof log shows the ids of a session's records, git proof log --all those of the sessions")
    })
}
