//! Git: the repository, its objects and refs, and what git itself knows. The only folder that names git2.

mod change;
mod discover;
mod history;
mod index;
mod loose;
mod merge;
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

pub use discover::Repository;
pub(crate) use index::Place;
pub use merge::Merged;
pub use objects::{Commit, DIRECTORY, FILE, ObjectError, Read, TreeEntry};
pub use open::Git;
pub use process::{editor, identity, interpret_trailers, pager, paints, worktree_root};
pub use refs::{CHANGES, EVIDENCE, NOTES, ROUNDS, WHY};
pub use remote::{PushRefusal, Remote};
pub(crate) use remote::{SHARED, SYNCING};
pub use shelf::Shelved;
pub use sign::sign;
pub use tree::Tree;
pub(crate) use unreadable::unchecked;
