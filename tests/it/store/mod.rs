//! The store and the commands that work on it, driven through the program as a user does.

mod backup;
mod bad_input;
mod codes;
mod commands;
mod concurrency;
mod crash;
mod drawing;
mod evidence;
mod faults;
mod first_version;
mod folding;
pub(crate) mod independent;
mod long;
mod migrations;
mod modes;
mod owner;
mod published;
mod read_only;
mod repositories;
mod schema;
pub(crate) mod scratch;
mod secret_corpus;
mod secrets;
mod tampering;
