//! An open repository, of any kind that git makes: SHA-1 or SHA-256, refs in files or in reftables, bare or not, a linked
//! worktree, a partial clone. libgit2 reads settings and refs; objects are read and written here; the rest is asked of git.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Arc, Once};

use git2::{ObjectFormat, RepositoryOpenFlags};
use libdeflater::Compressor;

use super::cache::Cache;
use super::discover::Repository;
use super::index::{Packs, Place};
use super::limits::Meter;
use super::loose;
use super::offered::Offer;
use super::pack::{Family, Reader};
use super::tree::Tree;
use crate::access::Sharing;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::hint::{Hint, Step, hint};
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
    /// The directories in which loose objects may be.
    pub(super) loose: Vec<PathBuf>,
    /// Refs that libgit2 cannot read are read and moved by the git command.
    pub(super) refs_by_command: bool,
    /// Whether there are objects beside the repository's own: those that a push has brought but that are not accepted yet.
    quarantined: bool,
    /// Proofs of others that are judged with the repository's own.
    pub(super) offer: Option<Arc<Offer>>,
    /// Packs, once one was needed.
    pub(super) packed: RefCell<Option<Reader>>,
    /// How much may still be read and computed.
    pub(crate) meter: Meter,
    /// Packs what is written.
    pub(super) packer: RefCell<Option<Compressor>>,
    /// Trees that were read of late.
    pub(super) trees: RefCell<Cache<TreeId, Arc<Tree>>>,
    /// Trees of proof refs that were read of late.
    pub(super) proof_trees: RefCell<Cache<TreeId, Arc<Tree>>>,
    /// Files that were compared of late.
    pub(super) files: RefCell<Cache<ObjectId, Arc<Vec<u8>>>>,
}

/// Bytes of trees that are kept at hand.
const KEPT_TREES: usize = 8 << 20;
/// Bytes of trees of proof refs that are kept. Of 100,000 notes and their evidence they take 17 MiB, which two threads
/// share.
const KEPT_PROOF_TREES: usize = 16 << 20;
/// Bytes of files that are kept at hand.
const KEPT_FILES: usize = 4 << 20;

impl std::fmt::Debug for Git {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Git").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Git {
    pub fn open(place: &Repository, context: &Context) -> Result<Self> {
        set_up();
        let flags = RepositoryOpenFlags::NO_SEARCH | RepositoryOpenFlags::NO_DOTGIT;
        let ceilings: [&std::ffi::OsStr; 0] = [];
        let repository = git2::Repository::open_ext(&place.git_dir, flags, ceilings);
        let repository = repository.map_err(|error| refused(place, &error))?;
        let settings = repository.config().and_then(|mut config| config.snapshot());
        let settings = settings.map_err(|error| failed(place, "cannot read the settings", &error))?;
        Sharing::of_setting(settings.get_string("core.sharedrepository").ok().as_deref()).set_umask();
        let storage = settings.get_string("extensions.refstorage");
        let refs_by_command = storage.is_ok_and(|storage| !storage.eq_ignore_ascii_case("files"));
        let quarantined = ["GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"]
            .iter()
            .any(|name| context.variable(name).is_some());
        Ok(Self {
            repository,
            context: context.clone(),
            place: place.clone(),
            settings,
            loose: loose::directories(place, context),
            refs_by_command,
            quarantined,
            offer: None,
            packed: RefCell::new(None),
            meter: Meter::default(),
            packer: RefCell::new(None),
            trees: RefCell::new(Cache::new(KEPT_TREES)),
            proof_trees: RefCell::new(Cache::new(KEPT_PROOF_TREES)),
            files: RefCell::new(Cache::new(KEPT_FILES)),
        })
    }

    /// Lists the packs, for many objects or for few.
    pub(crate) fn packs(&self, many: bool) -> Arc<Packs> {
        Arc::new(Packs::open(&self.loose, self.hex_length() / 2, many))
    }

    /// Reads objects from these packs, which another thread may read from, too.
    pub(crate) fn read_packs(&self, packs: Arc<Packs>) {
        *self.packed.borrow_mut() = Some(Reader::new(packs));
    }

    /// Opens the packs now, and not when the first object is found nowhere else; for many objects or for few.
    pub fn open_packs(&self, many: bool) {
        self.read_packs(self.packs(many));
    }

    /// Sorts objects by what is a delta of what: git keeps those that belong together all over the pack, and each that is
    /// read alone is put together from its beginning.
    pub fn sort_by_family<T>(&self, objects: Vec<T>, id: impl Fn(&T) -> &ObjectId) -> Vec<T> {
        let placed = objects.into_iter().map(|object| (self.place_of(id(&object)), object));
        let mut placed: Vec<(Option<Place>, T)> = placed.collect();
        placed.sort_by_key(|(place, _)| *place);
        placed.sort_by_cached_key(|(place, _)| place.map(|place| (self.family_of(place), place)));
        self.forget_families();
        placed.into_iter().map(|(_, object)| object).collect()
    }

