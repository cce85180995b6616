//! An open repository, of any kind that git makes: SHA-1 or SHA-256, refs in files or in reftables, bare or not, a linked
//! worktree, a partial clone. libgit2 reads and writes the objects; what it cannot do is asked of git itself.

use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Once};

use git2::{ObjectFormat, Odb, RepositoryOpenFlags};
use libdeflater::Compressor;

use super::discover::Repository;
use super::index::{Packs, Place};
use super::loose;
use super::pack::{Family, Reader};
use super::recent::Recent;
use super::tree::Tree;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::proof::digest::{ObjectId, TreeId};

/// Extensions of a repository's format that change nothing about how its objects are read.
const HARMLESS_EXTENSIONS: [&str; 5] =
    ["refstorage", "partialclone", "relativeworktrees", "compatobjectformat", "preciousobjects"];

/// A repository whose objects and refs are at hand.
pub struct Git {
    pub(super) repository: git2::Repository,
    pub(super) context: Context,
    pub(super) place: Repository,
    /// The settings as they were when it was opened: each question to libgit2 looks at every file anew.
    settings: git2::Config,
    /// Where loose objects may be.
    pub(super) loose: Vec<PathBuf>,
    /// Refs that libgit2 cannot read are read and moved by the git command.
    pub(super) refs_by_command: bool,
    /// Objects beside the repository's own: those that a push has brought but that are not accepted yet.
    quarantine: Option<Odb<'static>>,
    /// Packs, where many objects are to be read.
    pub(super) packed: Option<RefCell<Reader>>,
    /// The same where few are: what would trap libgit2 is kept from it.
    pub(super) guard: OnceCell<RefCell<Reader>>,
    /// Packs what is written.
    pub(super) packer: RefCell<Option<Compressor>>,
    /// Trees that were read of late.
    pub(super) trees: RefCell<Recent<TreeId, Arc<Tree>>>,
    /// Files that were compared of late.
    pub(super) files: RefCell<Recent<ObjectId, Arc<Vec<u8>>>>,
}

/// Bytes of trees, and of files, that are kept at hand.
const KEPT: usize = 4 << 20;

impl std::fmt::Debug for Git {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Git").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Git {
    /// Opens a repository that was found.
    pub fn open(place: &Repository, context: &Context) -> Result<Self> {
        allow_extensions();
        let flags = RepositoryOpenFlags::NO_SEARCH | RepositoryOpenFlags::NO_DOTGIT;
        let ceilings: [&std::ffi::OsStr; 0] = [];
        let open = || git2::Repository::open_ext(&place.git_dir, flags, ceilings);
        let repository = match open() {
            Err(error) if error.code() == git2::ErrorCode::Owner && git_trusts(context) => without_asking_owner(open),
            other => other,
        };
        let repository = repository.map_err(|error| refused(place, &error))?;
        let settings = repository.config().and_then(|mut config| config.snapshot());
        let settings = settings.map_err(|error| failed(place, "cannot read the settings", &error))?;
        let storage = settings.get_string("extensions.refstorage");
        let refs_by_command = storage.is_ok_and(|storage| !storage.eq_ignore_ascii_case("files"));
        let quarantine = quarantine(&repository, place, context)?;
        Ok(Self {
            repository,
            context: context.clone(),
            place: place.clone(),
            settings,
            loose: loose::directories(place, context),
            refs_by_command,
            quarantine,
            packed: None,
            guard: OnceCell::new(),
            packer: RefCell::new(None),
            trees: RefCell::new(Recent::new(KEPT)),
            files: RefCell::new(Recent::new(KEPT)),
        })
    }

    /// Opens the packs, for many objects or for few.
    pub(crate) fn packs(&self, many: bool) -> Arc<Packs> {
        Arc::new(Packs::open(&self.loose, self.hex_length() / 2, many))
    }

    /// From now on, packs are read here and not by libgit2.
    pub(crate) fn read_packs(&mut self, packs: Arc<Packs>) {
        self.packed = Some(RefCell::new(Reader::new(packs)));
    }

