//! The one integration binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)] // tests

mod alike;
mod anchoring;
mod attacks;
mod canonical;
mod change;
mod check;
mod common;
mod cover;
mod demo;
mod doctor;
mod faults;
mod forgeries;
mod format;
mod fuzz_replay;
mod hints;
mod hook;
mod init;
mod layers;
mod manual;
mod marks;
mod mcp;
mod memory;
mod mistakes;
mod mutations;
mod naive;
mod policy;
mod recall;
mod report;
mod retention;
mod rewrite;
mod rounds;
mod sessions;
mod short;
mod show;
mod signatures;
mod store;
mod team;
mod trailers;
mod trees;
mod vectors;
mod vectors_git;
