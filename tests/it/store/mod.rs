//! The store and the commands that work on it, driven through the program as a user does.

mod commands;
mod crash;
mod drawing;
mod faults;
mod independent;
mod scratch;
