#![doc = include_str!("FORMAT.md")]
#![doc = include_str!("FORMAT-GIT.md")]

// These files need each other: a policy is checked while it is read, by the grader that later applies it.

pub mod anchor;
pub mod canonical;
pub mod chain;
pub mod change;
pub mod checkers;
pub mod checkpoint;
pub mod conclude;
pub mod digest;
pub mod edits;
pub mod evidence;
pub mod finding;
pub mod glob;
pub mod grade;
pub mod inclusion;
pub mod keys;
pub mod log;
pub mod logged;
pub mod marks;
pub mod memory;
pub mod merge;
pub mod note;
pub mod observed;
pub mod policy;
pub mod record;
mod schema;
pub mod scheme;
pub mod seal;
pub mod signers;
pub mod sshsig;
pub mod text;
pub mod timestamp;
pub mod trailer;
pub mod tree;
pub mod verify;
pub mod word;
