//! Git: the repository, its objects and refs, and what git itself knows. The only folder that names git2.

mod change;
mod discover;
mod objects;
mod open;
mod patch;
mod process;
mod quote;

pub use discover::Repository;
pub use objects::{Commit, DIRECTORY, FILE, ObjectError, Read, TreeEntry};
pub use open::Git;
pub use process::{editor, identity, worktree_root};
