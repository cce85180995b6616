#![doc = include_str!("FORMAT.md")]

pub mod anchor;
pub mod canonical;
pub mod chain;
pub mod change;
pub mod checkpoint;
pub mod digest;
pub mod evidence;
pub mod finding;
pub mod grade;
pub mod inclusion;
pub mod keys;
pub mod log;
pub mod logged;
pub mod note;
pub mod policy;
pub mod record;
mod schema;
pub mod scheme;
pub mod seal;
pub mod signers;
pub mod sshsig;
pub mod timestamp;
pub mod trailer;
pub mod tree;
pub mod verify;
