//! The one integration binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)] // tests

mod canonical;
mod forgeries;
mod mutations;
mod naive;
mod sessions;
mod trees;
mod vectors;
