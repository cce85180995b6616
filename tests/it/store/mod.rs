//! The store and the commands that work on it, driven through the program as a user does.

mod bad_input;
mod codes;
mod commands;
mod concurrency;
mod crash;
mod drawing;
mod faults;
mod folding;
pub(crate) mod independent;
mod long;
mod migrations;
mod repositories;
pub(crate) mod scratch;
mod secrets;
mod tampering;
