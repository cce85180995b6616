//! The workspace of a command that records: the repository, its store, and the session that is meant.

use std::cell::OnceCell;
use std::path::PathBuf;

use super::whose::{Whose, whose};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::git::{self, Git, Repository};
use crate::hint::{Step, hint};
use crate::proof::record::Id;
use crate::store::{Store, Watcher};

/// A repository with its store.
#[derive(Debug)]
pub struct Workspace {
    /// Clock, ids and environment.
    pub context: Context,
    pub repository: Repository,
    pub(crate) store: Store,
    /// The sessions of other clones that `import --from-refs` read, opened when they are first asked for.
    imported: OnceCell<Option<Store>>,
    /// The arguments of the current MCP call as canonical JSON, for their digest in the ledger. Without them, an
    /// operation uses the text that it hashes or the name that it was given.
    pub(crate) given: Option<String>,
    /// Most bytes of entries that one answer may take.
    pub(crate) most: usize,
}

impl Workspace {
    /// The repository of the working directory; its store is made if it is not there.
    pub fn open_or_create(context: Context) -> Result<Self> {
        let repository = Repository::discover(&context)?;
        let sharing = || git::sharing(&context);
        let store = Store::open_or_share(&repository.store_path(), context.patience(), sharing)?;
        Ok(Self::with(repository, context, store))
    }

    /// The repository of the working directory; an error if it has no store.
    pub fn open(context: Context) -> Result<Self> {
        Self::at(Repository::discover(&context)?, context)
    }

    /// A repository that was found; an error if it has no store.
    pub fn at(repository: Repository, context: Context) -> Result<Self> {
        let store = Store::open(&repository.store_path(), context.patience())?;
        Ok(Self::with(repository, context, store))
    }

    fn with(repository: Repository, context: Context, store: Store) -> Self {
        Self { context, repository, store, imported: OnceCell::new(), given: None, most: usize::MAX }
    }

    /// The file with the sessions of other clones. It is not the store, so that none of them is ever taken for one of
    /// ours.
    pub(crate) fn imported_path(&self) -> PathBuf {
        self.repository.store_path().with_file_name("evidence.db")
    }

    /// The sessions of other clones; `None` if none were ever imported.
    pub(crate) fn imported(&self) -> Result<Option<&Store>> {
        if self.imported.get().is_none() {
            let opened = match Store::open(&self.imported_path(), self.context.patience()) {
                Ok(store) => Some(store),
                Err(error) if error.code == Code::NoStore => None,
                Err(error) => return Err(error),
            };
            let _ = self.imported.set(opened); // it was empty
        }
        Ok(self.imported.get().and_then(Option::as_ref))
    }

    /// The store that has a session: our own, else the one of other clones.
    pub(crate) fn store_of(&self, session: &Id) -> Result<&Store> {
        self.holder(Code::SessionNotFound, |store| store.session(session).map(drop))
    }

    /// The store that has a record: our own, else the one of other clones.
    pub(crate) fn store_of_record(&self, record: &Id) -> Result<&Store> {
        self.holder(Code::RecordNotFound, |store| store.entry(record).map(drop))
    }

    fn holder(&self, missing: Code, look: impl Fn(&Store) -> Result<()>) -> Result<&Store> {
        match look(&self.store) {
            Err(error) if error.code == missing => match self.imported()? {
                Some(imported) if look(imported).is_ok() => Ok(imported),
                _ => Err(error),
            },
            other => other.map(|()| &self.store),
        }
    }

    /// Whether a session is one of another clone.
    pub(crate) fn is_imported(&self, session: &Id) -> Result<bool> {
        Ok(!std::ptr::eq(self.store_of(session)?, &raw const self.store))
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

    /// The session that is meant: the one named, the one in `GIT_PROOF_SESSION`, that of the agent which runs the command, or
    /// the one that a person opened in this worktree.
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
        let none = |what: &str| {
            Error::new(Code::SessionNotFound, what).hint(hint!(
                Step::Start,
                ", or name a session with ",
                Step::Option("--session".into())
            ))
        };
        match whose(self)? {
            Whose::Agent(row) => row.session.ok_or_else(|| none("this agent has recorded nothing yet")),
            Whose::Unclear => Err(none("several agents are at work here, and it is unclear which one asks")),
            Whose::Person => self
                .store
                .current_session(&self.repository.worktree())?
                .ok_or_else(|| none("this worktree has no current session")),
        }
    }
}

/// Reads the id of a session or a record.
pub(crate) fn parse_id(what: &str, text: &str) -> Result<Id> {
    Id::parse(text).ok_or_else(|| {
        Error::new(Code::InvalidParams, format!("{what} {text:?} is not {}", Id::RULE)).hint(hint!(
            Step::Log,
            " shows the ids of a session's records, ",
            Step::LogAll,
            " those of the sessions"
        ))
    })
}
