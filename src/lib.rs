//! git-proof: the reasoning behind a change, anchored to the commit it explains.
pub mod cli;
pub mod error;
pub mod ops;
pub mod proof;
