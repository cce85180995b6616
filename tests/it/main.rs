//! The one integration binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)] // tests

mod format;
mod store;
mod vectors;