    /// The same of all packs that are there now.
    #[must_use]
    pub fn reading_packs(mut self) -> Self {
        let packs = self.packs(true);
        self.read_packs(packs);
        self
    }

    /// Sorts objects by what is a delta of what, where packs are read here: git keeps those that belong together all over the
    /// pack, and each that is read alone is put together from its beginning.
    pub fn sort_by_family<T>(&self, objects: &mut [T], id: impl Fn(&T) -> &ObjectId) {
        objects.sort_by_cached_key(|object| self.place_of(id(object)));
        objects.sort_by_cached_key(|object| self.place_of(id(object)).map(|place| (self.family_of(place), place)));
        self.forget_families();
    }

    /// Where an object is; `None` where it is in no pack that is read here.
    pub(crate) fn place_of(&self, id: &ObjectId) -> Option<Place> {
        self.packed.as_ref()?.borrow().packs().find(id)
    }

    /// Of what an object in a pack is a delta. Fast if objects are asked about in the order of their places.
    pub(crate) fn family_of(&self, place: Place) -> Option<Family> {
        Some(self.packed.as_ref()?.borrow_mut().family(place))
    }

    /// Forgets what was asked about families.
    pub(crate) fn forget_families(&self) {
        if let Some(packed) = &self.packed {
            packed.borrow_mut().forget_families();
        }
    }

    /// The repository of the working directory.
    pub fn discover(context: &Context) -> Result<Self> {
        Self::open(&Repository::discover(context)?, context)
    }

    /// A second handle, for another thread.
    pub fn again(&self) -> Result<Self> {
        Self::open(&self.place, &self.context)
    }

    /// Where the repository keeps its things.
    pub fn place(&self) -> &Repository {
        &self.place
    }

    /// Digits of an object id: 40 or 64.
    pub fn hex_length(&self) -> usize {
        match self.repository.object_format() {
            ObjectFormat::Sha1 => 40,
            ObjectFormat::Sha256 => 64,
        }
    }

    /// Whether history is cut off in this clone.
    pub fn is_shallow(&self) -> bool {
        self.repository.is_shallow()
    }

    /// Whether the settings say how trailers or comments are written, so that only git itself can tell.
    pub fn has_trailer_settings(&self) -> bool {
        let set = |glob: &str| {
            let Ok(mut entries) = self.settings.entries(Some(glob)) else { return true };
            entries.next().is_some()
        };
        set("trailer\\.") || set("core\\.comment")
    }

    /// The value of a setting.
    pub fn setting(&self, key: &str) -> Option<String> {
        self.settings.get_string(key).ok()
    }

    /// The value of a setting that is a path, with `~/` filled in.
    pub fn path_setting(&self, key: &str) -> Option<String> {
        self.settings.get_path(key).ok().map(|path| path.to_string_lossy().into_owned())
    }

    /// Whether `git log` is set to show the notes of a ref.
    pub fn shows_notes(&self, name: &str) -> bool {
        let Ok(mut values) = self.settings.multivar("notes.displayref", None) else { return false };
        while let Some(Ok(entry)) = values.next() {
            if entry.value().is_ok_and(|value| value.trim_end_matches('*') == name) {
                return true;
            }
        }
        false
    }

    /// Works on the objects that are read.
    pub(super) fn with_objects<T>(
        &self,
        work: impl FnOnce(&Odb<'_>) -> Result<T, git2::Error>,
    ) -> Result<T, git2::Error> {
        match &self.quarantine {
            Some(objects) => work(objects),
            None => work(&self.repository.odb()?),
        }
    }

    /// Refuses where a push is being judged: what it brought must not become permanent by us.
    pub fn must_be_writable(&self) -> Result<()> {
        if self.quarantine.is_some() {
            return Err(Error::new(
                Code::RepositoryRefused,
                "objects of a push that is being judged are not written to",
            )
            .hint("run it outside of a hook of git receive-pack"));
        }
        Ok(())
    }

    /// The objects that are written.
    pub(super) fn writable(&self) -> Result<Odb<'_>> {
        self.must_be_writable()?;
        self.repository.odb().map_err(|error| self.failed("cannot open the objects", &error))
    }

