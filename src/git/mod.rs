//! Git: finding the repository, what git itself knows of the person who works in it, and signing as that person.

mod discover;
mod process;
mod sign;

pub use discover::Repository;
pub use process::{editor, identity, worktree_root};
pub use sign::sign;
