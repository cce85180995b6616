//! The change id against its definition: what the real git prints, cut by awk, hashed by sha256sum.

mod corpus;
mod history;
mod hostile;
mod random;
mod ranges;
pub(crate) mod scratch;
