//! Git: finding the repository, and what git itself knows of the person who works in it.

mod discover;
mod process;

pub use discover::Repository;
pub use process::{editor, identity, worktree_root};
