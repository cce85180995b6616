//! Git: the repository, its objects and refs, and what git itself knows. The only folder that names git2.

// These files need each other: `Git` is one type whose methods stand by subject, and a repository is opened
// with the help of git's own program.

mod ancestry;
mod asked;
mod blame;
mod cache;
mod change;
mod combine;
mod discover;
mod fanout;
mod history;
mod index;
pub mod limits;
mod loose;
mod merge;
mod moving;
mod notes;
mod object;
mod objects;
mod offered;
mod open;
mod pack;
mod patch;
mod process;
mod quote;
mod reflog;
mod refs;
mod remote;
mod scratch;
mod sign;
mod staged;
mod tree;
mod unreadable;
mod visits;
mod write;
mod written;

pub use ancestry::{History, MAX_SEARCHED, Node, Only};
pub(crate) use blame::path_text;
pub use blame::{BlamedLine, ChangedPath, Following};
pub(crate) use cache::Cache;
pub use combine::{Allowance, Containment};
pub use discover::Repository;
pub use fanout::Fanned;
pub(crate) use index::Place;
pub use merge::Merged;
pub use notes::OnlyInNotes;
pub use object::{Commit, DIRECTORY, FILE, ObjectError, Read, TreeEntry};
pub(crate) use offered::{OFFERED, Quarantine};
pub use open::Git;
pub use process::{
    commands_above, editor, identity, interpret_trailers, is_amending, is_running, nearest_above, own_pager, pager,
    paints, sharing, starter, worktree_root,
};
pub use reflog::reflog_place;
pub(crate) use refs::left_behind;
pub use refs::{CHANGES, EVIDENCE, NOTES, ORIGINALS, ROUNDS, WHY};
pub use remote::{PushRefusal, Remote};
pub(crate) use remote::{SHARED, SYNCING};
pub use sign::sign;
pub use tree::Tree;
pub(crate) use unreadable::unchecked;
pub use visits::PassedOver;
