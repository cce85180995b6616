//! The change id against its definition: what the real git prints, cut by awk, hashed by sha256sum.

mod ancestry;
mod corpus;
mod history;
mod hostile;
mod merging;
mod odd_trees;
mod pack;
mod random;
mod ranges;
pub(crate) mod scratch;
