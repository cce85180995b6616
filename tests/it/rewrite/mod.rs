//! Nothing is lost when history is rewritten, and nothing is lent: the real git, with the hooks in place and without.

/// A test of each scenario with the hooks in place, and one in which git rewrites without them.
macro_rules! both_ways {
    ($($scenario:ident),* $(,)?) => {
        mod with_hooks {
            $(#[test]
            fn $scenario() {
                super::$scenario(&crate::rewrite::project::Project::with_hooks(true));
            })*
        }

        mod without_hooks {
            $(#[test]
            fn $scenario() {
                super::$scenario(&crate::rewrite::project::Project::with_hooks(false));
            })*
        }
    };
}

mod alone;
mod commit_hint;
mod hooks;
pub(crate) mod joined;
pub(crate) mod judged;
mod kept;
mod messages;
mod never;
mod originals;
pub(crate) mod project;
mod rooted;
mod server;
mod unfinished;
mod unheard;
mod why;