    /// The place of an object in the packs; `None` if it is in none.
    pub(crate) fn place_of(&self, id: &ObjectId) -> Option<Place> {
        self.reader().packs().find(id)
    }

    /// Of what an object in a pack is a delta. Fast if objects are asked about in the order of their places.
    pub(crate) fn family_of(&self, place: Place) -> Family {
        self.reader().family(place)
    }

    /// Forgets what was asked about families.
    pub(crate) fn forget_families(&self) {
        self.reader().forget_families();
    }

    /// The repository of the working directory.
    pub fn discover(context: &Context) -> Result<Self> {
        Self::open(&Repository::discover(context)?, context)
    }

    /// A second handle, for another thread.
    pub fn again(&self) -> Result<Self> {
        self.reopen()()
    }

    /// Opens a second handle when it is called, which another thread can do.
    pub(crate) fn reopen(&self) -> impl FnOnce() -> Result<Self> + Send + 'static {
        let (place, context, offer) = (self.place.clone(), self.context.clone(), self.offer.clone());
        move || {
            let git = Self::open(&place, &context)?;
            Ok(match offer {
                Some(offer) => git.with_offer(offer),
                None => git,
            })
        }
    }

    /// The same repository, with objects of others beside its own.
    #[must_use]
    pub(super) fn with_offer(mut self, offer: Arc<Offer>) -> Self {
        if let Ok(objects) = std::fs::canonicalize(offer.objects()) {
            self.loose.retain(|known| *known != objects);
            self.loose.insert(0, objects);
        }
        self.offer = Some(offer);
        self.packed = RefCell::new(None);
        self
    }

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

    pub fn setting(&self, key: &str) -> Option<String> {
        self.settings.get_string(key).ok()
    }

    /// The value of a setting that is yes or no; `None` where it is not set, or neither.
    pub fn bool_setting(&self, key: &str) -> Option<bool> {
        self.settings.get_bool(key).ok()
    }

    /// The value of a setting that is a number, with git's `k`, `m` and `g`.
    pub(super) fn number_setting(&self, key: &str) -> Option<u64> {
        self.settings.get_i64(key).ok().and_then(|number| u64::try_from(number).ok())
    }

    /// The names of the remotes that are set up.
    pub fn remote_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let Ok(mut entries) = self.settings.entries(Some("^remote\\..*\\.url$")) else { return names };
        while let Some(Ok(entry)) = entries.next() {
            let name =
                entry.name().ok().and_then(|key| key.strip_prefix("remote.")?.strip_suffix(".url").map(str::to_owned));
            names.extend(name.filter(|name| !names.contains(name)));
        }
        names
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

    /// Refuses where a push is being judged: what it brought must not become permanent by us.
    pub fn must_be_writable(&self) -> Result<()> {
        if self.quarantined {
            return Err(Error::new(
                Code::RepositoryRefused,
                "objects of a push that is being judged are not written to",
            )
            .hint("run it outside of a hook of git receive-pack"));
        }
        if self.offer.is_some() {
            return Err(Error::new(Code::RepositoryRefused, "proofs of others are judged, and nothing is written"));
        }
        Ok(())
    }

    pub(super) fn failed(&self, what: &str, error: &git2::Error) -> Error {
        failed(&self.place, what, error)
    }

    /// An id as libgit2 writes it.
    pub(super) fn oid(&self, id: &ObjectId) -> Result<git2::Oid> {
        git2::Oid::from_bytes(id.as_bytes()).map_err(|error| self.failed("an object id", &error))
    }
}

/// Lets libgit2 open repositories whose extensions do not concern it, whoever owns them: `Repository::discover` has
/// checked the owner, by more of git's settings than libgit2 reads. Once, before the first repository is opened.
#[allow(unsafe_code)]
fn set_up() {
    static SET_UP: Once = Once::new();
    SET_UP.call_once(|| {
        // SAFETY: libgit2 asks that no other thread uses it meanwhile. Every use of it is behind `Git::open`, which waits
        // for this call.
        let _ = unsafe { git2::opts::set_extensions(&HARMLESS_EXTENSIONS) };
        // SAFETY: as before.
        let _ = unsafe { git2::opts::set_verify_owner_validation(false) };
        // A ref is only ever set to a commit that was just written or read here, so libgit2 need not look for it in packs.
        git2::opts::strict_object_creation(false);
    });
}

/// The hint for a repository that cannot be read or written.
pub(super) fn maybe_damaged() -> Hint {
    hint!(Step::GitFsck, " tells whether the repository is whole"; "check who owns it and that the disk has room")
}

fn failed(place: &Repository, what: &str, error: &git2::Error) -> Error {
    Error::new(Code::RepositoryFailed, format!("{what} in {}", place.common_dir.display()))
        .because(error.message())
        .hint(maybe_damaged())
}

fn refused(place: &Repository, error: &git2::Error) -> Error {
    let place = place.git_dir.display();
    Error::new(Code::RepositoryRefused, format!("cannot open {place}"))
        .because(error.message())
        .hint("if git itself works there, a later version of git-proof may know this kind of repository")
}
