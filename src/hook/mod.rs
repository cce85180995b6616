//! Hooks of git. What the hooks of agents do is in [`agents`](crate::agents).

mod git;

pub use git::{Answer, GitHook};
