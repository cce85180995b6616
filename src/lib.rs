//! git-proof: the reasoning behind a change, anchored to the commit it explains.
pub mod cli;
pub mod context;
pub mod error;
pub mod git;
pub mod ops;
pub mod proof;
pub mod store;
