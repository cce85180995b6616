//! Git: the repository, its objects and refs, and what git itself knows. The only folder that names git2.

// These files need each other: `Git` is one type whose methods stand by subject, and a repository is opened
// with the help of git's own program.

mod ancestry;
mod asked;
mod change;
mod combine;
mod discover;
mod history;
mod index;
pub mod limits;
mod loose;
mod merge;
mod moving;
mod notes;
mod objects;
mod open;
mod pack;
mod patch;
mod process;
mod quote;
mod recent;
mod refs;
mod remote;
mod shelf;
mod sign;
mod staged;
mod tree;
mod unreadable;
mod visits;

pub use ancestry::{History, MAX_SEARCHED, Node, Only};
pub use combine::{Allowance, Containment};
pub use discover::Repository;
pub(crate) use index::Place;
pub use merge::Merged;
pub use objects::{Commit, DIRECTORY, FILE, ObjectError, Read, TreeEntry};
pub use open::Git;
pub use process::{editor, identity, interpret_trailers, is_amending, pager, paints, sharing, worktree_root};
pub(crate) use recent::Recent;
pub(crate) use refs::left_behind;
pub use refs::{CHANGES, EVIDENCE, NOTES, ORIGINALS, ROUNDS, WHY};
pub use remote::{PushRefusal, Remote};
pub(crate) use remote::{SHARED, SYNCING};
pub use shelf::Shelved;
pub use sign::sign;
pub use tree::Tree;
pub(crate) use unreadable::unchecked;
pub use visits::PassedOver;
