//! Git: the repository, its objects and refs, and what git itself knows. The only folder that names git2.

mod change;
mod discover;
mod history;
mod loose;
mod merge;
mod notes;
mod objects;
mod open;
mod patch;
mod process;
mod quote;
mod refs;
mod remote;
mod shelf;
mod sign;
mod staged;

pub use discover::Repository;
pub use merge::Merged;
pub use objects::{Commit, DIRECTORY, FILE, ObjectError, Read, TreeEntry};
pub use open::Git;
pub use process::{editor, identity, interpret_trailers, pager, paints, worktree_root};
pub use refs::{CHANGES, EVIDENCE, NOTES, ROUNDS, WHY};
pub use remote::{PushRefusal, Remote};
pub(crate) use remote::{SHARED, SYNCING};
pub use shelf::Shelved;
pub use sign::sign;
