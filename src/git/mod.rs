//! Git: the repository, its objects and refs, and what git itself knows. The only folder that names git2.

mod discover;
mod objects;
mod open;
mod process;

pub use discover::Repository;
pub use objects::{Commit, DIRECTORY, FILE, ObjectError, Read, TreeEntry};
pub use open::Git;
pub use process::{editor, identity, worktree_root};