    pub(super) fn failed(&self, what: &str, error: &git2::Error) -> Error {
        failed(&self.place, what, error)
    }

    /// An id as libgit2 writes it.
    pub(super) fn oid(&self, id: &ObjectId) -> Result<git2::Oid> {
        git2::Oid::from_bytes(id.as_bytes()).map_err(|error| self.failed("an object id", &error))
    }
}

/// Lets libgit2 open repositories whose extensions do not concern it. Once, before the first is opened.
#[allow(unsafe_code)]
fn allow_extensions() {
    static ALLOW: Once = Once::new();
    ALLOW.call_once(|| {
        // SAFETY: libgit2 asks that no other thread uses it meanwhile. Every use of it is behind `Git::open`, which waits
        // for this call.
        let _ = unsafe { git2::opts::set_extensions(&HARMLESS_EXTENSIONS) };
    });
}

/// Whether git itself works in a repository of someone else: it reads settings that libgit2 does not know of, such as
/// those that `GIT_CONFIG_GLOBAL` names.
fn git_trusts(context: &Context) -> bool {
    super::process::git_dir(context).is_some()
}

/// Opens a repository whoever owns it.
#[allow(unsafe_code)]
fn without_asking_owner<T>(open: impl FnOnce() -> T) -> T {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock();
    // SAFETY: libgit2 asks that nobody sets it at the same time, and the lock sees to that. A thread that opens another
    // repository right then is spared the question, too; commands work on one repository.
    let _ = unsafe { git2::opts::set_verify_owner_validation(false) };
    let opened = open();
    // SAFETY: as before.
    let _ = unsafe { git2::opts::set_verify_owner_validation(true) };
    opened
}

/// In a hook of receive-pack the new objects are in a directory of their own, which the environment names.
fn quarantine(repository: &git2::Repository, place: &Repository, context: &Context) -> Result<Option<Odb<'static>>> {
    if context.variable("GIT_OBJECT_DIRECTORY").is_none()
        && context.variable("GIT_ALTERNATE_OBJECT_DIRECTORIES").is_none()
    {
        return Ok(None);
    }
    quarantined(repository, place, context).map(Some).map_err(|error| failed(place, "cannot open the objects", &error))
}

fn quarantined<'a>(
    repository: &git2::Repository,
    place: &Repository,
    context: &Context,
) -> Result<Odb<'a>, git2::Error> {
    let odb = Odb::new_ext(repository.object_format())?;
    let mut directories: Vec<_> =
        context.variable("GIT_OBJECT_DIRECTORY").map(|path| context.directory.join(path)).into_iter().collect();
    if let Some(list) = context.variable("GIT_ALTERNATE_OBJECT_DIRECTORIES") {
        directories.extend(std::env::split_paths(&list).map(|path| context.directory.join(path)));
    }
    directories.push(place.common_dir.join("objects"));
    for directory in directories {
        let path = directory.to_str().ok_or_else(|| git2::Error::from_str("an object directory is not UTF-8"))?;
        odb.add_disk_alternate(path)?;
    }
    Ok(odb)
}

fn failed(place: &Repository, what: &str, error: &git2::Error) -> Error {
    Error::new(Code::RepositoryFailed, format!("{what} in {}", place.common_dir.display()))
        .because(error.message())
        .hint("`git fsck` tells whether the repository is whole; check who owns it and that the disk has room")
}

fn refused(place: &Repository, error: &git2::Error) -> Error {
    let place = place.git_dir.display();
    if error.code() == git2::ErrorCode::Owner {
        // Git wants the worktree named, not its .git; so does libgit2, and it says which.
        let named = error.message().split('\'').nth(1).map_or_else(|| place.to_string(), str::to_owned);
        return Error::new(Code::RepositoryRefused, format!("{place} belongs to someone else"))
            .because(error.message())
            .hint(format!("if you trust it: git config --global --add safe.directory '{named}'"));
    }
    Error::new(Code::RepositoryRefused, format!("cannot open {place}"))
        .because(error.message())
        .hint("`git status` tells whether git itself can; a later version of git-proof may know this kind")
}
